"""Hints beside a decision: they change nothing about the task."""

from msgspec.structs import replace

from bot.model.decision import Decision, Notice
from bot.notation.needs import looks_like_declaration
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
