"""What starts now, and why the rest does not."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.config import Config, EngineConfig
from bot.model.decision import Start, Verb
from bot.model.engine import EngineChoice
from bot.model.issue import EventKind
from bot.model.report import Outcome
from bot.model.status import Status
from bot.model.unit import Kind
from bot.plan import plan
from bot.plan.starts.starts import STARTS_PER_TICK, expected_order
from tests.builders import (
    NOW,
    STRANGER,
    a_record,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_attempt,
    by_number,
    decide,
    happened,
    labelled,
    words_of,
)


def started(*tasks, **fields):
    return [decision.task for decision in plan(a_snapshot(*tasks, **fields)).decisions if decision.start]


def test_a_start_claims_the_next_number_and_binds_the_approval():
    record = a_record(
        1,
        Status.READY,
        attempts=(an_attempt(1, Outcome.FAILED),),
        next_attempt=2,
        strikes=1,
        earlier="900/cf-1-1",
        not_before=ago(minutes=1),
    )
    decision = decide(a_task(record=record))
    attempt = decision.record.attempts[-1]

    assert (decision.verb, decision.status, decision.reason) == (
        Verb.START,
        Status.IN_PROGRESS,
        "starts as cf-1-2",
    )
    assert decision.start is not None
    assert replace(decision.start, choice=EngineChoice()) == Start(2, Kind.CODE, "900/cf-1-1")
    assert (attempt.number, attempt.claimed_at, attempt.run, attempt.live) == (2, NOW, 0, True)
    assert decision.record.approval is not None
    assert attempt.digest == decision.record.approval.digest
    assert (decision.record.next_attempt, decision.record.not_before) == (3, None)
    assert decision.due == NOW + timedelta(minutes=5)


@pytest.mark.parametrize(
    ("outcome", "strikes", "origin"),
    [
        (None, 0, Status.READY),
        (Outcome.FAILED, 1, Status.FAILED),
        (Outcome.FAILED, 0, Status.READY),
        (Outcome.BLOCKED, 1, Status.BLOCKED),
        (Outcome.INFRA, 1, Status.IN_PROGRESS),
        (Outcome.CANCELLED, 0, Status.IN_PROGRESS),
    ],
)
def test_a_claim_remembers_what_it_was_started_from(outcome, strikes, origin):
    attempts = (an_attempt(1, outcome),) if outcome else ()
    lost = int(origin is Status.IN_PROGRESS)
    record = a_record(1, Status.READY, attempts=attempts, strikes=strikes, interruptions=lost, next_attempt=2)
    assert decide(a_task(record=record)).record.attempts[-1].started_from is origin


def test_back_off_holds_until_its_time_and_not_longer():
    waiting = decide(a_task(record=a_record(1, Status.READY, not_before=NOW + timedelta(seconds=1))))
    assert (waiting.verb, waiting.due) == (Verb.HOLD, NOW + timedelta(seconds=1))
    assert waiting.reason == "backs off until 12:00:01 UTC"
    assert decide(a_task(record=a_record(1, Status.READY, not_before=NOW))).start is not None


def test_what_was_not_ordered_is_told_once():
    decision = decide(a_task(events=(labelled("cf:ready", STRANGER),)))
    assert decision.verb is Verb.HOLD
    assert "stan" in words_of(decision)
    assert not decide(
        a_task(
            events=(labelled("cf:ready", STRANGER),), record=replace(decision.record, notices=("unapproved",))
        )
    ).notices


def test_a_changed_text_goes_back_to_the_backlog():
    decision = decide(
        a_task(events=(labelled("cf:ready"), happened(EventKind.EDITED, STRANGER, ago(minutes=1))))
    )
    assert decision.status is Status.BACKLOG
    assert decision.reason.startswith("changed after approval")


def test_a_standstill_or_a_pause_holds_starts_and_nothing_else():
    for fields, words in (
        ({"starts_blocked_by": "no worker"}, "no worker"),
        ({}, "paused by the label `cf:pause`"),
    ):
        labels = () if fields else ("cf:pause",)
        assert decide(a_task(1, Status.READY, *labels), **fields).reason == words
        running = decide(
            replace(a_running(), issue=replace(a_running().issue, labels=("cf:in-progress", *labels))),
            runs=(a_run(),),
            **fields,
        )
        assert running.verb is Verb.RUNNING


def test_an_unreadable_record_is_left_alone():
    decision = decide(a_task(record_problem="its record cannot be read"))
    assert (decision.verb, decision.reason, decision.record) == (
        Verb.HOLD,
        "its record cannot be read",
        a_task().record,
    )


# limits

READY = tuple(a_task(number) for number in range(1, 9))
RUNS = tuple(a_run(900 + number, f"cf-{number}-1") for number in range(20, 30))


def running(count):
    return tuple(a_running(number, run=900 + number) for number in range(20, 20 + count))


@pytest.mark.parametrize(
    ("config", "busy", "count"),
    [
        (Config(), 0, 4),
        (Config(), 3, 1),
        (Config(), 4, 0),
        (Config(), 6, 0),
        (Config(max_parallel=0), 0, 0),
        (Config(total=0), 0, 0),
        (Config(max_parallel=256, total=2), 1, 1),
        (Config(max_parallel=1), 0, 1),
        (Config(max_parallel=256, total=256), 0, 8),
    ],
)
def test_limits_count_what_runs_and_zero_is_zero(config, busy, count):
    assert len(started(*READY, *running(busy), config=config, runs=RUNS)) == count


def test_a_held_task_names_the_limit():
    held = by_number(plan(a_snapshot(*READY, config=Config(max_parallel=0))))
    assert held[1].reason == "waits for a slot: max_parallel is 0"
    assert held[1].status is Status.READY
    total = by_number(plan(a_snapshot(*READY, config=Config(max_parallel=9, total=0))))
    assert total[1].reason == "waits for a slot: limits.total is 0"


@pytest.mark.parametrize(("most", "busy", "count"), [(0, 0, 0), (1, 0, 1), (2, 0, 2), (2, 1, 1), (1, 1, 0)])
def test_limits_by_label_count_only_their_own(most, busy, count):
    config = Config(max_parallel=20, total=20, max_parallel_by_label={"GPU": most})
    gpu = tuple(a_task(number, Status.READY, "gpu") for number in (1, 2, 3))
    busy_ones = tuple(
        replace(one, issue=replace(one.issue, labels=(*one.issue.labels, "Gpu"))) for one in running(busy)
    )
    snapshot = a_snapshot(*gpu, a_task(4), *busy_ones, config=config, runs=RUNS)
    found = by_number(plan(snapshot))
    assert len([number for number in (1, 2, 3) if found[number].start]) == count
    assert found[4].start
    assert all(
        f"max_parallel_by_label for GPU is {most}" in found[number].reason
        for number in (1, 2, 3)
        if not found[number].start
    )


def test_a_run_that_is_being_cancelled_still_takes_its_slot():
    leaving = a_running(20, run=920, live={"cancelled_for": "stopped", "cancel_sent_at": ago(minutes=1)})
    assert started(a_task(1), leaving, config=Config(max_parallel=1), runs=RUNS) == []


def test_one_tick_starts_no_more_than_github_takes():
    tasks = tuple(a_task(number) for number in range(1, 60))
    decided = plan(a_snapshot(*tasks, config=Config(max_parallel=256, total=256)))
    assert sum(decision.start is not None for decision in decided.decisions) == STARTS_PER_TICK
    later = [decision for decision in decided.decisions if not decision.start]
    assert all(decision.due == NOW + timedelta(minutes=1) for decision in later)


def test_begun_work_goes_first_then_priority():
    begun = a_task(
        5,
        priority=9,
        record=a_record(5, Status.READY, attempts=(an_attempt(1, Outcome.INFRA),), next_attempt=2),
    )
    urgent, plain = a_task(4, priority=0), a_task(3)
    for order in ("score", "critical-path"):
        config = Config(max_parallel=2, order=order)
        assert started(plain, urgent, begun, config=config) == [4, 5]


@pytest.mark.parametrize("engines", [{"command": EngineConfig()}, {"command": EngineConfig(args=" ")}])
def test_without_a_command_line_for_the_agent_nothing_starts_and_the_reason_names_the_key(engines):
    (decision,) = plan(a_snapshot(a_task(1), config=Config(engine="command", engines=engines))).decisions

    assert decision.start is None
    assert "engines.command.args" in decision.reason


def test_the_expected_order_is_that_of_urgency_whoever_waits():
    snapshot = a_snapshot(
        a_task(1, Status.BACKLOG),
        a_task(2, priority=9),
        a_task(3, priority=1, needs=(1,)),
        a_task(4, estimate=timedelta(hours=9)),
        a_running(5, run=905),
        runs=(a_run(905, "cf-5-1"),),
    )
    assert expected_order(snapshot, plan(snapshot).decisions) == (4, 3, 2)
