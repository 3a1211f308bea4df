"""Where each member of a batch stands after this tick's decisions, and whether anything may still come of it."""

from collections.abc import Mapping

from bot.model.batch import Result
from bot.model.decision import Decision
from bot.model.issue import NeedState, StateReason
from bot.model.record import Record
from bot.model.status import Status
from bot.model.unit import Kind
from bot.plan.board import Board, Item
from bot.plan.facts.batch_controls import BatchView
from bot.plan.facts.record_edits import last_attempt
from bot.plan.people import merged_pull
from bot.plan.starts.batch_turns import failed_member, is_fresh
from bot.plan.starts.waiting import Unmet, unmet_needs

PASSED = (Status.DONE, Status.MERGED)
_DROPPED = (StateReason.NOT_PLANNED, StateReason.DUPLICATE, StateReason.OTHER)


class MemberStates:
    """Made once for all batches of a tick."""

    def __init__(self, decided: Mapping[int, Decision], board: Board) -> None:
        self._decided = decided
        self._board = board
        self._items = {item.number: item for item in board.items}
        self._barred = {
            number
            for batch_view in {
                batch_view.number: batch_view for batch_view in board.batches.values()
            }.values()
            if failed_member(batch_view, decided)
            for number in batch_view.order.tasks
            if number in decided and is_fresh(decided[number].record)
        }
        self._hopeful: dict[int, bool] = {}
        # Needs come first in this order, so each look at a need finds its answer; what is missing is on a cycle.
        for task in board.graph.topological:
            self._hopeful[task] = self._judge(task)

    def runs(self, number: int) -> bool:
        decision = self._decided.get(number)
        return decision is not None and decision.record.live is not None

    def goes_on(self, number: int) -> bool:
        """False for what is finished, failed, withdrawn or gone, and for what waits for something that never comes."""
        return self._hopeful.get(number, False) or self.runs(number)

    def waits_for_merge(self, number: int) -> bool:
        """Its work is done, and only its pull request is open."""
        decision = self._decided.get(number)
        return (
            decision is not None
            and decision.status is Status.DONE
            and self.goes_on(number)
            and not self.runs(number)
        )

    def waits_for_answer(self, number: int) -> bool:
        decision = self._decided.get(number)
        return decision is not None and decision.status is Status.BLOCKED and not self.runs(number)

    def may_start(self, number: int) -> bool:
        """It runs, or may without anybody merging or answering anything first."""
        if self.runs(number):
            return True
        decision = self._decided.get(number)
        if decision is None or decision.status is not Status.READY or not self._hopeful.get(number, False):
            return False
        unmet, _ = unmet_needs(self._board.snapshot.tasks[number], self._board)
        return not unmet

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
        if decision.record.live is not None or decision.status is Status.BLOCKED:
            return True
        if decision.status is Status.DONE:
            return bool(decision.record.pull)  # called done by a person it is completed elsewhere
        if (
            decision.status is not Status.READY
            or number in self._board.behind_cycles
            or number in self._barred
        ):
            return False
        unmet, _ = unmet_needs(task, self._board)
        return all(self._may_come(need) for need in unmet)

    def _may_come(self, need: Unmet) -> bool:
        if need.state is NeedState.OPEN and need.ref.repository == self._board.home:
            return self._hopeful.get(need.ref.number, False)
        return need.state in (NeedState.OPEN_PULL, NeedState.UNKNOWN)

    def result(self, number: int, batch_view: BatchView) -> Result:
        """A member's row in the tables."""
        decision = self._decided.get(number)
        was = next((status for status, tasks in batch_view.record.was.items() if number in tasks), "")
        if decision is None:
            return Result(
                number, "", "gone", reason="the issue cannot be read any more", dropped=True, was=was
            )
        item, record = self._items[number], decision.record
        code = [attempt for attempt in record.attempts if attempt.kind is Kind.CODE]
        dropped = item.task.issue.state_reason in _DROPPED and not item.task.issue.is_open
        passed = decision.status in PASSED and not dropped
        return Result(
            number,
            item.task.issue.title,
            self._status(number, decision, batch_view, dropped=dropped),
            attempts=len(code),
            run=record.attempts[-1].run if record.attempts else 0,
            pull=record.pull,
            minutes=round(sum(attempt.minutes for attempt in record.attempts), 1),
            usd=round(sum(attempt.usd for attempt in record.attempts), 4),
            reason="" if passed and not self.goes_on(number) else self._reason(number, decision),
            passed=passed,
            own=passed and self._is_own(item, decision),
            dropped=dropped,
            failed=decision.status is Status.FAILED,
            blocked=decision.status is Status.BLOCKED,
            was=was,
        )

    def _status(self, number: int, decision: Decision, batch_view: BatchView, *, dropped: bool) -> str:
        if dropped:
            return "dropped"
        held = decision.status is Status.READY and not self.goes_on(number)
        left = decision.status is Status.BACKLOG and decision.record.batch == batch_view.number
        if held or left:
            return "not run"
        return str(decision.status or "withdrawn")

    def _is_own(self, item: Item, decision: Decision) -> bool:
        """Whether it was this conductor's work that passed; else the task was completed elsewhere."""
        record = decision.record
        if item.task.issue.is_open and not decision.close:
            return bool(record.pull)
        merged = merged_pull(item)
        return (
            decision.status is Status.MERGED
            and record.pull > 0
            and (merged is None or merged.number == record.pull)
        )

    def _reason(self, number: int, decision: Decision) -> str:
        if decision.status is Status.READY and not self.goes_on(number):
            return self._waits_for(number) or decision.reason
        return _last_words(decision.status, decision.record) or decision.reason

    def _waits_for(self, number: int) -> str:
        """The needs that keep a member from running, as they stand after this tick."""
        if number in self._board.cyclic or number in self._barred:
            return ""
        unmet, _ = unmet_needs(self._board.snapshot.tasks[number], self._board)
        words = [f"failed #{need.ref.number}" if self._failed(need) else need.words for need in unmet]
        return f"waiting on {', '.join(words)}" if words else ""

    def _failed(self, need: Unmet) -> bool:
        decision = self._decided.get(need.ref.number) if need.ref.repository == self._board.home else None
        return decision is not None and decision.status is Status.FAILED


def _last_words(status: Status | None, record: Record) -> str:
    last = last_attempt(record)
    if status is not Status.FAILED or last is None or not last.reason:
        return ""
    return f"{last.outcome}: {last.reason}"
