"""The seven states of a task and the moves between them."""

from collections.abc import Mapping
from enum import StrEnum


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

# Two status labels without better evidence: the first of these that is present wins.
PRECEDENCE: tuple[Status, ...] = (
    _S.MERGED,
    _S.FAILED,
    _S.BLOCKED,
    _S.DONE,
    _S.BACKLOG,
    _S.READY,
    _S.IN_PROGRESS,
)


def may_move(before: Status, after: Status) -> bool:
    """Say whether the table allows the move; staying is always allowed."""
    return before is after or after in MOVES[before]
