"""Signatures on what we keep on GitHub, checked at the door: what is not signed with the key cannot be read behind it.

Every workflow of a repository writes as one bot account, so an author alone does not prove that a record is ours. The secret
CF_STATE_KEY does; only conductor, cf-batch and publish jobs have it. A signature holds in one place only.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, TypeVar, cast

from msgspec.structs import replace

from bot.github.port import GitHub
from bot.model.change import Change, CreateComment, CreateIssue, EditComment, EditIssue, Written
from bot.model.errors import BotError, UsageError
from bot.model.issue import Comment, Issue
from bot.model.view import View
from bot.notation.marker import checked, signed

SEALED = frozenset({"record", "state", "batch", "batch-record", "batch-control"})
"""The markers that decide something. A notice's fingerprint only keeps it from being posted twice."""

_SHORTEST = 32
_T = TypeVar("_T", bound=GitHub)


def read_key(environ: Mapping[str, str]) -> str:
    """CF_STATE_KEY, or nothing. Raises UsageError if it could be guessed."""
    key = environ.get("CF_STATE_KEY", "").strip()
    if key and len(key) < _SHORTEST:
        raise UsageError(
            f"CF_STATE_KEY must have at least {_SHORTEST} characters: make one with `openssl rand -hex 32`"
        )
    return key


def with_signatures(github: _T, key: str) -> _T:
    """The same GitHub, which signs what is written through it and spoils what was read without the right signature."""
    return cast(_T, _Sealed(github, key))  # it hands on whatever it does not look at


def places_of_comment(issue: int, node_id: str) -> tuple[str, ...]:
    """For what a marker in this comment may be signed, best first.

    A comment has no id yet when it is made, so then it is signed for its issue, and for itself when it is edited first. Before
    there were places, everything was signed for none.
    """
    return f"#{issue} {node_id}", f"#{issue}", ""


def places_of_issue(number: int) -> tuple[str, ...]:
    """For what a marker in this issue's text may be signed, best first."""
    return f"#{number}", ""


class _Sealed:
    """Looks at everything that carries comments and issues; all else is the other's."""

    def __init__(self, github: GitHub, key: str) -> None:
        self._github = github
        self._key = key
        self._numbers: dict[str, int] = {}  # of the issue, by its node id and by those of its comments

    def __getattr__(self, name: str) -> Any:
        return getattr(self._github, name)

    def view(
        self,
        prefix: str,
        changed_since: datetime | None,
        also: Sequence[int] = (),
        watched: Sequence[str] = (),
    ) -> View:
        view = self._github.view(prefix, changed_since, also, watched)
        return replace(view, issues=tuple(map(self._issue, view.issues)))

    def issue(self, number: int) -> Issue:
        return self._issue(self._github.issue(number))

    def issues(self, numbers: Sequence[int]) -> Mapping[int, Issue]:
        return {number: self._issue(issue) for number, issue in self._github.issues(numbers).items()}

    def labelled(self, label: str, *, closed: bool = False) -> tuple[Issue, ...]:
        return tuple(map(self._issue, self._github.labelled(label, closed=closed)))

    def comments_since(self, since: datetime) -> tuple[Comment, ...]:
        return tuple(map(self._comment, self._github.comments_since(since)))

    def comments_by_id(self, node_ids: Sequence[str]) -> Mapping[str, Comment]:
        return {node: self._comment(one) for node, one in self._github.comments_by_id(node_ids).items()}

    def comments_on(self, number: int) -> tuple[Comment, ...]:
        return tuple(map(self._comment, self._github.comments_on(number)))

    def comment(self, comment_id: int) -> Comment:
        return self._comment(self._github.comment(comment_id))

    def write(self, changes: Sequence[Change]) -> tuple[Written, ...]:
        written = self._github.write([self._change(change) for change in changes])
        for change, said in zip(changes, written, strict=True):
            if isinstance(change, CreateComment) and said.node_id and change.issue in self._numbers:
                self._numbers[said.node_id] = self._numbers[change.issue]
        self._sign_for_their_places(changes, written)
        return written

    def _sign_for_their_places(self, changes: Sequence[Change], written: Sequence[Written]) -> None:
        """Issues just made, which had no number when they were signed. Where that fails, their first signature holds."""
        edits: list[Change] = []
        for change, said in zip(changes, written, strict=True):
            if isinstance(change, CreateIssue) and said.node_id and said.number:
                self._numbers[said.node_id] = said.number
                edit = self._change(EditIssue(said.node_id, change.body))
                edits += [edit] if edit != EditIssue(said.node_id, change.body) else []
        if edits:
            with suppress(BotError):
                self._github.write(edits)

    def _change(self, change: Change) -> Change:
        if not isinstance(change, CreateComment | EditComment | CreateIssue | EditIssue):
            return change
        return replace(change, body=signed(change.body, self._key, SEALED, self._place(change)))

    def _place(self, change: CreateComment | EditComment | CreateIssue | EditIssue) -> str:
        """The best place that is known now: an issue that is made has none yet."""
        match change:
            case EditComment(comment=node_id) if node_id in self._numbers:
                return places_of_comment(self._numbers[node_id], node_id)[0]
            case CreateComment(issue=node_id) | EditIssue(issue=node_id) if node_id in self._numbers:
                return places_of_issue(self._numbers[node_id])[0]
        return ""

    def _comment(self, comment: Comment) -> Comment:
        self._numbers[comment.node_id] = comment.issue
        body = checked(comment.body, (self._key,), SEALED, places_of_comment(comment.issue, comment.node_id))
        return comment if body == comment.body else replace(comment, body=body)

    def _issue(self, issue: Issue) -> Issue:
        self._numbers[issue.node_id] = issue.number
        body = checked(issue.body, (self._key,), SEALED, places_of_issue(issue.number))
        comments = tuple(map(self._comment, issue.comments))
        return (
            issue
            if (body, comments) == (issue.body, issue.comments)
            else replace(issue, body=body, comments=comments)
        )
