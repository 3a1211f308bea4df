"""The real client: the port answered over githubkit. Everything it does is in the modules beside it; here they are put together."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from msgspec.structs import replace

from bot.github import lookups, pulls, rest, write
from bot.github.app import CONDUCTING, app_credential
from bot.github.credential import Credential
from bot.github.sending import Sender
from bot.github.session import Session
from bot.github.shapes import shaped
from bot.github.signatures import read_key, with_signatures
from bot.github.snapshot import Snapshots
from bot.github.wire import GithubkitWire
from bot.model.branch_rule import BranchRule
from bot.model.change import Change, Written
from bot.model.config import CONFIG_PATH
from bot.model.errors import UsageError
from bot.model.issue import Comment, Issue, NeedState, Pull
from bot.model.ref import Ref
from bot.model.review import PullSummary, Review
from bot.model.run import Artifact, Job, Run
from bot.model.view import View

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_PATH = re.compile(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*")
_TOKEN = re.compile(r"[!-~]+")


@shaped
class Client:
    """GitHub, for one repository and one token. A context manager that closes its connections."""

    def __init__(
        self, session: Session, config_path: str = CONFIG_PATH, credential: Credential | None = None
    ) -> None:
        self._session = session
        self.credential = credential or Credential("")
        self._snapshots = Snapshots(session, config_path)
        self._labels = write.Labels(session)
        self._sender = Sender(session)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._session.wire.close()

    def view(
        self,
        prefix: str,
        changed_since: datetime | None,
        also: Sequence[int] = (),
        watched: Sequence[str] = (),
    ) -> View:
        view = self._snapshots.view(prefix, changed_since, also, watched)
        if view.config_blob and view.config_text is None:
            view = replace(view, config_text=rest.file(self._session, view.config_blob))
        self._labels.learn({label.name: label.node_id for label in view.labels}, view.repository.node_id)
        return view

    def issue(self, number: int) -> Issue:
        return self._snapshots.issue(number)

    def is_open(self, number: int) -> bool:
        return rest.is_open(self._session, number)

    def issues(self, numbers: Sequence[int]) -> Mapping[int, Issue]:
        return self._snapshots.issues(numbers)

    def labelled(self, label: str, *, closed: bool = False) -> tuple[Issue, ...]:
        return self._snapshots.labelled(label, closed=closed)

    def in_milestone(self, title: str) -> tuple[int, ...]:
        return lookups.in_milestone(self._session, title)

    def comments_since(self, since: datetime) -> tuple[Comment, ...]:
        return rest.comments_since(self._session, since)

    def comments_by_id(self, node_ids: Sequence[str]) -> Mapping[str, Comment]:
        return lookups.comments_by_id(self._session, node_ids)

    def comment(self, comment_id: int) -> Comment:
        return rest.comment(self._session, comment_id)

    def comments_on(self, number: int) -> tuple[Comment, ...]:
        return rest.comments_on(self._session, number)

    def reviews(self, number: int) -> tuple[Review, ...]:
        return rest.reviews(self._session, number)

    def pull_summary(self, number: int) -> PullSummary:
        return rest.pull_summary(self._session, number)

    def needs(self, refs: Sequence[Ref]) -> Mapping[Ref, NeedState]:
        return lookups.needs(self._session, refs)

    def permission(self, login: str) -> str:
        return rest.permission(self._session, login)

    def file(self, blob: str) -> str:
        return rest.file(self._session, blob)

    def text_at(self, path: str) -> str | None:
        return rest.text_at(self._session, path)

    def rules_on(self, branch: str) -> tuple[BranchRule, ...]:
        return rest.rules_on(self._session, branch)

    def actions_may_open_pulls(self) -> bool | None:
        return rest.actions_may_open_pulls(self._session)

    def runs(self, workflow: str, since: datetime | None = None) -> tuple[Run, ...]:
        return rest.runs(self._session, workflow, since)

    def newest_runs(self, workflow: str) -> tuple[Run, ...]:
        return rest.newest_runs(self._session, workflow)

    def run(self, run_id: int) -> Run:
        return rest.run(self._session, run_id)

    def jobs(self, run_id: int) -> tuple[Job, ...]:
        return rest.jobs(self._session, run_id)

    def annotations(self, job_id: int) -> tuple[str, ...]:
        return rest.annotations(self._session, job_id)

    def artifacts(self, run_id: int) -> tuple[Artifact, ...]:
        return rest.artifacts(self._session, run_id)

    def artifacts_since(self, since: datetime) -> tuple[Artifact, ...]:
        return rest.artifacts_since(self._session, since)

    def download(self, artifact_id: int) -> bytes:
        return rest.download(self._session, artifact_id)

    def write(self, changes: Sequence[Change]) -> tuple[Written, ...]:
        return write.write(self._sender, self._labels, changes)

    def ensure_labels(self, names: Mapping[str, tuple[str, str]]) -> None:
        self._labels.look_up(list(names))
        for name, (colour, description) in names.items():
            if self._labels.id(name) is None:
                node_id = rest.create_label(self._session, name, colour, description)
                if node_id:
                    self._labels.learn({name: node_id})

    def block(self, number: int, blocker: Ref) -> None:
        rest.block(self._session, number, blocker)

    def dispatch(self, workflow: str, ref: str, inputs: Mapping[str, str]) -> int:
        return rest.dispatch(self._session, workflow, ref, inputs)

    def cancel(self, run_id: int) -> bool:
        return rest.cancel(self._session, run_id, "cancel")

    def force_cancel(self, run_id: int) -> bool:
        return rest.cancel(self._session, run_id, "force-cancel")

    def pull_by_branch(self, branch: str) -> Pull | None:
        return pulls.pull_by_branch(self._session, branch)

    def open_pull(self, branch: str, base: str, title: str, body: str, draft: bool) -> Pull:
        return pulls.open_pull(self._session, branch, base, title, body, draft)

    def update_pull(self, number: int, title: str, body: str) -> Pull:
        return pulls.update_pull(self._session, number, title, body)

    def close_pull(self, number: int) -> None:
        pulls.close_pull(self._session, number)

    def ready_pull(self, pull: Pull) -> None:
        pulls.ready_pull(self._session, pull)

    def request_review(self, number: int, login: str) -> None:
        pulls.request_review(self._session, number, login)

    def merge_pull(self, number: int, head_sha: str) -> str:
        return pulls.merge_pull(self._session, number, head_sha)

    def merge_pull_later(self, pull: Pull, head_sha: str) -> None:
        pulls.merge_pull_later(self._session, pull, head_sha)


def connect(environ: Mapping[str, str], permissions: Mapping[str, str] = CONDUCTING) -> Client:
    """The client that GITHUB_TOKEN, GITHUB_REPOSITORY, GITHUB_API_URL and GITHUB_GRAPHQL_URL describe, as Actions sets them.

    CF_CONFIG is the path of the configuration on the default branch, if it is not the usual one. With CF_APP_ID and
    CF_APP_PRIVATE_KEY it acts as that GitHub App, whose token gets these `permissions` and no others. With CF_STATE_KEY what we
    keep on GitHub is signed, and counts only so.
    Raises UsageError naming the variable that is missing or wrong; a token is never shown.
    """
    token = environ.get("GITHUB_TOKEN", "").strip()
    if not token:
        raise UsageError(
            "GITHUB_TOKEN is not set: give a token for the repository, such as $(gh auth token). Who only looks needs one that"
            " reads; who conducts needs one that may write issues and actions"
        )
    if not _TOKEN.fullmatch(token):
        raise UsageError("GITHUB_TOKEN holds blanks, line ends or letters that no token has")
    repository = environ.get("GITHUB_REPOSITORY", "").strip()
    if not _REPOSITORY.fullmatch(repository):
        raise UsageError(f"GITHUB_REPOSITORY must be OWNER/NAME and is {repository!r}")
    api_url = _url(environ, "GITHUB_API_URL", "https://api.github.com")
    graphql_url = _url(environ, "GITHUB_GRAPHQL_URL", _graphql_beside(api_url))
    config_path = environ.get("CF_CONFIG", "").strip() or CONFIG_PATH
    if not _PATH.fullmatch(config_path) or ".." in config_path.split("/"):
        raise UsageError(
            f"the configuration's path must be one inside the repository, like {CONFIG_PATH}, and is {config_path!r}"
        )
    credential = app_credential(environ, repository, api_url, permissions) or Credential(token)
    session = Session(GithubkitWire(credential, api_url), repository, graphql_url)
    client = Client(session, config_path, credential)
    key = read_key(environ)
    return with_signatures(client, key) if key else client


def _url(environ: Mapping[str, str], name: str, default: str) -> str:
    url = environ.get(name, "").strip().rstrip("/") or default
    if not _is_address(url):
        raise UsageError(f"{name} must be an address like {default} and is {url!r}")
    return url


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bracket too many, a port that is no number
        return False
    return named and parts.scheme in ("http", "https") and not (parts.query or parts.fragment)


def _graphql_beside(api_url: str) -> str:
    """GitHub Enterprise Server has REST at /api/v3 and GraphQL at /api/graphql."""
    return re.sub(r"/api/v3$", "/api", api_url) + "/graphql"
