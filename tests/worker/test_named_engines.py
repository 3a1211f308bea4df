"""Story: an engine by name in the agent's job: installed first, told its task, listened to, and believed in nothing."""

import json
import shlex

import pytest

from bot.model.report import Category, Outcome
from tests.worker.bench import GATE, KEY

# A program that answers as Claude Code does: the second time, in the same conversation, it mends what failed.
CLAUDE = r"""#!/bin/bash
say() { printf '%s\n' "$1"; }
task=$(cat)
say '{"type":"system","subtype":"init","session_id":"s-1","model":"claude-x","claude_code_version":"9.9.9"}'
echo "$* | $task" >> "$HOME/starts"
case "$task" in
  *BUSY*) say '{"type":"system","subtype":"api_retry","error_status":429,"error":"rate limit, try again in 90 s"}'; exit 1 ;;
  *ASK*) say '{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","name":"AskUserQuestion","input":'\
'{"questions":[{"question":"Which?","options":[{"label":"one"},{"label":"two"}]}]}}]}}'; exit 0 ;;
esac
case "$*" in *"--resume s-1"*) echo good > feature.py ;; *) echo bad > other.py ;; esac
say '{"type":"assistant","message":{"id":"m-'$RANDOM'","usage":{"input_tokens":100,"output_tokens":10},"content":'\
'[{"type":"text","text":"Done with KEY"},{"type":"tool_use","name":"Bash","input":{"command":"make"}}]}}'
say '{"type":"result","subtype":"success","result":"Done","usage":{"input_tokens":100,"output_tokens":10},"total_cost_usd":0.25}'
""".replace("KEY", KEY)
PROGRAM = '"$CF_ENGINE_PREFIX/bin/claude"'
INSTALL = (
    f"mkdir -p $CF_ENGINE_PREFIX/bin && printf %s {shlex.quote(CLAUDE)} >{PROGRAM} && chmod +x {PROGRAM}"
)


def config(install=INSTALL, corrections=2):
    own = {"claude-code": {"install": [install]}}
    return (
        f"version: 1\nengine: claude-code\ncorrections: {corrections}\nengines: {json.dumps(own)}\n{GATE}\n"
    )


def test_it_is_installed_told_and_continued_and_its_counts_reach_the_report(bench):
    setup = bench(config=config())

    report = setup.through()

    assert (report.outcome, report.rounds) == (Outcome.PASSED, 2)
    assert (report.engine, report.version, report.model) == ("claude-code", "9.9.9", "claude-x")
    assert (report.tokens, report.usd, report.session) == (220, 0.5, "s-1")
    assert {step.category for step in report.steps} == {
        Category.MODEL,
        Category.SHELL,
        Category.GATE,
    }
    starts = (setup.context.temp / "cf-home/starts").read_text()
    assert "Add login" in starts.split("--resume s-1")[0]
    assert "Add login" not in starts.split("--resume s-1")[1]
    assert "expected feature" in starts.split("--resume s-1")[1]
    assert KEY not in setup.kept_text()


def test_that_it_says_it_is_done_proves_nothing(bench):
    setup = bench(config=config(corrections=0))

    report = setup.through()

    assert report.outcome is Outcome.FAILED
    assert report.tokens == 110


def test_a_busy_provider_is_no_failure_and_says_when_to_come_back(bench):
    setup = bench(config=config(), body="BUSY")

    worked = setup.work()
    report = setup.publish("failure", "skipped")

    assert (worked.report.outcome, report.outcome) == (Outcome.CAPACITY, Outcome.CAPACITY)
    assert report.retry_after is not None
    assert "429" in report.reason
    assert "[#1] error: 429 rate limit, try again in 90 s\n" in setup.shown


def test_a_question_in_its_stream_is_asked(bench):
    setup = bench(config=config(), body="ASK")

    report = setup.through()

    assert report.outcome is Outcome.BLOCKED
    assert report.question is not None
    assert (report.question.text, report.question.options) == ("Which?", ("one", "two"))


@pytest.mark.parametrize(
    ("install", "words"),
    [
        ("echo no such package; exit 4", "the engine cannot be installed (exit status 4)"),
        ("env | grep -c -e sk-test -e tok-0123 && exit 5", "exit status 1"),
    ],
)
def test_what_cannot_be_installed_is_said_and_installing_sees_no_secret(bench, install, words):
    setup = bench(config=config(install))

    worked = setup.work()

    assert worked.report.outcome is Outcome.INFRA
    assert words in worked.report.reason


def test_without_its_key_nothing_is_begun(bench):
    setup = bench(config=config())

    worked = setup.work(CF_MODEL_KEY="")

    assert worked.report.outcome is Outcome.INFRA
    assert "ANTHROPIC_API_KEY is not set" in worked.report.reason
    assert setup.shown == []
