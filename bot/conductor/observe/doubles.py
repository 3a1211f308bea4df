"""Comments of ours that stand twice, as far as this look shows them: among the first of an issue, and those that are new."""

from collections.abc import Collection, Iterable

from bot.model.issue import Comment, Issue
from bot.model.task import Task
from bot.plan.facts.doubles import doubles_among


def doubles_of(
    tasks: Iterable[Task], others: Iterable[Issue], recent: Iterable[Comment], accounts: Collection[int]
) -> tuple[tuple[Comment, Comment], ...]:
    """Each with the one that stays: the record that a task goes by, the comment under which its question is answered."""
    tasks = tuple(tasks)
    kept = {task.comment.node_id for task in tasks if task.comment is not None}
    kept |= {task.record.asked_in for task in tasks}
    shown = [comment for task in tasks for comment in task.issue.comments]
    shown += [
        task.comment for task in tasks if task.comment is not None
    ]  # far down, where only the index finds it
    shown += [comment for issue in others for comment in issue.comments]
    return doubles_among([*shown, *recent], accounts, kept)
