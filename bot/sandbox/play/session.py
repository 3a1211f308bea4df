"""One sandbox from begin to end: its folder, its world, the address it answers at, the engine, and the people in it."""

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from bot.model.config import Config
from bot.model.engine import SECRETS
from bot.sandbox.actions.engine import ActEngine, own_action
from bot.sandbox.actions.workspace import Service
from bot.sandbox.http.server import serve
from bot.sandbox.play.changes import changes
from bot.sandbox.play.issue_list import IssuePlan
from bot.sandbox.play.maintainer import Maintainer
from bot.sandbox.play.repository import Prepared
from bot.sandbox.play.screen import Screen
from bot.sandbox.play.task_states import CONDUCTOR, Facts, TaskFacts, read_facts
from bot.sandbox.world import World

_LOOK_EVERY = 0.2
_STILL = 3  # looks in a row at which nothing has changed and nothing runs
# Runs beside those of the agents: conductors, and what was cancelled and is still ending.
_SPARE_RUNS = 4


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A world that answers at `url`. `page` is where a person reads it."""

    world: World
    url: str
    config: Config
    foreign: tuple[str, ...] = ()

    @property
    def page(self) -> str:
        return f"{self.url}/{self.world.repository}"


@dataclass(frozen=True, slots=True)
class Ended:
    """How it all stood at the end. `in_time` is False where the time was up first."""

    facts: Facts
    in_time: bool


@contextmanager
def sandbox_folder(*, keep: bool, say: Callable[[str], None]) -> Iterator[Path]:
    """A folder for everything a sandbox leaves on disk, removed at the end unless it is to be kept."""
    folder = Path(mkdtemp(prefix="cf-sandbox-"))
    try:
        yield folder
    finally:
        if keep:
            say(f"kept: {folder}")
        else:
            rmtree(folder, ignore_errors=True)


@contextmanager
def open_sandbox(
    repository: str, prepared: Prepared, environ: Mapping[str, str], *, port: int = 0
) -> Iterator[Sandbox]:
    """World, server and engine; at the end every process that it started is gone."""
    world = World(repository, git=prepared.git, clock=_now, salt=secrets.token_hex(16))
    world.actions.disabled |= set(prepared.foreign)
    with serve(world, port=port) as served:
        service = Service(
            served.url,
            world.repository,
            str(prepared.git.path),
            api_url=served.api,
            graphql_url=served.graphql,
        )
        engine = ActEngine(
            world,
            service,
            own_action(),
            secrets={name: environ[name] for name in SECRETS if environ.get(name)},
            max_runs=prepared.config.max_parallel + _SPARE_RUNS,
        )
        world.engine = engine
        try:
            yield Sandbox(world, served.url, prepared.config, prepared.foreign)
        finally:
            engine.close()


def play(
    sandbox: Sandbox, plans: Sequence[IssuePlan], screen: Screen, *, merges: bool, timeout: timedelta
) -> Ended:
    """Open the issues and watch until nothing more will happen, or the time is up."""
    world = sandbox.world
    maintainer = Maintainer(world, sandbox.config, screen.line, merges)
    tasks = maintainer.open(plans)
    until, pause, stillness = world.now + timeout, threading.Event(), Stillness()
    seen: Facts | None = None
    while True:
        facts = read_facts(world, tasks, sandbox.config.prefix)
        for line in changes(seen, facts):
            screen.line(line)
        screen.show(facts)
        seen = facts
        if stillness.is_over(facts):
            return Ended(facts, in_time=True)
        if facts.now >= until:
            return Ended(facts, in_time=False)
        maintainer.act(facts)
        if stillness.is_due(facts):
            world.tick_schedule(CONDUCTOR)
        pause.wait(_LOOK_EVERY)


class Stillness:
    """Tells when nothing more will happen: all is done; or nothing runs, a scheduled tick has looked, and changed nothing.

    The scheduled time of the workflow, a quarter of an hour on GitHub, comes here as soon as nothing runs any more.
    """

    def __init__(self) -> None:
        self._last: tuple[TaskFacts, ...] = ()
        self._still = 0
        self._looked: tuple[TaskFacts, ...] | None = None

    def is_over(self, facts: Facts) -> bool:
        """Take note of how it stands now, and say whether that is the end."""
        quiet = not facts.busy and facts.tasks == self._last
        self._still = self._still + 1 if quiet else 0
        self._last = facts.tasks
        return self._still >= _STILL and (
            all(_has_ended(task) for task in facts.tasks) or self._looked == facts.tasks
        )

    def is_due(self, facts: Facts) -> bool:
        """Whether it is time for a scheduled tick; each is asked for once."""
        if self._still < _STILL or any(_waits(task, facts.now) for task in facts.tasks):
            return False
        self._looked, self._still = facts.tasks, 0
        return True


def _has_ended(task: TaskFacts) -> bool:
    return (
        not task.is_open and task.record.live is None and task.word in ("merged", "dropped", "done", "closed")
    )


def _waits(task: TaskFacts, now: datetime) -> bool:
    due = task.record.not_before
    return task.is_open and due is not None and due > now


def keep_logs(world: World, folder: Path) -> None:
    """The log of every job, as files."""
    with world.lock:
        for run in world.runs():
            for job in run.jobs.values():
                name = "".join(char if char.isalnum() or char in "#.-" else "_" for char in job.name)
                place = folder / "logs" / f"{run.id}-{run.workflow.removesuffix('.yml')}"
                place.mkdir(parents=True, exist_ok=True)
                (place / f"{name}.log").write_text(
                    f"{job.name}: {job.conclusion}{os.linesep}{job.log}", encoding="utf-8"
                )


def _now() -> datetime:
    return datetime.now(UTC)
