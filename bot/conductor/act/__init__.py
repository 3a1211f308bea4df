"""Carry a plan out: dull, repeatable, and safe to be killed between any two writes.

The order of writes is what makes it safe. Reactions and notices come before the record that says they were made (a notice is
recognised by its fingerprint). The record comes before the labels, which it outweighs. A claim is on GitHub before its
dispatch, and a run is found by its key when the tick died before noting its id; the labels of a start come after that, so
that a claim which GitHub refused leaves the order as it was. The cursor moves last.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from bot.conductor.act.batches import dispatch_gates, end_batches, write_batches
from bot.conductor.act.dashboard import obey_boxes, remember
from bot.conductor.act.labels import label_names, status_changes
from bot.conductor.act.outbox import Effects, Outbox, dispatch_run, end_run
from bot.conductor.act.recheck import recheck
from bot.conductor.act.units import into_runs, unit_of
from bot.conductor.observe.view import Observation
from bot.github.port import GitHub
from bot.model.change import (
    Change,
    CloseIssue,
    CreateComment,
    CreateIssue,
    EditComment,
    Written,
)
from bot.model.config import Config
from bot.model.decision import Decision, Notice, Plan
from bot.model.errors import CannotGoOn, NotFound, Refused
from bot.model.record import Record
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
from bot.plan.facts.baselines import in_records, known_baselines
from bot.plan.facts.record_edits import ended, with_live

_LAG = timedelta(minutes=1)  # a comment of another conductor may be a little older than our look


def act(github: GitHub, plan: Plan, seen: Observation) -> Effects:
    """Make the plan true, writing only what differs from what was seen."""
    effects, outbox = Effects(), Outbox()
    _open_issues(github, plan, seen, effects)
    steps = write_batches(github, plan.batches, seen, effects)
    written = _act_on(github, plan.decisions, seen, effects, outbox)
    _relate(github, plan, effects)
    _respond(github, plan, seen, effects, outbox)
    dispatch_gates(github, steps, seen, effects)
    end_batches(steps, seen, outbox)
    _tidy(github, seen, effects, outbox)
    obey_boxes(github, seen, outbox)
    remember(github, plan, seen, written, effects, outbox)
    outbox.send(github, effects)
    return effects


def act_on(github: GitHub, decisions: Sequence[Decision], seen: Observation, effects: Effects) -> None:
    """Make decisions about tasks true, and nothing else."""
    outbox = Outbox()
    _act_on(github, decisions, seen, effects, outbox)
    outbox.send(github, effects)


def _act_on(
    github: GitHub, decisions: Sequence[Decision], seen: Observation, effects: Effects, outbox: Outbox
) -> dict[int, Written]:
    """Returns where each record that was written stands now."""
    news = [item for item in decisions if _differs(item, seen)]
    if news:
        # The first time this takes seconds, so it comes before the last look.
        github.ensure_labels(label_names(seen.snapshot.config))
        news = recheck(github, news, seen, effects)
    if not news:
        return {}
    _cancel(github, news, effects)
    news = _ask(github, news, seen, effects)
    written = _write(github, news, seen, effects)
    _dispatch(github, news, written, seen, effects, outbox)
    return written


def _differs(decision: Decision, seen: Observation) -> bool:
    task = seen.snapshot.tasks[decision.task]
    return bool(
        decision.start
        or decision.cancel
        or decision.close
        or decision.notices
        or decision.reactions
        or decision.revisions
        or status_changes(decision.status, task.issue, seen.snapshot.config)
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


def _cancel(github: GitHub, decisions: Sequence[Decision], effects: Effects) -> None:
    """Sent before the record says so: sending it twice costs nothing, forgetting it would. A run that is gone needs none."""
    for run, force in sorted({(item.cancel.run, item.cancel.force) for item in decisions if item.cancel}):
        end_run(github, run, force, effects)


class _Write(Struct, frozen=True):
    """One change, and which decision's record it writes, if it does."""

    change: Change
    record_of: int = 0


def _orders(decision: Decision, task: Task, config: Config) -> list[_Write]:
    issue = task.issue
    reactions = [_Write(change) for change in decision.reactions]
    # A record that is new must follow the last look as closely as can be, or another conductor writes one as well.
    orders = [] if task.comment is None else reactions
    orders += [
        _Write(EditComment(changed.comment, notice_comment(changed.notice))) for changed in decision.revisions
    ]
    orders += [_Write(CreateComment(issue.node_id, notice_comment(notice))) for notice in decision.notices]
    record = _noted(decision)
    if (decision.notices or decision.start or _is_news(decision, task)) and _is_kept(decision, task):
        body = status_comment(record, decision.reason, config.prefix)
        change = (
            EditComment(task.comment.node_id, body) if task.comment else CreateComment(issue.node_id, body)
        )
        orders.append(_Write(change, decision.task))
    orders += reactions if task.comment is None else []
    if not decision.start:
        orders += [_Write(change) for change in status_changes(decision.status, issue, config)]
    if decision.close and issue.is_open:
        orders.append(_Write(CloseIssue(issue.node_id)))
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
    """One batch for all tasks. Returns where each record stands now; a task whose record was refused is not in it.

    New records come first, right after the last look: another conductor may be about to write one as well.
    """
    tasks = seen.snapshot.tasks
    orders = [
        order
        for decision in sorted(decisions, key=lambda item: tasks[item.task].comment is not None)
        for order in _orders(decision, tasks[decision.task], seen.snapshot.config)
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
    outbox: Outbox,
) -> None:
    """Dispatch what is claimed and note the run ids. A claim that could not be written starts nothing."""
    claimed = [item for item in decisions if item.start and item.task in written]
    for item in decisions:
        if item.start and item.task not in written:
            effects.skipped[item.task] = "its claim could not be written"
    found = {**known_baselines(seen.snapshot), **in_records(item.record for item in decisions)}
    units = [unit_of(item, written[item.task].id, seen.snapshot, found) for item in claimed]
    by_task = {item.task: item for item in claimed}
    for group in into_runs(units, seen.snapshot.config.dispatch.units_per_run):
        run, problem = dispatch_run(github, group, seen)
        for unit in group:
            record, words = _after_dispatch(_noted(by_task[unit.lead]), unit, run, problem, seen.snapshot.now)
            if problem:
                effects.skipped[unit.lead] = words
            else:
                effects.started[unit.lead] = run
            body = status_comment(record, words, seen.snapshot.config.prefix)
            issue = seen.snapshot.tasks[unit.lead].issue
            edit = EditComment(written[unit.lead].node_id, body)
            labels = status_changes(record.status, issue, seen.snapshot.config)
            outbox.put(f"#{unit.lead}", [edit, *labels])


def _after_dispatch(record: Record, unit: Unit, run: int, problem: str, now: datetime) -> tuple[Record, str]:
    """The record with its run, or with the claim ended where GitHub refused the dispatch: the key is spent, no strike."""
    if not problem:
        return with_live(record, run=run), f"running as {unit.keys[0]}"
    words = f"could not be dispatched: {problem}"
    record = ended(record, Outcome.INFRA, words, now)
    return replace(record, status=Status.READY, interruptions=record.interruptions + 1), words


def _tidy(github: GitHub, seen: Observation, effects: Effects, outbox: Outbox) -> None:
    """End runs whose task is gone, and close dashboards that two first ticks made at once, but for the oldest."""
    since, now = seen.state.orphans if seen.state else {}, seen.snapshot.now
    for run in seen.snapshot.orphans:
        asked = since.get(str(run))
        if asked is None or now - asked >= seen.snapshot.config.force_after:
            end_run(github, run, asked is not None, effects)
    outbox.put("dashboard", [CloseIssue(issue.node_id) for issue in seen.spare_dashboards])


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
    now = Outbox()  # before the tasks, so that what they need is there
    now.put("opening an issue", changes)
    now.send(github, effects)


def _relate(github: GitHub, plan: Plan, effects: Effects) -> None:
    """Show needs as GitHub's own relations. They are needs without that, so nothing waits for it and nothing fails by it."""
    for task, blocker in plan.relations:
        if task in effects.skipped:
            continue
        try:
            github.block(task, blocker)
            effects.writes += 1
        except (Refused, NotFound, CannotGoOn) as error:
            effects.refused.append(f"#{task} blocked by {blocker}: {error}")


def _respond(github: GitHub, plan: Plan, seen: Observation, effects: Effects, outbox: Outbox) -> None:
    """Say back what commands came to, after they were carried out: a reply that stands means that its comment was seen to.

    Where a task's decision waits for the next tick, so does what would be said about it. Right before a reply is written it is
    looked for once more: another conductor may have written it since the snapshot.
    """
    waits = {*effects.skipped, *effects.left}
    due = [response for response in plan.responses if response.number not in waits]
    outbox.put("reaction", [change for response in due for change in response.reactions])
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
    outbox.put("reply", replies, ahead=True)
