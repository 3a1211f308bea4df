"""Property: what holds for every plan, on generated repositories."""

from datetime import timedelta
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.model.config import Config
from bot.model.issue import EventKind, NeedState, StateReason
from bot.model.record import Blocker
from bot.model.ref import Ref
from bot.model.report import Outcome, Question
from bot.model.status import Status
from bot.plan import plan
from tests.builders import (
    BOT,
    GREEN,
    NOW,
    OTHER_BOT,
    STRANGER,
    WRITER,
    a_comment,
    a_job,
    a_pull,
    a_record,
    a_report,
    a_run,
    a_snapshot,
    a_task,
    ago,
    an_artifact,
    an_attempt,
    applied,
    happened,
    jobs,
    labelled,
    unlabelled,
)

PEOPLE = st.sampled_from([WRITER, STRANGER, BOT, OTHER_BOT])
STATUSES = st.sampled_from(list(Status))
TIMES = st.integers(0, 90).map(lambda minutes: ago(minutes=minutes))
FOREIGN = Ref("octo/lib", 4)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def events(draw):
    kind = draw(st.sampled_from(list(EventKind)))
    by, at = draw(PEOPLE), draw(TIMES)
    if kind is EventKind.LABELED:
        return labelled(f"cf:{draw(STATUSES)}", by, at)
    if kind is EventKind.UNLABELED:
        return unlabelled(f"cf:{draw(STATUSES)}", by, at)
    return happened(kind, by, at)


@st.composite
def records(draw, number):
    ended = draw(st.lists(st.sampled_from(list(Outcome)), max_size=2))
    attempts = [an_attempt(at, outcome, run=800 + at, minutes=3.0) for at, outcome in enumerate(ended, 1)]
    live = draw(st.booleans())
    if live:
        leaving = draw(st.booleans())
        attempts.append(
            an_attempt(
                len(attempts) + 1,
                run=draw(st.sampled_from([0, 900 + number])),
                claimed_at=draw(TIMES),
                cancelled_for="stopped" if leaving else "",
                cancel_sent_at=draw(st.none() | TIMES) if leaving else None,
            )
        )
    asks = draw(st.booleans())
    return a_record(
        number,
        draw(st.none() | STATUSES)
        if not live
        else draw(st.sampled_from([Status.IN_PROGRESS, Status.BACKLOG, None])),
        status_at=draw(TIMES),
        attempts=tuple(attempts),
        next_attempt=len(attempts) + 1,
        strikes=draw(st.integers(0, 3)),
        interruptions=draw(st.integers(0, 3)),
        not_before=draw(st.none() | st.sampled_from([ago(minutes=5), NOW + timedelta(minutes=5)])),
        blocker=Blocker("q", Question("Which?", draw(st.sampled_from([(), ("A", "B")]))), ago(minutes=20))
        if asks
        else None,
        pull=draw(st.sampled_from([0, 70])),
        republish=draw(st.booleans()),
        approval=draw(st.none() | st.just(a_record(number).approval)),
    )


@st.composite
def tasks(draw, number):
    """Four kinds: ready, running, parked with a record that agrees with the label, and anything at all."""
    kind = draw(
        st.sampled_from(["ready", "ready", "ready", "running", "running", "parked", "parked", "wild"])
    )
    record = draw(records(number))
    status = draw(STATUSES)
    labels = draw(st.sampled_from([(), (), (), ("gpu",), ("cf:pause",)]))
    seen = [
        labelled("cf:ready", draw(st.sampled_from([WRITER, WRITER, WRITER, STRANGER, BOT])), ago(minutes=95))
    ]
    seen += draw(st.lists(events(), max_size=2)) if kind == "wild" or draw(st.integers(0, 3)) == 0 else []
    is_open = draw(st.integers(0, 7)) > 0
    attempts = tuple(attempt for attempt in record.attempts if not attempt.live)
    if kind == "ready":
        status = Status.READY
        record = replace(
            record, status=draw(st.sampled_from([None, Status.READY])), attempts=attempts, blocker=None
        )
    elif kind == "running":
        status = Status.IN_PROGRESS
        live = an_attempt(
            len(attempts) + 1, run=draw(st.sampled_from([0, 900 + number])), claimed_at=draw(TIMES)
        )
        record = replace(record, status=status, attempts=(*attempts, live))
    elif kind == "parked":
        record = replace(record, status=status, attempts=attempts)
    if kind != "wild":
        record = replace(record, status_at=ago(minutes=30), next_attempt=len(record.attempts) + 1)
    more = (
        draw(st.lists(STATUSES.map(lambda one: f"cf:{one}"), max_size=2, unique=True))
        if kind == "wild"
        else []
    )
    names = dict.fromkeys([*([f"cf:{status}"] if kind != "wild" else []), *more, *labels])
    return a_task(
        number,
        None,
        *names,
        record=record,
        needs=draw(
            st.sampled_from([(), ()])
            | st.lists(st.integers(1, 6) | st.just(FOREIGN), max_size=2, unique_by=str)
        ),
        events=tuple(sorted(seen, key=lambda event: event.at)),
        is_open=is_open,
        state_reason=None if is_open else draw(st.none() | st.sampled_from(list(StateReason))),
        pulls=draw(
            st.sampled_from(
                [(), (), (a_pull(),), (a_pull(merged=True, is_open=False),), (a_pull(is_open=False),)]
            )
        ),
        hidden_edges=draw(st.sampled_from([0] * 9 + [1])),
        record_problem=draw(st.sampled_from([""] * 9 + ["unreadable"])),
    )


@st.composite
def snapshots(draw):
    numbers = range(1, draw(st.integers(1, 4)) + 1)
    members = [draw(tasks(number)) for number in numbers]
    runs, artifacts, reports, legs = [], [], {}, {}
    for number in numbers:
        attempt = members[number - 1].record.next_attempt - 1
        if not attempt or draw(st.booleans()):
            continue
        key, run = f"cf-{number}-{attempt}", 900 + number
        runs.append(
            a_run(run, key, conclusion=draw(st.sampled_from([None, "success", "failure", "cancelled"])))
        )
        legs[run] = tuple(
            replace(job, name=job.name.replace("#1", f"#{number}"))
            for job in draw(st.sampled_from([GREEN, jobs(agent="failure"), (a_job("#1 / publish"),), ()]))
        )
        if draw(st.booleans()):
            artifacts.append(an_artifact(key, number=50 + number, run=run))
            reports[50 + number] = draw(
                st.none() | st.sampled_from(list(Outcome)).map(partial(a_report, key=key))
            )
    return a_snapshot(
        *members,
        config=Config(
            max_parallel=draw(st.sampled_from([1, 2, 3, 0])),
            total=draw(st.sampled_from([4, 2, 0])),
            max_parallel_by_label=draw(st.sampled_from([{}, {"gpu": 0}, {"gpu": 1}])),
            order=draw(st.sampled_from(["score", "critical-path"])),
        ),
        runs=tuple(runs),
        artifacts=tuple(artifacts),
        reports=reports,
        jobs=legs,
        comments={
            number: (
                a_comment(
                    draw(st.sampled_from(["B", "why?", "depends on #3"])), number, draw(PEOPLE), number
                ),
            )
            for number in numbers
            if draw(st.booleans())
        },
        needs={
            FOREIGN: draw(st.sampled_from(list(NeedState))),
            Ref("acme/shop", 6): NeedState.COMPLETED,
            Ref("acme/shop", 70): NeedState.OPEN_PULL,
        },
        starts_blocked_by=draw(st.sampled_from([""] * 9 + ["paused"])),
    )


@pytest.mark.slow
@QUICK
@given(snapshots())
def test_every_task_gets_exactly_one_decision_with_a_reason_and_the_same_one_again(snapshot):
    decided = plan(snapshot)

    assert [decision.task for decision in decided.decisions] == sorted(snapshot.tasks)
    assert all(decision.reason.strip() for decision in decided.decisions)
    assert all(decision.record.task == decision.task for decision in decided.decisions)
    assert plan(snapshot) == decided
    shuffled = replace(snapshot, tasks=dict(reversed(snapshot.tasks.items())), runs=snapshot.runs[::-1])
    assert plan(shuffled) == decided


def forbids(task, snapshot):
    """Everything that must keep a task from starting, worked out from the facts alone."""
    issue, record = task.issue, task.record
    needs = {
        **snapshot.needs,
        **{Ref("acme/shop", other.number): other.issue for other in snapshot.tasks.values()},
    }

    def satisfied(need):
        found = needs.get(need)
        if found is None or isinstance(found, NeedState):
            return bool(found and found.satisfied)
        return not found.is_open and found.state_reason not in (
            StateReason.NOT_PLANNED,
            StateReason.DUPLICATE,
        )

    orders = [
        event
        for event in issue.events
        if event.kind is EventKind.LABELED and event.label == "cf:ready" and event.actor == WRITER
    ]
    ordered_at = max(
        [event.at for event in orders] + ([record.approval.at] if record.approval else []), default=None
    )
    changed = [
        event
        for event in issue.events
        if event.kind in (EventKind.EDITED, EventKind.RENAMED) and event.actor not in (WRITER, BOT)
    ]
    return {
        "closed": not issue.is_open,
        "not ready": not issue.has_label("cf:ready"),
        "paused": issue.has_label("cf:pause"),
        "starts_blocked_by": bool(snapshot.starts_blocked_by),
        "needs": bool(issue.hidden_edges) or not all(map(satisfied, task.needs)),
        "live": record.live is not None,
        "back-off": record.not_before is not None and record.not_before > snapshot.now,
        "unreadable": bool(task.record_problem),
        "never ordered": ordered_at is None,
        "changed": ordered_at is not None and any(event.at > ordered_at for event in changed),
    }


@pytest.mark.slow
@QUICK
@given(snapshots())
def test_nothing_starts_that_must_not(snapshot):
    decided = plan(snapshot)
    for decision in decided.decisions:
        if decision.start:
            found = forbids(snapshot.tasks[decision.task], snapshot)
            assert not any(found.values()), found
            assert decision.start.number == snapshot.tasks[decision.task].record.next_attempt

    live = [decision for decision in decided.decisions if decision.record.live is not None]
    started = sum(decision.start is not None for decision in decided.decisions)
    if started:
        assert len(live) <= min(snapshot.config.max_parallel, snapshot.config.total)
        gpu = [decision for decision in live if snapshot.tasks[decision.task].issue.has_label("gpu")]
        new = any(decision.start for decision in gpu)
        assert not new or len(gpu) <= snapshot.config.max_parallel_by_label.get("gpu", 99)


def differs(decision, task, config):
    wanted = {config.label(decision.status).casefold()} if decision.status else set()
    ours = {config.label(status).casefold() for status in Status}
    there = {label.casefold() for label in task.issue.labels} & ours
    return bool(
        decision.start
        or decision.cancel
        or decision.close
        or decision.notices
        or decision.record != task.record
        or wanted != there
    )


@pytest.mark.slow
@QUICK
@given(snapshots())
def test_carried_out_again_and_again_at_the_same_moment_it_comes_to_rest_with_one_start_a_task(snapshot):
    starts: list[int] = []
    cancels: list[object] = []
    notices: list[tuple[int, str]] = []
    decided = plan(snapshot)
    for _ in range(8):
        if not any(
            differs(decision, snapshot.tasks[decision.task], snapshot.config)
            for decision in decided.decisions
        ):
            break
        starts += [decision.task for decision in decided.decisions if decision.start]
        cancels += [decision.cancel for decision in decided.decisions if decision.cancel]
        notices += [
            (decision.task, notice.fingerprint)
            for decision in decided.decisions
            for notice in decision.notices
        ]
        snapshot = applied(snapshot, decided)
        decided = plan(snapshot)
    else:
        raise AssertionError([(item.task, item.verb, item.reason) for item in decided.decisions])

    assert len(starts) == len(set(starts))
    assert len(cancels) == len(set(cancels))
    assert len(notices) == len(set(notices))


@pytest.mark.slow
@QUICK
@given(snapshots())
def test_a_number_of_an_attempt_is_never_used_again_and_history_only_grows(snapshot):
    for decision in plan(snapshot).decisions:
        before = snapshot.tasks[decision.task].record
        numbers = [attempt.number for attempt in decision.record.attempts]
        assert numbers[: len(before.attempts)] == [attempt.number for attempt in before.attempts]
        assert len(numbers) == len(set(numbers))
        assert decision.record.next_attempt >= before.next_attempt
        assert all(number < decision.record.next_attempt for number in numbers)
        ended = [attempt for attempt in before.attempts if not attempt.live]
        assert [attempt for attempt in decision.record.attempts if attempt in ended] == ended
