"""Hints beside a decision: they change nothing about the task."""

from msgspec.structs import replace

from bot.model.decision import Decision, Notice
from bot.model.report import NO_FAULT
from bot.notation.keys import Key
from bot.notation.needs import looks_like_declaration
from bot.notation.reports import report_name, work_name
from bot.plan.board import Board, Item
from bot.plan.trust import Unknown, may_order

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
