"""A task's record inside its status comment."""

from collections.abc import Collection

from msgspec.structs import replace

from bot.model.issue import Comment
from bot.model.record import Answer, Attempt, Blocker, Record
from bot.notation.codec import Unreadable, dump, load
from bot.notation.marker import read_marker, write_marker

NAME = "record"

# Room for the record in a comment of at most 65,536 characters; the rest is what people read.
_MOST = 50_000
# How many attempts and answers are kept, and how many characters of each text. The first that fits is taken.
_SIZES = ((20, 4_000), (20, 1_000), (10, 500), (5, 200), (1, 100))
_NOTICES_PER_KEPT, _NOTICES_KEPT = 10, 50
_ACTED_KEPT = 100


def write_record(record: Record) -> str:
    """The hidden marker that holds the record, bounded in size: old attempts are counted by `next_attempt` and dropped."""
    marker = ""
    for kept, length in _SIZES:
        marker = write_marker(NAME, dump(bounded(record, kept, length)))
        if len(marker) <= _MOST:
            break
    return marker


def read_record(comment: Comment, task: int, accounts: Collection[int]) -> Record | None:
    """The record in a comment, if one of our accounts wrote it and it is about this task. Raises Unreadable."""
    if comment.author.id not in accounts:
        return None
    payload = read_marker(NAME, comment.body)
    if payload is None:
        return None
    record = load(payload, Record)
    return record if record.task == task else None


def is_record(body: str) -> bool:
    """Whether a comment of ours holds a record, readable or not."""
    try:
        return read_marker(NAME, body) is not None
    except Unreadable:
        return True


def bounded(record: Record, kept: int = _SIZES[0][0], length: int = _SIZES[0][1]) -> Record:
    """The record without what no rule reads any more, so that it fits a comment however long a task lives."""
    return replace(
        record,
        attempts=tuple(_attempt(attempt, length) for attempt in record.attempts[-kept:]),
        before=sum((attempt.spent for attempt in record.attempts[:-kept]), record.before),
        notices=record.notices[-min(_NOTICES_KEPT, _NOTICES_PER_KEPT * kept) :],
        acted=record.acted[-_ACTED_KEPT:],
        answers=tuple(_answer(answer, length) for answer in record.answers[-kept:]),
        blocker=_blocker(record.blocker, length) if record.blocker else None,
        feedback=record.feedback[-length:],
    )


def _attempt(attempt: Attempt, length: int) -> Attempt:
    return replace(attempt, reason=attempt.reason[:length], cancelled_for=attempt.cancelled_for[:length])


def _answer(answer: Answer, length: int) -> Answer:
    return replace(answer, question=answer.question[:length], answer=answer.answer[:length])


def _blocker(blocker: Blocker, length: int) -> Blocker:
    """Options stay as many as they are, because letters count them."""
    asked = blocker.question
    options = tuple(option[:length] for option in asked.options)
    return replace(
        blocker,
        question=replace(asked, text=asked.text[:length], options=options, tried=asked.tried[:length]),
    )
