"""REST: labels, issues, comments, timelines, reactions, native dependencies."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from bot.model.issue import NeedState, StateReason
from bot.model.ref import Ref
from bot.sandbox.http.rest.bodies import Json
from bot.sandbox.http.rest.exchange import PAGED, Call, Reply, Route
from bot.sandbox.world import CommentState, IssueState
from bot.sandbox.world.errors import invalid, not_found

_REACTIONS = {
    "+1": "THUMBS_UP",
    "-1": "THUMBS_DOWN",
    "laugh": "LAUGH",
    "hooray": "HOORAY",
    "confused": "CONFUSED",
    "heart": "HEART",
    "rocket": "ROCKET",
    "eyes": "EYES",
}


def _issue(call: Call) -> IssueState:
    call.may_read("issues", "pull-requests")
    return call.world.issues.get(call.number("issue_number"))


def _comment(call: Call) -> CommentState:
    call.may_read("issues", "pull-requests")
    return call.world.issues.comment(call.number("comment_id"))


def since(call: Call) -> datetime | None:
    """The `since` of a query. Raises ApiError 422 if it is no time."""
    text = call.query.get("since")
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise invalid("Validation Failed: since is not a time") from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


# ---------------------------------------------------------------------- labels of the repository


def list_labels(call: Call) -> Reply:
    call.may_read("issues", "pull-requests")
    return call.page(call.world.issues.labels.values(), call.render.label)


def create_label(call: Call) -> Reply:
    name, color = call.field("name", str), call.field("color", str, "ededed")
    description = call.field("description", str, "")
    return Reply(call.render.label(call.world.issues.create_label(name, color, description, call.token)), 201)


def get_label(call: Call) -> Reply:
    call.may_read("issues", "pull-requests")
    return Reply(call.render.label(call.world.issues.label(call.params["name"])))


def delete_label(call: Call) -> Reply:
    call.world.issues.delete_label(call.params["name"], call.token)
    return Reply(status=204)


# ---------------------------------------------------------------------- issues


def list_issues(call: Call) -> Reply:
    call.may_read("issues")
    state = call.query.get("state", "open")
    wanted = [name for name in call.query.get("labels", "").split(",") if name]
    newer = since(call)
    found = [
        issue
        for issue in call.world.issues.all()
        if (state == "all" or issue.is_open is (state == "open"))
        and all(issue.has_label(name) for name in wanted)
        and (newer is None or issue.updated_at >= newer)
    ]
    return call.page(_sorted(call, found, "desc"), call.render.issue)


def create_issue(call: Call) -> Reply:
    names = _names(call.field("labels", list, []))
    issue = call.world.issues.create(call.field("title", str), call.field("body", str, ""), names, call.token)
    return Reply(call.render.issue(issue), 201)


def get_issue(call: Call) -> Reply:
    return Reply(call.render.issue(_issue(call)))


def update_issue(call: Call) -> Reply:
    """`labels` is not offered: replacing the set loses what others add meanwhile."""
    issue = _issue(call)
    title, body = call.body.get("title"), call.body.get("body")
    if title is not None or body is not None:
        call.world.issues.edit(issue, call.token, title=title, body=body)
    state = call.body.get("state")
    if state == "closed":
        reason = StateReason(call.field("state_reason", str, "completed"))
        call.world.issues.close(issue, reason, call.token)
    elif state == "open":
        call.world.issues.reopen(issue, call.token)
    elif state is not None:
        raise invalid("Validation Failed: state must be open or closed")
    return Reply(call.render.issue(issue))


# ---------------------------------------------------------------------- labels of an issue


def issue_labels(call: Call) -> Reply:
    return call.page(_issue(call).labels, call.render.label)


def add_labels(call: Call) -> Reply:
    issue = _issue(call)
    for name in _names(call.field("labels", list)):
        call.world.issues.add_label(issue, name, call.token, create=True)
    return Reply([call.render.label(label) for label in issue.labels])


def remove_label(call: Call) -> Reply:
    issue = _issue(call)
    if not call.world.issues.remove_label(issue, call.params["name"], call.token):
        raise not_found("Label does not exist")
    return Reply([call.render.label(label) for label in issue.labels])


# ---------------------------------------------------------------------- comments


def list_comments(call: Call) -> Reply:
    newer = since(call)
    found = [c for c in _issue(call).comments if newer is None or c.updated_at >= newer]
    return call.page(found, call.render.comment)


def repository_comments(call: Call) -> Reply:
    call.may_read("issues", "pull-requests")
    newer = since(call)
    found = [c for c in call.world.issues.comments.values() if newer is None or c.updated_at >= newer]
    if call.query.get("sort") is None:
        # GitHub: without a sort, by ascending id.
        return call.page(found, call.render.comment)
    return call.page(_sorted(call, found, "desc"), call.render.comment)


def create_comment(call: Call) -> Reply:
    comment = call.world.issues.add_comment(_issue(call), call.field("body", str), call.token)
    return Reply(call.render.comment(comment), 201)


def get_comment(call: Call) -> Reply:
    return Reply(call.render.comment(_comment(call)))


def update_comment(call: Call) -> Reply:
    comment = _comment(call)
    call.world.issues.edit_comment(comment, call.field("body", str), call.token)
    return Reply(call.render.comment(comment))


def delete_comment(call: Call) -> Reply:
    call.world.issues.delete_comment(_comment(call), call.token)
    return Reply(status=204)


# ---------------------------------------------------------------------- history and reactions


def issue_events(call: Call) -> Reply:
    return call.page(_issue(call).events, call.render.event)


def timeline(call: Call) -> Reply:
    issue = _issue(call)
    entries: list[tuple[datetime, Json]] = [(e.at, call.render.event(e)) for e in issue.events]
    entries += [(c.created_at, call.render.timeline_comment(c)) for c in issue.comments]
    return call.page(sorted(entries, key=lambda entry: entry[0]), lambda entry: entry[1])


def react_to_issue(call: Call) -> Reply:
    return _react(call, _issue(call))


def react_to_comment(call: Call) -> Reply:
    return _react(call, _comment(call))


def _react(call: Call, subject: IssueState | CommentState) -> Reply:
    content = _REACTIONS.get(call.field("content", str))
    if content is None:
        raise invalid("Validation Failed: content is not a reaction")
    known = (content, call.token.account) in subject.reactions
    call.world.issues.react(subject, content, call.token)
    number = subject.reactions.index((content, call.token.account)) + 1
    return Reply(
        call.render.reaction(subject.id * 100 + number, content, call.token.account), 200 if known else 201
    )


# ---------------------------------------------------------------------- dependencies


def blocked_by(call: Call) -> Reply:
    edges = call.world.dependencies
    return call.page(edges.visible(_issue(call).blocked_by), lambda ref: _blocker(call, ref))


def blocking(call: Call) -> Reply:
    return call.page(call.world.dependencies.blocking(_issue(call)), call.render.issue)


def add_blocked_by(call: Call) -> Reply:
    """`issue_id` is the database id of an issue, not its number."""
    issue = _issue(call)
    blocker = _by_id(call, call.field("issue_id", int))
    call.world.dependencies.add(issue, Ref(call.world.repository, blocker.number), call.token)
    return Reply(call.render.issue(blocker), 201)


def remove_blocked_by(call: Call) -> Reply:
    issue = _issue(call)
    blocker = _by_id(call, call.number("issue_id"))
    call.world.dependencies.remove(issue, Ref(call.world.repository, blocker.number), call.token)
    return Reply(call.render.issue(blocker))


def _by_id(call: Call, issue_id: int) -> IssueState:
    for issue in call.world.issues.all():
        if issue.id == issue_id:
            return issue
    raise not_found()


def _blocker(call: Call, ref: Ref) -> Json:
    if ref.repository == call.world.repository.lower():
        return call.render.issue(call.world.issues.get(ref.number))
    return call.render.foreign_issue(ref, call.world.dependencies.state(ref))


def foreign_issue(call: Call) -> Reply:
    """An issue of another repository."""
    ref = Ref(f"{call.params['owner']}/{call.params['repo']}", call.number("issue_number"))
    state = call.world.dependencies.state(ref)
    if state in (NeedState.UNREADABLE, NeedState.UNKNOWN):
        raise not_found()
    if state is NeedState.DELETED:
        return Reply({"message": "This issue was deleted", "documentation_url": "", "status": "410"}, 410)
    return Reply(call.render.foreign_issue(ref, state))


def _names(labels: Sequence[Any]) -> list[str]:
    """REST takes names or objects with a name."""
    names = [label.get("name") if isinstance(label, dict) else label for label in labels]
    if not all(isinstance(name, str) for name in names):
        raise invalid("Validation Failed: a label is a name or an object with a name")
    return [name for name in names if isinstance(name, str)]


def _sorted(call: Call, found: list[Any], default: str) -> list[Any]:
    keys = {"created": "created_at", "updated": "updated_at"}
    sort = call.query.get("sort", "created")
    if sort not in keys:
        raise invalid(f"Validation Failed: the sandbox does not sort by {sort}")
    descending = call.query.get("direction", default) == "desc"
    return sorted(found, key=lambda item: (getattr(item, keys[sort]), item.id), reverse=descending)


_LISTED = (*PAGED, "since", "sort", "direction")

ROUTES = (
    Route("GET", "/labels", list_labels, PAGED),
    Route("POST", "/labels", create_label, fields=("name", "color", "description"), needs="issues=write"),
    Route("GET", "/labels/{name}", get_label),
    Route("DELETE", "/labels/{name}", delete_label, needs="issues=write"),
    Route("GET", "/issues", list_issues, (*_LISTED, "state", "labels"), stale=True),
    Route(
        "POST",
        "/issues",
        create_issue,
        fields=("title", "body", "labels"),
        content=True,
        needs="issues=write",
    ),
    Route("GET", "/issues/comments", repository_comments, _LISTED, stale=True),
    Route("GET", "/issues/comments/{comment_id}", get_comment),
    Route("PATCH", "/issues/comments/{comment_id}", update_comment, fields=("body",), needs="issues=write"),
    Route("DELETE", "/issues/comments/{comment_id}", delete_comment, needs="issues=write"),
    Route(
        "POST",
        "/issues/comments/{comment_id}/reactions",
        react_to_comment,
        fields=("content",),
        needs="issues=write",
    ),
    Route("GET", "/issues/{issue_number}", get_issue),
    Route(
        "PATCH",
        "/issues/{issue_number}",
        update_issue,
        fields=("title", "body", "state", "state_reason"),
        needs="issues=write",
    ),
    Route("GET", "/issues/{issue_number}/labels", issue_labels, PAGED),
    Route("POST", "/issues/{issue_number}/labels", add_labels, fields=("labels",), needs="issues=write"),
    Route("DELETE", "/issues/{issue_number}/labels/{name}", remove_label, needs="issues=write"),
    Route("GET", "/issues/{issue_number}/comments", list_comments, (*PAGED, "since")),
    Route(
        "POST",
        "/issues/{issue_number}/comments",
        create_comment,
        fields=("body",),
        content=True,
        needs="issues=write",
    ),
    Route("GET", "/issues/{issue_number}/events", issue_events, PAGED),
    Route("GET", "/issues/{issue_number}/timeline", timeline, PAGED),
    Route(
        "POST", "/issues/{issue_number}/reactions", react_to_issue, fields=("content",), needs="issues=write"
    ),
    Route("GET", "/issues/{issue_number}/dependencies/blocked_by", blocked_by, PAGED),
    Route(
        "POST",
        "/issues/{issue_number}/dependencies/blocked_by",
        add_blocked_by,
        fields=("issue_id",),
        needs="issues=write",
    ),
    Route(
        "DELETE",
        "/issues/{issue_number}/dependencies/blocked_by/{issue_id}",
        remove_blocked_by,
        needs="issues=write",
    ),
    Route("GET", "/issues/{issue_number}/dependencies/blocking", blocking, PAGED),
)
