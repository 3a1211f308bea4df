"""Rules for finished work that was not published, and for its pull request when people refuse it or ask for changes."""

from datetime import timedelta

from msgspec.structs import replace

from bot.model.decision import Decision, Notice
from bot.model.issue import NeedState
from bot.model.report import Hold, Outcome
from bot.model.snapshot import NeedOf
from bot.model.status import Status
from bot.plan.board import Board, Item, own_pull_state
from bot.plan.facts.record_edits import last_attempt

_AGAIN_AFTER = (timedelta(hours=1), timedelta(hours=6), timedelta(hours=24))
_MERGE_AFTER = (timedelta(0), *_AGAIN_AFTER)  # after GitHub erred once, it is not asked at each tick


def publish_again(item: Item, board: Board) -> Decision | None:
    """Where a setting refused the pull request, publishing is repeated by the first tick after 1 h, 6 h and 24 h."""
    held = item.record.held
    if item.meant.status is not Status.BLOCKED or held is None or held.why is not Hold.SETTING:
        return None
    if held.tries >= len(_AGAIN_AFTER) or not item.record.earlier:
        return None
    due = held.at + _AGAIN_AFTER[held.tries]
    last = last_attempt(item.record)
    if board.snapshot.now < due:
        words = last.reason if last else "publishing was refused"
        return board.hold(item, f"held: {words}; tried again at {due:%Y-%m-%d %H:%M} UTC", due=due)
    record = replace(item.record, held=replace(held, tries=held.tries + 1), republish=True)
    return board.move(item, Status.READY, record, "publishing is tried again")


def await_review(item: Item, board: Board) -> Decision | None:
    """Work with a pull request waits for it: refused it goes back, changes requested it goes on."""
    record, number, status = item.record, item.record.pull, item.meant.status
    if status is Status.DONE and number == 0:
        return board.hold(item, "done; waits for its issue to be closed")
    if number == 0 or record.live is not None or status not in _OFFERED:
        return None
    shown = any(pull.number == number for pull in item.task.issue.pulls)
    if status is not Status.DONE and not shown:
        return None  # nothing hangs on it that would be worth a request at each tick
    state = own_pull_state(item, board)
    if state is None:
        return board.hold(item, f"#{number} is being looked up", wants={NeedOf(board.own_pull(item))})
    if state is NeedState.CLOSED_UNMERGED:
        return _refused(item, board)
    if status is Status.DONE or _is_draft(item):
        own = [pull for pull in item.task.issue.pulls if pull.number == number]
        asked = max((pull.changes_requested_at for pull in own if pull.changes_requested_at), default=None)
        if asked is not None and (record.reviewed_at is None or asked > record.reviewed_at):
            reviewed = replace(record, reviewed_at=asked)
            return board.move(item, Status.READY, reviewed, f"a review of #{number} asks for changes")
    if status is not Status.DONE:
        return None
    return _merge_again(item, board) or board.hold(item, f"waits for review of #{number}")


def _merge_again(item: Item, board: Board) -> Decision | None:
    """Where `merge: auto` was refused, it is tried again once GitHub says that nothing hinders it any more.

    Only what we published: a branch that somebody added to is theirs to merge.
    """
    record, unmerged = item.record, item.record.unmerged
    if unmerged is None or board.config.with_chosen(board.chosen(item)).merge != "auto":
        return None
    ours = [one for one in item.task.issue.pulls if one.number == record.pull and one.head_sha == record.head]
    if not ours or not record.earlier or unmerged.tries >= len(_MERGE_AFTER):
        return None
    if not ours[0].can_merge:
        return board.hold(item, f"#{record.pull} is merged once GitHub says that nothing hinders it")
    due = unmerged.at + _MERGE_AFTER[unmerged.tries]
    if board.snapshot.now < due:
        return board.hold(
            item, f"the merge of #{record.pull} is tried again at {due:%Y-%m-%d %H:%M} UTC", due=due
        )
    tried = replace(record, unmerged=replace(unmerged, tries=unmerged.tries + 1), republish=True)
    return board.move(item, Status.READY, tried, f"the merge of #{record.pull} is tried again")


_OFFERED = (Status.DONE, Status.BLOCKED, Status.READY, Status.FAILED)


def _is_draft(item: Item) -> bool:
    last = last_attempt(item.record)
    blocked = item.meant.status is Status.BLOCKED
    return blocked and last is not None and last.outcome is Outcome.UNVERIFIED


def _refused(item: Item, board: Board) -> Decision:
    """Closed by a person without merge: that stops the spending, and the next attempt begins at the base with their words."""
    number = item.record.pull
    text = (
        f"Pull request #{number} was closed without merge, so this went back to the backlog. To try again from the"
        f" base, set the label `{board.config.label(Status.READY)}`; what was said there is told to the next attempt."
    )
    record = replace(item.record, pull=0, head="", earlier="", republish=False, held=None, blocker=None)
    notice = Notice(f"refused:{number}", text)
    return board.move(item, Status.BACKLOG, record, f"#{number} was closed unmerged", (notice,))
