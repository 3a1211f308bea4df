"""What the rest of the product may ask of GitHub. The real client, the dry run and the sandbox's world all answer it.

Every method may raise `TryLater` (busy, limited, down), `Refused` (GitHub said no) or `CannotGoOn` (permission, archived); a
method's docstring names what else it raises. Lists are complete: all pages are read before anything is returned.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.model.branch_rule import BranchRule
from bot.model.change import Change, Written
from bot.model.issue import Comment, Issue, NeedState, Pull
from bot.model.ref import Ref
from bot.model.review import PullSummary, Review
from bot.model.run import Artifact, Job, Run
from bot.model.view import View


class Reader(Protocol):
    """What a tick reads."""

    def view(
        self,
        prefix: str,
        changed_since: datetime | None,
        also: Sequence[int] = (),
        watched: Sequence[str] = (),
    ) -> View:
        """One snapshot of repository, configuration, labels and tracked issues.

        Tracked: open issues with a label of ours (`<prefix>:` one of the status names, `dashboard`, `batch`); closed ones
        still labelled backlog, ready, in-progress, blocked, failed, batch/pending or batch/running; closed ones labelled
        done that changed since `changed_since`; and the issues numbered in `also`. `watched` are runs (node ids) whose jobs are
        told as well, if the token may read checks. Raises CannotGoOn if data is null with errors.
        """
        ...

    def comments_since(self, since: datetime) -> tuple[Comment, ...]:
        """All issue comments of the repository created or edited since then, oldest first, those on pull requests marked."""
        ...

    def runs(self, workflow: str, since: datetime | None = None) -> tuple[Run, ...]:
        """The runs of a workflow file, newest first, created at or after `since`. Raises WorkflowMissing on 404."""
        ...

    def newest_runs(self, workflow: str) -> tuple[Run, ...]:
        """The hundred newest runs of a workflow file, newest first. Asked again, it costs nothing while nothing changed."""
        ...

    def run(self, run_id: int) -> Run:
        """One run. Raises NotFound if it was deleted."""
        ...

    def jobs(self, run_id: int) -> tuple[Job, ...]:
        """The jobs of all attempts of a run; each says of which it is."""
        ...

    def annotations(self, job_id: int) -> tuple[str, ...]:
        """What GitHub and the job's steps noted on a job, such as who cancelled it. Raises NotFound."""
        ...

    def artifacts(self, run_id: int) -> tuple[Artifact, ...]: ...

    def artifacts_since(self, since: datetime) -> tuple[Artifact, ...]:
        """The repository's artifacts created at or after `since`, newest first: one request tells of every live run's report."""
        ...

    def download(self, artifact_id: int) -> bytes:
        """The zip archive of an artifact. Raises NotFound if it expired."""
        ...

    def needs(self, refs: Sequence[Ref]) -> Mapping[Ref, NeedState]:
        """How each reference stands, one lookup for many; what could not be read now is UNKNOWN, 404 is UNREADABLE."""
        ...

    def permission(self, login: str) -> str:
        """`admin`, `maintain`, `write`, `triage`, `read` or `none`; an unknown account is `none`."""
        ...

    def comments_by_id(self, node_ids: Sequence[str]) -> Mapping[str, Comment]:
        """Comments by node id, all in one request for a hundred; deleted ones are left out."""
        ...

    def issue(self, number: int) -> Issue:
        """One issue with its events and body edits, fresh. Raises NotFound."""
        ...

    def is_open(self, number: int) -> bool:
        """Whether an issue is open. Asked again, it costs nothing while nothing changed. Raises NotFound."""
        ...

    def issues(self, numbers: Sequence[int]) -> Mapping[int, Issue]:
        """The same for many in one request per fifty; those that do not exist, or are pull requests, are left out."""
        ...

    def labelled(self, label: str, *, closed: bool = False) -> tuple[Issue, ...]:
        """The open issues with this label, by number; with `closed` the closed ones instead. No pull requests."""
        ...

    def in_milestone(self, title: str) -> tuple[int, ...]:
        """The numbers of the open issues in the milestones of this title (compared without case), smallest first."""
        ...

    def comment(self, comment_id: int) -> Comment:
        """One comment by database id, fresh. Asked again, it costs nothing while nothing changed. Raises NotFound."""
        ...

    def comments_on(self, number: int) -> tuple[Comment, ...]:
        """All comments of an issue or of a pull request's conversation, oldest first. Raises NotFound."""
        ...

    def reviews(self, number: int) -> tuple[Review, ...]:
        """The submitted reviews of a pull request with their remarks on lines, oldest first. Raises NotFound."""
        ...

    def pull_summary(self, number: int) -> PullSummary:
        """A pull request's title, state and changed files. Raises NotFound."""
        ...

    def file(self, blob: str) -> str:
        """The text of a git blob by its id. Raises NotFound."""
        ...


class Writer(Protocol):
    """What a tick changes."""

    def write(self, changes: Sequence[Change]) -> tuple[Written, ...]:
        """Carry out the changes in order, in as few requests as possible; one answer each.

        A refused change does not stop the others, nor does one that GitHub does not finish even by itself. If GitHub cannot be
        reached any more, TryLater is raised and any prefix may hold.
        """
        ...

    def ensure_labels(self, names: Mapping[str, tuple[str, str]]) -> None:
        """Create the labels (name -> colour, description) that the last view did not show.

        Raises CannotGoOn naming the first that is refused.
        """
        ...

    def block(self, number: int, blocker: Ref) -> None:
        """Say on GitHub that an issue is `blocked by` another. Raises NotFound, or Refused if it says so already or may not."""
        ...

    def dispatch(self, workflow: str, ref: str, inputs: Mapping[str, str]) -> int:
        """Start a workflow by `workflow_dispatch`; returns the run id, or 0 where the server does not tell it.

        Raises WorkflowMissing on 404, UsageError before the call if the inputs are over GitHub's limits (25, 65,535 characters).
        """
        ...

    def cancel(self, run_id: int) -> bool:
        """Ask for a run's end; False if it had ended already (409)."""
        ...

    def force_cancel(self, run_id: int) -> bool:
        """Ask again, past `always()` steps; False if it had ended already (409)."""
        ...


class Publisher(Protocol):
    """What the publish job does beside git."""

    def pull_by_branch(self, branch: str) -> Pull | None:
        """The newest open pull request from this branch of this repository."""
        ...

    def open_pull(self, branch: str, base: str, title: str, body: str, draft: bool) -> Pull: ...

    def update_pull(self, number: int, title: str, body: str) -> Pull: ...

    def close_pull(self, number: int) -> None:
        """Close without merging; closed already is fine."""
        ...

    def ready_pull(self, pull: Pull) -> None:
        """A draft becomes ready for review."""
        ...

    def request_review(self, number: int, login: str) -> None:
        """Ask an account to review; GitHub tells it by one notification. Raises Refused for who is no collaborator, and the author.

        Source: docs.github.com, "REST API endpoints for review requests".
        """
        ...

    def merge_pull(self, number: int, head_sha: str) -> str:
        """Merge if the head is still this commit. Empty once it is merged, else GitHub's words why it cannot be now (405, 409)."""
        ...

    def merge_pull_later(self, pull: Pull, head_sha: str) -> None:
        """GitHub merges it by itself once nothing required is missing. Raises Refused where the repository does not allow that."""
        ...


class Examiner(Reader, Protocol):
    """What `cf doctor` looks at beside what a tick reads."""

    def text_at(self, path: str) -> str | None:
        """The text of a file on the default branch; None if it is not there."""
        ...

    def actions_may_open_pulls(self) -> bool | None:
        """Whether the setting lets workflows open pull requests; None where this token may not know."""
        ...

    def rules_on(self, branch: str) -> tuple[BranchRule, ...]:
        """The active rules that hold for a branch, whether it exists or not."""
        ...


class GitHub(Reader, Writer, Publisher, Protocol):
    """All of it."""
