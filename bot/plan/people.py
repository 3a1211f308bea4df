"""Rules for what people did: closed, reopened, withdrew, moved. Open and closed are facts and are obeyed from every state."""

from datetime import timedelta

from msgspec.structs import replace

from bot.model.decision import Decision, Notice, Verb
from bot.model.issue import EventKind, NeedState, Pull, StateReason, TimelineEvent
from bot.model.snapshot import NeedOf
from bot.model.status import MOVES, Status, may_move
from bot.notation.keys import Key, branch_of
from bot.plan.attempts.running import end_live
from bot.plan.board import Board, Item, own_pull_state
from bot.plan.facts.record_edits import reset_by_order, with_status
from bot.plan.facts.trust import Unknown, may_label, may_order

_PUTS_BACK = (Status.MERGED, Status.IN_PROGRESS)  # states that only we can bring about
_DROPPED = {
    StateReason.NOT_PLANNED: "closed as not planned",
    StateReason.DUPLICATE: "closed as a duplicate",
    StateReason.OTHER: "closed for a reason that this version of cf-conductor does not know",
}
_STAMP = "%Y%m%dT%H%M%S"
_PUT_BACK_TOLD, _PATIENCE = 3, timedelta(hours=1)


def obey_close(item: Item, board: Board) -> Decision | None:
    """A closed issue leaves the queue: completed is done (merged by a linked pull request: merged), else dropped."""
    issue = item.task.issue
    if issue.is_open:
        return None
    if issue.state_reason in _DROPPED:
        return end_live(item, board, None, _DROPPED[issue.state_reason], Verb.DROP)
    merged = merged_pull(item)
    if merged is not None:
        own = merged.number == item.record.pull or _is_by_live_attempt(merged, item, board)
        return end_live(item, board, Status.MERGED, f"merged by #{merged.number}", Verb.MOVE, spare=own)
    if item.record.status is not Status.MERGED or not item.record.pull:
        return end_live(item, board, Status.DONE, "closed as completed", Verb.MOVE)
    # By a pull request whose text does not close the issue: it was we who closed it.
    return end_live(item, board, Status.MERGED, f"merged by #{item.record.pull}", Verb.MOVE, spare=True)


def _is_by_live_attempt(pull: Pull, item: Item, board: Board) -> bool:
    """Whether the attempt that runs has opened and merged it (`merge: auto`): only its report will tell the record so."""
    live = item.record.live
    if live is None or pull.author.id not in board.accounts:
        return False
    key = Key(item.number, live.number)
    return pull.head_ref in (branch_of(key), branch_of(key, fresh=True))


def merged_pull(item: Item) -> Pull | None:
    """A merged pull request that closes this issue, our own first."""
    merged = [pull for pull in item.task.issue.pulls if pull.merged]
    return min(merged, key=lambda pull: pull.number != item.record.pull) if merged else None


def admit_reopened(item: Item, board: Board) -> Decision | None:
    """A reopening counts once: by an authorised person the task enters as ready with fresh strikes, else as backlog."""
    event = _reopening(item, board)
    if event is None:
        return None
    allowed = may_order(event.actor, board.snapshot)
    if isinstance(allowed, Unknown):
        return board.hold(item, "who reopened it is being looked up", wants=allowed.wants)
    record = replace(
        reset_by_order(item.record),
        reopened_at=event.at,
        pull=0,
        head="",
        earlier="",
    )
    if not allowed:
        return board.move(
            item, Status.BACKLOG, record, f"reopened by {event.actor.login}, who may not order work"
        )
    approval = board.approval_by(item, event.actor.login, event.at)
    return board.move(
        item, Status.READY, replace(record, approval=approval), f"reopened by {event.actor.login}"
    )


def _reopening(item: Item, board: Board) -> TimelineEvent | None:
    """The newest reopening of a finished task by somebody else than us that was not acted upon yet."""
    finished = (Status.DONE, Status.MERGED)
    dropped_at = item.record.status_at if item.record.status is None else None
    dropped = dropped_at is not None
    if item.meant.status not in finished and not (item.meant.status is None and dropped):
        return None
    events = item.task.issue.events
    reopenings = [
        event for event in events if event.kind is EventKind.REOPENED and event.actor.id not in board.accounts
    ]
    newest = max(reopenings, key=lambda event: event.at, default=None)
    if newest is None or (dropped_at is not None and newest.at < dropped_at.replace(microsecond=0)):
        return None
    if item.record.reopened_at is not None and newest.at <= item.record.reopened_at:
        return None
    names = {board.config.label(status).casefold() for status in finished}
    labelled = [
        event.at
        for event in events
        if event.kind is EventKind.LABELED and (event.label or "").casefold() in names
    ]
    return None if labelled and max(labelled) > newest.at else newest


def close_what_merged(item: Item, board: Board) -> Decision | None:
    """A task whose own pull request merged while its issue stayed open is closed as completed by us.

    One that is called merged already is no exception: the tick that said so may have died before it closed the issue.
    """
    if item.record.pull == 0:
        return None
    state = own_pull_state(item, board)
    if state is None:
        wants = {NeedOf(board.own_pull(item))}
        return board.hold(item, f"#{item.record.pull} is being looked up", wants=wants)
    if state is not NeedState.MERGED:
        return None
    reason = f"its pull request #{item.record.pull} was merged"
    return replace(end_live(item, board, Status.MERGED, reason, Verb.MOVE, spare=True), close=True)


def withdraw_unlabelled(item: Item, board: Board) -> Decision | None:
    """No status label: removed by a person it is withdrawn; otherwise it is rebuilt from claim and record."""
    if item.meant.status is not None:
        return None
    record = item.record
    if record.status is None:
        if record.live is not None:  # withdrawn already, its run is on its way out
            return end_live(item, board, None, record.live.cancelled_for or "withdrawn", Verb.DROP)
        return board.hold(item, "not a task: it carries no status label")
    if item.meant.move is not None:
        out = replace(item, record=replace(record, batch=0))  # a batch that is resumed leaves it alone
        return end_live(out, board, None, f"withdrawn by {item.meant.move.actor.login}", Verb.DROP)
    status = Status.IN_PROGRESS if record.live else record.status
    return board.move(item, status, record, "its status label had vanished and was put back")


def obey_move(item: Item, board: Board) -> Decision | None:
    """A person's label that is newer than our last write: a legal move is obeyed, another is put back with one comment."""
    move, wanted, before = item.meant.move, item.meant.status, item.record.status
    if move is None or wanted is None or before is None or wanted is before:
        return None
    allowed = may_label(move.actor, board.snapshot)
    if isinstance(allowed, Unknown):
        return board.hold(item, "who changed the label is being looked up", wants=allowed.wants)
    if not allowed:
        return _put_back(item, board, before, f"{move.actor.login} may not change the status of a task here")
    if wanted in _PUTS_BACK or not may_move(before, wanted):
        ways = ", ".join(f"`{board.config.label(way)}`" for way in MOVES[before] if way not in _PUTS_BACK)
        return _put_back(item, board, before, f"from `{before}` a label may take it to {ways or 'nothing'}")
    record = item.record
    if wanted is Status.READY:
        approval = board.approval_by(item, move.actor.login, move.at)
        record = replace(reset_by_order(record), approval=approval)
    elif wanted is Status.BACKLOG:
        record = replace(record, batch=0)  # withdrawn: a batch that is resumed leaves it alone
    return end_live(
        replace(item, record=record), board, wanted, f"set to {wanted} by {move.actor.login}", Verb.MOVE
    )


def _put_back(item: Item, board: Board, status: Status, why: str) -> Decision:
    """With one comment, but for the fourth time within an hour: then it is a program that we must not talk with for ever."""
    move = item.meant.move
    stamp = f"{move.at:{_STAMP}}" if move else ""
    text = f"The status label was put back to `{board.config.label(status)}`: {why}."
    since = f"put-back:{board.snapshot.now - _PATIENCE:{_STAMP}}"
    told = [one for one in item.record.notices if one.startswith("put-back:") and one >= since]
    notices = (Notice(f"put-back:{stamp}", text),) if len(told) < _PUT_BACK_TOLD else ()
    # The write is recorded as new, so that the same old event is not judged again.
    record = replace(item.record, status=status, status_at=board.snapshot.now)
    return board.decide(item, Verb.MOVE, f"label put back: {why}", status, record, notices=notices)


def keep_current(item: Item, board: Board) -> Decision | None:
    """A task that is said to be in progress, with no attempt to show for it, is nobody's: a person has to order it."""
    if item.meant.status is not Status.IN_PROGRESS or item.record.live:
        return None
    reason = "in-progress without any attempt of ours; set it to ready to start it"
    return board.move(
        item, Status.BACKLOG, with_status(item.record, Status.BACKLOG, board.snapshot.now), reason
    )
