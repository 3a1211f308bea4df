"""Read all that a plan is made from, in as few requests as possible."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from bot.conductor.advice import Advise, Advisor, no_advice
from bot.conductor.boxes import Boxes, pause_words, read_boxes, with_boxes
from bot.conductor.lost import CLOCKS, with_lost_records
from bot.github.archives import read_member
from bot.github.port import Reader
from bot.model.advice import Brief, Proposal
from bot.model.batch import Batch
from bot.model.config import WORKER_WORKFLOW, Config
from bot.model.engine import Around
from bot.model.errors import CannotGoOn, NotFound, Refused, TryLater, UsageError, WorkflowMissing
from bot.model.issue import Comment, Issue, NeedState
from bot.model.record import Attempt, Proposed, Record, Spent
from bot.model.ref import Ref
from bot.model.report import Report
from bot.model.run import Artifact, Run
from bot.model.snapshot import (
    AnnotationsOf,
    Classify,
    InferNeeds,
    JobsOf,
    Lookup,
    NeedOf,
    Permission,
    ReportIn,
    Snapshot,
)
from bot.model.task import Task
from bot.model.view import View
from bot.notation.batches import read_batch
from bot.notation.codec import Unreadable
from bot.notation.commands import read_commands
from bot.notation.comments import read_fingerprint, replied_to
from bot.notation.config import guess_prefix, read_config
from bot.notation.estimate import read_traits
from bot.notation.keys import keys_in
from bot.notation.needs import read_needs
from bot.notation.records import read_record
from bot.notation.reports import REPORT_FILE, read_report
from bot.notation.state import State, read_state
from bot.plan.starts.budgets import day_of, spent_today

DEFAULT_PREFIX = "cf"
_RUNS_WINDOW = timedelta(hours=6)  # older live runs are read one by one, by their recorded id
_DONE_WINDOW = timedelta(days=1)  # closed tasks labelled done; the index of records finds older ones
_FIRST_WINDOW = timedelta(days=1)  # a first tick may have died before it made the dashboard
_BRIEF = 1_000  # characters of a description that a model reads to infer needs
_REPORT_MOST = 2_000_000  # bytes of an unpacked report; a report is a few kilobytes


class Observation(Struct, frozen=True):
    """A snapshot, and what acting needs beside it. `state` is None on the first tick ever.

    `misconfigured`: the configuration cannot be read, so its prefix is at best guessed. `spare_dashboards` are younger ones of
    ours beside `dashboard`.
    """

    view: View
    snapshot: Snapshot
    state: State | None
    dashboard: Issue | None
    latest_comment: datetime | None
    misconfigured: bool = False
    spare_dashboards: tuple[Issue, ...] = ()
    boxes: Boxes | None = None


def observe(github: Reader, now: datetime, around: Around = Around()) -> Observation:
    """One look at the repository. Raises what the port raises."""
    runs, missing = _worker_runs(github, now - _RUNS_WINDOW)
    view, config, problem, state, dashboard = _view(github, now, _named_by(runs))
    accounts = frozenset({view.viewer.id, *config.also})
    comments = github.comments_since(state.comments_since if state else now - _FIRST_WINDOW)
    acted = _seen_to(comments, state, accounts)
    # Installation sets the first cursor, and what was written before it orders nothing.
    orders_after = None if state else now
    view = _with_asked_for(github, view, _ordered_on(comments, acted, orders_after, accounts, config))
    batches = _batches(view.issues, accounts, config, comments)
    issues, others = _tracked(github, view, state, batches, config)
    tasks = read_tasks(github, issues, comments, view, state, config, accounts)
    tasks = with_lost_records(github, tasks, runs, config, accounts)
    _check_ended_batches(github, tasks, batches, config)
    dashboards = _dashboards(view, config.prefix)
    tasks = _with_posted_notices(tasks, comments, accounts)
    tasks = _with_own_needs(tasks, view.repository.full_name, config)
    tasks = _with_inferred_needs(tasks, batches, view.repository.full_name)
    live = _live(tasks, batches)
    runs = _with_recorded_runs(github, runs, live, now)
    snapshot = Snapshot(
        now=now,
        repository=view.repository,
        config=config,
        accounts=accounts,
        tasks=tasks,
        runs=runs,
        artifacts=_artifacts(github, live),
        comments=_by_issue(comments),
        needs=_native_needs(issues),
        batches=batches,
        others=others,
        orders_after=orders_after,
        acted=acted,
        around=around,
        spent=_spent(state, comments, now, accounts),
        orphans=_orphans(github, runs, tasks, {batch.number for batch in batches}),
        remembered=state.verdicts if state else {},
        fixed=state.fixed if state else {},
        proposed=state.proposed if state else Proposed(),
    )
    snapshot, boxes = read_boxes(dashboard, snapshot, partial(look_up, github))
    paused = pause_words(dashboards, snapshot, boxes, state.paused_for if state else "")
    snapshot = replace(
        with_boxes(snapshot, boxes, dashboard), standstill=problem or _missing_words(view, missing) or paused
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


def look_up(
    github: Reader, snapshot: Snapshot, wants: Iterable[Lookup], advise: Advise = no_advice
) -> Snapshot:
    """The snapshot with what a plan still wanted to know; `advise` is called only if a model is to be asked."""
    wanted = sorted(wants, key=repr)
    refs = [want.ref for want in wanted if isinstance(want, NeedOf)]
    permissions = dict(snapshot.permissions)
    jobs, annotations, reports = dict(snapshot.jobs), dict(snapshot.annotations), dict(snapshot.reports)
    verdicts, proposals = dict(snapshot.verdicts), dict(snapshot.proposals)
    asked = any(isinstance(want, Classify | InferNeeds) for want in wanted)
    advisor = advise(snapshot.config) if asked else None
    too_large = {artifact.id for artifact in snapshot.artifacts if artifact.size > _REPORT_MOST}
    for want in wanted:
        match want:
            case Permission(login):
                permissions[login] = github.permission(login)
            case JobsOf(run):
                jobs[run] = github.jobs(run)
            case AnnotationsOf(job):
                annotations[job] = _annotations(github, job)
            case ReportIn(artifact):
                reports[artifact] = read_artifact(github, artifact) if artifact not in too_large else None
            case Classify(question) if advisor is not None:
                verdicts[question] = advisor.classify(question)
            case InferNeeds(numbers) if advisor is not None:
                proposals[numbers] = _proposal(advisor, snapshot, numbers)
            case _:
                pass  # needs are read together, below
    needs: Mapping[Ref, NeedState] = {**snapshot.needs, **(github.needs(refs) if refs else {})}
    return replace(
        snapshot,
        permissions=permissions,
        jobs=jobs,
        annotations=annotations,
        reports=reports,
        needs=needs,
        verdicts=verdicts,
        proposals=proposals,
    )


def _annotations(github: Reader, job: int) -> tuple[str, ...]:
    """None where they cannot be had: then nobody knows who cancelled it, and it is an interruption."""
    try:
        return github.annotations(job)
    except (NotFound, Refused, CannotGoOn):
        return ()


def _proposal(advisor: Advisor, snapshot: Snapshot, numbers: Sequence[int]) -> Proposal:
    from bot.notation.sanitise import sanitise  # its patterns take long to compile

    issues = [snapshot.tasks[number].issue for number in numbers if number in snapshot.tasks]
    return advisor.infer(
        [Brief(issue.number, issue.title[:200], sanitise(issue.body)[:_BRIEF]) for issue in issues]
    )


def read_artifact(github: Reader, artifact_id: int) -> Report | None:
    """The report inside an artifact; None if it is not a readable one, which is then as good as missing."""
    try:
        text = read_member(github.download(artifact_id), REPORT_FILE, _REPORT_MOST)
        return read_report(text) if text is not None else None
    except (NotFound, Unreadable):
        return None


def _worker_runs(github: Reader, since: datetime) -> tuple[tuple[Run, ...], bool]:
    try:
        return github.runs(WORKER_WORKFLOW, since), False
    except WorkflowMissing:
        return (), True


def _named_by(runs: Sequence[Run]) -> tuple[int, ...]:
    return tuple(sorted({key.task for run in runs if not run.ended for key in keys_in(run.title)}))


def _view(
    github: Reader, now: datetime, also: tuple[int, ...]
) -> tuple[View, Config, str, State | None, Issue | None]:
    """The view under the configured prefix; the prefix is known only once the configuration was read."""
    view = github.view(DEFAULT_PREFIX, now - _DONE_WINDOW, also)
    config, problem, state, dashboard = _judge_config(github, view, DEFAULT_PREFIX)
    if config.prefix != DEFAULT_PREFIX:
        view = github.view(config.prefix, now - _DONE_WINDOW, also)
        config, problem, state, dashboard = _judge_config(github, view, config.prefix)
    return view, config, problem, state, dashboard


def _judge_config(github: Reader, view: View, prefix: str) -> tuple[Config, str, State | None, Issue | None]:
    """The configuration in force. An invalid file stops new starts; everything else goes on by the last valid one."""
    dashboard = next(iter(_dashboards(view, prefix)), None)
    state = read_state(dashboard, {view.viewer.id}) if dashboard else None
    if state is not None and state.comments_since > view.at + CLOCKS:
        # Somebody edited it: with a cursor that lies in the future no comment would ever be read again.
        state = replace(state, comments_since=view.at - _FIRST_WINDOW)
    try:
        return read_config(view.config_text, view.config_blob), "", state, dashboard
    except UsageError as error:
        prefix = prefix if dashboard else guess_prefix(view.config_text or "") or prefix
        return _last_valid(github, state, prefix), f"the configuration is invalid: {error}", state, dashboard


def _last_valid(github: Reader, state: State | None, prefix: str) -> Config:
    if state is None or not state.config_blob:
        return Config(prefix=prefix)
    try:
        return read_config(github.file(state.config_blob), state.config_blob)
    except (NotFound, UsageError):
        return Config(prefix=prefix)


def _dashboards(view: View, prefix: str) -> tuple[Issue, ...]:
    """Our own open dashboard issues, oldest first; two first ticks at once make two, and the oldest counts."""
    ours = [
        issue
        for issue in view.issues
        if issue.is_open and issue.has_label(f"{prefix}:dashboard") and issue.author.id == view.viewer.id
    ]
    return tuple(sorted(ours, key=lambda issue: issue.number))


def _batches(
    issues: Iterable[Issue], accounts: frozenset[int], config: Config, recent: Sequence[Comment]
) -> tuple[Batch, ...]:
    """Our batches that have not ended, or whose issue is open, oldest first."""
    said = _by_issue(recent)
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


def read_tasks(
    github: Reader,
    issues: Mapping[int, Issue],
    recent: Sequence[Comment],
    view: View,
    state: State | None,
    config: Config,
    accounts: frozenset[int],
) -> dict[int, Task]:
    """Each issue with its record: among its first comments, in the index, or so new that a tick died before indexing it."""
    held = {number: _record_among(issue.comments, number, accounts) for number, issue in issues.items()}
    index = {**state.finished, **state.records} if state else {}
    missing = {
        number: index[str(number)] for number in issues if held[number][0] is None and index.get(str(number))
    }
    fetched = github.comments_by_id(sorted(missing.values())) if missing else {}
    for number, node_id in missing.items():
        if node_id in fetched:
            held[number] = _record_among((fetched[node_id],), number, accounts)
    for number, comments in _by_issue(recent).items():
        if number in issues and held[number][0] is None:
            held[number] = _record_among(comments, number, accounts)
    return {number: task_of(issue, *held[number], view, config) for number, issue in issues.items()}


def _record_among(
    comments: Sequence[Comment], task: int, accounts: frozenset[int]
) -> tuple[Comment | None, Record, str]:
    """The first of our comments that holds this task's record, the record, and what is wrong with it."""
    for comment in comments:
        try:
            record = read_record(comment, task, accounts)
        except Unreadable as error:
            return (
                comment,
                Record(task),
                f"its record cannot be read: {error}; delete that comment to start over",
            )
        if record is not None:
            return comment, record, ""
    return None, Record(task), ""


def task_of(
    issue: Issue, comment: Comment | None, record: Record, problem: str, view: View, config: Config
) -> Task:
    """The issue with what its text, labels and native edges say."""
    home = view.repository.full_name
    needs = read_needs(issue.body, home, config.dependencies.keywords, view.repository.server)
    native, hidden = config.dependencies.relations(issue)
    traits = read_traits(
        issue.labels,
        issue.body,
        config.prefix,
        priority_prefix=config.priority_prefix,
        default_priority=config.priority_default,
        category_prefix=config.category_prefix,
    )
    return Task(
        issue=replace(issue, hidden_edges=hidden),
        record=record,
        comment=comment,
        needs=tuple(
            dict.fromkeys((*needs.refs(home), *(edge.ref for edge in native if edge.ref is not None)))
        ),
        written=tuple(dict.fromkeys(needs.refs(home))),
        warnings=(*(str(warning) for warning in needs.warnings), *traits.warnings),
        priority=traits.priority,
        category=traits.category,
        estimate=traits.estimate,
        record_problem=problem,
    )


def _native_needs(issues: Mapping[int, Issue]) -> dict[Ref, NeedState]:
    return {
        edge.ref: edge.state
        for issue in issues.values()
        for edge in (*issue.edges, *issue.children)
        if edge.ref is not None
    }


def _with_own_needs(tasks: Mapping[int, Task], home: str, config: Config) -> dict[int, Task]:
    """The edges that we made ourselves (shared fixes, inference) beside those of text and GitHub.

    Where we write them as relations of GitHub's, too, such a relation is ours.
    """
    found = dict(tasks)
    for number, task in tasks.items():
        own = (Ref(home, need) for need in task.record.own_needs)
        others = task.written if config.dependencies.sync == "native" else task.needs
        if inferred := tuple(ref for ref in own if ref not in others):
            needs = tuple(dict.fromkeys((*task.needs, *inferred)))
            found[number] = replace(task, needs=needs, inferred=inferred)
    return found


def _with_posted_notices(
    tasks: dict[int, Task], comments: Sequence[Comment], accounts: frozenset[int]
) -> dict[int, Task]:
    """Notices that were posted by a tick that died before it wrote the record, or whose record was deleted since."""
    shown = [comment for task in tasks.values() if task.comment is None for comment in task.issue.comments]
    for comment in (*shown, *comments):
        task = tasks.get(comment.issue)
        fingerprint = read_fingerprint(comment.body) if comment.author.id in accounts else None
        known = (
            fingerprint is None or replied_to(fingerprint) or (task and fingerprint in task.record.notices)
        )
        if task is not None and fingerprint is not None and not known:
            record = replace(task.record, notices=(*task.record.notices, fingerprint))
            if fingerprint.startswith("question:"):
                record = replace(record, asked_in=comment.node_id)
            tasks[comment.issue] = replace(task, record=record, unsaved=True)
    return tasks


def _with_inferred_needs(tasks: dict[int, Task], batches: Iterable[Batch], home: str) -> dict[int, Task]:
    """Needs that a model inferred hold for their batch only, and as long as it goes on."""
    for batch in batches:
        if batch.record.state.ended:
            continue
        for number, needs in batch.record.needs.items():
            if (task := tasks.get(number)) is not None:
                lent = tuple(ref for ref in (Ref(home, need) for need in needs) if ref not in task.needs)
                tasks[number] = replace(task, needs=(*task.needs, *lent), lent=lent)
    return tasks


def _live(tasks: Mapping[int, Task], batches: Iterable[Batch]) -> tuple[Attempt, ...]:
    """Every attempt and every trial of a batch gate that is under way."""
    attempts = [task.record.live for task in tasks.values()]
    trials = [batch.record.trial for batch in batches]
    found = [*attempts, *(trial.attempt for trial in trials if trial is not None)]
    return tuple(attempt for attempt in found if attempt is not None)


def _with_recorded_runs(
    github: Reader, runs: tuple[Run, ...], live: Sequence[Attempt], now: datetime
) -> tuple[Run, ...]:
    """The runs of live attempts that are older than the window: by their id, or listed where that was never noted."""
    known = {run.id for run in runs}
    recorded = {attempt.run for attempt in live}
    more = []
    unnoted = min((attempt.claimed_at for attempt in live if not attempt.run), default=now)
    if unnoted < now - _RUNS_WINDOW + CLOCKS:
        listed = _worker_runs(github, unnoted - CLOCKS)[0]
        more += [run for run in listed if run.id not in known]
        known |= {run.id for run in more}
    for run_id in sorted(recorded - known - {0}):
        try:
            more.append(github.run(run_id))
        except NotFound:
            continue
    return (*runs, *more)


def _orphans(
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


def _artifacts(github: Reader, live: Iterable[Attempt]) -> tuple[Artifact, ...]:
    claimed = [attempt.claimed_at for attempt in live]
    return github.artifacts_since(min(claimed)) if claimed else ()


def _by_issue(comments: Sequence[Comment]) -> dict[int, tuple[Comment, ...]]:
    found: dict[int, tuple[Comment, ...]] = {}
    for comment in sorted(comments, key=lambda comment: (comment.created_at, comment.id)):
        if not comment.on_pull:
            found[comment.issue] = (*found.get(comment.issue, ()), comment)
    return found


def _missing_words(view: View, missing: bool) -> str:
    if not missing:
        return ""
    return f"nothing can start: .github/workflows/{WORKER_WORKFLOW} is missing from the branch {view.repository.default_branch}"
