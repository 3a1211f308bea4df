"""The GitHub port answered by the world itself, without HTTP: quick enough for thousands of stories."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TypeVar

from msgspec.structs import replace

from bot.github.port import GitHub
from bot.model.batch import BatchState
from bot.model.branch_rule import BranchRule
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
from bot.model.config import CONFIG_PATH
from bot.model.errors import (
    BotError,
    CannotGoOn,
    NotFound,
    NotPermitted,
    OverLimit,
    Refused,
    TryLater,
    UsageError,
    WorkflowMissing,
)
from bot.model.issue import (
    FIRST_COMMENTS,
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
from bot.model.review import ChangedFile, PullSummary, Remark, Review
from bot.model.run import Artifact, Job, Run
from bot.model.status import Status
from bot.model.view import Label, Repository, View
from bot.sandbox.world.accounts import BOT, Token
from bot.sandbox.world.actions import WorldRun, node_id_of
from bot.sandbox.world.errors import ApiError
from bot.sandbox.world.faults import Disconnected
from bot.sandbox.world.state import (
    ArtifactState,
    CommentState,
    EventState,
    IssueState,
    JobState,
    LabelState,
    PullState,
)
from bot.sandbox.world.workflows import MAX_INPUT_TEXT, MAX_INPUTS
from bot.sandbox.world.world import World

TIMELINE_KEPT = 40
_TRACKING = (*Status, "dashboard", "batch")
_BATCH_STATES = tuple(f"batch/{state}" for state in BatchState)
_OWN_LABELS = (*_TRACKING, *_BATCH_STATES, "pause", "shared-fix", "regression", "spec")
_UNSETTLED = (
    *(Status.BACKLOG, Status.READY, Status.IN_PROGRESS, Status.BLOCKED, Status.FAILED),
    *(f"batch/{state}" for state in BatchState if not state.ended),
)
_EVENTS = {kind.value: kind for kind in EventKind}
_T = TypeVar("_T")


def client_of(world: World, who: str | Account | Token = BOT) -> GitHub:
    """A client for this account or token that talks to the world without HTTP."""
    return InProcess(world, world.token(who))


class InProcess:
    """One account's client. Every call is counted, bounded by the token's permissions, and subject to ordered faults."""

    def __init__(self, world: World, token: Token) -> None:
        self._world = world
        self._token = token
        self._labels: tuple[Label, ...] | None = None
        self._last: dict[str, object] = {}

    # ------------------------------------------------------------------ Reader

    def view(
        self,
        prefix: str,
        changed_since: datetime | None,
        also: Sequence[int] = (),
        watched: Sequence[str] = (),
    ) -> View:
        with self._call("view", resource="graphql"):
            self._may_read("issues")
            view = self._fresh("view", lambda: self._look(prefix, changed_since, also, watched))
            self._labels = view.labels
            return view

    def comments_since(self, since: datetime) -> tuple[Comment, ...]:
        with self._call("comments_since"):
            self._may_read("issues")

            def read() -> tuple[Comment, ...]:
                changed = (c for c in self._world.issues.comments.values() if c.updated_at >= since)
                ordered = sorted(changed, key=lambda comment: (comment.updated_at, comment.id))
                return tuple(self._comment(comment) for comment in ordered)

            return self._fresh("comments_since", read)

    def runs(self, workflow: str, since: datetime | None = None) -> tuple[Run, ...]:
        with self._call("runs", workflow=workflow):
            self._may_read("actions")

            def read() -> tuple[Run, ...]:
                runs = self._world.actions.of_workflow(workflow)
                return tuple(self._run(run) for run in runs if since is None or run.created_at >= since)

            return self._fresh(f"runs {workflow}", read)

    def newest_runs(self, workflow: str) -> tuple[Run, ...]:
        return self.runs(workflow)[:100]

    def run(self, run_id: int) -> Run:
        with self._call("run"):
            self._may_read("actions")
            return self._run(self._world.actions.run(run_id))

    def jobs(self, run_id: int) -> tuple[Job, ...]:
        with self._call("jobs"):
            self._may_read("actions")
            run = self._world.actions.run(run_id)
            return tuple(_job(job) for job in (*run.past, *run.jobs.values()))

    def annotations(self, job_id: int) -> tuple[str, ...]:
        with self._call("annotations"):
            self._may_read("checks")
            return self._world.actions.job(job_id).annotations

    def artifacts(self, run_id: int) -> tuple[Artifact, ...]:
        with self._call("artifacts"):
            self._may_read("actions")
            actions = self._world.actions
            return tuple(self._artifact(actions.artifacts[known]) for known in actions.run(run_id).artifacts)

    def artifacts_since(self, since: datetime) -> tuple[Artifact, ...]:
        with self._call("artifacts_since"):
            self._may_read("actions")

            def read() -> tuple[Artifact, ...]:
                newest = reversed(self._world.actions.artifacts.values())
                return tuple(self._artifact(kept) for kept in newest if kept.created_at >= since)

            return self._fresh("artifacts_since", read)

    def download(self, artifact_id: int) -> bytes:
        with self._call("download"):
            self._may_read("actions")
            return self._world.actions.artifact(artifact_id).data

    def needs(self, refs: Sequence[Ref]) -> Mapping[Ref, NeedState]:
        with self._call("needs", resource="graphql"):
            self._may_read("issues")
            return {ref: self._world.dependencies.state(ref) for ref in refs}

    def permission(self, login: str) -> str:
        with self._call("permission"):
            try:
                return self._world.accounts.role_for(self._token, login)
            except ApiError as error:
                if error.status == 404:
                    return "none"
                raise

    def comments_by_id(self, node_ids: Sequence[str]) -> Mapping[str, Comment]:
        with self._call("comments_by_id", resource="graphql"):
            self._may_read("issues")
            found = {node_id: self._world.issues.nodes.get(node_id) for node_id in node_ids}
            return {node_id: self._comment(c) for node_id, c in found.items() if isinstance(c, CommentState)}

    def issue(self, number: int) -> Issue:
        with self._call("issue", resource="graphql"):
            self._may_read("issues")
            return self._issue(self._world.issues.get(number))

    def is_open(self, number: int) -> bool:
        with self._call("is_open"):
            self._may_read("issues")
            return self._world.issues.get(number).is_open

    def issues(self, numbers: Sequence[int]) -> Mapping[int, Issue]:
        with self._call("issues", resource="graphql"):
            self._may_read("issues")
            found = (self._world.issues.by_number.get(number) for number in numbers)
            return {issue.number: self._issue(issue) for issue in found if issue and not issue.is_pull}

    def labelled(self, label: str, *, closed: bool = False) -> tuple[Issue, ...]:
        with self._call("labelled", resource="graphql"):
            self._may_read("issues")
            found = (one for one in self._world.issues.all() if not one.is_pull and one.has_label(label))
            return tuple(self._issue(one) for one in found if one.is_open is not closed)

    def in_milestone(self, title: str) -> tuple[int, ...]:
        with self._call("in_milestone", resource="graphql"):
            self._may_read("issues")
            found = (one for one in self._world.issues.all() if one.is_open and not one.is_pull)
            return tuple(one.number for one in found if one.milestone.casefold() == title.casefold())

    def comment(self, comment_id: int) -> Comment:
        with self._call("comment"):
            self._may_read("issues")
            return self._comment(self._world.issues.comment(comment_id))

    def file(self, blob: str) -> str:
        with self._call("file"):
            self._may_read("contents")
            data = self._world.git.blob(blob)
            if data is None:
                raise ApiError(404, "Not Found", "NOT_FOUND")
            return data.decode("utf-8", "replace")

    def text_at(self, path: str) -> str | None:
        with self._call("text_at"):
            self._may_read("contents")
            git = self._world.git
            sha = git.listing(git.default_branch, path.rpartition("/")[0]).get(path)
            data = git.blob(sha) if sha else None
            return None if data is None else data.decode("utf-8", "replace")

    def rules_on(self, branch: str) -> tuple[BranchRule, ...]:
        with self._call("rules_on"):
            self._may_read("contents")
            shown = [rule.shown(self._world.repository) for rule in self._world.push_rules.on(branch)]
            given = [(rule["type"], rule.get("parameters") or {}) for rule in shown]
            return tuple(
                BranchRule(kind, said.get("operator", ""), said.get("pattern", ""), said.get("negate", False))
                for kind, said in given
            )

    def actions_may_open_pulls(self) -> bool | None:
        with self._call("actions_may_open_pulls"):
            if (
                self._token.permissions is not None
                or self._world.accounts.role(self._token.account.login) != "admin"
            ):
                return None
            return self._world.pulls.actions_may_open

    # ------------------------------------------------------------------ Writer

    def write(self, changes: Sequence[Change]) -> tuple[Written, ...]:
        if not changes:
            return ()
        with self._call("write", resource="graphql"):
            refusals: list[ApiError] = []
            written = tuple(self._change(change, refusals) for change in changes)
            if len(refusals) == len(changes) and all(map(_of_the_token, refusals)):
                raise refusals[0]
            return written

    def ensure_labels(self, names: Mapping[str, tuple[str, str]]) -> None:
        known = {label.name.casefold() for label in self._labels or ()}
        for name, (color, description) in names.items():
            if name.casefold() in known:
                continue
            try:
                with self._call("ensure_labels", write=True):
                    if name.casefold() not in self._world.issues.labels:
                        self._world.issues.create_label(name, color, description, self._token)
            except Refused as refusal:
                raise CannotGoOn(f"the label {name} could not be created: {refusal}") from refusal
            except (CannotGoOn, NotFound) as refusal:
                raise CannotGoOn(
                    f"the label {name} could not be created: {refusal}; it needs the permission issues: write"
                ) from refusal

    def dispatch(self, workflow: str, ref: str, inputs: Mapping[str, str]) -> int:
        if len(inputs) > MAX_INPUTS or sum(len(value) for value in inputs.values()) > MAX_INPUT_TEXT:
            raise UsageError(
                f"the inputs for {workflow} are over GitHub's limits ({MAX_INPUTS}, {MAX_INPUT_TEXT})"
            )
        with self._call("dispatch", write=True, workflow=workflow):
            return self._world.actions.dispatch(workflow, ref, inputs, self._token).id

    def block(self, number: int, blocker: Ref) -> None:
        with self._call("block", write=True):
            issues = self._world.issues
            if blocker.repository == self._world.repository.lower():
                issues.get(blocker.number)
            self._world.dependencies.add(issues.get(number), blocker, self._token)

    def cancel(self, run_id: int) -> bool:
        return self._end("cancel", run_id, force=False)

    def force_cancel(self, run_id: int) -> bool:
        return self._end("force_cancel", run_id, force=True)

    # ------------------------------------------------------------------ Publisher

    def pull_by_branch(self, branch: str) -> Pull | None:
        with self._call("pull_by_branch"):
            self._may_read("pull-requests")
            found = (p for p in self._world.pulls.from_branch(branch) if p.issue.is_open)
            # GitHub computes mergeability only for a pull request asked for by itself.
            return next((replace(self._bare_pull(pull), mergeable=None) for pull in found), None)

    def open_pull(self, branch: str, base: str, title: str, body: str, draft: bool) -> Pull:
        with self._call("open_pull", write=True):
            self._world.limits.charge_content(self._token)
            return self._bare_pull(
                self._world.pulls.open(branch, base, title, body, self._token, draft=draft)
            )

    def update_pull(self, number: int, title: str, body: str) -> Pull:
        with self._call("update_pull", write=True):
            pull = self._world.pulls.get(number)
            self._world.issues.edit(pull.issue, self._token, title=title, body=body)
            return self._bare_pull(pull)

    def close_pull(self, number: int) -> None:
        with self._call("close_pull", write=True):
            self._world.pulls.close(self._world.pulls.get(number), self._token)

    def ready_pull(self, pull: Pull) -> None:
        with self._call("ready_pull", write=True, resource="graphql"):
            self._world.pulls.set_draft(self._world.pulls.get(pull.number), self._token, draft=False)

    def request_review(self, number: int, login: str) -> None:
        with self._call("request_review", write=True):
            self._world.pulls.request_review(self._world.pulls.get(number), [login], self._token)

    def merge_pull(self, number: int, head_sha: str) -> str:
        try:
            with self._call("merge_pull", write=True):
                self._world.pulls.merge(self._world.pulls.get(number), self._token, head_sha=head_sha)
        except Refused as refusal:
            if refusal.status in (405, 409):
                return str(refusal)
            raise
        return ""

    def merge_pull_later(self, pull: Pull, head_sha: str) -> None:
        with self._call("merge_pull_later", write=True, resource="graphql"):
            self._world.pulls.merge_later(self._world.pulls.get(pull.number), self._token, head_sha=head_sha)

    # ------------------------------------------------------------------ how a call goes

    @contextmanager
    def _call(
        self, name: str, *, write: bool = False, resource: str = "core", workflow: str = ""
    ) -> Iterator[None]:
        """Lock, count, ordered faults, and the port's errors in place of the world's."""
        try:
            with self._world.lock:
                self._world.limits.charge(self._token, resource, name)
                self._world.faults.strike(name, write=write, after=False)
                yield
                self._world.faults.strike(name, write=write, after=True)
        except (ApiError, Disconnected) as error:
            raise translated(error, self._world.now, workflow) from error

    def _may_read(self, scope: str) -> None:
        self._world.accounts.require(self._token, "read", scope, role="read")

    def _fresh(self, name: str, read: Callable[[], _T]) -> _T:
        """The answer, or the last one again where lag was ordered."""
        if name in self._last and self._world.faults.take_stale():
            return self._last[name]  # type: ignore[return-value]
        answer = read()
        self._last[name] = answer
        return answer

    def _end(self, name: str, run_id: int, *, force: bool) -> bool:
        try:
            with self._call(name, write=True):
                self._world.actions.cancel(run_id, self._token, force=force)
        except Refused as refusal:
            if refusal.status == 409:
                return False
            raise
        return True

    # ------------------------------------------------------------------ one change

    def _change(self, change: Change, refusals: list[ApiError]) -> Written:
        name = f"write:{type(change).__name__}"
        try:
            self._world.faults.strike(name, write=True, after=False)
            written = self._apply(change)
        except ApiError as error:
            if error.status >= 500 or error.kind == "RATE_LIMITED":
                raise
            refusals.append(error)
            written = Written(error=error.message)
        self._world.faults.strike(name, write=True, after=True)
        return written

    def _apply(self, change: Change) -> Written:
        issues, token = self._world.issues, self._token
        match change:
            case AddLabel(issue=node_id, label=label):
                issue = self._node(node_id, IssueState)
                issues.add_label(issue, label, token)
                return Written()
            case RemoveLabel(issue=node_id, label=label):
                issue = self._node(node_id, IssueState)
                issues.remove_label(issue, label, token)
                return Written()
            case CreateComment(issue=node_id, body=body):
                self._world.limits.charge_content(token)
                return _written_comment(issues.add_comment(self._node(node_id, IssueState), body, token))
            case EditComment(comment=node_id, body=body):
                comment = self._node(node_id, CommentState)
                issues.edit_comment(comment, body, token)
                return _written_comment(comment)
            case CloseIssue(issue=node_id):
                issue = self._node(node_id, IssueState)
                issues.close(issue, StateReason.COMPLETED, token)
                return _written(issue)
            case ReopenIssue(issue=node_id):
                issue = self._node(node_id, IssueState)
                issues.reopen(issue, token)
                return _written(issue)
            case CreateIssue(title=title, body=body, labels=labels):
                self._world.limits.charge_content(token)
                for label in labels:
                    issues.label(label)
                return _written(issues.create(title, body, labels, token))
            case EditIssue(issue=node_id, body=body):
                issue = self._node(node_id, IssueState)
                issues.edit(issue, token, body=body)
                return _written(issue)
            case React(subject=node_id, content=content):
                subject = issues.node(node_id)
                if not isinstance(subject, IssueState | CommentState):
                    raise ApiError(404, f"{node_id} takes no reactions", "NOT_FOUND")
                issues.react(subject, content, token)
                return Written()

    def _node(self, node_id: str, kind: type[_T]) -> _T:
        node = self._world.issues.node(node_id)
        if not isinstance(node, kind):
            raise ApiError(
                404, f"Could not resolve to a node with the global id of '{node_id}'.", "NOT_FOUND"
            )
        return node

    # ------------------------------------------------------------------ the world as the model's values

    def _look(
        self, prefix: str, changed_since: datetime | None, also: Sequence[int], watched: Sequence[str]
    ) -> View:
        world = self._world
        blob = world.git.listing(world.git.default_branch, ".github").get(CONFIG_PATH, "")
        data = world.git.blob(blob) if blob else None
        tracked = (issue for issue in world.issues.all() if _tracked(issue, prefix, changed_since, also))
        return View(
            repository=Repository(
                world.repository,
                world.node_id,
                world.git.default_branch,
                world.core.private,
                world.core.archived,
                server=world.web,
            ),
            viewer=self._token.account,
            issues=tuple(self._issue(issue) for issue in tracked),
            labels=tuple(Label(label.node_id, label.name) for label in self._own_labels(prefix)),
            config_text=None if data is None else data.decode("utf-8", "replace"),
            config_blob=blob,
            at=world.core.now,
            at_work=dict(self._at_work(watched)),
        )

    def _at_work(self, watched: Sequence[str]) -> Iterator[tuple[str, tuple[Job, ...]]]:
        """As GraphQL tells it: no ids, and nothing where the token may not read checks."""
        accounts = self._world.accounts
        if not accounts.allows(self._token, "read", ("checks",), "read"):
            return
        for run in self._world.actions.runs.values():
            if node_id_of(run) in watched:
                jobs = (replace(_job(job), id=0, run_id=0, attempt=1) for job in run.jobs.values())
                yield node_id_of(run), tuple(jobs)

    def _own_labels(self, prefix: str) -> Iterator[LabelState]:
        known = self._world.issues.labels
        names = (f"{prefix}:{name}".casefold() for name in _OWN_LABELS)
        return (known[name] for name in names if name in known)

    def _issue(self, issue: IssueState) -> Issue:
        world = self._world
        return Issue(
            number=issue.number,
            node_id=issue.node_id,
            title=issue.title,
            body=issue.body,
            author=issue.author,
            is_open=issue.is_open,
            state_reason=issue.state_reason,
            labels=tuple(label.name for label in issue.labels),
            created_at=issue.created_at,
            updated_at=issue.updated_at,
            closed_at=issue.closed_at,
            events=() if issue.is_pull else _history(issue),
            edges=self._edges(issue.blocked_by),
            hidden_edges=self._hidden(issue.blocked_by),
            children=self._edges(issue.children),
            hidden_children=self._hidden(issue.children),
            milestone=issue.milestone,
            pulls=tuple(self._pull(pull) for pull in world.pulls.closing(issue)),
            comments=() if issue.is_pull else tuple(map(self._comment, issue.comments[:FIRST_COMMENTS])),
            locked=issue.locked,
            is_pull=issue.is_pull,
        )

    def _edges(self, refs: Iterable[Ref]) -> tuple[Edge, ...]:
        known = self._world.dependencies
        return tuple(Edge(ref, known.state(ref)) for ref in known.visible(refs))

    def _hidden(self, refs: Sequence[Ref]) -> int:
        known = self._world.dependencies
        return known.count_open(refs) - known.count_open(known.visible(refs))

    def comments_on(self, number: int) -> tuple[Comment, ...]:
        with self._call("comments_on"):
            self._may_read("issues")
            return tuple(self._comment(comment) for comment in self._world.issues.get(number).comments)

    def reviews(self, number: int) -> tuple[Review, ...]:
        with self._call("reviews"):
            self._may_read("pull-requests")
            return tuple(
                Review(
                    review.author,
                    review.state.lower(),
                    review.body,
                    review.at,
                    tuple(Remark(one.path, one.line, one.body) for one in review.remarks),
                )
                for review in self._world.pulls.get(number).reviews
            )

    def pull_summary(self, number: int) -> PullSummary:
        with self._call("pull_summary"):
            self._may_read("pull-requests")
            pull = self._world.pulls.get(number)
            files = tuple(ChangedFile(*each) for each in self._world.pulls.changed_files(pull))
            return PullSummary(pull.number, pull.issue.title, pull.issue.is_open, pull.merged, files)

    def _comment(self, comment: CommentState) -> Comment:
        on_pull = self._world.issues.by_number[comment.issue].is_pull
        return Comment(
            comment.id,
            comment.node_id,
            comment.issue,
            comment.author,
            comment.body,
            comment.created_at,
            comment.updated_at,
            on_pull,
        )

    def _pull(self, pull: PullState) -> Pull:
        review = self._world.pulls.changes_requested(pull)
        return replace(self._bare_pull(pull), changes_requested_at=review.at if review else None)

    def _bare_pull(self, pull: PullState) -> Pull:
        """As REST shows it, without its reviews."""
        return Pull(
            number=pull.number,
            author=pull.issue.author,
            is_open=pull.issue.is_open,
            merged=pull.merged,
            draft=pull.draft,
            head_ref=pull.head_ref,
            head_sha=pull.head_sha,
            url=f"{self._world.web}/{self._world.repository}/pull/{pull.number}",
            repository=self._world.repository,
            mergeable=self._world.pulls.mergeable(pull),
            can_merge=self._world.pulls.merge_state(pull) == "CLEAN",
            node_id=pull.node_id,
        )

    def _artifact(self, kept: ArtifactState) -> Artifact:
        expired = kept.expired or kept.expires_at <= self._world.core.now
        return Artifact(kept.id, kept.name, kept.run_id, kept.created_at, expired, len(kept.data))

    def _run(self, run: WorldRun) -> Run:
        url = f"{self._world.web}/{self._world.repository}/actions/runs/{run.id}"
        return Run(
            run.id,
            run.title,
            run.status,
            run.conclusion,
            run.created_at,
            run.updated_at,
            run.attempt,
            url,
            run.event,
            node_id_of(run),
        )


def _of_the_token(refusal: ApiError) -> bool:
    """The token is refused everywhere, not just on an issue that is locked."""
    return refusal.kind == "FORBIDDEN" and "locked" not in refusal.message


def translated(error: ApiError | Disconnected, now: datetime, workflow: str = "") -> BotError:
    """The port's error for the world's."""
    if isinstance(error, Disconnected):
        return TryLater("the connection to GitHub broke")
    if error.kind == "RATE_LIMITED":
        wait = error.headers.get("retry-after")
        return OverLimit(error.message, now + timedelta(seconds=int(wait)) if wait else None)
    if error.status >= 500:
        return TryLater(f"GitHub answered {error.status}")
    if error.status == 401:
        return CannotGoOn(f"GitHub does not accept the token: {error.message}")
    if error.kind == "FORBIDDEN":
        return NotPermitted(f"the token may not do this ({error.message})")
    if error.status in (404, 410):
        if workflow:
            return WorkflowMissing(f"the workflow {workflow} is not on the default branch")
        return NotFound(error.message)
    return Refused(error.message, error.status)


def _tracked(issue: IssueState, prefix: str, changed_since: datetime | None, also: Sequence[int]) -> bool:
    if issue.number in also:
        return True
    if issue.is_pull:
        return issue.is_open and any(issue.has_label(f"{prefix}:{status}") for status in Status)
    if issue.is_open:
        return any(issue.has_label(f"{prefix}:{name}") for name in _TRACKING)
    if any(issue.has_label(f"{prefix}:{status}") for status in _UNSETTLED):
        return True
    recent = changed_since is None or issue.updated_at >= changed_since
    return recent and issue.has_label(f"{prefix}:{Status.DONE}")


def _history(issue: IssueState) -> tuple[TimelineEvent, ...]:
    events = [_event(event) for event in issue.events if event.kind in _EVENTS][-TIMELINE_KEPT:]
    events += [TimelineEvent(EventKind.EDITED, edit.editor, edit.at) for edit in issue.edits[1:]]
    return tuple(sorted(events, key=lambda event: event.at))


def _event(event: EventState) -> TimelineEvent:
    label = event.label.name if event.label else None
    return TimelineEvent(_EVENTS[event.kind], event.actor, event.at, label, event.by_merge)


def _job(job: JobState) -> Job:
    return Job(
        job.id,
        job.run_id,
        job.name,
        job.status,
        job.conclusion,
        job.started_at,
        job.completed_at,
        job.attempt,
    )


def _written(issue: IssueState) -> Written:
    return Written(node_id=issue.node_id, id=issue.id, number=issue.number)


def _written_comment(comment: CommentState) -> Written:
    return Written(node_id=comment.node_id, id=comment.id)
