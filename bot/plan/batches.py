"""Batches: who becomes ready by one, whose turn it is, what holds after it has ended, and when that is.

A batch's members are ordinary tasks. The order approves them once, at its own time; from then on a person's newer order or
an outsider's edit counts as for any other task.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from bot.model.batch import Batch, BatchEnd, Order, Result, Strategy
from bot.model.decision import Decision, Verb
from bot.model.issue import EventKind, NeedState
from bot.model.record import Approval
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.batches import end_comment, results_text
from bot.notation.comments import read_fingerprint
from bot.plan.board import Board, Item
from bot.plan.edits import fresh, last_attempt
from bot.plan.graph import Graph
from bot.plan.labels import Meant
from bot.plan.trust import Unknown, judge_order
from bot.plan.waiting import Unmet, unmet_needs

_BECOMES_READY = (None, Status.BACKLOG, Status.READY, Status.FAILED)
_KEPT_AS_IT_IS = (Status.BLOCKED, Status.DONE, Status.MERGED)
_PASSED = (Status.DONE, Status.MERGED)


def admit(item: Item, board: Board) -> Item:
    """The task as the batch's order makes it: approved, and ready unless it runs, waits for a person or is finished.

    Each order counts once for each member. What a person did to the task after the order outweighs it.
    """
    batch = board.batches.get(item.number)
    if batch is None or batch.order is None:
        return _released(item, board)
    if (
        item.task.record_problem
        or not item.task.issue.is_open
        or not _is_new(item, batch.number, batch.order)
    ):
        return item
    move, status, record = item.meant.move, item.meant.status, item.record
    if move is not None and move.at > batch.order.at:
        return replace(item, record=replace(record, batch=batch.number))
    approval = board.approval_by(item, batch.order.by, batch.order.at)
    if record.live is not None:
        if record.live.cancelled_for or move is not None:
            return item  # its end is under way; the order counts once that is settled
        return replace(item, record=replace(record, batch=batch.number, approval=approval))
    if status in _BECOMES_READY:
        base = record if status is Status.READY and move is None else fresh(record)
        return Item(item.task, replace(base, batch=batch.number, approval=approval), Meant(Status.READY))
    if status in _KEPT_AS_IT_IS:
        return replace(item, record=replace(record, batch=batch.number, approval=approval))
    return item


def _is_new(item: Item, number: int, order: Order) -> bool:
    approval = item.record.approval
    return item.record.batch != number and (approval is None or approval.at < order.at)


def _released(item: Item, board: Board) -> Item:
    """A member of a batch that has ended is free again once a person has ordered it anew."""
    approval = item.record.approval
    if not item.record.batch or approval is None or item.meant.status is not Status.READY:
        return item
    verdict = judge_order(item.task, item.record, board.snapshot)
    if isinstance(verdict, Approval) and verdict.at > approval.at:
        return replace(item, record=replace(item.record, batch=0, approval=verdict))
    return item


def leave_ended_batch(item: Item, board: Board) -> Decision | None:
    """What a batch made ready does not start without it: back to the backlog once the batch is closed."""
    number = item.record.batch
    if not number or item.number in board.batches or item.meant.status is not Status.READY:
        return None
    verdict = judge_order(item.task, item.record, board.snapshot)
    if isinstance(verdict, Unknown):
        return board.hold(item, "who ordered it is being looked up", wants=verdict.wants)
    reason = (
        f"batch #{number} has ended or was stopped; `{board.config.label(Status.READY)}` starts it on its own"
    )
    return board.move(item, Status.BACKLOG, replace(item.record, batch=0), reason)


def in_sequence(tasks: Sequence[int], graph: Graph[int]) -> tuple[int, ...]:
    """The tasks in the order written, but each one's needs among them before it. Members of a cycle stay where they are."""
    members, known, done = frozenset(tasks), frozenset(graph.nodes), dict[int, None]()
    for task in tasks:
        stack = [task]
        while stack:
            number = stack[-1]
            needs = graph.needs(number) if number in known and number not in graph.in_cycle else ()
            first = [
                need for need in needs if need in members and need not in done and need not in graph.in_cycle
            ]
            if first and number not in done:
                stack += reversed(first)
            else:
                done.setdefault(stack.pop())
    return tuple(done)


class Turns:
    """Which free members may start now, as far as their batches are concerned."""

    def __init__(self, free: Iterable[Item], decided: Mapping[int, Decision], board: Board) -> None:
        self._batches = board.batches
        self._running = dict.fromkeys({batch.number for batch in board.batches.values()}, 0)
        for number, decision in decided.items():
            if number in board.batches and decision.record.live is not None:
                self._running[board.batches[number].number] += 1
        able = {item.number for item in free} | {
            number for number, said in decided.items() if _keeps_its_turn(said)
        }
        self._next: dict[int, int] = {}
        for batch in board.batches.values():
            if batch.number not in self._next and batch.order and batch.order.strategy is Strategy.SERIAL:
                line = in_sequence(batch.order.tasks, board.graph)
                self._next[batch.number] = next((number for number in line if number in able), 0)

    def refusal(self, item: Item) -> str:
        """Why the item must wait for its batch; empty if it need not."""
        batch = self._batches.get(item.number)
        if batch is None or batch.order is None:
            return ""
        running = self._running[batch.number]
        if batch.order.strategy is Strategy.SERIAL:
            if running:
                return f"waits for its turn in batch #{batch.number}: another member is running"
            if self._next[batch.number] != item.number:
                return f"waits for its turn in batch #{batch.number}: #{self._next[batch.number]} comes first"
        most = batch.order.max_parallel
        if most is not None and running >= most:
            return f"waits for a slot: max_parallel of batch #{batch.number} is {most}"
        return ""

    def take(self, item: Item) -> None:
        """Count a member that starts."""
        if item.number in self._batches:
            self._running[self._batches[item.number].number] += 1


def _keeps_its_turn(decision: Decision) -> bool:
    """A member that will start by itself soon (it backs off, or became ready just now) is not overtaken."""
    return decision.status is Status.READY and (decision.verb is not Verb.HOLD or decision.due is not None)


def end_batches(decided: Mapping[int, Decision], board: Board) -> tuple[BatchEnd, ...]:
    """The batches that end now: nothing of them runs, can start, backs off, or waits for a merge or an answer."""
    outlook = _Outlook(decided, board)
    ends = []
    for batch in board.snapshot.batches:
        text = _last_words(batch, outlook, board)
        if text:
            fingerprint = _fingerprint(batch)
            said = "" if _was_posted(batch, fingerprint, board) else end_comment(fingerprint, text)
            ends.append(BatchEnd(batch.issue.node_id, batch.number, said))
    return tuple(ends)


def _last_words(batch: Batch, outlook: "_Outlook", board: Board) -> str:
    """The final text, or nothing while the batch goes on."""
    if batch.order is None:
        return f"**Stopped**: {batch.problem}. Nothing more starts by this batch; what runs finishes. Please order a new one."
    taken = [number for number in batch.order.tasks if _older(batch, number, board)]
    if taken:
        names = ", ".join(f"#{number} is a member of #{board.batches[number].number}" for number in taken)
        return (
            f"**Cancelled**: {names}. A task belongs to one batch at a time; nothing was started by this one."
        )
    if any(outlook.goes_on(number) for number in batch.order.tasks):
        return ""
    return results_text([outlook.result(number) for number in batch.order.tasks])


def _older(batch: Batch, task: int, board: Board) -> bool:
    owner = board.batches.get(task)
    return owner is not None and owner.number != batch.number


def _fingerprint(batch: Batch) -> str:
    """One for each time the batch issue was opened."""
    reopened = [event.at for event in batch.issue.events if event.kind is EventKind.REOPENED]
    return (
        f"batch-end:{batch.number}:{max(reopened):%Y%m%dT%H%M%S}" if reopened else f"batch-end:{batch.number}"
    )


def _was_posted(batch: Batch, fingerprint: str, board: Board) -> bool:
    comments = (*batch.issue.comments, *board.snapshot.comments.get(batch.number, ()))
    return any(
        comment.author.id in board.accounts and read_fingerprint(comment.body) == fingerprint
        for comment in comments
    )


class _Outlook:
    """Whether anything may still come of a task without a new order."""

    def __init__(self, decided: Mapping[int, Decision], board: Board) -> None:
        self._decided = decided
        self._board = board
        self._hopeful: dict[int, bool] = {}

    def goes_on(self, number: int) -> bool:
        """False for what is finished, failed, withdrawn or gone, and for what waits for something that never comes."""
        if not self._hopeful and self._decided:
            # Needs come first in this order, so each look at a need finds its answer; what is missing is on a cycle.
            for task in self._board.graph.topological:
                self._hopeful[task] = self._judge(task)
        return self._hopeful.get(number, False) or self._is_running(number)

    def _is_running(self, number: int) -> bool:
        decision = self._decided.get(number)
        return decision is not None and decision.record.live is not None

    def _judge(self, number: int) -> bool:
        decision, task = self._decided.get(number), self._board.snapshot.tasks.get(number)
        if (
            decision is None
            or task is None
            or task.record_problem
            or not task.issue.is_open
            or decision.close
        ):
            return False
        if decision.record.live is not None or decision.status in (Status.DONE, Status.BLOCKED):
            return True
        if decision.status is not Status.READY or number in self._board.behind_cycles:
            return False
        unmet, _ = unmet_needs(task, self._board)
        return all(self._may_come(need) for need in unmet)

    def _may_come(self, need: Unmet) -> bool:
        if need.state is NeedState.OPEN and need.ref.repository == self._board.home:
            return self._hopeful.get(need.ref.number, False)
        return need.state in (NeedState.OPEN_PULL, NeedState.UNKNOWN)

    def result(self, number: int) -> Result:
        """A member's row in the final table."""
        decision = self._decided.get(number)
        if decision is None:
            return Result(number, "gone", reason="the issue cannot be read any more")
        record = decision.record
        attempts = sum(attempt.kind is Kind.CODE for attempt in record.attempts)
        if decision.status in _PASSED:
            return Result(number, str(decision.status), attempts, record.pull)
        if decision.status is Status.READY:
            return Result(
                number, "not run", attempts, record.pull, self._waits_for(number) or decision.reason
            )
        last = last_attempt(record)
        failed = decision.status is Status.FAILED and last is not None and last.reason
        reason = f"{last.outcome}: {last.reason}" if failed and last else decision.reason
        return Result(number, str(decision.status or "not a task any more"), attempts, record.pull, reason)

    def _waits_for(self, number: int) -> str:
        """The needs that keep a member from running, as they stand after this tick."""
        if number in self._board.cyclic:
            return ""
        unmet, _ = unmet_needs(self._board.snapshot.tasks[number], self._board)
        words = [f"failed #{need.ref.number}" if self._failed(need) else need.words for need in unmet]
        return f"waiting on {', '.join(words)}" if words else ""

    def _failed(self, need: Unmet) -> bool:
        decision = self._decided.get(need.ref.number) if need.ref.repository == self._board.home else None
        return decision is not None and decision.status is Status.FAILED
