"""REST: the repository itself, its collaborators, git objects, pull requests, and what a token is."""

from bot.sandbox.http.rest.exchange import PAGED, Call, Reply, Route
from bot.sandbox.world import PullState
from bot.sandbox.world.errors import forbidden, invalid, not_found


def get_repository(call: Call) -> Reply:
    # Reading metadata needs no more than a token that is good for the repository.
    call.world.accounts.get(call.token.account.login)
    return Reply(call.render.repository(full=True))


def permission(call: Call) -> Reply:
    login = call.params["username"]
    call.world.accounts.role_for(call.token, login)
    return Reply(call.render.permission(login))


def get_reference(call: Call) -> Reply:
    call.may_read("contents")
    name = call.params["ref"]
    branch = name.removeprefix("heads/")
    sha = call.world.git.head(branch) if name.startswith("heads/") else None
    if sha is None:
        raise not_found()
    return Reply(call.render.reference(branch, sha))


def get_blob(call: Call) -> Reply:
    call.may_read("contents")
    sha = call.params["file_sha"]
    data = call.world.git.blob(sha)
    if data is None:
        raise not_found()
    return Reply(call.render.blob(sha, data))


def get_content(call: Call) -> Reply:
    """One file of a branch or commit."""
    call.may_read("contents")
    path = call.params["path"]
    folder = path.rpartition("/")[0]
    ref = call.query.get("ref", call.world.git.default_branch)
    sha = call.world.git.listing(ref, folder).get(path)
    data = call.world.git.blob(sha) if sha else None
    if sha is None or data is None:
        raise not_found()
    return Reply(call.render.content(path, sha, data))


def workflow_permissions(call: Call) -> Reply:
    """A setting: no token of a run may read it, and of people only administrators."""
    if call.token.permissions is not None:
        raise forbidden()
    call.world.accounts.require(call.token, "read", role="admin")
    allowed = call.world.pulls.actions_may_open
    return Reply({"default_workflow_permissions": "read", "can_approve_pull_request_reviews": allowed})


def branch_rules(call: Call) -> Reply:
    """The active rules on a branch, which need not exist; everybody who may read the repository may read them."""
    call.may_read("contents")
    return call.page(
        call.world.push_rules.on(call.params["branch"]), lambda rule: rule.shown(call.world.repository)
    )


# ---------------------------------------------------------------------- pull requests


def list_pulls(call: Call) -> Reply:
    call.may_read("pull-requests")
    query = call.query
    state = query.get("state", "open")
    owner = call.world.repository.split("/", maxsplit=1)[0]
    head, base = query.get("head", ""), query.get("base")
    found = [
        pull
        for pull in call.world.pulls.by_number.values()
        if (state == "all" or pull.issue.is_open is (state == "open"))
        and (not head or head.lower() == f"{owner}:{pull.head_ref}".lower())
        and base in (None, pull.base_ref)
    ]
    sort = query.get("sort", "created")
    if sort not in ("created", "updated"):
        raise invalid(f"Validation Failed: the sandbox does not sort by {sort}")
    descending = query.get("direction", "desc" if sort == "created" else "asc") == "desc"
    found.sort(key=lambda pull: (getattr(pull.issue, f"{sort}_at"), pull.number), reverse=descending)
    return call.page(found, call.render.pull)


def create_pull(call: Call) -> Reply:
    head = call.field("head", str).removeprefix(f"{call.world.repository.split('/', maxsplit=1)[0]}:")
    title, body, base = call.field("title", str), call.field("body", str, ""), call.field("base", str)
    draft = call.field("draft", bool, default=False)
    pull = call.world.pulls.open(head, base, title, body, call.token, draft=draft)
    return Reply(call.render.pull(pull, full=True), 201)


def get_pull(call: Call) -> Reply:
    return Reply(call.render.pull(_pull(call), full=True))


def update_pull(call: Call) -> Reply:
    pull = _pull(call)
    title, body = call.body.get("title"), call.body.get("body")
    if title is not None or body is not None:
        call.world.issues.edit(pull.issue, call.token, title=title, body=body)
    state = call.body.get("state")
    if state == "closed":
        call.world.pulls.close(pull, call.token)
    elif state == "open":
        call.world.pulls.reopen(pull, call.token)
    return Reply(call.render.pull(pull, full=True))


def merge_pull(call: Call) -> Reply:
    method = call.field("merge_method", str, "merge")
    if method != "merge":
        return Reply({"message": f"{method.capitalize()} merges are not allowed on this repository."}, 405)
    sha = call.world.pulls.merge(_pull(call), call.token, head_sha=call.field("sha", str, ""))
    return Reply({"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


def list_reviews(call: Call) -> Reply:
    pull = _pull(call)
    return call.page(pull.reviews, lambda review: call.render.review(pull, review))


def list_remarks(call: Call) -> Reply:
    pull = _pull(call)
    found = [(review, remark) for review in pull.reviews for remark in review.remarks]
    return call.page(found, lambda each: call.render.remark(pull, *each))


def list_files(call: Call) -> Reply:
    pull = _pull(call)
    found = list(call.world.pulls.changed_files(pull))
    return call.page(found, lambda each: call.render.changed_file(pull, *each))


def create_review(call: Call) -> Reply:
    events = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}
    event = events.get(call.field("event", str))
    if event is None:
        raise invalid(
            "Validation Failed: the sandbox keeps no pending reviews; event is APPROVE, REQUEST_CHANGES or COMMENT"
        )
    pull = _pull(call)
    review = call.world.pulls.review(pull, event, call.field("body", str, ""), call.token)
    return Reply(call.render.review(pull, review))


def request_review(call: Call) -> Reply:
    """Of people; teams are not offered."""
    pull = _pull(call)
    logins = call.field("reviewers", list)
    if not logins or not all(isinstance(login, str) for login in logins):
        raise invalid("Validation Failed: reviewers is a list of logins")
    call.world.pulls.request_review(pull, logins, call.token)
    return Reply(call.render.pull(pull), 201)


def _pull(call: Call) -> PullState:
    call.may_read("pull-requests")
    return call.world.pulls.get(call.number("pull_number"))


# ---------------------------------------------------------------------- without a repository


def rate_limit(call: Call) -> Reply:
    windows = {name: call.world.limits.window(call.token, name) for name in ("core", "graphql")}
    return Reply(call.render.limits(windows))


def get_user(call: Call) -> Reply:
    if call.token.kind != "user":
        call.world.accounts.require(call.token, "read", "user", role="read")
    return Reply(call.render.whoami(call.token.account))


def get_account(call: Call) -> Reply:
    return Reply(call.render.whoami(call.world.accounts.get(call.params["username"])))


ROUTES = (
    Route("GET", "", get_repository),
    Route("GET", "/collaborators/{username}/permission", permission),
    Route("GET", "/git/ref/{ref:path}", get_reference),
    Route("GET", "/git/blobs/{file_sha}", get_blob),
    Route("GET", "/contents/{path:path}", get_content, ("ref",)),
    Route("GET", "/actions/permissions/workflow", workflow_permissions),
    Route("GET", "/rules/branches/{branch:path}", branch_rules, PAGED),
    Route("GET", "/pulls", list_pulls, (*PAGED, "state", "head", "base", "sort", "direction"), stale=True),
    Route(
        "POST",
        "/pulls",
        create_pull,
        fields=("title", "head", "base", "body", "draft"),
        content=True,
        needs="pull_requests=write",
    ),
    Route("GET", "/pulls/{pull_number}", get_pull),
    Route(
        "PATCH",
        "/pulls/{pull_number}",
        update_pull,
        fields=("title", "body", "state"),
        needs="pull_requests=write",
    ),
    Route(
        "PUT",
        "/pulls/{pull_number}/merge",
        merge_pull,
        fields=("sha", "merge_method"),
        needs="contents=write",
    ),
    Route(
        "POST",
        "/pulls/{pull_number}/requested_reviewers",
        request_review,
        fields=("reviewers",),
        needs="pull_requests=write",
    ),
    Route("GET", "/pulls/{pull_number}/comments", list_remarks, PAGED),
    Route("GET", "/pulls/{pull_number}/files", list_files, PAGED),
    Route("GET", "/pulls/{pull_number}/reviews", list_reviews, PAGED),
    Route(
        "POST",
        "/pulls/{pull_number}/reviews",
        create_review,
        fields=("event", "body"),
        needs="pull_requests=write",
    ),
)

GLOBAL_ROUTES = (
    Route("GET", "/rate_limit", rate_limit),
    Route("GET", "/user", get_user),
    Route("GET", "/users/{username}", get_account),
)
