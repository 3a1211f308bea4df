"""Rounds of one attempt: what is spent ends them, and so does the same failure; whatever else differs between two runs."""

import os
import re
from collections.abc import Sequence
from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.config import Spending
from bot.model.report import GateStatus, Outcome
from bot.model.unit import Gate
from bot.worker.agent.ownfiles import OwnFiles
from bot.worker.agent.rounds import RoundSetup, Settled, work_in_rounds
from bot.worker.engines import AgentInput, Call
from bot.worker.engines.verdicts import judge_end
from bot.worker.programs.gates import GateRunner
from bot.worker.programs.redact import Redactor


class Counting:
    """An agent of one bash line; `tokens N` and `usd N` in its output are what it has used in this round."""

    version = ""
    install: Sequence[Sequence[str]] = ()
    structured = False
    can_continue = True
    litter: Sequence[str] = ()

    def __init__(self, line):
        self.line = line

    def call(self, brief):
        return Call(("bash", "-c", self.line), {"ROUND": "later" if brief.feedback else "first"})

    def read(self, facts, line):
        if found := re.fullmatch(r"tokens (\d+)", line):
            return replace(facts, tokens=facts.settled[0] + int(found[1]))
        if found := re.fullmatch(r"usd ([\d.]+)", line):
            return replace(facts, usd=facts.settled[1] + float(found[1]))
        return facts

    def verdict(self, ended, facts):
        return judge_end(ended, facts)


@pytest.fixture
def tried(tmp_path):
    """Runs an agent's line with these limits; every round counts as a change."""

    def run(line, gate="exit 1", corrections=0, **budget):
        files = OwnFiles(tmp_path)
        files.prepare()
        runner = GateRunner(tmp_path, {"PATH": os.environ["PATH"]}, Redactor(()), lambda text: None)
        bench = RoundSetup(
            engine=Counting(line),
            runner=runner,
            gate_runner=runner,
            gates=[Gate("tests", gate)],
            corrections=corrections,
            timeout=timedelta(seconds=30),
            stall=None,
            budget=Spending(**budget),
            settle=lambda: Settled(lambda: None),
        )
        brief = AgentInput(
            workspace=tmp_path,
            home=tmp_path,
            prompt=files.prompt,
            question=files.question,
            summary=files.summary,
            key="cf-1-1",
            task=1,
            attempt=1,
        )
        return work_in_rounds(bench, brief, files)

    return run


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ({"tokens": 1000}, "1200 of 1000 tokens"),
        ({"usd": 0.5}, "0.75 of 0.5 USD"),
        ({"minutes": 0.01}, "0.01 of 0.01 minutes"),
    ],
)
def test_what_is_spent_ends_the_agent_at_once(tried, budget, words):
    found = tried("echo tokens 900; echo usd 0.25; echo tokens 1200; echo usd 0.75; sleep 60", **budget)

    assert found.outcome is Outcome.FAILED
    assert found.reason == f"its budget is used up: {words} (budget.attempt)"
    assert found.facts.tokens == 1200


def test_finished_work_is_judged_but_not_corrected_beyond_its_budget(tried):
    found = tried("echo tokens 600", corrections=5, tokens=1000)

    assert found.rounds == 2
    assert found.outcome is Outcome.FAILED
    assert found.reason == "still failing when its budget was used up, 1200 of 1000 tokens (tests)"
    assert tried("echo tokens 1200", gate="exit 0", corrections=5, tokens=1000).outcome is None


def test_the_same_failure_three_times_whatever_its_lines_and_times(tried):
    gate = 'echo x >> n; n=$(wc -l < n); echo "/tmp/run$n/a.py:$n: in 0.${n}s at 0x$n: boom"; exit 1'

    found = tried(":", gate=gate, corrections=9)

    assert (found.rounds, found.reason) == (3, "the same failure 3 times: tests")
    assert found.failure == tried(":", gate=gate, corrections=9).failure


def test_progress_is_no_same_failure(tried):
    found = tried(":", gate='echo x >> n; n=$(wc -l < n); echo "$((9 - n)) failed"; exit 1', corrections=4)

    assert (found.rounds, found.reason) == (5, "still failing after 5 rounds: tests")
    assert found.gates[0].status is GateStatus.FAILED
    assert found.gate_log == "== tests: failed\n4 failed\n\n[tests: exit status 1]"
    assert [step.text for step in found.facts.steps] == ["tests: failed"] * 5
