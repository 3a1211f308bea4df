"""What a standing cause does to the tasks that would start: it holds them all but one, which tries whether it still stands."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from bot.model.cause import Cause, Obstacle
from bot.model.decision import Decision
from bot.model.record import Record
from bot.model.report import Hold
from bot.model.unit import Kind
from bot.plan.board import Board, Item
from bot.plan.facts.causes import ROWS, Past, title_of
from bot.plan.facts.obstacles import holds, labels_of, obstacles, outlook, words_of

_COST = {Kind.PUBLISH: 0, Kind.UPDATE: 1, Kind.CODE: 2}  # the order of what a probe costs


class Barred(Struct, frozen=True):
    """Why a task does not start, and when waiting alone could change that."""

    reason: str
    due: datetime | None = None


def kind_of(record: Record) -> Kind:
    """What a start of this task would do."""
    if not record.republish:
        return Kind.CODE
    stale = record.held is not None and record.held.why is Hold.STALE
    return Kind.UPDATE if stale else Kind.PUBLISH


def hold_barred(item: Item, board: Board) -> Decision | None:
    """What cannot start whoever ordered it is held before anybody's permission is looked up: that costs a request at each tick.

    Only where nothing that this very tick learns can change it; all else is decided among the tasks that could start.
    """
    for obstacle in board.obstacles:
        met = obstacle.met.cause
        waits = not obstacle.probe and obstacle.until is not None and obstacle.until > board.snapshot.now
        asked = item.record.tried_at is not None and item.record.tried_at > obstacle.last
        if (
            met is Cause.PROVIDER
            or asked
            or not (waits or met is Cause.RUNNER)
            or not _is_held(obstacle, item, board)
        ):
            continue
        return board.hold(item, f"{words_of(obstacle)}; {outlook(obstacle, board.snapshot.now)}")
    return None


def gate_barred(board: Board) -> str:
    """Why no trial of a batch gate may start for now; empty if it may, which also tries what is to be tried."""
    now = board.snapshot.now
    for one in board.obstacles:
        waits = bool(one.probe) or one.until is None or one.until > now
        if one.everybody and waits and Kind.GATE in ROWS[one.met.cause].kinds:
            return f"{words_of(one)}; {outlook(one, now)}"
    return ""


def _is_held(obstacle: Obstacle, item: Item, board: Board) -> bool:
    engine = board.choice(item).engine
    return holds(obstacle, item.number, kind_of(item.record), engine, labels_of(engine, board.config))


class Barriers:
    """The causes that stand, and which of the tasks that could start try them. `ordered` are these, the most urgent first;
    `has_room` says whether nothing else would keep one from starting.
    """

    def __init__(
        self,
        ordered: Sequence[Item],
        records: Iterable[Record],
        board: Board,
        has_room: Callable[[Item], bool],
    ) -> None:
        self._board = board
        self._now = board.snapshot.now
        self._standing = obstacles(records, board.snapshot)
        self._probes = self._choose(ordered, has_room) if self._standing else {}
        self._begun: set[int] = set()

    def refusal(self, item: Item) -> Barred | None:
        """Why this task does not start; None if nothing bars it, or it is the one that tries."""
        barring = self._barring(item)
        shut = next((one for one in barring if not self._may_try(one)), None)
        if shut is None and (not barring or item.number in self._probes):
            return None
        obstacle = shut or barring[0]
        if obstacle.met.cause is Cause.PROVIDER:
            return Barred(
                f"{title_of(obstacle.met)} until {obstacle.until:%Y-%m-%d %H:%M:%S} UTC", obstacle.until
            )
        return Barred(f"{words_of(obstacle)}; {outlook(obstacle, self._now)}", self._due(obstacle))

    def probes_first(self, ordered: Sequence[Item]) -> Sequence[Item]:
        """The same tasks: nobody else may start before it is known whether what holds all of them still stands."""
        return sorted(ordered, key=lambda item: item.number not in self._probes)

    def take(self, item: Item) -> None:
        """This task starts."""
        self._begun.add(item.number)

    def _barring(self, item: Item) -> list[Obstacle]:
        return [one for one in self._standing if _is_held(one, item, self._board)]

    def _may_try(self, obstacle: Obstacle) -> bool:
        """Whether one task may try it now. What is tried already, or is tried by what waits, takes no other."""
        return obstacle.until is not None and not obstacle.probe and obstacle.until <= self._now

    def _choose(self, ordered: Sequence[Item], has_room: Callable[[Item], bool]) -> dict[int, Obstacle]:
        """The cheapest unit that meets it for each cause that may be tried, by task."""
        chosen: dict[int, Obstacle] = {}
        barring = {item.number: self._barring(item) for item in ordered}
        open_to = [
            item for item in ordered if all(map(self._may_try, barring[item.number])) and has_room(item)
        ]
        for obstacle in filter(self._may_try, self._standing):
            able = [item for item in open_to if obstacle in barring[item.number]]
            if able and not any(item.number in chosen for item in able):
                chosen[min(able, key=lambda item: _COST[kind_of(item.record)]).number] = obstacle
        return chosen

    def _due(self, obstacle: Obstacle) -> datetime | None:
        """A dispatch shows at once whether GitHub takes it again: then nobody waits for the next sweep."""
        tried = any(one is obstacle and number in self._begun for number, one in self._probes.items())
        return self._now if tried and ROWS[obstacle.met.cause].past is Past.DISPATCHED else None
