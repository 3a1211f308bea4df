"""The dry run: reads pass through; what would have been written is told in sentences, and later reads of the same tick see it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from bot.github.port import GitHub
from bot.model.change import (
    AddLabel,
    Change,
    CloseIssue,
    CreateComment,
    CreateIssue,
    EditComment,
    EditIssue,
    React,
    RemoveLabel,
    ReopenIssue,
    Written,
)
from bot.model.errors import NotFound
from bot.model.issue import Account, Comment, Issue, NeedState, Pull
from bot.model.ref import Ref
from bot.model.review import PullSummary, Review
from bot.model.run import Artifact, Job, Run
from bot.model.view import View

_NEW = 900_000_000_000  # numbers of what was not really made begin here, where GitHub's own are far from


class DryRun:
    """Another GitHub without its writes. `would_have` holds one sentence for each, in order."""

    def __init__(self, github: GitHub) -> None:
        self._github = github
        self.would_have: list[str] = []
        self._made = 0
        self._names: dict[str, str] = {}
        self._issues: dict[str, int] = {}
        self._viewer = Account(0, "dry-run")
        self._at = datetime.min.replace(tzinfo=UTC)
        self._comments: dict[str, Comment] = {}
        self._edits: dict[str, str] = {}

    def view(self, prefix: str, changed_since: datetime | None, also: Sequence[int] = ()) -> View:
        view = self._github.view(prefix, changed_since, also)
        self._viewer, self._at = view.viewer, view.at
        for issue in view.issues:
            self._learn(issue)
        return view

    def issue(self, number: int) -> Issue:
        issue = self._github.issue(number)
        self._learn(issue)
        return issue

    def issues(self, numbers: Sequence[int]) -> Mapping[int, Issue]:
        found = self._github.issues(numbers)
        for issue in found.values():
            self._learn(issue)
        return found

    def labelled(self, label: str, *, closed: bool = False) -> tuple[Issue, ...]:
        found = self._github.labelled(label, closed=closed)
        for issue in found:
            self._learn(issue)
        return found

    def in_milestone(self, title: str) -> tuple[int, ...]:
        return self._github.in_milestone(title)

    def comments_since(self, since: datetime) -> tuple[Comment, ...]:
        return tuple(self._seen(one) for one in self._github.comments_since(since))

    def comments_by_id(self, node_ids: Sequence[str]) -> Mapping[str, Comment]:
        real = self._github.comments_by_id([one for one in node_ids if one not in self._comments])
        made = {one: self._seen(self._comments[one]) for one in node_ids if one in self._comments}
        return {**{key: self._seen(one) for key, one in real.items()}, **made}

    def comment(self, comment_id: int) -> Comment:
        if comment_id < _NEW:
            return self._seen(self._github.comment(comment_id))
        for one in self._comments.values():
            if one.id == comment_id:
                return self._seen(one)
        raise NotFound(f"no comment {comment_id} was made in this dry run")

    def comments_on(self, number: int) -> tuple[Comment, ...]:
        return tuple(self._seen(one) for one in self._github.comments_on(number))

    def reviews(self, number: int) -> tuple[Review, ...]:
        return self._github.reviews(number)

    def pull_summary(self, number: int) -> PullSummary:
        return self._github.pull_summary(number)

    def needs(self, refs: Sequence[Ref]) -> Mapping[Ref, NeedState]:
        return self._github.needs(refs)

    def permission(self, login: str) -> str:
        return self._github.permission(login)

    def file(self, blob: str) -> str:
        return self._github.file(blob)

    def is_open(self, number: int) -> bool:
        return self._github.is_open(number)

    def newest_runs(self, workflow: str) -> tuple[Run, ...]:
        return self._github.newest_runs(workflow)

    def runs(self, workflow: str, since: datetime | None = None) -> tuple[Run, ...]:
        return self._github.runs(workflow, since)

    def run(self, run_id: int) -> Run:
        return self._github.run(run_id)

    def jobs(self, run_id: int) -> tuple[Job, ...]:
        return self._github.jobs(run_id)

    def annotations(self, job_id: int) -> tuple[str, ...]:
        return self._github.annotations(job_id)

    def artifacts(self, run_id: int) -> tuple[Artifact, ...]:
        return self._github.artifacts(run_id)

    def artifacts_since(self, since: datetime) -> tuple[Artifact, ...]:
        return self._github.artifacts_since(since)

    def download(self, artifact_id: int) -> bytes:
        return self._github.download(artifact_id)

    def pull_by_branch(self, branch: str) -> Pull | None:
        return self._github.pull_by_branch(branch)

    def write(self, changes: Sequence[Change]) -> tuple[Written, ...]:
        return tuple(self._write(change) for change in changes)

    def ensure_labels(self, names: Mapping[str, tuple[str, str]]) -> None:
        if names:
            self._say(f"made sure that the labels {', '.join(names)} exist")

    def block(self, number: int, blocker: Ref) -> None:
        self._say(f"said that #{number} is blocked by {blocker}")

    def dispatch(self, workflow: str, ref: str, inputs: Mapping[str, str]) -> int:
        given = ", ".join(f"{key}={_short(value)}" for key, value in inputs.items())
        self._say(f"started {workflow} on {ref} with {given}" if given else f"started {workflow} on {ref}")
        return 0

    def cancel(self, run_id: int) -> bool:
        return self._say(f"cancelled run {run_id}")

    def force_cancel(self, run_id: int) -> bool:
        return self._say(f"cancelled run {run_id} by force")

    def open_pull(self, branch: str, base: str, title: str, body: str, draft: bool) -> Pull:
        self._say(
            f"opened a {'draft ' if draft else ''}pull request from {branch} to {base}: "
            f"{_short(title)} ({len(body)} characters)"
        )
        return Pull(self._next(), self._viewer, True, False, draft, branch, "", "")

    def update_pull(self, number: int, title: str, body: str) -> Pull:
        self._say(f"updated pull request #{number}: {_short(title)} ({len(body)} characters)")
        return Pull(number, self._viewer, True, False, False, "", "", "")

    def close_pull(self, number: int) -> None:
        self._say(f"closed pull request #{number}")

    def ready_pull(self, pull: Pull) -> None:
        self._say(f"made pull request #{pull.number} ready for review")

    def request_review(self, number: int, login: str) -> None:
        self._say(f"asked {login} to review pull request #{number}")

    def merge_pull(self, number: int, head_sha: str) -> str:
        self._say(f"merged pull request #{number} at {head_sha[:12]}")
        return ""

    def merge_pull_later(self, pull: Pull, head_sha: str) -> None:
        self._say(
            f"asked that pull request #{pull.number} is merged at {head_sha[:12]} once nothing is missing"
        )

    def _write(self, change: Change) -> Written:
        match change:
            case AddLabel(issue=issue, label=label):
                self._say(f"added the label {label} to {self._name(issue)}")
            case RemoveLabel(issue=issue, label=label):
                self._say(f"removed the label {label} from {self._name(issue)}")
            case CreateComment(issue=issue, body=body):
                self._say(f"commented on {self._name(issue)}: {_short(body)}")
                return self._comment(issue, body)
            case EditComment(comment=comment, body=body):
                self._say(f"edited a comment on {self._name(comment)}: {_short(body)}")
                self._edits[comment] = body
                return Written(node_id=comment)
            case CloseIssue(issue=issue):
                self._say(f"closed {self._name(issue)} as completed")
                return Written(node_id=issue, number=self._issues.get(issue, 0))
            case ReopenIssue(issue=issue):
                self._say(f"reopened {self._name(issue)}")
                return Written(node_id=issue, number=self._issues.get(issue, 0))
            case CreateIssue(title=title, labels=labels):
                self._say(
                    f"opened the issue {_short(title)}" + (f" with {', '.join(labels)}" if labels else "")
                )
                number = self._next()
                node_id = f"dry-run-{number}"
                self._names[node_id], self._issues[node_id] = f"the new issue {_short(title)}", number
                return Written(node_id=node_id, id=number, number=number)
            case EditIssue(issue=issue, body=body):
                self._say(f"edited the text of {self._name(issue)}: {_short(body)}")
                return Written(node_id=issue, number=self._issues.get(issue, 0))
            case React(subject=subject, content=content):
                self._say(f"reacted with {content} to {self._name(subject)}")
        return Written()

    def _comment(self, issue: str, body: str) -> Written:
        number = self._next()
        node_id = f"dry-run-{number}"
        on = self._issues.get(issue, 0)
        self._comments[node_id] = Comment(number, node_id, on, self._viewer, body, self._at, self._at)
        self._names[node_id] = self._name(issue)
        return Written(node_id=node_id, id=number)

    def _learn(self, issue: Issue) -> None:
        self._names[issue.node_id], self._issues[issue.node_id] = f"#{issue.number}", issue.number
        self._names |= {one.node_id: f"#{issue.number}" for one in issue.comments}

    def _seen(self, comment: Comment) -> Comment:
        self._names.setdefault(comment.node_id, f"#{comment.issue}")
        body = self._edits.get(comment.node_id)
        return comment if body is None else replace(comment, body=body)

    def _name(self, node_id: str) -> str:
        return self._names.get(node_id, f"the node {node_id}")

    def _next(self) -> int:
        self._made += 1
        return _NEW + self._made

    def _say(self, sentence: str) -> bool:
        self.would_have.append(f"would have {sentence}")
        return True


def _short(text: Any) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= 80 else line[:79] + "…"
