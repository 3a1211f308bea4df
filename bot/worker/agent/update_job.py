"""The first job of a unit of kind `update`: kept work brought up to date with the branches as they are now, to be proven anew.

No agent and no key. Where the sides contradict each other, the work stays where it is, and the next attempt begins with the
conflict.
"""

import time
from collections.abc import Callable

from msgspec.structs import replace

from bot.github.port import Reader
from bot.model.config import Config
from bot.model.errors import BotError
from bot.model.report import Outcome, Report
from bot.worker.agent.ownfiles import empty
from bot.worker.change.bundle import Unfit, read_bundle
from bot.worker.change.git import Git, GitCancelled, Remote
from bot.worker.change.hand_over import ALREADY_THERE, fetch_branch, hand_over, has_nothing_of_its_own
from bot.worker.change.judge import limits_of
from bot.worker.change.own_clone import open_own_clone
from bot.worker.change.starting_point import Start, choose_start, is_ours, own_branch
from bot.worker.job.artifact import Kept, WorkGone, download_earlier, save_report
from bot.worker.job.claim import Claim, Refusal, judge_claim, read_claim
from bot.worker.job.configuration import configuration_of
from bot.worker.job.context import JobContext
from bot.worker.job.worked import Worked
from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.redact import Redactor


def update(
    github: Reader, context: JobContext, cancellation: Cancellation, write: Callable[[str], object]
) -> Worked:
    """Bring what the unit names up to date and keep it in `place.out`; every end is a report there, as of an agent's job."""
    began = time.monotonic()
    empty(context.out)
    redactor = Redactor(context.secrets)
    report = Report(str(context.key), context.key.task, Outcome.INFRA, run_attempt=context.run_attempt)
    try:
        config = configuration_of(github, context.unit)
        claim = judge_claim(read_claim(github, context, config))
        if isinstance(claim, Refusal):
            worked = Worked(replace(report, outcome=Outcome.REFUSED, reason=claim.reason))
        else:
            worked = _update(github, context, config, claim, cancellation, redactor, report)
            write(f"cf: {worked.report.reason or f'brought up to date on {worked.report.base}'}\n")
    except GitCancelled:
        worked = Worked(replace(report, outcome=Outcome.CANCELLED, reason=cancellation.reason))
    except (BotError, OSError) as error:
        worked = Worked(replace(report, reason=redactor.text(str(error))))
    report = replace(worked.report, minutes=round((time.monotonic() - began) / 60, 2))
    save_report(context.out, report)
    return replace(worked, report=report)


def _update(
    github: Reader,
    context: JobContext,
    config: Config,
    claim: Claim,
    cancellation: Cancellation,
    redactor: Redactor,
    report: Report,
) -> Worked:
    clone, remote = open_own_clone(
        context.workspace, context.temp / "cf-clone.git", context.environ, cancellation
    )
    remote = replace(remote, token=context.token)
    try:
        kept = download_earlier(github, context.unit.earlier, empty(context.temp / "cf-earlier"))
        commit = read_bundle(clone, kept.bundle, context.key.task) if kept.bundle is not None else ""
    except (WorkGone, Unfit) as error:
        return Worked(_lost(report, str(error)))
    if not commit:
        return Worked(_lost(report, "the kept work holds no commit"))
    report = _as_told(report, kept)
    start = _start(clone, remote, context, claim, commit)
    report = replace(report, base=start.base, branch=start.branch, source=start.source)
    if start.conflicts:
        words = f"the kept work contradicts what is there by now, in {', '.join(start.conflicts[:10])}: the next attempt settles it"
        return Worked(replace(report, reason=words, conflict=True, head=""))
    if has_nothing_of_its_own(clone, start, start.point):
        return Worked(replace(report, outcome=Outcome.NO_CHANGES, reason=ALREADY_THERE, head=""))
    change = hand_over(
        clone, start, start.point, limits_of(config), redactor, context.unit.exceptions, context.out
    )
    done = replace(report, head=change.commit, files_changed=len(change.files))
    if findings := change.findings:
        held = replace(done, outcome=Outcome.HELD, reason=findings.words(), hold=findings.hold)
        return Worked(held, verify=not findings.secret and not findings.refused)
    return Worked(replace(done, outcome=Outcome.UNVERIFIED, reason="; ".join(start.notes)), verify=True)


def _lost(report: Report, words: str) -> Report:
    """Only an agent can make it anew, and it starts from what is there."""
    return replace(report, reason=f"{words.rstrip('.')}: only a new attempt can help", conflict=True)


def _as_told(report: Report, kept: Kept) -> Report:
    """With the words of whoever did the work; nothing of how publishing went before."""
    told = kept.published or kept.worked
    if told is None:
        return report
    return replace(report, message=told.message, left_behind=told.left_behind)


def _start(clone: Git, remote: Remote, context: JobContext, claim: Claim, commit: str) -> Start:
    """Where the work stands by now: on the branch with what people have added, and on the default branch."""
    source = Git(context.workspace / ".git", context.environ)
    base = source.text("rev-parse", "HEAD^{commit}")
    branch = own_branch(context.key, claim.record, claim.issue)
    head = fetch_branch(clone, remote, branch)
    ours = head is not None and is_ours(clone, head, base, claim.record, claim.issue, branch)
    return choose_start(clone, context.key, base, head, ours=ours, earlier=commit, branch=branch)
