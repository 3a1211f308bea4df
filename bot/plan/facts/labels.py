"""Which status a task's labels mean, when people, we and old events disagree."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import cache

from msgspec import Struct

from bot.model.issue import EventKind, Issue, TimelineEvent
from bot.model.snapshot import Snapshot
from bot.model.status import PRECEDENCE, Status
from bot.model.task import Task

_EVER = datetime.min.replace(tzinfo=UTC)


class Meant(Struct, frozen=True):
    """`status` None: no status label. `move` is a person's label event newer than our last write, if that decided."""

    status: Status | None
    move: TimelineEvent | None = None


@cache
def _by_label(prefix: str) -> Mapping[str, Status]:
    """The status that each of our status labels means, by its name without case."""
    return {f"{prefix}:{status}".casefold(): status for status in Status}


def statuses_of(task: Task, snapshot: Snapshot) -> tuple[Status, ...]:
    """The status labels that the issue carries, names compared without case."""
    known = _by_label(snapshot.config.prefix)
    found = (known.get(label.casefold()) for label in task.issue.labels)
    return tuple(status for status in dict.fromkeys(found) if status is not None)


def meant_status(task: Task, snapshot: Snapshot) -> Meant:
    """The status that the present labels mean.

    A person's label that is newer than our last status write wins, but `ready` on a live attempt is an echo of its start while
    it stands beside `in-progress`, or in the second of a claim whose label was not written yet. Without such a label a live
    attempt means in-progress, and the record what it says: it is written before the labels, so where they differ a tick died in
    between. Without a record precedence decides.
    """
    present = statuses_of(task, snapshot)
    if not present:
        return Meant(None, newest_removal(task, snapshot))
    move = newest_move(task, snapshot, present)
    live = task.record.live is not None and not task.record.live.cancelled_for
    if move is not None and not (
        live
        and _status(move, snapshot) is Status.READY
        and (len(present) > 1 or _before_our_label(move, task, snapshot))
    ):
        return Meant(_status(move, snapshot), move)
    if live:
        return Meant(Status.IN_PROGRESS)
    if task.record.status is not None:
        return Meant(task.record.status)
    return Meant(next(status for status in PRECEDENCE if status in present))


def _before_our_label(move: TimelineEvent, task: Task, snapshot: Snapshot) -> bool:
    """Whether the move is of the second of our last write, and no label of ours followed that write."""
    since = _last_write(task)
    ours = (
        event
        for event in task.issue.events
        if event.kind is EventKind.LABELED and event.actor.id in snapshot.accounts
    )
    return move.at <= since and not any(event.at >= since for event in ours)


def newest_move(task: Task, snapshot: Snapshot, present: tuple[Status, ...]) -> TimelineEvent | None:
    """The newest label event by somebody else than us, on a status label still there, since our last status write.

    Events have whole seconds, so one in the second of our write counts as newer: what we acted upon is filtered by status.
    """
    since = _last_write(task)
    moves = [
        event
        for event in task.issue.events
        if event.kind is EventKind.LABELED
        and event.actor.id not in snapshot.accounts
        and event.at >= since
        and _status(event, snapshot) in present
        and _status(event, snapshot) is not task.record.status
    ]
    if task.record.status is None and len(present) == 1:
        return None  # a first label is not a move away from anything
    return max(moves, key=lambda event: event.at) if moves else None


def newest_removal(task: Task, snapshot: Snapshot) -> TimelineEvent | None:
    """The newest removal of a status label by a person, since our last status write. What an app removes is put back."""
    since = _last_write(task)
    removals = [
        event
        for event in task.issue.events
        if event.kind is EventKind.UNLABELED
        and event.actor.id not in snapshot.accounts
        and not event.actor.is_bot
        and event.at >= since
        and _status(event, snapshot) is not None
    ]
    return max(removals, key=lambda event: event.at) if removals else None


def _last_write(task: Task) -> datetime:
    return task.record.status_at.replace(microsecond=0) if task.record.status_at else _EVER


def _status(event: TimelineEvent, snapshot: Snapshot) -> Status | None:
    return _by_label(snapshot.config.prefix).get((event.label or "").casefold())


def set_by(issue: Issue, label: str, accounts: Collection[int], remembered: str = "") -> str:
    """Who set the label and since when, as the end of a sentence; `remembered` is for whom we did. Empty if it cannot be seen."""
    events = [
        event
        for event in issue.events
        if event.kind is EventKind.LABELED and (event.label or "").casefold() == label.casefold()
    ]
    if not events:
        return ""
    actor, at = events[-1].actor, events[-1].at
    who = (remembered or actor.login) if actor.id in accounts else actor.login
    return f", set by {who} on {at:%Y-%m-%d %H:%M} UTC"
