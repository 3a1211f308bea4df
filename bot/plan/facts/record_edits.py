"""Small changes to a record, named after what happened."""

from datetime import datetime

from msgspec.structs import replace

from bot.model.record import Attempt, Record
from bot.model.report import Hold, Outcome
from bot.model.status import Status


def with_status(record: Record, status: Status | None, now: datetime) -> Record:
    """The record after the status label was written; unchanged if it says so already."""
    if record.status is status:
        return record
    return replace(record, status=status, status_at=now)


def with_live(record: Record, **changes: object) -> Record:
    """The record with its newest attempt changed."""
    return with_newest(record, replace(record.attempts[-1], **changes))


def with_newest(record: Record, newest: Attempt) -> Record:
    """The record with its newest attempt replaced."""
    return replace(record, attempts=(*record.attempts[:-1], newest))


def ended(record: Record, outcome: Outcome, reason: str, now: datetime) -> Record:
    """The record with its newest attempt ended."""
    return with_live(record, outcome=outcome, reason=reason, ended_at=now)


def reset_by_order(record: Record) -> Record:
    """Strikes, interruptions and back-off cleared, and no batch's any more, as a person's order does."""
    return replace(
        record,
        strikes=0,
        interruptions=0,
        not_before=None,
        blocker=None,
        held=record.held if record.republish and record.held and record.held.why is Hold.STALE else None,
        exceptions=(),
        batch=0,
        round=0,
        started_by_command=False,
    )


def last_attempt(record: Record) -> Attempt | None:
    return record.attempts[-1] if record.attempts else None


def started_from(record: Record) -> Status:
    """What the limits by status count: READY fresh, FAILED after a strike, BLOCKED after an answer, IN_PROGRESS after a loss."""
    last = last_attempt(record)
    if last is None:
        return Status.READY
    if last.outcome is Outcome.BLOCKED:
        return Status.BLOCKED
    if last.outcome is Outcome.CAPACITY or record.interruptions:
        return Status.IN_PROGRESS
    return Status.FAILED if record.strikes else Status.READY
