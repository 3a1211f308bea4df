"""Our labels: which there are, and what has to change on an issue for it to carry the right one."""

from bot.model.change import AddLabel, Change, RemoveLabel
from bot.model.config import Config
from bot.model.issue import Issue
from bot.model.status import Status

LABELS = {
    Status.BACKLOG: ("c5def5", "known, not ordered yet"),
    Status.READY: ("0e8a16", "ordered: starts when its needs are met and a slot is free"),
    Status.IN_PROGRESS: ("fbca04", "an attempt is under way"),
    Status.BLOCKED: ("d93f0b", "a question or a reason holds it"),
    Status.FAILED: ("b60205", "out of attempts"),
    Status.DONE: ("5319e7", "a verified pull request waits, or it was completed elsewhere"),
    Status.MERGED: ("6f42c1", "its pull request was merged"),
}


def label_names(config: Config) -> dict[str, tuple[str, str]]:
    """Every label of ours: its name with colour and description."""
    names = {config.label(status): look for status, look in LABELS.items()}
    names[config.label("dashboard")] = ("ededed", "where the conductor keeps its cursors")
    names[config.label("regression")] = ("b60205", "merged work that broke something")
    names[config.label("pause")] = ("000000", "holds every start while it is on the dashboard, or this task")
    names[config.label("shared-fix")] = ("1d76db", "mends a failure that several tasks share")
    return names


def status_changes(status: Status | None, issue: Issue, config: Config) -> list[Change]:
    """What makes the issue carry this status label and no other: add the new, then remove the others, each by its stored spelling.

    Labels of people stay.
    """
    wanted = config.label(status).casefold() if status else ""
    ours = {config.label(status).casefold() for status in Status}
    changes: list[Change] = []
    if status and not issue.has_label(wanted):
        changes.append(AddLabel(issue.node_id, config.label(status)))
    changes += [
        RemoveLabel(issue.node_id, label)
        for label in issue.labels
        if label.casefold() in ours and label.casefold() != wanted
    ]
    return changes
