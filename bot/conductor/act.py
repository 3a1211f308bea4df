"""Carry a plan out: dull, repeatable, and safe to be killed between any two writes.

The order of writes is what makes it safe. Reactions and notices come before the record that says they were made (a notice is
recognised by its fingerprint). The record comes before the labels, which it outweighs. A claim is on GitHub before its
dispatch, and a run is found by its key when the tick died before noting its id; the labels of a start come after that, so
that a claim which GitHub refused leaves the order as it was. The cursor moves last.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from bot.conductor.batchwrites import dispatch_gates, end_batches, told_to_stop, write_batches
from bot.conductor.effects import Effects, dispatch_run, end_run
from bot.conductor.observe import Observation
from bot.conductor.units import into_runs, unit_of
from bot.github.port import GitHub
from bot.model.change import (
    AddLabel,
    Change,
    CloseIssue,
    CreateComment,
    CreateIssue,
    EditComment,
    EditIssue,
    RemoveLabel,
    Written,
)
from bot.model.config import Config
from bot.model.decision import Decision, Notice, Plan
from bot.model.issue import Comment, Issue, NeedState
from bot.model.record import Record, Spent
from bot.model.ref import Ref
from bot.model.report import Outcome
from bot.model.status import Status
from bot.model.task import Task
from bot.model.unit import Unit
from bot.notation.comments import (
    notice_comment,
    read_fingerprint,
    replied_to,
    reply_to,
    status_comment,
    with_fingerprint,
)
from bot.notation.digests import text_digest
from bot.notation.overview import dashboard_text, plain_dashboard, same_but_time
from bot.notation.records import is_record
from bot.notation.state import State, fitting
from bot.plan.edits import ended, with_live
from bot.plan.overview import overview_of
from bot.plan.spending import day_of, spent_today
from bot.plan.waiting import OFF

LABELS = {
    Status.BACKLOG: ("c5def5", "known, not ordered yet"),
    Status.READY: ("0e8a16", "ordered: starts when its needs are met and a slot is free"),
    Status.IN_PROGRESS: ("fbca04", "an attempt is under way"),
    Status.BLOCKED: ("d93f0b", "a question or a reason holds it"),
    Status.FAILED: ("b60205", "out of attempts"),
    Status.DONE: ("5319e7", "a verified pull request waits, or it was completed elsewhere"),
    Status.MERGED: ("6f42c1", "its pull request was merged"),
}


_LAG = timedelta(minutes=1)  # a comment of another conductor may be a little older than our look


def act(github: GitHub, plan: Plan, seen: Observation) -> Effects:
    """Make the plan true, writing only what differs from what was seen."""
    effects = Effects()
    _open_issues(github, plan, seen, effects)
    steps = write_batches(github, plan.batches, seen, effects)
    written = act_on(github, plan.decisions, seen, effects)
    _respond(github, plan, seen, effects)
    dispatch_gates(github, steps, seen, effects)
    end_batches(github, steps, seen, effects)
    _tidy(github, seen, effects)
    _obey_boxes(github, seen, effects)
    _remember(github, plan, seen, written, effects)
    return effects


def act_on(
    github: GitHub, decisions: Sequence[Decision], seen: Observation, effects: Effects
) -> dict[int, Written]:
    """Make decisions about tasks true; returns where each record that was written stands now."""
    news = [item for item in decisions if _differs(item, seen)]
    if news:
        # The first time this takes seconds, so it comes before the last look.
        github.ensure_labels(label_names(seen.snapshot.config))
        news = _still_fresh(github, news, seen, effects)
    if not news:
        return {}
    _cancel(github, news, effects)
    news = _ask(github, news, seen, effects)
    written = _write(github, news, seen, effects)
    _dispatch(github, news, written, seen, effects)
    return written


def label_names(config: Config) -> dict[str, tuple[str, str]]:
    """Every label of ours: its name with colour and description."""
    names = {config.label(status): look for status, look in LABELS.items()}
    names[config.label("dashboard")] = ("ededed", "where the conductor keeps its cursors")
    names[config.label("regression")] = ("b60205", "merged work that broke something")
    names[config.label("pause")] = ("000000", "holds every start while it is on the dashboard, or this task")
    names[config.label("shared-fix")] = ("1d76db", "mends a failure that several tasks share")
    return names


def _differs(decision: Decision, seen: Observation) -> bool:
    task = seen.snapshot.tasks[decision.task]
    return bool(
        decision.start
        or decision.cancel
        or decision.close
        or decision.notices
        or decision.reactions
        or decision.revisions
        or _label_changes(decision, task.issue, seen.snapshot.config)
        or (_is_news(decision, task) and _is_kept(decision, task))
    )


def _is_news(decision: Decision, task: Task) -> bool:
    """Whether the record differs from what GitHub holds."""
    return decision.record != task.record or task.unsaved


def _is_kept(decision: Decision, task: Task) -> bool:
    """A record is written where there is one already, or something to remember beside the status."""
    record = decision.record
    bare = Record(record.task, status=record.status, status_at=record.status_at)
    return task.comment is not None or bool(decision.notices) or record != bare


def _label_changes(decision: Decision, issue: Issue, config: Config) -> list[Change]:
    """Add the new label, then remove the others, each by the spelling it is stored in; labels of people stay."""
    wanted = config.label(decision.status).casefold() if decision.status else ""
    ours = {config.label(status).casefold() for status in Status}
    changes: list[Change] = []
    if decision.status and not issue.has_label(wanted):
        changes.append(AddLabel(issue.node_id, config.label(decision.status)))
    changes += [
        RemoveLabel(issue.node_id, label)
        for label in issue.labels
        if label.casefold() in ours and label.casefold() != wanted
    ]
    return changes


def _still_fresh(
    github: GitHub, decisions: list[Decision], seen: Observation, effects: Effects
) -> list[Decision]:
    """Read the records again that would be replaced, and the issues that would start with their needs; what moved waits a tick."""
    tasks = seen.snapshot.tasks
    ids = [comment.node_id for item in decisions if (comment := tasks[item.task].comment) is not None]
    now_there = github.comments_by_id(ids) if ids else {}
    starting = [
        number for item in decisions if item.start for number in (item.task, item.record.batch) if number
    ]
    unrecorded = [item.task for item in decisions if tasks[item.task].comment is None]
    again = sorted({*starting, *unrecorded})
    issues = github.issues(again) if again else {}
    refs = sorted({ref for item in decisions if item.start for ref in tasks[item.task].needs}, key=str)
    needs = github.needs(refs) if refs else {}
    batches = {item.record.batch for item in decisions if item.start and item.record.batch}
    ended = told_to_stop(github, batches, issues, seen)
    fresh = []
    for decision in decisions:
        task = tasks[decision.task]
        if task.comment is not None and _moved(task.comment, now_there.get(task.comment.node_id)):
            effects.skipped[decision.task] = "its record changed since the snapshot"
        elif (task.comment is None and _recorded(task, issues.get(decision.task), seen)) or (
            decision.start and _changed(task, issues.get(decision.task), seen.snapshot.config)
        ):
            effects.skipped[decision.task] = "changed since snapshot"
        elif decision.start and (unmet := _unmet(task, needs)):
            effects.skipped[decision.task] = f"its needs changed since the snapshot: {unmet}"
        elif decision.start and decision.record.batch in ended:
            effects.skipped[decision.task] = f"batch #{decision.record.batch} was stopped"
        else:
            fresh.append(decision)
    return fresh


def _recorded(task: Task, now: Issue | None, seen: Observation) -> bool:
    """Whether another conductor wrote this task's record, or the issue went away, since the snapshot showed none."""
    known = {comment.node_id for comment in task.issue.comments}
    return now is None or any(
        is_record(comment.body)
        for comment in now.comments
        if comment.author.id in seen.snapshot.accounts and comment.node_id not in known
    )


def _unmet(task: Task, needs: Mapping[Ref, NeedState]) -> str:
    found = {ref: needs.get(ref, NeedState.UNKNOWN) for ref in task.needs}
    return ", ".join(
        f"{ref} is {state}"
        for ref, state in found.items()
        if not state.satisfied and not (ref in task.inferred and state in OFF)
    )


def _moved(before: Comment, after: Comment | None) -> bool:
    return after is None or after.body != before.body


def _changed(task: Task, now: Issue | None, config: Config) -> bool:
    if now is None or not now.is_open:
        return True
    names = [config.label(status) for status in Status]
    before = [name for name in names if task.issue.has_label(name)]
    after = [name for name in names if now.has_label(name)]
    text = (task.issue.title, task.issue.body)
    return before != after or text_digest(*text) != text_digest(now.title, now.body)


def _cancel(github: GitHub, decisions: Sequence[Decision], effects: Effects) -> None:
    """Sent before the record says so: sending it twice costs nothing, forgetting it would. A run that is gone needs none."""
    for run, force in sorted({(item.cancel.run, item.cancel.force) for item in decisions if item.cancel}):
        end_run(github, run, force, effects)


class _Order(Struct, frozen=True):
    """One change, and which decision's record it writes, if it does."""

    change: Change
    record_of: int = 0


def _orders(decision: Decision, task: Task, config: Config) -> list[_Order]:
    issue = task.issue
    reactions = [_Order(change) for change in decision.reactions]
    # A record that is new must follow the last look as closely as can be, or another conductor writes one as well.
    orders = [] if task.comment is None else reactions
    orders += [
        _Order(EditComment(changed.comment, notice_comment(changed.notice))) for changed in decision.revisions
    ]
    orders += [_Order(CreateComment(issue.node_id, notice_comment(notice))) for notice in decision.notices]
    record = _noted(decision)
    if (decision.notices or decision.start or _is_news(decision, task)) and _is_kept(decision, task):
        body = status_comment(record, decision.reason, config.prefix)
        change = (
            EditComment(task.comment.node_id, body) if task.comment else CreateComment(issue.node_id, body)
        )
        orders.append(_Order(change, decision.task))
    orders += reactions if task.comment is None else []
    if not decision.start:
        orders += [_Order(change) for change in _label_changes(decision, issue, config)]
    if decision.close and issue.is_open:
        orders.append(_Order(CloseIssue(issue.node_id)))
    return orders


def _ask(
    github: GitHub, decisions: Sequence[Decision], seen: Observation, effects: Effects
) -> list[Decision]:
    """Post questions first of all, so that the record can say which comment holds the newest one.

    A tick that dies in between has posted a notice, and the next one knows it by its fingerprint.
    """
    asking = [
        (place, notice) for place, item in enumerate(decisions) for notice in item.notices if notice.question
    ]
    if not asking:
        return list(decisions)
    changes = [
        CreateComment(seen.snapshot.tasks[decisions[place].task].issue.node_id, notice_comment(notice))
        for place, notice in asking
    ]
    answers = github.write(changes)
    effects.writes += len(changes)
    asked = list(decisions)
    for (place, notice), said in zip(asking, answers, strict=True):
        if said.error:
            effects.refused.append(f"question: {said.error}")
            continue
        record = asked[place].record
        asked[place] = replace(
            asked[place],
            record=replace(record, asked_in=said.node_id, notices=(*record.notices, notice.fingerprint)),
            notices=tuple(one for one in asked[place].notices if one is not notice),
        )
    return asked


def _noted(decision: Decision) -> Record:
    """The record, knowing the notices that are posted with it."""
    posted = tuple(notice.fingerprint for notice in decision.notices)
    return (
        replace(decision.record, notices=(*decision.record.notices, *posted)) if posted else decision.record
    )


def _write(
    github: GitHub, decisions: Sequence[Decision], seen: Observation, effects: Effects
) -> dict[int, Written]:
    """One batch for all tasks. Returns where each record stands now; a task whose record was refused is not in it."""
    orders = [
        order
        for decision in decisions
        for order in _orders(decision, seen.snapshot.tasks[decision.task], seen.snapshot.config)
    ]
    answers = github.write([order.change for order in orders]) if orders else ()
    effects.writes += len(orders)
    written: dict[int, Written] = {}
    for order, said in zip(orders, answers, strict=True):
        if said.error:
            effects.refused.append(f"{type(order.change).__name__}: {said.error}")
        elif order.record_of:
            written[order.record_of] = said
    return written


def _dispatch(
    github: GitHub,
    decisions: Sequence[Decision],
    written: dict[int, Written],
    seen: Observation,
    effects: Effects,
) -> None:
    """Dispatch what is claimed and note the run ids. A claim that could not be written starts nothing."""
    claimed = [item for item in decisions if item.start and item.task in written]
    for item in decisions:
        if item.start and item.task not in written:
            effects.skipped[item.task] = "its claim could not be written"
    units = [unit_of(item, written[item.task].id, seen.snapshot) for item in claimed]
    by_task = {item.task: item for item in claimed}
    changes: list[Change] = []
    for group in into_runs(units, seen.snapshot.config.dispatch.units_per_run):
        run, problem = dispatch_run(github, group, seen)
        for unit in group:
            record, words = _after_dispatch(_noted(by_task[unit.lead]), unit, run, problem, seen.snapshot.now)
            if problem:
                effects.skipped[unit.lead] = words
            else:
                effects.started[unit.lead] = run
            body = status_comment(record, words, seen.snapshot.config.prefix)
            changes.append(EditComment(written[unit.lead].node_id, body))
            shown = replace(by_task[unit.lead], status=record.status)
            changes += _label_changes(shown, seen.snapshot.tasks[unit.lead].issue, seen.snapshot.config)
    if changes:
        said = github.write(changes)
        effects.refused += [
            f"{type(change).__name__}: {one.error}"
            for change, one in zip(changes, said, strict=True)
            if one.error
        ]
        effects.writes += len(changes)


def _after_dispatch(record: Record, unit: Unit, run: int, problem: str, now: datetime) -> tuple[Record, str]:
    """The record with its run, or with the claim ended where GitHub refused the dispatch: the key is spent, no strike."""
    if not problem:
        return with_live(record, run=run), f"running as {unit.keys[0]}"
    words = f"could not be dispatched: {problem}"
    record = ended(record, Outcome.INFRA, words, now)
    return replace(record, status=Status.READY, interruptions=record.interruptions + 1), words


def _tidy(github: GitHub, seen: Observation, effects: Effects) -> None:
    """End runs whose task is gone, and close dashboards that two first ticks made at once, but for the oldest."""
    since, now = seen.state.orphans if seen.state else {}, seen.snapshot.now
    for run in seen.snapshot.orphans:
        asked = since.get(str(run))
        if asked is None or now - asked >= seen.snapshot.config.force_after:
            end_run(github, run, asked is not None, effects)
    if seen.spare_dashboards:
        said = github.write([CloseIssue(issue.node_id) for issue in seen.spare_dashboards])
        effects.refused += [f"dashboard: {one.error}" for one in said if one.error]
        effects.writes += len(said)


def _obey_boxes(github: GitHub, seen: Observation, effects: Effects) -> None:
    """Set or take away the pause for whoever ticked its box; what the other boxes say is among the comments."""
    orders, dashboard = seen.boxes.orders if seen.boxes else (), seen.dashboard
    label = seen.snapshot.config.label("pause")
    if dashboard is None or not {"pause", "unpause"} & {*orders}:
        return
    github.ensure_labels(label_names(seen.snapshot.config))
    change = (
        AddLabel(dashboard.node_id, label) if "pause" in orders else RemoveLabel(dashboard.node_id, label)
    )
    said = github.write([change])
    effects.refused += [f"dashboard: {one.error}" for one in said if one.error]
    effects.writes += 1


def _is_paused(seen: Observation) -> bool:
    """Whether the pause stands on the dashboard once its boxes were obeyed."""
    orders = seen.boxes.orders if seen.boxes else ()
    labelled = seen.dashboard is not None and seen.dashboard.has_label(seen.snapshot.config.label("pause"))
    return "pause" in orders or (labelled and "unpause" not in orders)


def _paused_for(seen: Observation) -> str:
    if not _is_paused(seen):
        return ""
    if seen.boxes is not None and "pause" in seen.boxes.orders:
        return seen.boxes.by
    return seen.state.paused_for if seen.state else ""


def _open_issues(github: GitHub, plan: Plan, seen: Observation, effects: Effects) -> None:
    """Open the issues that the plan asks for, but for those that stand already: another conductor may have opened one just now."""
    if not plan.opens:
        return
    config = seen.snapshot.config
    github.ensure_labels(label_names(config))
    there: set[str] = set()
    for label in sorted({issue.labels[0] for issue in plan.opens}):
        found = (*github.labelled(label), *github.labelled(label, closed=True))
        ours = (issue for issue in found if issue.author.id in seen.snapshot.accounts)
        there |= {fingerprint for issue in ours if (fingerprint := read_fingerprint(issue.body)) is not None}
    changes = [
        CreateIssue(issue.title, with_fingerprint(issue.body, issue.fingerprint), issue.labels)
        for issue in plan.opens
        if issue.fingerprint not in there
    ]
    if changes:
        said = github.write(changes)
        effects.refused += [f"opening an issue: {one.error}" for one in said if one.error]
        effects.writes += len(changes)


def _respond(github: GitHub, plan: Plan, seen: Observation, effects: Effects) -> None:
    """Say back what commands came to, after they were carried out: a reply that stands means that its comment was seen to.

    Where a task's decision waits for the next tick, so does what would be said about it. Right before a reply is written it is
    looked for once more: another conductor may have written it since the snapshot.
    """
    waits = {*effects.skipped, *effects.left}
    due = [response for response in plan.responses if response.number not in waits]
    _write_all(github, [change for response in due for change in response.reactions], "reaction", effects)
    spoken = [response for response in due if response.text]
    if not spoken:
        return
    recent = github.comments_since(seen.view.at - _LAG)
    ours = (comment.body for comment in recent if comment.author.id in seen.snapshot.accounts)
    said = {replied_to(read_fingerprint(body)) for body in ours}
    replies = [
        CreateComment(response.issue, notice_comment(Notice(reply_to(response.comment), response.text)))
        for response in spoken
        if response.comment not in said
    ]
    _write_all(github, replies, "reply", effects)


def _write_all(github: GitHub, changes: Sequence[Change], what: str, effects: Effects) -> None:
    if changes:
        said = github.write(changes)
        effects.refused += [f"{what}: {one.error}" for one in said if one.error]
        effects.writes += len(changes)


def _remember(
    github: GitHub, plan: Plan, seen: Observation, written: dict[int, Written], effects: Effects
) -> None:
    """Move the cursor, keep the index and show where everything stands, last of all, and only if something changed."""
    before = seen.state
    since = before.comments_since if before else seen.snapshot.now
    config = seen.snapshot.config
    valid = config.blob if config.blob == seen.view.config_blob else (before.config_blob if before else "")
    records, finished = _index(plan, seen, written)
    rejected = seen.view.config_blob if seen.misconfigured else ""
    cursor = _cursor(since, seen, effects)
    acted = _seen_to(cursor, plan, seen, effects)
    day, spent = _ledger(plan, seen)
    verdicts = {**(before.verdicts if before else {}), **plan.remembered}
    fixed = {**(before.fixed if before else {}), **plan.fixed}
    known = before.orphans if before else {}
    orphans = {str(run): known.get(str(run), seen.snapshot.now) for run in seen.snapshot.orphans}
    state = fitting(
        State(
            cursor,
            records,
            finished,
            valid,
            rejected,
            _paused_for(seen),
            day,
            spent,
            acted,
            orphans,
            verdicts,
            fixed,
        ),
        _running(plan),
    )
    body = _dashboard(plan, seen, state, effects)
    if seen.dashboard is not None:
        if state == before and same_but_time(body, seen.dashboard.body):
            return
        changes: list[Change] = [EditIssue(seen.dashboard.node_id, body)]
    elif seen.misconfigured:
        return  # under which prefix it belongs is not known
    else:
        github.ensure_labels(label_names(config))
        if _has_dashboard(github, seen, config):
            return  # another conductor made it just now
        changes = [CreateIssue("cf dashboard", body, (config.label("dashboard"),))]
    said = github.write(changes)
    effects.refused += [f"dashboard: {one.error}" for one in said if one.error]
    effects.writes += len(changes)


def _dashboard(plan: Plan, seen: Observation, state: State, effects: Effects) -> str:
    snapshot = seen.snapshot
    if not snapshot.config.dashboard:
        return plain_dashboard(state, snapshot.config.prefix)
    overview = overview_of(snapshot, plan.decisions, effects.started, effects.skipped)
    return dashboard_text(overview, state, snapshot.config.prefix, snapshot.now, paused=_is_paused(seen))


def _cursor(since: datetime, seen: Observation, effects: Effects) -> datetime:
    """Up to when comments were seen to: those on a task or batch that was left to the next tick are read again.

    On a task what we wrote ourselves is no news; on a batch it may hold an order.
    """
    left = [
        comment.updated_at
        for number in (*effects.skipped, *effects.left)
        for comment in seen.snapshot.comments.get(number, ())
        if number in effects.left or comment.author.id not in seen.snapshot.accounts
    ]
    newest = max(since, seen.latest_comment or since)
    return max(since, min(left, default=newest))


def _seen_to(cursor: datetime, plan: Plan, seen: Observation, effects: Effects) -> tuple[int, ...]:
    """The comments with commands that the next tick will read again and must not see to again."""
    waits = {*effects.skipped, *effects.left}
    done = {response.comment for response in plan.responses if response.number not in waits}
    done |= seen.snapshot.acted
    done |= {
        comment
        for decision in plan.decisions
        if decision.task not in effects.skipped
        for comment in decision.record.acted
    }
    comments = (comment for found in seen.snapshot.comments.values() for comment in found)
    return tuple(
        sorted(comment.id for comment in comments if comment.updated_at >= cursor and comment.id in done)
    )


def _has_dashboard(github: GitHub, seen: Observation, config: Config) -> bool:
    open_ones = github.labelled(config.label("dashboard"))
    return any(issue.author.id == seen.view.viewer.id for issue in open_ones)


def _ledger(plan: Plan, seen: Observation) -> tuple[str, Mapping[str, Spent]]:
    """What attempts have used up today. Yesterday's stays until there is something to say about today."""
    now = seen.snapshot.now
    spent = spent_today((decision.record for decision in plan.decisions), seen.snapshot.spent, now)
    if not spent and seen.state is not None:
        return seen.state.day, seen.state.spent
    return (str(day_of(now)) if spent else ""), spent


def _running(plan: Plan) -> frozenset[str]:
    return frozenset(str(decision.task) for decision in plan.decisions if decision.record.live is not None)


def _index(
    plan: Plan, seen: Observation, written: dict[int, Written]
) -> tuple[dict[str, str], dict[str, str]]:
    """Where whose record is: of every unfinished task, and of finished ones whose issue does not show it.

    A record among the first comments of its issue is found there, so for it the index only names the task.
    """
    records: dict[str, str] = {}
    finished = dict(seen.state.finished) if seen.state else {}
    for decision in plan.decisions:
        task = seen.snapshot.tasks[decision.task]
        comment, number = task.comment, str(decision.task)
        node_id = (
            written[decision.task].node_id if decision.task in written else comment.node_id if comment else ""
        )
        if not node_id:
            continue
        shown = any(first.node_id == node_id for first in task.issue.comments)
        if task.issue.is_open or decision.record.live is not None:
            records[number] = "" if shown else node_id
            finished.pop(number, None)
        elif not shown:
            finished[number] = node_id
    return records, finished
