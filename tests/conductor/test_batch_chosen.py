"""Story: what an order chooses for its members holds in their jobs, and in what their ends mean; for nobody else."""

import json
from datetime import timedelta

import pytest

from bot.model.config import Config
from bot.model.report import Outcome
from bot.model.unit import Kind
from bot.notation.codec import dump
from bot.notation.units import read_unit
from bot.worker.job.configuration import configuration_of
from tests.conductor.batching import batches, control, issue, order
from tests.conductor.story import CONFIG, Story

M = timedelta(minutes=1)
CHOICES = [
    ("isolation=worktree", "isolation: worktree"),
    ("merge=auto", "merge: auto"),
    ("reconcile=5m", "reconcile: {interval: 5m}"),
    ("reconcile=0", "reconcile: {interval: 0}"),
    ("stall_timeout=20m", "stall: {timeout: 20m}"),
    ("stall_timeout=0", "stall: {timeout: 0}"),
    ("stall_action=fail", "stall: {action: fail}"),
    ("timeout=2h", "timeout: 2h"),
    ("timeout=90m\nmerge=auto\nisolation=worktree", "timeout: 90m\nmerge: auto\nisolation: worktree"),
]


def sent(story, task):
    """The unit that the job of this task's first attempt is told, and the configuration that the job makes of it."""
    unit = read_unit(dump(json.loads(story.run_of(f"cf-{task}-1").inputs["units"])[0]))
    return unit, configuration_of(story.github, unit)


@pytest.mark.parametrize(("options", "lines"), CHOICES)
def test_a_members_job_works_as_if_the_choice_were_configured_and_no_others_does(options, lines):
    story, alike, plain = Story(), Story(f"{CONFIG}{lines}\n"), Story()
    member, other = issue(story), story.ready()
    order(story, str(member), options=options)
    theirs, usual = alike.ready(), plain.ready()
    for each in (story, alike, plain):
        each.tick()

    unit, config = sent(story, member)
    like, expected = sent(alike, theirs)
    assert without_blob(config) == without_blob(expected)
    assert unit.timeout_minutes == like.timeout_minutes
    assert without_blob(sent(story, other)[1]) == without_blob(sent(plain, usual)[1])
    assert without_blob(config) != without_blob(sent(plain, usual)[1])


def without_blob(config: Config) -> dict[str, object]:
    values = {name: getattr(config, name) for name in config.__struct_fields__}
    return {name: value for name, value in values.items() if name not in ("blob", "timeout_by_kind")} | {
        "timeout_of": [config.timeout_of(kind) for kind in Kind]
    }


def test_the_batchs_time_goes_before_that_by_kind():
    story = Story(CONFIG + "timeout: {code: 3h}\n")
    member, other = issue(story), story.ready()
    order(story, str(member), options="timeout=2h")
    story.tick()
    assert (sent(story, member)[0].timeout_minutes, sent(story, other)[0].timeout_minutes) == (120, 180)


@pytest.mark.parametrize(
    ("action", "status"),
    [("blocker", "blocked"), ("retry", "ready"), ("fail", "failed")],
)
@pytest.mark.parametrize("configured", ["blocker", "fail"])
def test_what_a_stall_means(action, status, configured):
    story = Story(f"{CONFIG}stall: {{action: {configured}}}\n")
    member, other = issue(story), story.ready()
    order(story, str(member), options=f"stall_action={action}")
    story.tick()
    for task in (member, other):
        story.finish(f"cf-{task}-1", Outcome.STALLED)
    story.tick()
    assert story.status(member) == (status,)
    assert story.status(other) == ("blocked" if configured == "blocker" else "failed",)


def test_the_choice_outlives_a_stop_and_a_resume():
    story = Story(CONFIG + "retry: {backoff: 0s}\n")
    member = issue(story)
    order(story, str(member), options="stall_action=fail\nisolation=worktree")
    (batch,) = batches(story)
    story.settle()
    control(story, "stop", batch)
    story.settle()
    story.finish_live(member, Outcome.STALLED)
    story.settle()
    assert story.status(member) == ("failed",)  # not a question, as is configured

    control(story, "resume", batch, run=901)
    story.settle()
    unit = read_unit(dump(json.loads(story.run_of(f"cf-{member}-2").inputs["units"])[0]))
    assert configuration_of(story.github, unit).isolation == "worktree"
