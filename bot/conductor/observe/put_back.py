"""Records and batches that somebody put back to an older text of ours, read so that they start nothing twice."""

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from bot.conductor.observe.runs import worker_runs
from bot.github.port import Reader
from bot.model.batch import Batch
from bot.model.config import Config
from bot.model.run import Run
from bot.model.status import Status
from bot.model.task import Task
from bot.plan.facts.put_back import (
    free_number,
    heed_own_label,
    heed_own_run,
    spent_by,
    starts_seen,
    with_free_key,
)


def with_own_deeds(
    github: Reader,
    tasks: Mapping[int, Task],
    recent: Sequence[Run],
    config: Config,
    accounts: Collection[int],
) -> dict[int, Task]:
    """The tasks as our labels and runs have them where these are ahead of the record.

    Costs requests only where a task could start and our labels tell of more starts than its record: then the runs of its whole
    life are read.
    """
    found = {number: _heeded(task, recent, config, accounts) for number, task in tasks.items()}
    behind = [task for task in found.values() if _is_behind(task, config, accounts)]
    runs = recent
    if behind:
        runs = (*recent, *worker_runs(github, min(task.issue.created_at for task in behind))[0])
    for number, task in found.items():
        record = with_free_key(task.record, runs) if _is_readable(task) else task.record
        if record != task.record:
            found[number] = replace(task, record=record, unsaved=True)
    return found


def _heeded(task: Task, runs: Sequence[Run], config: Config, accounts: Collection[int]) -> Task:
    return heed_own_run(heed_own_label(task, config, accounts), runs) if _is_readable(task) else task


def _is_readable(task: Task) -> bool:
    return task.comment is not None and not task.record_problem


def _is_behind(task: Task, config: Config, accounts: Collection[int]) -> bool:
    could_start = task.issue.is_open and task.issue.has_label(config.label(Status.READY))
    return (
        _is_readable(task)
        and could_start
        and starts_seen(task, config, accounts) > task.record.next_attempt - 1
    )


def with_free_gates(batches: Sequence[Batch], runs: Sequence[Run]) -> tuple[Batch, ...]:
    """The batches, none of which starts a trial of its gate under a key that a run carries."""
    found = []
    for batch in batches:
        number = free_number(batch.record.next_gate, spent_by(batch.number, runs))
        taken = number == batch.record.next_gate
        found.append(batch if taken else replace(batch, record=replace(batch.record, next_gate=number)))
    return tuple(found)
