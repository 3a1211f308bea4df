"""Whose turn it is in a batch: one after the other, its own limits, nothing fresh after a failure."""

from collections import Counter
from collections.abc import Iterable, Mapping

from bot.model.batch import Strategy
from bot.model.decision import Decision, Verb
from bot.model.record import Record
from bot.model.status import Status
from bot.plan.board import Board, Item
from bot.plan.facts.batch_controls import BatchView
from bot.plan.facts.record_edits import started_from
from bot.plan.graph.order import in_sequence


def is_serial(batch_view: BatchView) -> bool:
    """Ordered so, or because no needs could be inferred."""
    return batch_view.order.strategy is Strategy.SERIAL or batch_view.batch.record.serial


def is_fresh(record: Record) -> bool:
    """Not yet tried, as far as the present order goes."""
    return started_from(record) is Status.READY and not record.round


class Turns:
    """Which free members may start now, as far as their batches are concerned."""

    def __init__(self, free: Iterable[Item], decided: Mapping[int, Decision], board: Board) -> None:
        self._batches = board.batches
        self._pause = board.config.label("pause")
        self._running: Counter[int] = Counter()
        self._by_status: Counter[tuple[int, Status]] = Counter()
        for number, decision in decided.items():
            live = decision.record.live
            if number in board.batches and live is not None:
                self._count(board.batches[number], live.started_from)
        able = {item.number for item in free} | {
            number for number, said in decided.items() if _keeps_its_turn(said)
        }
        self._next: dict[int, int] = {}
        self._failed: dict[int, int] = {}
        for batch_view in {batch_view.number: batch_view for batch_view in board.batches.values()}.values():
            if is_serial(batch_view):
                line = in_sequence(batch_view.order.tasks, board.graph)
                self._next[batch_view.number] = next((number for number in line if number in able), 0)
            self._failed[batch_view.number] = failed_member(batch_view, decided)

    def _count(self, batch_view: BatchView, status: Status) -> None:
        self._running[batch_view.number] += 1
        self._by_status[batch_view.number, status] += 1

    def refusal(self, item: Item) -> str:
        """Why the item must wait for its batch; empty if it need not."""
        batch_view = self._batches.get(item.number)
        if batch_view is None:
            return ""
        batch, order, running = batch_view.number, batch_view.order, self._running[batch_view.number]
        if batch_view.batch.issue.has_label(self._pause):
            return f"paused by the label `{self._pause}` on batch #{batch}"
        if order.strategy is Strategy.AUTO and not batch_view.batch.record.inferred:
            return f"batch #{batch} infers needs first"
        if self._failed[batch] and is_fresh(item.record):
            return f"on_failure of batch #{batch} is stop, and #{self._failed[batch]} failed"
        if is_serial(batch_view):
            if running:
                return f"waits for its turn in batch #{batch}: another member is running"
            if self._next[batch] != item.number:
                return f"waits for its turn in batch #{batch}: #{self._next[batch]} comes first"
        if order.max_parallel is not None and running >= order.max_parallel:
            return f"waits for a slot: max_parallel of batch #{batch} is {order.max_parallel}"
        status = started_from(item.record)
        most = order.max_parallel_by_status.get(status)
        if most is not None and self._by_status[batch, status] >= most:
            name = status.name
            return f"waits for a slot: max_parallel_by_status of batch #{batch} for {name} is {most}"
        return ""

    def take(self, item: Item) -> None:
        """Count a member that starts."""
        if item.number in self._batches:
            self._count(self._batches[item.number], started_from(item.record))


def failed_member(batch_view: BatchView, decided: Mapping[int, Decision]) -> int:
    """With `on_failure: stop` a member that has failed for good, as long as there is one; else 0."""
    if not batch_view.order.stop_on_failure:
        return 0
    members = (decided[number] for number in batch_view.order.tasks if number in decided)
    return next((said.task for said in members if said.status is Status.FAILED), 0)


def _keeps_its_turn(decision: Decision) -> bool:
    """A member that will start by itself soon (it backs off, or became ready just now) is not overtaken."""
    return decision.status is Status.READY and (decision.verb is not Verb.HOLD or decision.due is not None)
