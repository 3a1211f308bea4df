"""Whether any run under way may have handed in its report: its jobs tell, and they come with the one look at the repository.

Without this each tick would list the repository's artifacts for as long as anything runs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bot.github.port import Reader
from bot.model.batch import Batch
from bot.model.record import Attempt
from bot.model.run import Artifact, Job, Run
from bot.model.task import Task
from bot.notation.keys import keys_in
from bot.plan.attempts.ending import legs_of


def watched_runs(runs: Iterable[Run]) -> tuple[str, ...]:
    """The runs whose jobs are to be read with the view: those of ours that have not ended."""
    return tuple(run.node_id for run in runs if not run.ended and keys_in(run.title))


def recent_artifacts(
    github: Reader,
    tasks: Mapping[int, Task],
    batches: Sequence[Batch],
    runs: Sequence[Run],
    at_work: Mapping[str, tuple[Job, ...]],
) -> tuple[Artifact, ...]:
    """The artifacts among which the reports of live attempts are; none where each of these is seen to be at work still."""
    live = list(_live(tasks, batches))
    by_id = {run.id: run for run in runs}
    if all(_is_at_work(number, by_id.get(attempt.run), at_work) for number, attempt in live):
        return ()
    return github.artifacts_since(min(attempt.claimed_at for _, attempt in live))


def _live(tasks: Mapping[int, Task], batches: Sequence[Batch]) -> Iterator[tuple[int, Attempt]]:
    for number, task in tasks.items():
        if task.record.live is not None:
            yield number, task.record.live
    for batch in batches:
        if batch.record.trial is not None:
            yield batch.number, batch.record.trial.attempt


def _is_at_work(number: int, run: Run | None, at_work: Mapping[str, tuple[Job, ...]]) -> bool:
    """Whether none of its jobs has begun, or one before the one that reports has not ended: what is not told proves nothing."""
    if run is None or run.ended or run.attempt > 1 or run.node_id not in at_work:
        return False
    legs = legs_of(number, at_work[run.node_id])
    before = [job for job in (legs.agent, *legs.verify) if job is not None]
    return legs.publish is None and (not before or any(not job.ended for job in before))
