"""Large: what a whole batch costs of GitHub's hourly limits: counted over HTTP, as the client sends it."""

import random
import sys
from collections import Counter
from datetime import datetime, timedelta

import pytest

from bot.conductor.tick import tick
from bot.github.client import Client
from bot.github.credential import Credential
from bot.github.session import Session
from bot.github.wire import GithubkitWire
from bot.model.report import Outcome
from bot.sandbox.http.server import serve
from tests.conductor.story import CONFIG, Story
from tests.worker.bench import Bench

pytestmark = [pytest.mark.contract, pytest.mark.slow]
TASKS, SITTINGS = 50, 5
CONDUCTOR, WITH_WORKERS = 8, 14  # requests for each task
LATER = timedelta(
    seconds=90
)  # until an event is seen: the look of a lingering run, a runner, set-up, spaced writes


class Counted:
    """An ASGI layer that counts the REST requests which GitHub would: all but those answered by 304."""

    def __init__(self):
        self.requests = 0

    def around(self, app):
        async def count(scope, receive, send):
            api = scope["path"].startswith("/repos/")

            async def noted(message):
                if message["type"] == "http.response.start":
                    self.requests += api and message["status"] != 304
                await send(message)

            await app(scope, receive, noted)

        return count


def batch_of_fifty():
    """Ten at a time, ten minutes each around a lognormal, merged by a person in five sittings: requests and points."""
    story = Story(f"{CONFIG}max_parallel: 10\nlimits: {{total: 10}}\n")
    world, counted, choose = story.world, Counted(), random.Random(1)
    tasks = [story.ready() for _ in range(TASKS)]
    ends: dict[int, datetime] = {}
    with serve(world, wrap=counted.around) as served:

        def look():
            wire = GithubkitWire(Credential(world.token("github-actions[bot]").value), served.api)
            pause = lambda seconds: world.wait(timedelta(seconds=seconds))  # noqa: E731
            session = Session(wire, world.repository, served.graphql, now=lambda: world.now, sleep=pause)
            with Client(session) as client:
                return tick(client, lambda: world.now)

        look()
        while running := [run for run in story.worker_runs() if run.status != "completed"]:
            for run in running:
                ends.setdefault(run.id, world.now + timedelta(minutes=10 * choose.lognormvariate(0, 0.5)))
            first = min(ends[run.id] for run in running)
            world.wait(max(timedelta(0), first + LATER - world.now))
            for run in running:
                if ends[run.id] <= world.now:
                    story.finish(run.inputs["keys"], Outcome.PASSED)
            look()
        for _ in range(SITTINGS):
            waiting = [pull.number for pull in world.pulls.by_number.values() if pull.issue.is_open]
            for number in waiting[: TASKS // SITTINGS]:
                world.merge_pull(number)
            world.wait(LATER)
            look()
        points = world.limits.requests["points"]
    assert {story.status(task) for task in tasks} == {("merged",)}
    return counted.requests, points


GRAPHQL = {"issue"}  # what a worker asks by GraphQL, which has a budget of its own


def test_fifty_tasks_stay_below_eight_requests_each_and_fourteen_with_their_workers(tmp_path):
    """GitHub counts REST requests and GraphQL points apart, a thousand an hour each: both are held to the bound."""
    requests, points = batch_of_fifty()
    bench = Bench(tmp_path, "edit")
    real = _calls(bench)
    bench.work()
    bench.verify()
    bench.publish()
    asked = Counter(real)
    wake = 1
    rest = sum(asked.values()) - sum(asked[name] for name in GRAPHQL) + wake

    assert requests / TASKS < CONDUCTOR
    assert requests / TASKS + rest < WITH_WORKERS, asked
    assert points / TASKS + sum(asked[name] for name in GRAPHQL) < CONDUCTOR


def _calls(bench):
    """The names of the port's methods that the worker calls from now on; the bench's own look at artifacts is not among them."""
    called: list[str] = []
    github = bench.github
    for name in [name for name in dir(github) if not name.startswith("_")]:
        real = getattr(github, name)
        if callable(real):
            setattr(github, name, _noting(called, name, real))
    return called


def _noting(called, name, real):
    def noted(*args, **kwargs):
        if sys._getframe(1).f_globals["__name__"] != Bench.__module__:
            called.append(name)
        return real(*args, **kwargs)

    return noted
