"""How an agent's program ended: busy, refused, failed, or nothing to say yet."""

import json
from datetime import timedelta

import pytest

from bot.model.report import Outcome
from bot.worker.engines import engine
from bot.worker.engines.facts import Facts, trouble
from bot.worker.engines.verdicts import judge_end
from bot.worker.programs.process import End, Ended


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("429 Too Many Requests", Outcome.CAPACITY),
        ("API Error: 529 Overloaded", Outcome.CAPACITY),
        ("RESOURCE_EXHAUSTED", Outcome.CAPACITY),
        ("You exceeded your current quota, please check your plan", Outcome.CAPACITY),
        ("You've hit your usage limit", Outcome.CAPACITY),
        ("Your credit balance is too low", Outcome.CAPACITY),
        ("401 invalid x-api-key", Outcome.INFRA),
        ("Incorrect API key provided", Outcome.INFRA),
        ("The model gpt-9 does not exist", Outcome.INFRA),
        ("this request is no good", Outcome.FAILED),
        ("", Outcome.FAILED),
    ],
)
def test_errors_are_busy_refusing_or_failures(words, outcome):
    assert judge_end(Ended(End.EXITED, 1, ""), trouble(Facts(), words)).outcome is outcome


def test_an_end_by_signal_is_a_crash_and_0_decides_nothing():
    assert (
        judge_end(Ended(End.EXITED, -9, ""), Facts()).reason == "the agent died of SIGKILL (exit status -9)"
    )
    assert judge_end(Ended(End.EXITED, 139, ""), Facts()).outcome is Outcome.CRASHED
    assert judge_end(Ended(End.EXITED, 144, ""), trouble(Facts(), "no")).outcome is Outcome.FAILED
    assert judge_end(Ended(End.EXITED, 0, ""), Facts()).outcome is None


def test_a_usage_limit_says_when_it_ends():
    info = {"status": "rejected", "resetsAt": 4_000_000_000}
    line = json.dumps({"type": "rate_limit_event", "rate_limit_info": info})
    verdict = judge_end(Ended(End.EXITED, 1, ""), engine("claude-code").read(Facts(), line))

    assert (verdict.outcome, verdict.retry_after) == (Outcome.CAPACITY, timedelta(days=7))
