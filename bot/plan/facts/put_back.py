"""Records that are older than what we did since: somebody put an older text of ours back, which its signature cannot tell.

What we have done since stands elsewhere: in our labels, whose events nobody can change, and in the titles of runs. What counts
twice is only what would start something; a rolled back count of strikes starts nothing by itself.
"""

from collections.abc import Callable, Collection, Iterable

from msgspec.structs import replace

from bot.model.config import Config
from bot.model.issue import EventKind, TimelineEvent
from bot.model.record import Attempt, Record
from bot.model.run import Run
from bot.model.status import Status
from bot.model.task import Task
from bot.model.unit import Kind
from bot.notation.keys import keys_in
from bot.plan.facts.record_edits import started_from, with_live

_GOES_ON = (Status.READY, Status.IN_PROGRESS)
_UNKNOWN = "its record was put back to an older text, which does not know this run"
_WHY = "its record was put back to an older text; its label since then says otherwise"


def heed_own_label(task: Task, config: Config, accounts: Collection[int]) -> Task:
    """The task with a record that does not go on where a label ended it since: ours, or a person's that we heeded.

    A record is written before its label, so a label of ours that is newer than the record's last status and says otherwise was
    followed by another record. What then stands on the issue is what the last one said.
    """
    record = task.record
    ours = _newest(task, config, lambda event: event.actor.id in accounts)
    if ours is None or record.status_at is None or ours.at <= record.status_at:
        return task
    present = {label.casefold() for label in task.issue.labels}
    shown = _newest(task, config, lambda event: (event.label or "").casefold() in present)
    if _status(ours, config) is record.status or shown is None or _status(shown, config) in _GOES_ON:
        return task
    if record.status not in _GOES_ON and record.live is None:
        return task
    record = replace(record, status=_status(shown, config), status_at=shown.at)
    if record.live is not None and not record.live.cancelled_for:
        record = with_live(record, cancelled_for=_WHY)
    return replace(task, record=record, unsaved=True)


def heed_own_run(task: Task, runs: Iterable[Run]) -> Task:
    """The task with the attempt of a run that its record does not know, for its end: so none starts beside it."""
    record = task.record
    known = {attempt.number for attempt in record.attempts}
    oldest = min(known, default=0)  # those before are not kept any more
    unknown = [
        (key.number, run)
        for run in runs
        if not run.ended
        for key in keys_in(run.title)
        if key.task == record.task and key.number > oldest and key.number not in known
    ]
    if record.live is not None or not unknown:
        return task
    number, run = min(unknown, key=lambda pair: (pair[0], pair[1].id))
    attempt = Attempt(
        number, Kind.CODE, run.created_at, started_from(record), "", run=run.id, cancelled_for=_UNKNOWN
    )
    return replace(task, record=replace(record, attempts=(*record.attempts, attempt)), unsaved=True)


def starts_seen(task: Task, config: Config, accounts: Collection[int]) -> int:
    """How often our labels say that the task was started. A label that others took away and we put back is no start."""
    label, count, taken = config.label(Status.IN_PROGRESS).casefold(), 0, False
    for event in task.issue.events:
        if (event.label or "").casefold() != label:
            continue
        ours = event.actor.id in accounts
        if event.kind is EventKind.UNLABELED:
            taken = not ours
        elif event.kind is EventKind.LABELED:
            count += ours and not taken
    return count


def with_free_key(record: Record, runs: Iterable[Run]) -> Record:
    """The record with its next key being one that no run carries: such a key is spent, whatever the record says."""
    spent = spent_by(record.task, runs) | {attempt.number for attempt in record.attempts}
    number = free_number(record.next_attempt, spent)
    return record if number == record.next_attempt else replace(record, next_attempt=number)


def spent_by(number: int, runs: Iterable[Run]) -> frozenset[int]:
    """The numbers of this task's, or batch's, keys that runs carry."""
    return frozenset(key.number for run in runs for key in keys_in(run.title) if key.task == number)


def free_number(number: int, spent: Collection[int]) -> int:
    """The first from this one on that is not spent. Anybody who may dispatch can name any key, so the highest says nothing."""
    while number in spent:
        number += 1
    return number


def _newest(task: Task, config: Config, counts: Callable[[TimelineEvent], bool]) -> TimelineEvent | None:
    """The newest event that set one of our status labels and counts; of several in one second the last."""
    found = [
        event
        for event in task.issue.events
        if event.kind is EventKind.LABELED and _status(event, config) is not None and counts(event)
    ]
    return max(reversed(found), key=lambda event: event.at, default=None)


def _status(event: TimelineEvent, config: Config) -> Status | None:
    label = (event.label or "").casefold()
    return next((status for status in Status if config.label(status).casefold() == label), None)
