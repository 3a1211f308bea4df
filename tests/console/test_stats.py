"""`cf stats`: what attempts came to, as a table and as JSON."""

import json

from bot.console.stats import since, stats_json, stats_lines
from bot.model.config import Config, EngineConfig
from bot.plan.telling.statistics import by_engine
from tests.builders import ago
from tests.plan.telling.past import FAILED, PASSED, TASKS, a_past, made


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


def test_without_any_attempt_it_says_so():
    assert list(stats_lines((a_past(1),), Config())) == ["no attempt has ended yet"]


def test_an_unknown_price_is_said():
    config = Config(engines={"codex": EngineConfig(runner=("big",))})
    assert "unknown" in "\n".join(stats_lines(TASKS, config))
