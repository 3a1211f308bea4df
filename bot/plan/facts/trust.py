"""Who may order work, and whether an order still stands for the text that would be used."""

from datetime import datetime

from msgspec import Struct

from bot.model.issue import EDITS_SEEN, EVENTS_SEEN, GHOST, Account, EventKind, TimelineEvent
from bot.model.record import Approval, Record
from bot.model.snapshot import Permission, Snapshot
from bot.model.task import Task
from bot.notation.digests import digest_of
from bot.plan.facts.who_conducts import is_named

_EDITS = (EventKind.EDITED, EventKind.RENAMED)
_RANKS = ("none", "read", "triage", "write", "maintain", "admin")


class Unapproved(Struct, frozen=True):
    """No order stands. `changed_at`: one stood until somebody without permission edited the text, at that time."""

    reason: str
    changed_at: datetime | None = None


class Unknown(Struct, frozen=True):
    """It depends on permissions that were not looked up yet."""

    wants: frozenset[Permission]


def is_person(account: Account, snapshot: Snapshot) -> bool:
    """Whether somebody is behind the account: not one of ours, no bot, not deleted, and not named in `trust.ignore`.

    A person's account that conducts is ours: it orders, answers and approves nothing.
    """
    ours = account.id in snapshot.accounts or is_named(account, snapshot.config.conductor)
    return not (ours or account.is_bot or account == GHOST or _named(account, snapshot.config.trust.ignore))


def may_order(account: Account, snapshot: Snapshot) -> bool | Unknown:
    """Whether this account's labels, commands, answers and edits count: those of people with permission do."""
    trust = snapshot.config.trust
    if not is_person(account, snapshot):
        return False
    level = snapshot.permissions.get(account.login)
    if level is None:
        return Unknown(frozenset({Permission(account.login)}))
    return rank(level) >= rank(trust.permission)


def may_label(account: Account, snapshot: Snapshot) -> bool | Unknown:
    """Like `may_order`, and the apps (never people of that name) that the configuration trusts with labels count as well."""
    return (account.is_bot and _named(account, snapshot.config.trust.apps)) or may_order(account, snapshot)


def rank(level: str) -> int:
    """The order of repository permissions; an unknown level counts as none."""
    return _RANKS.index(level) if level in _RANKS else 0


def judge_order(task: Task, record: Record, snapshot: Snapshot) -> Approval | Unapproved | Unknown:
    """The approval under which a task labelled ready may start, or why there is none.

    The newest order decides: the newest `cf:ready` label of a person, who must be allowed to order, or the approval in the
    record, if that is newer (a batch, a reopening) or the label is ours. It stands for the text as it is now unless somebody
    without permission edited it since.
    """
    event = _newest_order(task, snapshot)
    kept = record.approval
    by_person = event is not None and event.actor.id not in snapshot.accounts
    if event is not None and by_person and (kept is None or kept.at <= event.at):
        allowed = may_label(event.actor, snapshot)
        if isinstance(allowed, Unknown):
            return allowed
        if not allowed:
            return Unapproved(
                f"`{snapshot.config.label('ready')}` was set by {event.actor.login},"
                f" who does not have {snapshot.config.trust.permission} permission here"
            )
        approval = Approval(event.actor.login, event.at, digest="")
    elif kept is not None:
        approval = kept
    else:
        return Unapproved(
            "nobody with permission has ordered it: no label event of an authorised person can be seen"
        )
    author = _judge_author(task, snapshot)
    return author if author is not None else still_stands(approval, task, snapshot)


def _judge_author(task: Task, snapshot: Snapshot) -> Unapproved | Unknown | None:
    """With `trust.authors: writers` the text must be by somebody who may order, or be changed by such a person last."""
    if snapshot.config.trust.authors == "any":
        return None
    edits = edits_of(task.issue.events)
    author = max(edits, key=lambda event: event.at).actor if edits else task.issue.author
    allowed = author.id in snapshot.accounts or may_order(author, snapshot)
    if isinstance(allowed, Unknown):
        return allowed
    if allowed:
        return None
    return Unapproved(
        f"its text is by {author.login}, who does not have {snapshot.config.trust.permission} permission here"
        " (trust.authors: writers)"
    )


def still_stands(approval: Approval, task: Task, snapshot: Snapshot) -> Approval | Unapproved | Unknown:
    """The approval, bound to the present text, if every edit since was made by people who may order.

    An approval without a digest is a label's, and stands for the text of that time. Where edits that count may be out of sight, it
    is better to ask once more than to take a text that nobody approved.
    """
    digest = digest_of(task)
    edits = edits_since(approval, task.issue.events)
    unknown: frozenset[Permission] = frozenset()
    for edit in edits:
        allowed = may_order(edit.actor, snapshot)
        if isinstance(allowed, Unknown):
            unknown |= allowed.wants
        elif not allowed and edit.actor.id not in snapshot.accounts:
            return Unapproved(
                f"title or body was changed by {edit.actor.login} after {approval.by} approved it",
                changed_at=edit.at,
            )
    if unknown:
        return Unknown(unknown)
    seen = sees_all_since(approval.at, task.issue.events)
    if digest != approval.digest and not (seen and (edits or not approval.digest)):
        return Unapproved(
            f"title or body is not what {approval.by} approved any more, and who changed it cannot be seen",
            changed_at=approval.at,
        )
    return Approval(approval.by, approval.at, digest)


def edits_of(events: tuple[TimelineEvent, ...]) -> list[TimelineEvent]:
    """Changes of title or body."""
    return [event for event in events if event.kind in _EDITS]


def edits_since(approval: Approval, events: tuple[TimelineEvent, ...]) -> list[TimelineEvent]:
    """Changes of title or body since an approval.

    An edit in the very second of the approval counts: which came first cannot be seen, and times of events are whole seconds.
    """
    since = approval.at.replace(microsecond=0)
    return [event for event in edits_of(events) if event.at >= since]


def sees_all_since(since: datetime, events: tuple[TimelineEvent, ...]) -> bool:
    """Whether every edit since then is among the events: GitHub tells only so many of them."""
    edited = [event.at for event in events if event.kind is EventKind.EDITED]
    others = [event.at for event in events if event.kind is not EventKind.EDITED]
    if len(edited) >= EDITS_SEEN and max(edited) >= since:
        return False
    return len(others) < EVENTS_SEEN or min(others) <= since


def _newest_order(task: Task, snapshot: Snapshot) -> TimelineEvent | None:
    ready = snapshot.config.label("ready").casefold()
    orders = [
        event
        for event in task.issue.events
        if event.kind is EventKind.LABELED and (event.label or "").casefold() == ready
    ]
    return max(orders, key=lambda event: event.at) if orders else None


def _named(account: Account, names: tuple[str, ...]) -> bool:
    """Whether a list names the account; an app may stand there with or without its `[bot]`."""
    logins = {account.login.casefold()}
    if account.is_bot:
        logins.add(account.login.casefold().removesuffix("[bot]"))
    return any(name.casefold() in logins for name in names)
