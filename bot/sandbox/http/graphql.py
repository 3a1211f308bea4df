"""GraphQL over the world: graphql-core executes documents against our part of GitHub's schema.

A field's value is found in the table RESOLVERS, else as the attribute of that name (in snake case) of the world's object.
"""

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from graphql import (
    GraphQLError,
    GraphQLResolveInfo,
    GraphQLSchema,
    OperationType,
    build_schema,
    execute_sync,
    get_operation_ast,
    parse,
    validate,
)

from bot.model.issue import Account, NeedState, StateReason
from bot.model.ref import Ref
from bot.sandbox.http.graphql_cost import Cost, cost_of
from bot.sandbox.http.render import stamp
from bot.sandbox.world import (
    ApiError,
    CommentState,
    EventState,
    IssueState,
    LabelState,
    PullState,
    Token,
    UnknownToTheSandbox,
    World,
)
from bot.sandbox.world.errors import invalid, not_found
from bot.sandbox.world.state import ReviewState

_T = TypeVar("_T")
Json = dict[str, Any]
_SCHEMA = Path(__file__).parent.parent / "github.graphql"
_SNAKE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_EVENT_TYPES = {
    "labeled": "LabeledEvent",
    "unlabeled": "UnlabeledEvent",
    "closed": "ClosedEvent",
    "reopened": "ReopenedEvent",
    "renamed": "RenamedTitleEvent",
}
_ITEM_TYPES = {
    "labeled": "LABELED_EVENT",
    "unlabeled": "UNLABELED_EVENT",
    "closed": "CLOSED_EVENT",
    "reopened": "REOPENED_EVENT",
    "renamed": "RENAMED_TITLE_EVENT",
}
_WRITERS = ("write", "maintain", "admin")


@dataclass(frozen=True, slots=True)
class Context:
    """What every resolver sees."""

    world: World
    token: Token
    cost: Cost

    def may_read(self, *scopes: str) -> None:
        self.world.accounts.require(self.token, "read", *scopes, role="read")

    def node(self, node_id: str, kind: type[_T]) -> _T:
        """Raises ApiError in GitHub's words if there is no such thing of that kind."""
        node = self.world.issues.node(node_id)
        if not isinstance(node, kind):
            raise not_found(f"Could not resolve to a node with the global id of '{node_id}'")
        return node


@dataclass(frozen=True, slots=True)
class _Foreign:
    """A repository of which the world knows only how some issues stand."""

    name_with_owner: str


@dataclass(frozen=True, slots=True)
class _ForeignIssue:
    ref: Ref
    need: NeedState


@dataclass(frozen=True, slots=True)
class _ForeignPull(_ForeignIssue):
    pass


@dataclass(frozen=True, slots=True)
class _Viewer:
    account: Account


@dataclass(frozen=True, slots=True)
class _Commit:
    oid: str


@dataclass(frozen=True, slots=True)
class _Branch:
    name: str
    oid: str


@dataclass(frozen=True, slots=True)
class _Blob:
    oid: str
    data: bytes


@cache
def schema() -> GraphQLSchema:
    return build_schema(_SCHEMA.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that was read and found to be within our schema. `writes` names the mutation's fields."""

    document: Any
    variables: Mapping[str, Any]
    operation: str | None
    writes: tuple[str, ...]
    cost: Cost


def read(body: Mapping[str, Any]) -> Asked:
    """Raises UnknownToTheSandbox for what our schema lacks, ApiError 400 for what is no request."""
    text, variables = body.get("query"), body.get("variables") or {}
    if not isinstance(text, str) or not isinstance(variables, dict):
        raise ApiError(400, "A query attribute must be specified and must be a string.")
    try:
        document = parse(text)
    except GraphQLError as error:
        raise ApiError(400, error.message) from None
    if problems := validate(schema(), document):
        named = "; ".join(problem.message for problem in problems[:5])
        raise UnknownToTheSandbox(f"GraphQL: {named}")
    name = body.get("operationName")
    operation = get_operation_ast(document, name)
    if operation is None:
        raise ApiError(400, "No operation was named, or there is none of that name.")
    writes = ()
    if operation.operation is OperationType.MUTATION:
        selections = operation.selection_set.selections
        writes = tuple(node.name.value for node in selections if hasattr(node, "name"))
    return Asked(document, variables, name, writes, cost_of(schema(), document, operation, variables))


def answer(world: World, token: Token, asked: Asked) -> Json:
    """GitHub's `{data, errors}`."""
    if asked.cost.problems:
        return {"errors": [{"type": kind, "message": message} for kind, message in asked.cost.problems]}
    result = execute_sync(
        schema(),
        asked.document,
        None,
        Context(world, token, asked.cost),
        dict(asked.variables),
        asked.operation,
        field_resolver=_field,
        type_resolver=lambda value, _info, _kind: _type_name(value),
    )
    body: Json = {"data": result.data}
    if result.errors:
        body["errors"] = [_error(error) for error in result.errors]
    return body


def _error(error: GraphQLError) -> Json:
    cause = error.original_error
    if cause is not None and not isinstance(cause, ApiError):
        raise cause
    shown: Json = {"type": cause.kind} if isinstance(cause, ApiError) else {}
    if error.path:
        shown["path"] = error.path
    shown["locations"] = [{"line": place.line, "column": place.column} for place in error.locations or ()]
    return shown | {"message": error.message}


def _type_name(value: Any) -> str:
    if isinstance(value, EventState):
        return _EVENT_TYPES[value.kind]
    if isinstance(value, Account):
        return "Bot" if value.is_bot else "User"
    names = {
        PullState: "PullRequest",
        IssueState: "Issue",
        CommentState: "IssueComment",
        LabelState: "Label",
        ReviewState: "PullRequestReview",
        World: "Repository",
        _ForeignIssue: "Issue",
        _ForeignPull: "PullRequest",
        _Foreign: "Repository",
        _Viewer: "User",
        _Commit: "Commit",
        _Blob: "Blob",
    }
    return names[type(value)]


def _field(source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
    resolver = RESOLVERS.get((info.parent_type.name, info.field_name))
    if resolver is not None:
        value = resolver(source, info.context, **arguments)
    elif info.parent_type.name == "Mutation":
        value = _mutate(info.field_name, info.context, arguments["input"])
    elif isinstance(source, Mapping):
        value = source.get(info.field_name)
    else:
        value = getattr(source, _SNAKE.sub("_", info.field_name).lower())
    return stamp(value) if isinstance(value, datetime) else value


# ---------------------------------------------------------------------- connections


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
    cursors = [_cursor(key(item)) for item in shown]
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


def _cursor(key: object) -> str:
    return base64.b64encode(f"cursor:v2:{key}".encode()).decode()


def _place(keys: Sequence[str], cursor: str) -> int:
    try:
        key = base64.b64decode(cursor).decode().removeprefix("cursor:v2:")
        return keys.index(key)
    except ValueError:
        raise ApiError(422, f"`{cursor}` does not appear to be a valid cursor.", "INVALID_CURSOR_ARGUMENTS") from None


def _by_id(item: Any) -> object:
    return item.id


# ---------------------------------------------------------------------- queries


def _repository(_: None, context: Context, *, owner: str, name: str) -> World | _Foreign:
    full = f"{owner}/{name}"
    world = context.world
    if full.lower() == world.repository.lower():
        if world.accounts.role(context.token.account.login) == "none" and context.token.permissions is None:
            raise not_found(f"Could not resolve to a Repository with the name '{full}'.")
        return world
    known = any(
        ref.repository == full.lower() and state is not NeedState.UNREADABLE
        for ref, state in world.dependencies.elsewhere.items()
    )
    if not known:
        raise not_found(f"Could not resolve to a Repository with the name '{full}'.")
    return _Foreign(full)


def _node(_: None, context: Context, id: str) -> object:  # noqa: A002 - GitHub's name
    context.may_read("issues", "pull-requests")
    return context.world.issues.node(id)


def _nodes(_: None, context: Context, ids: Sequence[str]) -> list[object]:
    context.may_read("issues", "pull-requests")
    if len(ids) > 100:
        raise ApiError(422, f"You may not provide more than 100 node ids; you provided {len(ids)}.", "ARGUMENT_LIMIT")
    return [_found_or_error(context, node_id) for node_id in ids]


def _found_or_error(context: Context, node_id: str) -> object:
    try:
        return context.world.issues.node(node_id)
    except ApiError as error:
        # graphql-core reports an exception in a list as the error of that one item.
        return error


def _rate_limit(_: None, context: Context, **_arguments: Any) -> Json:
    window = context.world.limits.window(context.token, "graphql")
    return {
        "cost": context.cost.points,
        "limit": window.limit,
        "remaining": window.remaining,
        "used": window.used,
        "resetAt": stamp(window.reset),
        "nodeCount": context.cost.nodes,
    }


# ---------------------------------------------------------------------- repository


def _default_branch(world: World, _context: Context) -> _Branch | None:
    sha = world.git.head(world.git.default_branch)
    return _Branch(world.git.default_branch, sha) if sha else None


def _object(
    world: World, context: Context, *, expression: str | None = None, oid: str | None = None
) -> _Blob | _Commit | None:
    """By `oid`, or by an expression `REV:path` or `REV`."""
    context.may_read("contents")
    if oid is not None:
        data = world.git.blob(oid)
        return None if data is None else _Blob(oid, data)
    revision, colon, path = (expression or "").partition(":")
    ref = world.git.default_branch if revision == "HEAD" else revision
    if not colon:
        sha = world.git.head(ref)
        return _Commit(sha) if sha else None
    blob = world.git.listing(ref, path.rpartition("/")[0]).get(path)
    data = world.git.blob(blob) if blob else None
    return None if blob is None or data is None else _Blob(blob, data)


def _issues(
    world: World,
    context: Context,
    *,
    states: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    filterBy: Mapping[str, Any] | None = None,  # noqa: N803 - GitHub's name
    orderBy: Mapping[str, str] | None = None,  # noqa: N803
    **page: Any,
) -> Json:
    context.may_read("issues")
    since = (filterBy or {}).get("since")
    found = [
        issue
        for issue in world.issues.all()
        if not issue.is_pull
        and (states is None or _state(issue) in states)
        and (labels is None or any(issue.has_label(name) for name in labels))
        and (since is None or (stamp(issue.updated_at) or "") >= _zulu(since))
    ]
    order = orderBy or {"field": "CREATED_AT", "direction": "ASC"}
    attribute = "created_at" if order["field"] == "CREATED_AT" else "updated_at"
    found.sort(key=lambda issue: (getattr(issue, attribute), issue.number), reverse=order["direction"] == "DESC")
    return connection(found, _by_id, **page)


def _zulu(text: str) -> str:
    return stamp(datetime.fromisoformat(text)) or ""


def _issue(world: World, context: Context, *, number: int) -> IssueState:
    context.may_read("issues")
    issue = world.issues.by_number.get(number)
    if issue is None or issue.is_pull:
        raise not_found(f"Could not resolve to an Issue with the number of {number}.")
    return issue


def _issue_or_pull(source: World | _Foreign, context: Context, *, number: int) -> object:
    if isinstance(source, _Foreign):
        return _foreign(context.world, Ref(source.name_with_owner, number))
    context.may_read("issues", "pull-requests")
    issue = source.issues.by_number.get(number)
    if issue is None:
        raise not_found(f"Could not resolve to an issue or pull request with the number of {number}.")
    return source.pulls.by_number[number] if issue.is_pull else issue


def _foreign(world: World, ref: Ref) -> _ForeignIssue:
    state = world.dependencies.state(ref)
    if state in (NeedState.UNREADABLE, NeedState.DELETED):
        raise not_found(f"Could not resolve to an issue or pull request with the number of {ref.number}.")
    pull = state in (NeedState.MERGED, NeedState.OPEN_PULL, NeedState.CLOSED_UNMERGED)
    return _ForeignPull(ref, state) if pull else _ForeignIssue(ref, state)


def _pull(world: World, context: Context, *, number: int) -> PullState:
    context.may_read("pull-requests")
    if number not in world.pulls.by_number:
        raise not_found(f"Could not resolve to a PullRequest with the number of {number}.")
    return world.pulls.by_number[number]


def _pulls(
    world: World,
    context: Context,
    *,
    states: Sequence[str] | None = None,
    headRefName: str | None = None,  # noqa: N803
    baseRefName: str | None = None,  # noqa: N803
    orderBy: Mapping[str, str] | None = None,  # noqa: N803
    **page: Any,
) -> Json:
    context.may_read("pull-requests")
    found = [
        pull
        for pull in world.pulls.by_number.values()
        if (states is None or _pull_state(pull, context) in states)
        and headRefName in (None, pull.head_ref)
        and baseRefName in (None, pull.base_ref)
    ]
    if orderBy and orderBy["direction"] == "DESC":
        found.reverse()
    return connection(found, _by_id, **page)


def _label(world: World, context: Context, *, name: str) -> LabelState | None:
    context.may_read("issues", "pull-requests")
    return world.issues.labels.get(name.casefold())


def _repository_labels(world: World, context: Context, **page: Any) -> Json:
    context.may_read("issues", "pull-requests")
    return connection(list(world.issues.labels.values()), _by_id, **page)


def _owner(source: World | _Foreign, context: Context) -> Account:
    name = source.name_with_owner if isinstance(source, _Foreign) else source.repository
    return context.world.accounts.get(name.split("/", maxsplit=1)[0])


# ---------------------------------------------------------------------- issues


def _state(issue: IssueState | _ForeignIssue) -> str:
    if isinstance(issue, _ForeignIssue):
        return "OPEN" if issue.need in (NeedState.OPEN, NeedState.OPEN_PULL) else "CLOSED"
    return "OPEN" if issue.is_open else "CLOSED"


def _issue_state(issue: IssueState | _ForeignIssue, _context: Context) -> str:
    return _state(issue)


def _state_reason(
    issue: IssueState | _ForeignIssue,
    _context: Context,
    *,
    enableDuplicate: bool | None = False,  # noqa: N803
) -> str | None:
    if isinstance(issue, _ForeignIssue):
        reasons = {NeedState.NOT_PLANNED: "NOT_PLANNED", NeedState.DUPLICATE: "DUPLICATE", NeedState.OPEN: None}
        reason = reasons.get(issue.need, "COMPLETED")
    else:
        reason = issue.state_reason.upper() if issue.state_reason else None
    return "NOT_PLANNED" if reason == "DUPLICATE" and not enableDuplicate else reason


def _timeline(
    issue: IssueState,
    _context: Context,
    *,
    itemTypes: Sequence[str] | None = None,  # noqa: N803
    since: str | None = None,
    **page: Any,
) -> Json:
    found = [
        event
        for event in issue.events
        if event.kind in _ITEM_TYPES
        and (itemTypes is None or _ITEM_TYPES[event.kind] in itemTypes)
        and (since is None or (stamp(event.at) or "") >= _zulu(since))
    ]
    return connection(found, _by_id, **page)


def _edits(issue: IssueState, _context: Context, **page: Any) -> Json:
    newest = list(reversed(issue.edits))
    return connection(newest, issue.edits.index, **page)


def _closing_pulls(
    issue: IssueState,
    context: Context,
    *,
    includeClosedPrs: bool | None = False,  # noqa: N803
    **page: Any,
) -> Json:
    found = [p for p in context.world.pulls.closing(issue) if includeClosedPrs or p.issue.is_open]
    return connection(found, _by_id, **page)


def _blockers(issue: IssueState, context: Context, **page: Any) -> Json:
    world = context.world
    here = world.repository.lower()
    found = [
        world.issues.get(ref.number) if ref.repository == here else _ForeignIssue(ref, world.dependencies.state(ref))
        for ref in world.dependencies.visible(issue)
    ]
    return connection(found, lambda item: item.ref if isinstance(item, _ForeignIssue) else item.number, **page)


def _blocked(issue: IssueState, context: Context, **page: Any) -> Json:
    return connection(context.world.dependencies.blocking(issue), _by_id, **page)


def _summary(issue: IssueState, context: Context) -> Json:
    edges = context.world.dependencies
    blocking = edges.blocking(issue)
    return {
        "blockedBy": edges.blocked_by_open(issue),
        "blocking": sum(other.is_open for other in blocking) if issue.is_open else 0,
        "totalBlockedBy": len(issue.blocked_by),
        "totalBlocking": len(blocking),
    }


def _home(source: object, context: Context) -> World | _Foreign:
    return _Foreign(source.ref.repository) if isinstance(source, _ForeignIssue) else context.world


def _number(source: Any, _context: Context) -> int:
    if isinstance(source, _ForeignIssue):
        return source.ref.number
    return int(source.number)


def _closer(event: EventState, context: Context) -> PullState | _Commit | None:
    if event.pull:
        return context.world.pulls.by_number[event.pull]
    return _Commit(context.world.git.head(context.world.git.default_branch) or "") if event.by_merge else None


def _reactions(subject: IssueState | CommentState, _context: Context) -> list[Json]:
    contents = ("THUMBS_UP", "THUMBS_DOWN", "LAUGH", "HOORAY", "CONFUSED", "HEART", "ROCKET", "EYES")
    counts = [sum(content == given for given, _ in subject.reactions) for content in contents]
    return [
        {"content": content, "reactors": {"totalCount": count}}
        for content, count in zip(contents, counts, strict=True)
    ]


# ---------------------------------------------------------------------- pull requests and comments


def _pull_state(pull: PullState | _ForeignPull, _context: Context) -> str:
    if isinstance(pull, _ForeignPull):
        return {NeedState.MERGED: "MERGED", NeedState.OPEN_PULL: "OPEN"}.get(pull.need, "CLOSED")
    if pull.merged:
        return "MERGED"
    return "OPEN" if pull.issue.is_open else "CLOSED"


def _mergeable(pull: PullState, context: Context) -> str:
    names = {True: "MERGEABLE", False: "CONFLICTING", None: "UNKNOWN"}
    return names[context.world.pulls.mergeable(pull)]


def _opinions(
    pull: PullState,
    context: Context,
    *,
    writersOnly: bool | None = False,  # noqa: N803
    **page: Any,
) -> Json:
    latest: dict[int, ReviewState] = {}
    for review in pull.reviews:
        writer = context.world.accounts.role(review.author.login) in _WRITERS
        if review.state != "COMMENTED" and (writer or not writersOnly):
            latest[review.author.id] = review
    return connection(list(latest.values()), _by_id, **page)


def _reviews(pull: PullState, _context: Context, *, states: Sequence[str] | None = None, **page: Any) -> Json:
    return connection([r for r in pull.reviews if states is None or r.state in states], _by_id, **page)


def _of_issue(name: str, pull: PullState, _context: Context) -> Any:
    return getattr(pull.issue, name)


def _comments(source: IssueState | PullState, _context: Context, **page: Any) -> Json:
    return connection(_issue_of(source).comments, _by_id, **page)


def _labels(source: IssueState | PullState, _context: Context, **page: Any) -> Json:
    return connection(_issue_of(source).labels, _by_id, **page)


def _issue_of(source: IssueState | PullState) -> IssueState:
    return source.issue if isinstance(source, PullState) else source


def _comment_pull(comment: CommentState, context: Context) -> PullState | None:
    return context.world.pulls.by_number.get(comment.issue)


def _node_id(source: Any, _context: Context) -> str:
    return str(source.node_id)


def _text_id(source: Any, _context: Context) -> str:
    return str(source.id)


def _small_id(source: Any, _context: Context) -> int | None:
    """GitHub's `databaseId` is null where the number outgrew 32 bits."""
    return int(source.id) if source.id < 2**31 else None


def _event_id(event: EventState, _context: Context) -> str:
    return f"E_kwDO{event.id:010d}"


def _reason(event: EventState, _context: Context) -> str | None:
    return event.reason.upper() if event.reason else None


def _graphql_login(account: Account, _context: Context) -> str:
    """GraphQL's bots carry no `[bot]`, unlike REST's."""
    return account.login.removesuffix("[bot]")


def _account_id(source: Account | _Viewer, _context: Context) -> str:
    account = source.account if isinstance(source, _Viewer) else source
    return f"U_kgDO{account.id:08d}"


def _user_login(source: Account | _Viewer, _context: Context) -> str:
    return source.account.login if isinstance(source, _Viewer) else source.login


def _user_id(source: Account | _Viewer, _context: Context) -> int:
    return source.account.id if isinstance(source, _Viewer) else source.id


def _url(source: Any, context: Context) -> str:
    page = f"{context.world.web}/{context.world.repository}"
    if isinstance(source, CommentState):
        kind = "pull" if context.world.issues.by_number[source.issue].is_pull else "issues"
        return f"{page}/{kind}/{source.issue}#issuecomment-{source.id}"
    return f"{page}/{'pull' if isinstance(source, PullState) else 'issues'}/{source.number}"


RESOLVERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("Query", "viewer"): lambda _, context: _Viewer(context.token.account),
    ("Query", "repository"): _repository,
    ("Query", "node"): _node,
    ("Query", "nodes"): _nodes,
    ("Query", "rateLimit"): _rate_limit,
    ("User", "id"): _account_id,
    ("User", "login"): _user_login,
    ("User", "databaseId"): _user_id,
    ("User", "name"): lambda _source, _context: None,
    ("Bot", "id"): _account_id,
    ("Bot", "login"): _graphql_login,
    ("Bot", "databaseId"): _user_id,
    ("Repository", "id"): _node_id,
    ("Repository", "databaseId"): lambda world, _context: world.repository_id,
    ("Repository", "name"): lambda world, _context: world.repository.split("/")[1],
    ("Repository", "nameWithOwner"): lambda s, _: s.name_with_owner if isinstance(s, _Foreign) else s.repository,
    ("Repository", "owner"): _owner,
    ("Repository", "isPrivate"): lambda world, _context: world.core.private,
    ("Repository", "isArchived"): lambda world, _context: world.core.archived,
    ("Repository", "hasIssuesEnabled"): lambda _world, _context: True,
    ("Repository", "defaultBranchRef"): _default_branch,
    ("Repository", "object"): _object,
    ("Repository", "issues"): _issues,
    ("Repository", "issue"): _issue,
    ("Repository", "issueOrPullRequest"): _issue_or_pull,
    ("Repository", "pullRequest"): _pull,
    ("Repository", "pullRequests"): _pulls,
    ("Repository", "label"): _label,
    ("Repository", "labels"): _repository_labels,
    ("Ref", "id"): lambda branch, _context: f"REF_{branch.name}",
    ("Ref", "target"): lambda branch, _context: _Commit(branch.oid),
    ("Commit", "id"): lambda commit, _context: f"C_{commit.oid}",
    ("Blob", "id"): lambda blob, _context: f"B_{blob.oid}",
    ("Blob", "text"): lambda b, _: None if b"\0" in b.data else b.data.decode("utf-8", "replace"),
    ("Blob", "isBinary"): lambda blob, _context: b"\0" in blob.data,
    ("Blob", "isTruncated"): lambda blob, _context: len(blob.data) > 512_000,
    ("Blob", "byteSize"): lambda blob, _context: len(blob.data),
    ("Label", "id"): _node_id,
    ("Issue", "id"): _node_id,
    ("Issue", "databaseId"): _small_id,
    ("Issue", "fullDatabaseId"): _text_id,
    ("Issue", "number"): _number,
    ("Issue", "state"): _issue_state,
    ("Issue", "stateReason"): _state_reason,
    ("Issue", "closed"): lambda issue, _context: not issue.is_open,
    ("Issue", "lastEditedAt"): lambda issue, _context: issue.edits[-1].at if issue.edits else None,
    ("Issue", "editor"): lambda issue, _context: issue.edits[-1].editor if issue.edits else None,
    ("Issue", "url"): _url,
    ("Issue", "labels"): _labels,
    ("Issue", "comments"): _comments,
    ("Issue", "timelineItems"): _timeline,
    ("Issue", "userContentEdits"): _edits,
    ("Issue", "closedByPullRequestsReferences"): _closing_pulls,
    ("Issue", "blockedBy"): _blockers,
    ("Issue", "blocking"): _blocked,
    ("Issue", "issueDependenciesSummary"): _summary,
    ("Issue", "repository"): _home,
    ("Issue", "reactionGroups"): _reactions,
    ("PullRequest", "id"): _node_id,
    ("PullRequest", "databaseId"): _small_id,
    ("PullRequest", "fullDatabaseId"): _text_id,
    ("PullRequest", "number"): _number,
    ("PullRequest", "state"): _pull_state,
    ("PullRequest", "merged"): lambda p, _: p.need is NeedState.MERGED if isinstance(p, _ForeignPull) else p.merged,
    ("PullRequest", "mergeable"): _mergeable,
    ("PullRequest", "isDraft"): lambda pull, _context: pull.draft,
    ("PullRequest", "closed"): lambda pull, _context: not pull.issue.is_open,
    ("PullRequest", "url"): _url,
    ("PullRequest", "headRefName"): lambda pull, _context: pull.head_ref,
    ("PullRequest", "headRefOid"): lambda pull, _context: pull.head_sha,
    ("PullRequest", "baseRefName"): lambda pull, _context: pull.base_ref,
    ("PullRequest", "baseRefOid"): lambda pull, _context: pull.base_sha,
    ("PullRequest", "labels"): _labels,
    ("PullRequest", "comments"): _comments,
    ("PullRequest", "latestOpinionatedReviews"): _opinions,
    ("PullRequest", "reviews"): _reviews,
    ("PullRequest", "repository"): _home,
    ("PullRequestReview", "id"): _node_id,
    ("PullRequestReview", "databaseId"): _small_id,
    ("PullRequestReview", "fullDatabaseId"): _text_id,
    ("PullRequestReview", "submittedAt"): lambda review, _context: review.at,
    ("PullRequestReview", "createdAt"): lambda review, _context: review.at,
    ("PullRequestReview", "updatedAt"): lambda review, _context: review.at,
    ("IssueComment", "id"): _node_id,
    ("IssueComment", "databaseId"): _small_id,
    ("IssueComment", "fullDatabaseId"): _text_id,
    ("IssueComment", "url"): _url,
    ("IssueComment", "issue"): lambda comment, context: context.world.issues.by_number[comment.issue],
    ("IssueComment", "pullRequest"): _comment_pull,
    ("IssueComment", "reactionGroups"): _reactions,
    ("UserContentEdit", "id"): lambda edit, _context: f"UCE_{int(edit.at.timestamp())}_{edit.editor.id}",
    ("UserContentEdit", "editedAt"): lambda edit, _context: edit.at,
    ("UserContentEdit", "createdAt"): lambda edit, _context: edit.at,
    ("ClosedEvent", "closer"): _closer,
    ("ClosedEvent", "stateReason"): _reason,
    ("ReopenedEvent", "stateReason"): _reason,
    ("RenamedTitleEvent", "previousTitle"): lambda event, _context: event.before,
    ("RenamedTitleEvent", "currentTitle"): lambda event, _context: event.after,
    **{(kind, "id"): _event_id for kind in _EVENT_TYPES.values()},
    **{(kind, "createdAt"): (lambda event, _context: event.at) for kind in _EVENT_TYPES.values()},
    **{
        ("PullRequest", name): partial(_of_issue, attribute)
        for name, attribute in {
            "title": "title",
            "body": "body",
            "locked": "locked",
            "author": "author",
            "createdAt": "created_at",
            "updatedAt": "updated_at",
            "closedAt": "closed_at",
        }.items()
    },
}


# ---------------------------------------------------------------------- mutations


def _mutate(name: str, context: Context, given: Mapping[str, Any]) -> Json:
    """One field of a mutation: ordered faults around it, then what it does."""
    faults = context.world.faults
    faults.strike(f"write:{name}", write=True, after=False)
    if name in ("addComment", "createIssue"):
        context.world.limits.charge_content(context.token)
    done = MUTATIONS[name](context, given)
    faults.strike(f"write:{name}", write=True, after=True)
    return {"clientMutationId": given.get("clientMutationId"), **done}


def _labelled(context: Context, given: Mapping[str, Any]) -> tuple[IssueState, list[LabelState]]:
    subject = context.world.issues.node(given["labelableId"])
    if not isinstance(subject, IssueState | PullState):
        raise not_found(f"Could not resolve to a node with the global id of '{given['labelableId']}'")
    return _issue_of(subject), [context.node(label_id, LabelState) for label_id in given["labelIds"]]


def _add_labels(context: Context, given: Mapping[str, Any]) -> Json:
    issue, labels = _labelled(context, given)
    for label in labels:
        context.world.issues.add_label(issue, label.name, context.token)
    return {"labelable": context.world.pulls.by_number.get(issue.number, issue)}


def _remove_labels(context: Context, given: Mapping[str, Any]) -> Json:
    issue, labels = _labelled(context, given)
    for label in labels:
        context.world.issues.remove_label(issue, label.name, context.token)
    return {"labelable": context.world.pulls.by_number.get(issue.number, issue)}


def _add_comment(context: Context, given: Mapping[str, Any]) -> Json:
    subject = context.world.issues.node(given["subjectId"])
    if not isinstance(subject, IssueState | PullState):
        raise not_found(f"Could not resolve to a node with the global id of '{given['subjectId']}'")
    comment = context.world.issues.add_comment(_issue_of(subject), given["body"], context.token)
    return {"commentEdge": {"cursor": _cursor(comment.id), "node": comment}, "subject": subject}


def _update_comment(context: Context, given: Mapping[str, Any]) -> Json:
    comment = context.node(given["id"], CommentState)
    context.world.issues.edit_comment(comment, given["body"], context.token)
    return {"issueComment": comment}


def _delete_comment(context: Context, given: Mapping[str, Any]) -> Json:
    context.world.issues.delete_comment(context.node(given["id"], CommentState), context.token)
    return {}


def _close_issue(context: Context, given: Mapping[str, Any]) -> Json:
    issue = context.node(given["issueId"], IssueState)
    reason = StateReason(str(given.get("stateReason") or "COMPLETED").lower())
    context.world.issues.close(issue, reason, context.token)
    return {"issue": issue}


def _reopen_issue(context: Context, given: Mapping[str, Any]) -> Json:
    issue = context.node(given["issueId"], IssueState)
    context.world.issues.reopen(issue, context.token)
    return {"issue": issue}


def _create_issue(context: Context, given: Mapping[str, Any]) -> Json:
    context.node(given["repositoryId"], World)
    names = [context.node(label_id, LabelState).name for label_id in given.get("labelIds") or ()]
    issue = context.world.issues.create(given["title"], given.get("body") or "", names, context.token)
    return {"issue": issue}


def _update_issue(context: Context, given: Mapping[str, Any]) -> Json:
    issue = context.node(given["id"], IssueState)
    context.world.issues.edit(issue, context.token, title=given.get("title"), body=given.get("body"))
    return {"issue": issue}


def _add_reaction(context: Context, given: Mapping[str, Any]) -> Json:
    subject = context.world.issues.node(given["subjectId"])
    if not isinstance(subject, IssueState | CommentState | PullState):
        raise invalid(f"{given['subjectId']} takes no reactions")
    target = subject if isinstance(subject, CommentState) else _issue_of(subject)
    context.world.issues.react(target, given["content"], context.token)
    number = target.id * 100 + target.reactions.index((given["content"], context.token.account)) + 1
    reaction = {
        "id": f"REA_{number}",
        "databaseId": None,
        "content": given["content"],
        "createdAt": stamp(context.world.core.now),
        "user": None if context.token.account.is_bot else context.token.account,
    }
    return {"reaction": reaction, "subject": subject}


def _add_blocked_by(context: Context, given: Mapping[str, Any]) -> Json:
    return _edge(context, given, context.world.dependencies.add)


def _remove_blocked_by(context: Context, given: Mapping[str, Any]) -> Json:
    return _edge(context, given, context.world.dependencies.remove)


def _edge(context: Context, given: Mapping[str, Any], change: Callable[[IssueState, Ref, Token], None]) -> Json:
    issue = context.node(given["issueId"], IssueState)
    blocker = context.node(given["blockingIssueId"], IssueState)
    change(issue, Ref(context.world.repository, blocker.number), context.token)
    return {"issue": issue, "blockingIssue": blocker}


MUTATIONS: Mapping[str, Callable[[Context, Mapping[str, Any]], Json]] = {
    "addLabelsToLabelable": _add_labels,
    "removeLabelsFromLabelable": _remove_labels,
    "addComment": _add_comment,
    "updateIssueComment": _update_comment,
    "deleteIssueComment": _delete_comment,
    "closeIssue": _close_issue,
    "reopenIssue": _reopen_issue,
    "createIssue": _create_issue,
    "updateIssue": _update_issue,
    "addReaction": _add_reaction,
    "addBlockedBy": _add_blocked_by,
    "removeBlockedBy": _remove_blocked_by,
}
