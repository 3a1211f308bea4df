"""The one table of causes: what stands in the way of more than one task, what shows it, whom it holds, what tries it again.

Evidence is what GitHub says (an answer, an annotation, the end of a run) or what a report of ours says. Only an end without a
strike has a cause. Where a provider or GitHub names it, the first end counts for all; a guess needs a second task.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from bot.model.cause import Cause, Met
from bot.model.config import CONFIG_PATH, WORKER_WORKFLOW
from bot.model.errors import BotError, NotPermitted, OverLimit, Refused, WorkflowMissing
from bot.model.record import Attempt
from bot.model.report import INTERRUPTIONS, NO_FAULT, Outcome, Report
from bot.model.unit import Kind
from bot.notation.digests import named

WAITS = (timedelta(minutes=15), timedelta(hours=1), timedelta(hours=6), timedelta(hours=24))
"""After the first, second and third meeting, and after each further one."""

TOGETHER = timedelta(hours=1)
"""A guess counts for all once a second task has met the same within this time."""

QUEUED_LONG = timedelta(hours=1)
"""A run that has waited for a runner for so long is told, and holds others that want the same."""


class Scope(StrEnum):
    """How far a cause reaches."""

    REPOSITORY = "the repository"
    RUNNER = "a runner label"
    SETUP = "a set-up, by its digest"
    ENGINE = "an engine"


class Past(StrEnum):
    """What shows that an attempt came past the place where the cause is met."""

    DISPATCHED = "its run exists"
    BEGUN = "its first job began"
    REPORTED = "it ended with a report"
    WORKED = "its agent worked"
    PROVEN = "its gates had their say"
    PUBLISHED = "its pull request stands"


class Row(Struct, frozen=True):
    """One cause. `kinds` are the units that meet it; `title` says it to people, with `{key}`, and `mend` what they can do.

    `evidence`, `probe`: what shows it and what tries it again, for the page that explains it.
    """

    scope: Scope
    kinds: frozenset[Kind]
    past: Past
    title: str
    mend: str
    evidence: str
    probe: str
    guessed: bool = False


_ALL = frozenset({Kind.CODE, Kind.UPDATE, Kind.PUBLISH, Kind.GATE})
_AGENTS = frozenset({Kind.CODE})
_PUBLISHING = frozenset({Kind.CODE, Kind.UPDATE, Kind.PUBLISH})
_DISPATCH = "one claim, taken back if GitHub refuses it"
_PUBLISH = "publishing kept work; without any, one task"
_TASK = "one task"

ROWS: Mapping[Cause, Row] = {
    Cause.PERMISSION: Row(
        Scope.REPOSITORY,
        _ALL,
        Past.DISPATCHED,
        "the token lacks the permission {key}",
        "Grant it: `permissions` of the job in the conductor's workflow, or the App's settings.",
        "403 to a dispatch, in GitHub's words for a missing permission",
        _DISPATCH,
    ),
    Cause.WORKFLOW: Row(
        Scope.REPOSITORY,
        _ALL,
        Past.DISPATCHED,
        "the worker's workflow cannot be started",
        f"Look at `.github/workflows/{WORKER_WORKFLOW}`: it must be on the default branch, be switched on (Actions tab), and be the"
        " one that `cf init` installs.",
        "404 or 422 to a dispatch: missing, switched off, or with other inputs",
        _DISPATCH,
    ),
    Cause.POLICY: Row(
        Scope.REPOSITORY,
        _ALL,
        Past.BEGUN,
        "GitHub lets no job of the worker begin",
        "Look at Settings > Actions > General, at the Actions policies of repository and organisation, and at the run itself: an"
        " invalid workflow file ends like this, too.",
        "a dispatch refused because Actions are off or the event is not allowed; a run that ends as `startup_failure` or"
        " `action_required`",
        _TASK,
        guessed=True,
    ),
    Cause.MINUTES: Row(
        Scope.REPOSITORY,
        _ALL,
        Past.BEGUN,
        "GitHub starts no job: payments or the spending limit",
        "Look at Billing & plans of the repository's owner.",
        "the annotation `The job was not started because recent account payments have failed or your spending limit ...`",
        _PUBLISH,
    ),
    Cause.STORAGE: Row(
        Scope.REPOSITORY,
        _ALL,
        Past.REPORTED,
        "the storage for artifacts is full",
        "Delete artifacts or raise the budget for storage; GitHub counts anew every 6 to 12 hours.",
        "the annotation `Artifact storage quota has been hit`",
        _PUBLISH,
    ),
    Cause.RUNNER: Row(
        Scope.RUNNER,
        _AGENTS,
        Past.BEGUN,
        "no machine takes the runner {key}",
        f"Start a runner with this label, or correct `runner` in `{CONFIG_PATH}`.",
        "a run that has been queued for an hour",
        "nothing: the queued run itself begins as soon as a machine comes",
    ),
    Cause.REGISTRY: Row(
        Scope.REPOSITORY,
        _AGENTS,
        Past.WORKED,
        "packages or actions cannot be fetched",
        "Look whether the registry is up, and reachable from the runner.",
        "an annotation that an action cannot be downloaded; a failed set-up that names a registry or a host that does not answer",
        _TASK,
        guessed=True,
    ),
    Cause.SETUP: Row(
        Scope.SETUP,
        _AGENTS,
        Past.PROVEN,
        "the set-up does not run",
        f"Correct `setup`, the gates or the agent's command in `{CONFIG_PATH}`; a new configuration is tried at once.",
        "a report of a set-up that failed, or of a command that is not there (exit 126 or 127)",
        _TASK,
        guessed=True,
    ),
    Cause.PUSH_RULE: Row(
        Scope.REPOSITORY,
        _PUBLISHING,
        Past.PUBLISHED,
        "GitHub refuses every push",
        "Let branches `cf/*` pass the rules about commits and branch names (Settings > Rules), or let the account that publishes"
        " bypass them; `cf doctor` lists what would refuse a push.",
        "GH013 or GH006 with a sentence about commits, their signatures or messages, branch names or refs; 403 to the push",
        _PUBLISH,
    ),
    Cause.PULLS: Row(
        Scope.REPOSITORY,
        _PUBLISHING,
        Past.PUBLISHED,
        "the account that publishes may open no pull request",
        "Settings > Actions > General > Allow GitHub Actions to create and approve pull requests; or publish as a GitHub App.",
        "403 to opening a pull request",
        _PUBLISH,
    ),
    Cause.LIMIT: Row(
        Scope.REPOSITORY,
        _ALL,
        Past.DISPATCHED,
        "GitHub's limit is reached",
        "Nothing to do: it is tried again.",
        "a dispatch refused by a rate limit",
        _DISPATCH,
    ),
    Cause.PROVIDER: Row(
        Scope.ENGINE,
        _AGENTS,
        Past.WORKED,
        "{key} takes no work",
        "Nothing to do: its tasks go on by themselves.",
        "an attempt that ended as `capacity`",
        "every task of the engine, at the provider's time, else after a doubling back-off",
    ),
    Cause.MACHINE: Row(
        Scope.REPOSITORY,
        _AGENTS,
        Past.REPORTED,
        "runs end without a report",
        "Look at the run: its log says what became of its jobs.",
        "the same end without a report, and without any word why, of two tasks within an hour",
        _TASK,
        guessed=True,
    ),
}

_ANNOTATIONS: tuple[tuple[str, Cause], ...] = (
    (r"The job was not started because .*(?:payments|spending limit|billing)", Cause.MINUTES),
    (r"Artifact storage quota has been hit", Cause.STORAGE),
    (r"is not allowed to trigger Actions workflows|actions? .{0,200} (?:is|are) not allowed", Cause.POLICY),
    (r"(?:Failed to download|Unable to resolve) action|Failed to resolve action download", Cause.REGISTRY),
)
_OFF = re.compile(r"not allowed to trigger|Actions? (?:has|have|is|are) (?:been )?disabled", re.IGNORECASE)
# What package managers say of a registry or a host that does not answer.
_DEAD = re.compile(
    r"could not resolve (?:host|proxy)|name or service not known|temporary failure in name resolution|getaddrinfo|ENOTFOUND"
    r"|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ECONNRESET|connection (?:refused|timed out|reset)|failed to (?:fetch|download)"
    r"|network is unreachable|dns error|\b50[234]\b.{0,40}(?:bad gateway|service|gateway|error)|no matching distribution found"
    r"|tls handshake",
    re.IGNORECASE,
)
_FROM_REPORTS = frozenset(
    {Cause.SETUP, Cause.REGISTRY, Cause.PROVIDER, Cause.PUSH_RULE, Cause.PULLS, Cause.STORAGE, Cause.LIMIT}
)
_WORDS = 500  # characters kept of what was said
_KEY = 80


def in_annotations(texts: Iterable[str]) -> Met | None:
    """The cause that GitHub names in what it noted on a job."""
    for text in texts:
        for pattern, cause in _ANNOTATIONS:
            if re.search(pattern, text, re.IGNORECASE):
                return Met(cause, words=text[:_WORDS])
    return None


def of_refused_dispatch(error: BotError) -> Met | None:
    """Why GitHub would not start a run. It is never the task's doing. None: this error says nothing about a dispatch."""
    words = str(error)[:_WORDS]
    match error:
        case NotPermitted(needed=needed):
            return Met(Cause.PERMISSION, needed or "actions: write", words)
        case WorkflowMissing():
            return Met(Cause.WORKFLOW, words=words)
        case OverLimit():
            return Met(Cause.LIMIT, words=words)
        case Refused():
            return Met(Cause.POLICY if _OFF.search(words) else Cause.WORKFLOW, words=words)
    return None


def of_report(report: Report) -> Met | None:
    """What a report says that its attempt met (a provider without a name: that of its engine).

    It comes from a job that may have been tricked, so most of it is a guess.
    """
    if report.outcome is Outcome.CAPACITY:
        return Met(Cause.PROVIDER, report.engine, report.reason[:_WORDS])
    if report.outcome not in INTERRUPTIONS | {Outcome.HELD}:
        return None
    met = report.cause
    if met is not None and met.cause in _FROM_REPORTS:
        return replace(
            met, key=met.key[:_KEY], words=met.words[:_WORDS], guessed=met.guessed or ROWS[met.cause].guessed
        )
    if report.outcome is not Outcome.INFRA or not report.failure:
        return None
    dead = bool(_DEAD.search(report.reason))
    return Met(
        Cause.REGISTRY if dead else Cause.SETUP,
        "" if dead else report.failure,
        report.reason[:_WORDS],
        guessed=True,
    )


def of_no_report(conclusion: str | None, reason: str, begun: bool) -> Met:
    """What a run has met that ended without a report; `begun` says that at least one of its jobs did."""
    if conclusion in ("startup_failure", "action_required") and not begun:
        return Met(Cause.POLICY, words=f"its run ended as {conclusion}, before any job began", guessed=True)
    return Met(Cause.MACHINE, named(reason), reason[:_WORDS], guessed=True)


def came_past(attempt: Attempt, met: Met, begun: bool) -> bool:
    """Whether this attempt shows that the cause is gone. `begun`: it runs, and a job of it began."""
    row = ROWS[met.cause]
    if attempt.kind not in row.kinds or (attempt.cause is not None and _same(attempt.cause, met)):
        return False
    match row.past:
        case Past.DISPATCHED:
            return bool(attempt.run)
        case Past.BEGUN:
            return begun or (attempt.outcome is not None and attempt.outcome not in INTERRUPTIONS)
        case Past.REPORTED:
            return attempt.outcome is not None and attempt.outcome not in INTERRUPTIONS
        case Past.WORKED:
            return attempt.outcome is not None and attempt.outcome not in NO_FAULT
        case Past.PROVEN:
            return attempt.outcome in (Outcome.PASSED, Outcome.UNVERIFIED, Outcome.FAILED)
        case Past.PUBLISHED:
            return attempt.outcome in (Outcome.PASSED, Outcome.UNVERIFIED)


def _same(one: Met, other: Met) -> bool:
    return (one.cause, one.key) == (other.cause, other.key)


def title_of(met: Met) -> str:
    """The cause in a few plain words."""
    return ROWS[met.cause].title.format(key=met.key)
