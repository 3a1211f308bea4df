"""The commands as processes: a cancelled job ends within the runner's patience, with nothing left and its report written."""

import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

import pytest

from bot.github.credential import Credential
from bot.model.report import Outcome
from bot.worker import command
from bot.worker.job.artifact import find_bundle, find_report
from tests.worker.programs.test_process import survivors

ROOT = Path(__file__).parents[2]


@pytest.mark.e2e
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_cancelled_job_ends_in_time_with_its_report(tmp_path, number):
    """What Actions does: one signal to the step's own process; all children gone and the report there before 7.5 s are over."""
    marker = f"CF_WORKSPACE={tmp_path}/"
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.worker.launch", str(tmp_path), "edit", "fork", "stubborn"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    shown = []
    for line in process.stdout:
        shown.append(line)
        if line == "[#1] stubborn\n":
            break
    agents = survivors(marker)
    began = time.monotonic()
    process.send_signal(number)
    with process.stdout:
        rest = process.stdout.read()
    code = process.wait()

    assert time.monotonic() - began < 7, "".join(shown) + rest
    assert code == 1
    assert "cf: cf-1-1: cancelled: the run was cancelled" in rest
    out = tmp_path / "agent-cf-1-1" / "cf-work"
    report = find_report(out, "cf-1-1")
    assert report is not None
    assert report.outcome is Outcome.CANCELLED
    assert find_bundle(out, "cf-1-1") is not None
    assert (out.parent / "output").read_text() == f"verify=false\ncommit={report.head}\n"
    assert agents
    assert survivors(marker) == []


@pytest.mark.parametrize("name", ["work", "verify", "publish", "wake"])
def test_each_command_describes_itself(name):
    parser = ArgumentParser()

    getattr(command, f"configure_{name}")(parser)

    assert len(parser.format_help()) > 60


def test_wake_dispatches_the_conductor_on_the_default_branch(bench, monkeypatch, capsys):
    import bot.github.client
    import bot.worker.programs.process

    setup = bench("edit")
    monkeypatch.setattr(bot.github.client, "connect", lambda environ, *_: setup.github)

    assert command.run_wake(Namespace(), setup.environ("publish")) == 0

    (run,) = setup.world.runs("cf-conductor.yml")
    assert capsys.readouterr().out == f"cf: the conductor is awake (run {run.id})\n"


def test_verify_and_publish_by_their_commands(bench, monkeypatch, capsys, tmp_path):
    import bot.github.client
    import bot.worker.programs.hide_secrets
    import bot.worker.programs.process

    setup = bench("edit")
    monkeypatch.setattr(bot.github.client, "connect", lambda environ, *_: setup.github)
    monkeypatch.setattr(setup.github, "credential", Credential("t"), raising=False)
    monkeypatch.setattr(bot.worker.programs.process, "adopt_orphans", lambda: True)
    monkeypatch.setattr(bot.worker.programs.hide_secrets, "take_secrets", dict)
    agent = setup.environ()
    assert command.run_work(Namespace(after=False), agent) == 0
    told = dict(line.split("=") for line in Path(agent["GITHUB_OUTPUT"]).read_text().splitlines())
    assert told["verify"] == "true"

    verify = setup.environ(
        "verify",
        CF_LEG='{"name":"ubuntu-latest","os":"ubuntu-latest","gates":["tests"]}',
        CF_OUT=agent["CF_OUT"],
        CF_COMMIT=told["commit"],
    )
    assert command.run_verify(Namespace(), verify) == 0

    results = {"CF_AGENT_RESULT": "success", "CF_VERIFY_RESULT": "success", "CF_OUT": agent["CF_OUT"]}
    summary = tmp_path / "summary.md"
    publish = setup.environ("publish", **results, CF_COMMIT=told["commit"], GITHUB_STEP_SUMMARY=str(summary))
    assert command.run_publish(Namespace(), publish) == 0
    report = find_report(Path(publish["CF_OUT_REPORT"]), "cf-1-1")
    assert report is not None
    assert report.outcome is Outcome.PASSED
    assert summary.read_text().startswith(
        "## [#1](https://github.com/acme/shop/issues/1): passed (`cf-1-1`)\n"
    )
    assert "cf: tests: passed" in capsys.readouterr().out
