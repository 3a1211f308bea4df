"""The seven states of a task and the moves between them."""

from collections.abc import Mapping
from enum import StrEnum

from bot.model.errors import UsageError


class Status(StrEnum):
    BACKLOG = "backlog"
    READY = "ready"
    IN_PROGRESS = "in-progress"
    BLOCKED = "blocked"
    FAILED = "failed"
    DONE = "done"
    MERGED = "merged"


_S = Status

MOVES: Mapping[Status, tuple[Status, ...]] = {
    _S.BACKLOG: (_S.READY, _S.BLOCKED, _S.DONE),
    _S.READY: (_S.IN_PROGRESS, _S.BACKLOG, _S.BLOCKED, _S.DONE),
    _S.IN_PROGRESS: (_S.BLOCKED, _S.DONE, _S.READY, _S.FAILED, _S.BACKLOG),
    _S.BLOCKED: (_S.IN_PROGRESS, _S.READY, _S.BACKLOG, _S.DONE),
    _S.FAILED: (_S.IN_PROGRESS, _S.READY, _S.BACKLOG, _S.DONE),
    _S.DONE: (_S.READY, _S.MERGED, _S.BACKLOG),
    _S.MERGED: (),
}

# Two status labels without better evidence: the first of these that is present wins (design decision 9).
PRECEDENCE: tuple[Status, ...] = (
    _S.MERGED,
    _S.FAILED,
    _S.BLOCKED,
    _S.DONE,
    _S.BACKLOG,
    _S.READY,
    _S.IN_PROGRESS,
)


class IllegalMove(UsageError):
    """A status change that the table does not allow; the text names both states and the allowed ones."""


def parse_status(text: str) -> Status:
    """Read a status name in upper or lower case, with dash or underscore. Raises UsageError naming the valid names."""
    try:
        return Status(text.strip().lower().replace("_", "-"))
    except ValueError:
        raise UsageError(f"unknown status {text!r}: it must be one of {', '.join(Status)}") from None


def may_move(before: Status, after: Status) -> bool:
    """Say whether the table allows the move; staying is always allowed."""
    return before is after or after in MOVES[before]


def check_move(before: Status, after: Status) -> None:
    """Raise IllegalMove, naming both states and the allowed ones, unless the table allows the move."""
    if not may_move(before, after):
        allowed = ", ".join(MOVES[before]) or "nothing: it is terminal"
        raise IllegalMove(f"a task cannot go from {before} to {after}; from {before} it may go to {allowed}")
