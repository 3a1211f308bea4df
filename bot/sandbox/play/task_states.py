"""How the tasks of a sandbox stand at one moment, read from the world as a person would read it from GitHub's pages."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.model.issue import Comment, StateReason
from bot.model.record import Attempt, Record
from bot.model.status import Status
from bot.notation.codec import Unreadable
from bot.notation.keys import keys_in
from bot.notation.needs import read_needs
from bot.notation.records import read_record
from bot.sandbox.world import BOT, CommentState, IssueState, PullState, World, WorldRun

WORKER, CONDUCTOR = "cf-worker.yml", "cf-conductor.yml"


@dataclass(frozen=True, slots=True)
class PullFacts:
    number: int
    is_open: bool
    merged: bool
    draft: bool
    mergeable: bool


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """One issue. `status` is None where no status label stands; `runs` are the ids of the runs that carried its keys.

    `told` is what the conductor said last, in one line.
    """

    number: int
    title: str
    is_open: bool
    reason: StateReason | None
    status: Status | None
    record: Record
    needs: tuple[int, ...]
    closed_at: datetime | None
    pulls: tuple[PullFacts, ...] = ()
    runs: tuple[int, ...] = ()
    told: str = ""

    @property
    def merged(self) -> bool:
        return not self.is_open and any(pull.merged for pull in self.pulls)

    @property
    def dropped(self) -> bool:
        """Closed as not planned or as a duplicate."""
        return not self.is_open and self.reason in (StateReason.NOT_PLANNED, StateReason.DUPLICATE)

    @property
    def word(self) -> str:
        """The status in one word."""
        if self.dropped:
            return "dropped"
        if self.status is not None:
            return str(self.status)
        return "open" if self.is_open else "closed"

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        return self.record.attempts

    def took(self, now: datetime) -> timedelta | None:
        """From the first claim to the end, or until now."""
        if not self.attempts:
            return None
        end = self.closed_at or (now if self.record.live else self.attempts[-1].ended_at) or now
        return max(end - self.attempts[0].claimed_at, timedelta(0))


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One workflow run. `jobs` are (name, status, conclusion)."""

    id: int
    workflow: str
    event: str
    title: str
    status: str
    conclusion: str | None
    tasks: tuple[int, ...]
    jobs: tuple[tuple[str, str, str | None], ...] = ()
    problem: str = ""
    created_at: datetime | None = None

    @property
    def ended(self) -> bool:
        return self.status == "completed"

    def legs(self) -> tuple[str, ...]:
        """The names of its matrix legs: what stands before the slash in the names of its jobs."""
        return tuple(dict.fromkeys(name.split(" / ")[0] for name, _, _ in self.jobs if " / " in name))

    def job(self, task: int, role: str) -> list[tuple[str, str, str | None]]:
        """The jobs of one task's leg: `agent`, `verify` (one for each system), `publish`."""
        found = [job for job in self.jobs if f"#{task}" in job[0].split(" / ")[0].split()]
        return [job for job in found if job[0].partition(" / ")[2].split(" ")[0] == role]


@dataclass(frozen=True, slots=True)
class Facts:
    now: datetime
    tasks: tuple[TaskFacts, ...]
    runs: tuple[RunFacts, ...]

    def task(self, number: int) -> TaskFacts:
        return next(task for task in self.tasks if task.number == number)

    def worker_runs(self, task: int = 0) -> tuple[RunFacts, ...]:
        """The worker's runs, oldest first; of one task or all."""
        return tuple(run for run in self.runs if run.workflow == WORKER and (not task or task in run.tasks))

    @property
    def busy(self) -> bool:
        return any(not run.ended for run in self.runs)


def read_facts(world: World, tasks: tuple[int, ...], prefix: str) -> Facts:
    """All of it, at one moment."""
    with world.lock:
        runs = tuple(_run(run) for run in world.runs())
        return Facts(
            world.now, tuple(_task(world, world.issue(number), runs, prefix) for number in tasks), runs
        )


def record_of(issue: IssueState) -> Record:
    """The record in the bot's comment; an empty one where there is none."""
    for state in issue.comments:
        try:
            record = read_record(_comment(state), issue.number, {BOT.id})
        except Unreadable:
            continue
        if record is not None:
            return record
    return Record(issue.number)


def needs_of(world: World, issue: IssueState) -> tuple[int, ...]:
    """Text and native edges to issues of this repository."""
    home = world.repository.lower()
    refs = [
        *read_needs(issue.body, world.repository, server=world.web).refs(world.repository),
        *issue.blocked_by,
    ]
    return tuple(dict.fromkeys(ref.number for ref in refs if ref.repository == home))


def _task(world: World, issue: IssueState, runs: tuple[RunFacts, ...], prefix: str) -> TaskFacts:
    record = record_of(issue)
    pulls = {pull.number: pull for pull in world.pulls.closing(issue)}
    return TaskFacts(
        number=issue.number,
        title=issue.title,
        is_open=issue.is_open,
        reason=issue.state_reason,
        status=next((status for status in Status if issue.has_label(f"{prefix}:{status}")), None),
        record=record,
        needs=needs_of(world, issue),
        closed_at=None if issue.is_open else issue.closed_at,
        pulls=tuple(_pull(world, pull) for pull in pulls.values()),
        runs=tuple(run.id for run in runs if run.workflow == WORKER and issue.number in run.tasks),
        told=_told(issue),
    )


def _told(issue: IssueState) -> str:
    ours = [comment for comment in issue.comments if comment.author.id == BOT.id]
    newest = max(ours, key=lambda comment: comment.updated_at, default=None)
    return newest.body.split("\n", 1)[0].replace("**", "").replace("`", "") if newest else ""


def _pull(world: World, pull: PullState) -> PullFacts:
    return PullFacts(
        pull.number,
        pull.issue.is_open,
        pull.merged,
        pull.draft,
        bool(pull.issue.is_open and world.pulls.mergeable(pull)),
    )


def _run(run: WorldRun) -> RunFacts:
    tasks = tuple(dict.fromkeys(key.task for key in keys_in(run.title))) if run.workflow == WORKER else ()
    jobs = tuple((job.name, job.status, job.conclusion) for job in run.jobs.values())
    return RunFacts(
        id=run.id,
        workflow=run.workflow,
        event=run.event,
        title=run.title,
        status=run.status,
        conclusion=run.conclusion,
        tasks=tasks,
        jobs=jobs,
        problem=run.problem,
        created_at=run.created_at,
    )


def _comment(state: CommentState) -> Comment:
    return Comment(
        state.id, state.node_id, state.issue, state.author, state.body, state.created_at, state.updated_at
    )
