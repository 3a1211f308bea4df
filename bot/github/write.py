"""Changes as the input of GraphQL mutations. Text is in variables, never in a document."""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.github import documents
from bot.github.faults import clean
from bot.github.fit import fit, fit_title
from bot.github.sending import Ready, Sender
from bot.github.session import Session, whole
from bot.model.change import (
    AddLabel,
    Change,
    CloseIssue,
    CreateComment,
    CreateIssue,
    EditComment,
    EditIssue,
    React,
    RemoveLabel,
    ReopenIssue,
    Written,
)
from bot.model.errors import CannotGoOn


class Labels:
    """Label ids by name, and the repository's own id: filled by each view, looked up where it is silent."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._ids: dict[str, str] = {}
        self._repository = ""

    def learn(self, names: Mapping[str, str], repository: str = "") -> None:
        """Take ids (name -> id) that were read or made."""
        self._ids |= {name.casefold(): label for name, label in names.items()}
        self._repository = repository or self._repository

    def id(self, name: str) -> str | None:
        return self._ids.get(name.casefold())

    @property
    def repository(self) -> str:
        """The repository's node id, after `look_up`."""
        return self._repository

    @property
    def of(self) -> str:
        """The repository's name."""
        return self._session.repository

    def look_up(self, names: Sequence[str]) -> None:
        """Ask for those that are not known yet. Raises CannotGoOn if the repository cannot be read."""
        unknown = sorted({name for name in names if self.id(name) is None})
        for start in range(0, max(len(unknown), 0 if self._repository else 1), 100):
            asked = unknown[start : start + 100]
            variables = {"owner": self._session.owner, "name": self._session.name}
            variables |= {f"label_{i}": name for i, name in enumerate(asked)}
            reply = self._session.query(documents.labels(len(asked)), variables, "looking up labels")
            found = reply.data.get("repository")
            if not found:
                said = clean(reply.errors[0].get("message")) if reply.errors else "no words"
                raise CannotGoOn(
                    f"cannot read the labels of {self._session.repository}: {said}; it needs issues: read"
                )
            whole(reply, f"the labels of {self._session.repository}")
            known = (found.get(f"label_{i}") for i in range(len(asked)))
            self.learn({label["name"]: label["id"] for label in known if label}, found["id"])


def write(sender: Sender, labels: Labels, changes: Sequence[Change]) -> tuple[Written, ...]:
    """See `Writer.write`."""
    wanted = [name for change in changes for name in _label_names(change)]
    if any(labels.id(name) is None for name in wanted) or (
        not labels.repository and any(isinstance(change, CreateIssue) for change in changes)
    ):
        labels.look_up(wanted)
    answers: dict[int, Written] = {}
    ready: list[Ready] = []
    for place, change in enumerate(changes):
        missing = [name for name in _label_names(change) if labels.id(name) is None]
        if not missing:
            ready.append(Ready(place, change, _input(change, labels)))
        elif isinstance(change, RemoveLabel):
            answers[place] = Written()  # a label that the repository does not have is on no issue
        else:
            answers[place] = Written(error=f"{labels.of} has no label {', '.join(missing)}")
    answers |= sender.send(ready)
    return tuple(answers[place] for place in range(len(changes)))


def _input(change: Change, labels: Labels) -> dict[str, Any]:
    ids = [labels.id(name) for name in _label_names(change)]
    match change:
        case AddLabel(issue=issue) | RemoveLabel(issue=issue):
            return {"labelableId": issue, "labelIds": ids}
        case CreateComment(issue=issue, body=body):
            return {"subjectId": issue, "body": fit(body)}
        case EditComment(comment=comment, body=body):
            return {"id": comment, "body": fit(body)}
        case CloseIssue(issue=issue):
            return {"issueId": issue, "stateReason": "COMPLETED"}
        case ReopenIssue(issue=issue):
            return {"issueId": issue}
        case CreateIssue(title=title, body=body):
            return {
                "repositoryId": labels.repository,
                "title": fit_title(title),
                "body": fit(body),
                "labelIds": ids,
            }
        case EditIssue(issue=issue, body=body):
            return {"id": issue, "body": fit(body)}
        case React(subject=subject, content=content):
            return {"subjectId": subject, "content": content}


def _label_names(change: Change) -> tuple[str, ...]:
    match change:
        case AddLabel(label=label) | RemoveLabel(label=label):
            return (label,)
        case CreateIssue(labels=names):
            return names
        case _:
            return ()
