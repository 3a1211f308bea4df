"""Small changes to a record, named after what happened."""

from datetime import datetime

from msgspec.structs import replace

from bot.model.record import Attempt, Record, Unsaid
from bot.model.report import Hold, Outcome
from bot.model.status import Status
from bot.plan.facts.ends import ENDS

_UNSAID_MOST = 6  # what GitHub refuses is refused for one reason; the record has to fit into its comment


def with_status(record: Record, status: Status | None, now: datetime) -> Record:
    """The record after the status label was written; unchanged if it says so already.

    An end that brought about another status is over.
    """
    if record.status is status:
        return record
    parked = record.parked
    stands = parked is not None and ENDS[parked.end].status is status
    return replace(record, status=status, status_at=now, parked=parked if stands else None)


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
        parked=None,
        held=record.held if record.republish and record.held and record.held.why is Hold.STALE else None,
        exceptions=(),
        batch=0,
        round=0,
        started_by_command=False,
    )


def told_to_go_on(record: Record, *, batch_goes_on: bool) -> Record:
    """Strikes, interruptions and what was held cleared, as a person's words for the next attempt do. It stays its batch's; where
    that has ended, the words start it.
    """
    left = bool(record.batch) and not batch_goes_on
    return replace(
        record,
        batch=0 if left else record.batch,
        started_by_command=left or record.started_by_command,
        strikes=0,
        interruptions=0,
        not_before=None,
        parked=None,
        held=None,
        exceptions=(),
    )


def said(record: Record, fingerprint: str, *, revised: bool = False) -> Record:
    """The record that knows a notice as posted; `revised`: as the new text of a comment that it knows already."""
    unsaid = tuple(
        one for one in record.unsaid if (one.fingerprint, bool(one.comment)) != (fingerprint, revised)
    )
    new = not revised and fingerprint not in record.notices
    return replace(record, notices=(*record.notices, fingerprint) if new else record.notices, unsaid=unsaid)


def left_unsaid(record: Record, fingerprint: str, text: str, now: datetime, comment: str = "") -> Record:
    """The record that keeps the words of a notice which GitHub refused once more. Of too many the oldest go."""
    same = [one for one in record.unsaid if (one.fingerprint, one.comment) == (fingerprint, comment)]
    others = tuple(one for one in record.unsaid if one not in same)
    tries = 1 + sum(one.tries for one in same)
    return replace(record, unsaid=(*others, Unsaid(fingerprint, text, tries, now, comment))[-_UNSAID_MOST:])


def last_attempt(record: Record) -> Attempt | None:
    return record.attempts[-1] if record.attempts else None


def started_from(record: Record) -> Status:
    """What the limits by status count: READY fresh, FAILED after a strike, BLOCKED after an answer, IN_PROGRESS after a loss."""
    last = last_attempt(record)
    if last is None:
        return Status.READY
    if last.outcome is Outcome.BLOCKED:
        return Status.BLOCKED
    if last.outcome is Outcome.CAPACITY or last.cause is not None or record.interruptions:
        return Status.IN_PROGRESS
    return Status.FAILED if record.strikes else Status.READY
