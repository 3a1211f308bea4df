"""What a plan still wants to know, asked of GitHub and, where it is allowed, of a model."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from bot.conductor.observe.advisor import Advise, Advisor, no_advice
from bot.github.archives import read_member
from bot.github.port import Reader
from bot.model.advice import Brief, Proposal
from bot.model.errors import CannotGoOn, NotFound, Refused
from bot.model.issue import NeedState
from bot.model.ref import Ref
from bot.model.report import Report
from bot.model.snapshot import (
    AnnotationsOf,
    Classify,
    InferNeeds,
    JobsOf,
    Lookup,
    NeedOf,
    Permission,
    ReportIn,
    Snapshot,
)
from bot.notation.codec import Unreadable
from bot.notation.reports import REPORT_FILE, read_report

_BRIEF = 1_000  # characters of a description that a model reads to infer needs


_REPORT_MOST = 2_000_000  # bytes of an unpacked report; a report is a few kilobytes


def look_up(
    github: Reader, snapshot: Snapshot, wants: Iterable[Lookup], advise: Advise = no_advice
) -> Snapshot:
    """The snapshot with what a plan still wanted to know; `advise` is called only if a model is to be asked."""
    wanted = sorted(wants, key=repr)
    refs = [want.ref for want in wanted if isinstance(want, NeedOf)]
    permissions = dict(snapshot.permissions)
    jobs, annotations, reports = dict(snapshot.jobs), dict(snapshot.annotations), dict(snapshot.reports)
    verdicts, proposals = dict(snapshot.verdicts), dict(snapshot.proposals)
    asked = any(isinstance(want, Classify | InferNeeds) for want in wanted)
    advisor = advise(snapshot.config) if asked else None
    too_large = {artifact.id for artifact in snapshot.artifacts if artifact.size > _REPORT_MOST}
    for want in wanted:
        match want:
            case Permission(login):
                permissions[login] = _permission(github, login)
            case JobsOf(run):
                jobs[run] = github.jobs(run)
            case AnnotationsOf(job):
                annotations[job] = _annotations(github, job)
            case ReportIn(artifact):
                reports[artifact] = read_artifact(github, artifact) if artifact not in too_large else None
            case Classify(question) if advisor is not None:
                verdicts[question] = advisor.classify(question)
            case InferNeeds(numbers) if advisor is not None:
                proposals[numbers] = _proposal(advisor, snapshot, numbers)
            case _:
                pass  # needs are read together, below
    needs: Mapping[Ref, NeedState] = {**snapshot.needs, **(github.needs(refs) if refs else {})}
    return replace(
        snapshot,
        permissions=permissions,
        jobs=jobs,
        annotations=annotations,
        reports=reports,
        needs=needs,
        verdicts=verdicts,
        proposals=proposals,
    )


def _permission(github: Reader, login: str) -> str:
    """Raises CannotGoOn where GitHub does not tell this token: then nobody's order can be judged, and a guess would be a lie."""
    try:
        return github.permission(login)
    except (CannotGoOn, Refused) as error:
        raise CannotGoOn(
            f"whether {login} may order work here cannot be known with this token: GitHub tells that only to those who may push"
            f" ({error})"
        ) from error


def _annotations(github: Reader, job: int) -> tuple[str, ...]:
    """None where they cannot be had: then nobody knows who cancelled it, and it is an interruption."""
    try:
        return github.annotations(job)
    except (NotFound, Refused, CannotGoOn):
        return ()


def _proposal(advisor: Advisor, snapshot: Snapshot, numbers: Sequence[int]) -> Proposal:
    from bot.notation.sanitise import sanitise  # its patterns take long to compile

    issues = [snapshot.tasks[number].issue for number in numbers if number in snapshot.tasks]
    return advisor.infer(
        [Brief(issue.number, issue.title[:200], sanitise(issue.body)[:_BRIEF]) for issue in issues]
    )


def read_artifact(github: Reader, artifact_id: int) -> Report | None:
    """The report inside an artifact; None if it is not a readable one, which is then as good as missing."""
    try:
        text = read_member(github.download(artifact_id), REPORT_FILE, _REPORT_MOST)
        return read_report(text) if text is not None else None
    except (NotFound, Unreadable):
        return None
