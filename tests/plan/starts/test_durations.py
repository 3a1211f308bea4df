"""How long each open task is expected to take."""

from datetime import timedelta

import pytest

from bot.model.issue import StateReason
from bot.model.report import Outcome
from bot.model.status import Status
from bot.plan.board import Board
from bot.plan.graph.order import DEFAULT_DURATION
from bot.plan.starts.durations import candidate_of, durations_of
from tests.builders import a_record, a_snapshot, a_task, an_attempt, closed_as


def past(number, *attempts, **fields):
    record = a_record(number, Status.DONE, attempts=attempts)
    return a_task(number, Status.DONE, record=record, **fields)


def test_an_estimate_goes_before_what_passed_in_its_category_and_that_before_all_that_passed():
    half = timedelta(minutes=30)
    found = durations_of(
        Board(
            a_snapshot(
                a_task(1, estimate=half),
                a_task(2, category="web"),
                a_task(3),
                past(4, an_attempt(1, Outcome.PASSED, minutes=10.0), category="web"),
                past(5, an_attempt(1, Outcome.PASSED, minutes=20.0), category="api"),
            )
        )
    )
    assert [found[number] / timedelta(minutes=1) for number in (1, 2, 3)] == [30, 10, 15]


def test_what_failed_or_took_no_time_says_nothing():
    failed = past(4, an_attempt(1, Outcome.FAILED, minutes=90.0), an_attempt(2, Outcome.PASSED, minutes=0.0))
    assert durations_of(Board(a_snapshot(a_task(1), failed)))[1] == DEFAULT_DURATION


def test_closed_tasks_are_not_expected_any_more():
    closed = past(4, an_attempt(1, Outcome.PASSED, minutes=10.0), **closed_as(StateReason.COMPLETED))
    assert durations_of(Board(a_snapshot(a_task(1), closed))) == {1: timedelta(minutes=10)}


@pytest.mark.parametrize(
    ("outcome", "continued"),
    [
        (Outcome.BLOCKED, True),
        (Outcome.INFRA, True),
        (Outcome.CANCELLED, True),
        (Outcome.FAILED, False),
        (None, False),
    ],
)
def test_work_that_was_interrupted_or_answered_is_continued(outcome, continued):
    attempts = (an_attempt(1, outcome),) if outcome else ()
    (item,) = Board(a_snapshot(a_task(1, record=a_record(1, Status.READY, attempts=attempts)))).items
    assert candidate_of(item).continued is continued
