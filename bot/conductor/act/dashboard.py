"""The dashboard issue, written last of all: where everything stands, the cursor, and which comment holds whose record."""

from collections.abc import Mapping
from datetime import datetime

from bot.conductor.act.labels import label_names
from bot.conductor.act.outbox import Effects, Outbox
from bot.conductor.observe.view import Observation
from bot.github.port import GitHub
from bot.model.change import AddLabel, CreateIssue, EditIssue, RemoveLabel, Written
from bot.model.config import Config
from bot.model.decision import Plan
from bot.model.record import Spent
from bot.notation.overview import dashboard_text, plain_dashboard, same_but_time
from bot.notation.state import State, fitting
from bot.plan.starts.budgets import day_of, spent_today
from bot.plan.telling.overview import overview_of


def obey_boxes(github: GitHub, seen: Observation, outbox: Outbox) -> None:
    """Set or take away the pause for whoever ticked its box; what the other boxes say is among the comments."""
    orders, dashboard = seen.boxes.orders if seen.boxes else (), seen.dashboard
    label = seen.snapshot.config.label("pause")
    if dashboard is None or not {"pause", "unpause"} & {*orders}:
        return
    github.ensure_labels(label_names(seen.snapshot.config))
    node_id = dashboard.node_id
    outbox.put("pause", [AddLabel(node_id, label) if "pause" in orders else RemoveLabel(node_id, label)])


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


def remember(
    github: GitHub,
    plan: Plan,
    seen: Observation,
    written: Mapping[int, Written],
    effects: Effects,
    outbox: Outbox,
) -> None:
    """Move the cursor, keep the index and show where everything stands, and only if something changed."""
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
            plan.proposed,
            {**(before.baselines if before else {}), **plan.baselines},
        ),
        _running(plan),
    )
    body = _dashboard(plan, seen, state, effects)
    if seen.dashboard is not None:
        if state == before and same_but_time(body, seen.dashboard.body):
            return
        outbox.put("dashboard", [EditIssue(seen.dashboard.node_id, body)])
    elif seen.misconfigured:
        return  # under which prefix it belongs is not known
    else:
        github.ensure_labels(label_names(config))
        if _has_dashboard(github, seen, config):
            return  # another conductor made it just now
        outbox.put("dashboard", [CreateIssue("cf dashboard", body, (config.label("dashboard"),))])


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
