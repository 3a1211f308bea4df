"""Read all that a plan is made from, in as few requests as possible."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

from msgspec.structs import replace

from bot.conductor.observe.checkboxes import pause_words, read_boxes, with_boxes
from bot.conductor.observe.lookups import look_up
from bot.conductor.observe.lost_records import with_lost_records
from bot.conductor.observe.runs import (
    RUNS_WINDOW,
    live_attempts,
    orphaned_runs,
    recent_artifacts,
    tasks_named_by,
    with_recorded_runs,
    worker_runs,
)
from bot.conductor.observe.tasks import (
    by_issue,
    native_needs,
    read_tasks,
    with_inferred_needs,
    with_own_needs,
    with_posted_notices,
)
from bot.conductor.observe.view import FIRST_WINDOW, Observation, open_dashboards, read_view
from bot.github.port import Reader
from bot.model.batch import Batch
from bot.model.config import WORKER_WORKFLOW, Config
from bot.model.engine import RepositorySettings
from bot.model.errors import TryLater
from bot.model.issue import Comment, Issue
from bot.model.record import Proposed, Spent
from bot.model.snapshot import (
    Snapshot,
)
from bot.model.task import Task
from bot.model.view import View
from bot.notation.batches import read_batch
from bot.notation.codec import Unreadable
from bot.notation.commands import read_commands
from bot.notation.comments import read_fingerprint, replied_to
from bot.notation.records import read_record
from bot.notation.state import State
from bot.plan.starts.budgets import day_of, spent_today


def observe(
    github: Reader, now: datetime, settings: RepositorySettings = RepositorySettings()
) -> Observation:
    """One look at the repository. Raises what the port raises."""
    runs, missing = worker_runs(github, now - RUNS_WINDOW)
    view, config, problem, state, dashboard = read_view(github, now, tasks_named_by(runs))
    accounts = frozenset({view.viewer.id, *config.also})
    comments = github.comments_since(state.comments_since if state else now - FIRST_WINDOW)
    acted = _seen_to(comments, state, accounts)
    # Installation sets the first cursor, and what was written before it orders nothing.
    orders_after = None if state else now
    view = _with_asked_for(github, view, _ordered_on(comments, acted, orders_after, accounts, config))
    batches = _batches(view.issues, accounts, config, comments)
    issues, others = _tracked(github, view, state, batches, config)
    tasks = read_tasks(github, issues, comments, view, state, config, accounts)
    tasks = with_lost_records(github, tasks, runs, config, accounts)
    _check_ended_batches(github, tasks, batches, config)
    dashboards = open_dashboards(view, config.prefix)
    tasks = with_posted_notices(tasks, comments, accounts)
    tasks = with_own_needs(tasks, view.repository.full_name, config)
    tasks = with_inferred_needs(tasks, batches, view.repository.full_name)
    live = live_attempts(tasks, batches)
    runs = with_recorded_runs(github, runs, live, now)
    snapshot = Snapshot(
        now=now,
        repository=view.repository,
        config=config,
        accounts=accounts,
        tasks=tasks,
        runs=runs,
        artifacts=recent_artifacts(github, live),
        comments=by_issue(comments),
        needs=native_needs(issues),
        batches=batches,
        others=others,
        orders_after=orders_after,
        acted=acted,
        settings=settings,
        spent=_spent(state, comments, now, accounts),
        orphans=orphaned_runs(github, runs, tasks, {batch.number for batch in batches}),
        remembered=state.verdicts if state else {},
        fixed=state.fixed if state else {},
        proposed=state.proposed if state else Proposed(),
        baselines=state.baselines if state else {},
    )
    snapshot, boxes = read_boxes(dashboard, snapshot, partial(look_up, github))
    paused = pause_words(dashboards, snapshot, boxes, state.paused_for if state else "")
    snapshot = replace(
        with_boxes(snapshot, boxes, dashboard),
        starts_blocked_by=problem or _missing_words(view, missing) or paused,
    )
    latest = max((comment.updated_at for comment in comments), default=None)
    return Observation(
        view,
        snapshot,
        state,
        dashboard,
        latest,
        misconfigured=bool(problem),
        spare_dashboards=tuple(
            issue for issue in dashboards[1:] if not issue.has_label(config.label("pause"))
        ),
        boxes=boxes,
    )


def _spent(
    state: State | None, comments: Sequence[Comment], now: datetime, accounts: frozenset[int]
) -> Mapping[str, Spent]:
    """What attempts used up today, as the dashboard and recent status comments tell, those on closed issues included."""
    records = []
    for comment in comments:
        try:
            record = read_record(comment, comment.issue, accounts)
        except Unreadable:
            continue
        records += [record] if record is not None else []
    known = state.spent if state is not None and state.day == str(day_of(now)) else {}
    return spent_today(records, known, now)


def _batches(
    issues: Iterable[Issue], accounts: frozenset[int], config: Config, recent: Sequence[Comment]
) -> tuple[Batch, ...]:
    """Our batches that have not ended, or whose issue is open, oldest first."""
    said = by_issue(recent)
    labelled = (issue for issue in issues if issue.has_label(config.label("batch")))
    found = (read_batch(issue, accounts, said.get(issue.number, ())) for issue in labelled)
    return tuple(sorted((batch for batch in found if batch is not None), key=lambda batch: batch.number))


def _check_ended_batches(
    github: Reader, tasks: Mapping[int, Task], batches: Sequence[Batch], config: Config
) -> None:
    """Ask once more about batches that are not in the view, before their members are sent to the backlog.

    Raises TryLater if one is open after all: then the lists are behind, and members of it may be missing, too.
    """
    ready = [
        task for task in tasks.values() if task.issue.is_open and task.issue.has_label(config.label("ready"))
    ]
    unseen = {task.record.batch for task in ready} - {batch.number for batch in batches} - {0}
    for issue in github.issues(sorted(unseen)).values() if unseen else ():
        if issue.is_open and issue.has_label(config.label("batch")):
            raise TryLater(f"GitHub's lists are behind: they do not show the open batch #{issue.number} yet")


def _seen_to(comments: Iterable[Comment], state: State | None, accounts: Collection[int]) -> frozenset[int]:
    """Comments whose commands were seen to: so the state says, or a reply of ours, if the tick died before it wrote the state."""
    answered = (
        replied_to(read_fingerprint(comment.body)) for comment in comments if comment.author.id in accounts
    )
    return frozenset({*(state.acted if state else ()), *answered} - {0})


def _ordered_on(
    comments: Iterable[Comment],
    acted: Collection[int],
    since: datetime | None,
    accounts: Collection[int],
    config: Config,
) -> frozenset[int]:
    """The issues on which a command stands that was not seen to yet, whatever their labels and state."""
    return frozenset(
        comment.issue
        for comment in comments
        if not (comment.on_pull or comment.id in acted or comment.author.is_bot)
        and comment.author.id not in accounts
        and (since is None or comment.created_at >= since)
        and read_commands(comment.body, config.prefix)
    )


def _with_asked_for(github: Reader, view: View, ordered: frozenset[int]) -> View:
    """The view with the issues that commands stand on, whatever their labels and state: an ended batch that is resumed."""
    more = ordered - {issue.number for issue in view.issues}
    found = github.issues(sorted(more)) if more else {}
    return (
        replace(view, issues=(*view.issues, *(found[number] for number in sorted(found)))) if found else view
    )


def _tracked(
    github: Reader, view: View, state: State | None, batches: Sequence[Batch], config: Config
) -> tuple[dict[int, Issue], dict[int, Issue]]:
    """Every tracked issue by number, and those of ours that are no tasks.

    Some are named only by the index of records or by a batch.
    """
    special = (config.label("dashboard"), config.label("batch"))
    own = {issue.number: issue for issue in view.issues if any(issue.has_label(name) for name in special)}
    issues = {issue.number: issue for issue in view.issues if not issue.is_pull and issue.number not in own}
    named = {int(number) for number in (state.records if state else {})}
    named |= {number for batch in batches if batch.order for number in batch.order.tasks}
    more = named - issues.keys() - own.keys()
    for number, issue in (github.issues(sorted(more)) if more else {}).items():
        (own if any(issue.has_label(name) for name in special) else issues)[number] = issue
    return issues, own


def _missing_words(view: View, missing: bool) -> str:
    if not missing:
        return ""
    return f"nothing can start: .github/workflows/{WORKER_WORKFLOW} is missing from the branch {view.repository.default_branch}"
