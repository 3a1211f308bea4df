"""What people said about a batch after its order (stop, run, resume), and whether its members are its own because of that."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from bot.model.batch import Action, Batch, BatchRecord, BatchState, Control, Order
from bot.model.command import STARTING, Ordered
from bot.model.issue import EventKind, TimelineEvent
from bot.model.snapshot import Lookup, Snapshot
from bot.notation.batches import read_control
from bot.plan.facts.labels import meant_status
from bot.plan.facts.trust import Unknown, may_order
from bot.plan.graph.inference import nothing_waits

_EVER = datetime.min.replace(tzinfo=UTC)
_ACTIONS = {action.value: action for action in Action}


class ControlResult(Struct, frozen=True):
    """A command on the batch issue, and why it is not carried out (empty: it is)."""

    ordered: Ordered
    refusal: str = ""


class BatchView(Struct, frozen=True):
    """A batch with the latest word on it in its record. `call` is the order or the later word by which members are approved.

    `owns`: its members start only through it. `turned_down` says why a reopening does not count; such an issue is closed again.
    """

    batch: Batch
    record: BatchRecord
    call: Control
    owns: bool = False
    turned_down: str = ""
    results: tuple[ControlResult, ...] = ()
    wants: frozenset[Lookup] = frozenset()

    @property
    def number(self) -> int:
        return self.batch.number

    @property
    def order(self) -> Order:
        """Only of a batch whose order is known, as that of every owner is."""
        assert self.batch.order is not None
        return self.batch.order

    @property
    def stopped(self) -> bool:
        return _is_stopped(self.record)

    @property
    def resumed(self) -> bool:
        return self.call.action is Action.RESUME

    @property
    def forced_end(self) -> bool:
        """Its running members are to be ended, too."""
        control = self.record.control
        return control is not None and control.action is Action.STOP and control.force

    @property
    def waits_to_be_run(self) -> bool:
        return self.order.dry_run and self.record.control is None


class _Word(Struct, frozen=True):
    """Something that was said, and the command that said it, if it was one."""

    control: Control
    ordered: Ordered | None = None
    reopening: bool = False


def batch_view_of(batch: Batch, snapshot: Snapshot, ordered: Sequence[Ordered] = ()) -> BatchView:
    """Judge all that was said about the batch since its record was written; `ordered` are commands of people who may order."""
    order = batch.order
    if order is None:
        known = (*_ACTIONS, "deps", "apply")
        results = tuple(ControlResult(one, batch.problem) for one in ordered if one.command.name in known)
        return BatchView(
            batch, batch.record, Control(Action.RUN, "", batch.issue.created_at), results=results
        )
    first = Control(Action.RUN, order.by, order.at)
    words, wants, turned_down = _words(batch, snapshot, ordered)
    if wants:
        owns = _owns(batch, batch.record)
        return BatchView(batch, batch.record, _call(batch.record, first), owns=owns, wants=wants)
    record, results = batch.record, ()
    for word in words:
        if record.control is not None and word.control.at <= record.control.at:
            continue
        record, refusal = _obeyed(word.control, record, batch, snapshot)
        if word.ordered is not None:
            results = (*results, ControlResult(word.ordered, refusal))
        elif word.reopening:
            turned_down = refusal or turned_down
    for one in ordered:
        if one.command.name in ("deps", "apply") and not one.command.problem and not one.edited:
            record, refusal = _consented(one, record, snapshot.config.prefix)
            results = (*results, ControlResult(one, refusal))
    return BatchView(batch, record, _call(record, first), _owns(batch, record), turned_down, results)


def _is_stopped(record: BatchRecord) -> bool:
    return record.control is not None and record.control.action is Action.STOP


def _call(record: BatchRecord, first: Control) -> Control:
    control = record.control
    return control if control is not None and control.action is not Action.STOP else first


def _owns(batch: Batch, record: BatchRecord) -> bool:
    """Whether members start only through it. One that was only planned has taken none.

    What is closed and has neither ended nor been stopped was resumed there: it is opened again.
    """
    planned = batch.order is not None and batch.order.dry_run and record.control is None
    return not (_is_stopped(record) or planned or record.state.ended)


def _obeyed(word: Control, record: BatchRecord, batch: Batch, snapshot: Snapshot) -> tuple[BatchRecord, str]:
    """The record after a word, or as it was and why the word is not carried out."""
    before, stopped = record.control, _is_stopped(record)
    planned = batch.order is not None and batch.order.dry_run and before is None
    if word.action is Action.STOP:
        if record.state.ended:
            return record, "the batch has ended already"
        forced = word.force or (stopped and before is not None and before.force)
        return replace(record, control=replace(word, force=forced)), ""
    if planned:
        return replace(record, control=replace(word, action=Action.RUN)), ""
    if word.action is Action.RUN:
        return (
            record,
            "it was not ordered with dry_run; resume goes on with one that has ended or was stopped",
        )
    if record.state is BatchState.COMPLETED:
        return record, "there is nothing to resume: every member came through"
    if not record.state.ended and not stopped:
        return record, "it goes on already"
    resumed = replace(
        record,
        state=BatchState.RUNNING if record.started_at else BatchState.PENDING,
        ended_at=None,
        control=word,
        rounds=0,
        round_at=None,
        gate=None,
        was=_results_so_far(batch, snapshot),
    )
    return resumed, ""


def _consented(ordered: Ordered, record: BatchRecord, prefix: str) -> tuple[BatchRecord, str]:
    """The record after `deps` or `apply` on the batch's issue, and why that is not carried out."""
    if ordered.command.name == "deps":
        return record, "the batch has ended" if record.state.ended else ""
    if not own_edges(record):
        return record, nothing_waits(prefix)
    return replace(record, proposed=replace(record.proposed, consent=ordered.author.login)), ""


def own_edges(record: BatchRecord) -> tuple[tuple[int, int], ...]:
    """The needs (task, need) that were inferred for the batch, or proposed on its issue."""
    lent = ((task, need) for task, needs in record.needs.items() for need in needs)
    return tuple(dict.fromkeys((*lent, *record.proposed.needs)))


def _results_so_far(batch: Batch, snapshot: Snapshot) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for number in batch.order.tasks if batch.order else ():
        if (task := snapshot.tasks.get(number)) is not None:
            status = str(meant_status(task, snapshot).status or "withdrawn")
            found[status] = (*found.get(status, ()), number)
    return found


def _words(
    batch: Batch, snapshot: Snapshot, ordered: Sequence[Ordered]
) -> tuple[list[_Word], frozenset[Lookup], str]:
    """What was said, oldest first (in the same second a stop last), what must be looked up, and whose word does not count."""
    controls = (read_control(comment, snapshot.accounts) for comment in batch.comments)
    said = [_Word(control) for control in controls if control is not None]
    said += [word for one in ordered if (word := _commanded(one)) is not None]
    reopenings, wants, turned_down = _reopenings(batch, snapshot)
    said += reopenings
    if (closing := _closing(batch, snapshot, [word.control for word in said])) is not None:
        said.append(_Word(closing))
    said.sort(key=lambda word: (word.control.at, word.control.action is Action.STOP))
    return said, wants, turned_down


def _commanded(ordered: Ordered) -> _Word | None:
    """A command on the batch issue; an edited one stops, and starts nothing."""
    command = ordered.command
    action = _ACTIONS.get(command.name)
    if action is None or command.problem or (ordered.edited and command.name in STARTING):
        return None
    return _Word(Control(action, ordered.author.login, ordered.at, command.has("force")), ordered)


def _reopenings(batch: Batch, snapshot: Snapshot) -> tuple[list[_Word], frozenset[Lookup], str]:
    """A writer's reopening is a resume; anybody else's is turned down."""
    said: list[_Word] = []
    wants: frozenset[Lookup] = frozenset()
    turned_down = ""
    for event in _of_people(batch.issue.events, EventKind.REOPENED, snapshot.accounts):
        if batch.record.control is not None and event.at <= batch.record.control.at:
            continue
        allowed = may_order(event.actor, snapshot)
        if isinstance(allowed, Unknown):
            wants |= allowed.wants
        elif allowed:
            said.append(_Word(Control(Action.RESUME, event.actor.login, event.at), reopening=True))
        elif batch.issue.is_open and batch.record.state.ended:
            turned_down = f"{event.actor.login}, who may not order work here, reopened it"
    return said, wants, turned_down


def _closing(batch: Batch, snapshot: Snapshot, said: Sequence[Control]) -> Control | None:
    """Closing the issue of a batch that goes on stops it, whoever did it; our own closing after a stop says nothing new."""
    issue, record = batch.issue, batch.record
    if issue.is_open or record.state.ended:
        return None
    kept = [record.control] if record.control is not None else []
    resumed = max((word.at for word in (*said, *kept) if word.action is Action.RESUME), default=_EVER)
    closings = [event for event in issue.events if event.kind is EventKind.CLOSED]
    closed = max(closings, key=lambda event: event.at, default=None)
    at = issue.closed_at or (closed.at if closed else snapshot.now)
    told = any(word.action is Action.STOP and word.at >= resumed for word in (*said, *kept))
    if at < resumed or (told and closed is not None and closed.actor.id in snapshot.accounts):
        return None
    return Control(Action.STOP, closed.actor.login if closed else "", at)


def _of_people(
    events: Iterable[TimelineEvent], kind: EventKind, accounts: frozenset[int]
) -> Iterable[TimelineEvent]:
    return (event for event in events if event.kind is kind and event.actor.id not in accounts)


def owners(batch_views: Iterable[BatchView]) -> Mapping[int, BatchView]:
    """The batch that owns each task. One that shares a member with an earlier one owns none at all: two orders written at once
    are told apart by their issues' numbers, and one that was resumed comes after those that ran already.
    """
    members: dict[int, BatchView] = {}
    for batch_view in sorted((each for each in batch_views if each.owns), key=_precedence):
        if not any(number in members for number in batch_view.order.tasks):
            members |= dict.fromkeys(batch_view.order.tasks, batch_view)
    return members


def _precedence(batch_view: BatchView) -> tuple[datetime, int]:
    return (
        batch_view.call.at if batch_view.resumed else batch_view.batch.issue.created_at,
        batch_view.number,
    )
