"""Story: what was spent today holds starts, whatever became of the issues, the dashboard and the tick that saw it."""

from datetime import timedelta

import pytest

from bot.model.errors import TryLater
from bot.model.report import Outcome
from bot.sandbox.world.faults import Disconnected, Fault
from tests.conductor.story import CONFIG, Story

DAY = CONFIG + "budget: {day: {usd: 5}}\n"
USED_UP = "the day's budget is used up: 6 of 5 USD (budget.day); starts again at 00:00 UTC"


def spent_and_merged(disturb=lambda story: None):
    """A task that cost more than the day may is merged; then somebody orders another."""
    story = Story(DAY)
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.PASSED, usd=6.0)
    disturb(story)
    story.settle()
    story.merge(task)
    story.settle()
    return story


def ordered(story):
    other = story.ready()
    story.tick()
    return other, story.reason(other)


def test_it_holds_after_the_issue_is_closed():
    story = spent_and_merged()
    other, reason = ordered(story)
    assert reason == USED_UP

    midnight = story.world.now.replace(hour=0, minute=0, second=0) + timedelta(days=1)
    story.world.wait(midnight - story.world.now)
    story.tick()
    assert f"cf-{other}-1" in story.starts()


def test_it_holds_with_the_dashboard_lost():
    story = spent_and_merged()
    for issue in story.world.issues.all():
        if issue.has_label("cf:dashboard"):
            story.world.close(issue.number)
    assert ordered(story)[1] == USED_UP


@pytest.mark.parametrize("operation", ["write:EditComment", "write:EditIssue"])
@pytest.mark.parametrize("after", [False, True])
def test_it_holds_after_a_kill(operation, after):
    def kill(story):
        story.world.faults.planned.append(Fault(Disconnected, operation, writes_only=True, after=after))
        with pytest.raises(TryLater):
            story.tick()

    assert ordered(spent_and_merged(kill))[1] == USED_UP


def test_a_limited_engine_starts_again_by_itself_and_outlives_a_kill():
    story = Story()
    limited, other = story.ready(), story.ready()
    story.world.wait(timedelta(minutes=1))
    story.tick()
    story.finish(f"cf-{other}-1", Outcome.PASSED)
    story.world.wait(timedelta(minutes=1))
    until = story.world.now.replace(microsecond=0) + timedelta(hours=2)
    story.finish(f"cf-{limited}-1", Outcome.CAPACITY, retry_after=until)
    story.world.faults.planned.append(Fault(Disconnected, "write:AddLabel", writes_only=True))
    with pytest.raises(TryLater):
        story.tick()
    third = story.ready()
    story.settle()

    for task in (limited, third):
        assert story.reason(task) == f"command takes no work until {until:%Y-%m-%d %H:%M:%S} UTC"
    assert story.last is not None
    assert story.last.due == until
    story.world.wait(timedelta(hours=2))
    story.tick()
    assert {f"cf-{limited}-2", f"cf-{third}-1"} <= set(story.starts())
    assert story.record(limited).strikes == story.record(limited).interruptions == 0
