"""`cf batch`: one person's order for many tasks, checked as a whole and written down as one batch issue, and later words on it.

The issue is the order: no queued run holds the only copy of it. Nothing is written unless everything is right; what this
version cannot do yet is refused, never ignored.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from bot.conductor.act import act_on
from bot.conductor.act.batches import batch_labels, state_label
from bot.conductor.act.begin import check_may_write, with_own_dashboard
from bot.conductor.act.outbox import Effects
from bot.conductor.observe import observe
from bot.conductor.observe.lookups import look_up
from bot.conductor.observe.tasks import task_of
from bot.conductor.observe.view import Observation
from bot.console.batch.inputs import Request, read_request
from bot.github.port import GitHub
from bot.model.batch import Action, Batch, BatchRecord, BatchState, Control, Order, Result, Strategy
from bot.model.change import Change, CloseIssue, CreateComment, CreateIssue, ReopenIssue
from bot.model.config import CONDUCTOR_WORKFLOW
from bot.model.errors import BotError, CannotGoOn, Refused, TryLater, UsageError, WorkflowMissing
from bot.model.issue import Account, Comment, Issue, NeedState
from bot.model.record import Approval, Record
from bot.model.ref import Ref
from bot.model.snapshot import Snapshot
from bot.model.status import Status
from bot.model.task import Task
from bot.model.unit import Kind
from bot.notation.batches import batch_body, batch_title, control_comment, read_batch, read_control
from bot.notation.quoting import quote_line
from bot.notation.tasklists import MOST_TASKS, AllReady, InMilestone, Labelled, Numbers, Term
from bot.plan.batches.lifecycle import outline_of
from bot.plan.board import Board
from bot.plan.facts.batch_controls import BatchView, batch_view_of
from bot.plan.facts.labels import meant_status
from bot.plan.facts.record_edits import reset_by_order
from bot.plan.facts.trust import Unapproved, Unknown, judge_order, may_order
from bot.plan.graph.forecast import waves
from bot.plan.graph.order import in_sequence
from bot.printing import add_to_summary, say

_NOTES = {
    Status.IN_PROGRESS: "runs already",
    Status.FAILED: "starts with fresh strikes",
    Status.BLOCKED: "waits for its answer",
    Status.DONE: "waits for its merge",
}
_PULLS = (NeedState.OPEN_PULL, NeedState.MERGED, NeedState.CLOSED_UNMERGED)
_LEFT_OUT_MOST, _NOTE = 20, 100
_RERUN = timedelta(days=31)  # GitHub lets a run be repeated for thirty days


class NotAllowed(BotError):
    """The person who asks may not order work in this repository."""


class NotNow(BotError):
    """GitHub was busy, limited or down. Unlike a tick an order is not made again by itself, so its run must end red."""


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
        perform(dry, request, now, rehearsal=True)
        say("\n".join(dry.would_have))
        return 0
    try:
        said = perform(github, request, now)
    except TryLater as error:
        raise NotNow(
            f"{error}. Please run this job again: an order that was written already is not written twice"
        ) from error
    say(f"cf: {said}")
    if summary := environ.get("GITHUB_STEP_SUMMARY"):
        add_to_summary(Path(summary), f"{said}\n")
    return 0


def perform(github: GitHub, request: Request, now: datetime, *, rehearsal: bool = False) -> str:
    """Carry out the request and wake the conductor; says in one sentence what was done.

    Raises UsageError, naming all that is wrong, NotAllowed, or NotTheConductor, before anything is written. A `rehearsal` writes
    nothing, so every account may.
    """
    seen = observe(github, now)
    if not rehearsal:
        check_may_write(seen)
    snapshot = _check_people(github, seen, request)
    seen = replace(seen, snapshot=snapshot)
    said = _ACTIONS[request.action.removesuffix("-force")](github, seen, request)
    try:
        github.dispatch(CONDUCTOR_WORKFLOW, seen.view.repository.default_branch, {})
    except (Refused, WorkflowMissing) as error:
        raise CannotGoOn(f"{said}, but the conductor could not be started: {error}") from error
    return (
        f"{said}; nothing starts for now: {snapshot.starts_blocked_by}"
        if snapshot.starts_blocked_by
        else said
    )


def _begin(github: GitHub, seen: Observation) -> Observation:
    """Right before the first write: whoever begins here, or takes over, has a dashboard that says so."""
    return with_own_dashboard(github, seen, rehearsal=bool(seen.conducts.refusal))


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


# ---------------------------------------------------------------------- later words on a batch


def _stop(github: GitHub, seen: Observation, request: Request) -> str:
    batch = _batch(github, seen, request.target)
    batch_view = _batch_view(github, seen, batch)
    if batch_view.record.state.ended or (batch.order is None and not batch.issue.is_open):
        return f"batch #{batch.number} has ended already: nothing to stop"
    if not batch.issue.is_open and batch_view.stopped and (batch_view.forced_end or not request.force):
        return f"batch #{batch.number} is stopped already"
    how = "what runs is ended" if request.force else "what runs finishes"
    control = Control(
        Action.STOP,
        request.actors[0],
        seen.view.at.replace(microsecond=0),
        request.force,
        request.run,
        batch.number,
    )
    text = f"**Stopped** by {_by(request)}. Nothing more starts; {how}."
    changes: list[Change] = (
        []
        if _was_said(github, seen, batch, control, request.again)
        else [CreateComment(batch.issue.node_id, control_comment(control, text))]
    )
    changes += [CloseIssue(batch.issue.node_id)] if batch.issue.is_open else []
    _write_all(github, seen, changes, f"batch #{batch.number} could not be stopped")
    return f"batch #{batch.number} is stopped; {how}"


def _resume(github: GitHub, seen: Observation, request: Request) -> str:
    batch = _batch(github, seen, request.target)
    number, order = batch.number, batch.order
    if order is None:
        raise UsageError(f"batch #{number} cannot be resumed: {batch.problem}. Nothing was written")
    batch_view = _batch_view(github, seen, batch)
    control = Control(
        Action.RESUME,
        request.actors[0],
        seen.view.at.replace(microsecond=0),
        request.force,
        request.run,
        batch.number,
    )
    said = _was_said(github, seen, batch, control, request.again)
    if batch.record.state is BatchState.COMPLETED:
        raise UsageError(
            f"batch #{number} has nothing to resume: every member came through. Nothing was written"
        )
    if batch.issue.is_open and (said or batch_view.owns):
        return f"batch #{number} goes on already: nothing to resume"
    _check_free(seen, order.tasks, number)
    again = ", what is done included" if request.force else ""
    text = f"**Resumed** by {_by(request)}: what did not come through goes on{again}."
    changes: list[Change] = (
        [] if said else [CreateComment(batch.issue.node_id, control_comment(control, text))]
    )
    changes += [] if batch.issue.is_open else [ReopenIssue(batch.issue.node_id)]
    _write_all(github, seen, changes, f"batch #{number} could not be resumed")
    return f"batch #{number} goes on{again}"


def _batch(github: GitHub, seen: Observation, number: int) -> Batch:
    """The batch of this number, ended or not. Raises UsageError if it is none of ours."""
    known = next((batch for batch in seen.snapshot.batches if batch.number == number), None)
    if known is not None:
        return known
    issue = github.issues([number]).get(number)
    ours = issue is not None and issue.has_label(seen.snapshot.config.label("batch"))
    batch = read_batch(issue, seen.snapshot.accounts) if issue is not None and ours else None
    if batch is None:
        raise UsageError(f"#{number} is not a batch of ours. Nothing was written")
    return batch


def _batch_view(github: GitHub, seen: Observation, batch: Batch) -> BatchView:
    """The batch as the next tick would take it: commands that no tick has heeded yet count, so that the later word wins."""
    board = Board(seen.snapshot)
    batch_view = board.batch_views.get(batch.number) or batch_view_of(batch, board.snapshot)
    if wants := board.comment_commands.wants | batch_view.wants:
        board = Board(look_up(github, seen.snapshot, wants))
        batch_view = board.batch_views.get(batch.number) or batch_view_of(batch, board.snapshot)
    return batch_view


def _was_said(github: GitHub, seen: Observation, batch: Batch, control: Control, again: bool) -> bool:
    """Whether an earlier attempt of the same run has said it."""
    kept = batch.record.control
    if kept is not None and (kept.action, kept.run) == (control.action, control.run):
        return True
    recent: Sequence[Comment] = github.comments_since(seen.view.at - _RERUN) if again else ()
    comments = (*batch.comments, *(comment for comment in recent if comment.issue == batch.number))
    found = (read_control(comment, seen.snapshot.accounts) for comment in comments)
    return any(one is not None and (one.action, one.run) == (control.action, control.run) for one in found)


def _by(request: Request) -> str:
    return f"{quote_line(request.actors[0])} in [run {request.run}](../actions/runs/{request.run})"


def _write_all(github: GitHub, seen: Observation, changes: Sequence[Change], trouble: str) -> None:
    if changes:
        _begin(github, seen)
    answers = github.write(changes) if changes else ()
    refused = [answer.error for answer in answers if answer.error]
    if refused:
        raise CannotGoOn(f"{trouble}: {'; '.join(refused)}")


# ---------------------------------------------------------------------- approving


def _approve(github: GitHub, seen: Observation, request: Request) -> str:
    """Approve tasks of the backlog, by the same writes as a tick's. Raises UsageError naming all that are not in it."""
    backlog = {
        number: task
        for number, task in seen.snapshot.tasks.items()
        if task.issue.is_open
        and meant_status(task, seen.snapshot).status is Status.BACKLOG
        and not task.record_problem
    }
    selected, notes = _select(github, seen, request.terms) if request.terms else (sorted(backlog), [])
    exact = {number for term in request.terms if isinstance(term, Numbers) for number in term.numbers}
    unfit = [number for number in sorted({*exact, *request.excluded}) if number not in backlog]
    if unfit:
        names = ", ".join(f"#{number}" for number in unfit)
        raise UsageError(
            f"{names} {'is' if len(unfit) == 1 else 'are'} not in the backlog. Nothing was approved"
        )
    chosen = [number for number in selected if number in backlog and number not in request.excluded]
    if not chosen:
        raise UsageError(
            f"no task of the backlog is left to approve: {'; '.join(notes) or 'nothing matches'}"
        )
    board = Board(seen.snapshot)
    at = seen.view.at.replace(microsecond=0)
    decisions = []
    for item in board.items:
        if item.number in chosen:
            approval = board.approval_by(item, request.actors[0], at)
            record = replace(reset_by_order(item.record), approval=approval)
            decisions.append(board.move(item, Status.READY, record, f"approved by {request.actors[0]}"))
    effects = Effects()
    seen = _begin(github, seen)
    act_on(github, decisions, seen, effects)
    done = [number for number in sorted(chosen) if number not in effects.skipped]
    if effects.refused:
        raise CannotGoOn(f"GitHub refused a write: {'; '.join(effects.refused)}")
    left = [f"#{number} was left out" for number in request.excluded]
    left += [f"#{number} changed meanwhile" for number in sorted(effects.skipped)]
    words = ", ".join(f"#{number}" for number in done)
    return f"{len(done)} approved: {words}" + (f"; {', '.join(left)}" if left else "")


def _run(github: GitHub, seen: Observation, request: Request) -> str:
    written = _written_before(github, seen, request)
    if written is not None:
        return f"batch #{written.number} holds this order already: nothing new was written"
    numbers, notes = _select(github, seen, request.terms)
    tasks = _members(github, seen, numbers)
    closed = [task.number for task in tasks if not task.issue.is_open]
    notes += [f"#{number} is closed" for number in closed]
    tasks = [task for task in tasks if task.issue.is_open]
    if not tasks:
        raise UsageError(
            f"no open task is left to run: {'; '.join(notes[:20]) or 'nothing matches'}. Nothing was written"
        )
    assert request.order is not None, "a request to run has an order"
    numbers = [task.number for task in tasks]
    _check_free(seen, numbers)
    shown = [note[:_NOTE] for note in notes[:_LEFT_OUT_MOST]]
    shown += [f"and {len(notes) - _LEFT_OUT_MOST} more"] if len(notes) > _LEFT_OUT_MOST else []
    at = seen.view.at.replace(microsecond=0)
    order = replace(request.order, at=at, tasks=tuple(numbers), left_out=tuple(shown))
    return _write(github, seen, order, tasks, notes)


def _written_before(github: GitHub, seen: Observation, request: Request) -> Batch | None:
    """The batch that an earlier attempt of the same run wrote, also if it has ended since."""
    label, accounts = seen.snapshot.config.label("batch"), seen.snapshot.accounts
    closed: Iterable[Issue] = github.labelled(label, closed=True) if request.again else ()
    ended = (batch for issue in closed if (batch := read_batch(issue, accounts)) is not None)
    batches = (*seen.snapshot.batches, *ended)
    return next((batch for batch in batches if batch.order and batch.order.run == request.run), None)


def _select(github: GitHub, seen: Observation, terms: Sequence[Term]) -> tuple[list[int], list[str]]:
    """The numbers that the terms name, each once in the order written, and what was left out."""
    numbers: list[int] = []
    notes: list[str] = []
    for term in terms:
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
            case InMilestone(milestone):
                inside = github.in_milestone(milestone)
                if not inside:
                    notes.append(f"no open issue is in the milestone {quote_line(milestone, 60)}")
                numbers += inside
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


def _check_free(seen: Observation, numbers: Sequence[int], own: int = 0) -> None:
    """A task belongs to one batch at a time. Raises UsageError naming all that belong to another than `own`."""
    batches = Board(seen.snapshot).batches
    taken = [
        f"#{number} is a member of batch #{batches[number].number}"
        for number in numbers
        if number in batches and batches[number].number != own
    ]
    if taken:
        raise UsageError(f"the order is refused as a whole: {'; '.join(taken)}. Nothing was written")


def _write(
    github: GitHub, seen: Observation, order: Order, tasks: Sequence[Task], notes: Sequence[str]
) -> str:
    config = seen.snapshot.config
    record = BatchRecord(config=config.blob)
    board = Board(
        replace(seen.snapshot, tasks={**seen.snapshot.tasks, **{task.number: task for task in tasks}})
    )
    results = _results(order, tasks, board)
    outline = outline_of(order, order.strategy is Strategy.SERIAL, order.tasks, {}, board)
    interval = config.reconcile_interval if order.chosen.reconcile is None else order.chosen.reconcile
    body = batch_body(order, record, results, outline, interval)
    labels = (config.label("batch"), state_label(record.state, config))
    _begin(github, seen)
    github.ensure_labels(batch_labels(config))
    (said,) = github.write([CreateIssue(batch_title(order), body, labels)])
    if said.error:
        raise CannotGoOn(f"the batch issue could not be written: {said.error}")
    left_out = f"; left out: {', '.join(notes[:20])}" if notes else ""
    planned = "planned" if order.dry_run else "written"
    return (
        f"batch #{said.number} is {planned} with {len(tasks)} task{'s' if len(tasks) != 1 else ''}{left_out}"
    )


def _results(order: Order, tasks: Sequence[Task], board: Board) -> list[Result]:
    """The plan: in a serial batch in the order of their turns, else as written."""
    line = in_sequence(order.tasks, board.graph) if order.strategy is Strategy.SERIAL else order.tasks
    wave = waves(order.tasks, board.graph)
    by_number = {task.number: task for task in tasks}
    return [
        replace(_result(by_number[number], board), place=place, wave=wave.get(number, 0))
        for place, number in enumerate(line, start=1)
    ]


def _result(task: Task, board: Board) -> Result:
    status = board.meant[task.number].status
    needs = ", ".join(
        f"#{need.number}" if need.repository == board.home else str(need) for need in task.needs
    )
    notes = [_NOTES[status]] if status in _NOTES else []
    notes += [f"needs {needs}"] if needs else []
    return Result(
        task.number,
        task.issue.title,
        str(status or "new"),
        attempts=sum(attempt.kind is Kind.CODE for attempt in task.record.attempts),
        pull=task.record.pull,
        reason="; ".join(notes),
    )


_ACTIONS = {"run": _run, "stop": _stop, "resume": _resume, "approve": _approve}
