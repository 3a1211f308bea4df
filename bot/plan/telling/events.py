"""What happened, by comparing: the records before a tick, the decisions, and what came of carrying them out."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from bot.model.batch import BatchRecord, BatchState
from bot.model.decision import BatchStep, Decision, Plan
from bot.model.event import Event
from bot.model.record import Attempt, Record
from bot.model.report import INTERRUPTIONS, STRIKES, Outcome
from bot.model.snapshot import Snapshot
from bot.model.status import Status
from bot.model.task import Task
from bot.notation.keys import Key

_HOOKS = ("before_task", "after_task_success", "after_task_failure")
_TURNS_MOST = 100  # of one attempt
_QUEUED = (Status.BACKLOG, Status.READY, Status.BLOCKED, Status.FAILED)


class Reloaded(StrEnum):
    """What became of the configuration since the last tick."""

    SAME = ""
    RELOADED = "config.reloaded"
    REJECTED = "config.rejected"


class Done(Struct, frozen=True):
    """What came of a plan: tasks started (-> run), tasks left to the next tick, and how many writes GitHub refused."""

    started: Mapping[int, int] = MappingProxyType({})
    skipped: Mapping[int, str] = MappingProxyType({})
    refused: int = 0
    configuration: Reloaded = Reloaded.SAME


def events_of(before: Snapshot, decided: Plan, done: Done) -> tuple[Event, ...]:
    """Everything that this tick made true, in a fixed order: configuration, reconciliation, then task by task."""
    happened = [item for item in decided.decisions if item.task not in done.skipped]
    events: list[Event] = []
    if done.configuration is not Reloaded.SAME:
        events.append(Event(done.configuration.value, before.now))
    reconciled = [event for item in happened for event in _reconciled(item, before)]
    reconciled += _errors(before, done)
    if reconciled:
        events += [
            Event("reconcile.started", before.now, more={"tasks": len(decided.decisions)}),
            *reconciled,
        ]
    for item in happened:
        task = before.tasks[item.task]
        events += _attempts(item, task, done, before)
        events += _questions(item, task, before)
        if item.status is Status.MERGED and task.record.status is not Status.MERGED:
            events.append(Event("task.merged", before.now, item.task, pull=item.record.pull))
    for step in decided.batches:
        events += _batch(step, happened, events, before)
    return (*events, *_shared_fixes(before, decided))


_OF_MEMBERS = {
    "run.started": "batch.task_started",
    "run.completed": "batch.task_completed",
    "run.blocked": "batch.task_blocked",
    "reconcile.task_skipped": "batch.task_skipped",
}


def _batch(
    step: BatchStep, happened: Sequence[Decision], events: Sequence[Event], before: Snapshot
) -> list[Event]:
    """What became of one batch: of itself, by its record, and of its members, by what happened to them."""
    was, now, order = step.batch.record, step.record, step.batch.order
    if order is None:
        return []
    plain = Event("", before.now, batch=step.number)
    found: list[Event] = []
    begins = now.state is BatchState.RUNNING and was.state is not BatchState.RUNNING
    if begins or now.rounds > was.rounds:
        more = {
            "tasks": order.tasks,
            "strategy": order.strategy.value,
            "resume": begins and was.state.ended,
            "retry": now.rounds if now.rounds > was.rounds else 0,
        }
        found.append(replace(plain, event="batch.started", more=more))
    decisions = {item.task: item for item in happened if item.task in order.tasks}
    found += [
        replace(plain, event="batch.task_queued", task=item.task)
        for item in decisions.values()
        if item.record.batch == step.number and before.tasks[item.task].record.batch != step.number
    ]
    found += [
        replace(event, event=name, batch=step.number, more={})
        for event in events
        if event.task in decisions and (name := _of_member(event, decisions[event.task]))
    ]
    if now.gate is not None and now.gate.passed is False and (was.gate is None or was.gate.passed is None):
        found.append(
            replace(
                plain,
                event="batch.validation_failed",
                task=now.gate.guilty,
                more={
                    "tasks": now.gate.tasks,
                    "trials": len(now.gate.trials),
                    "gates": now.gate.failing,
                    "summary": now.gate.reason.partition(":")[0],  # what follows may hold words of others
                },
            )
        )
    if now.state.ended and not was.state.ended:
        found.append(replace(plain, event=f"batch.{now.state}", more=_counts(order.tasks, decisions, now)))
    return found


def _of_member(event: Event, item: Decision) -> str:
    if event.event == "run.failed":
        return "batch.task_failed" if item.status is Status.FAILED else "batch.task_retried"
    return _OF_MEMBERS.get(event.event, "")


def _counts(
    tasks: Sequence[int], decisions: Mapping[int, Decision], record: BatchRecord
) -> dict[str, int | bool]:
    statuses = [item.status for item in decisions.values()]
    return {
        "total": len(tasks),
        "passed": sum(status in (Status.DONE, Status.MERGED) for status in statuses),
        "failed": statuses.count(Status.FAILED),
        "blocked": statuses.count(Status.BLOCKED),
        "rounds": record.rounds,
        "force": record.control is not None and record.control.force,
        "ended_runs": sum(item.cancel is not None for item in decisions.values()),
    }


def _shared_fixes(before: Snapshot, decided: Plan) -> Iterator[Event]:
    label = before.config.label("shared-fix").casefold()
    for opened in decided.opens:
        if label in (name.casefold() for name in opened.labels):
            yield Event("shared_fix.opened", before.now)
    for failure, fixed in decided.fixed.items():
        if before.fixed.get(failure) != fixed:
            yield Event("shared_fix.closed", before.now, fixed.issue)


def _errors(before: Snapshot, done: Done) -> Iterator[Event]:
    count = done.refused + sum(bool(task.record_problem) for task in before.tasks.values())
    if count:
        yield Event("reconcile.error", before.now, more={"count": count})


def _reconciled(item: Decision, before: Snapshot) -> Iterator[Event]:
    task = before.tasks[item.task]
    live = task.record.live
    if item.cancel is not None and not item.cancel.force:
        key = str(Key(item.task, item.record.attempts[-1].number))
        reason = _unwanted(item, task)
        yield Event(
            "reconcile.task_killed", before.now, item.task, key=key, run=item.cancel.run, reason=reason
        )
    elif (
        live is None
        and not task.issue.is_open
        and task.record.status in _QUEUED
        and item.status not in (*_QUEUED, Status.MERGED)
    ):
        reason = "completed" if item.status is Status.DONE else "dropped"
        yield Event("reconcile.task_skipped", before.now, item.task, reason=reason)
    if item.status is Status.READY and task.record.status is not Status.READY:
        reason = _requeued(task.record, item.record)
        if reason:
            yield Event("reconcile.task_requeued", before.now, item.task, reason=reason)


def _unwanted(item: Decision, task: Task) -> str:
    if not task.issue.is_open:
        return "closed"
    return f"now {item.status}" if item.status else "withdrawn"


def _requeued(before: Record, after: Record) -> str:
    """Why a task is ready again, where that was neither a person's label nor a failure; empty otherwise."""
    if len(after.answers) > len(before.answers):
        return "answered"
    if before.live is not None and after.live is None and after.attempts[-1].outcome in INTERRUPTIONS:
        return str(after.attempts[-1].outcome)
    return "review" if after.reviewed_at != before.reviewed_at else ""


def _attempts(item: Decision, task: Task, done: Done, before: Snapshot) -> Iterator[Event]:
    """Attempts that began or ended."""
    over = {attempt.number for attempt in task.record.attempts if not attempt.live}
    for attempt in item.record.attempts:
        key = str(Key(item.task, attempt.number))
        if item.start is not None and attempt.number == item.start.number:
            if item.task in done.started:
                run = done.started[item.task]
                yield Event(
                    "run.started", before.now, item.task, key=key, run=run, more={"kind": str(attempt.kind)}
                )
        elif attempt.outcome is not None and attempt.number not in over:
            yield from _reported(item, attempt, key, before)
            yield _ended(item, attempt, attempt.outcome, key, before)


def _reported(item: Decision, attempt: Attempt, key: str, before: Snapshot) -> Iterator[Event]:
    """What only the report tells: steps of the agent, those of one category in a row as one, and hooks."""
    report = next((report for report in before.reports.values() if report and report.key == key), None)
    if report is None:
        return
    plain = Event("", before.now, item.task, key=key, run=attempt.run)
    turns = [
        step
        for at, step in enumerate(report.steps)
        if at == 0 or report.steps[at - 1].category != step.category
    ]
    for place, step in enumerate(turns[:_TURNS_MOST]):
        following = turns[place + 1] if place + 1 < len(turns) else report.steps[-1]
        for name, second in (("agent.step_started", step.at), ("agent.step_completed", following.at)):
            more = {"category": step.category.value, "second": round(second)}
            yield replace(plain, event=name, more=more)
    for hook in report.hooks:
        name = "hook.executed" if hook.passed else "hook.failed"
        yield replace(plain, event=name, reason=hook.name if hook.name in _HOOKS else "unknown")


def _ended(item: Decision, attempt: Attempt, outcome: Outcome, key: str, before: Snapshot) -> Event:
    if outcome is Outcome.PASSED:
        name = "run.completed"
    elif outcome in INTERRUPTIONS:
        name = "run.cancelled"
    elif outcome in STRIKES or item.status is not Status.BLOCKED:
        name = "run.failed"
    else:
        name = "run.blocked"
    return Event(
        name,
        before.now,
        item.task,
        key=key,
        run=attempt.run,
        pull=attempt.pull,
        reason=str(outcome),
        more={"kind": str(attempt.kind), "minutes": round(attempt.minutes, 1)},
    )


def _questions(item: Decision, task: Task, before: Snapshot) -> Iterator[Event]:
    was, now = task.record, item.record
    if len(now.answers) > len(was.answers):
        yield Event("blocker.answered", before.now, item.task)
    if now.blocker is not None and (
        was.blocker is None or was.blocker.fingerprint != now.blocker.fingerprint
    ):
        yield Event("blocker.created", before.now, item.task)
    if was.live is not None and now.live is None and now.attempts[-1].outcome is Outcome.PASSED:
        earlier = [attempt.outcome for attempt in was.attempts if not attempt.live]
        if was.answers and earlier and earlier[-1] is Outcome.BLOCKED:
            yield Event("blocker.resolved", before.now, item.task)
