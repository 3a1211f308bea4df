"""The dashboard issue, written last of all: where everything stands, the cursor, and which comment holds whose record."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from bot.conductor.act.labels import label_names
from bot.conductor.act.outbox import Effects, Outbox
from bot.conductor.observe.view import Observation
from bot.github.port import GitHub
from bot.model.cause import Unwritten
from bot.model.change import AddLabel, Change, CreateComment, EditIssue, RemoveLabel, Written
from bot.model.decision import Notice, Plan
from bot.model.issue import Comment, Issue
from bot.model.record import Spent
from bot.notation.comments import notice_comment, read_fingerprint
from bot.notation.overview import dashboard_text, plain_dashboard, same_but_time
from bot.notation.quoting import quote_line
from bot.notation.state import State, fitting
from bot.plan.facts.obstacles import lines_of
from bot.plan.starts.budgets import day_of, spent_today
from bot.plan.telling.overview import overview_of

_PATIENCE = timedelta(days=1)


def show_pause(github: GitHub, seen: Observation, outbox: Outbox) -> None:
    """Make the label say how the pause stands. One that somebody took away who may not lift it is set again, with a word."""
    dashboard, standing = seen.dashboard, seen.pause
    if dashboard is None:
        return
    label = seen.snapshot.config.label("pause")
    labelled = dashboard.has_label(label)
    boxed = seen.boxes is not None and "pause" in seen.boxes.orders
    # Where another dashboard of ours bears the label, that one is about to be closed.
    carried = any(issue.has_label(label) for issue in seen.conducts.spare)
    changes: list[Change] = []
    if standing.pause is not None and not labelled and (standing.restore or boxed or carried):
        changes = [*_word(seen, dashboard), AddLabel(dashboard.node_id, label)]
    elif standing.pause is None and labelled:
        changes = [RemoveLabel(dashboard.node_id, label)]
    if changes:
        github.ensure_labels(label_names(seen.snapshot.config))
        outbox.put("pause", changes)


def _word(seen: Observation, dashboard: Issue) -> list[Change]:
    """What is said about a removal that does not count, unless it was said by a tick that died."""
    taken, config = seen.pause.taken, seen.snapshot.config
    if taken is None:
        return []
    label = config.label("pause")
    fingerprint = f"pause-stands:{taken.at:%Y%m%d%H%M%S}"
    recent = seen.snapshot.comments.get(dashboard.number, ())
    said = {read_fingerprint(comment.body) for comment in (*dashboard.comments, *recent)}
    if fingerprint in said:
        return []
    words = (
        f"`{label}` was taken away by {quote_line(taken.actor.login)}, who does not have {config.trust.permission} permission"
        " here, so the pause stands, and the label is set again. Who may order work lifts it: by taking the label away, or by"
        " the box above."
    )
    return [CreateComment(dashboard.node_id, notice_comment(Notice(fingerprint, words)))]


def remember(
    plan: Plan,
    seen: Observation,
    written: Mapping[int, Written],
    effects: Effects,
    outbox: Outbox,
) -> None:
    """Move the cursor, keep the index and show where everything stands, and only if something changed."""
    if seen.dashboard is None:
        return  # under which prefix it belongs is not known, or another conductor made it just now
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
    installed = before.orders_after if before else None
    orphans = {str(run): known.get(str(run), seen.snapshot.now) for run in seen.snapshot.orphans}
    state = fitting(
        State(
            cursor,
            records,
            finished,
            valid,
            rejected,
            "",
            day,
            spent,
            acted,
            orphans,
            verdicts,
            fixed,
            plan.proposed,
            {**(before.baselines if before else {}), **plan.baselines},
            _unwritten(plan, seen, written, effects),
            before.conductor if before and before.conductor else seen.dashboard.author.id,
            before.generation if before else 0,
            seen.pause.pause,
            seen.pause.unpaused_at,
            installed if installed and cursor <= installed else None,
        ),
        _running(plan),
    )
    body = _dashboard(plan, seen, state, effects)
    if state == before and same_but_time(body, seen.dashboard.body):
        return
    outbox.put("dashboard", [EditIssue(seen.dashboard.node_id, body)])


def _dashboard(plan: Plan, seen: Observation, state: State, effects: Effects) -> str:
    snapshot = seen.snapshot
    if not snapshot.config.dashboard:
        return plain_dashboard(state, snapshot.config.prefix)
    in_the_way = tuple(lines_of(plan.obstacles, snapshot.now))
    overview = overview_of(snapshot, plan.decisions, effects.started, effects.skipped, in_the_way)
    return dashboard_text(
        overview, state, snapshot.config.prefix, snapshot.now, paused=seen.pause.pause is not None
    )


def _cursor(since: datetime, seen: Observation, effects: Effects) -> datetime:
    """Up to when comments were seen to: those that were left to the next tick are read again."""
    left = [
        comment.updated_at
        for number, comments in seen.snapshot.comments.items()
        for comment in comments
        if _is_left(number, comment, seen, effects)
    ]
    newest = max(since, seen.latest_comment or since)
    return max(since, min(left, default=newest))


def _is_left(number: int, comment: Comment, seen: Observation, effects: Effects) -> bool:
    """On a batch what we wrote ourselves may hold an order; on a task only a notice is news, which its record may not know yet.

    A reply that GitHub refuses is tried for a day: an issue may be locked for ever.
    """
    if comment.id in effects.unanswered:
        return comment.updated_at > seen.snapshot.now - _PATIENCE
    ours = comment.author.id in seen.snapshot.accounts
    known = ours and read_fingerprint(comment.body) is None
    return number in effects.left or (number in effects.skipped and not known)


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
    done -= effects.unanswered
    comments = (comment for found in seen.snapshot.comments.values() for comment in found)
    return tuple(
        sorted(comment.id for comment in comments if comment.updated_at >= cursor and comment.id in done)
    )


def _ledger(plan: Plan, seen: Observation) -> tuple[str, Mapping[str, Spent]]:
    """What attempts have used up today. Yesterday's stays until there is something to say about today."""
    now = seen.snapshot.now
    spent = spent_today((decision.record for decision in plan.decisions), seen.snapshot.spent, now)
    if not spent and seen.state is not None:
        return seen.state.day, seen.state.spent
    return (str(day_of(now)) if spent else ""), spent


def _unwritten(
    plan: Plan, seen: Observation, written: Mapping[int, Written], effects: Effects
) -> dict[str, Unwritten]:
    """The tasks on which GitHub takes no word of ours, as long as they are open and none was taken since."""
    snapshot = seen.snapshot
    tasks = {item.task: snapshot.tasks[item.task] for item in plan.decisions}
    kept = {
        str(number): known
        for number, known in snapshot.unwritten.items()
        if number in tasks and tasks[number].issue.is_open and number not in written
    }
    for number, words in effects.unwritten.items():
        before = snapshot.unwritten.get(number)
        tries = before.tries + 1 if before else 1
        locked = tasks[number].issue.locked
        kept[str(number)] = Unwritten(snapshot.now, tries, words[:300], locked, snapshot.config.blob)
    return kept


def _running(plan: Plan) -> frozenset[str]:
    return frozenset(str(decision.task) for decision in plan.decisions if decision.record.live is not None)


def _index(
    plan: Plan, seen: Observation, written: Mapping[int, Written]
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
