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
from bot.worker.change.own_clone import open_ledger
from bot.worker.change.starting_point import message
from bot.worker.job.artifact import save_report
from bot.worker.job.claim import Refusal, belongs_to
from bot.worker.job.place import Place
from bot.worker.job.worked import Worked
from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.redact import Redactor

_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}", re.ASCII)


class _Misfit(BotError):
    """The work of a task does not join."""

    def __init__(self, task: int, why: str) -> None:
        super().__init__(f"the work of #{task} {why}")
        self.task = task


def join(github: Reader, place: Place, cancellation: Cancellation, write: Callable[[str], object]) -> Worked:
    """Join what the unit names and keep it in `place.out`; every end is a report there, as of an agent's job."""
    began = time.monotonic()
    rmtree(place.out, ignore_errors=True)
    place.out.mkdir(parents=True)
    redactor = Redactor(place.secrets)
    report = Report(str(place.key), place.key.task, Outcome.INFRA, run_attempt=place.run_attempt)
    try:
        refusal = judge_gate_claim(github, place)
        if refusal is not None:
            worked = Worked(replace(report, outcome=Outcome.REFUSED, reason=refusal.reason))
        else:
            joined = _join(place, cancellation)
            write(f"cf: joined {_names(place.unit.joins)} onto {joined.base}\n")
            done = replace(report, outcome=Outcome.UNVERIFIED, head=joined.commit, base=joined.base)
            worked = Worked(done, verify=True)
    except _Misfit as error:
        worked = Worked(replace(report, outcome=Outcome.FAILED, reason=str(error), misfit=error.task))
    except GitCancelled:
        worked = Worked(replace(report, outcome=Outcome.CANCELLED, reason=cancellation.reason))
    except (BotError, OSError) as error:
        worked = Worked(replace(report, reason=redactor.text(str(error))))
    report = replace(worked.report, minutes=round((time.monotonic() - began) / 60, 2))
    save_report(place.out, report)
    return replace(worked, report=report)


def judge_gate_claim(github: Reader, place: Place) -> Refusal | None:
    """Why this trial may not run, or None: it must be the one that its batch's record names, and this run the one that has it."""
    key = place.key
    if place.run_attempt > 1:
        return Refusal("the joining job cannot be run again: the conductor starts another trial")
    try:
        batch = read_batch(github.issue(key.task), place.unit.accounts)
    except NotFound:
        return Refusal(f"#{key.task} is gone")
    record = batch.record if batch is not None and batch.order is not None else BatchRecord()
    if record.trial is None or record.trial.attempt.number != key.number:
        return Refusal(f"{key} is not the current trial of batch #{key.task}")
    return belongs_to(github, place, record.trial.attempt.claimed_at)


class _Joined(Struct, frozen=True):
    """`commit` stands on `base`, a commit of the default branch."""

    commit: str
    base: str


def _join(place: Place, cancellation: Cancellation) -> _Joined:
    """Raises _Misfit naming the first task whose work contradicts what is there, and GitFailed."""
    ledger, remote = open_ledger(place.workspace, place.temp / "cf-ledger.git", place.environ, cancellation)
    remote = replace(remote, token=place.token)
    base = _base(ledger, place, cancellation)
    _fetch(ledger, remote, place)
    commit = base
    for one in place.unit.joins:
        if not ledger.has(one.commit):
            raise _Misfit(one.task, f"is not there any more: no branch holds {one.commit[:12]}")
        if ledger.is_ancestor(one.commit, commit):
            continue
        tree = ledger.merged_tree(commit, one.commit)
        if tree is None:
            raise _Misfit(one.task, "contradicts what it is joined with")
        commit = ledger.commit(tree, (commit, one.commit), message(place.key))
    # One commit of ours on what everybody has, as the jobs that follow expect it.
    commit = ledger.commit(ledger.text("rev-parse", f"{commit}^{{tree}}"), (base,), message(place.key))
    write_bundle(ledger, commit, (base,), place.out / BUNDLE_FILE)
    return _Joined(commit, base)


def _base(ledger: Git, place: Place, cancellation: Cancellation) -> str:
    """The commit to join onto: the one that is named, else the default branch, now or as it was at a time."""
    source = Git(place.workspace / ".git", place.environ, cancellation=cancellation)
    head = source.text("rev-parse", "HEAD^{commit}")
    unit = place.unit
    if unit.base:
        if not _COMMIT.fullmatch(unit.base) or not ledger.has(unit.base):
            raise GitFailed(f"the base {unit.base[:64]!r} is not a commit of this repository")
        return unit.base
    if not unit.before:
        return head
    when = datetime.fromtimestamp(unit.before, UTC).isoformat()
    found = source.text("rev-list", "--first-parent", "--max-count=1", f"--before={when}", head)
    if not found:
        raise GitFailed(f"the default branch has no commit from before {when}")
    return found


def _fetch(ledger: Git, remote: Remote, place: Place) -> None:
    """Commits that the checkout did not bring along. Only full ids are asked for, so that no name of a branch is needed."""
    for one in place.unit.joins:
        if not _COMMIT.fullmatch(one.commit):
            raise GitFailed(f"{one.commit[:64]!r} is not the full id of a commit")
    missing = [one.commit for one in place.unit.joins if not ledger.has(one.commit)]
    if missing:
        ledger.fetch(remote, "+refs/heads/*:refs/cf/heads/*")
    for commit in missing:
        if not ledger.has(commit):  # its branch may be gone after the merge; GitHub still gives the commit
            ledger.call(
                "fetch", "--no-tags", "--quiet", remote.url, commit, extra=remote.environment(), check=False
            )


def _names(joins: tuple[Join, ...]) -> str:
    return ", ".join(f"#{one.task}" for one in joins) or "nothing"
