"""Signatures on what we keep on GitHub, checked at the door: what is not signed with the key cannot be read behind it.

Every workflow of a repository writes as one bot account, so an author alone does not prove that a record is ours. The secret
CF_STATE_KEY does; only conductor, cf-batch and publish jobs have it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

from msgspec.structs import replace

from bot.github.port import GitHub
from bot.model.change import Change, CreateComment, CreateIssue, EditComment, EditIssue, Written
from bot.model.errors import UsageError
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


class _Sealed:
    """Looks at everything that carries comments and issues; all else is the other's."""

    def __init__(self, github: GitHub, key: str) -> None:
        self._github = github
        self._key = key

    def __getattr__(self, name: str) -> Any:
        return getattr(self._github, name)

    def view(self, prefix: str, changed_since: datetime | None, also: Sequence[int] = ()) -> View:
        view = self._github.view(prefix, changed_since, also)
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
        return self._github.write([self._change(change) for change in changes])

    def _change(self, change: Change) -> Change:
        if isinstance(change, CreateComment | EditComment | CreateIssue | EditIssue):
            return replace(change, body=signed(change.body, self._key, SEALED))
        return change

    def _comment(self, comment: Comment) -> Comment:
        body = checked(comment.body, (self._key,), SEALED)
        return comment if body == comment.body else replace(comment, body=body)

    def _issue(self, issue: Issue) -> Issue:
        body = checked(issue.body, (self._key,), SEALED)
        comments = tuple(map(self._comment, issue.comments))
        return (
            issue
            if (body, comments) == (issue.body, issue.comments)
            else replace(issue, body=body, comments=comments)
        )
