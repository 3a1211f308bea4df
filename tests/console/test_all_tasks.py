"""Every task there ever was, closed ones as well."""

from bot.console.all_tasks import past_tasks
from tests.builders import ago
from tests.conductor.story import Story
from tests.plan.telling.past import PASSED


def test_closed_issues_are_looked_back_on_as_well():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", PASSED, minutes=3.0)
    story.tick()
    story.world.merge_pull(story.record(task).pull)
    story.settle()
    story.world.wait(ago(days=0) - ago(days=9))
    story.tick()
    _, tasks = past_tasks(story.github, story.world.now)
    assert [(one.number, attempt.outcome) for one in tasks for attempt in one.record.attempts] == [
        (task, PASSED)
    ]
