"""What there is to publish: a change that may go out, with the gates that proved it, or the report that says why there is none.

Whether it is proven is the platform's word, never a file's: jobs ran and succeeded on the commit that the agent's job named, or on
an artifact that was there before they began.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bot.github.port import Reader
from bot.model.cause import Cause, Met
from bot.model.config import Config
from bot.model.errors import NotFound
from bot.model.report import GateResult, GateStatus, Hold, Outcome, Report
from bot.model.run import Artifact, Job
from bot.notation.codec import Unreadable
from bot.notation.digests import commands_digest
from bot.notation.fingerprints import failure_fingerprint
from bot.notation.keys import keys_in, read_key
from bot.plan.attempts.ending import legs_of
from bot.worker.change.bundle import Unfit
from bot.worker.change.git import Git
from bot.worker.change.hand_over import ALREADY_THERE
from bot.worker.job.artifact import WorkGone, download_earlier, find_bundle, find_report
from bot.worker.job.context import JobContext
from bot.worker.programs.gates import SET_UP, all_passed, not_runnable
from bot.worker.publish.outcome import Judgement, Results, judge_results
from bot.worker.verify import NOTHING_LEFT, OLD_WORKFLOW, read_results, take_bundle

_CAUSE = 500  # characters of a cause's words
_ONLY_ANEW = "only a new attempt can help"


class Proven(Struct, frozen=True):
    """A change that may be published: the report so far, its commit (it is in the repository), and the gates that passed on it."""

    report: Report
    commit: str
    gates: tuple[GateResult, ...]

    @property
    def verified(self) -> bool:
        return all_passed(self.gates)


def offer_of_jobs(git: Git, context: JobContext, config: Config) -> Proven | Report:
    """What the jobs before this one have left."""
    key = str(context.key)
    try:
        work = find_report(context.out, key)
    except Unreadable:
        work = None
    bundle = find_bundle(context.out, key)
    results = Results(
        agent=context.environ.get("CF_AGENT_RESULT", ""),
        verify=context.environ.get("CF_VERIFY_RESULT", ""),
        legs=bool(context.unit.verify),
        work=work,
        change=bundle is not None,
    )
    base = work or Report(key, context.key.task, Outcome.INFRA)
    hold = base.hold if base.outcome is Outcome.HELD else None
    base = replace(_unpublished(base), task=context.key.task, hold=hold)
    judgement = judge_results(results)
    if bundle is None or (judgement.outcome is not None and judgement.outcome is not Outcome.FAILED):
        conflict = work is not None and work.conflict and judgement.outcome is Outcome.INFRA
        return replace(_without_change(context, base, judgement, config), conflict=conflict)
    try:
        commit = take_bundle(git, context, bundle)
    except Unfit as error:
        return _unfit(base, str(error))
    if judgement.outcome is not None:
        return _without_change(context, base, judgement, config)
    if not context.commit:
        words = OLD_WORKFLOW if context.commit is None else "the agent's job did not say which commit it made"
        return replace(base, outcome=Outcome.INFRA, reason=words)
    if commit != context.commit:
        return _unfit(base, "the kept work is not what the agent's job made and the gates saw")
    base = replace(base, hold=None)
    gates = _gates_passed(context) if judgement.verified else ()
    return Proven(replace(base, gates=gates), commit, gates)


def proof_of(proven: Proven | Report) -> Report:
    """Of a unit of kind `gate`: nothing is published, only said. It has passed if every gate has on what was joined."""
    if isinstance(proven, Proven):
        if not proven.verified:
            return replace(proven.report, outcome=Outcome.INFRA, reason="no gate was there to prove anything")
        return replace(proven.report, outcome=Outcome.PASSED, reason="", branch="")
    return proven


def _without_change(context: JobContext, base: Report, judgement: Judgement, config: Config) -> Report:
    outcome, reason = judgement.outcome or Outcome.INFRA, judgement.reason
    question = base.question if outcome is Outcome.BLOCKED else None
    gates = base.gates
    if outcome is Outcome.FAILED and (legs := read_results(context.verify_out)):
        gates = tuple(gate for leg in legs for gate in leg.gates)
        failed = [(gate.name, gate.tail) for gate in gates if gate.status is not GateStatus.PASSED]
        base = replace(base, failure=failure_fingerprint(failed) or base.failure)
        names = {name for name, _ in failed}
        green = _green_before(base)
        words = not_runnable(gates, green)
        if names == {NOTHING_LEFT}:
            return replace(base, outcome=Outcome.NO_CHANGES, reason=ALREADY_THERE, question=None)
        if names == {SET_UP}:  # no gate had its say
            outcome, reason = Outcome.INFRA, failed[0][1]
            base = replace(base, failure=failure_fingerprint(failed[:1]))
        elif words:
            outcome, reason = Outcome.INFRA, words
            base = replace(base, failure=failure_fingerprint([(SET_UP, words)]))
        if outcome is Outcome.INFRA and words:
            key = commands_digest(config, context.unit.runner, context.unit.engine)
            base = replace(base, cause=Met(Cause.SETUP, key, reason[-_CAUSE:]))
    return replace(base, outcome=outcome, reason=reason, question=question, gates=gates)


def _green_before(work: Report) -> frozenset[str]:
    """The gates that ran on the untouched default branch in this attempt: where they cannot run now, the change is to blame."""
    measured = work.baseline
    return frozenset(gate.name for gate in measured.gates) - {*measured.red} if measured else frozenset()


def _gates_passed(context: JobContext) -> tuple[GateResult, ...]:
    """The verify job succeeded, so each gate that the conductor named has passed; how long it took is the legs' word."""
    seconds = {
        (leg.leg, gate.name): gate.seconds for leg in read_results(context.verify_out) for gate in leg.gates
    }
    several = len(context.unit.verify) > 1
    return tuple(
        GateResult(
            f"{name} ({leg.os})" if several else name, GateStatus.PASSED, seconds.get((leg.name, name), 0.0)
        )
        for leg in context.unit.verify
        for name in leg.gates
    )


def earlier_offer(github: Reader, git: Git, context: JobContext, folder: Path) -> Proven | Report:
    """Work of an earlier attempt, downloaded to `folder`."""
    base = Report(str(context.key), context.key.task, Outcome.HELD, hold=Hold.EXPIRED)
    try:
        kept = download_earlier(github, context.unit.earlier, folder)
        if kept.bundle is None:
            return replace(
                base, reason=f"the kept work holds no commit that could be published: {_ONLY_ANEW}"
            )
        commit = take_bundle(git, context, kept.bundle)
    except WorkGone as error:
        return replace(base, reason=f"{error}: {_ONLY_ANEW}")
    except Unfit as error:
        return _unfit(base, str(error))
    if (told := kept.published or kept.worked) is not None:
        base = replace(_unpublished(told), key=base.key, task=base.task, question=None)
    gates = _proof(github, context, kept.artifact)
    return Proven(replace(base, gates=gates, hold=None), commit, gates)


def _unpublished(report: Report) -> Report:
    """Without what only this job can know."""
    return replace(report, pull=0, merged=False, conflict=False, unmerged=False, protected=(), hold=None)


def _unfit(report: Report, words: str) -> Report:
    return replace(
        report, outcome=Outcome.HELD, hold=Hold.UNFIT, reason=f"{words}: {_ONLY_ANEW}", head="", gates=()
    )


def _proof(github: Reader, context: JobContext, work: Artifact) -> tuple[GateResult, ...]:
    """The verify jobs of an earlier run, if all of them succeeded on this very artifact.

    The name of an artifact proves nothing: a job that runs the change might have put another in its place. So it must have been
    made by the agent's job of the run that carries its key, before any verify job began.
    """
    run_id, _, name = context.unit.earlier.partition("/")
    key = read_key(name)
    try:
        run = github.run(int(run_id))
        jobs = github.jobs(run.id)
    except NotFound:
        return ()
    if key is None or key.task != context.key.task or key not in keys_in(run.title):
        return ()
    legs = legs_of(key.task, jobs)
    agent, verify = legs.agent, legs.verify
    if agent is None or {job.conclusion for job in (agent, *verify)} != {"success"} or not verify:
        return ()
    if not _made_between(work, agent, verify):
        return ()
    return tuple(GateResult(_leg_name(job), GateStatus.PASSED, _seconds(job)) for job in verify)


def _made_between(work: Artifact, agent: Job, verify: Sequence[Job]) -> bool:
    begun = [job.started_at for job in verify if job.started_at is not None]
    if agent.started_at is None or len(begun) != len(verify):
        return False
    after: datetime = agent.started_at
    return after <= work.created_at <= min(begun)


def _leg_name(job: Job) -> str:
    """`#12 / verify (ubuntu-latest)` is the leg `ubuntu-latest`."""
    return job.name.partition(" / ")[2].removeprefix("verify").strip().removeprefix("(").removesuffix(")")


def _seconds(job: Job) -> float:
    if job.started_at is None or job.completed_at is None:
        return 0.0
    return (job.completed_at - job.started_at).total_seconds()
