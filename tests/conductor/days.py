"""Whole days on the make-believe GitHub: a tick each quarter of an hour with its lingering, runs that end, and what it costs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from msgspec import Struct

from bot.conductor.linger import Lingering
from bot.conductor.tick import Tick
from bot.model.cause import Cause, Met
from bot.model.report import Hold, Outcome
from bot.sandbox.world.actions import WorldRun
from tests.conductor.story import Story

SIGNED = Met(Cause.PUSH_RULE, words="GitHub refused the branch: Commits must have verified signatures.")
EVERY = timedelta(minutes=15)
_START = timedelta(seconds=20)  # a runner, and the bot's set-up on it


class Cost(Struct, frozen=True):
    """What a stretch of time has cost: requests of the conductor, its billed minutes, runs of workers, and agents among them."""

    requests: int
    minutes: int
    runs: int
    agents: int


@dataclass
class Clock:
    story: Story

    def now(self) -> datetime:
        return self.story.world.now

    def sleep(self, span: timedelta) -> None:
        self.story.world.wait(span)


@dataclass
class Days:
    """`serve` ends a run as the repository's state has it; None leaves runs alone."""

    story: Story
    serve: Callable[[Story, WorldRun], None] | None = None
    agents: list[str] = field(default_factory=list)
    minutes: int = 0

    def pass_by(self, how_long: timedelta) -> Cost:
        """Let the time pass; what that has cost."""
        world = self.story.world
        before = (
            sum(world.limits.requests.values()),
            self.minutes,
            len(world.runs("cf-worker.yml")),
            len(self.agents),
        )
        end = world.now + how_long
        while world.now < end:
            began = world.now
            self.tick()
            self.work()
            world.now = max(world.now, began + EVERY)
        after = (
            sum(world.limits.requests.values()),
            self.minutes,
            len(world.runs("cf-worker.yml")),
            len(self.agents),
        )
        return Cost(*(now - then for now, then in zip(after, before, strict=True)))

    def tick(self) -> None:
        """One run of the conductor, from its start to the end of its lingering."""
        began = self.story.world.now
        self.story.world.wait(_START)
        lingering = Lingering(self._tick, lambda: False, Clock(self.story))
        self.story.last = lingering.run(lambda last: last.seen.snapshot.config.linger)
        self.minutes += -(-(self.story.world.now - began) // timedelta(minutes=1))

    def _tick(self) -> Tick:
        return self.story.tick()

    def work(self) -> None:
        """Every run that waits gets its end, and its last job wakes the conductor."""
        if self.serve is None:
            return
        for run in [run for run in self.story.worker_runs() if run.status != "completed"]:
            if '"kind":"code"' in run.inputs["units"]:
                self.agents.append(run.inputs["keys"])
            self.story.world.wait(timedelta(minutes=1))
            self.serve(self.story, run)
            self.tick()


def passing(story: Story, run: WorldRun) -> None:
    story.finish(run.inputs["keys"], Outcome.PASSED)


def refused(met: Met) -> Callable[[Story, WorldRun], None]:
    """Every run does its work, and GitHub refuses what it would publish."""

    def end(story: Story, run: WorldRun) -> None:
        words = f"{met.words}. The patch is in the artifact."
        story.finish(
            run.inputs["keys"],
            Outcome.HELD,
            verify="success",
            hold=Hold.SETTING,
            head="c" * 40,
            reason=words,
            cause=met,
        )

    return end


def noted(annotation: str, role: str = "agent") -> Callable[[Story, WorldRun], None]:
    """Every run fails in this job, and GitHub says why beside it."""

    def end(story: Story, run: WorldRun) -> None:
        key = run.inputs["keys"]
        task = key.split("-")[1]
        run_id = story.begin(key)
        story.job_ends(run_id, key, role, "failure")
        if annotation:
            story.world.annotate(run_id, f"#{task} / {role}", annotation)
        story.world.run_ended(run_id, "failure")

    return end


def set_up_fails(words: str, failure: str = "f" * 32) -> Callable[[Story, WorldRun], None]:
    def end(story: Story, run: WorldRun) -> None:
        story.finish(run.inputs["keys"], Outcome.INFRA, reason=words, failure=failure)

    return end
