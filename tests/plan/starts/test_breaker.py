"""The breaker of an engine whose provider takes no work for now."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.config import Config
from bot.model.decision import Verb
from bot.model.record import Record
from bot.model.report import Outcome
from bot.model.status import Status
from bot.plan import plan
from bot.plan.starts.breaker import breakers
from tests.builders import NOW, a_record, a_running, a_snapshot, a_task, ago, an_attempt, by_number, settle


def ready(number=1, *attempts, **fields):
    return a_task(
        number,
        Status.READY,
        record=a_record(number, Status.READY, attempts=attempts, next_attempt=99, **fields),
    )


def out_of_capacity(number=1, **fields):
    return an_attempt(number, Outcome.CAPACITY, engine="command", **fields)


def test_a_capacity_failure_burns_nothing_and_holds_every_task_of_the_engine():
    until = NOW + timedelta(hours=3)
    running = a_running(record_fields={"strikes": 1, "interruptions": 1})
    ended = settle(Outcome.CAPACITY, task=running, retry_after=until, engine="command")
    held = by_number(plan(a_snapshot(ready(1, *ended.record.attempts), ready(2))))

    assert (ended.status, ended.record.strikes, ended.record.interruptions) == (Status.READY, 1, 1)
    for number in (1, 2):
        assert held[number].reason == "command takes no work until 2026-03-02 15:00:00 UTC"
        assert (held[number].verb, held[number].due) == (Verb.HOLD, until)
    later = plan(a_snapshot(ready(1, *ended.record.attempts), ready(2), now=until))
    assert all(decision.start for decision in later.decisions)


def test_the_tick_that_sees_it_starts_nothing_of_that_engine():
    from tests.builders import a_report, a_run, an_artifact, jobs

    snapshot = a_snapshot(
        a_running(),
        ready(2),
        runs=(a_run(900, "cf-1-1", conclusion="success"),),
        artifacts=(an_artifact(),),
        reports={50: a_report(Outcome.CAPACITY, engine="command")},
        jobs={900: jobs(agent="failure", publish="success")},
    )
    assert by_number(plan(snapshot))[2].reason.startswith("command takes no work until")


@pytest.mark.parametrize(
    ("minutes", "wait"),
    [
        ([30], 30),
        ([30, 20], 60),
        ([30, 20, 10], 120),
        ([30, 30.2, 30.1], 30),  # side by side they are one
    ],
)
def test_without_a_time_of_the_provider_the_wait_doubles(minutes, wait):
    attempts = [
        out_of_capacity(number, claimed_at=ago(minutes=when + 1), ended_at=ago(minutes=when))
        for number, when in enumerate(minutes, 1)
    ]
    found = breakers([Record(number, (attempt,)) for number, attempt in enumerate(attempts)], Config())
    assert found == {"command": ago(minutes=min(minutes)) + timedelta(seconds=wait)}


def test_what_the_engine_does_after_it_closes_the_breaker():
    limited = out_of_capacity(1, ended_at=ago(minutes=9), retry_after=NOW + timedelta(hours=1))
    beside = an_attempt(1, Outcome.PASSED, engine="command", ended_at=ago(minutes=2))
    worked = replace(beside, outcome=Outcome.FAILED, claimed_at=ago(minutes=9))
    lost = an_attempt(2, Outcome.INFRA, engine="command", ended_at=ago(minutes=1))
    other = an_attempt(2, Outcome.PASSED, engine="other", ended_at=ago(minutes=1))
    assert breakers([Record(1, (limited, lost)), Record(2, (beside, other))], Config()) == {
        "command": NOW + timedelta(hours=1)
    }
    assert breakers([Record(1, (limited,)), Record(2, (worked, lost))], Config()) == {}


def test_a_time_of_the_provider_beyond_a_day_is_not_believed():
    limited = out_of_capacity(1, retry_after=NOW + timedelta(days=999))
    assert breakers([Record(1, (limited,))], Config()) == {"command": ago(minutes=10) + timedelta(days=1)}
