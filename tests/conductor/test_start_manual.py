"""Story: `start: manual`: ready means approved, and an agent starts by a batch or by command."""

from datetime import timedelta

import pytest

from bot.conductor.observe import observe
from bot.conductor.tick import decide
from bot.model.report import Outcome
from bot.plan.starts.starts import expected_order
from tests.conductor.batching import batches, control, order
from tests.conductor.story import CONFIG, Story

MANUAL = CONFIG + "start: manual\nretry: {backoff: 0s}\n"


def test_a_command_starts_what_is_approved_and_it_goes_on_until_another_order():
    story = Story(MANUAL)
    task, other = story.ready(), story.ready()
    story.settle()
    assert story.starts() == []
    assert story.status(task) == ("ready",)
    assert story.reason(task) == "approved only (start: manual); it starts by `/cf run` or a batch"

    story.world.comment(task, "/cf run")
    story.settle()
    story.finish_live(task, Outcome.FAILED)
    story.settle()
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]

    story.finish_live(task, Outcome.BLOCKED)
    story.settle()
    story.world.comment(task, "sqlite")
    story.settle()
    assert story.starts()[2:] == [f"cf-{task}-3"]

    story.world.comment(task, "/cf stop")
    story.settle()
    story.die(f"cf-{task}-3", "cancelled")
    story.settle()
    story.world.label(task, "cf:ready")
    story.settle()
    assert len(story.starts()) == 3
    assert story.reason(task) == story.reason(other)


@pytest.mark.parametrize("words", ["/cf approve", "/cf retry"])
def test_other_commands_approve_only(words):
    story = Story(MANUAL)
    task = story.world.open_issue("Do it", labels=("cf:backlog",))
    story.settle()
    story.world.comment(task, words)
    story.settle()
    assert story.status(task) == ("ready",)
    assert story.starts() == []


def test_a_batch_starts_its_members_and_once_it_was_stopped_a_label_approves_only():
    story = Story(MANUAL)
    first, second = story.ready(), story.ready()
    story.settle()
    order(story, f"{first} {second}", strategy="serial")
    story.settle()
    assert story.starts() == [f"cf-{first}-1"]

    control(story, "stop", batches(story)[0])
    story.settle()
    story.world.label(second, "cf:ready")
    story.settle()
    assert story.starts() == [f"cf-{first}-1"]
    assert "approved only" in story.reason(second)


def test_what_is_only_approved_stands_in_no_expected_order():
    story = Story(MANUAL)
    approved, run = story.ready(), story.ready()
    story.settle()
    story.world.comment(run, "/cf run")
    story.world.wait(timedelta(seconds=2))
    seen, decided = decide(story.github, observe(story.github, story.world.now))
    assert expected_order(seen.snapshot, decided.decisions) == (run,)
    assert "approved only" in next(one.reason for one in decided.decisions if one.task == approved)


def test_16_killed_at_any_write_of_a_command_one_agent_is_started():
    for number in range(1, 9):
        for after in (False, True):
            story = Story(MANUAL)
            task = story.ready()
            story.settle()
            story.world.comment(task, "/cf run")
            story.world.faults.fail_write(number, after=after)
            story.settle()
            assert len(story.agent_starts()) == len(story.starts()) == 1, (number, after)
