"""What attempts use up: budgets of a task and of the day."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.config import Budget, Config, Spending
from bot.model.decision import Verb
from bot.model.record import Record, Spent
from bot.model.report import Outcome
from bot.model.status import Status
from bot.model.unit import Kind
from bot.plan import plan
from bot.plan.starts.budgets import over, spent_today
from tests.builders import NOW, a_record, a_snapshot, a_task, an_attempt, by_number, decide, words_of


def tried(*outcomes, **fields):
    return tuple(an_attempt(number, outcome, **fields) for number, outcome in enumerate(outcomes, 1))


def ready(number=1, *attempts, **fields):
    return a_task(
        number,
        Status.READY,
        record=a_record(number, Status.READY, attempts=attempts, next_attempt=99, **fields),
    )


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
