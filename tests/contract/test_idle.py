"""Nothing happens: what the conductor's ticks cost then, through the real client over HTTP."""

from datetime import timedelta

import pytest

from bot.model.report import Outcome, Question
from bot.sandbox.http.server import serve
from bot.sandbox.world import BOT
from tests.conductor.story import CONFIG, Story
from tests.contract.conftest import Face

pytestmark = [pytest.mark.contract, pytest.mark.slow]
TENTH = 100  # of the 1,000 requests and 1,000 points an hour that the jobs of a repository share


def test_an_hour_of_idle_ticks_costs_less_than_a_tenth_of_the_hourly_limits():
    """One each ten minutes, over tasks in every state; and as nothing is written, each hour of a day is like this one."""
    story = Story(CONFIG + "max_parallel: 4\n")
    running, asked, done, queued = (story.ready() for _ in range(4))
    for _ in range(30):
        story.ready(f"depends on #{queued}")
        story.world.open_issue("Later", labels=("cf:backlog",))
    story.settle()
    story.begin(f"cf-{running}-1")
    story.finish_live(asked, Outcome.BLOCKED, question=Question("Which database?"))
    story.finish_live(done, Outcome.PASSED)
    story.settle()
    story.world.wait(timedelta(hours=2))
    story.settle()
    limits, token = story.world.limits, story.world.token(BOT.login)

    with serve(story.world) as served:
        face = Face(story.world, served)
        story.github = face.github()
        story.tick()  # writes what has come due meanwhile
        limits.windows.clear()
        writes = story.world.faults.writes
        for _ in range(6):
            story.world.wait(timedelta(minutes=9, seconds=56))
            story.tick()
        face.clients[0].close()

    assert story.world.faults.writes == writes
    assert [story.status(task) for task in (running, asked, done)] == [
        ("in-progress",),
        ("blocked",),
        ("done",),
    ]
    requests, points = (limits.window(token, kind).used for kind in ("core", "graphql"))
    assert 0 < requests < TENTH
    assert 0 < points < TENTH
