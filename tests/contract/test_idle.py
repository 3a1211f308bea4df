"""Nothing happens: what the conductor's ticks cost then, through the real client over HTTP."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.report import Outcome, Question
from bot.sandbox.http.server import serve
from bot.sandbox.world import BOT
from bot.sandbox.world.in_process import client_of
from tests.conductor.story import CONFIG, Story
from tests.contract.conftest import Face

pytestmark = [pytest.mark.contract, pytest.mark.slow]
BEFORE = 13  # points of a tick over a hundred tasks, before it read jobs as well
TENTH = 100  # of the 1,000 requests and 1,000 points an hour that the jobs of a repository share


def busy_shop(more: int) -> tuple[Story, int, int, int]:
    """Tasks in every state: one is worked on, one asks, one is done, one has not begun, and twice as many more wait."""
    story = Story(CONFIG + "max_parallel: 4\n")
    running, asked, done, queued = (story.ready() for _ in range(4))
    for _ in range(more):
        story.ready(f"depends on #{queued}")
        story.world.open_issue("Later", labels=("cf:backlog",))
    story.settle()
    story.begin(f"cf-{running}-1")
    story.finish_live(asked, Outcome.BLOCKED, question=Question("Which database?"))
    story.finish_live(done, Outcome.PASSED)
    story.settle()
    story.world.wait(timedelta(hours=2))
    story.settle()
    return story, running, asked, done


def test_an_hour_of_idle_ticks_costs_less_than_a_tenth_of_the_hourly_limits():
    """One each ten minutes, over tasks in every state; and as nothing is written, each hour of a day is like this one."""
    story, running, asked, done = busy_shop(30)
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


def test_an_idle_tick_over_a_hundred_tasks_is_three_requests_and_the_end_of_a_run_is_seen_at_once():
    """The runs, one GraphQL document, and the comments; each tick is a process of its own, which remembers nothing."""
    story, running, _, _ = busy_shop(48)
    limits, token = story.world.limits, story.world.token(BOT.login)
    with serve(story.world) as served:
        face = Face(story.world, served)

        def tick():
            story.github = face.github()
            story.world.wait(timedelta(minutes=15))
            limits.windows.clear()
            limits.requests.clear()
            last = story.tick()
            return last, {name for name in limits.requests if name != "points"}

        tick()  # writes what has come due meanwhile
        for _ in range(3):
            last, asked = tick()
            assert len(last.seen.snapshot.tasks) == 100
            assert sum(limits.requests[name] for name in asked) == 3
            assert limits.window(token, "graphql").used <= BEFORE
        story.finish(f"cf-{running}-1", Outcome.PASSED, end=False)
        tick()
        for client in face.clients:
            client.close()
    assert story.status(running) == ("done",)


@pytest.mark.parametrize(
    "seen", ["no checks may be read", "the answer lacks them", "publish has begun", "it was run again"]
)
def test_a_report_is_looked_for_wherever_the_jobs_do_not_say_that_it_cannot_be_there(seen):
    story, running, _, _ = busy_shop(0)
    if seen == "no checks may be read":
        permissions = {"actions": "write", "issues": "write", "contents": "read", "pull-requests": "read"}
        story.github = client_of(story.world, story.world.run_token(4711, permissions, "tick"))
    key = f"cf-{running}-1"
    if seen == "the answer lacks them":
        story.github = Silent(story.github)
    if seen == "it was run again":
        story.world.run_ended(story.run_of(key).id, "failure")
        story.world.rerun(story.run_of(key).id)
        story.begin(key)
    if seen == "publish has begun":
        story.finish(key, Outcome.PASSED, end=False)
    before = story.world.limits.requests["artifacts_since"]
    story.tick()
    assert story.world.limits.requests["artifacts_since"] == before + 1


class Silent:
    """A GitHub that says nothing of jobs in its view."""

    def __init__(self, github):
        self._github = github

    def __getattr__(self, name):
        return getattr(self._github, name)

    def view(self, *args):
        return replace(self._github.view(*args), at_work={})
