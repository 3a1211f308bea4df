"""`cf plan` and `cf why`: what the next tick would decide and why, without writing anything."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from bot.conductor.observe import observe
from bot.conductor.observe.lookups import look_up
from bot.conductor.observe.view import Observation
from bot.conductor.tick import decide
from bot.conductor.workflow_settings import read_settings
from bot.github.port import GitHub
from bot.model.decision import Decision, Plan
from bot.model.engine import RepositorySettings
from bot.model.errors import UsageError
from bot.model.issue import NeedState
from bot.model.record import Attempt
from bot.model.snapshot import NeedOf, Snapshot
from bot.model.task import Task
from bot.notation.keys import Key
from bot.notation.quoting import quote_line
from bot.plan.board import engine_for
from bot.plan.facts.obstacles import lines_of, outlook, words_of
from bot.plan.starts.starts import expected_order
from bot.plan.starts.waiting import state_of
from bot.printing import say, say_json


def foresee(
    github: GitHub, now: datetime, settings: RepositorySettings = RepositorySettings()
) -> tuple[Observation, Plan]:
    """Observe and plan as a tick would. Raises what the port raises."""
    return decide(github, observe(github, now, settings))


def plan_lines(seen: Observation, decided: Plan) -> Iterator[str]:
    """One line for each tracked task: its number, status, what would be done, and why; and who comes when."""
    for decision in decided.decisions:
        title = quote_line(seen.snapshot.tasks[decision.task].issue.title, 50)
        yield f"#{decision.task} {title} [{decision.status or '-'}] {decision.verb}: {quote_line(decision.reason)}"
    for line in lines_of(decided.obstacles, seen.snapshot.now):
        yield f"in the way: {line}"
    order = expected_order(seen.snapshot, decided.decisions)
    if len(order) > 1:
        yield f"expected order: {', '.join(f'#{number}' for number in order)}"
    if not decided.decisions:
        yield f"no task: label an issue {seen.snapshot.config.label('ready')}"


def plan_json(decided: Plan) -> str:
    """The same for machines: a JSON list, one object for each task."""
    return json.dumps(
        [
            {
                "task": decision.task,
                "status": decision.status,
                "decision": decision.verb,
                "reason": decision.reason,
                "due": decision.due.isoformat() if decision.due else None,
            }
            for decision in decided.decisions
        ],
        indent=2,
    )


def why_lines(
    github: GitHub, now: datetime, number: int, settings: RepositorySettings = RepositorySettings()
) -> Iterator[str]:
    """All that bears on one task. Raises UsageError if it is not tracked."""
    seen, decided = foresee(github, now, settings)
    task = seen.snapshot.tasks.get(number)
    decision = next((item for item in decided.decisions if item.task == number), None)
    if task is None or decision is None:
        label = seen.snapshot.config.label("ready")
        raise UsageError(f"#{number} is no task: it has no status label of ours; {label} makes it one")
    yield f"#{number} {quote_line(task.issue.title, 80)}"
    yield f"  now: {decision.status or 'no status'}; the next tick would {_verb(decision)}"
    yield f"  because: {quote_line(decision.reason)}"
    for obstacle in (one for one in decided.obstacles if number in one.tasks):
        yield f"  met: {words_of(obstacle)}; {outlook(obstacle, now)}"
    if choice := engine_for(number, seen.snapshot).because:
        yield f"  works on it: {quote_line(choice)}"
    # The plan looked up only what its decision depends on.
    unknown = {NeedOf(ref) for ref in task.needs if state_of(ref, seen.snapshot) is None}
    yield from _facts(task, decision, look_up(github, seen.snapshot, unknown))


def _verb(decision: Decision) -> str:
    return {"running": "let it run", "hold": "leave it"}.get(decision.verb, f"{decision.verb} it")


def _facts(task: Task, decision: Decision, snapshot: Snapshot) -> Iterator[str]:
    record = decision.record
    for ref in task.needs:
        state = state_of(ref, snapshot) or NeedState.UNKNOWN
        yield f"  needs {ref}: {state}{' (met)' if state.satisfied else ''}"
    if record.approval is not None:
        yield f"  ordered by {quote_line(record.approval.by)} at {record.approval.at:%Y-%m-%d %H:%M:%S} UTC"
    if record.strikes:
        yield f"  strikes: {record.strikes} of {snapshot.config.retry.max_attempts}"
    if decision.due is not None:
        yield f"  looked at again: {decision.due:%Y-%m-%d %H:%M:%S} UTC"
    for attempt in record.attempts:
        yield f"  {_attempt(record.task, attempt)}"


def _attempt(task: int, attempt: Attempt) -> str:
    run = f" in run {attempt.run}" if attempt.run else ""
    ended = attempt.outcome or "running"
    why = f": {quote_line(attempt.reason)}" if attempt.reason else ""
    return f"{Key(task, attempt.number)} ({attempt.kind}){run}: {ended}{why}"


def show_plan(environ: Mapping[str, str], *, as_json: bool) -> int:
    """Print what the next tick would decide."""
    from bot.console.plan_and_why import foresee, plan_json, plan_lines
    from bot.github.client import connect

    seen, decided = foresee(connect(environ), datetime.now(UTC), read_settings(environ))
    if as_json:
        say_json(plan_json(decided))
    else:
        say("\n".join(plan_lines(seen, decided)))
    return 0


def explain(environ: Mapping[str, str], number: int) -> int:
    """Print all that bears on one task. Raises UsageError if it is none."""
    from bot.console.plan_and_why import why_lines
    from bot.github.client import connect

    say("\n".join(why_lines(connect(environ), datetime.now(UTC), number, read_settings(environ))))
    return 0
