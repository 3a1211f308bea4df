"""Budgets: what attempts have used up, by task and by UTC day, and what holds because of it."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta

from bot.model.config import CONFIG_PATH, Spending
from bot.model.decision import Decision, Notice
from bot.model.record import Record, Spent
from bot.notation.keys import Key
from bot.plan.board import Board, Item


def day_of(moment: datetime) -> date:
    """The day by whose budget it counts."""
    return moment.astimezone(UTC).date()


def spent_today(records: Iterable[Record], ledger: Mapping[str, Spent], now: datetime) -> dict[str, Spent]:
    """By key what the attempts that ended today have used up: each counts once, however many places tell of it."""
    today = day_of(now)
    found = {
        str(Key(record.task, attempt.number)): attempt.spent
        for record in records
        for attempt in record.attempts
        if attempt.ended_at is not None and day_of(attempt.ended_at) == today
    }
    return {**ledger, **found}


def over(spent: Spent, budget: Spending) -> str:
    """Which budget is used up, in words; empty if none is."""
    for unit in ("minutes", "tokens", "usd"):
        used, most = getattr(spent, unit), getattr(budget, unit)
        if most is not None and used >= most:
            return f"{_plain(used)} of {_plain(most)} {'USD' if unit == 'usd' else unit}"
    return ""


def _plain(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


def hold_over_budget(item: Item, board: Board) -> Decision | None:
    """A task that has used up its budget does not start again; publishing proven work costs none of it."""
    words = over(item.record.spent, board.config.budget.task)
    if not words or item.record.republish:
        return None
    text = f"Not started again: this task has used {words}. Raise `budget.task` in `{CONFIG_PATH}` to let it go on, or split it."
    reason = f"over its budget: {words} are used (budget.task)"
    return board.hold(item, reason, notices=(Notice(f"budget:{words.partition(' of ')[2]}", text),))


def day_used_up(records: Iterable[Record], board: Board) -> tuple[str, datetime]:
    """Why nothing more starts today (empty if it may), and when the next day begins (UTC)."""
    now = board.snapshot.now
    spent = sum(spent_today(records, board.snapshot.spent, now).values(), Spent())
    words = over(spent, board.config.budget.day)
    tomorrow = datetime.combine(day_of(now) + timedelta(days=1), time(), UTC)
    reason = f"the day's budget is used up: {words} (budget.day); starts again at 00:00 UTC"
    return (reason if words else ""), tomorrow
