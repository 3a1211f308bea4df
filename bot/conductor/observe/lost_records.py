"""Tasks that ran before and have no record to show for it: their dashboard or their status comment was deleted.

A lost record must not start its keys from 1 again: the run of an old key would be taken for the new attempt's. So the record is
searched for, and where it is gone for good it is pieced together from the runs, with an end for the one that still lives.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from bot.github.port import Reader
from bot.model.config import WORKER_WORKFLOW, Config
from bot.model.errors import WorkflowMissing
from bot.model.issue import Comment, EventKind, TimelineEvent
from bot.model.record import Attempt, Record
from bot.model.run import Run
from bot.model.status import Status
from bot.model.task import Task
from bot.model.unit import Kind
from bot.notation.codec import Unreadable
from bot.notation.keys import keys_in
from bot.notation.records import read_record

CLOCKS = timedelta(minutes=15)  # how far our clock and GitHub's may be apart
_GONE = (
    "its record is gone: the status comment was deleted, or is by an account that identity.also does not name"
)


def with_lost_records(
    github: Reader,
    tasks: Mapping[int, Task],
    recent: Sequence[Run],
    config: Config,
    accounts: Collection[int],
) -> dict[int, Task]:
    """The tasks, those whose record is missing with what can be found of it. Costs requests only where one is missing.

    That a task ran before is told by our labels on it, and by the recent runs.
    """
    ran: dict[int, datetime] = {}
    for run in recent:
        ran |= {
            key.task: max(run.created_at, ran.get(key.task, run.created_at)) for key in keys_in(run.title)
        }
    begun = {
        number: starts
        for number, task in tasks.items()
        if task.comment is None
        and task.issue.is_open
        and ((starts := _starts(task, config, accounts)) or number in ran)
    }
    if not begun:
        return dict(tasks)
    # A record is written before its run is dispatched and before our labels, so it was changed no earlier than 15 min before.
    since = min(starts[-1].at if starts else ran[number] for number, starts in begun.items()) - CLOCKS
    found = _records(github.comments_since(since), begun, accounts)
    lost = {number: tasks[number] for number in begun if number not in found}
    runs = _runs(github, min(task.issue.created_at for task in lost.values())) if lost else ()
    pieced = {
        number: replace(task, record=_pieced(number, len(begun[number]), runs), unsaved=True)
        for number, task in lost.items()
    }
    return {**tasks, **{number: replace(tasks[number], **held) for number, held in found.items()}, **pieced}


def _starts(task: Task, config: Config, accounts: Collection[int]) -> list[TimelineEvent]:
    """The times that we called it in progress, oldest first."""
    label = config.label(Status.IN_PROGRESS).casefold()
    return [
        event
        for event in task.issue.events
        if event.kind is EventKind.LABELED
        and event.actor.id in accounts
        and (event.label or "").casefold() == label
    ]


def _records(
    comments: Iterable[Comment], wanted: Collection[int], accounts: Collection[int]
) -> dict[int, dict[str, object]]:
    """The oldest record comment of each wanted task, as the fields of its task."""
    found: dict[int, dict[str, object]] = {}
    for comment in sorted(comments, key=lambda comment: comment.id):
        number = comment.issue
        if number not in wanted or number in found:
            continue
        try:
            record = read_record(comment, number, accounts)
        except Unreadable as error:
            found[number] = {"comment": comment, "record_problem": f"its record cannot be read: {error}"}
            continue
        if record is not None:
            found[number] = {"comment": comment, "record": record}
    return found


def _runs(github: Reader, since: datetime) -> Sequence[Run]:
    try:
        return github.runs(WORKER_WORKFLOW, since)
    except WorkflowMissing:
        return ()


def _pieced(task: int, starts: int, runs: Iterable[Run]) -> Record:
    """A record that goes on counting where the lost one ended. A run that still lives is nobody's now, and is ended."""
    carrying = [(key.number, run) for run in runs for key in keys_in(run.title) if key.task == task]
    newest = max([starts, *(number for number, _ in carrying)])
    live = min(
        ((number, run) for number, run in carrying if not run.ended),
        key=lambda pair: (-pair[0], pair[1].id),
        default=None,
    )
    if live is None:
        return Record(task, next_attempt=newest + 1)
    number, run = live
    attempt = Attempt(number, Kind.CODE, run.created_at, Status.READY, "", run=run.id, cancelled_for=_GONE)
    return Record(task, (attempt,), next_attempt=newest + 1, status=Status.IN_PROGRESS)
