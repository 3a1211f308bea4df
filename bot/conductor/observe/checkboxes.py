"""Ticked boxes on the dashboard: orders by whoever edited it, read as comments of theirs, so that one set of rules obeys both."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from bot.model.issue import Account, Comment, EventKind, Issue
from bot.model.snapshot import Lookup, Snapshot
from bot.model.status import Status
from bot.notation.overview import ticked
from bot.plan.facts.trust import Unknown, may_order

LookUp = Callable[[Snapshot, Iterable[Lookup]], Snapshot]


class Boxes(Struct, frozen=True):
    """The orders that count (`pause`, `unpause`, `approve`, ...), who gave them and when; or why they do not count."""

    orders: tuple[str, ...]
    by: str
    at: datetime
    refused: str = ""


def read_boxes(dashboard: Issue | None, snapshot: Snapshot, look_up: LookUp) -> tuple[Snapshot, Boxes | None]:
    """What is ticked; None if nothing is. The snapshot comes back with the permissions that were looked up for it.

    Which edit ticked a box cannot be seen, so everybody who edited the issue since our own last edit must be allowed to order.
    """
    orders = ticked(dashboard.body) if dashboard is not None else ()
    if dashboard is None or not orders:
        return snapshot, None
    edits = [event for event in dashboard.events if event.kind is EventKind.EDITED]
    # Times are whole seconds: an edit in the very second of our own counts, whichever came first.
    ours = max((event.at for event in edits if event.actor.id in snapshot.accounts), default=None)
    since = [
        event
        for event in edits
        if event.actor.id not in snapshot.accounts and (ours is None or event.at >= ours)
    ]
    if not since:
        return snapshot, Boxes((), "", snapshot.now, "nobody's edit of the dashboard can be seen")
    for actor in {event.actor for event in since}:
        verdict = may_order(actor, snapshot)
        if isinstance(verdict, Unknown):
            snapshot = look_up(snapshot, verdict.wants)
            verdict = may_order(actor, snapshot)
        if verdict is not True:
            words = f"{actor.login} edited the dashboard and does not have {snapshot.config.trust.permission} permission"
            return snapshot, Boxes((), actor.login, since[-1].at, words)
    return snapshot, Boxes(orders, since[-1].actor.login, since[-1].at)


def as_comments(boxes: Boxes, dashboard: Issue, snapshot: Snapshot) -> Mapping[int, tuple[Comment, ...]]:
    """The comments of the snapshot, and beside them what the boxes say, each where such a command stands.

    Their ids are negative and come from the time of the edit, so that a tick that died is not followed by a second effect.
    """
    actor = next(event.actor for event in reversed(dashboard.events) if event.actor.login == boxes.by)
    prefix = snapshot.config.prefix
    said: dict[int, list[str]] = {}
    for order in boxes.orders:
        if order == "retry":
            failed = snapshot.config.label(Status.FAILED)
            for number, task in snapshot.tasks.items():
                if task.issue.is_open and task.issue.has_label(failed):
                    said[number] = [f"/{prefix} retry"]
        elif order not in ("pause", "unpause"):
            said.setdefault(dashboard.number, []).append(f"/{prefix} {order}")
    found = dict(snapshot.comments)
    for number, lines in said.items():
        comment = _comment(number, "\n".join(lines), actor, boxes.at, dashboard)
        found[number] = (*found.get(number, ()), comment)
    return found


def _comment(number: int, body: str, by: Account, at: datetime, dashboard: Issue) -> Comment:
    return Comment(-int(at.timestamp()), dashboard.node_id, number, by, body, at, at)


def with_boxes(snapshot: Snapshot, boxes: Boxes | None, dashboard: Issue | None) -> Snapshot:
    """The snapshot with the orders of the boxes among its comments."""
    if boxes is None or dashboard is None or not boxes.orders:
        return snapshot
    return replace(snapshot, comments=as_comments(boxes, dashboard, snapshot))
