"""What happened between two looks, in plain lines."""

from collections.abc import Iterator

from bot.sandbox.play.task_states import WORKER, Facts, RunFacts, TaskFacts

# How a conductor's run may end without anybody being told: waiting ones are replaced by newer ones all the time.
_UNTOLD = ("success", "skipped", "cancelled")


def changes(before: Facts | None, after: Facts) -> Iterator[str]:
    """One line for each thing that a person who watches wants to know."""
    old_tasks = {task.number: task for task in before.tasks} if before else {}
    old_runs = {run.id: run for run in before.runs} if before else {}
    for run in after.runs:
        yield from _run_changes(old_runs.get(run.id), run)
    for task in after.tasks:
        yield from _task_changes(old_tasks.get(task.number), task)


def _run_changes(before: RunFacts | None, after: RunFacts) -> Iterator[str]:
    began = before is None or before.status in ("queued", "pending")
    if after.workflow == WORKER:
        legs = ", ".join(f"#{task}" for task in after.tasks)
        if began and after.status == "in_progress":
            yield f"run {after.id} began: {legs}"
        known = {name: conclusion for name, _, conclusion in before.jobs} if before else {}
        for name, status, conclusion in after.jobs:
            if status == "completed" and known.get(name) is None and conclusion not in ("skipped", None):
                yield f"run {after.id}: {name}: {conclusion}"
    told = after.workflow == WORKER or after.conclusion not in _UNTOLD
    if told and after.ended and (before is None or not before.ended):
        yield f"run {after.id} ended: {after.conclusion}" + (f" ({after.problem})" if after.problem else "")


def _task_changes(before: TaskFacts | None, after: TaskFacts) -> Iterator[str]:
    known = {pull.number for pull in before.pulls} if before else set()
    for pull in after.pulls:
        if pull.number not in known:
            yield f"#{after.number} pull request #{pull.number} is open"
    was = before.word if before else "open"
    if was == "open" and after.word == "ready":
        needs = ", ".join(f"#{need}" for need in after.needs)
        yield f"#{after.number} ordered: {after.title}" + (f", after {needs}" if needs else "")
    elif was != after.word:
        yield f"#{after.number} {was} → {after.word}{_why(after) if was == 'in-progress' else ''}"


def _why(task: TaskFacts) -> str:
    last = task.attempts[-1] if task.attempts else None
    if last is None or last.live or last.outcome is None or task.word in ("merged", "done"):
        return ""
    outcome = str(last.outcome).replace("_", " ")
    if not last.reason:
        return f" ({outcome})"
    return f" ({last.reason})" if outcome == task.word else f" ({outcome}: {last.reason})"
