"""What attempts use up: budgets of task and day, brakes, and the breaker of an engine."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.config import Brakes, Budget, Config, Retry, Spending, Stall
from bot.model.decision import Verb
from bot.model.record import Record, Spent
from bot.model.report import GateResult, GateStatus, Outcome, Question
from bot.model.status import Status
from bot.model.unit import Kind
from bot.plan import plan
from bot.plan.starts.breaker import breakers
from bot.plan.starts.budgets import over, spent_today
from tests.builders import (
    NOW,
    a_record,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_attempt,
    by_number,
    decide,
    settle,
    words_of,
)


def tried(*outcomes, **fields):
    return tuple(an_attempt(number, outcome, **fields) for number, outcome in enumerate(outcomes, 1))


def ready(number=1, *attempts, **fields):
    return a_task(
        number,
        Status.READY,
        record=a_record(number, Status.READY, attempts=attempts, next_attempt=99, **fields),
    )


# budgets


def test_a_task_has_used_what_its_attempts_used_those_no_longer_kept_included():
    attempts = (
        an_attempt(8, Outcome.FAILED, minutes=2.5, tokens=10, usd=0.5),
        an_attempt(9, Outcome.CAPACITY, minutes=1, tokens=1),
        an_attempt(10, Outcome.PASSED, kind=Kind.PUBLISH, minutes=1),
        an_attempt(11),
    )
    record = Record(1, attempts, before=Spent(7, 10.0, 100, 1.0))
    assert record.spent == Spent(9, 14.5, 111, 1.5)


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"minutes": 5}, "5 of 5 minutes"),
        ({"tokens": 99}, "100 of 99 tokens"),
        ({"usd": 1.25}, "1.5 of 1.25 USD"),
        ({"minutes": 0}, "5 of 0 minutes"),
        ({"minutes": 6, "tokens": 101, "usd": 2}, ""),
        ({}, ""),
    ],
)
def test_a_budget_that_is_reached_is_used_up(limit, words):
    assert over(Spent(1, 5.0, 100, 1.5), Spending(**limit)) == words


def test_a_task_over_its_budget_is_held_and_told_once():
    config = Config(budget=Budget(task=Spending(minutes=10)))
    task = ready(1, *tried(Outcome.FAILED, minutes=12.0))
    decision = decide(task, config=config)
    again = decide(replace(task, record=replace(task.record, notices=("budget:10 minutes",))), config=config)

    assert (decision.verb, decision.status) == (Verb.HOLD, Status.READY)
    assert decision.reason == "over its budget: 12 of 10 minutes are used (budget.task)"
    assert "Raise `budget.task`" in words_of(decision)
    assert (again.reason, again.notices) == (decision.reason, ())


def test_proven_work_is_published_whatever_the_budget_says():
    config = Config(budget=Budget(task=Spending(minutes=0), day=Spending(minutes=0)))
    start = decide(ready(1, *tried(Outcome.INFRA), republish=True, earlier="9/cf-1-1"), config=config).start
    assert start is not None
    assert start.kind is Kind.PUBLISH


def test_the_days_budget_holds_every_start_until_midnight_utc():
    config = Config(budget=Budget(day=Spending(usd=5)))
    spent = {"cf-7-1": Spent(1, 1.0, 0, 3.0)}
    used = ready(1, *tried(Outcome.FAILED, usd=2.5))
    decided = by_number(plan(a_snapshot(used, ready(2), config=config, spent=spent)))

    for number in (1, 2):
        assert (
            decided[number].reason
            == "the day's budget is used up: 5.5 of 5 USD (budget.day); starts again at 00:00 UTC"
        )
        assert decided[number].due == NOW.replace(hour=0) + timedelta(days=1)
    assert decide(ready(2), others=(used,), config=config).start is not None


def test_each_attempt_counts_once_for_the_day_it_ended_on():
    yesterday = an_attempt(1, Outcome.FAILED, usd=9.0, ended_at=NOW - timedelta(hours=13))
    today = an_attempt(2, Outcome.FAILED, usd=1.0)
    found = spent_today([Record(3, (yesterday, today, an_attempt(3)))], {"cf-3-2": Spent(1, usd=1.0)}, NOW)
    assert found == {"cf-3-2": Spent(1, usd=1.0)}


# brakes


def again(outcome=Outcome.FAILED, before=2, config=None, same=True, **report):
    """The decision when one more attempt ends like (or unlike) those before it."""
    first = (
        settle(outcome, config=Config(retry=Retry(max_attempts=50)), **report).record.attempts[-1].evidence
    )
    earlier = tried(*[outcome] * before, evidence=first if same else "other")
    task = a_running(attempt=before + 1, earlier_attempts=earlier)
    return settle(outcome, task=task, config=config or Config(retry=Retry(max_attempts=50)), **report)


GATES = (GateResult("tests", GateStatus.FAILED, 1.0, "1 failed"),)


def test_three_attempts_without_any_progress_park_the_task_with_its_evidence():
    decision = again(gates=GATES, reason="tests fail")

    assert decision.status is Status.FAILED
    assert (
        "3 attempts in a row changed neither the commit, nor the gates' results, nor the question"
        in decision.reason
    )
    assert "**Stopped by a brake**" in words_of(decision)
    assert "1 failed" in words_of(decision)
    assert again(gates=GATES, before=1).status is Status.READY
    assert again(gates=GATES, same=False).status is Status.READY


def test_the_same_question_over_and_over_is_no_progress_either():
    decision = again(Outcome.BLOCKED, question=Question("Which  database?"))
    assert (decision.status, decision.record.blocker) == (Status.FAILED, None)
    assert "> Which  database?" in words_of(decision)
    assert again(Outcome.BLOCKED, question=Question("Which?"), same=False).status is Status.BLOCKED


def evidence(outcome=Outcome.FAILED, **report):
    return settle(outcome, **report).record.attempts[-1].evidence


def test_what_counts_as_progress():
    assert evidence(gates=GATES) == evidence(gates=(replace(GATES[0], seconds=9.0, tail="2 failed"),))
    several = {
        evidence(),
        evidence(head="a" * 40),
        evidence(gates=GATES),
        evidence(gates=(replace(GATES[0], status=GateStatus.PASSED),)),
        evidence(Outcome.BLOCKED, question=Question("A?")),
        evidence(Outcome.BLOCKED, question=Question("B?")),
    }
    assert len(several) == 6
    assert {
        evidence(outcome) for outcome in (Outcome.INFRA, Outcome.CANCELLED, Outcome.REFUSED, Outcome.CAPACITY)
    } == {""}


def test_interruptions_between_two_attempts_hide_no_standstill():
    same = evidence()
    earlier = (
        an_attempt(1, Outcome.FAILED, evidence=same),
        an_attempt(2, Outcome.INFRA),
        an_attempt(3, Outcome.FAILED, evidence=same),
    )
    task = a_running(attempt=4, earlier_attempts=earlier)
    assert (
        settle(Outcome.FAILED, task=task, config=Config(retry=Retry(max_attempts=50))).status is Status.FAILED
    )


@pytest.mark.parametrize(
    ("brakes", "words"),
    [
        ({"attempts": 3}, "3 attempts are used, of at most 3 (brakes.attempts)"),
        ({"minutes": 12}, "14 minutes are used, of at most 12 (brakes.minutes)"),
        ({"tokens": 100}, "103 tokens are used, of at most 100 (brakes.tokens)"),
    ],
)
def test_the_caps_of_a_tasks_whole_life(brakes, words):
    config = Config(retry=Retry(max_attempts=50), brakes=Brakes(**brakes))
    task = a_running(
        attempt=3, earlier_attempts=tried(Outcome.FAILED, Outcome.FAILED, minutes=5.0, tokens=50)
    )
    decision = settle(Outcome.FAILED, task=task, config=config, tokens=3)
    assert decision.status is Status.FAILED
    assert words in decision.reason
    assert settle(Outcome.PASSED, task=task, config=config, tokens=3).status is Status.DONE


def test_a_person_grants_one_more_attempt_beyond_a_tripped_brake():
    config = Config(brakes=Brakes(attempts=1))
    ordered = ready(1, *tried(Outcome.FAILED))
    assert decide(ordered, config=config).start is not None
    task = a_running(attempt=2, earlier_attempts=tried(Outcome.FAILED))
    assert settle(Outcome.FAILED, task=task, config=config).status is Status.FAILED


# the breaker of an engine


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


def test_a_time_of_the_provider_beyond_a_weekly_limit_is_not_believed():
    limited = out_of_capacity(1, retry_after=NOW + timedelta(days=999))
    assert breakers([Record(1, (limited,))], Config()) == {"command": ago(minutes=10) + timedelta(days=8)}


# stalls


@pytest.mark.parametrize(
    ("action", "before", "status"),
    [
        ("blocker", (), Status.BLOCKED),
        ("retry", (), Status.READY),
        ("retry", (Outcome.STALLED,), Status.FAILED),
        ("retry", (Outcome.STALLED, Outcome.INFRA), Status.FAILED),
        ("retry", (Outcome.FAILED,), Status.READY),
        ("fail", (), Status.FAILED),
    ],
)
def test_what_a_stall_means(action, before, status):
    strikes = sum(outcome is not Outcome.INFRA for outcome in before)
    task = a_running(
        attempt=len(before) + 1, earlier_attempts=tried(*before), record_fields={"strikes": strikes}
    )
    decision = settle(Outcome.STALLED, task=task, config=Config(stall=Stall(action=action)))
    assert decision.status is status
    assert decision.record.strikes == (strikes + 1 if action != "blocker" else strikes)
