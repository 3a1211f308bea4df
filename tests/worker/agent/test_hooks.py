"""Hooks: what they are told, what their failure means, and that each attempt that began is followed by exactly one."""

from argparse import Namespace
from datetime import timedelta

import pytest
from msgspec.structs import replace

import bot.github.client
import bot.worker.programs.hide_secrets
import bot.worker.programs.process
from bot.model.chosen import BatchOverrides
from bot.model.report import Outcome
from bot.worker import command
from bot.worker.job.artifact import find_report
from tests.worker.bench import GATE, TOKEN, config_text

TELL = 'echo "$CF_TASK|$CF_TITLE|$CF_STATUS|$CF_ATTEMPT|$CF_WORKSPACE|$PWD|$GITHUB_TOKEN|$CF_MODEL_KEY" >> ../{0}'


def with_hooks(*modes: str, **hooks: str):
    lines = "".join(f"  {name}: {line!r}\n" for name, line in hooks.items())
    return config_text(*modes, more=f"{GATE}\nhooks:\n{lines}")


def follow(setup, monkeypatch):
    """The step after the agent's, in the same job."""
    monkeypatch.setattr(bot.github.client, "connect", lambda environ: setup.github)
    monkeypatch.setattr(bot.worker.programs.process, "adopt_orphans", lambda: True)
    monkeypatch.setattr(bot.worker.programs.hide_secrets, "take_secrets", dict)
    assert command.run_work(Namespace(after=True), setup.context.environ) == 0
    return find_report(setup.context.out, "cf-1-1")


def test_a_hook_is_told_by_its_environment_and_sees_no_secret(bench):
    setup = bench(config=with_hooks("edit", before_task=TELL.format("before")))
    setup.world.wait(timedelta(minutes=1))
    setup.world.edit_issue(setup.task, title='$(touch pwned) `touch pwned`"; touch pwned; # \u202e')

    worked = setup.work()

    room = setup.context.workspace.parent
    context = str(setup.context.workspace)
    told = (room / "before").read_text()
    assert told == f'1|$(touch pwned) `touch pwned`"; touch pwned; #|in-progress|1|{context}|{context}||\n'
    assert [(hook.name, hook.passed, hook.tail) for hook in worked.report.hooks] == [
        ("before_task", True, "")
    ]
    assert not list(room.rglob("pwned"))


def test_a_before_hook_that_fails_fails_the_attempt_before_its_agent_starts(bench, monkeypatch):
    setup = bench(
        config=with_hooks(
            "edit", before_task="echo no database; exit 4", after_task_failure=TELL.format("after")
        )
    )

    report = setup.work().report

    assert report.outcome is Outcome.FAILED
    assert report.reason == "the hook before_task failed:\nno database\n\n[before_task: exit status 4]"
    assert not (setup.context.workspace / "feature.py").exists()
    assert setup.publish("failure", "skipped").outcome is Outcome.FAILED
    assert [hook.name for hook in follow(setup, monkeypatch).hooks] == ["before_task", "after_task_failure"]


@pytest.mark.parametrize(
    ("modes", "status", "hook"),
    [
        (("edit",), "unverified", "success"),
        (("ask",), "blocked", "success"),
        (("edit", "fail"), "failed", "failure"),
        (("edit", "die"), "crashed", "failure"),
    ],
)
def test_exactly_one_hook_follows_each_attempt(bench, monkeypatch, modes, status, hook):
    both = {f"after_task_{name}": f"echo $CF_STATUS >> ../{name}" for name in ("success", "failure")}
    setup = bench(config=with_hooks(*modes, **both))
    before = setup.work().report

    after = follow(setup, monkeypatch)

    room = setup.context.workspace.parent
    assert (room / hook).read_text() == f"{status}\n"
    assert not (room / ("failure" if hook == "success" else "success")).exists()
    assert after.outcome is before.outcome
    assert [(one.name, one.passed) for one in after.hooks] == [(f"after_task_{hook}", True)]


def test_a_following_hook_that_fails_is_told_and_changes_no_outcome(bench, monkeypatch, capsys):
    setup = bench(config=with_hooks("edit", after_task_success=f"echo {TOKEN}; exit 1", timeout="5s"))
    setup.work()

    report = follow(setup, monkeypatch)

    assert report.outcome is Outcome.UNVERIFIED
    assert [(one.name, one.passed, one.tail) for one in report.hooks] == [
        ("after_task_success", False, "***\n\n[after_task_success: exit status 1]")
    ]
    assert "cf: after_task_success: failed" in capsys.readouterr().out


def test_a_hook_has_its_own_time(bench, monkeypatch):
    setup = bench(config=with_hooks("edit", after_task_success="sleep 60", timeout="1s"))
    setup.work()

    assert "timeout after 1 s" in follow(setup, monkeypatch).hooks[0].tail


def test_a_worker_that_was_killed_is_followed_too(bench, monkeypatch):
    setup = bench(config=with_hooks("edit", after_task_failure=TELL.format("after")))
    setup.work()
    (setup.context.out / "report.json").unlink()

    report = follow(setup, monkeypatch)

    assert "|infra|1|" in (setup.context.workspace.parent / "after").read_text()
    assert (report.outcome, report.reason) == (Outcome.INFRA, "the worker ended without a word")


def test_an_attempt_that_was_refused_is_followed_by_nothing(bench, monkeypatch):
    setup = bench(config=with_hooks("edit", after_task_failure=TELL.format("after")))
    setup.world.close(setup.task)
    setup.work()

    report = follow(setup, monkeypatch)

    assert report.outcome is Outcome.REFUSED
    assert not (setup.context.workspace.parent / "after").exists()


def test_both_hooks_stand_where_the_batch_wants_the_agent_to_work(bench, monkeypatch):
    hooks = {"before_task": TELL.format("before"), "after_task_success": TELL.format("after")}
    setup = bench(config=with_hooks("edit", **hooks))
    setup.unit = replace(setup.unit, chosen=BatchOverrides(isolation="worktree"))
    setup.work()

    follow(setup, monkeypatch)

    tree = setup.context.temp / "cf-tree-1"
    for name, status in (("before", "in-progress"), ("after", "unverified")):
        told = next(setup.folder.rglob(name)).read_text()
        assert told == f"1|Add login|{status}|1|{tree}|{tree}||\n"
