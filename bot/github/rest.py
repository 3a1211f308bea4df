"""What is read and done by REST: comments since a time, workflow runs with their jobs and artifacts."""

import base64
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.github import decode
from bot.github.faults import Gone
from bot.github.session import Session, check_list, check_progress, has_next, path
from bot.model.branch_rule import BranchRule
from bot.model.errors import CannotGoOn, NotFound, Refused, UsageError, WorkflowMissing
from bot.model.issue import Comment, NeedState
from bot.model.ref import Ref
from bot.model.review import PullSummary, Remark, Review
from bot.model.run import Artifact, Job, Run

_LISTED_RUNS = 1000  # GitHub lists no more than this of a filtered list
_MAX_INPUTS = 25
_MAX_INPUT_CHARACTERS = 65_535
_ROLES = ("admin", "maintain", "write", "triage", "read", "none")


def comments_since(session: Session, since: datetime) -> tuple[Comment, ...]:
    """All comments created or edited since then, by time of change.

    An edit moves a comment to the list's end and everything behind it one place forward, so the next page is not asked for by
    number but by the time of the last one seen, a second early because GitHub does not say whether the bound is included.
    """
    found: dict[int, Comment] = {}
    start, page, before = _second(since), 1, None
    while True:
        params = {"since": _iso(start), "sort": "updated", "direction": "asc", "per_page": 100, "page": page}
        answer = session.get(session.path("issues", "comments"), params)
        listed = [decode.rest_comment(one) for one in check_list(answer.json())]
        check_progress(page == 1 or listed != before)
        found |= {one.id: one for one in listed}
        if not listed or not has_next(answer):
            return tuple(sorted(found.values(), key=lambda one: (one.updated_at, one.id)))
        later = _second(listed[-1].updated_at) - timedelta(seconds=1)
        start, page, before = (later, 1, None) if later > start else (start, page + 1, listed)


def comment(session: Session, comment_id: int) -> Comment:
    return decode.rest_comment(session.look_again(session.path("issues", "comments", comment_id)).json())


def is_open(session: Session, number: int) -> bool:
    return str(session.look_again(session.path("issues", number)).json()["state"]) == "open"


def comments_on(session: Session, number: int) -> tuple[Comment, ...]:
    """Oldest first, as GitHub lists them; one that came while we read may stand on two pages."""
    pages = session.pages(session.path("issues", number, "comments"), {})
    return tuple({one["id"]: decode.rest_comment(one) for one in _flat(pages)}.values())


def reviews(session: Session, number: int) -> tuple[Review, ...]:
    """Remarks on lines come as a list of their own, each naming its review."""
    remarks: dict[int, list[Remark]] = {}
    for found in _flat(session.pages(session.path("pulls", number, "comments"), {})):
        remarks.setdefault(int(found.get("pull_request_review_id") or 0), []).append(decode.remark(found))
    listed = _flat(session.pages(session.path("pulls", number, "reviews"), {}))
    return tuple(
        decode.review(found, tuple(remarks.get(int(found["id"]), ())))
        for found in listed
        if found.get("submitted_at")
    )


def pull_summary(session: Session, number: int) -> PullSummary:
    pull = session.get(session.path("pulls", number)).json()
    return PullSummary(
        number=int(pull["number"]),
        title=pull.get("title") or "",
        is_open=pull["state"] == "open",
        merged=bool(pull.get("merged_at")),
        files=tuple(
            decode.changed_file(one)
            for one in _flat(session.pages(session.path("pulls", number, "files"), {}))
        ),
    )


def file(session: Session, blob: str) -> str:
    """A blob's text; bytes that are not UTF-8 show as U+FFFD."""
    found = session.get(session.path("git", "blobs", blob)).json()
    return base64.b64decode(found["content"]).decode(errors="replace")


def text_at(session: Session, file: str) -> str | None:
    """GitHub gives the content of files up to a megabyte; a larger one shows as empty."""
    try:
        found = session.get(session.path("contents", *file.split("/"))).json()
    except NotFound:
        return None
    return base64.b64decode(found.get("content") or "").decode(errors="replace")


def actions_may_open_pulls(session: Session) -> bool | None:
    """The setting is for administrators to read (permission `administration`), which no token of a job has."""
    try:
        found = session.get(session.path("actions", "permissions", "workflow")).json()
    except (CannotGoOn, NotFound, Refused):
        return None
    return bool(found["can_approve_pull_request_reviews"])


def rules_on(session: Session, branch: str) -> tuple[BranchRule, ...]:
    """GitHub's "Get rules for a branch": it asks for read access to the repository only."""
    pages = session.pages(session.path("rules", "branches", branch), {})
    return tuple(decode.branch_rule(one) for one in _flat(pages))


def runs(session: Session, workflow: str, since: datetime | None) -> tuple[Run, ...]:
    """Newest first. New runs move the others to later pages while we read, so they are told apart by id."""
    found: dict[int, Run] = {}
    until = ""
    while True:
        params = {}
        if since is not None:
            params["created"] = f"{_iso(since)}..{until}" if until else f">={_iso(since)}"
        before, listed = len(found), 0
        try:
            for page in session.pages(
                session.path("actions", "workflows", workflow, "runs"), params, "workflow_runs"
            ):
                listed += len(page)
                found |= {one.id: one for one in map(decode.run, page)}
        except NotFound:
            raise _missing(session, workflow) from None
        if since is None or listed < _LISTED_RUNS or len(found) == before:
            break
        until = _iso(min(one.created_at for one in found.values()))
    return tuple(sorted(found.values(), key=lambda one: (one.created_at, one.id), reverse=True))


def newest_runs(session: Session, workflow: str) -> tuple[Run, ...]:
    path = session.path("actions", "workflows", workflow, "runs")
    try:
        found = session.look_again(path, {"per_page": 100}).json()
    except NotFound:
        raise _missing(session, workflow) from None
    return tuple(decode.run(one) for one in found["workflow_runs"])


def run(session: Session, run_id: int) -> Run:
    return decode.run(session.get(session.path("actions", "runs", run_id)).json())


def jobs(session: Session, run_id: int) -> tuple[Job, ...]:
    pages = session.pages(session.path("actions", "runs", run_id, "jobs"), {"filter": "all"}, "jobs")
    return tuple({one["id"]: decode.job(one) for one in _flat(pages)}.values())


def annotations(session: Session, job_id: int) -> tuple[str, ...]:
    """A job is a check run of the same id."""
    pages = session.pages(session.path("check-runs", job_id, "annotations"), {})
    return tuple(str(one.get("message") or "") for one in _flat(pages))


def artifacts(session: Session, run_id: int) -> tuple[Artifact, ...]:
    pages = session.pages(session.path("actions", "runs", run_id, "artifacts"), {}, "artifacts")
    return tuple({one["id"]: decode.artifact(one, run_id) for one in _flat(pages)}.values())


def artifacts_since(session: Session, since: datetime) -> tuple[Artifact, ...]:
    """Newest first, as GitHub lists them, until a whole page is older."""
    found: dict[int, Artifact] = {}
    for page in session.pages(session.path("actions", "artifacts"), {}, "artifacts"):
        new = [one for one in (decode.artifact(each, 0) for each in page) if one.created_at >= _second(since)]
        found |= {one.id: one for one in new}
        if not new:
            break
    return tuple(sorted(found.values(), key=lambda one: (one.created_at, one.id), reverse=True))


def download(session: Session, artifact_id: int) -> bytes:
    """The redirect to the storage is followed without our token: httpx drops it when the host changes."""
    return session.get_bytes(session.path("actions", "artifacts", artifact_id, "zip"))


def permission(session: Session, login: str) -> str:
    """GitHub's `permission` folds maintain into write and triage into read; `role_name` does not, but may be an own role's name."""
    if not login:
        return "none"
    try:
        found = session.get(session.path("collaborators", login, "permission")).json()
    except NotFound:
        return "none"
    role = str(found.get("role_name") or "")
    return role if role in _ROLES else str(found.get("permission") or "none")


def moved_need(session: Session, ref: Ref) -> NeedState:
    """A reference that GraphQL does not find: moved (301, followed), deleted (410) or not to be seen (404)."""
    owner, _, name = ref.repository.partition("/")
    try:
        return decode.rest_need(session.get(path("repos", owner, name, "issues", ref.number)).json())
    except Gone:
        return NeedState.DELETED
    except NotFound:
        return NeedState.UNREADABLE


def block(session: Session, number: int, blocker: Ref) -> None:
    """See `Writer.block`. GitHub wants the blocker's database id, which is not its number."""
    owner, _, name = blocker.repository.partition("/")
    found = session.get(path("repos", owner, name, "issues", blocker.number)).json()
    place = session.path("issues", number, "dependencies", "blocked_by")
    session.change("POST", place, {"issue_id": int(found["id"])})


def dispatch(session: Session, workflow: str, ref: str, inputs: Mapping[str, str]) -> int:
    """See `Writer.dispatch`."""
    if len(inputs) > _MAX_INPUTS:
        raise UsageError(f"{workflow} takes at most {_MAX_INPUTS} inputs, and here are {len(inputs)}")
    size = len(json.dumps(dict(inputs), ensure_ascii=False))
    if size > _MAX_INPUT_CHARACTERS:
        raise UsageError(
            f"the inputs of {workflow} are {size} characters, and GitHub takes {_MAX_INPUT_CHARACTERS}"
        )
    place = session.path("actions", "workflows", workflow, "dispatches")
    try:
        found = session.change("POST", place, {"ref": ref, "inputs": dict(inputs)}).json()
    except NotFound:
        raise _missing(session, workflow) from None
    return int((found or {}).get("workflow_run_id") or 0)


def cancel(session: Session, run_id: int, verb: str) -> bool:
    """`verb` is `cancel` or `force-cancel`. False if the run has ended."""
    try:
        session.change("POST", session.path("actions", "runs", run_id, verb))
    except Refused as error:
        if error.status == 409:
            return False
        raise
    return True


def create_label(session: Session, name: str, colour: str, description: str) -> str:
    """Create a label and return its node id; empty if it was there already. Raises CannotGoOn naming it if GitHub says no."""
    body = {"name": name, "color": colour.lstrip("#"), "description": description[:100]}
    try:
        found = session.change("POST", session.path("labels"), body).json()
    except Refused as error:
        if "already_exists" in str(error):
            return ""
        raise CannotGoOn(f"the label {name} could not be created: {error}") from None
    except (CannotGoOn, NotFound) as error:
        raise CannotGoOn(
            f"the label {name} could not be created: {error}; it needs the permission issues: write"
        ) from None
    return str(found["node_id"])


def _missing(session: Session, workflow: str) -> WorkflowMissing:
    return WorkflowMissing(
        f".github/workflows/{workflow} is not on the default branch of {session.repository}, or the token may not see it"
        " (it needs the permission actions)"
    )


def _flat(pages: Iterator[list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    for page in pages:
        yield from page


def _second(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(microsecond=0)


def _iso(at: datetime) -> str:
    return _second(at).strftime("%Y-%m-%dT%H:%M:%SZ")
