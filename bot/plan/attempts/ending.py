"""How an attempt ended: facts from the platform, words from the agent."""

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from bot.model.cause import Cause, Met
from bot.model.config import Config
from bot.model.record import Attempt, Record
from bot.model.report import NO_FAULT, GateStatus, Outcome, Report
from bot.model.run import Artifact, Job, Run
from bot.model.snapshot import AnnotationsOf, JobsOf, Lookup, Permission, ReportIn, Snapshot
from bot.model.unit import Kind
from bot.notation.digests import named
from bot.notation.keys import Key, keys_in
from bot.notation.reports import kept_as, report_name
from bot.plan.attempts.baseline import baseline_of
from bot.plan.attempts.brakes import CONFLICT
from bot.plan.facts.causes import in_annotations, of_no_report, of_report
from bot.plan.facts.trust import rank

# What an outcome says by itself, where nobody gave a reason.
_PLAIN_WORDS = {
    Outcome.NO_CHANGES: "the agent changed nothing",
    Outcome.STALLED: "the agent stood still",
    Outcome.UNVERIFIED: "no gate has proven it",
}
_CANCELLED_BY = re.compile(r"The (?:run|job) was cancell?ed by @([A-Za-z0-9][A-Za-z0-9-]{0,38})\.")
_CANCELS = "write"  # the role that GitHub asks of whoever cancels a run
_NEVER_STARTED = ("startup_failure", "action_required", "stale")


class Ending(Struct, frozen=True):
    """How the attempt ended. `republish` says that proven work exists and only publishing is left.

    `minutes` is how long its agent's job took by GitHub's clock, 0 where that is not known. `by` is who cancelled it in the
    Actions tab. `cause` is what no single task is to blame for.
    """

    outcome: Outcome
    reason: str
    report: Report | None = None
    republish: bool = False
    minutes: float = 0.0
    by: str = ""
    cause: Met | None = None


class Legs(Struct, frozen=True):
    """The jobs of one unit's leg, by role."""

    agent: Job | None
    verify: tuple[Job, ...]
    publish: Job | None


def run_of(key: Key, attempt: Attempt, snapshot: Snapshot) -> Run | None:
    """The run that owns the key: the lowest id carrying it, passing over runs that ended before any job could start."""
    carrying = sorted((run for run in snapshot.runs if key in keys_in(run.title)), key=lambda run: run.id)
    for run in carrying:
        if not (run.ended and run.conclusion in _NEVER_STARTED):
            return run
    if carrying:
        return carrying[0]
    return next((run for run in snapshot.runs if run.id == attempt.run), None)


def ending_of(key: Key, run: Run, snapshot: Snapshot) -> Ending | frozenset[Lookup] | None:
    """How the attempt ended, None while it runs, or what must be looked up to say.

    A report counts once it is there, whatever its run says: the wake-up comes from inside the run that it announces.
    """
    artifacts = _report_artifacts(key, run, snapshot)
    if not run.ended and not artifacts:
        return None
    if run.id not in snapshot.jobs:
        return frozenset({JobsOf(run.id)})
    legs = legs_of(key.task, snapshot.jobs[run.id])
    unread = frozenset(ReportIn(artifact.id) for artifact in artifacts if artifact.id not in snapshot.reports)
    if unread:
        return unread
    report = _counting_report(key, artifacts, legs, snapshot)
    if report is None and not run.ended:
        return None
    ending = _with_report(report, legs) if report is not None else _without_report(run, legs)
    ending = replace(ending, minutes=_minutes(legs.agent), cause=of_report(report) if report else None)
    ended_by_somebody = ending.outcome in (Outcome.CANCELLED, Outcome.INFRA)
    attributed = _attributed(ending, legs, snapshot) if ended_by_somebody else ending
    if report is not None or isinstance(attributed, frozenset) or attributed.outcome is not Outcome.INFRA:
        return attributed
    return _with_cause(attributed, run, legs, snapshot)


def _with_cause(ending: Ending, run: Run, legs: Legs, snapshot: Snapshot) -> Ending | frozenset[Lookup]:
    """What GitHub noted on the first job that failed, else a guess."""
    failed = [job for job in (legs.agent, *legs.verify, legs.publish) if job and job.conclusion == "failure"]
    unread = frozenset(AnnotationsOf(job.id) for job in failed[:1] if job.id not in snapshot.annotations)
    if unread:
        return unread
    said = [text for job in failed[:1] for text in snapshot.annotations[job.id]]
    begun = any((legs.agent, *legs.verify, legs.publish))
    return replace(ending, cause=in_annotations(said) or of_no_report(run.conclusion, ending.reason, begun))


def _attributed(ending: Ending, legs: Legs, snapshot: Snapshot) -> Ending | frozenset[Lookup]:
    """With the name of the person who pressed "Cancel workflow": GitHub leaves it as an annotation of the cancelled job.

    It names an App by its slug alone, as it would a person, so it is a person whom the permission look-up knows as one who can
    cancel. Source: an annotation that Mergify recorded for its tests.
    """
    cancelled = [
        job for job in (legs.agent, *legs.verify, legs.publish) if job and job.conclusion == "cancelled"
    ]
    if not cancelled:
        return ending
    job = cancelled[0].id
    if job not in snapshot.annotations:
        return frozenset({AnnotationsOf(job)})
    names = [name for text in snapshot.annotations[job] if (name := cancelled_by(text))]
    if not names:
        return ending
    name = names[0]
    if name not in snapshot.permissions:
        return frozenset({Permission(name)})
    if rank(snapshot.permissions[name]) < rank(_CANCELS):
        return ending  # an App, or a workflow with the default token: its slug stands there without `[bot]`
    return replace(ending, outcome=Outcome.CANCELLED, reason=f"cancelled by {name}", by=name)


def cancelled_by(annotation: str) -> str:
    """Whom GitHub names in an annotation as having cancelled the job; empty in any other."""
    found = _CANCELLED_BY.fullmatch(annotation.strip())
    return found[1] if found else ""


def _minutes(job: Job | None) -> float:
    if job is None or job.started_at is None or job.completed_at is None:
        return 0.0
    return round((job.completed_at - job.started_at).total_seconds() / 60, 2)


def legs_of(task: int, jobs: tuple[Job, ...]) -> Legs:
    """The jobs of the leg that this task belongs to; a called workflow's job is named `<leg> / <job>`.

    Of a job that was run again the newest counts, but an agent's job that is run again is refused, and nothing that this attempt
    of the run made of it counts: what became of the work is told by the jobs before.
    """
    mine = _by_role(task, jobs)
    refused = refused_from(task, jobs)
    counts = {
        role: [job for job in found if not refused or job.attempt < refused] for role, found in mine.items()
    }
    verify = {job.name: job for job in counts.get("verify", ())}
    return Legs(_last(counts.get("agent")), tuple(verify.values()), _last(counts.get("publish")))


def refused_from(task: int, jobs: Sequence[Job]) -> int:
    """The attempt of the run in which its agent's job was run again; 0 if it never was. A copy of the first one is no second."""
    ran = [job for job in _by_role(task, jobs).get("agent", ()) if job.conclusion != "skipped"]
    again = [
        job.attempt for job in ran if job.attempt > ran[0].attempt and job.started_at != ran[0].started_at
    ]
    return min(again, default=0)


def _by_role(task: int, jobs: Sequence[Job]) -> dict[str, list[Job]]:
    """This leg's jobs of all attempts by role, oldest first."""
    mine: dict[str, list[Job]] = {}
    for job in sorted(jobs, key=lambda job: (job.attempt, job.id)):
        leg, slash, role = job.name.partition(" / ")
        if slash and f"#{task}" in leg.split():
            mine.setdefault(role.split(" ")[0], []).append(job)
    return mine


def _last(jobs: Sequence[Job] | None) -> Job | None:
    return jobs[-1] if jobs else None


def _report_artifacts(key: Key, run: Run, snapshot: Snapshot) -> list[Artifact]:
    mine = (artifact for artifact in snapshot.artifacts if artifact.run_id == run.id)
    return kept_as(report_name(str(key)), mine)


def _counting_report(key: Key, artifacts: list[Artifact], legs: Legs, snapshot: Snapshot) -> Report | None:
    """The newest report made after its own leg's publish job began; a refusal never replaces another report."""
    begun = legs.publish.started_at if legs.publish else None
    if begun is None:
        return None
    reports = [
        report
        for artifact in artifacts
        if artifact.created_at >= begun
        and (report := snapshot.reports[artifact.id]) is not None
        and report.key == str(key)
        and report.task == key.task
    ]
    serious = [report for report in reports if report.outcome is not Outcome.REFUSED]
    return next(iter(serious or reports), None)


def _with_report(report: Report, legs: Legs) -> Ending:
    if report.outcome is Outcome.PASSED and not _proven(legs):
        return Ending(
            Outcome.INFRA, "the report says passed, but its agent and verify jobs did not all succeed", report
        )
    return Ending(report.outcome, report.reason, report)


def _proven(legs: Legs) -> bool:
    """The agent succeeded, or was not part of this unit, and at least one verify job ran and all succeeded."""
    agent_fine = legs.agent is None or legs.agent.conclusion in ("success", "skipped")
    ran = [job for job in legs.verify if job.conclusion != "skipped"]
    if legs.agent is not None and legs.agent.conclusion == "skipped":
        return True  # work from an earlier run, proven there
    return agent_fine and bool(ran) and all(job.conclusion == "success" for job in ran)


def _without_report(run: Run, legs: Legs) -> Ending:
    """The table of spec 1 for a run that ended and left no report that counts."""
    agent = legs.agent.conclusion if legs.agent else None
    if agent == "timed_out":
        return Ending(Outcome.TIMEOUT, "the agent's job reached its time limit")
    if agent == "cancelled" or (agent is None and run.conclusion == "cancelled"):
        return Ending(Outcome.CANCELLED, "its run was cancelled")
    if agent != "success":
        return Ending(Outcome.INFRA, f"its run ended ({run.conclusion}) and left no report")
    verify = {job.conclusion for job in legs.verify}
    if "failure" in verify or "timed_out" in verify:
        return Ending(Outcome.FAILED, "verification failed, and its report is missing")
    if verify - {"success", "skipped"}:
        return Ending(Outcome.INFRA, "verification was interrupted")
    if "success" in verify:
        return Ending(Outcome.INFRA, "publishing was lost", republish=True)
    return Ending(Outcome.INFRA, "the agent's job succeeded, but its report is missing")


def merge_facts(record: Record, ending: Ending, now: datetime, config: Config) -> Attempt:
    """The newest attempt with what its ending says, under this configuration.

    How long it took is the longer of GitHub's word and the job's own.
    """
    attempt = record.attempts[-1]
    report = ending.report
    cause = ending.cause
    if cause is not None and cause.cause is Cause.PROVIDER and not cause.key:
        cause = replace(cause, key=attempt.engine or config.engine)
    ended = replace(
        attempt,
        outcome=ending.outcome,
        reason=ending.reason or _PLAIN_WORDS.get(ending.outcome, ""),
        ended_at=now,
        minutes=max(ending.minutes, report.minutes if report else 0.0),
        evidence=_evidence(record, ending),
        cause=cause,
        blob=config.blob if cause else "",
    )
    if report is None:
        return ended
    return replace(
        ended,
        head=report.head,
        pull=report.pull,
        engine=report.engine or attempt.engine,
        model=report.model or attempt.model,
        tokens=max(report.tokens, 0),
        usd=max(report.usd, 0.0),
        rounds=report.rounds,
        files=report.files_changed,
        gates=len(report.gates),
        gates_passed=sum(gate.status is GateStatus.PASSED for gate in report.gates),
        failure=report.failure,
        retry_after=report.retry_after,
        baseline=baseline_of(report),
    )


def _evidence(record: Record, ending: Ending) -> str:
    """What the attempt has changed, proved and asked, as a digest; empty where it came to no end of its own."""
    if ending.outcome in NO_FAULT or record.attempts[-1].kind is not Kind.CODE:
        return ""
    report = ending.report
    if report is not None and report.conflict:
        return CONFLICT
    gates = sorted(f"{named(gate.name)}={gate.status}" for gate in report.gates) if report else []
    asked = report.question.text if report and report.question else ""
    head = (report.head if report else "") or record.head
    return hashlib.sha256("\0".join((head, *gates, named(" ".join(asked.split())))).encode()).hexdigest()[:16]
