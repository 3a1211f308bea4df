"""The first step of a job: is this attempt still the one that owns the task? Judged from facts, before any paid work.

Refusing is cheap and always safe: two conductors, a repeated event or a crash between two writes cost a refused job at
most.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from msgspec import Struct

from bot.github.port import Reader
from bot.model.config import WORKER_WORKFLOW, Config
from bot.model.errors import NotFound
from bot.model.issue import GHOST, Account, Issue, NeedState
from bot.model.record import Record
from bot.model.ref import Ref
from bot.model.run import Job, Run
from bot.model.unit import Unit
from bot.notation.digests import text_digest
from bot.notation.keys import Key, keys_in
from bot.notation.needs import read_needs
from bot.notation.records import read_record
from bot.notation.reports import kept_as, report_name
from bot.plan.facts.trust import edits_of, edits_since, rank, sees_all_since
from bot.plan.facts.who_conducts import is_named
from bot.plan.starts.waiting import OFF
from bot.worker.job.context import JobContext

_CLOCKS = timedelta(minutes=15)  # how far the conductor's clock and GitHub's may be apart


class ClaimFacts(Struct, frozen=True):
    """What the judgement rests on. `owner` is the run that the key belongs to, `outsiders` who edited the text without permission.

    `unmet` are needs with the reason each is not satisfied; `reported` says that a report of this key exists.
    """

    key: Key
    record: Record | None
    issue: Issue
    digest: str
    outsiders: tuple[str, ...]
    owner: int
    run_id: int
    run_attempt: int
    reported: bool
    unmet: tuple[str, ...]
    legs: int = 1  # how many units share this run
    prefix: str = "cf"


class Claim(Struct, frozen=True):
    """The task is ours: its text as it stands now, and its record."""

    issue: Issue
    record: Record


class Refusal(Struct, frozen=True):
    reason: str


def judge_claim(facts: ClaimFacts) -> Claim | Refusal:
    """Say whether this job may start its agent, or why not."""
    key, record = facts.key, facts.record
    if facts.run_attempt > 1:
        return Refusal(
            f"an agent job cannot be run again: `/{facts.prefix} retry` in a comment on the issue starts a new attempt"
        )
    if refusal := still_wanted(facts.issue.is_open, record, key):
        return refusal
    assert record is not None
    assert record.live is not None
    if facts.reported:
        return Refusal(f"{key} has reported already")
    if facts.owner != facts.run_id:
        return Refusal(f"{key} belongs to run {facts.owner}")
    if facts.digest not in _approved(record) and (facts.outsiders or not _edited(facts.issue, record)):
        return Refusal(_changed_by(facts.outsiders))
    if facts.unmet:
        return Refusal(f"waiting for {'; '.join(facts.unmet)}")
    return Claim(facts.issue, record)


def still_wanted(is_open: bool, record: Record | None, key: Key) -> Refusal | None:
    """Why this attempt is not wanted any more, or None: asked before the start, while it runs, and again before publishing."""
    if not is_open:
        return Refusal(f"#{key.task} is closed")
    if record is None:
        return Refusal(f"#{key.task} has no record that names {key}")
    live = record.live
    if live is None:
        return Refusal(f"{key} is not the current attempt of #{key.task}: it has none")
    if live.number != key.number:
        return Refusal(
            f"{key} is not the current attempt of #{key.task}: that is {Key(key.task, live.number)}"
        )
    if live.cancelled_for:
        return Refusal(f"{key} was cancelled: {live.cancelled_for}")
    return None


def unapproved(
    github: Reader, issue: Issue, record: Record, config: Config, accounts: Collection[int]
) -> str:
    """Why nobody stands for the task as it is now; empty if somebody does: also people who may order have only changed its text."""
    if record.approval is None:
        return f"#{issue.number} is not approved any more"
    digest = text_digest(issue.title, issue.body)
    outsiders = _outsiders(github, issue, record, digest, config, accounts)
    if digest in _approved(record) or (_edited(issue, record) and not outsiders):
        return ""
    return _changed_by(outsiders)


def _changed_by(outsiders: Collection[str]) -> str:
    return f"title or body was changed by {', '.join(outsiders) or 'somebody unknown'} after it was approved"


def _approved(record: Record) -> frozenset[str]:
    approval = record.approval.digest if record.approval else ""
    claimed = record.live.digest if record.live else ""
    return frozenset({approval, claimed} - {""})


def _edited(issue: Issue, record: Record) -> bool:
    """Whether the history explains that the text is another one now."""
    approval = record.approval
    seen = approval is None or sees_all_since(approval.at, issue.events)
    return seen and bool(_editors(issue, record))


def _editors(issue: Issue, record: Record) -> tuple[Account, ...]:
    """Who changed title or body since the order, each once."""
    approval = record.approval
    found = edits_since(approval, issue.events) if approval else edits_of(issue.events)
    return tuple(dict.fromkeys(event.actor for event in found))


def read_claim(github: Reader, context: JobContext, config: Config) -> ClaimFacts:
    """Look everything up afresh. Raises NotFound if the issue is gone."""
    issue = github.issue(context.unit.lead)
    record = read_own_record(github, context.unit, issue)
    owner, reported, legs = _owner(
        github, context, record.live.claimed_at if record and record.live else None
    )
    digest = text_digest(issue.title, issue.body)
    return ClaimFacts(
        key=context.key,
        record=record,
        issue=issue,
        digest=digest,
        outsiders=_outsiders(github, issue, record, digest, config, context.unit.accounts),
        owner=owner,
        run_id=context.run_id,
        run_attempt=context.run_attempt,
        reported=reported,
        unmet=_unmet(github, issue, record, context, config),
        legs=legs,
        prefix=config.prefix,
    )


def read_own_record(github: Reader, unit: Unit, issue: Issue | None = None) -> Record | None:
    """The record of the unit's first task, from the comment that the unit names. Raises Unreadable.

    Where the issue was read just now and shows that comment, nothing more is asked. Where two conductors had each written a status
    comment, the named one may have been folded since: then the one that stands counts.
    """
    number = unit.comments[0]
    shown = next((one for one in (issue.comments if issue else ()) if one.id == number), None)
    try:
        named = shown or github.comment(number)
    except NotFound:
        return None
    record = read_record(named, unit.lead, unit.accounts)
    if record is not None or named.author.id not in unit.accounts:
        return record
    return _standing_record(issue or github.issue(unit.lead), unit)


def _standing_record(issue: Issue, unit: Unit) -> Record | None:
    found = (read_record(comment, unit.lead, unit.accounts) for comment in issue.comments)
    return next((record for record in found if record is not None), None)


def may_order(github: Reader, account: Account, config: Config) -> bool:
    """Whether this account's words count here: a person with the permission that the configuration asks for."""
    ignored = any(account.login.casefold() == name.casefold() for name in config.trust.ignore)
    if account == GHOST or account.is_bot or ignored or is_named(account, config.conductor):
        return False
    return rank(github.permission(account.login)) >= rank(config.trust.permission)


def _outsiders(
    github: Reader,
    issue: Issue,
    record: Record | None,
    digest: str,
    config: Config,
    accounts: Collection[int],
) -> tuple[str, ...]:
    if record is None or digest in _approved(record):
        return ()
    editors = (account for account in _editors(issue, record) if account.id not in accounts)
    return tuple(account.login for account in editors if not may_order(github, account, config))


def belongs_to(github: Reader, context: JobContext, claimed_at: datetime) -> Refusal | None:
    """Why this run may not work on its key although that is current, or None: another run has it, or it has been reported."""
    owner, reported, _ = _owner(github, context, claimed_at)
    if reported:
        return Refusal(f"{context.key} has reported already")
    return Refusal(f"{context.key} belongs to run {owner}") if owner != context.run_id else None


def _owner(github: Reader, context: JobContext, claimed_at: datetime | None) -> tuple[int, bool, int]:
    """The run that the key belongs to, whether it has reported, and how many legs our own run has.

    It is the lowest run carrying the key whose agent job started or still may.
    """
    since = claimed_at - _CLOCKS if claimed_at is not None else None
    carrying = [run for run in github.runs(WORKER_WORKFLOW, since) if context.key in keys_in(run.title)]
    earlier = sorted((run for run in carrying if run.id < context.run_id), key=lambda run: run.id)
    owner = next((run.id for run in earlier if _started_or_may(github, run, context.key)), context.run_id)
    reported = bool(kept_as(report_name(str(context.key)), github.artifacts(owner)))
    legs = next((len(keys_in(run.title)) for run in carrying if run.id == context.run_id), 1)
    return owner, reported, legs


def _started_or_may(github: Reader, run: Run, key: Key) -> bool:
    agents = [job for job in github.jobs(run.id) if _is_agent_of(job, key)]
    if any(job.started_at is not None and job.conclusion != "skipped" for job in agents):
        return True
    return not run.ended


def _is_agent_of(job: Job, key: Key) -> bool:
    """A called workflow's job is named `<leg> / agent`, and the leg lists its tasks: `#12 #13`."""
    leg, _, name = job.name.rpartition(" / ")
    return name == "agent" and (f"#{key.task}" in leg.split() or not leg)


def _unmet(
    github: Reader, issue: Issue, record: Record | None, context: JobContext, config: Config
) -> tuple[str, ...]:
    needs = read_needs(issue.body, context.repository, config.dependencies.keywords, context.server)
    refs = tuple(
        ref for ref in needs.refs(context.repository) if ref != Ref(context.repository, issue.number)
    )
    own = {Ref(context.repository, need) for need in record.own_needs} - {*refs} if record else set()
    found = dict(github.needs(sorted({*refs, *own}))) if refs or own else {}
    states = [(str(ref), found.get(ref, NeedState.UNKNOWN)) for ref in refs]
    states += [
        (str(ref), state) for ref in sorted(own) if (state := found.get(ref, NeedState.UNKNOWN)) not in OFF
    ]
    edges, hidden = config.dependencies.relations(issue)
    ours = (
        own if config.dependencies.sync == "native" else ()
    )  # what we wrote ourselves ends as our own edges do
    states += [
        (str(edge.ref or "a blocker that this token cannot see"), edge.state)
        for edge in edges
        if not (edge.ref in ours and edge.state in OFF)
    ]
    states += [("a blocker that this token cannot see", NeedState.UNREADABLE)] * hidden
    return tuple(dict.fromkeys(f"{name} ({state})" for name, state in states if not state.satisfied))
