"""Which account conducts a repository: one fact, asked by every program that writes, and found without knowing whose token asks.

`identity.conductor` names it; else the newest state does that one of our own dashboards holds; else nobody does yet. A dashboard is
ours only if an account that can be a conductor's wrote it and set its label: an App, the jobs' own account, or one that the
configuration names. What a person opens, or what somebody with `triage` labels, is none.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from bot.model.config import Config
from bot.model.issue import EVENTS_SEEN, Account, EventKind, Issue
from bot.notation.codec import Unreadable
from bot.notation.marker import bears_signature
from bot.notation.records import is_record, read_record
from bot.notation.state import State, state_in

NOBODY = Account(0, "")
_EVER = datetime.min.replace(tzinfo=UTC)
_LATER = datetime.max.replace(tzinfo=UTC)


class Dashboard(Struct, frozen=True):
    """A dashboard of ours. `state` is None where it holds none, or where `problem` says why it cannot be read."""

    issue: Issue
    state: State | None = None
    problem: str = ""


class Conducts(Struct, frozen=True):
    """Who conducts, as the account `viewer` learns it.

    `account` is None while nobody does. `newest` is the dashboard that counts, open or closed, `spare` are other open ones of
    ours, `ignored` issues that only look like one. `refusal` is why the viewer may not write, `unclear` why nobody can say who may.
    `former`: the viewer takes over from this account. `accounts` are the ids whose words count as ours.
    """

    viewer: Account
    account: Account | None
    accounts: frozenset[int]
    newest: Dashboard | None = None
    spare: tuple[Issue, ...] = ()
    ignored: tuple[Issue, ...] = ()
    refusal: str = ""
    unclear: str = ""
    former: Account | None = None

    @property
    def state(self) -> State | None:
        return self.newest.state if self.newest is not None else None

    @property
    def open_dashboard(self) -> Issue | None:
        """The dashboard that counts, if it is open."""
        return self.newest.issue if self.newest is not None and self.newest.issue.is_open else None

    @property
    def own_dashboard(self) -> Issue | None:
        """The open dashboard that the viewer itself writes."""
        issue = self.open_dashboard
        return issue if issue is not None and issue.author.id == self.viewer.id else None


def who_conducts(
    labelled: Sequence[Issue], others: Iterable[Issue], viewer: Account, config: Config
) -> Conducts:
    """Judge the issues `labelled` as dashboards; `others` are tasks, whose records tell only where no dashboard does."""
    label = config.label("dashboard")
    found = [_read(issue) for issue in labelled if _is_ours(issue, label, config)]
    readable = sorted((one for one in found if one.state is not None), key=_age)
    spoilt = sorted((one for one in found if one.state is None and one.issue.is_open), key=_age)
    own = [one for one in spoilt if one.issue.author.id == viewer.id]
    newest = next(iter(readable[-1:] or own[:1] or spoilt[:1]), None)
    named = newest.issue.author if newest is not None else _writer(others, config)
    account, former, refusal, unclear = _judge(named, newest, viewer, config)
    mine = _may_conduct(viewer, config) and not refusal and not unclear
    accounts = {*config.also, *({account.id} if account is not None and account.id else ())}
    accounts |= {named.id} if named is not None else set()
    accounts |= {viewer.id} if mine else set()
    spare = tuple(
        one.issue
        for one in found
        if one.issue.is_open and one is not newest and one.issue.author.id in accounts
    )
    known = {issue.number for issue in (*spare, *([newest.issue] if newest is not None else ()))}
    return Conducts(
        viewer=viewer,
        account=account,
        accounts=frozenset(accounts),
        newest=newest,
        spare=spare,
        ignored=tuple(issue for issue in labelled if issue.is_open and issue.number not in known),
        refusal=refusal,
        unclear=unclear,
        former=former,
    )


def is_named(account: Account, login: str) -> bool:
    """Whether a login in the configuration means this account. An App's ends with `[bot]`: a person may have the name before it."""
    return bool(login) and account.login.casefold() == login.casefold()


def without_key(texts: Iterable[str]) -> str:
    """Why nothing may be written over these texts of ours; empty unless one is signed and its signature was not looked at."""
    if not any(bears_signature(text, ("record", "state", "batch", "batch-record")) for text in texts):
        return ""
    return (
        "what is kept here is signed, and this program was not given the key: set CF_STATE_KEY to the secret of that name."
        " Nothing was written"
    )


def may_be_outdated(conducts: Conducts) -> bool:
    """Whether a later dashboard may be among the closed ones: none is open, it was opened again since it was written last, or it is
    not the viewer's own, who then has no memory of what came after it.
    """
    issue = conducts.own_dashboard
    if issue is None or conducts.refusal or conducts.unclear:
        return True
    opened = [event.at for event in issue.events if event.kind is EventKind.REOPENED]
    written = [
        event.at
        for event in issue.events
        if event.kind is EventKind.EDITED and event.actor.id == issue.author.id
    ]
    return bool(opened) and max(opened) > max(written, default=_EVER)


def _judge(
    named: Account | None, newest: Dashboard | None, viewer: Account, config: Config
) -> tuple[Account | None, Account | None, str, str]:
    """Who conducts, whom the viewer takes over from, why it may not write, and why nobody can say."""
    follows = named is not None and named.id in config.also and named.id != viewer.id
    if config.conductor:
        return _as_configured(named, newest, viewer, config)
    if named is None:
        return None, None, _may_not_begin(viewer, config), ""
    if named.id == viewer.id:
        alone = _may_conduct(viewer, config)
        return named, None, "" if alone else _only_by_name(viewer), ""
    if follows and _may_conduct(viewer, config) and viewer.id not in config.also:
        return named, named, "", ""
    return named, None, _refused(named, newest, viewer), ""


def _as_configured(
    named: Account | None, newest: Dashboard | None, viewer: Account, config: Config
) -> tuple[Account | None, Account | None, str, str]:
    """The same where `identity.conductor` says who."""
    chosen = is_named(viewer, config.conductor)
    if named is None:
        return (viewer if chosen else None), None, "" if chosen else _not_chosen(viewer, config), ""
    if is_named(named, config.conductor):
        return named, None, "" if named.id == viewer.id else _refused(named, newest, viewer), ""
    if named.id not in config.also:
        words = (
            f"identity.conductor names {config.conductor}, and {_place(newest)} is by {named.login}: to hand over,"
            f" name its id {named.id} in identity.also"
        )
        return named, None, "", words
    return named, (named if chosen else None), "" if chosen else _not_chosen(viewer, config), ""


def _may_conduct(account: Account, config: Config) -> bool:
    """A person's account conducts only if it is named, an App and the jobs' own account unless another is."""
    return is_named(account, config.conductor) if config.conductor else account.is_bot


def _may_not_begin(viewer: Account, config: Config) -> str:
    if not viewer.is_bot:
        return f"nobody conducts here yet. {_only_by_name(viewer)}"
    if viewer.id in config.also:
        return (
            f"identity.also names {viewer.login} (id {viewer.id}) as an account that conducted before: take it out there,"
            " or let the other begin. Nothing was written"
        )
    return ""


def _only_by_name(viewer: Account) -> str:
    return (
        f"{viewer.login} is a person's account, which conducts only if the configuration says so"
        f" (identity.conductor: {viewer.login}); `cf conduct --dry-run` looks without that, and `cf adopt --conductor` lets an App"
        " or a job take over what it conducted. Nothing was written"
    )


def _not_chosen(viewer: Account, config: Config) -> str:
    return (
        f"{config.conductor} conducts here, as identity.conductor says, and this token is {viewer.login}'s: use a token of that"
        " account, or change identity.conductor. Nothing was written"
    )


def _refused(named: Account, newest: Dashboard | None, viewer: Account) -> str:
    person = "" if viewer.is_bot else f" and {viewer.login} in identity.conductor"
    return (
        f"{named.login} conducts here ({_place(newest)}), and this token is {viewer.login}'s: to look, add --dry-run; to hand over,"
        f" name {named.login}'s id {named.id} in identity.also{person}. Nothing was written"
    )


def _place(newest: Dashboard | None) -> str:
    if newest is None:
        return "as its status comments tell"
    unread = f", whose state cannot be read: {newest.problem}" if newest.problem else ""
    return f"its dashboard #{newest.issue.number}{unread}"


def _read(issue: Issue) -> Dashboard:
    try:
        return Dashboard(issue, state_in(issue))
    except Unreadable as error:
        return Dashboard(issue, None, str(error))


def _is_ours(issue: Issue, label: str, config: Config) -> bool:
    return _may_be_ours(issue.author, config) and _labelled_by(issue.author, issue, label)


def _may_be_ours(account: Account, config: Config) -> bool:
    return account.is_bot or account.id in config.also or is_named(account, config.conductor)


def _labelled_by(author: Account, issue: Issue, label: str) -> bool:
    """Whether the author itself set the label, as far as GitHub still tells: anybody with `triage` could have."""
    setters = {
        event.actor.id
        for event in issue.events
        if event.kind is EventKind.LABELED and (event.label or "").casefold() == label.casefold()
    }
    others = sum(event.kind is not EventKind.EDITED for event in issue.events)
    return author.id in setters or not setters or others >= EVENTS_SEEN


def _age(one: Dashboard) -> tuple[int, bool, datetime, int]:
    """Of one generation the oldest open one counts (two first ticks at once make two), else the one that was closed last."""
    generation = one.state.generation if one.state is not None else 0
    closed = _LATER if one.issue.is_open else (one.issue.closed_at or _EVER)
    return generation, one.issue.is_open, closed, -one.issue.number


def _writer(tasks: Iterable[Issue], config: Config) -> Account | None:
    """Whose records stand in status comments: the author of the one that changed last."""
    found = [
        comment
        for issue in tasks
        for comment in issue.comments
        if _may_be_ours(comment.author, config) and is_record(comment.body)
    ]
    newest = max(found, key=lambda comment: (comment.updated_at, comment.id), default=None)
    return newest.author if newest is not None else None


def holds_records(tasks: Iterable[Issue], accounts: Collection[int]) -> bool:
    """Whether a status comment of these accounts stands on one of the issues."""
    for issue in tasks:
        for comment in issue.comments:
            try:
                if read_record(comment, issue.number, accounts) is not None:
                    return True
            except Unreadable:
                return True
    return False
