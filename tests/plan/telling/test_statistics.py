"""What attempts came to, added up by engine and by category."""

import pytest

from bot.model.config import Config, EngineConfig
from bot.model.report import Outcome
from bot.model.unit import Kind
from bot.plan.telling.statistics import by_category, by_engine, price_of, runner_minutes
from tests.builders import a_running
from tests.plan.telling.past import FAILED, PASSED, TASKS, a_past, made


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


def test_the_runner_of_the_engine_counts_and_an_unknown_price_is_none():
    config = Config(engines={"codex": EngineConfig(runner=("big",))})
    aider, codex = by_engine(TASKS, config)
    assert codex.price is None
    assert aider.price == 11 * 0.006


def test_each_job_is_billed_a_whole_minute():
    assert runner_minutes(made(1, FAILED, minutes=0.1)) == 3
    assert runner_minutes(made(1, FAILED, minutes=2.0, gates=0)) == 3
    assert runner_minutes(made(1, PASSED, kind=Kind.PUBLISH, minutes=0.0, gates=0)) == 1
