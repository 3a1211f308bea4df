"""Hints beside a decision: they change nothing about the task."""

from collections.abc import Mapping

from msgspec.structs import replace

from bot.model.cause import Cause, Obstacle
from bot.model.decision import Decision, Notice
from bot.model.report import NO_FAULT
from bot.notation.digests import named
from bot.notation.keys import Key
from bot.notation.needs import looks_like_declaration
from bot.notation.quoting import quote
from bot.notation.reports import report_name, work_name
from bot.plan.board import Board, Item
from bot.plan.facts.causes import ROWS, title_of
from bot.plan.facts.obstacles import obstacles
from bot.plan.facts.trust import Unknown, may_order

_MISPLACED = Notice(
    "misplaced",
    "Needs are read from the description only. Please write the line into the description of this issue.",
)


def hint_misplaced(item: Item, decision: Decision, board: Board) -> Decision:
    """Once, when somebody authorised declared a need in a comment."""
    if (
        not item.task.issue.is_open
        or item.task.record_problem
        or _MISPLACED.fingerprint in decision.record.notices
    ):
        return decision
    for comment in board.snapshot.comments.get(item.number, ()):
        if not looks_like_declaration(comment.body, board.config.dependencies.keywords):
            continue
        allowed = may_order(comment.author, board.snapshot)
        if isinstance(allowed, Unknown):
            return replace(decision, wants=decision.wants | allowed.wants)
        if allowed:
            return replace(decision, notices=(*decision.notices, _MISPLACED))
    return decision


def tell_causes(decided: Mapping[int, Decision], board: Board) -> dict[int, Decision]:
    """What stands in the way of many tasks is told once: on the first of them that met it, to who ordered it."""
    after = dict(decided)
    for obstacle in obstacles((decision.record for decision in decided.values()), board.snapshot):
        notice = Notice(_fingerprint(obstacle), "")
        told = any(notice.fingerprint in decision.record.notices for decision in decided.values())
        task = next((task for task in obstacle.tasks if task in after), 0)
        if task and not told and _is_to_be_told(obstacle):
            text = _cause_text(obstacle, after[task], board)
            after[task] = replace(after[task], notices=(*after[task].notices, replace(notice, text=text)))
    return after


def _is_to_be_told(obstacle: Obstacle) -> bool:
    """A provider and a limit need nobody. A guess that one task alone has met is told if it comes back, or names a command."""
    cause = obstacle.met.cause
    if cause in (Cause.PROVIDER, Cause.LIMIT):
        return False
    return obstacle.everybody or cause is Cause.SETUP or (cause is not Cause.MACHINE and obstacle.rounds > 1)


def _fingerprint(obstacle: Obstacle) -> str:
    """One for each time that it came up: which it was, and the attempt that met it first."""
    met = obstacle.met
    return f"cause:{met.cause}:{named(met.key) if met.key else '-'}:{obstacle.first}"


def _cause_text(obstacle: Obstacle, decision: Decision, board: Board) -> str:
    approval, met = decision.record.approval, obstacle.met
    mention = f"@{approval.by} " if approval else ""
    said = f":\n\n{quote(met.words)}" if met.words else "."
    row = ROWS[met.cause]
    held = "Tasks that would meet it wait" if obstacle.everybody else "This task waits"
    again = (
        "and go on as soon as a machine comes"
        if met.cause is Cause.RUNNER
        else f"and go on by themselves: it is tried again after 15 minutes, 1 hour, 6 hours and then daily ({row.probe}),"
        f" and at once by `/{board.config.prefix} retry` on a task that waits, or with a new configuration"
    )
    shown = "; the dashboard shows it while it stands" if board.config.dashboard else ""
    return (
        f"{mention}**{_sentence(title_of(met))}**, as `{obstacle.first}` met it{said}\n\n{row.mend}\n\n{held}, {again}."
        f" No strike is counted, and nothing has to be ordered anew. This is said here alone{shown}."
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def mention_late(item: Item, decision: Decision, board: Board) -> Decision:
    """Once, when an attempt that had been given up reports after all: it has no effect, and where its work is kept."""
    new = []
    for attempt in item.task.record.attempts:
        if attempt.outcome not in NO_FAULT or attempt.ended_at is None or attempt.cancelled_for:
            continue
        key = str(Key(item.number, attempt.number))
        came = [one for one in board.snapshot.artifacts if one.name == report_name(key)]
        late = [one for one in came if one.created_at > attempt.ended_at]
        if late and f"late:{key}" not in decision.record.notices:
            text = (
                f"Attempt `{key}`, which had been given up ({attempt.outcome}), has reported since. That changes nothing here;"
                f" what it made is kept as `{work_name(key)}` of [run {late[0].run_id}](../actions/runs/{late[0].run_id})."
            )
            new.append(Notice(f"late:{key}", text))
    return replace(decision, notices=(*decision.notices, *new)) if new else decision
