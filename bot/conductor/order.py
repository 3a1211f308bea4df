"""`cf batch`: one person's order for many tasks, checked as a whole and written down as one batch issue.

The issue is the order: no queued run holds the only copy of it. Nothing is written unless everything is right; what this
version cannot do yet is refused, never ignored.
"""

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bot.conductor.observe import Observation, look_up, observe, task_of
from bot.github.port import GitHub
from bot.model.batch import Batch, Order, Strategy
from bot.model.change import CloseIssue, CreateComment, CreateIssue
from bot.model.config import CONDUCTOR_WORKFLOW
from bot.model.decision import Notice
from bot.model.errors import BotError, CannotGoOn, Refused, TryLater, UsageError, WorkflowMissing
from bot.model.issue import Account, Issue, NeedState
from bot.model.record import Approval, Record
from bot.model.ref import Ref
from bot.model.snapshot import Snapshot
from bot.model.status import Status
from bot.model.task import Task
from bot.notation.batches import (
    MOST_TASKS,
    AllReady,
    InMilestone,
    Labelled,
    Numbers,
    Row,
    Term,
    batch_body,
    batch_title,
    beyond_defaults,
    read_batch,
    read_options,
    read_tasks,
)
from bot.notation.comments import notice_comment, read_fingerprint
from bot.notation.quoting import quote_line
from bot.plan.batches import in_sequence
from bot.plan.graph import Graph
from bot.plan.labels import meant_status
from bot.plan.trust import Unapproved, Unknown, judge_order, may_order

_LABEL = ("1d76db", "an order for many tasks; closing it stops the batch")
_ACTIONS = ("run", "stop", "stop-force", "resume", "resume-force", "approve", "spec")
_NOTES = {
    Status.IN_PROGRESS: "runs already",
    Status.FAILED: "starts with fresh strikes",
    Status.BLOCKED: "waits for its answer",
    Status.DONE: "waits for its merge",
}
_PULLS = (NeedState.OPEN_PULL, NeedState.MERGED, NeedState.CLOSED_UNMERGED)


class NotAllowed(BotError):
    """The person who asks may not order work in this repository."""


class NotNow(BotError):
    """GitHub was busy, limited or down. Unlike a tick an order is not made again by itself, so its run must end red."""


class Request(Struct, frozen=True):
    """What the ten inputs and Actions' own variables say, already judged. `terms` is empty for stop, `target` 0 for run."""

    action: str
    actors: tuple[str, ...]  # who asks; of a re-run also who asked first
    run: int
    again: bool  # an earlier attempt of this run may have written the batch
    terms: tuple[Term, ...] = ()
    strategy: Strategy = Strategy.PARALLEL
    max_parallel: int | None = None
    target: int = 0


def carry_out(environ: Mapping[str, str], *, dry_run: bool) -> int:
    """Carry out one order in GITHUB_REPOSITORY.

    Raises UsageError for a wrong order, NotAllowed for the wrong person, NotNow if the same order must be given again.
    """
    from bot.github.client import connect

    request = read_request(environ)
    github: GitHub = connect(environ)
    now = datetime.now(UTC)
    if dry_run:
        from bot.github.dry_run import DryRun

        dry = DryRun(github)
        obey(dry, request, now)
        _say("\n".join(dry.would_have))
        return 0
    try:
        said = obey(github, request, now)
    except TryLater as error:
        raise NotNow(
            f"{error}. Please run this job again: an order that was written already is not written twice"
        ) from error
    _say(f"cf: {said}")
    if summary := environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(f"{said}{os.linesep}")
    return 0


def _say(text: str) -> None:
    """Our own lines; words of others in them must not be read as a workflow command."""
    sys.stdout.write(text.replace("::", ": :").replace("##[", "## [") + "\n")


# ---------------------------------------------------------------------- the request


def read_request(environ: Mapping[str, str]) -> Request:
    """The request in the environment. Raises UsageError naming everything that is wrong, or not there yet."""
    given = {
        key.removeprefix("CF_BATCH_").lower(): value.strip()
        for key, value in environ.items()
        if key.startswith("CF_BATCH_")
    }
    action = given.get("action") or "run"
    actors = tuple(
        dict.fromkeys(filter(None, (environ.get("GITHUB_TRIGGERING_ACTOR"), environ.get("GITHUB_ACTOR"))))
    )
    run_id = environ.get("GITHUB_RUN_ID", "")
    problems: list[str] = []
    if action not in _ACTIONS:
        problems.append(f"the action must be run or stop and is `{quote_line(action, 40)}`")
    elif action not in ("run", "stop"):
        problems.append(f"the action `{action}` is not there yet; run and stop are")
    if not actors:
        problems.append("GITHUB_ACTOR does not say who asks")
    if not re.fullmatch("[1-9][0-9]{0,18}", run_id, re.ASCII):
        problems.append("GITHUB_RUN_ID does not say which run asks")
    request = Request(
        action, actors, int(run_id) if not problems else 0, environ.get("GITHUB_RUN_ATTEMPT") != "1"
    )
    if problems:
        raise UsageError("; ".join(problems))
    return _stop_request(request, given) if action == "stop" else _run_request(request, given)


def _stop_request(request: Request, given: Mapping[str, str]) -> Request:
    target = re.fullmatch("#?([1-9][0-9]{0,9})", given.get("target", ""), re.ASCII)
    if target is None:
        raise UsageError("stop needs the number of a batch issue as its target, like 30")
    surplus = [name for name in ("tasks", "options") if given.get(name)]
    if surplus:
        raise UsageError(f"stop takes a target only, and no {' or '.join(surplus)}")
    return replace(request, target=int(target[1]))


def _run_request(request: Request, given: Mapping[str, str]) -> Request:
    problems: list[str] = []
    if given.get("target"):
        problems.append("run takes no target; the tasks go into the list of tasks")
    terms: tuple[Term, ...] = ()
    try:
        terms = read_tasks(given.get("tasks", ""))
    except UsageError as error:
        problems.append(str(error))
    try:
        later = [f"the option {option}" for option in beyond_defaults(read_options(given.get("options", "")))]
    except UsageError as error:
        problems.append(str(error))
        later = []
    later += [
        f"milestone:{quote_line(term.milestone, 40)}" for term in terms if isinstance(term, InMilestone)
    ]
    strategy = given.get("strategy") or "parallel"
    problems += _choice("strategy", strategy, ("parallel", "serial"), ("auto",), later)
    problems += _choice("on_failure", given.get("on_failure") or "continue", ("continue",), ("stop",), later)
    problems += _choice("dry_run", (given.get("dry_run") or "false").lower(), ("false",), ("true",), later)
    retries = given.get("max_retries") or "0"
    if not _is_number(retries):
        problems.append(f"max_retries must be a whole number and is `{quote_line(retries, 40)}`")
    elif int(retries):
        later.append(f"max_retries {retries}")
    if given.get("engine"):
        later.append(f"engine {quote_line(given['engine'], 40)}")
    limit = given.get("max_parallel") or ""
    if limit and (not _is_number(limit) or not int(limit)):
        problems.append(
            f"max_parallel must be a whole number of at least 1, or empty, and is `{quote_line(limit, 40)}`"
        )
    if later:
        problems.append(f"not there yet: {', '.join(later)}")
    if problems:
        raise UsageError("; ".join(problems))
    return replace(
        request, terms=terms, strategy=Strategy(strategy), max_parallel=int(limit) if limit else None
    )


def _choice(
    name: str, value: str, there: Sequence[str], planned: Sequence[str], later: list[str]
) -> list[str]:
    """A problem if the value is none of those that exist; those that are only planned go to `later`."""
    if value in planned:
        later.append(f"{name} {value}")
    elif value not in there:
        return [f"{name} must be {' or '.join((*there, *planned))} and is `{quote_line(value, 40)}`"]
    return []


def _is_number(text: str) -> bool:
    return re.fullmatch("[0-9]{1,6}", text, re.ASCII) is not None


# ---------------------------------------------------------------------- obeying it


def obey(github: GitHub, request: Request, now: datetime) -> str:
    """Carry out the request and wake the conductor; says in one sentence what was done.

    Raises UsageError, naming all that is wrong, or NotAllowed, before anything is written.
    """
    seen = observe(github, now)
    snapshot = _check_people(github, seen, request)
    seen = replace(seen, snapshot=snapshot)
    said = _stop(github, seen, request) if request.action == "stop" else _run(github, seen, request)
    try:
        github.dispatch(CONDUCTOR_WORKFLOW, seen.view.repository.default_branch, {})
    except (Refused, WorkflowMissing) as error:
        raise CannotGoOn(f"{said}, but the conductor could not be started: {error}") from error
    return f"{said}; nothing starts for now: {snapshot.standstill}" if snapshot.standstill else said


def _check_people(github: GitHub, seen: Observation, request: Request) -> Snapshot:
    """The snapshot, knowing the permissions of those who ask. Raises NotAllowed unless each may order work."""
    snapshot, viewer = seen.snapshot, seen.view.viewer
    for login in request.actors:
        asks = viewer if login == viewer.login else Account(-1, login, is_bot=login.endswith("[bot]"))
        allowed = may_order(asks, snapshot)
        if isinstance(allowed, Unknown):
            snapshot = look_up(github, snapshot, allowed.wants)
            allowed = may_order(asks, snapshot)
        if allowed is not True:
            need = snapshot.config.trust.permission
            raise NotAllowed(
                f"{login} may not order work here: that takes {need} permission, of a person. Nothing was written"
            )
    return snapshot


def _stop(github: GitHub, seen: Observation, request: Request) -> str:
    batch = next((batch for batch in seen.snapshot.batches if batch.number == request.target), None)
    if batch is None:
        return _not_running(github, seen, request.target)
    fingerprint = f"batch-stop:{request.run}"
    by = quote_line(request.actors[0])
    text = f"**Stopped** by {by} in [run {request.run}](../actions/runs/{request.run}). Nothing more starts; what runs finishes."
    posted = any(
        comment.author.id in seen.snapshot.accounts and read_fingerprint(comment.body) == fingerprint
        for comment in batch.issue.comments
    )
    comment = CreateComment(batch.issue.node_id, notice_comment(Notice(fingerprint, text)))
    answers = github.write([*([] if posted else [comment]), CloseIssue(batch.issue.node_id)])
    if answers[-1].error:
        raise CannotGoOn(f"batch #{batch.number} could not be closed: {answers[-1].error}")
    return f"batch #{batch.number} is stopped; what runs finishes"


def _not_running(github: GitHub, seen: Observation, number: int) -> str:
    issue = github.issues([number]).get(number)
    ours = issue is not None and issue.has_label(seen.snapshot.config.label("batch"))
    if issue is None or not ours or read_batch(issue, seen.snapshot.accounts) is None:
        raise UsageError(f"#{number} is not a batch of ours. Nothing was written")
    return f"batch #{number} has ended already: nothing to stop"


def _run(github: GitHub, seen: Observation, request: Request) -> str:
    written = _written_before(github, seen, request)
    if written is not None:
        return f"batch #{written.number} holds this order already: nothing new was written"
    numbers, notes = _select(github, seen, request)
    tasks = _members(github, seen, numbers)
    closed = [task.number for task in tasks if not task.issue.is_open]
    notes += [f"#{number} is closed" for number in closed]
    tasks = [task for task in tasks if task.issue.is_open]
    if not tasks:
        raise UsageError(
            f"no open task is left to run: {'; '.join(notes[:20]) or 'nothing matches'}. Nothing was written"
        )
    _check_free(seen, tasks)
    order = Order(
        request.run,
        request.actors[0],
        seen.view.at.replace(microsecond=0),
        tuple(task.number for task in tasks),
        request.strategy,
        request.max_parallel,
    )
    return _write(github, seen, order, tasks, notes)


def _written_before(github: GitHub, seen: Observation, request: Request) -> Batch | None:
    """The batch that an earlier attempt of the same run wrote, also if it has ended since."""
    label, accounts = seen.snapshot.config.label("batch"), seen.snapshot.accounts
    closed: Iterable[Issue] = github.labelled(label, closed=True) if request.again else ()
    ended = (batch for issue in closed if (batch := read_batch(issue, accounts)) is not None)
    batches = (*seen.snapshot.batches, *ended)
    return next((batch for batch in batches if batch.order and batch.order.run == request.run), None)


def _select(github: GitHub, seen: Observation, request: Request) -> tuple[list[int], list[str]]:
    """The numbers that the terms name, each once in the order written, and what was left out."""
    numbers: list[int] = []
    notes: list[str] = []
    for term in request.terms:
        match term:
            case Numbers(named):
                numbers += named
            case Labelled(label):
                found = [issue.number for issue in github.labelled(label) if not _is_own(issue, seen)]
                if not found:
                    notes.append(f"no open issue is labelled {quote_line(label, 60)}")
                numbers += found
            case AllReady():
                approved, left_out = _approved_ready(github, seen)
                numbers += approved
                notes += left_out
            case InMilestone():  # refused by read_request
                raise UsageError("milestone: is not there yet")
    unique = list(dict.fromkeys(numbers))
    if len(unique) > MOST_TASKS:
        raise UsageError(
            f"{len(unique)} tasks are named; one batch holds at most {MOST_TASKS}. Nothing was written"
        )
    return unique, notes


def _approved_ready(github: GitHub, seen: Observation) -> tuple[list[int], list[str]]:
    """Tasks labelled ready. `ready` names nobody's task by its number, so it approves none that was not approved before."""
    snapshot = seen.snapshot
    ready = [
        task
        for task in snapshot.tasks.values()
        if task.issue.is_open and meant_status(task, snapshot).status is Status.READY
    ]
    verdicts = {task.number: judge_order(task, task.record, snapshot) for task in ready}
    while wants := frozenset().union(
        *(verdict.wants for verdict in verdicts.values() if isinstance(verdict, Unknown))
    ):
        snapshot = look_up(github, snapshot, wants)
        verdicts = {task.number: judge_order(task, task.record, snapshot) for task in ready}
    approved = sorted(number for number, verdict in verdicts.items() if isinstance(verdict, Approval))
    notes = [
        f"#{number} is ready but not approved: {verdict.reason}"
        for number, verdict in sorted(verdicts.items())
        if isinstance(verdict, Unapproved)
    ]
    if not approved:
        notes.append("no approved task is ready")
    return approved, notes


def _is_own(issue: Issue, seen: Observation) -> bool:
    """Dashboard and batch issues are the conductor's own."""
    labels = (seen.snapshot.config.label("dashboard"), seen.snapshot.config.label("batch"))
    return any(issue.has_label(label) for label in labels)


def _members(github: GitHub, seen: Observation, numbers: Sequence[int]) -> list[Task]:
    """The tasks with these numbers, in this order. Raises UsageError naming all that are none."""
    known = seen.snapshot.tasks
    more = [number for number in numbers if number not in known]
    found = github.issues(more) if more else {}
    missing = [number for number in more if number not in found]
    problems = _missing(github, seen, missing) if missing else []
    problems += [
        f"#{number} is the conductor's own issue"
        for number in more
        if number in found and _is_own(found[number], seen)
    ]
    if problems:
        raise UsageError(f"the order is refused as a whole: {'; '.join(problems)}. Nothing was written")
    config = seen.snapshot.config
    return [
        known.get(number) or task_of(found[number], None, Record(number), "", seen.view, config)
        for number in numbers
    ]


def _missing(github: GitHub, seen: Observation, numbers: Sequence[int]) -> list[str]:
    """What is wrong with numbers that are no issues. Raises TryLater if GitHub does not say for now."""
    refs = {number: Ref(seen.view.repository.full_name, number) for number in numbers}
    states = github.needs(list(refs.values()))
    problems = []
    for number, ref in refs.items():
        state = states.get(ref, NeedState.UNKNOWN)
        if state is NeedState.UNKNOWN:
            raise TryLater(f"GitHub does not say for now what #{number} is. Nothing was written")
        problems.append(f"#{number} is a pull request" if state in _PULLS else f"#{number} does not exist")
    return problems


def _check_free(seen: Observation, tasks: Sequence[Task]) -> None:
    """A task belongs to one batch at a time. Raises UsageError naming all that belong to another."""
    owner = {
        number: batch.number for batch in seen.snapshot.batches if batch.order for number in batch.order.tasks
    }
    taken = [
        f"#{task.number} is a member of batch #{owner[task.number]}" for task in tasks if task.number in owner
    ]
    if taken:
        raise UsageError(f"the order is refused as a whole: {'; '.join(taken)}. Nothing was written")


def _write(
    github: GitHub, seen: Observation, order: Order, tasks: Sequence[Task], notes: Sequence[str]
) -> str:
    config = seen.snapshot.config
    body = batch_body(order, _rows(order, tasks, seen), notes)
    github.ensure_labels({config.label("batch"): _LABEL})
    (said,) = github.write([CreateIssue(batch_title(order), body, (config.label("batch"),))])
    if said.error:
        raise CannotGoOn(f"the batch issue could not be written: {said.error}")
    left_out = f"; left out: {', '.join(notes[:20])}" if notes else ""
    return f"batch #{said.number} is written with {len(tasks)} task{'s' if len(tasks) != 1 else ''}{left_out}"


def _rows(order: Order, tasks: Sequence[Task], seen: Observation) -> list[Row]:
    """The plan: in a serial batch in the order of their turns, else as written."""
    home = seen.snapshot.repository.full_name.lower()
    needs = {task.number: [need.number for need in task.needs if need.repository == home] for task in tasks}
    serial = order.strategy is Strategy.SERIAL
    by_number = {task.number: task for task in tasks}
    return [
        _row(by_number[number], seen)
        for number in (in_sequence(order.tasks, Graph(needs)) if serial else order.tasks)
    ]


def _row(task: Task, seen: Observation) -> Row:
    status = meant_status(task, seen.snapshot).status
    home = seen.snapshot.repository.full_name.lower()
    needs = ", ".join(f"#{need.number}" if need.repository == home else str(need) for need in task.needs)
    notes = [_NOTES[status]] if status in _NOTES else []
    notes += [f"needs {needs}"] if needs else []
    return Row(task.number, task.issue.title, str(status or "new"), "; ".join(notes))
