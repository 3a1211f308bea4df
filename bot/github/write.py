"""Changes as GraphQL mutations, many in one document by alias. Text is in variables, never in the document."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.github import documents
from bot.github.faults import clean, forbidden, where
from bot.github.fit import fit, fit_title
from bot.github.session import Session
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

MAX_CHANGES = 40
MAX_BYTES = (
    400_000  # of text in one document; GitHub names no limit, this is far below what it is seen to take
)

_ISSUE = "{ id fullDatabaseId number }"
_LABELABLE = f"labelable {{ ... on Issue {_ISSUE} ... on PullRequest {_ISSUE} }}"
_COMMENT = "{ id fullDatabaseId body issue { number } }"
_MUTATIONS = {
    AddLabel: ("addLabelsToLabelable", "AddLabelsToLabelableInput", _LABELABLE),
    RemoveLabel: ("removeLabelsFromLabelable", "RemoveLabelsFromLabelableInput", _LABELABLE),
    CreateComment: ("addComment", "AddCommentInput", f"commentEdge {{ node {_COMMENT} }}"),
    EditComment: ("updateIssueComment", "UpdateIssueCommentInput", f"issueComment {_COMMENT}"),
    CloseIssue: ("closeIssue", "CloseIssueInput", f"issue {_ISSUE}"),
    ReopenIssue: ("reopenIssue", "ReopenIssueInput", f"issue {_ISSUE}"),
    CreateIssue: ("createIssue", "CreateIssueInput", f"issue {_ISSUE}"),
    EditIssue: ("updateIssue", "UpdateIssueInput", "issue { id fullDatabaseId number body }"),
    React: ("addReaction", "AddReactionInput", "subject { id }"),
}


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
            known = (found.get(f"label_{i}") for i in range(len(asked)))
            self.learn({label["name"]: label["id"] for label in known if label}, found["id"])


def write(session: Session, labels: Labels, changes: Sequence[Change]) -> tuple[Written, ...]:
    """See `Writer.write`."""
    wanted = [name for change in changes for name in _label_names(change)]
    if any(labels.id(name) is None for name in wanted) or (
        not labels.repository and any(isinstance(change, CreateIssue) for change in changes)
    ):
        labels.look_up(wanted)
    answers: dict[int, Written] = {}
    ready: list[tuple[int, Change, dict[str, Any]]] = []
    for place, change in enumerate(changes):
        missing = [name for name in _label_names(change) if labels.id(name) is None]
        if not missing:
            ready.append((place, change, _input(change, labels)))
        elif isinstance(change, RemoveLabel):
            answers[place] = Written()  # a label that the repository does not have is on no issue
        else:
            answers[place] = Written(error=f"{session.repository} has no label {', '.join(missing)}")
    for chunk in _chunks(ready):
        answers |= _send(session, chunk)
    return tuple(answers[place] for place in range(len(changes)))


def document(changes: Sequence[Change]) -> str:
    """The mutation for these changes: alias and variable `c<i>` each."""
    parts = [(i, *_MUTATIONS[type(change)]) for i, change in enumerate(changes)]
    declared = ", ".join(f"$c{i}: {kind}!" for i, _, kind, _ in parts)
    body = "\n".join(f"  c{i}: {name}(input: $c{i}) {{ {fields} }}" for i, name, _, fields in parts)
    return f"mutation Write({declared}) {{\n{body}\n}}"


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


_Ready = tuple[int, Change, dict[str, Any]]


def _chunks(ready: Sequence[_Ready]) -> Iterator[list[_Ready]]:
    chunk: list[_Ready] = []
    size = 0
    for one in ready:
        weight = sum(len(value.encode()) for value in one[2].values() if isinstance(value, str))
        if chunk and (len(chunk) == MAX_CHANGES or size + weight > MAX_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(one)
        size += weight
    if chunk:
        yield chunk


def _send(session: Session, chunk: Sequence[_Ready]) -> dict[int, Written]:
    variables = {f"c{i}": value for i, (_, _, value) in enumerate(chunk)}
    reply = session.mutate(
        document([change for _, change, _ in chunk]), variables, f"writing to {session.repository}"
    )
    void = [error for error in reply.errors if not where(error)]
    if reply.errors and not any(reply.data.values()) and all(forbidden(error) for error in reply.errors):
        said = clean(reply.errors[0].get("message"))
        raise CannotGoOn(
            f"the token may not write to {session.repository} ({said}); it needs the permission issues: write"
        )
    refusals = {where(error)[0]: clean(error.get("message")) for error in reply.errors if where(error)}
    answers = {}
    for i, (place, change, sent) in enumerate(chunk):
        alias = f"c{i}"
        answer = reply.data.get(alias)
        if answer is None:
            said = refusals.get(alias) or (
                clean(void[0].get("message")) if void else "GitHub did not say what became of it"
            )
            gone = isinstance(change, RemoveLabel) and str(sent["labelIds"][0]) in said
            answers[place] = Written() if gone else Written(error=said)
        else:
            answers[place] = _written(change, sent, answer)
    return answers


def _written(change: Change, sent: Mapping[str, Any], answer: Mapping[str, Any]) -> Written:
    edge = answer.get("commentEdge") or {}
    kinds = ("issueComment", "issue", "labelable", "subject")
    node = next((answer[kind] for kind in kinds if answer.get(kind)), edge.get("node") or {})
    if isinstance(change, EditComment | EditIssue) and not _same(sent["body"], str(node.get("body"))):
        return Written(error="GitHub accepted the new text and did not store it")
    return Written(
        node_id=node.get("id") or "",
        id=int(node.get("fullDatabaseId") or 0),
        number=int(node.get("number") or (node.get("issue") or {}).get("number") or 0),
    )


def _same(sent: str, stored: str) -> bool:
    """GitHub may store line ends and outer blanks in its own way."""
    return sent.replace("\r\n", "\n").strip() == stored.replace("\r\n", "\n").strip()
