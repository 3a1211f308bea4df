"""Runs of the worker: which are live, which are ours to end, and what they left behind."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from bot.conductor.observe.lost_records import CLOCKS
from bot.github.port import Reader
from bot.model.batch import Batch
from bot.model.config import WORKER_WORKFLOW
from bot.model.errors import NotFound, WorkflowMissing
from bot.model.record import Attempt
from bot.model.run import Run
from bot.model.task import Task
from bot.notation.keys import keys_in

RUNS_WINDOW = timedelta(hours=6)  # older live runs are read one by one, by their recorded id


def worker_runs(github: Reader, since: datetime) -> tuple[tuple[Run, ...], bool]:
    try:
        return github.runs(WORKER_WORKFLOW, since), False
    except WorkflowMissing:
        return (), True


def tasks_named_by(runs: Sequence[Run]) -> tuple[int, ...]:
    return tuple(sorted({key.task for run in runs if not run.ended for key in keys_in(run.title)}))


def live_attempts(tasks: Mapping[int, Task], batches: Iterable[Batch]) -> tuple[Attempt, ...]:
    """Every attempt and every trial of a batch gate that is under way."""
    attempts = [task.record.live for task in tasks.values()]
    trials = [batch.record.trial for batch in batches]
    found = [*attempts, *(trial.attempt for trial in trials if trial is not None)]
    return tuple(attempt for attempt in found if attempt is not None)


def with_recorded_runs(
    github: Reader, runs: tuple[Run, ...], live: Sequence[Attempt], now: datetime
) -> tuple[Run, ...]:
    """The runs of live attempts that are older than the window: by their id, or listed where that was never noted."""
    known = {run.id for run in runs}
    recorded = {attempt.run for attempt in live}
    more = []
    unnoted = min((attempt.claimed_at for attempt in live if not attempt.run), default=now)
    if unnoted < now - RUNS_WINDOW + CLOCKS:
        listed = worker_runs(github, unnoted - CLOCKS)[0]
        more += [run for run in listed if run.id not in known]
        known |= {run.id for run in more}
    for run_id in sorted(recorded - known - {0}):
        try:
            more.append(github.run(run_id))
        except NotFound:
            continue
    return (*runs, *more)


def orphaned_runs(
    github: Reader, runs: Sequence[Run], tasks: Mapping[int, Task], batches: Collection[int]
) -> tuple[int, ...]:
    """Runs that nobody waits for: each of their issues was deleted or moved away, or is closed and its record unreadable."""

    def unwanted(number: int) -> bool:
        task = tasks.get(number)
        if number in batches:
            return False
        return task is None or bool(task.record_problem and not task.issue.is_open)

    named = {run.id: {key.task for key in keys_in(run.title)} for run in runs if not run.ended}
    found = {run for run, numbers in named.items() if numbers and all(map(unwanted, numbers))}
    missing = {number for run in found for number in named[run]} - tasks.keys()
    # Asked once more, because ending a run cannot be undone.
    there = github.issues(sorted(missing)) if missing else {}
    return tuple(sorted(run for run in found if not named[run] & there.keys()))
