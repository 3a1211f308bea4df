"""`cf stats` and `cf runs`: what attempts came to, from the records alone."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.console.all_tasks import past_tasks
from bot.console.runs import View, runs_json, runs_lines, select
from bot.console.stats import since, stats_json, stats_lines
from bot.model.config import Config, EngineConfig
from bot.model.errors import UsageError
from bot.model.report import Outcome
from bot.model.status import Status
from bot.model.unit import Kind
from bot.plan.telling.statistics import by_category, by_engine, price_of, runner_minutes
from tests.builders import a_record, a_running, a_task, ago, an_attempt
from tests.conductor.story import Story

PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


def a_past(number, *attempts, **fields):
    record = a_record(number, Status.DONE, attempts=attempts, next_attempt=len(attempts) + 1)
    return a_task(number, Status.DONE, record=record, **fields)


def made(number, outcome, engine="codex", **fields):
    values = {"run": 800 + number, "minutes": 10.0, "tokens": 1000, "usd": 0.5, "gates": 2} | fields
    return an_attempt(number, outcome, engine=engine, **values)


TASKS = (
    a_past(
        1,
        made(1, FAILED, gates_passed=1, rounds=2),
        made(2, PASSED, gates_passed=2, rounds=1),
        category="api",
    ),
    a_past(2, made(1, PASSED, gates_passed=2, minutes=4.2), category="api"),
    a_past(3, made(1, PASSED, "aider", model="m1", gates=0), made(2, Outcome.INFRA)),
    a_running(4, run=904),
)


def test_engines_are_told_apart_and_added_up():
    aider, codex = by_engine(TASKS, Config())
    assert (aider.name, aider.attempted, aider.gate_pass_rate, aider.self_correction_rate) == (
        "aider (m1)",
        1,
        None,
        None,
    )
    assert (codex.name, codex.attempted, codex.passed, codex.failed) == ("codex", 3, 2, 1)
    assert codex.gate_pass_rate == 5 / 6
    assert codex.self_correction_rate == 1 / 2
    assert codex.mean_minutes == pytest.approx(24.2 / 3)
    assert codex.tokens_per_passed_task == 1500
    assert codex.usd == 1.5
    assert codex.runner_minutes == 12 + 12 + 7
    assert codex.price == pytest.approx(31 * 0.006)


def test_categories_too():
    assert [(tally.name, tally.attempted) for tally in by_category(TASKS, Config())] == [("", 1), ("api", 3)]


def test_what_never_started_an_agent_and_what_still_runs_is_not_counted():
    assert (
        by_engine((a_past(1, made(1, Outcome.INFRA), made(2, Outcome.REFUSED)), a_running(2)), Config()) == ()
    )
    assert list(stats_lines((), Config())) == ["no attempt has ended yet"]


@pytest.mark.parametrize(
    ("labels", "price"),
    [
        (("ubuntu-latest",), 0.006),
        (("ubuntu-24.04",), 0.006),
        (("ubuntu-slim",), 0.002),
        (("windows-2025",), 0.010),
        (("macos-15",), 0.062),
        (("self-hosted", "linux", "ubuntu-latest"), 0.0),
        (("ubuntu-latest-16-cores",), None),
        (("big",), None),
        ((), None),
    ],
)
def test_a_runner_has_githubs_price_or_none_that_is_known(labels, price):
    assert price_of(labels) == price


def test_the_runner_of_the_engine_counts_and_an_unknown_price_is_said():
    config = Config(engines={"codex": EngineConfig(runner=("big",))})
    aider, codex = by_engine(TASKS, config)
    assert codex.price is None
    assert aider.price == 11 * 0.006
    assert "unknown" in "\n".join(stats_lines(TASKS, config))


def test_each_job_is_billed_a_whole_minute():
    assert runner_minutes(made(1, FAILED, minutes=0.1)) == 3
    assert runner_minutes(made(1, FAILED, minutes=2.0, gates=0)) == 3
    assert runner_minutes(made(1, PASSED, kind=Kind.PUBLISH, minutes=0.0, gates=0)) == 1


def test_the_table_has_a_column_for_each_number_and_json_holds_them_all():
    head, first, *_ = stats_lines(TASKS, Config())
    assert head.split()[:3] == ["engine", "attempted", "passed"]
    assert first.split() == [
        "aider",
        "(m1)",
        "1",
        "1",
        "0",
        "–",
        "–",
        "10.0",
        "1,000",
        "$0.50",
        "11",
        "$0.07",
    ]
    told = json.loads(stats_json(TASKS, Config()))
    assert told["engines"][1]["self_correction_rate"] == 0.5
    assert [tally["name"] for tally in told["categories"]] == ["", "api"]


def test_only_the_last_days_count_where_that_is_asked():
    old = a_past(9, made(1, PASSED, ended_at=ago(days=40)), made(2, FAILED, ended_at=ago(days=2)))
    (codex,) = by_engine(since((old,), ago(days=30)), Config())
    assert (codex.attempted, codex.passed) == (1, 0)


def test_runs_stand_newest_first_with_their_view():
    found = select(TASKS, None, None)
    assert len(found) == 6
    assert {ran.view for ran in found} == {View.RUNNING, View.COMPLETED, View.FAILED}
    assert [ran.attempt.number for ran in select(TASKS, 1, View.FAILED)] == [1]
    head, *rows = runs_lines(found[:2])
    assert head.split()[:3] == ["key", "status", "outcome"]
    assert len(rows) == 2
    assert list(runs_lines([])) == ["no run"]
    assert {entry["status"] for entry in json.loads(runs_json(found))} == {"RUNNING", "COMPLETED", "FAILED"}
    with pytest.raises(UsageError, match="#99 is no task"):
        select(TASKS, 99, None)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_has_a_view(outcome):
    (ran,) = select((a_past(1, made(1, outcome)),), 1, None)
    assert (ran.view is View.COMPLETED) == (outcome is PASSED)
    assert ran.view is not View.RUNNING


@given(st.text(max_size=80))
def test_an_agents_words_stay_on_their_line(words):
    lines = list(runs_lines(select((a_past(1, made(1, FAILED, reason=f"##[error]{words}")),), 1, None)))
    assert len(lines) == 2


def test_closed_issues_are_looked_back_on_as_well():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", PASSED, minutes=3.0)
    story.tick()
    story.world.merge_pull(story.record(task).pull)
    story.settle()
    story.world.wait(ago(days=0) - ago(days=9))
    story.tick()
    _, tasks = past_tasks(story.github, story.world.now)
    assert [(one.number, attempt.outcome) for one in tasks for attempt in one.record.attempts] == [
        (task, PASSED)
    ]
