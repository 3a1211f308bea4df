"""What GraphQL reads: one entry of RESOLVERS for every field that is not simply the attribute of that name."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from bot.model.issue import Account, NeedState
from bot.model.ref import Ref
from bot.sandbox.http.graphql.nodes import (
    EVENT_TYPES,
    ITEM_TYPES,
    BlobRef,
    Branch,
    CheckSuiteRef,
    CommitRef,
    Context,
    Foreign,
    ForeignIssue,
    ForeignPull,
    Json,
    Milestone,
    Viewer,
    by_id,
    connection,
    issue_of,
)
from bot.sandbox.http.rest.bodies import stamp
from bot.sandbox.world import (
    ApiError,
    CommentState,
    EventState,
    IssueState,
    LabelState,
    PullState,
    World,
    WorldRun,
)
from bot.sandbox.world.actions import node_id_of
from bot.sandbox.world.errors import not_found
from bot.sandbox.world.state import JobState, ReviewState

_WRITERS = ("write", "maintain", "admin")


def _repository(_: None, context: Context, *, owner: str, name: str) -> World | Foreign:
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
    return Foreign(full)


def _node(_: None, context: Context, id: str) -> object:  # noqa: A002 - GitHub's name
    context.may_read("issues", "pull-requests")
    return context.world.issues.node(id)


def _nodes(_: None, context: Context, ids: Sequence[str]) -> list[object]:
    context.may_read("issues", "pull-requests")
    if len(ids) > 100:
        raise ApiError(
            422, f"You may not provide more than 100 node ids; you provided {len(ids)}.", "ARGUMENT_LIMIT"
        )
    return [_found_or_error(context, node_id) for node_id in ids]


def _found_or_error(context: Context, node_id: str) -> object:
    try:
        run = next((one for one in context.world.actions.runs.values() if node_id_of(one) == node_id), None)
        return context.world.issues.node(node_id) if run is None else run
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


def _default_branch(world: World, _context: Context) -> Branch | None:
    sha = world.git.head(world.git.default_branch)
    return Branch(world.git.default_branch, sha) if sha else None


def _object(
    world: World, context: Context, *, expression: str | None = None, oid: str | None = None
) -> BlobRef | CommitRef | None:
    """By `oid`, or by an expression `REV:path` or `REV`."""
    context.may_read("contents")
    if oid is not None:
        data = world.git.blob(oid)
        return None if data is None else BlobRef(oid, data)
    revision, colon, path = (expression or "").partition(":")
    ref = world.git.default_branch if revision == "HEAD" else revision
    if not colon:
        sha = world.git.head(ref)
        return CommitRef(sha) if sha else None
    blob = world.git.listing(ref, path.rpartition("/")[0]).get(path)
    data = world.git.blob(blob) if blob else None
    return None if blob is None or data is None else BlobRef(blob, data)


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
    found.sort(
        key=lambda issue: (getattr(issue, attribute), issue.number), reverse=order["direction"] == "DESC"
    )
    return connection(found, by_id, **page)


def _zulu(text: str) -> str:
    return stamp(datetime.fromisoformat(text)) or ""


def _issue(world: World, context: Context, *, number: int) -> IssueState:
    context.may_read("issues")
    issue = world.issues.by_number.get(number)
    if issue is None or issue.is_pull:
        raise not_found(f"Could not resolve to an Issue with the number of {number}.")
    return issue


def _issue_or_pull(source: World | Foreign, context: Context, *, number: int) -> object:
    if isinstance(source, Foreign):
        return _foreign(context.world, Ref(source.name_with_owner, number))
    context.may_read("issues", "pull-requests")
    issue = source.issues.by_number.get(number)
    if issue is None:
        raise not_found(f"Could not resolve to an issue or pull request with the number of {number}.")
    return source.pulls.by_number[number] if issue.is_pull else issue


def _foreign(world: World, ref: Ref) -> ForeignIssue:
    state = world.dependencies.state(ref)
    if state in (NeedState.UNREADABLE, NeedState.DELETED):
        raise not_found(f"Could not resolve to an issue or pull request with the number of {ref.number}.")
    pull = state in (NeedState.MERGED, NeedState.OPEN_PULL, NeedState.CLOSED_UNMERGED)
    return ForeignPull(ref, state) if pull else ForeignIssue(ref, state)


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
    labels: Sequence[str] | None = None,
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
        and (labels is None or any(pull.issue.has_label(name) for name in labels))
    ]
    if orderBy and orderBy["direction"] == "DESC":
        found.reverse()
    return connection(found, by_id, **page)


def _label(world: World, context: Context, *, name: str) -> LabelState | None:
    context.may_read("issues", "pull-requests")
    return world.issues.labels.get(name.casefold())


def _repository_labels(world: World, context: Context, **page: Any) -> Json:
    context.may_read("issues", "pull-requests")
    return connection(list(world.issues.labels.values()), by_id, **page)


def _milestones(world: World, context: Context, *, query: str = "", **page: Any) -> Json:
    context.may_read("issues")
    titles = sorted({issue.milestone for issue in world.issues.all() if issue.milestone})
    numbered = [Milestone(number, title) for number, title in enumerate(titles, start=1)]
    found = [one for one in numbered if query.casefold() in one.title.casefold()]
    return connection(found, lambda one: one.number, **page)


def _milestone(world: World, context: Context, *, number: int) -> Milestone | None:
    found: list[Milestone] = _milestones(world, context)["nodes"]
    return next((one for one in found if one.number == number), None)


def _in_milestone(
    source: Milestone, context: Context, *, states: Sequence[str] | None = None, **page: Any
) -> Json:
    inside = [
        issue
        for issue in context.world.issues.all()
        if issue.milestone == source.title
        and not issue.is_pull
        and (states is None or _state(issue) in states)
    ]
    return connection(inside, by_id, **page)


def _owner(source: World | Foreign, context: Context) -> Account:
    name = source.name_with_owner if isinstance(source, Foreign) else source.repository
    return context.world.accounts.get(name.split("/", maxsplit=1)[0])


# ---------------------------------------------------------------------- issues


def _state(issue: IssueState | ForeignIssue) -> str:
    if isinstance(issue, ForeignIssue):
        return "OPEN" if issue.need in (NeedState.OPEN, NeedState.OPEN_PULL) else "CLOSED"
    return "OPEN" if issue.is_open else "CLOSED"


def _issue_state(issue: IssueState | ForeignIssue, _context: Context) -> str:
    return _state(issue)


def _state_reason(
    issue: IssueState | ForeignIssue,
    _context: Context,
    *,
    enableDuplicate: bool | None = False,  # noqa: N803
) -> str | None:
    if isinstance(issue, ForeignIssue):
        reasons = {
            NeedState.NOT_PLANNED: "NOT_PLANNED",
            NeedState.DUPLICATE: "DUPLICATE",
            NeedState.OPEN: None,
        }
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
        if event.kind in ITEM_TYPES
        and (itemTypes is None or ITEM_TYPES[event.kind] in itemTypes)
        and (since is None or (stamp(event.at) or "") >= _zulu(since))
    ]
    return connection(found, by_id, **page)


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
    return connection(found, by_id, **page)


def _blockers(issue: IssueState, context: Context, **page: Any) -> Json:
    return _related(issue.blocked_by, context, **page)


def _children(issue: IssueState, context: Context, **page: Any) -> Json:
    return _related(issue.children, context, **page)


def _children_summary(issue: IssueState, context: Context) -> Json:
    total, unfinished = len(issue.children), context.world.dependencies.count_open(issue.children)
    return {
        "total": total,
        "completed": total - unfinished,
        "percentCompleted": (total - unfinished) * 100 // max(total, 1),
    }


def _planned_for(issue: IssueState, context: Context) -> Milestone | None:
    found: list[Milestone] = _milestones(context.world, context)["nodes"]
    return next((one for one in found if one.title == issue.milestone), None)


def _related(refs: Sequence[Ref], context: Context, **page: Any) -> Json:
    world = context.world
    here = world.repository.lower()
    found = [
        world.issues.get(ref.number)
        if ref.repository == here
        else ForeignIssue(ref, world.dependencies.state(ref))
        for ref in world.dependencies.visible(refs)
    ]
    return connection(found, lambda item: item.ref if isinstance(item, ForeignIssue) else item.number, **page)


def _blocked(issue: IssueState, context: Context, **page: Any) -> Json:
    return connection(context.world.dependencies.blocking(issue), by_id, **page)


def _summary(issue: IssueState, context: Context) -> Json:
    edges = context.world.dependencies
    blocking = edges.blocking(issue)
    return {
        "blockedBy": edges.blocked_by_open(issue),
        "blocking": sum(other.is_open for other in blocking) if issue.is_open else 0,
        "totalBlockedBy": len(issue.blocked_by),
        "totalBlocking": len(blocking),
    }


def _home(source: object, context: Context) -> World | Foreign:
    return Foreign(source.ref.repository) if isinstance(source, ForeignIssue) else context.world


def _number(source: Any, _context: Context) -> int:
    if isinstance(source, ForeignIssue):
        return source.ref.number
    return int(source.number)


def _closer(event: EventState, context: Context) -> PullState | CommitRef | None:
    if event.pull:
        return context.world.pulls.by_number[event.pull]
    return (
        CommitRef(context.world.git.head(context.world.git.default_branch) or "") if event.by_merge else None
    )


def _reactions(subject: IssueState | CommentState, _context: Context) -> list[Json]:
    contents = ("THUMBS_UP", "THUMBS_DOWN", "LAUGH", "HOORAY", "CONFUSED", "HEART", "ROCKET", "EYES")
    counts = [sum(content == given for given, _ in subject.reactions) for content in contents]
    return [
        {"content": content, "reactors": {"totalCount": count}}
        for content, count in zip(contents, counts, strict=True)
    ]


# ---------------------------------------------------------------------- pull requests and comments


def _pull_state(pull: PullState | ForeignPull, _context: Context) -> str:
    if isinstance(pull, ForeignPull):
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
    return connection(list(latest.values()), by_id, **page)


def _reviews(pull: PullState, _context: Context, *, states: Sequence[str] | None = None, **page: Any) -> Json:
    return connection([r for r in pull.reviews if states is None or r.state in states], by_id, **page)


def _of_issue(name: str, pull: PullState, _context: Context) -> Any:
    return getattr(pull.issue, name)


def _comments(source: IssueState | PullState, _context: Context, **page: Any) -> Json:
    return connection(issue_of(source).comments, by_id, **page)


def _labels(source: IssueState | PullState, _context: Context, **page: Any) -> Json:
    return connection(issue_of(source).labels, by_id, **page)


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


def _account_id(source: Account | Viewer, _context: Context) -> str:
    account = source.account if isinstance(source, Viewer) else source
    return f"U_kgDO{account.id:08d}"


def _user_login(source: Account | Viewer, _context: Context) -> str:
    return source.account.login if isinstance(source, Viewer) else source.login


def _user_id(source: Account | Viewer, _context: Context) -> int:
    return source.account.id if isinstance(source, Viewer) else source.id


def _url(source: Any, context: Context) -> str:
    page = f"{context.world.web}/{context.world.repository}"
    if isinstance(source, CommentState):
        kind = "pull" if context.world.issues.by_number[source.issue].is_pull else "issues"
        return f"{page}/{kind}/{source.issue}#issuecomment-{source.id}"
    return f"{page}/{'pull' if isinstance(source, PullState) else 'issues'}/{source.number}"


def _repository_url(source: World | Foreign, context: Context) -> str:
    name = source.name_with_owner if isinstance(source, Foreign) else source.repository
    return f"{context.world.web}/{name}"


def _check_suite(run: WorldRun, context: Context) -> CheckSuiteRef:
    context.may_read("checks")
    return CheckSuiteRef(run)


def _check_runs(suite: CheckSuiteRef, _context: Context, **page: Any) -> Json:
    """A job is a check run; of those that were run again the newest is shown."""
    return connection(list(suite.run.jobs.values()), by_id, **page)


def _upper(name: str) -> Callable[[JobState, Context], str | None]:
    return lambda job, _context: str(getattr(job, name)).upper() if getattr(job, name) else None


RESOLVERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("Query", "viewer"): lambda _, context: Viewer(context.token.account),
    ("Query", "repository"): _repository,
    ("Query", "node"): _node,
    ("Query", "nodes"): _nodes,
    ("Query", "rateLimit"): _rate_limit,
    ("WorkflowRun", "id"): lambda run, _context: node_id_of(run),
    ("WorkflowRun", "checkSuite"): _check_suite,
    ("CheckSuite", "checkRuns"): _check_runs,
    ("CheckRun", "id"): lambda job, _context: f"CR_kwDO{job.id}",
    ("CheckRun", "status"): _upper("status"),
    ("CheckRun", "conclusion"): _upper("conclusion"),
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
    ("Repository", "nameWithOwner"): lambda s, _: (
        s.name_with_owner if isinstance(s, Foreign) else s.repository
    ),
    ("Repository", "url"): _repository_url,
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
    ("Repository", "milestone"): _milestone,
    ("Repository", "milestones"): _milestones,
    ("Milestone", "id"): lambda milestone, _context: f"MI_{milestone.number}",
    ("Milestone", "issues"): _in_milestone,
    ("Ref", "id"): lambda branch, _context: f"REF_{branch.name}",
    ("Ref", "target"): lambda branch, _context: CommitRef(branch.oid),
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
    ("Issue", "subIssues"): _children,
    ("Issue", "subIssuesSummary"): _children_summary,
    ("Issue", "milestone"): _planned_for,
    ("Issue", "issueDependenciesSummary"): _summary,
    ("Issue", "repository"): _home,
    ("Issue", "reactionGroups"): _reactions,
    ("PullRequest", "id"): _node_id,
    ("PullRequest", "databaseId"): _small_id,
    ("PullRequest", "fullDatabaseId"): _text_id,
    ("PullRequest", "number"): _number,
    ("PullRequest", "state"): _pull_state,
    ("PullRequest", "merged"): lambda p, _: (
        p.need is NeedState.MERGED if isinstance(p, ForeignPull) else p.merged
    ),
    ("PullRequest", "mergeable"): _mergeable,
    ("PullRequest", "mergeStateStatus"): lambda pull, context: context.world.pulls.merge_state(pull),
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
    **{(kind, "id"): _event_id for kind in EVENT_TYPES.values()},
    **{(kind, "createdAt"): (lambda event, _context: event.at) for kind in EVENT_TYPES.values()},
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
