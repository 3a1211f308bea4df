"""`cf batch` run, stop and resume from a shell: orders to the workflow, which GitHub knows the giver of."""

import json

import pytest

from bot.cli import main
from tests.conductor.batching import issue, order


def orders(story):
    """What cf-batch.yml was started with, by whom: everything but the workflow's own defaults."""
    usual = {"", "run", "parallel", "continue", "0", "false", False}
    return [
        (run.actor.login, {name: value for name, value in run.inputs.items() if value not in usual})
        for run in story.world.runs("cf-batch.yml")
    ]


def test_run_starts_the_workflow_with_what_was_said(story, capsys):
    words = (
        "run 12 14-18 #20 --strategy serial --max-parallel 2 --on-failure stop --max-retries 1 --engine codex"
    )
    assert main(["batch", *words.split(), "--dry-run", "-o", "merge=auto", "-o", "timeout=2h"]) == 0
    assert "the order is given" in capsys.readouterr().out
    assert orders(story) == [
        (
            "maintainer",
            {
                "tasks": "12 14-18 #20",
                "strategy": "serial",
                "max_parallel": "2",
                "on_failure": "stop",
                "max_retries": "1",
                "engine": "codex",
                "dry_run": "true",
                "options": "merge=auto\ntimeout=2h",
            },
        )
    ]
    assert story.starts() == []


def test_what_the_workflow_is_started_with_is_an_order(story, capsys):
    task = issue(story)
    assert main(["batch", "run", str(task), "--strategy", "serial", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["workflow"] == "cf-batch.yml"
    assert told["run"] == story.world.runs("cf-batch.yml")[0].id
    order(story, **told["inputs"])
    story.settle()
    assert story.starts() == [f"cf-{task}-1"]


@pytest.mark.parametrize(
    ("words", "inputs"),
    [
        ("stop 30", {"action": "stop", "target": "30"}),
        ("stop #30 --force", {"action": "stop-force", "target": "30"}),
        ("resume 30", {"action": "resume", "target": "30"}),
        ("resume 30 --force", {"action": "resume-force", "target": "30"}),
    ],
)
def test_stop_and_resume(story, words, inputs):
    assert main(["batch", *words.split()]) == 0
    assert orders(story) == [("maintainer", inputs)]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("run 12-4", "runs backwards"),
        ("run 12 -o colour=red", "there is no option `colour`"),
        ("run 12 --strategy quick --max-parallel 0", "strategy must be"),
        ("run 12 --strategy quick --max-parallel 0", "max_parallel must be"),
        ("stop it", "named by the number of its issue"),
        ("show 0", "named by the number of its issue"),
        ("show 1", "#1 is not a batch of ours"),
        ("list --limit 0", "--limit: must be at least 1"),
        ("--dry-run run 12", "`cf batch run ... --dry-run` plans only"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_started(story, capsys, words, problem):
    issue(story)
    assert main(["batch", *words.split()]) == 2
    assert problem in capsys.readouterr().err
    assert orders(story) == []


def test_who_may_not_start_the_workflow_is_told_so_by_github(story, monkeypatch, capsys):
    story.world.add_user("triager", "triage")
    monkeypatch.setenv("TOKEN_OF", "triager")
    assert main(["batch", "run", "12"]) == 1
    assert capsys.readouterr().err.startswith("cf: ")
    assert orders(story) == []
