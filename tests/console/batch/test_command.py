"""`cf batch` from a shell: run, stop and resume are orders to the workflow, list and show read."""

import json

import pytest

from bot.cli import main
from bot.model.report import Outcome
from bot.sandbox.world.in_process import client_of
from tests.conductor.batching import batches, control, issue, order
from tests.conductor.story import CONFIG, Story


@pytest.fixture
def story(monkeypatch):
    """A story, and a shell with the token of whom TOKEN_OF names."""
    story = Story()
    monkeypatch.setenv("TOKEN_OF", "maintainer")
    monkeypatch.setattr(
        "bot.github.client.connect", lambda environ: client_of(story.world, environ["TOKEN_OF"])
    )
    return story


@pytest.fixture
def conductor(story, monkeypatch):
    """The same with the token of the account that writes our records."""
    monkeypatch.setenv("TOKEN_OF", "github-actions[bot]")
    return story


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


def test_list_and_show_know_the_ended_and_the_running(conductor, capsys):
    first, second = issue(conductor), issue(conductor)
    order(conductor, str(first), strategy="serial", options="merge=auto")
    conductor.settle()
    conductor.finish_live(first, Outcome.PASSED)
    ended = batches(conductor)[0]
    control(conductor, "stop", ended)
    conductor.settle()
    conductor.world.close(first)
    conductor.settle()
    order(conductor, str(second), run=78)
    running = batches(conductor)[1]
    conductor.settle()

    assert main(["batch", "list"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["batch", "state", "tasks", "strategy", "by", "ordered", "ended"]
    assert [line.split()[:5] for line in lines] == [
        [f"#{running}", "running", "1", "parallel", "maintainer"],
        [f"#{ended}", "cancelled", "1", "serial", "maintainer"],
    ]
    assert main(["batch", "list", "--limit", "1", "--json"]) == 0
    assert [one["batch"] for one in json.loads(capsys.readouterr().out)] == [running]
    assert main(["batch", "list", "--status", "CANCELLED", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["batch"], told["tasks"], told["options"]) == (ended, [first], {"merge": "auto"})

    assert main(["batch", "show", f"#{ended}"]) == 0
    shown = capsys.readouterr().out
    assert f"batch #{ended}: CANCELLED, stopped by maintainer; 1 of 1 passed" in shown
    assert "merge: auto" in shown
    assert main(["batch", "show", str(running), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["total"] == 1
    assert (told["state"], told["members"][0]["task"], told["members"][0]["status"]) == (
        "running",
        second,
        "in-progress",
    )


def test_batches_of_an_account_that_does_not_count_are_named_as_that(story, capsys):
    order(story, str(issue(story)))
    body = story.world.issue(batches(story)[0]).body
    story.world.close(batches(story)[0])
    story.world.transfer_issue(batches(story)[0])
    story.world.open_issue("batch", body, labels=("cf:batch",), by="maintainer")
    assert main(["batch", "list"]) == 0
    told = capsys.readouterr().out
    assert "no batch" in told
    assert "1 more are by maintainer (id " in told
    assert main(["batch", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_where_a_persons_account_conducts_the_workflow_is_not_started(story, capsys):
    story.world.push_files(
        "main", {".github/cf.yml": f"{CONFIG}identity: {{conductor: octocat}}\n"}, "x", by="maintainer"
    )
    assert main(["batch", "run", "1"]) == 1
    assert "octocat conducts here" in capsys.readouterr().err
    assert orders(story) == []


def test_show_of_a_batch_whose_text_was_edited_says_so(conductor, capsys):
    order(conductor, str(issue(conductor)))
    batch = batches(conductor)[0]
    conductor.world.edit_issue(batch, body="::error::mine now")
    assert main(["batch", "show", str(batch)]) == 0
    assert "was edited by maintainer" in capsys.readouterr().out


def test_without_a_verb_it_is_the_job_of_the_workflow(conductor, monkeypatch, capsys):
    task = issue(conductor)
    given = {"CF_BATCH_TASKS": str(task), "GITHUB_ACTOR": "maintainer", "GITHUB_RUN_ID": "77"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert main(["batch", "--dry-run"]) == 0
    assert batches(conductor) == []
    assert main(["batch"]) == 0
    assert "is written with 1 task" in capsys.readouterr().out
    assert len(batches(conductor)) == 1


@pytest.mark.parametrize("verb", ["run", "stop", "resume", "list", "show"])
def test_each_verb_says_what_it_is_for(verb, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["batch", verb, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: cf batch {verb}")
