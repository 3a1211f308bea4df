"""The last look before anything is written: what has moved since the snapshot waits for the next tick."""

from collections.abc import Mapping, Sequence

from bot.conductor.act.batches import told_to_stop
from bot.conductor.act.outbox import Effects
from bot.conductor.observe.view import Observation
from bot.github.port import GitHub
from bot.model.config import Config
from bot.model.decision import Decision
from bot.model.issue import Comment, Issue, NeedState
from bot.model.ref import Ref
from bot.model.status import Status
from bot.model.task import Task
from bot.notation.digests import text_digest
from bot.notation.records import is_record
from bot.plan.starts.waiting import OFF


def recheck(
    github: GitHub, decisions: Sequence[Decision], seen: Observation, effects: Effects
) -> list[Decision]:
    """The decisions that hold: records and issues are read again, and before a start its needs and its batch, too."""
    tasks = seen.snapshot.tasks
    batches = {item.record.batch for item in decisions if item.start and item.record.batch}
    issues = github.issues(sorted({*batches, *(item.task for item in decisions)}))
    records = _records(github, [tasks[item.task] for item in decisions], issues)
    refs = sorted({ref for item in decisions if item.start for ref in tasks[item.task].needs}, key=str)
    needs = github.needs(refs) if refs else {}
    ended = told_to_stop(github, batches, issues, seen)
    fresh = []
    for decision in decisions:
        task = tasks[decision.task]
        if task.comment is not None and _moved(task.comment, records.get(task.comment.node_id)):
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


def _records(github: GitHub, tasks: Sequence[Task], issues: Mapping[int, Issue]) -> Mapping[str, Comment]:
    """The comments that hold the records, as they are now: with their issue, or by id where it does not show them."""
    shown = {comment.node_id: comment for issue in issues.values() for comment in issue.comments}
    hidden = [
        task.comment.node_id
        for task in tasks
        if task.comment is not None and task.comment.node_id not in shown
    ]
    return {**shown, **(github.comments_by_id(hidden) if hidden else {})}


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
