"""What a cause holds, which task tries it, and a gate that it holds as well."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.model.batch import Batch, BatchRecord, Order
from bot.model.cause import Cause, Met
from bot.model.config import Config
from bot.model.record import Held
from bot.model.report import Hold, Outcome
from bot.model.status import Status
from bot.model.unit import Kind
from bot.plan import plan
from bot.plan.board import Board
from bot.plan.facts.causes import ROWS, Scope, in_annotations
from bot.plan.facts.obstacles import obstacles
from bot.plan.starts.barriers import gate_barred
from tests.builders import a_record, a_snapshot, a_task, ago, an_attempt, an_issue, by_number

CAUSES = st.sampled_from(
    [cause for cause in Cause if cause not in (Cause.PROVIDER, Cause.RUNNER, Cause.MACHINE)]
)


def met(number, cause, when=10, claimed=20, **fields):
    """A ready task whose only attempt met this cause so many minutes ago."""
    attempt = an_attempt(
        1,
        Outcome.INFRA,
        claimed_at=ago(minutes=claimed),
        ended_at=ago(minutes=when),
        engine=fields.pop("engine", "command"),
        cause=Met(cause, **fields.pop("met", {})),
    )
    return a_task(
        number,
        Status.READY,
        record=a_record(number, Status.READY, attempts=(attempt,), next_attempt=2, **fields),
    )


def starting(*tasks, **fields):
    return [one.task for one in plan(a_snapshot(*tasks, **fields)).decisions if one.start]


@given(CAUSES, st.integers(0, 60 * 24 * 3))
def test_a_cause_holds_all_for_a_quarter_of_an_hour_and_then_lets_one_try(cause, minutes):
    tasks = [met(1, cause, minutes, minutes + 5), *(a_task(number) for number in range(2, 8))]
    assert len(starting(*tasks)) == (1 if minutes >= 15 else 0)


@given(CAUSES)
def test_what_tries_is_kept_work_before_an_agent(cause):
    kept = met(3, cause, 20, 30, republish=True, earlier="900/cf-3-1")
    found = starting(a_task(1), met(2, cause, 20, 30), kept, config=Config(max_parallel=9, total=9))
    if Kind.PUBLISH in ROWS[cause].kinds:
        assert found == [3]
    else:  # publishing does not meet it, so it is not held, and something else has to try
        assert 3 in found
        assert len(found) == 2


@given(CAUSES)
def test_work_that_is_brought_up_to_date_is_held_as_any_other_and_tries_before_an_agent(cause):
    held = Held(Hold.STALE, ago(minutes=40), 1)
    stale = met(3, cause, 20, 30, republish=True, earlier="900/cf-3-1", held=held)
    if Kind.UPDATE in ROWS[cause].kinds:
        assert (
            starting(
                met(1, cause, 5, 9), met(3, cause, 5, 9, republish=True, earlier="900/cf-3-1", held=held)
            )
            == []
        )
        assert starting(a_task(1), met(2, cause, 20, 30), stale, config=Config(max_parallel=9, total=9)) == [
            3
        ]


def test_each_further_meeting_waits_longer_and_a_probe_that_lives_keeps_all_others():
    rounds = [
        an_attempt(
            number,
            Outcome.INFRA,
            claimed_at=ago(hours=claimed),
            ended_at=ago(hours=ended),
            cause=Met(Cause.MINUTES),
        )
        for number, (claimed, ended) in enumerate([(40, 39), (38, 37), (30, 29), (20, 19)], 1)
    ]
    waits = []
    for many in range(1, 5):
        record = a_record(1, Status.READY, attempts=tuple(rounds[:many]), approval=None)
        (found,) = obstacles([record], a_snapshot())
        assert found.until is not None
        waits.append(found.until - found.last)
    assert waits == [timedelta(minutes=15), timedelta(hours=1), timedelta(hours=6), timedelta(hours=24)]
    trying = an_attempt(2, claimed_at=ago(minutes=1), run=900)
    record = a_record(1, Status.IN_PROGRESS, attempts=(rounds[0], trying))
    (found,) = obstacles([record], a_snapshot())
    assert found.probe == "cf-1-2"


def test_a_guess_holds_its_own_tasks_and_the_second_within_an_hour_holds_all():
    def guessed(number, when):
        return met(number, Cause.SETUP, when, when + 5, met={"guessed": True})

    assert starting(guessed(1, 10), a_task(3)) == [3]
    assert starting(guessed(1, 130), guessed(2, 8), a_task(3)) == [3]
    assert starting(guessed(1, 65), guessed(2, 8), a_task(3)) == []


def test_a_set_up_holds_the_engines_that_met_it_only():
    assert ROWS[Cause.SETUP].scope is Scope.SETUP
    assert starting(met(1, Cause.SETUP), a_task(3)) == []
    assert starting(met(1, Cause.SETUP, engine="aider"), a_task(3)) == [1, 3]
    assert starting(met(1, Cause.REGISTRY, engine="aider"), a_task(3)) == []


@pytest.mark.parametrize(
    ("cause", "outcome", "fields", "gone"),
    [
        (Cause.PERMISSION, None, {"run": 901}, True),
        (Cause.PERMISSION, None, {}, False),
        (Cause.PUSH_RULE, Outcome.FAILED, {"run": 901}, False),
        (Cause.PUSH_RULE, Outcome.PASSED, {"run": 901}, True),
        (Cause.SETUP, Outcome.FAILED, {}, True),
        (Cause.SETUP, Outcome.CANCELLED, {}, False),
        (Cause.SETUP, Outcome.PASSED, {"kind": Kind.PUBLISH}, False),
        (Cause.STORAGE, Outcome.BLOCKED, {}, True),
        (Cause.STORAGE, Outcome.INFRA, {}, False),
        (Cause.MINUTES, Outcome.CAPACITY, {}, True),
    ],
)
def test_what_came_past_the_place_where_it_is_met_ends_it(cause, outcome, fields, gone):
    times = {"claimed_at": ago(minutes=9), **({"ended_at": ago(minutes=1)} if outcome else {})}
    after = a_record(2, Status.READY, attempts=(an_attempt(1, outcome, **times, **fields),))
    before = met(1, cause).record
    assert (obstacles([before, after], a_snapshot()) == ()) is gone
    side_by_side = replace(after.attempts[0], claimed_at=ago(minutes=30))
    beside = replace(after, attempts=(side_by_side,))
    assert obstacles([before, beside], a_snapshot()) != ()


def test_a_gate_waits_for_what_it_would_meet_and_tries_it_when_it_is_due():
    batch = Batch(an_issue(9), Order(77, "wendy", ago(hours=1), (1,)), BatchRecord())
    for cause, minutes, waits in (
        (Cause.MINUTES, 10, True),
        (Cause.MINUTES, 20, False),
        (Cause.PUSH_RULE, 10, False),
    ):
        board = Board(a_snapshot(met(1, cause, minutes, minutes + 5), batches=(batch,)))
        assert bool(gate_barred(board)) is waits, (cause, minutes)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("The job was not started because your account is locked due to a billing issue.", Cause.MINUTES),
        (
            "Failed to CreateArtifact: Artifact storage quota has been hit. Unable to upload any new artifacts.",
            Cause.STORAGE,
        ),
        (
            "Event 'workflow_dispatch' is not allowed to trigger Actions workflows for this repository.",
            Cause.POLICY,
        ),
        ("Unable to resolve action `acme/x@v1`, unable to find version `v1`", Cause.REGISTRY),
        ("Process completed with exit code 1.", None),
        ("The run was canceled by @wendy.", None),
    ],
)
def test_githubs_notes_on_a_job_name_a_cause(text, cause):
    found = in_annotations(["something else", text])
    assert (found.cause if found else None) is cause
    assert found is None or not found.guessed


def test_a_task_that_is_held_says_why_without_asking_who_ordered_it():
    held = by_number(plan(a_snapshot(met(1, Cause.MINUTES), a_task(2), permissions={})))[2]
    assert held.reason.startswith("GitHub starts no job")
    assert held.wants == frozenset()
