"""Workflow runs: what starts one, when it may run, what it leaves behind, how it ends.

The world owns ids, inputs, names, groups and the recursion rule; an Engine runs the jobs and reports back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Protocol

from bot.model.issue import Account
from bot.sandbox.world.accounts import Token
from bot.sandbox.world.concurrency import Groups
from bot.sandbox.world.core import Core, Happening
from bot.sandbox.world.errors import ApiError, conflict, forbidden, gone, invalid, not_found
from bot.sandbox.world.expressions import Unsupported, interpolate
from bot.sandbox.world.git import Git
from bot.sandbox.world.payloads import payload_of
from bot.sandbox.world.state import ArtifactState, JobState
from bot.sandbox.world.workflows import FOLDER, Group, Workflow, read_workflow

KEPT = timedelta(days=90)
_DISPATCHES = ("workflow_dispatch", "repository_dispatch")
_WAITS_FOR_APPROVAL = ("opened", "synchronize", "reopened")


@dataclass(slots=True, eq=False)
class WorldRun:
    """One run. `workflow` is the file's name, `ref` the branch, `payload` the `github.event`, `token` the default token."""

    id: int
    number: int
    workflow: str
    path: str
    name: str
    event: str
    payload: Mapping[str, Any]
    inputs: Mapping[str, str]
    ref: str
    head_sha: str
    actor: Account
    token: Token
    created_at: datetime
    updated_at: datetime
    title: str = ""
    status: str = "queued"
    conclusion: str | None = None
    started_at: datetime | None = None
    attempt: int = 1
    cancel_requested: bool = False
    cancelled_by: str = ""
    force_requested: bool = False
    started_by_run: bool = False
    groups: tuple[Group, ...] = ()
    jobs: dict[str, JobState] = field(default_factory=dict)
    past: list[JobState] = field(default_factory=list)  # what ran in earlier attempts and was run again
    artifacts: list[int] = field(default_factory=list)
    problem: str = ""

    @property
    def ended(self) -> bool:
        return self.status == "completed"


def node_id_of(run: WorldRun) -> str:
    """Its id in GraphQL."""
    return f"WFR_kwLO{run.id}"


class KeptOver(Enum):
    """What becomes of artifacts once all jobs of their run are run again.

    By fact they are kept per attempt; what is shown of the earlier ones is told in different ways: actions/toolkit client.ts and
    get-artifact.ts, upload-artifact #323 and #585, and against them NVIDIA/aicr #1928.
    """

    BESIDE = "beside"  # all are shown, the newest of a name is the one that is taken by name
    GONE = "gone"  # the earlier ones are shown no more
    ONCE = "once"  # all are shown, and a name that was used cannot be used again


class Engine(Protocol):
    """Runs workflows. Both methods return at once; they may call the world back, also later and from other threads."""

    def start(self, run: WorldRun) -> None:
        """The run may begin: report `run_started`, jobs, artifacts and `run_ended`."""
        ...

    def cancel(self, run_id: int, force: bool) -> None:
        """Somebody asked for the run's end; report `run_ended` when it has."""
        ...


UNPAID = (
    "The job was not started because recent account payments have failed or your spending limit needs to be increased."
    " Please check the 'Billing & plans' section in your settings"
)
NO_REGISTRY = (
    "Failed to download action 'https://api.github.com/repos/actions/checkout/tarball/de0fac2'."
    " Error: Response status code does not indicate success: 503 (Service Unavailable)."
)
STORAGE_FULL = (
    "Failed to CreateArtifact: Artifact storage quota has been hit. Unable to upload any new artifacts."
    " Usage is recalculated every 6-12 hours."
)


@dataclass(slots=True)
class Actions:
    """The Actions side of the repository. `variables` is the `vars` context.

    `no_job_starts`: every new run fails at once, with this annotation on its first jobs (UNPAID, NO_REGISTRY). `storage_full`: no
    artifact is taken. `no_runner`: new runs stay queued until `runner_comes`.
    """

    core: Core
    git: Git
    engine: Engine
    runs: dict[int, WorldRun] = field(default_factory=dict)
    jobs: dict[int, JobState] = field(default_factory=dict)
    artifacts: dict[int, ArtifactState] = field(default_factory=dict)
    groups: Groups = field(default_factory=Groups)
    variables: dict[str, str] = field(default_factory=dict)
    workflow_ids: dict[str, int] = field(default_factory=dict)
    disabled: set[str] = field(default_factory=set)
    kept_over_attempts: KeptOver = KeptOver.BESIDE
    no_job_starts: str = ""
    storage_full: bool = False
    no_runner: bool = False
    unserved: list[WorldRun] = field(default_factory=list)

    # ------------------------------------------------------------------ workflow files

    def workflows(self, ref: str = "") -> tuple[Workflow, ...]:
        """The workflow files of a branch or commit, else of the default branch."""
        found = []
        for path, blob in sorted(self.git.listing(ref or self.git.default_branch, FOLDER).items()):
            if path.endswith((".yml", ".yaml")):
                self.workflow_id(path)
                found.append(read_workflow(path, (self.git.blob(blob) or b"").decode("utf-8", "replace")))
        return tuple(found)

    def workflow(self, name: str, ref: str = "") -> Workflow:
        """By file name, path or id. Raises ApiError 404 if it is not on that branch."""
        for workflow in self.workflows(ref):
            if name in (workflow.file, workflow.path, str(self.workflow_id(workflow.path))):
                return workflow
        raise not_found()

    def workflow_id(self, path: str) -> int:
        if path not in self.workflow_ids:
            self.workflow_ids[path] = self.core.next_id("workflow")
        return self.workflow_ids[path]

    # ------------------------------------------------------------------ reading

    def run(self, run_id: int) -> WorldRun:
        """Raises ApiError 404."""
        try:
            return self.runs[run_id]
        except KeyError:
            raise not_found() from None

    def of_workflow(self, file: str) -> tuple[WorldRun, ...]:
        """Newest first. Raises ApiError 404 if the file is not on the default branch."""
        file = self.workflow(file).file
        return tuple(run for run in reversed(self.runs.values()) if run.workflow == file)

    def artifact(self, artifact_id: int) -> ArtifactState:
        """Raises ApiError 404, or 410 if it has expired."""
        try:
            artifact = self.artifacts[artifact_id]
        except KeyError:
            raise not_found() from None
        if artifact.expired or artifact.expires_at <= self.core.now:
            raise gone("Artifact has expired")
        return artifact

    # ------------------------------------------------------------------ starting

    def dispatch(self, name: str, ref: str, inputs: Mapping[str, Any], by: Token) -> WorldRun:
        """`workflow_dispatch`. Raises ApiError 404 if the file is not on the default branch, 422 for ref or inputs."""
        self.core.accounts.require(by, "write", "actions", role="write")
        known = self.workflow(name)
        branch = ref.removeprefix("refs/heads/")
        if self.git.head(branch) is None:
            raise invalid(f"No ref found for: {ref}")
        if known.file in self.disabled:
            raise invalid("Cannot trigger a 'workflow_dispatch' on a disabled workflow")
        workflow = next((w for w in self.workflows(branch) if w.path == known.path), None)
        if workflow is None:
            raise invalid(f"Workflow {known.path} does not exist on {branch}")
        checked = workflow.checked_inputs(inputs)
        extra = {"inputs": dict(checked), "ref": f"refs/heads/{branch}", "workflow": workflow.path}
        happening = Happening("workflow_dispatch", "", by, {"extra": extra})
        return self._start(workflow, happening, branch, checked)

    def schedule(self, file: str, by: Token) -> tuple[WorldRun, ...]:
        """The time of every workflow with a schedule (or of that one) has come."""
        started = []
        for workflow in self.workflows():
            if workflow.crons and file in ("", workflow.file) and workflow.file not in self.disabled:
                happening = Happening("schedule", "", by, {"extra": {"schedule": workflow.crons[0]}})
                started.append(self._start(workflow, happening, self.git.default_branch, {}))
        return tuple(started)

    def heard(self, happening: Happening) -> None:
        """Start the workflows that listen. What a default token did starts none, but for dispatches.

        Source: docs.github.com, "GITHUB_TOKEN": a pull request it opens or updates makes runs that wait for an approval.
        """
        silent = happening.by.kind == "run" and happening.event not in _DISPATCHES
        waits = silent and happening.event == "pull_request" and happening.action in _WAITS_FOR_APPROVAL
        if silent and not waits:
            return
        branch, ref = self._branches(happening)
        for workflow in self.workflows(ref):
            if workflow.file not in self.disabled and workflow.listens(
                happening.event, happening.action, branch
            ):
                self._start(workflow, happening, ref, {}, waits=waits)

    def _branches(self, happening: Happening) -> tuple[str, str]:
        """The branch that filters look at, and the branch whose workflow files count."""
        if happening.event == "push":
            return happening.parts["branch"], happening.parts["branch"]
        if happening.event in ("pull_request", "pull_request_review") and "pull" in happening.parts:
            pull = happening.parts["pull"]
            head = pull.head_ref if self.git.head(pull.head_ref) else self.git.default_branch
            return pull.base_ref, head
        return "", self.git.default_branch

    def _start(
        self,
        workflow: Workflow,
        happening: Happening,
        branch: str,
        inputs: Mapping[str, str],
        *,
        waits: bool = False,
    ) -> WorldRun:
        run_id = self.core.next_id("run")
        now = self.core.now
        run = WorldRun(
            id=run_id,
            number=sum(other.path == workflow.path for other in self.runs.values()) + 1,
            workflow=workflow.file,
            path=workflow.path,
            name=workflow.name,
            event=happening.event,
            payload=payload_of(self.core, happening),
            inputs=inputs,
            ref=branch,
            head_sha=self.git.head(branch) or "",
            actor=happening.by.account,
            token=self.core.accounts.run_token(run_id, workflow.token_permissions()),
            created_at=now,
            updated_at=now,
            started_by_run=happening.by.kind == "run",
        )
        self.runs[run_id] = run
        contexts = self.contexts(run)
        skipped = False
        try:
            run.title = workflow.title(contexts, _plain_title(happening, workflow))
            run.groups = workflow.groups(contexts)
            skipped = not any(True for _ in workflow.root_jobs(contexts))
        except Unsupported as error:
            run.problem = f"Invalid workflow file: {error}"
        run.problem = run.problem or workflow.problem
        if run.problem:
            self._end(run, "startup_failure")
        elif waits:
            self._end(run, "action_required")
        elif skipped and "concurrency" not in workflow.raw:
            self._end(run, "skipped")
        else:
            self._queue(run)
        return run

    def contexts(self, run: WorldRun) -> dict[str, Any]:
        """The contexts that names, groups and root conditions may use."""
        github = {
            "event_name": run.event,
            "event": run.payload,
            "actor": run.actor.login,
            "triggering_actor": run.actor.login,
            "repository": self.core.repository,
            "repository_owner": self.core.repository.split("/")[0],
            "ref": f"refs/heads/{run.ref}",
            "ref_name": run.ref,
            "sha": run.head_sha,
            "run_id": str(run.id),
            "run_number": str(run.number),
            "run_attempt": str(run.attempt),
            "workflow": run.name,
        }
        inputs = {name: _typed(value) for name, value in run.inputs.items()}
        return {"github": github, "inputs": inputs, "vars": dict(self.variables)}

    def _queue(self, run: WorldRun) -> None:
        arrival = self.groups.arrive(run.id, run.groups)
        for loser in arrival.evicted:
            self._end(self.runs[loser], "cancelled")
        for holder in arrival.cancelled:
            self._ask_to_end(self.runs[holder], force=False)
        if run.ended:
            return
        if arrival.starts:
            self._hand_over(run)
        elif run.id not in self.groups.holder.values():
            run.status = "pending"

    def _hand_over(self, run: WorldRun) -> None:
        """To the engine, unless there is no machine for it or GitHub lets no job begin."""
        if self.no_job_starts:
            self._fail_at_once(run)
        elif self.no_runner:
            self.unserved.append(run)
        else:
            self.engine.start(run)

    def _fail_at_once(self, run: WorldRun) -> None:
        for name in self._first_jobs(run):
            job = self.put_job(run.id, JobState(name, "completed", "failure"))
            job.annotations = (*job.annotations, self.no_job_starts)
        self._end(run, "failure")

    def _first_jobs(self, run: WorldRun) -> list[str]:
        """The names of the jobs that need no other; of a called workflow, its own below the calling leg."""
        workflow, found = self.workflow(run.path), []
        for job, seen in workflow.root_jobs(self.contexts(run)):
            name = interpolate(str(job.get("name") or "job"), seen)
            called = str(job.get("uses") or "").rpartition("/")[2].partition("@")[0]
            inner = self.workflow(called).jobs if called else {}
            names = [str(each.get("name") or key) for key, each in inner.items() if not each.get("needs")]
            found += [f"{name} / {each}" for each in names] or [name]
        return found

    def runner_comes(self) -> None:
        self.no_runner = False
        waiting, self.unserved = self.unserved, []
        for run in waiting:
            if not run.ended:
                self.engine.start(run)

    # ------------------------------------------------------------------ what the engine reports

    def run_started(self, run_id: int) -> None:
        run = self.run(run_id)
        if not run.ended:
            run.status = "in_progress"
            run.started_at = run.updated_at = self.core.now

    def put_job(self, run_id: int, job: JobState) -> JobState:
        """Create or update the job of that name; the stored one keeps its id and log."""
        run = self.run(run_id)
        known = run.jobs.get(job.name)
        if known is None:
            known = replace(job, id=self.core.next_id("job"), run_id=run_id, attempt=run.attempt)
            known.created_at = self.core.now
            run.jobs[job.name] = self.jobs[known.id] = known
        else:
            known.status, known.conclusion = job.status, job.conclusion
            known.started_at = job.started_at or known.started_at
            known.completed_at = job.completed_at or known.completed_at
            known.steps = job.steps or known.steps
            known.log = job.log or known.log
        if known.status in ("in_progress", "completed"):
            known.started_at = known.started_at or self.core.now
        if known.status == "completed":
            known.completed_at = known.completed_at or self.core.now
        run.updated_at = self.core.now
        return known

    def append_log(self, run_id: int, name: str, text: str) -> None:
        """More of a job's log; the job appears if it was not there."""
        run = self.run(run_id)
        job = run.jobs.get(name) or self.put_job(run_id, JobState(name, "in_progress"))
        job.log += text

    def add_artifact(self, run_id: int, name: str, data: bytes) -> int:
        """Keep a zip archive. Raises ApiError 409 for a name that this run's attempt has already, 403 where the storage is full."""
        run = self.run(run_id)
        if self.storage_full:
            for job in run.jobs.values():
                if job.status == "in_progress":
                    job.annotations = (*job.annotations, STORAGE_FULL)
            raise ApiError(403, STORAGE_FULL)
        kept = (self.artifacts[known] for known in run.artifacts)
        once = self.kept_over_attempts is KeptOver.ONCE
        if any(one.name == name and (once or one.attempt == run.attempt) for one in kept):
            raise conflict(f"an artifact with the name {name} already exists on the workflow run")
        artifact_id = self.core.next_id("artifact")
        now = self.core.now
        self.artifacts[artifact_id] = ArtifactState(
            artifact_id, run_id, name, data, now, now + KEPT, attempt=run.attempt
        )
        run.artifacts.append(artifact_id)
        return artifact_id

    def run_ended(self, run_id: int, conclusion: str) -> None:
        """The engine is done with the run; a second report changes nothing."""
        run = self.run(run_id)
        if not run.ended:
            self._end(run, conclusion)

    # ------------------------------------------------------------------ ending

    def job(self, job_id: int) -> JobState:
        """Raises ApiError 404."""
        if job_id not in self.jobs:
            raise not_found()
        return self.jobs[job_id]

    def cancel(self, run_id: int, by: Token, *, force: bool = False) -> None:
        """Raises ApiError 409 if the run has ended."""
        self.core.accounts.require(by, "write", "actions", role="write")
        run = self.run(run_id)
        if run.ended:
            raise conflict("Cannot cancel a workflow run that is completed.")
        run.cancelled_by = run.cancelled_by or by.account.login
        self._ask_to_end(run, force=force)

    def delete_run(self, run_id: int, by: Token) -> None:
        """Raises ApiError 403 while it runs."""
        self.core.accounts.require(by, "write", "actions", role="write")
        run = self.run(run_id)
        if not run.ended:
            raise conflict("Cannot delete a workflow run that is not completed.")
        for artifact_id in run.artifacts:
            del self.artifacts[artifact_id]
        for job in (*run.past, *run.jobs.values()):
            del self.jobs[job.id]
        del self.runs[run_id]

    def rerun(self, run_id: int, by: Token, jobs: Sequence[str] | None = None) -> None:
        """Run all jobs again, or those named (as "Re-run failed jobs" does) with what the others came to.

        The run keeps its id and counts its attempts. After all jobs were run again, what the first ones kept is shown or not,
        as `kept_over_attempts` says. Raises ApiError 403 while it runs.
        """
        self.core.accounts.require(by, "write", "actions", role="write")
        run = self.run(run_id)
        if not run.ended:
            raise forbidden("This workflow is already running")
        again = [name for name in run.jobs if jobs is None or name in jobs]
        run.past += [run.jobs.pop(name) for name in again]
        if jobs is None and self.kept_over_attempts is KeptOver.GONE:
            for artifact_id in run.artifacts:
                del self.artifacts[artifact_id]
            run.artifacts.clear()
        run.attempt += 1
        run.status, run.conclusion, run.started_at = "queued", None, None
        run.cancel_requested = run.force_requested = False
        run.cancelled_by, run.updated_at = "", self.core.now
        self._queue(run)

    def _ask_to_end(self, run: WorldRun, *, force: bool) -> None:
        run.cancel_requested = True
        run.force_requested = run.force_requested or force
        run.updated_at = self.core.now
        if run.status == "pending" or run in self.unserved:
            self._end(run, "cancelled")
        else:
            self.engine.cancel(run.id, force)

    def _end(self, run: WorldRun, conclusion: str) -> None:
        run.status, run.conclusion, run.updated_at = "completed", conclusion, self.core.now
        for job in run.jobs.values():
            if job.status != "completed":
                job.status, job.conclusion = (
                    "completed",
                    "cancelled" if conclusion == "cancelled" else "failure",
                )
                job.completed_at = self.core.now
                if run.cancelled_by and conclusion == "cancelled":
                    slug = run.cancelled_by.removesuffix("[bot]")  # an App's name stands there as its slug
                    job.annotations = (*job.annotations, f"The run was canceled by @{slug}.")
        for waiting in self.groups.leave(run.id):
            self.runs[waiting].status = "queued"
            self._hand_over(self.runs[waiting])
        kind = "run" if run.started_by_run else "user"
        by = Token("", run.actor, kind)
        extra = {
            "workflow_run": {"id": run.id, "name": run.name, "conclusion": conclusion, "event": run.event}
        }
        if conclusion not in ("action_required", "skipped"):
            self.heard(Happening("workflow_run", "completed", by, {"extra": extra}))


def _plain_title(happening: Happening, workflow: Workflow) -> str:
    for part in ("pull", "issue"):
        if part in happening.parts:
            state = happening.parts[part]
            return str(state.issue.title if part == "pull" else state.title)
    return workflow.name


def _typed(value: str) -> Any:
    return {"true": True, "false": False}.get(value, value)
