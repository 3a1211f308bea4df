"""The front door: one object to act as people do, to drive runs as an engine does, and to hand out GitHub clients."""

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from bot.model.issue import Account, NeedState, StateReason
from bot.model.ref import Ref
from bot.model.run import Job
from bot.sandbox.world.accounts import BOT, Accounts, Token
from bot.sandbox.world.actions import Actions, Engine, WorldRun
from bot.sandbox.world.apps import Apps
from bot.sandbox.world.core import Core
from bot.sandbox.world.dependencies import Dependencies
from bot.sandbox.world.engines import ManualEngine
from bot.sandbox.world.faults import Faults
from bot.sandbox.world.git import Git, MemoryGit
from bot.sandbox.world.issues import Issues
from bot.sandbox.world.limits import Limits
from bot.sandbox.world.mails import Mails
from bot.sandbox.world.pulls import Pulls
from bot.sandbox.world.push_rules import PushRules
from bot.sandbox.world.state import CommentState, IssueState, JobState, PullState

if TYPE_CHECKING:
    pass

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

_P = ParamSpec("_P")
_R = TypeVar("_R")

# The least that lets the two workflows of ours be dispatched; a test or a sandbox that means the real ones puts them in git.
_WORKER = """
name: cf worker
run-name: "cf [${{ inputs.keys }}]"
on: {workflow_dispatch: {inputs: {units: {required: true}, keys: {required: true}}}}
jobs: {unit: {runs-on: ubuntu-latest, permissions: {actions: write, contents: write, pull-requests: write, issues: read}}}
"""
_CONDUCTOR = """
name: cf conductor
on: {workflow_dispatch: {}, schedule: [{cron: "7/15 * * * *"}]}
jobs: {conduct: {runs-on: ubuntu-latest, permissions: {actions: write, issues: write, contents: read}}}
"""
MINIMAL: Mapping[str, str] = {
    "README.md": "# Shop\n",
    ".github/workflows/cf-worker.yml": _WORKER,
    ".github/workflows/cf-conductor.yml": _CONDUCTOR,
}


def _serial(method: "Callable[Concatenate[World, _P], _R]") -> "Callable[Concatenate[World, _P], _R]":
    """One caller at a time: the HTTP face and the engine come from threads of their own."""

    @wraps(method)
    def locked(self: "World", /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with self.lock:
            return method(self, *args, **kwargs)

    return locked


class World:
    """One repository. The parts (`issues`, `pulls`, `actions` ...) hold state and rules; the methods here are shorthands.

    Time stands still unless `wait` moves it or a `clock` is given. `by` is a login, an Account or a Token. Whoever lets foreign
    programs near the world gives a random `salt`, so that no token can be guessed.
    """

    def __init__(
        self,
        repository: str = "acme/shop",
        now: datetime = NOON,
        git: Git | None = None,
        engine: Engine | None = None,
        *,
        private: bool = False,
        clock: Callable[[], datetime] | None = None,
        salt: str = "",
    ) -> None:
        self.lock = threading.RLock()
        self._now = now
        self._clock = clock
        self.web = "https://github.com"
        self.git: Git = git if git is not None else MemoryGit.of(MINIMAL)
        self.accounts = Accounts(private, salt=salt)
        self.apps = Apps(self.accounts)
        self.core = Core(repository, lambda: self.now, self.accounts, self.git.default_branch, private)
        self.issues = Issues(self.core)
        self.pulls = Pulls(self.core, self.issues, self.git)
        self.dependencies = Dependencies(self.core, self.issues, self.pulls)
        manual = ManualEngine()
        self.actions = Actions(self.core, self.git, manual if engine is None else engine)
        manual.world = self.actions
        self.limits = Limits(lambda: self.core.now)
        self.faults = Faults()
        self.mails = Mails(self.accounts)
        self.push_rules = PushRules()
        self.core.listeners += [self.mails.hear, self.actions.heard]
        self.repository_id = self.core.next_id("repository")
        self.node_id = self.core.node_id("repository", self.repository_id)
        self.issues.nodes[self.node_id] = self
        self.accounts.add(BOT.login, "none", is_bot=True, number=BOT.id)
        self.accounts.add(repository.split("/", maxsplit=1)[0], "admin")
        self.accounts.add("maintainer", "admin")
        self.accounts.add("stranger", "none")

    # ------------------------------------------------------------------ name, time, clients

    @property
    def repository(self) -> str:
        return self.core.repository

    @property
    def now(self) -> datetime:
        return self._clock() if self._clock is not None else self._now

    @now.setter
    def now(self, value: datetime) -> None:
        self._now = value

    @property
    def engine(self) -> Engine:
        return self.actions.engine

    @engine.setter
    def engine(self, engine: Engine) -> None:
        self.actions.engine = engine
        if isinstance(engine, ManualEngine):
            engine.world = self.actions

    def wait(self, how_long: timedelta) -> None:
        """Let time pass."""
        self._now += how_long

    def token(self, who: str | Account | Token) -> Token:
        """The token somebody acts with: of a login, of an account, by its value, or itself."""
        if isinstance(who, Token):
            return who
        login = who.login if isinstance(who, Account) else who
        for known in (self.accounts.tokens, self.accounts.named):
            if login in known:
                return known[login]
        return self.accounts.standing_bot_token() if login == BOT.login else self.accounts.user_token(login)

    @_serial
    def add_user(self, login: str, permission: str) -> Account:
        """An account with a role: admin, maintain, write, triage, read or none."""
        return self.accounts.add(login, permission)

    # ------------------------------------------------------------------ acting as people do

    @_serial
    def open_issue(
        self,
        title: str,
        body: str = "",
        labels: Sequence[str] = (),
        by: str | Account | Token = "maintainer",
    ) -> int:
        """The new issue's number."""
        return self.issues.create(title, body, labels, self.token(by)).number

    @_serial
    def label(self, number: int, name: str, by: str | Account | Token = "maintainer") -> None:
        """Add a label, which comes into being if it must."""
        self.issues.add_label(self.issues.get(number), name, self.token(by), create=True)

    @_serial
    def plan_for(self, number: int, milestone: str) -> None:
        """Put an issue into a milestone, which comes into being if it must; an empty title takes it out."""
        self.issues.get(number).milestone = milestone

    @_serial
    def adopt(self, parent: int, child: Ref) -> None:
        """Make an issue a sub-issue of another."""
        self.issues.get(parent).children.append(child)

    @_serial
    def unlabel(self, number: int, name: str, by: str | Account | Token = "maintainer") -> None:
        self.issues.remove_label(self.issues.get(number), name, self.token(by))

    @_serial
    def comment(self, number: int, body: str, by: str | Account | Token = "maintainer") -> int:
        """The new comment's id."""
        return self.issues.add_comment(self.issues.get(number), body, self.token(by)).id

    @_serial
    def edit_comment(self, comment_id: int, body: str, by: str | Account | Token = "maintainer") -> None:
        self.issues.edit_comment(self.issues.comment(comment_id), body, self.token(by))

    @_serial
    def delete_comment(self, comment_id: int, by: str | Account | Token = "maintainer") -> None:
        self.issues.delete_comment(self.issues.comment(comment_id), self.token(by))

    @_serial
    def edit_issue(
        self,
        number: int,
        *,
        title: str | None = None,
        body: str | None = None,
        by: str | Account | Token = "maintainer",
    ) -> None:
        self.issues.edit(self.issues.get(number), self.token(by), title=title, body=body)

    @_serial
    def close(
        self,
        number: int,
        reason: StateReason | str = StateReason.COMPLETED,
        by: str | Account | Token = "maintainer",
    ) -> None:
        self.issues.close(self.issues.get(number), StateReason(reason), self.token(by))

    @_serial
    def reopen(self, number: int, by: str | Account | Token = "maintainer") -> None:
        self.issues.reopen(self.issues.get(number), self.token(by))

    @_serial
    def lock_conversation(self, number: int, by: str | Account | Token = "maintainer") -> None:
        """From now on nobody without write permission may comment there, and no bot."""
        self.issues.set_locked(self.issues.get(number), self.token(by), locked=True)

    @_serial
    def unlock_conversation(self, number: int, by: str | Account | Token = "maintainer") -> None:
        self.issues.set_locked(self.issues.get(number), self.token(by), locked=False)

    @_serial
    def switch_off(self, workflow: str) -> None:
        """Somebody disables a workflow in the Actions tab."""
        self.actions.disabled.add(workflow)

    @_serial
    def switch_on(self, workflow: str) -> None:
        self.actions.disabled.discard(workflow)

    @_serial
    def delete_issue(self, number: int, by: str | Account | Token = "maintainer") -> None:
        self.issues.delete(self.issues.get(number), self.token(by))

    @_serial
    def transfer_issue(self, number: int, by: str | Account | Token = "maintainer") -> None:
        """Move an issue to another repository, or make a discussion of it."""
        self.issues.transfer(self.issues.get(number), self.token(by))

    @_serial
    def lock_issue(self, number: int, by: str | Account | Token = "maintainer") -> None:
        self.issues.lock(self.issues.get(number), self.token(by))

    @_serial
    def block(self, number: int, on: int | Ref, by: str | Account | Token = "maintainer") -> None:
        """Add a native edge: the issue is blocked by the other one."""
        ref = Ref(self.repository, on) if isinstance(on, int) else on
        self.dependencies.add(self.issues.get(number), ref, self.token(by))

    @_serial
    def unblock(self, number: int, on: int | Ref, by: str | Account | Token = "maintainer") -> None:
        ref = Ref(self.repository, on) if isinstance(on, int) else on
        self.dependencies.remove(self.issues.get(number), ref, self.token(by))

    @_serial
    def elsewhere(self, ref: Ref, state: NeedState) -> None:
        """Say how an issue or pull request of another repository stands."""
        self.dependencies.elsewhere[ref] = state

    @_serial
    def open_pull(
        self,
        head: str,
        title: str,
        body: str = "",
        by: str | Account | Token = "maintainer",
        *,
        base: str = "",
        draft: bool = False,
    ) -> int:
        """The new pull request's number."""
        base = base or self.git.default_branch
        return self.pulls.open(head, base, title, body, self.token(by), draft=draft).number

    @_serial
    def merge_pull(self, number: int, by: str | Account | Token = "maintainer") -> str:
        """The merge commit."""
        return self.pulls.merge(self.pulls.get(number), self.token(by))

    @_serial
    def close_pull(self, number: int, by: str | Account | Token = "maintainer") -> None:
        self.pulls.close(self.pulls.get(number), self.token(by))

    @_serial
    def update_branch(self, number: int, by: str | Account | Token = "maintainer") -> str:
        """A person presses "Update branch". The new head of the pull request."""
        return self.pulls.update_branch(self.pulls.get(number), self.token(by))

    @_serial
    def ready_for_review(self, number: int, by: str | Account | Token = "maintainer") -> None:
        self.pulls.set_draft(self.pulls.get(number), self.token(by), draft=False)

    @_serial
    def review(
        self,
        number: int,
        state: str = "CHANGES_REQUESTED",
        body: str = "",
        by: str | Account | Token = "maintainer",
        remarks: Sequence[tuple[str, int, str]] = (),
    ) -> None:
        """`remarks` are path, line and words of comments on lines."""
        self.pulls.review(self.pulls.get(number), state, body, self.token(by), remarks)

    @_serial
    def pushed(self, branch: str, before: str, after: str, by: str | Account | Token) -> None:
        """Git has moved a branch already: pull requests follow and workflows hear of it."""
        self.pulls.pushed(branch, before, after, self.token(by))

    @_serial
    def push_files(
        self,
        branch: str,
        files: Mapping[str, str | None],
        message: str = "work",
        by: str | Account | Token = "maintainer",
    ) -> str:
        """Commit files to a branch and push; only with a git in memory. The new commit."""
        if not isinstance(self.git, MemoryGit):
            raise TypeError("push_files needs a MemoryGit; use git itself against a real repository")
        before = self.git.head(branch) or ""
        token = self.token(by)
        after = self.git.commit(branch, files, message, token.account.login)
        self.pulls.pushed(branch, before, after, token)
        return after

    # ------------------------------------------------------------------ driving runs

    @_serial
    def dispatch(
        self,
        workflow: str,
        ref: str = "",
        inputs: Mapping[str, Any] | None = None,
        token: str | Account | Token = BOT,
    ) -> int:
        """Start a run by `workflow_dispatch`; its id."""
        return self.actions.dispatch(
            workflow, ref or self.git.default_branch, inputs or {}, self.token(token)
        ).id

    @_serial
    def tick_schedule(self, workflow: str = "") -> tuple[int, ...]:
        """The scheduled time of this workflow (or of all that have one) has come; the runs that start."""
        return tuple(run.id for run in self.actions.schedule(workflow, self.token("maintainer")))

    @_serial
    def run_started(self, run_id: int) -> None:
        self.actions.run_started(run_id)

    @_serial
    def put_job(self, run_id: int, job: JobState | Job) -> int:
        """Create or update a job, known by its name; its id."""
        if isinstance(job, Job):
            job = JobState(job.name, job.status, job.conclusion, job.started_at, job.completed_at)
        return self.actions.put_job(run_id, job).id

    @_serial
    def annotate(self, run_id: int, job: str, text: str) -> None:
        """GitHub notes something on a job."""
        known = self.actions.run(run_id).jobs[job]
        known.annotations = (*known.annotations, text)

    @_serial
    def runner_comes(self) -> None:
        """A machine takes what waits for one, and whatever comes after it."""
        self.actions.runner_comes()

    @_serial
    def append_log(self, run_id: int, job: str, text: str) -> None:
        """More output of a job."""
        self.actions.append_log(run_id, job, text)

    @_serial
    def add_artifact(self, run_id: int, name: str, data: bytes) -> int:
        """Keep a zip archive for a run; its id."""
        return self.actions.add_artifact(run_id, name, data)

    @_serial
    def expire_artifact(self, artifact_id: int) -> None:
        self.actions.artifacts[artifact_id].expired = True

    @_serial
    def run_ended(self, run_id: int, conclusion: str) -> None:
        self.actions.run_ended(run_id, conclusion)

    @_serial
    def cancel(self, run_id: int, by: str | Account | Token = "maintainer", *, force: bool = False) -> None:
        self.actions.cancel(run_id, self.token(by), force=force)

    @_serial
    def delete_run(self, run_id: int, by: str | Account | Token = "maintainer") -> None:
        self.actions.delete_run(run_id, self.token(by))

    @_serial
    def rerun(
        self, run_id: int, jobs: Sequence[str] | None = None, by: str | Account | Token = "maintainer"
    ) -> None:
        """Somebody presses "Re-run all jobs", or runs the jobs named again."""
        self.actions.rerun(run_id, self.token(by), jobs)

    @_serial
    def run_token(self, run_id: int, permissions: Mapping[str, str], name: str) -> Token:
        """A default token for one job of a run, with what its `permissions:` grant."""
        return self.accounts.run_token(run_id, permissions, name)

    # ------------------------------------------------------------------ looking

    def issue(self, number: int) -> IssueState:
        """The stored issue itself."""
        return self.issues.get(number)

    def pull(self, number: int) -> PullState:
        return self.pulls.get(number)

    def run(self, run_id: int) -> WorldRun:
        return self.actions.run(run_id)

    def runs(self, workflow: str = "") -> tuple[WorldRun, ...]:
        """Oldest first; of one workflow file or all."""
        return tuple(run for run in self.actions.runs.values() if workflow in ("", run.workflow))

    def labels_of(self, number: int) -> tuple[str, ...]:
        return tuple(label.name for label in self.issues.get(number).labels)

    def comments_of(self, number: int) -> tuple[CommentState, ...]:
        return tuple(self.issues.get(number).comments)
