"""Events, each by its name: what must have happened for it, and that nothing else is told."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.model.batch import Action, Batch, BatchRecord, BatchState, Control, Order, Search
from bot.model.decision import BatchStep, CancelRun, Decision, OpenIssue, Plan, Start, Verb
from bot.model.event import EVENTS, Event
from bot.model.issue import EventKind, StateReason
from bot.model.record import Answer, Blocker, Fixed, Record
from bot.model.report import Category, HookResult, Outcome, Question, Step
from bot.model.status import Status
from bot.notation.events import write_events
from bot.plan import plan
from bot.plan.telling.events import Done, Reloaded, events_of
from tests.builders import (
    GREEN,
    NOW,
    a_comment,
    a_pull,
    a_record,
    a_report,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_artifact,
    an_attempt,
    an_issue,
    closed_as,
    happened,
    jobs,
    labelled,
    unlabelled,
)


def told(*tasks, done=None, **snapshot):
    before = a_snapshot(*tasks, **snapshot)
    events = events_of(before, plan(before), done or Done())
    assert {event.event for event in events} <= EVENTS.keys()
    assert {event.at for event in events} <= {NOW}
    return events


def named(events, name):
    return [event for event in events if event.event == name]


def ending(outcome, task=None, **report):
    green = outcome is Outcome.PASSED
    return told(
        task or a_running(),
        runs=(a_run(900, "cf-1-1", conclusion="success"),),
        artifacts=(an_artifact("cf-1-1"),),
        reports={50: a_report(outcome, **report)},
        jobs={900: GREEN if green else jobs(agent="failure", verify="skipped", publish="success")},
    )


def test_run_started():
    events = told(a_task(1), done=Done(started={1: 901}))
    assert events == (Event("run.started", NOW, 1, key="cf-1-1", run=901, more={"kind": "code"}),)


def test_what_was_left_to_the_next_tick_is_no_event():
    assert told(a_task(1), done=Done(skipped={1: "changed since snapshot"})) == ()


def test_nothing_happened():
    assert (
        told(
            a_task(1, needs=(7,)),
            a_task(2, Status.BACKLOG),
            a_running(3, run=903),
            runs=(a_run(903, "cf-3-1"),),
        )
        == ()
    )


@pytest.mark.parametrize(
    ("outcome", "name"),
    [
        (Outcome.PASSED, "run.completed"),
        (Outcome.FAILED, "run.failed"),
        (Outcome.TIMEOUT, "run.failed"),
        (Outcome.CRASHED, "run.failed"),
        (Outcome.BLOCKED, "run.blocked"),
        (Outcome.UNVERIFIED, "run.blocked"),
        (Outcome.NO_CHANGES, "run.blocked"),
        (Outcome.HELD, "run.blocked"),
        (Outcome.INFRA, "run.cancelled"),
        (Outcome.REFUSED, "run.cancelled"),
    ],
)
def test_run_ended(outcome, name):
    (event,) = [event for event in ending(outcome, minutes=5.21) if event.event.startswith("run.")]
    assert (event.event, event.reason, event.task, event.key, event.run) == (name, outcome, 1, "cf-1-1", 900)
    assert event.more == {"kind": "code", "minutes": 5.2}


def test_run_ended_is_told_once():
    running = a_running()
    over = replace(running.record, attempts=(an_attempt(1, Outcome.FAILED, run=900),), strikes=1)
    assert told(replace(running, record=over)) == ()


def test_blocker_created_answered_and_resolved():
    assert named(ending(Outcome.BLOCKED, question=Question("Which?")), "blocker.created")

    asked = Blocker("question:cf-1-1", Question("Which?"), ago(minutes=9))
    record = a_record(
        1, Status.BLOCKED, blocker=asked, attempts=(an_attempt(1, Outcome.BLOCKED),), next_attempt=2
    )
    events = told(
        a_task(1, Status.BLOCKED, record=record), comments={1: (a_comment("sqlite, not <b>postgres</b>"),)}
    )
    assert named(events, "blocker.answered")
    (requeued,) = named(events, "reconcile.task_requeued")
    assert requeued.reason == "answered"
    assert "sqlite" not in write_events(events)

    answered = {"answers": (Answer("Which?", "sqlite", "wendy", 1, ago(minutes=8)),)}
    again = a_running(earlier_attempts=(an_attempt(0, Outcome.BLOCKED),), record_fields=answered)
    assert named(ending(Outcome.PASSED, again), "blocker.resolved")
    assert not named(ending(Outcome.FAILED, again), "blocker.resolved")
    assert not named(ending(Outcome.PASSED), "blocker.resolved")


def test_agent_steps_are_told_by_category_once_the_attempt_has_ended():
    steps = tuple(
        Step(category, "secret words", at)
        for category, at in (
            (Category.PLAN, 0),
            (Category.SHELL, 5.4),
            (Category.SHELL, 9),
            (Category.GATE, 20),
        )
    )
    events = ending(Outcome.FAILED, steps=steps)
    told_steps = [
        (event.event, event.more["category"], event.more["second"])
        for event in events
        if event.event.startswith("agent.")
    ]
    assert told_steps == [
        ("agent.step_started", "plan", 0),
        ("agent.step_completed", "plan", 5),
        ("agent.step_started", "shell", 5),
        ("agent.step_completed", "shell", 20),
        ("agent.step_started", "gate", 20),
        ("agent.step_completed", "gate", 20),
    ]
    assert "secret" not in write_events(events)


def test_hook_executed_and_failed():
    hooks = (
        HookResult("before_task", True),
        HookResult("after_task_failure", False, tail="x"),
        HookResult("evil\n", True),
    )
    events = ending(Outcome.FAILED, hooks=hooks)
    assert [event.reason for event in named(events, "hook.executed")] == ["before_task", "unknown"]
    assert [event.reason for event in named(events, "hook.failed")] == ["after_task_failure"]


def test_task_merged():
    pull = a_pull(70, merged=True, is_open=False)
    task = a_task(
        1,
        Status.DONE,
        record=a_record(1, Status.DONE, pull=70),
        pulls=(pull,),
        **closed_as(StateReason.COMPLETED),
    )
    assert told(task) == (Event("task.merged", NOW, 1, pull=70),)
    assert told(replace(task, record=replace(task.record, status=Status.MERGED))) == ()


def test_reconcile_task_skipped():
    waiting = a_task(1, record=a_record(1, Status.READY), **closed_as(StateReason.COMPLETED))
    dropped = a_task(
        2, Status.BACKLOG, record=a_record(2, Status.BACKLOG), **closed_as(StateReason.NOT_PLANNED)
    )
    started, first, second = told(waiting, dropped)
    assert started == Event("reconcile.started", NOW, more={"tasks": 2})
    assert (first.event, first.task, first.reason) == ("reconcile.task_skipped", 1, "completed")
    assert (second.event, second.task, second.reason) == ("reconcile.task_skipped", 2, "dropped")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (closed_as(StateReason.NOT_PLANNED), "closed"),
        ({"events": (labelled("cf:ready"), unlabelled("cf:in-progress", at=ago(minutes=1)))}, "withdrawn"),
    ],
)
def test_reconcile_task_killed(changes, reason):
    running = a_running(**changes)
    if reason == "withdrawn":
        running = replace(running, issue=replace(running.issue, labels=()))
    (event,) = named(told(running, runs=(a_run(),)), "reconcile.task_killed")
    assert (event.task, event.key, event.run, event.reason) == (1, "cf-1-1", 900, reason)


def test_reconcile_task_requeued_after_a_lost_run():
    (event,) = named(
        told(a_running(), runs=(a_run(900, "cf-1-1", conclusion="failure"),), jobs={900: ()}),
        "reconcile.task_requeued",
    )
    assert event.reason == "infra"


def test_reconcile_task_requeued_by_a_review():
    pull = a_pull(70, changes_requested_at=ago(minutes=3))
    task = a_task(1, Status.DONE, record=a_record(1, Status.DONE, pull=70), pulls=(pull,))
    (event,) = named(told(task), "reconcile.task_requeued")
    assert event.reason == "review"


def test_a_strike_or_a_persons_label_is_no_reconciliation():
    assert not named(ending(Outcome.FAILED), "reconcile.started")
    moved = a_task(1, record=a_record(1, Status.FAILED), events=(labelled("cf:ready", at=ago(minutes=1)),))
    assert not named(told(moved), "reconcile.task_requeued")


def test_reconcile_error():
    broken = a_task(2, record_problem="its record cannot be read: x")
    (event,) = named(told(broken, done=Done(refused=2)), "reconcile.error")
    assert event.more == {"count": 3}


def a_batch(*tasks, **record):
    return Batch(an_issue(50, "cf:batch"), Order(1, "wendy", ago(hours=1), tasks), BatchRecord(**record))


def batch_events(before, now, *tasks, decisions=(), happened_before=(), done=None):
    """What is told of batch 50 as its record goes from `before` to `now`, with these decisions about its members."""
    batch = a_batch(*(tasks or (1, 2)), **before)
    step = BatchStep(batch, BatchRecord(**now), "reason")
    snapshot = a_snapshot(*happened_before, batches=(batch,))
    events = events_of(snapshot, Plan(tuple(decisions), batches=(step,)), done or Done())
    assert {event.event for event in events} <= EVENTS.keys()
    return [event for event in events if event.event.startswith("batch.")]


def a_decision(number, status, record=None, **fields):
    return Decision(number, Verb.MOVE, "x", status, record or a_record(number, status), **fields)


def test_batch_started():
    (event,) = batch_events({}, {"state": BatchState.RUNNING})
    assert (event.event, event.batch) == ("batch.started", 50)
    assert event.more == {"tasks": (1, 2), "strategy": "parallel", "resume": False, "retry": 0}


def test_batch_started_again():
    (event,) = batch_events({"state": BatchState.FAILED}, {"state": BatchState.RUNNING})
    assert event.more["resume"] is True
    running = {"state": BatchState.RUNNING}
    (event,) = batch_events(running, running | {"rounds": 1})
    assert (event.event, event.more["resume"], event.more["retry"]) == ("batch.started", False, 1)
    assert batch_events(running, running) == []


def test_batch_task_queued():
    running = {"state": BatchState.RUNNING}
    taken = a_decision(1, Status.READY, a_record(1, Status.READY, batch=50))
    (event,) = batch_events(running, running, decisions=(taken,), happened_before=(a_task(1, None),))
    assert (event.event, event.batch, event.task) == ("batch.task_queued", 50, 1)


@pytest.mark.parametrize(
    ("outcome", "status", "name"),
    [
        (Outcome.PASSED, Status.DONE, "batch.task_completed"),
        (Outcome.BLOCKED, Status.BLOCKED, "batch.task_blocked"),
        (Outcome.FAILED, Status.FAILED, "batch.task_failed"),
        (Outcome.FAILED, Status.READY, "batch.task_retried"),
    ],
)
def test_batch_task_completed_blocked_failed_and_retried(outcome, status, name):
    running = {"state": BatchState.RUNNING}
    ended = a_decision(1, status, a_record(1, status, attempts=(an_attempt(1, outcome, run=900),), batch=50))
    before = a_running(1, record_fields={"batch": 50})
    (event,) = batch_events(running, running, decisions=(ended,), happened_before=(before,))
    assert (event.event, event.batch, event.task, event.key) == (name, 50, 1, "cf-1-1")


def test_batch_task_started_and_skipped():
    running = {"state": BatchState.RUNNING}
    claimed = a_record(1, Status.IN_PROGRESS, attempts=(an_attempt(1),), batch=50)
    start = a_decision(1, Status.IN_PROGRESS, claimed, start=Start(1))
    closed = a_task(2, record=a_record(2, Status.READY, batch=50), **closed_as(StateReason.COMPLETED))
    found = batch_events(
        running,
        running,
        decisions=(start, a_decision(2, Status.DONE, a_record(2, Status.DONE, batch=50))),
        happened_before=(a_task(1, record=a_record(1, Status.READY, batch=50)), closed),
        done=Done(started={1: 901}),
    )
    assert {(event.event, event.task) for event in found} == {
        ("batch.task_started", 1),
        ("batch.task_skipped", 2),
    }


@pytest.mark.parametrize("name", ["batch.completed", "batch.partial", "batch.failed", "batch.cancelled"])
def test_batch_completed_partial_failed_and_cancelled(name):
    ended = BatchState(name.removeprefix("batch."))
    control = Control(Action.STOP, "wendy", ago(minutes=1), force=True)
    members = (
        a_decision(1, Status.DONE),
        a_decision(2, Status.FAILED),
        a_decision(
            3,
            Status.BACKLOG,
            a_record(3, Status.BACKLOG, attempts=(an_attempt(1, run=903),)),
            cancel=CancelRun(903),
        ),
    )
    (event,) = batch_events(
        {"state": BatchState.RUNNING, "rounds": 1},
        {"state": ended, "rounds": 1, "control": control},
        1,
        2,
        3,
        decisions=members,
        happened_before=(a_task(1), a_task(2), a_running(3, run=903)),
    )[-1:]
    assert (event.event, event.batch) == (name, 50)
    assert event.more == {
        "total": 3,
        "passed": 1,
        "failed": 1,
        "blocked": 0,
        "rounds": 1,
        "force": True,
        "ended_runs": 1,
    }


def test_batch_validation_failed():
    red = Search((1, 2), 0, "d", ago(hours=1), passed=False, guilty=2, log="secret words", failing=("tests",))
    red = replace(red, reason="it could not be run 3 times in a row: secret words")
    running = {"state": BatchState.RUNNING}
    (event,) = batch_events(running, running | {"gate": red})
    assert (event.event, event.task) == ("batch.validation_failed", 2)
    assert event.more == {
        "tasks": (1, 2),
        "trials": 0,
        "gates": ("tests",),
        "summary": "it could not be run 3 times in a row",
    }
    assert "secret" not in write_events([event])


def test_shared_fix_opened_and_closed():
    before = a_snapshot(fixed={"f1": Fixed(7, ago(days=1))})
    opened = OpenIssue("shared:f2", "words of a failure", "more of them", ("cf:shared-fix", "cf:backlog"))
    other = OpenIssue("regression:3", "x", "y", ("cf:regression",))
    decided = Plan((), opens=(opened, other), fixed={"f1": before.fixed["f1"], "f2": Fixed(9, NOW)})
    assert events_of(before, decided, Done()) == (
        Event("shared_fix.opened", NOW),
        Event("shared_fix.closed", NOW, 9),
    )


def test_config_reloaded_and_rejected():
    assert told(done=Done(configuration=Reloaded.RELOADED)) == (Event("config.reloaded", NOW),)
    assert told(done=Done(configuration=Reloaded.REJECTED)) == (Event("config.rejected", NOW),)


def test_reopened_by_a_person_is_no_event_of_ours():
    task = a_task(
        1, Status.DONE, record=Record(1, status=Status.DONE), events=(happened(EventKind.REOPENED),)
    )
    assert told(task) == ()


def test_every_event_has_an_example_on_this_page():
    shown = re.findall(r'"([a-z_]+\.[a-z_]+)"', Path(__file__).read_text(encoding="utf-8"))
    assert set(shown) == EVENTS.keys()
