"""A task's record inside its status comment."""

from collections.abc import Collection
from dataclasses import replace

from bot.model.issue import Comment
from bot.model.record import Record
from bot.notation.codec import dump, load
from bot.notation.marker import read_marker, write_marker

NAME = "record"
_ATTEMPTS_KEPT = 20
_NOTICES_KEPT = 50
_ACTED_KEPT = 100


def write_record(record: Record) -> str:
    """The hidden marker that holds the record, bounded in size: old attempts are counted by `next_attempt` and dropped."""
    return write_marker(NAME, dump(bounded(record)))


def read_record(comment: Comment, task: int, accounts: Collection[int]) -> Record | None:
    """The record in a comment, if one of our accounts wrote it and it is about this task. Raises Unreadable."""
    if comment.author.id not in accounts:
        return None
    payload = read_marker(NAME, comment.body)
    if payload is None:
        return None
    record = load(payload, Record)
    return record if record.task == task else None


def bounded(record: Record) -> Record:
    """The record without what no rule reads any more, so that it fits a comment however long a task lives."""
    return replace(
        record,
        attempts=record.attempts[-_ATTEMPTS_KEPT:],
        notices=record.notices[-_NOTICES_KEPT:],
        acted=record.acted[-_ACTED_KEPT:],
        answers=record.answers[-_ATTEMPTS_KEPT:],
    )
