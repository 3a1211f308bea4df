"""The pause of a whole repository: whoever can label sets it, only somebody who may order lifts it, and nothing that becomes of its
issue does. The label on the dashboard shows it, and the state keeps it.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from bot.model.issue import EventKind, Issue, TimelineEvent
from bot.model.snapshot import Permission, Snapshot
from bot.notation.state import Pause, State
from bot.plan.facts.trust import Unknown, may_order

_EVER = datetime.min.replace(tzinfo=UTC)


class Standing(Struct, frozen=True):
    """`pause` is None where nothing is paused; `reason` says the pause in words. `restore`: the label is to be set again, with a
    word about the removal `taken`, which does not count. `unpaused_at` is when the last pause was lifted.
    """

    pause: Pause | None = None
    reason: str = ""
    restore: bool = False
    taken: TimelineEvent | None = None
    unpaused_at: datetime | None = None


def judge_pause(dashboards: Sequence[Issue], state: State | None, snapshot: Snapshot) -> Standing | Unknown:
    """How it stands, before the boxes. `dashboards` are ours, the one that counts first."""
    label = snapshot.config.label("pause")
    kept = state.pause if state is not None else None
    since = _lifted(state, snapshot)
    for issue in dashboards:
        if issue.has_label(label):
            pause = _set_by(issue, label, kept, state, snapshot)
            words = f"paused by the label `{label}` on #{issue.number}{_by(pause)}"
            return Standing(pause, words, unpaused_at=_known(since))
    if not dashboards:
        return Standing(kept, _remembered(kept, label) if kept else "", unpaused_at=_known(since))
    return _without_label(dashboards[0], label, kept, since, snapshot)


def obeyed(standing: Standing, orders: Sequence[str], by: str, at: datetime, place: int) -> Standing:
    """How it stands after the boxes `pause` and `unpause`, ticked by somebody who may order."""
    if "pause" in orders:
        return Standing(
            Pause(by, at),
            f"paused by a box on #{place}, ticked by {by} on {at:%Y-%m-%d %H:%M} UTC",
            unpaused_at=standing.unpaused_at,
        )
    if "unpause" in orders:
        return Standing(unpaused_at=at)
    return standing


def _without_label(
    issue: Issue, label: str, kept: Pause | None, since: datetime, snapshot: Snapshot
) -> Standing | Unknown:
    """The label is gone, or never was there: who took it away decides."""
    events = sorted(_label_events(issue, label), key=lambda event: event.at)
    sets = [event for event in events if event.kind is EventKind.LABELED and event.at > since]
    if kept is None and not sets:
        return Standing(unpaused_at=_known(since))
    begun = kept.at.replace(microsecond=0) if kept is not None else sets[-1].at
    removals = [event for event in events if event.kind is EventKind.UNLABELED and event.at >= begun]
    pause = kept or Pause(sets[-1].actor.login, sets[-1].at)
    again, noted = not pause.put_back, replace(pause, put_back=True)
    if not removals:  # the label was deleted from the repository, or never got here
        return Standing(noted, _remembered(pause, label), again, None, _known(since))
    allowed = may_order(removals[-1].actor, snapshot)
    if isinstance(allowed, Unknown):
        return allowed
    if allowed:
        return Standing(unpaused_at=removals[-1].at)
    words = f"{_remembered(pause, label)}; {removals[-1].actor.login} took the label away and may not lift it"
    return Standing(noted, words, again, removals[-1], _known(since))


def _set_by(issue: Issue, label: str, kept: Pause | None, state: State | None, snapshot: Snapshot) -> Pause:
    """By whom and when it was set: as remembered, since it stands ever since; else by the label's own event."""
    if kept is not None:
        return kept
    events = [event for event in _label_events(issue, label) if event.kind is EventKind.LABELED]
    newest = max(events, key=lambda event: event.at, default=None)
    if newest is None:
        return Pause("", snapshot.now)
    remembered = state.paused_for if state is not None and newest.actor.id in snapshot.accounts else ""
    return Pause(remembered or newest.actor.login, newest.at)


def _label_events(issue: Issue, label: str) -> Iterator[TimelineEvent]:
    kinds = (EventKind.LABELED, EventKind.UNLABELED)
    named = (event for event in issue.events if event.kind in kinds)
    yield from (event for event in named if (event.label or "").casefold() == label.casefold())


def _remembered(pause: Pause, label: str) -> str:
    return f"paused{_by(pause)}; `{label}` is to be set and taken away, or the box ticked, by somebody who may order"


def _by(pause: Pause) -> str:
    if pause.why:
        return f", because {pause.why}"
    return f", set by {pause.by} on {pause.at:%Y-%m-%d %H:%M} UTC" if pause.by else ""


def _lifted(state: State | None, snapshot: Snapshot) -> datetime:
    """Since when a label counts that was set and taken away again. A state that is older than this rule knows of none."""
    if state is None:
        return _EVER
    return (state.unpaused_at or _EVER) if state.conductor else snapshot.now.replace(microsecond=0)


def _known(since: datetime) -> datetime | None:
    return since if since > _EVER else None


def edited_by_others(issue: Issue, snapshot: Snapshot) -> bool | Unknown:
    """Whether somebody who may not order changed the dashboard's text since we wrote it: its state is then no evidence."""
    edits = [event for event in issue.events if event.kind is EventKind.EDITED]
    ours = max((event.at for event in edits if event.actor.id in snapshot.accounts), default=_EVER)
    wants: frozenset[Permission] = frozenset()
    for event in edits:
        if event.actor.id in snapshot.accounts or event.at < ours:
            continue
        allowed = may_order(event.actor, snapshot)
        if isinstance(allowed, Unknown):
            wants |= allowed.wants
        elif not allowed:
            return True
    return Unknown(wants) if wants else False
