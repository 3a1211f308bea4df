"""Members of a batch: who becomes ready by its order, what happens to them when it ends by force, and what holds them after it.

A batch's members are ordinary tasks. The order approves them once, at its own time (a resume once more, at its time); from then
on a person's newer order or an outsider's edit counts as for any other task.
"""

from msgspec.structs import replace

from bot.model.decision import Decision, Notice, Verb
from bot.model.record import Approval
from bot.model.status import Status
from bot.notation.batches import gate_words
from bot.notation.keys import Key
from bot.plan.attempts.consequences import backoff
from bot.plan.attempts.running import end_live
from bot.plan.board import Board, Item
from bot.plan.facts.batch_controls import BatchView
from bot.plan.facts.labels import Meant
from bot.plan.facts.record_edits import reset_by_order
from bot.plan.facts.trust import Unknown, judge_order

_BECOMES_READY = (None, Status.BACKLOG, Status.READY, Status.FAILED)
_KEPT_AS_IT_IS = (Status.BLOCKED, Status.DONE, Status.MERGED)


def admit(item: Item, board: Board) -> Item:
    """The task as the batch's order makes it: approved, and ready unless it runs, waits for a person or is finished.

    Each order counts once for each member. What a person did to the task after the order outweighs it.
    """
    batch_view = board.batches.get(item.number)
    if batch_view is None:
        return _released(item, board)
    if item.task.record_problem or not item.task.issue.is_open:
        return item
    if not _is_new(item, batch_view):
        return _next_round(item, batch_view)
    move, status, record = item.meant.move, item.meant.status, item.record
    if move is not None and move.at > batch_view.call.at:
        return replace(item, record=replace(record, batch=batch_view.number))
    approval = board.approval_by(item, batch_view.call.by, batch_view.call.at)
    if record.live is not None:
        if record.live.cancelled_for or move is not None:
            return item  # its end is under way; the order counts once that is settled
        return replace(item, record=replace(record, batch=batch_view.number, approval=approval))
    if status in _BECOMES_READY or _taken_up_again(item, batch_view):
        base = (
            record
            if status is Status.READY and move is None and not batch_view.resumed
            else reset_by_order(record)
        )
        return Item(item.task, replace(base, batch=batch_view.number, approval=approval), Meant(Status.READY))
    if status in _KEPT_AS_IT_IS:
        return replace(item, record=replace(record, batch=batch_view.number, approval=approval))
    return item


def _is_new(item: Item, batch_view: BatchView) -> bool:
    """Whether the order, or the resume, has not yet reached this member. One that a person withdrew since is left alone."""
    approval, record = item.record.approval, item.record
    if approval is not None and approval.at >= batch_view.call.at:
        return False
    if record.batch == batch_view.number:
        return batch_view.resumed
    return not (
        batch_view.resumed and batch_view.record.started_at and item.meant.status in (None, Status.BACKLOG)
    )


def _taken_up_again(item: Item, batch_view: BatchView) -> bool:
    """A resume takes up what is blocked without a question that could be answered, and by force what is done."""
    if not batch_view.resumed:
        return False
    if item.meant.status is Status.DONE:
        return batch_view.call.force
    return item.meant.status is Status.BLOCKED and item.record.blocker is None


def _next_round(item: Item, batch_view: BatchView) -> Item:
    """A member that had failed when an extra round began gets fresh strikes, once; the approval stays as it was given."""
    record, batch = item.record, batch_view.batch.record
    if item.meant.status is not Status.FAILED or item.meant.move is not None or record.round >= batch.rounds:
        return item
    if batch.round_at is None or record.status_at is None or record.status_at > batch.round_at:
        return item
    again = replace(reset_by_order(record), batch=batch_view.number, round=batch.rounds)
    return Item(item.task, again, Meant(Status.READY))


def _released(item: Item, board: Board) -> Item:
    """A member of a batch that has ended is free again once a person has ordered it anew."""
    approval = item.record.approval
    if not item.record.batch or approval is None or item.meant.status is not Status.READY:
        return item
    verdict = judge_order(item.task, item.record, board.snapshot)
    if isinstance(verdict, Approval) and verdict.at > approval.at:
        return replace(item, record=replace(item.record, batch=0, started_by_command=False, approval=verdict))
    return item


def end_by_force(item: Item, board: Board) -> Decision | None:
    """A batch that was stopped by force ends what it started; work and answers are kept."""
    batch_view = board.batch_views.get(item.record.batch)
    live = item.record.live
    if batch_view is None or not batch_view.forced_end or live is None or live.cancelled_for:
        return None
    control = batch_view.record.control
    by = f" by {control.by}" if control and control.by else ""
    return end_live(
        item, board, Status.BACKLOG, f"batch #{batch_view.number} was stopped by force{by}", Verb.MOVE
    )


def heed_gate(item: Item, board: Board) -> Decision | None:
    """The member that broke the batch gate goes back to ready with its log, while it has strikes; each verdict counts once."""
    batch_view = board.batches.get(item.number)
    search = batch_view.batch.record.gate if batch_view is not None else None
    if batch_view is None or search is None or search.passed is not False or search.guilty != item.number:
        return None
    fingerprint = f"gate:{batch_view.number}:{search.heads}"
    if item.meant.status is not Status.DONE or item.record.blamed == search.heads:
        return None
    strikes, most = batch_view.batch.record.blames.get(item.number, 1), board.config.retry.max_attempts
    text = f"Together with the other work of batch #{batch_view.number} this task does not pass.\n\n{gate_words(search)}"
    record = replace(item.record, strikes=strikes, blamed=search.heads, feedback=search.log)
    reason = f"the gate of batch #{batch_view.number} does not pass with it"
    if strikes >= most:
        text += f"\n\nIt has no attempt left; `{board.config.label(Status.READY)}` starts it again."
        return board.move(item, Status.FAILED, record, reason, (Notice(fingerprint, text),))
    due = board.snapshot.now + backoff(board.config, strikes, Key(item.number, record.next_attempt))
    record = replace(record, not_before=due)
    return board.decide(
        item, Verb.MOVE, reason, Status.READY, record, notices=(Notice(fingerprint, text),), due=due
    )


def leave_ended_batch(item: Item, board: Board) -> Decision | None:
    """What a batch made ready does not start without it: back to the backlog once the batch has ended or was stopped."""
    number = item.record.batch
    if not number or item.number in board.batches or item.meant.status is not Status.READY:
        return None
    verdict = judge_order(item.task, item.record, board.snapshot)
    if isinstance(verdict, Unknown):
        return board.hold(item, "who ordered it is being looked up", wants=verdict.wants)
    return board.move(item, Status.BACKLOG, item.record, left_by(number, board))


def left_by(number: int, board: Board) -> str:
    """Why a member of an ended batch does not start."""
    return (
        f"batch #{number} has ended or was stopped; `{board.config.label(Status.READY)}` starts it on its own"
    )
