"""Where everything stands: how many in each section, and why nothing starts."""

import pytest

from bot.conductor.tell.summary import overview
from bot.model.config import Config
from bot.model.report import Outcome
from bot.model.status import Status
from tests.builders import a_record, a_run, a_running, a_snapshot, a_task, a_tick, an_attempt


def many():
    return a_snapshot(
        a_task(1),
        a_task(2, needs=(1,)),
        a_running(3, run=903),
        a_task(4, Status.BLOCKED),
        a_task(
            5, Status.FAILED, record=a_record(5, Status.FAILED, attempts=(an_attempt(1, Outcome.FAILED),))
        ),
        a_task(6, Status.BACKLOG),
        a_task(7, Status.DONE),
        runs=(a_run(903, "cf-3-1"),),
    )


def test_counts_tell_ready_running_waiting_blocked_and_failed_apart():
    assert overview(a_tick(many())).counts == {
        "ready": 0,
        "running": 2,
        "waiting": 1,
        "blocked": 1,
        "failed": 1,
    }


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"starts_blocked_by": "paused by the label `cf:pause` on #9"},
            "paused by the label `cf:pause` on #9",
        ),
        ({"config": Config(max_parallel=0)}, "nothing can start: waits for a slot: max_parallel is 0"),
    ],
)
def test_the_headline_says_why_nothing_starts(fields, words):
    assert overview(a_tick(a_snapshot(a_task(1), a_task(2), **fields))).reason == words
