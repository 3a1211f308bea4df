"""The first job of a unit of kind `gate`: the work of several tasks joined onto one commit, for the verify job to prove.

Nothing of that work runs here. The order stands in the batch issue itself, so that is where the claim is checked.
"""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from shutil import rmtree

from msgspec import Struct
from msgspec.structs import replace

from bot.github.port import Reader
from bot.model.batch import BatchRecord
from bot.model.errors import BotError, NotFound
from bot.model.report import Outcome, Report
from bot.model.unit import Join
from bot.notation.batches import read_batch
from bot.notation.reports import BUNDLE_FILE
from bot.worker.change.bundle import write_bundle
from bot.worker.change.git import Git, GitCancelled, GitFailed, Remote
from bot.worker.change.own_clone import open_own_clone
from bot.worker.change.starting_point import message
from bot.worker.job.artifact import keep_report
from bot.worker.job.claim import Refusal, belongs_to
from bot.worker.job.context import JobContext
from bot.worker.job.worked import Worked
from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.redact import Redactor

_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}", re.ASCII)


class _Misfit(BotError):
    """The work of a task does not join."""

    def __init__(self, task: int, why: str) -> None:
        super().__init__(f"the work of #{task} {why}")
        self.task = task


def join(
    github: Reader, context: JobContext, cancellation: Cancellation, write: Callable[[str], object]
) -> Worked:
    """Join what the unit names and keep it in `place.out`; every end is a report there, as of an agent's job."""
    began = time.monotonic()
    rmtree(context.out, ignore_errors=True)
    context.out.mkdir(parents=True)
    redactor = Redactor(context.secrets)
    report = Report(str(context.key), context.key.task, Outcome.INFRA, run_attempt=context.run_attempt)
    try:
        refusal = judge_gate_claim(github, context)
        if refusal is not None:
            worked = Worked(replace(report, outcome=Outcome.REFUSED, reason=refusal.reason))
        else:
            joined = _join(context, cancellation)
            write(f"cf: joined {_names(context.unit.joins)} onto {joined.base}\n")
            done = replace(report, outcome=Outcome.UNVERIFIED, head=joined.commit, base=joined.base)
            worked = Worked(done, verify=True)
    except _Misfit as error:
        worked = Worked(replace(report, outcome=Outcome.FAILED, reason=str(error), misfit=error.task))
    except GitCancelled:
        worked = Worked(replace(report, outcome=Outcome.CANCELLED, reason=cancellation.reason))
    except (BotError, OSError) as error:
        worked = Worked(replace(report, reason=redactor.text(str(error))))
    report = replace(worked.report, minutes=round((time.monotonic() - began) / 60, 2))
    keep_report(context, context.out, report)
    return replace(worked, report=report)


def judge_gate_claim(github: Reader, context: JobContext) -> Refusal | None:
    """Why this trial may not run, or None: it must be the one that its batch's record names, and this run the one that has it."""
    key = context.key
    if context.run_attempt > 1:
        return Refusal("the joining job cannot be run again: the conductor starts another trial")
    try:
        batch = read_batch(github.issue(key.task), context.unit.accounts)
    except NotFound:
        return Refusal(f"#{key.task} is gone")
    record = batch.record if batch is not None and batch.order is not None else BatchRecord()
    if record.trial is None or record.trial.attempt.number != key.number:
        return Refusal(f"{key} is not the current trial of batch #{key.task}")
    return belongs_to(github, context, record.trial.attempt.claimed_at)


class _Joined(Struct, frozen=True):
    """`commit` stands on `base`, a commit of the default branch."""

    commit: str
    base: str


def _join(context: JobContext, cancellation: Cancellation) -> _Joined:
    """Raises _Misfit naming the first task whose work contradicts what is there, and GitFailed."""
    clone, remote = open_own_clone(
        context.workspace, context.temp / "cf-clone.git", context.environ, cancellation
    )
    remote = replace(remote, token=context.token)
    base = _base(clone, context, cancellation)
    _fetch(clone, remote, context)
    commit = base
    for one in context.unit.joins:
        if not clone.has(one.commit):
            raise _Misfit(one.task, f"is not there any more: no branch holds {one.commit[:12]}")
        if clone.is_ancestor(one.commit, commit):
            continue
        tree = clone.merged_tree(commit, one.commit)
        if tree is None:
            raise _Misfit(one.task, "contradicts what it is joined with")
        commit = clone.commit(tree, (commit, one.commit), message(context.key))
    # One commit of ours on what everybody has, as the jobs that follow expect it.
    commit = clone.commit(clone.text("rev-parse", f"{commit}^{{tree}}"), (base,), message(context.key))
    write_bundle(clone, commit, (base,), context.out / BUNDLE_FILE)
    return _Joined(commit, base)


def _base(clone: Git, context: JobContext, cancellation: Cancellation) -> str:
    """The commit to join onto: the one that is named, else the default branch, now or as it was at a time."""
    source = Git(context.workspace / ".git", context.environ, cancellation=cancellation)
    head = source.text("rev-parse", "HEAD^{commit}")
    unit = context.unit
    if unit.base:
        if not _COMMIT.fullmatch(unit.base) or not clone.has(unit.base):
            raise GitFailed(f"the base {unit.base[:64]!r} is not a commit of this repository")
        return unit.base
    if not unit.before:
        return head
    when = datetime.fromtimestamp(unit.before, UTC).isoformat()
    found = source.text("rev-list", "--first-parent", "--max-count=1", f"--before={when}", head)
    if not found:
        raise GitFailed(f"the default branch has no commit from before {when}")
    return found


def _fetch(clone: Git, remote: Remote, context: JobContext) -> None:
    """Commits that the checkout did not bring along. Only full ids are asked for, so that no name of a branch is needed."""
    for one in context.unit.joins:
        if not _COMMIT.fullmatch(one.commit):
            raise GitFailed(f"{one.commit[:64]!r} is not the full id of a commit")
    missing = [one.commit for one in context.unit.joins if not clone.has(one.commit)]
    if missing:
        clone.fetch(remote, "+refs/heads/*:refs/cf/heads/*")
    for commit in missing:
        if not clone.has(commit):  # its branch may be gone after the merge; GitHub still gives the commit
            clone.call(
                "fetch", "--no-tags", "--quiet", remote.url, commit, extra=remote.environment(), check=False
            )


def _names(joins: tuple[Join, ...]) -> str:
    return ", ".join(f"#{one.task}" for one in joins) or "nothing"
