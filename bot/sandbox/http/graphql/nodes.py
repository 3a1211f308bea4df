"""What GraphQL's resolvers share: the context of a request, things that are no part of the world, pages of lists."""

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

from bot.model.issue import Account, NeedState
from bot.model.ref import Ref
from bot.sandbox.http.graphql.cost import Cost
from bot.sandbox.world import ApiError, IssueState, PullState, Token, World, WorldRun
from bot.sandbox.world.errors import not_found
from bot.sandbox.world.limits import Unfinished

_T = TypeVar("_T")
Json = dict[str, Any]
EVENT_TYPES = {
    "labeled": "LabeledEvent",
    "unlabeled": "UnlabeledEvent",
    "closed": "ClosedEvent",
    "reopened": "ReopenedEvent",
    "renamed": "RenamedTitleEvent",
}
ITEM_TYPES = {
    "labeled": "LABELED_EVENT",
    "unlabeled": "UNLABELED_EVENT",
    "closed": "CLOSED_EVENT",
    "reopened": "REOPENED_EVENT",
    "renamed": "RENAMED_TITLE_EVENT",
}


@dataclass(frozen=True, slots=True)
class Context:
    """What every resolver sees."""

    world: World
    token: Token
    cost: Cost
    broken: list[Exception] = field(default_factory=list)
    unfinished: Unfinished | None = None
    places: Iterator[int] = field(default_factory=count)

    def may_read(self, *scopes: str) -> None:
        self.world.accounts.require(self.token, "read", *scopes, role="read")

    def node(self, node_id: str, kind: type[_T]) -> _T:
        """Raises ApiError in GitHub's words if there is no such thing of that kind."""
        node = self.world.issues.node(node_id)
        if not isinstance(node, kind):
            raise not_found(f"Could not resolve to a node with the global id of '{node_id}'")
        return node


@dataclass(frozen=True, slots=True)
class Foreign:
    """A repository of which the world knows only how some issues stand."""

    name_with_owner: str


@dataclass(frozen=True, slots=True)
class ForeignIssue:
    ref: Ref
    need: NeedState


@dataclass(frozen=True, slots=True)
class ForeignPull(ForeignIssue):
    pass


@dataclass(frozen=True, slots=True)
class Milestone:
    number: int
    title: str


@dataclass(frozen=True, slots=True)
class Viewer:
    account: Account


@dataclass(frozen=True, slots=True)
class CheckSuiteRef:
    run: WorldRun


@dataclass(frozen=True, slots=True)
class CommitRef:
    oid: str


@dataclass(frozen=True, slots=True)
class Branch:
    name: str
    oid: str


@dataclass(frozen=True, slots=True)
class BlobRef:
    oid: str
    data: bytes


def issue_of(source: IssueState | PullState) -> IssueState:
    return source.issue if isinstance(source, PullState) else source


def connection(
    items: Sequence[_T],
    key: Callable[[_T], object],
    *,
    first: int | None = None,
    last: int | None = None,
    after: str | None = None,
    before: str | None = None,
) -> Json:
    """A page of a list. A cursor names an item, so what comes or goes elsewhere in the list moves no page."""
    start, end = 0, len(items)
    keys = [str(key(item)) for item in items]
    if after is not None:
        start = _place(keys, after) + 1
    if before is not None:
        end = _place(keys, before)
    if first is not None:
        end = min(end, start + first)
    elif last is not None:
        start = max(start, end - last)
    shown = items[start:end]
    cursors = [cursor_of(key(item)) for item in shown]
    return {
        "nodes": list(shown),
        "edges": [{"cursor": cursor, "node": item} for cursor, item in zip(cursors, shown, strict=True)],
        "totalCount": len(items),
        "pageInfo": {
            "hasNextPage": end < len(items),
            "hasPreviousPage": start > 0,
            "startCursor": cursors[0] if cursors else None,
            "endCursor": cursors[-1] if cursors else None,
        },
    }


def cursor_of(key: object) -> str:
    return base64.b64encode(f"cursor:v2:{key}".encode()).decode()


def _place(keys: Sequence[str], cursor: str) -> int:
    try:
        key = base64.b64decode(cursor).decode().removeprefix("cursor:v2:")
        return keys.index(key)
    except ValueError:
        raise ApiError(
            422, f"`{cursor}` does not appear to be a valid cursor.", "INVALID_CURSOR_ARGUMENTS"
        ) from None


def by_id(item: Any) -> object:
    return item.id
