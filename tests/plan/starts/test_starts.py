"""What starts now, and why the rest does not."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.batch import Search, Trial
from bot.model.config import Config, EngineConfig
from bot.model.decision import Notice, Start, Verb
from bot.model.engine import EngineChoice
from bot.model.issue import EventKind, NeedState
from bot.model.ref import Ref
from bot.model.report import Outcome
from bot.model.snapshot import Permission
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
from tests.plan.batches.ordering import ORDER, RECORD, a_batch


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


AGAIN = {"attempts": (an_attempt(1, Outcome.FAILED),), "strikes": 1, "next_attempt": 2}


def said(*tasks, **fields):
    return {one.task: one.reason for one in plan(a_snapshot(*tasks, **fields)).decisions}


def test_limits_by_what_it_starts_from():
    config = Config(max_parallel_by_status={Status.FAILED: 1})
    tasks = [a_task(number, record=a_record(number, Status.READY, **AGAIN)) for number in (1, 2)]
    held = "waits for a slot: max_parallel_by_status for FAILED is 1"
    assert said(*tasks, a_task(3), config=config) == {1: "starts as cf-1-2", 2: held, 3: "starts as cf-3-1"}
    live = a_running(20, run=920, live={"started_from": Status.FAILED})
    assert said(tasks[0], live, config=config, runs=RUNS)[1] == held
    fresh = a_running(20, run=920)
    assert said(tasks[0], fresh, config=config, runs=RUNS)[1] == "starts as cf-1-2"
    assert said(tasks[0], config=Config(max_parallel_by_status={Status.FAILED: 0}))[1].endswith(
        "for FAILED is 0"
    )


def test_what_only_publishes_is_held_by_the_total_alone():
    proven = a_task(1, record=a_record(1, Status.READY, republish=True, earlier="900/cf-1-1"))
    config = Config(
        max_parallel=0, max_parallel_by_status={Status.READY: 0}, max_parallel_by_label={"gpu": 0}, total=1
    )
    labelled_ = replace(proven, issue=replace(proven.issue, labels=("cf:ready", "gpu")))
    assert said(labelled_, config=config)[1] == "starts as cf-1-1"
    assert said(proven, config=replace(config, total=0))[1] == "waits for a slot: limits.total is 0"
    both = said(proven, a_task(2), config=Config(total=1))
    assert sorted(both.values()) == ["starts as cf-1-1", "waits for a slot: limits.total is 1"]
    publishing = a_running(20, run=920, live={"kind": Kind.PUBLISH})
    assert said(a_task(1), publishing, config=Config(max_parallel=1), runs=RUNS)[1] == "starts as cf-1-1"


def test_runs_whose_tasks_are_gone_and_trials_of_a_batch_gate_take_slots():
    one = a_task(1)
    assert said(one, orphans=(5,), config=Config(max_parallel=1))[1] == "waits for a slot: max_parallel is 1"
    assert said(one, orphans=(5,), config=Config(total=1))[1] == "waits for a slot: limits.total is 1"
    assert said(one, orphans=(5,), config=Config(max_parallel=2, total=2))[1] == "starts as cf-1-1"
    trial = Trial(an_attempt(1, kind=Kind.GATE), 2)
    gate = Search((7, 8), 0, "h", ago(), (trial,))
    batch = a_batch(replace(ORDER, tasks=(7, 8)), replace(RECORD, gate=gate))
    assert said(one, batches=(batch,), config=Config(total=1))[1] == "waits for a slot: limits.total is 1"
    assert said(one, batches=(batch,), config=Config(total=2, max_parallel=1))[1] == "starts as cf-1-1"


def test_a_start_says_all_that_its_dispatch_needs():
    record = a_record(
        1, Status.READY, not_before=ago(minutes=1), earlier="900/cf-1-1", exceptions=("a",), **AGAIN
    )
    start = decide(a_task(1, record=record, warnings=("line 2",)))
    assert (start.verb, start.status, start.reason) == (Verb.START, Status.IN_PROGRESS, "starts as cf-1-2")
    assert start.due == NOW + Config().dispatch.launch_grace
    assert start.start is not None
    assert (start.start.number, start.start.kind, start.start.earlier, start.start.exceptions) == (
        2,
        Kind.CODE,
        "900/cf-1-1",
        (),
    )
    live = start.record.live
    assert live is not None
    assert (live.number, live.claimed_at, live.started_from, live.engine) == (
        2,
        NOW,
        Status.FAILED,
        "command",
    )
    assert (start.record.next_attempt, start.record.not_before) == (3, None)
    assert [notice.fingerprint for notice in start.notices] == ["warning:line 2"]
    published = decide(a_task(1, record=replace(record, republish=True)))
    assert published.start is not None
    assert (published.start.kind, published.start.exceptions, published.start.choice.engine) == (
        Kind.PUBLISH,
        ("a",),
        "",
    )


def test_needs_are_told_by_what_is_known_of_them():
    need = Ref("acme/shop", 9)
    for state, reason in (
        (NeedState.OPEN, "waiting on #2, #9"),
        (NeedState.UNKNOWN, "need unreadable: #9, which could not be read just now"),
        (NeedState.COMPLETED, "waiting on #2"),
    ):
        assert said(a_task(1, needs=(2, 9)), a_task(2), needs={need: state})[1] == reason
    behind = said(a_task(1, needs=(2,)), a_task(2, needs=(3,)), a_task(3, needs=(2,)))
    assert behind[1] == "blocked by cycle: waits for #2"
    done = a_task(2, needs=(3,)), a_task(3, needs=(2,))
    assert said(*done)[2] == "part of the cycle 2→3→2"
    (notice,) = decide(a_task(1, needs=(1,))).notices
    assert notice.fingerprint == "cycle:1→1"
    assert notice.text == (
        "This task waits for itself: 1→1. Remove one of these needs; until then no member of the cycle starts."
    )


def test_a_line_about_needs_that_cannot_be_read_is_told_while_it_waits():
    waiting = decide(a_task(1, needs=(2,), warnings=("w" * 300,)), others=(a_task(2),))
    (notice,) = waiting.notices
    assert notice.fingerprint == f"warning:{'w' * 192}"
    assert notice.text == f"A line about needs could not be read whole. {'w' * 300}"
    full = decide(a_task(1, warnings=("w",)), config=Config(max_parallel=0))
    assert [notice.fingerprint for notice in full.notices] == ["warning:w"]


@pytest.mark.parametrize(
    ("record", "starts"),
    [({}, False), ({"started_by_command": True}, True), ({"republish": True, "earlier": "900/cf-1-1"}, True)],
)
def test_with_start_manual_an_order_approves_only(record, starts):
    task = a_task(1, record=a_record(1, Status.READY, **record))
    decision = decide(task, config=Config(start="manual"))
    assert (decision.start is not None) is starts
    if not starts:
        assert decision.reason == "approved only (start: manual); it starts by `/cf run` or a batch"
        assert expected_order(a_snapshot(task, config=Config(start="manual")), [decision]) == ()
    member = decide(a_task(1), config=Config(start="manual"), batches=(a_batch(),))
    assert member.start is not None


def test_what_was_not_ordered_says_why():
    told = decide(a_task(events=(labelled("cf:ready", STRANGER),)))
    why = "`cf:ready` was set by stan, who does not have write permission here"
    assert told.reason == f"not approved: {why}"
    assert told.notices == (Notice("unapproved", f"Not started: {why}."),)
    asked = decide(a_task(), permissions={})
    assert (asked.reason, asked.wants) == (
        "who ordered it is being looked up",
        frozenset({Permission("wendy")}),
    )
