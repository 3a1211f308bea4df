"""GitHub's JSON as our values. No network. A missing author is GHOST, a missing body is empty; both spellings of a bot are one.

REST calls a bot `name[bot]` and GraphQL `name`: the id is the same, and here the login is REST's. Ids are taken from
`fullDatabaseId`, because those of comments and issues have outgrown the 32 bits of `databaseId`.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from bot.model.branch_rule import BranchRule
from bot.model.issue import (
    GHOST,
    Account,
    Comment,
    Edge,
    EventKind,
    Issue,
    NeedState,
    Pull,
    StateReason,
    TimelineEvent,
)
from bot.model.ref import Ref
from bot.model.review import ChangedFile, Remark, Review
from bot.model.run import Artifact, Job, Run

Json = Mapping[str, Any]

_EVENTS = {
    "LabeledEvent": EventKind.LABELED,
    "UnlabeledEvent": EventKind.UNLABELED,
    "ClosedEvent": EventKind.CLOSED,
    "ReopenedEvent": EventKind.REOPENED,
    "RenamedTitleEvent": EventKind.RENAMED,
}
_CLOSED_NEEDS = {
    "": NeedState.COMPLETED,  # closed before there were reasons
    "COMPLETED": NeedState.COMPLETED,
    "NOT_PLANNED": NeedState.NOT_PLANNED,
    "DUPLICATE": NeedState.DUPLICATE,
}


def time(text: str) -> datetime:
    """GitHub's ISO times, always in UTC."""
    at = datetime.fromisoformat(text)
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


def maybe_time(text: str | None) -> datetime | None:
    return time(text) if text else None


def account(actor: Json | None) -> Account:
    """An account from GraphQL (`__typename`, `databaseId`) or REST (`type`, `id`)."""
    if not actor or not actor.get("login"):
        return GHOST
    login = str(actor["login"])
    is_bot = (actor.get("__typename") or actor.get("type")) == "Bot" or login.endswith("[bot]")
    if is_bot and not login.endswith("[bot]"):
        login += "[bot]"
    number = actor.get("databaseId") if "databaseId" in actor or "__typename" in actor else actor.get("id")
    return Account(int(number or 0), login, is_bot)


def issue(node: Json) -> Issue:
    """An issue of the snapshot, or a pull request that is asked for by an issue's number."""
    created = time(node["createdAt"])
    number = int(node["number"])
    edges = _edges(node, "blockedBy")
    children = _edges(node, "subIssues")
    blockers = int((node.get("issueDependenciesSummary") or {}).get("blockedBy") or 0)
    summary = node.get("subIssuesSummary") or {}
    unfinished = int(summary.get("total") or 0) - int(summary.get("completed") or 0)
    return Issue(
        number=number,
        node_id=node["id"],
        title=node.get("title") or "",
        body=node.get("body") or "",
        author=account(node.get("author")),
        is_open=(node.get("state") or node.get("pullState")) == "OPEN",
        state_reason=_state_reason(node),
        labels=tuple(label["name"] for label in nodes(node, "labels")),
        created_at=created,
        updated_at=time(node["updatedAt"]),
        closed_at=maybe_time(node.get("closedAt")),
        events=_events(node, created),
        edges=edges,
        hidden_edges=_hidden(blockers, edges),
        children=children,
        hidden_children=_hidden(unfinished, children),
        milestone=(node.get("milestone") or {}).get("title") or "",
        pulls=tuple(pull(one) for one in nodes(node, "closedByPullRequestsReferences")),
        comments=tuple(comment(one) for one in nodes(node, "comments")),
        locked=bool(node.get("locked")),
        is_pull=node.get("__typename") == "PullRequest",
    )


def _state_reason(node: Json) -> StateReason | None:
    """Why it is closed, or open again. What GitHub may add is neither: such an issue is not completed, and does not start."""
    said = str(node.get("stateReason") or "").lower()
    if (node.get("state") or node.get("pullState")) not in ("OPEN", "CLOSED", "MERGED"):
        return StateReason.OTHER
    return (StateReason(said) if said in list(StateReason) else StateReason.OTHER) if said else None


def pull(node: Json) -> Pull:
    """A pull request that refers to an issue."""
    asked = [
        time(review["submittedAt"])
        for review in nodes(node, "latestOpinionatedReviews")
        if review.get("state") == "CHANGES_REQUESTED" and review.get("submittedAt")
    ]
    return Pull(
        number=int(node["number"]),
        author=account(node.get("author")),
        is_open=node["state"] == "OPEN",
        merged=bool(node["merged"]),
        draft=bool(node.get("isDraft")),
        head_ref=node.get("headRefName") or "",
        head_sha=node.get("headRefOid") or "",
        url=node.get("url") or "",
        repository=(node.get("repository") or {}).get("nameWithOwner") or "",
        changes_requested_at=max(asked, default=None),
        mergeable={"MERGEABLE": True, "CONFLICTING": False}.get(node.get("mergeable") or ""),
        can_merge=node.get("mergeStateStatus") in ("CLEAN", "UNSTABLE", "HAS_HOOKS"),
    )


def comment(node: Json) -> Comment:
    """A comment of GraphQL's."""
    on = node.get("pullRequest") or node.get("issue") or {}
    return Comment(
        id=_database_id(node),
        node_id=node["id"],
        issue=int(on.get("number") or 0),
        author=account(node.get("author")),
        body=node.get("body") or "",
        created_at=time(node["createdAt"]),
        updated_at=time(node["updatedAt"]),
        on_pull=bool(node.get("pullRequest")),
    )


def need(node: Json) -> NeedState:
    """How an issue or pull request stands as a need of something."""
    if node.get("__typename") == "PullRequest":
        if node.get("merged"):
            return NeedState.MERGED
        return NeedState.OPEN_PULL if node.get("pullState") == "OPEN" else NeedState.CLOSED_UNMERGED
    if node.get("state") == "OPEN":
        return NeedState.OPEN
    if node.get("state") != "CLOSED":
        return NeedState.UNKNOWN
    return _CLOSED_NEEDS.get(str(node.get("stateReason") or ""), NeedState.CLOSED_OTHERWISE)


def rest_need(found: Json) -> NeedState:
    """The same of REST's issue object, which is how a moved issue is read."""
    if (linked := found.get("pull_request")) is not None:
        if linked.get("merged_at"):
            return NeedState.MERGED
        return NeedState.OPEN_PULL if found.get("state") == "open" else NeedState.CLOSED_UNMERGED
    return need(
        {
            "state": str(found.get("state")).upper(),
            "stateReason": str(found.get("state_reason") or "").upper(),
        }
    )


def rest_comment(found: Json) -> Comment:
    """A comment of REST's."""
    return Comment(
        id=int(found["id"]),
        node_id=found["node_id"],
        issue=int(str(found["issue_url"]).rsplit("/", 1)[1]),
        author=account(found.get("user")),
        body=found.get("body") or "",
        created_at=time(found["created_at"]),
        updated_at=time(found["updated_at"]),
        on_pull="/pull/" in str(found.get("html_url") or ""),
    )


def remark(found: Json) -> Remark:
    """A comment on a line; GitHub has no line any more where the code below it was changed since."""
    return Remark(str(found["path"]), int(found.get("line") or 0), found.get("body") or "")


def review(found: Json, remarks: tuple[Remark, ...]) -> Review:
    return Review(
        author=account(found.get("user")),
        state=str(found["state"]).lower(),
        text=found.get("body") or "",
        at=time(found["submitted_at"]),
        remarks=remarks,
    )


def changed_file(found: Json) -> ChangedFile:
    return ChangedFile(
        str(found["filename"]), int(found.get("additions") or 0), int(found.get("deletions") or 0)
    )


def rest_pull(found: Json) -> Pull:
    """A pull request of REST's, from a list or alone."""
    head = found.get("head") or {}
    base = (found.get("base") or {}).get("repo") or {}
    return Pull(
        number=int(found["number"]),
        author=account(found.get("user")),
        is_open=found["state"] == "open",
        merged=bool(found.get("merged_at")),
        draft=bool(found.get("draft")),
        head_ref=head.get("ref") or "",
        head_sha=head.get("sha") or "",
        url=found.get("html_url") or "",
        repository=base.get("full_name") or "",
        mergeable=found.get("mergeable"),
        node_id=found.get("node_id") or "",
    )


def run(found: Json) -> Run:
    return Run(
        id=int(found["id"]),
        title=found.get("display_title") or "",
        status=found.get("status") or "",
        conclusion=found.get("conclusion"),
        created_at=time(found["created_at"]),
        updated_at=time(found["updated_at"]),
        attempt=int(found.get("run_attempt") or 1),
        url=found.get("html_url") or "",
        event=found.get("event") or "",
        node_id=found.get("node_id") or "",
    )


def check_run(node: Json) -> Job:
    """A job as GraphQL shows it: a check run of the same name. Its ids are past GraphQL's integers, so it has none here."""
    return Job(
        id=0,
        run_id=0,
        name=node.get("name") or "",
        status=str(node.get("status") or "").lower(),
        conclusion=str(node["conclusion"]).lower() if node.get("conclusion") else None,
        started_at=maybe_time(node.get("startedAt")),
        completed_at=maybe_time(node.get("completedAt")),
    )


def job(found: Json) -> Job:
    return Job(
        id=int(found["id"]),
        run_id=int(found["run_id"]),
        name=found.get("name") or "",
        status=found.get("status") or "",
        conclusion=found.get("conclusion"),
        started_at=maybe_time(found.get("started_at")),
        completed_at=maybe_time(found.get("completed_at")),
        attempt=int(found.get("run_attempt") or 1),
    )


def artifact(found: Json, run_id: int) -> Artifact:
    return Artifact(
        id=int(found["id"]),
        name=found["name"],
        run_id=int((found.get("workflow_run") or {}).get("id") or run_id),
        created_at=maybe_time(found.get("created_at")) or datetime.min.replace(tzinfo=UTC),
        expired=bool(found.get("expired")),
        size=int(found.get("size_in_bytes") or 0),
    )


def nodes(node: Json, name: str) -> Iterable[Json]:
    """The nodes of a connection that this token may see; the others are null."""
    connection = node.get(name) or {}
    return [one for one in connection.get("nodes") or () if one]


def _database_id(node: Json) -> int:
    return int(node.get("fullDatabaseId") or node.get("databaseId") or 0)


def _events(node: Json, created: datetime) -> tuple[TimelineEvent, ...]:
    events = [_event(one) for one in nodes(node, "timelineItems") if one.get("__typename") in _EVENTS]
    edits = {
        TimelineEvent(EventKind.EDITED, account(one.get("editor")), time(one["editedAt"]))
        for one in nodes(node, "userContentEdits")
    }
    if node.get("lastEditedAt") and node.get("editor"):
        edits.add(TimelineEvent(EventKind.EDITED, account(node["editor"]), time(node["lastEditedAt"])))
    # The first entry of an edited body is its creation. Within a second the timeline's own order counts.
    events += sorted((edit for edit in edits if edit.at > created), key=lambda edit: (edit.at, edit.actor.id))
    return tuple(sorted(events, key=lambda event: event.at))


def _event(node: Json) -> TimelineEvent:
    closer = (node.get("closer") or {}).get("__typename")
    return TimelineEvent(
        kind=_EVENTS[node["__typename"]],
        actor=account(node.get("actor")),
        at=time(node["createdAt"]),
        label=(node.get("label") or {}).get("name"),
        by_merge=closer in ("PullRequest", "Commit"),
    )


def _edges(node: Json, name: str) -> tuple[Edge, ...]:
    """The issues that a native relation names, as far as this token sees them."""
    return tuple(
        Edge(Ref(one["repository"]["nameWithOwner"], int(one["number"])), need(one))
        for one in nodes(node, name)
        if one.get("repository")
    )


def _hidden(counted: int, seen: Sequence[Edge]) -> int:
    """How many open ones GitHub counts beyond those that it lets this token see."""
    return max(0, counted - sum(edge.state is NeedState.OPEN for edge in seen))


def branch_rule(found: Mapping[str, Any]) -> BranchRule:
    """One entry of the list of rules that hold for a branch."""
    given = found.get("parameters") or {}
    return BranchRule(
        kind=str(found["type"]),
        operator=str(given.get("operator") or ""),
        pattern=str(given.get("pattern") or ""),
        negate=bool(given.get("negate")),
    )
