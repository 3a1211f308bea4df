"""Small changes to a record."""

import pytest

from bot.model.record import Held
from bot.model.report import Hold, Outcome
from bot.model.status import Status
from bot.plan.facts.record_edits import ended, reset_by_order, started_from, with_live, with_status
from tests.builders import NOW, a_record, ago, an_attempt


def test_a_status_that_a_record_has_already_leaves_it_as_it_is():
    record = a_record(1, Status.READY, status_at=ago(hours=1))
    assert with_status(record, Status.READY, NOW) is record
    moved = with_status(record, Status.BACKLOG, NOW)
    assert (moved.status, moved.status_at) == (Status.BACKLOG, NOW)


def test_only_the_newest_attempt_changes():
    first, second = an_attempt(1, Outcome.FAILED), an_attempt(2)
    record = a_record(1, attempts=(first, second))
    assert [attempt.run for attempt in with_live(record, run=77).attempts] == [first.run, 77]
    newest = ended(record, Outcome.INFRA, "its run was deleted", NOW).attempts[-1]
    assert (newest.number, newest.outcome, newest.reason, newest.ended_at) == (
        2,
        Outcome.INFRA,
        "its run was deleted",
        NOW,
    )


def test_a_persons_order_for_a_new_attempt_forgets_the_hold():
    record = reset_by_order(a_record(1, held=Held(Hold.SETTING, NOW, 1), exceptions=("a",)))
    assert (record.held, record.exceptions) == (None, ())


def test_a_persons_order_clears_what_was_counted_and_whose_it_was():
    record = reset_by_order(a_record(1, strikes=2, interruptions=1, not_before=NOW, batch=60, round=2))
    assert (record.strikes, record.interruptions, record.not_before) == (0, 0, None)
    assert (record.batch, record.round) == (0, 0)


@pytest.mark.parametrize(
    ("outcome", "fields", "origin"),
    [
        (None, {}, Status.READY),
        (Outcome.FAILED, {"strikes": 1}, Status.FAILED),
        (Outcome.FAILED, {}, Status.READY),
        (Outcome.BLOCKED, {"strikes": 1}, Status.BLOCKED),
        (Outcome.INFRA, {"interruptions": 1, "strikes": 1}, Status.IN_PROGRESS),
        (Outcome.CAPACITY, {"strikes": 1}, Status.IN_PROGRESS),
    ],
)
def test_what_an_attempt_starts_from_is_what_the_last_one_came_to(outcome, fields, origin):
    attempts = (an_attempt(1, outcome),) if outcome else ()
    assert started_from(a_record(1, attempts=attempts, **fields)) is origin
