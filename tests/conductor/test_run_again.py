"""Story: a run is run again before the conductor has seen its end: what its first jobs came to stands, no agent is paid twice."""

import json
from datetime import timedelta
from typing import Any

import pytest

from bot.model.report import Hold, Outcome, Question
from bot.sandbox.world.actions import KeptOver
from tests.conductor.story import Story, zipped

MINUTE = timedelta(minutes=1)
ENDS: dict[Outcome, dict[str, Any]] = {
    Outcome.PASSED: {},
    Outcome.HELD: {"hold": Hold.PROTECTED, "protected": ("AGENTS.md",), "head": "b" * 40},
    Outcome.BLOCKED: {"question": Question("Which database?")},
    Outcome.FAILED: {"reason": "tests do not pass"},
    Outcome.NO_CHANGES: {},
}


def units_of(story):
    return [unit for run in story.worker_runs() for unit in json.loads(run.inputs["units"])]


def run_again(story, key, keeps, *, upload):
    """All jobs, which are refused; with `upload` they report it, as those of an older workflow do."""
    story.world.actions.kept_over_attempts = keeps
    run = story.run_of(key).id
    story.world.rerun(run)
    story.begin(key)
    for role, ended in (("agent", "failure"), ("verify (ubuntu-latest)", "skipped"), ("publish", "success")):
        story._job(run, key, role, "completed", ended)
    if upload:
        task = key.split("-")[1]
        text = f'{{"key": "{key}", "task": {task}, "outcome": "refused", "reason": "cannot be run again"}}'
        story.world.add_artifact(run, f"cf-report-{key}", zipped({"report.json": text}))
    story.world.run_ended(run, "failure")
    story.world.wait(MINUTE)


@pytest.mark.parametrize("upload", [False, True], ids=["our workflow", "an older workflow"])
@pytest.mark.parametrize("keeps", [KeptOver.BESIDE, KeptOver.ONCE])
@pytest.mark.parametrize("outcome", ENDS)
def test_what_the_first_jobs_came_to_stands(outcome, keeps, upload):
    plain, story = Story(), Story()
    task = plain.ready()
    assert story.ready() == task
    for one in (plain, story):
        one.tick()
        one.finish(f"cf-{task}-1", outcome, **ENDS[outcome])
    run_again(story, f"cf-{task}-1", keeps, upload=upload and keeps is KeptOver.BESIDE)
    for one in (plain, story):
        one.tick()

    assert story.record(task).attempts[0].outcome is outcome
    assert story.status(task) == plain.status(task)
    assert story.record(task).strikes == plain.record(task).strikes
    assert story.starts() == plain.starts()


def test_work_that_is_shown_no_more_is_told_and_costs_no_second_agent():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.PASSED)
    run_again(story, f"cf-{task}-1", KeptOver.GONE, upload=False)
    story.tick()
    story.tick()

    assert story.record(task).attempts[0].reason == "publishing was lost"
    assert [unit["kind"] for unit in units_of(story)] == ["code", "publish"]


def test_only_publish_was_run_again_and_its_newest_report_counts():
    story = Story()
    task = story.ready()
    story.tick()
    key = f"cf-{task}-1"
    run = story.finish(key, Outcome.HELD, hold=Hold.SETTING, head="b" * 40)
    story.world.rerun(run, [f"#{task} / publish"])
    story.finish(key, Outcome.PASSED)
    story.tick()
    assert story.status(task) == ("done",)
