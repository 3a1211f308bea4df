"""What the next tick would do, asked without doing it."""

import json

import pytest

from bot.console.plan_and_why import foresee, plan_json, plan_lines, why_lines
from bot.model.errors import UsageError
from bot.model.report import Outcome
from tests.conductor.story import Story


def test_the_plan_says_what_would_start_and_what_waits_and_writes_nothing():
    story = Story()
    first = story.ready(title="One")
    second = story.ready(f"depends on #{first}", title="Two")
    writes = story.world.faults.writes
    seen, decided = foresee(story.github, story.world.now)

    assert list(plan_lines(seen, decided)) == [
        f"#{first} One [in-progress] start: starts as cf-{first}-1",
        f"#{second} Two [ready] hold: waiting on #{first}",
        f"expected order: #{first}, #{second}",
    ]
    assert [entry["reason"] for entry in json.loads(plan_json(decided))] == [
        f"starts as cf-{first}-1",
        f"waiting on #{first}",
    ]
    assert (story.world.faults.writes, story.starts()) == (writes, [])


def test_why_names_needs_order_strikes_and_attempts():
    story = Story()
    need = story.world.open_issue("need")
    story.world.close(need)
    task = story.ready(f"depends on #{need}", title="Do it")
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.FAILED, reason="tests fail")
    story.tick()
    lines = "\n".join(why_lines(story.github, story.world.now, task))

    assert "the next tick would leave it" in lines
    assert "because: backs off until" in lines
    assert "works on it: engine command by .github/cf.yml" in lines
    assert f"needs acme/shop#{need}: completed (met)" in lines
    assert "ordered by maintainer" in lines
    assert "strikes: 1 of 3" in lines
    assert f"cf-{task}-1 (code) in run " in lines
    assert ": failed: tests fail" in lines


def test_why_of_what_is_no_task_says_how_to_make_it_one():
    story = Story()
    number = story.world.open_issue("x")
    with pytest.raises(UsageError, match="cf:ready makes it one"):
        list(why_lines(story.github, story.world.now, number))


def test_an_empty_repository_is_told_how_to_begin():
    assert list(plan_lines(*foresee(Story().github, Story().world.now))) == [
        "no task: label an issue cf:ready"
    ]
