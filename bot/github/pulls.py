"""What the publish job asks of GitHub about pull requests: find, open, update, ask for review, close, merge."""

from bot.github import decode
from bot.github.faults import clean, forbidden
from bot.github.fit import fit, fit_title
from bot.github.session import Session
from bot.model.errors import CannotGoOn, Refused
from bot.model.issue import Pull

_METHODS = ("merge", "squash", "rebase")
_READY = (
    "mutation Ready($input: MarkPullRequestReadyForReviewInput!) {\n"
    "  markPullRequestReadyForReview(input: $input) { pullRequest { isDraft } }\n}"
)
_MERGE_LATER = (
    "mutation MergeLater($input: EnablePullRequestAutoMergeInput!) {\n"
    "  enablePullRequestAutoMerge(input: $input) { pullRequest { number } }\n}"
)


def pull_by_branch(session: Session, branch: str) -> Pull | None:
    """The newest open one; forks of the same owner are told apart by the head's repository."""
    params = {"state": "open", "head": f"{session.owner}:{branch}", "sort": "created", "direction": "desc"}
    for page in session.pages(session.path("pulls"), params):
        for found in page:
            head = found.get("head") or {}
            home = str((head.get("repo") or {}).get("full_name") or "")
            if head.get("ref") == branch and home.lower() == session.repository.lower():
                return decode.rest_pull(found)
    return None


def open_pull(session: Session, branch: str, base: str, title: str, body: str, draft: bool) -> Pull:
    sent = {"title": fit_title(title), "head": branch, "base": base, "body": fit(body), "draft": draft}
    return decode.rest_pull(session.change("POST", session.path("pulls"), sent).json())


def update_pull(session: Session, number: int, title: str, body: str) -> Pull:
    sent = {"title": fit_title(title), "body": fit(body)}
    return decode.rest_pull(session.change("PATCH", session.path("pulls", number), sent).json())


def close_pull(session: Session, number: int) -> None:
    session.change("PATCH", session.path("pulls", number), {"state": "closed"})


def ready_pull(session: Session, pull: Pull) -> None:
    """REST cannot do it."""
    _mutate(session, _READY, {"pullRequestId": pull.node_id}, f"making #{pull.number} ready for review")


def request_review(session: Session, number: int, login: str) -> None:
    session.change("POST", session.path("pulls", number, "requested_reviewers"), {"reviewers": [login]})


def merge_pull(session: Session, number: int, head_sha: str) -> str:
    """The first way of merging that the repository allows; a way that is switched off is answered by 405 and changes nothing."""
    said = ""
    for method in _METHODS:
        sent = {"sha": head_sha, "merge_method": method}
        try:
            answer = session.change("PUT", session.path("pulls", number, "merge"), sent)
        except Refused as error:
            if error.status not in (405, 409):
                raise
            said = str(error)
            if error.status == 409 or "are not allowed" not in said:
                return said
            continue
        found = answer.json()
        return "" if found["merged"] else clean(found.get("message")) or "no words"
    return said


def merge_pull_later(session: Session, pull: Pull, head_sha: str) -> None:
    """The first way of merging that the repository allows, as above."""
    given = {"pullRequestId": pull.node_id, "expectedHeadOid": head_sha}
    for method in _METHODS:
        try:
            _mutate(
                session,
                _MERGE_LATER,
                {**given, "mergeMethod": method.upper()},
                f"merging #{pull.number} later",
            )
        except Refused as error:
            if "are not allowed" not in str(error) or method == _METHODS[-1]:
                raise
        else:
            return


def _mutate(session: Session, document: str, given: dict[str, str], what: str) -> None:
    reply = session.mutate(document, {"input": given}, what)
    if not reply.errors:
        return
    said = f"{what}: {clean(reply.errors[0].get('message')) or 'no words'}"
    if forbidden(reply.errors[0]):
        raise CannotGoOn(f"{said}; it needs the permission pull-requests: write")
    raise Refused(said)
