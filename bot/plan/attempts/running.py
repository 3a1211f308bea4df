"""Rules for a task that an attempt owns: follow its run, end it when it is not wanted any more, settle how it ended."""

from datetime import datetime

from bot.model.decision import CancelRun, Decision, Notice, Verb
from bot.model.record import Attempt, Record
from bot.model.report import Outcome
from bot.model.run import Run
from bot.model.status import Status
from bot.notation.keys import Key, keys_in
from bot.plan.attempts.baseline import baseline_notices
from bot.plan.attempts.consequences import effect_of
from bot.plan.attempts.ending import Ending, ending_of, merge_facts, run_of
from bot.plan.board import Board, Item
from bot.plan.facts.record_edits import ended, with_live, with_newest
from bot.plan.facts.trust import Unapproved, Unknown, still_stands


def end_live(
    item: Item,
    board: Board,
    status: Status | None,
    why: str,
    verb: Verb,
    spare: bool = False,
    notices: tuple[Notice, ...] = (),
    force: bool = False,
) -> Decision:
    """People decided: give the task its new status and end the attempt that still runs, if any.

    The slot stays in use until the run has ended. With `spare` the run is left to finish (it is what brought the news), and
    its report counts. With `force` it is not given the time to end by itself.
    """
    live = item.record.live
    if live is None:
        return board.decide(item, verb, why, status, item.record, notices=notices)
    key = Key(item.number, live.number)
    run = run_of(key, live, board.snapshot)
    shared = run is not None and len(keys_in(run.title)) > 1
    spared = spare and not live.cancelled_for
    ending = ending_of(key, run, board.snapshot) if run is not None and (spared or shared) else None
    if isinstance(ending, frozenset):
        return board.decide(item, verb, why, status, item.record, notices=notices, wants=ending)
    if ending is not None and ending.report is not None:
        record = with_newest(item.record, merge_facts(item.record, ending, board.snapshot.now))
        if not spared:  # its leg has ended by itself, and the run goes on for the others
            record = ended(record, Outcome.CANCELLED, live.cancelled_for or why, board.snapshot.now)
        return board.decide(item, verb, why, status, record, notices=notices)
    settled = _settle_unwanted(item, board, live, run, why)
    if settled is not None:
        return board.decide(item, verb, why, status, settled, notices=notices)
    record, cancel, words = _cancel(item.record, live, run, board, "" if spare else why, force=force)
    due = _force_due(record.attempts[-1], board)
    return board.decide(
        item,
        Verb.CANCEL if cancel else verb,
        f"{why}; {words}",
        status,
        record,
        cancel=cancel,
        notices=notices,
        due=due,
    )


def _force_due(live: Attempt, board: Board) -> datetime | None:
    """When a cancel that was asked for is repeated by force."""
    if live.cancel_sent_at is None or live.force_sent_at is not None:
        return None
    return live.cancel_sent_at + board.config.force_after


def _settle_unwanted(item: Item, board: Board, live: Attempt, run: Run | None, why: str) -> Record | None:
    """The record once an attempt that nobody wants any more is over; None while it is not."""
    now = board.snapshot.now
    if run is None:
        return ended(item.record, Outcome.CANCELLED, why, now) if _overdue(live, board) else None
    if not run.ended:
        return None
    return ended(item.record, Outcome.CANCELLED, live.cancelled_for or why, now)


def _cancel(
    record: Record, live: Attempt, run: Run | None, board: Board, why: str, *, force: bool
) -> tuple[Record, CancelRun | None, str]:
    """Ask for the end of the run once, and after the grace once more by force."""
    now = board.snapshot.now
    if not why:
        return record, None, "its run is left to finish"
    if run is None:
        return with_live(record, cancelled_for=why), None, "its run has not appeared yet"
    if others := _wanted_in(run, record.task, board):
        record = with_live(record, run=run.id, cancelled_for=why)
        return record, None, f"its leg of run {run.id} ends by itself; the run goes on for {others}"
    if live.cancel_sent_at is None and not force:
        record = with_live(record, run=run.id, cancelled_for=why, cancel_sent_at=now)
        return record, CancelRun(run.id), f"run {run.id} is being cancelled"
    sent = live.cancel_sent_at or now
    if live.force_sent_at is None and (force or now - sent >= board.config.force_after):
        return (
            with_live(record, run=run.id, cancelled_for=why, cancel_sent_at=sent, force_sent_at=now),
            CancelRun(run.id, force=True),
            f"run {run.id} is being cancelled by force",
        )
    return record, None, f"run {run.id} is being cancelled"


def _wanted_in(run: Run, task: int, board: Board) -> str:
    """The other tasks of a shared run that still want it: GitHub can cancel whole runs only."""
    wanted = []
    for key in keys_in(run.title):
        other = board.snapshot.tasks.get(key.task)
        live = other.record.live if other is not None else None
        if key.task != task and live is not None and live.number == key.number and not live.cancelled_for:
            wanted.append(f"#{key.task}")
    return ", ".join(wanted)


def follow_attempt(item: Item, board: Board) -> Decision | None:
    """The attempt that owns the task: settle it if it ended, else say where it is."""
    live = item.record.live
    if live is None:
        return None
    if live.cancelled_for:
        return end_live(item, board, item.meant.status, live.cancelled_for, Verb.RUNNING)
    lost = _approval_lost(item, board)
    if lost is not None:
        return lost
    key = Key(item.number, live.number)
    run = run_of(key, live, board.snapshot)
    if run is None:
        return _await_run(item, board, key, live)
    ending = ending_of(key, run, board.snapshot)
    record = item.record if live.run == run.id else with_live(item.record, run=run.id)
    if isinstance(ending, frozenset):
        return board.decide(
            item, Verb.RUNNING, f"{key}: its end is being read", Status.IN_PROGRESS, record, wants=ending
        )
    if ending is None:
        return board.decide(
            item, Verb.RUNNING, f"running as {key} (run {run.id})", Status.IN_PROGRESS, record
        )
    return _finish(item, board, key, record, ending)


def _approval_lost(item: Item, board: Board) -> Decision | None:
    """An edit by somebody without permission after the order withdraws the approval and ends the run."""
    approval = item.record.approval
    if approval is None:
        return None
    verdict = still_stands(approval, item.task, board.snapshot)
    if isinstance(verdict, Unknown):
        return board.decide(
            item,
            Verb.RUNNING,
            "who edited it is being looked up",
            Status.IN_PROGRESS,
            item.record,
            wants=verdict.wants,
        )
    if isinstance(verdict, Unapproved):
        return end_live(
            item, board, Status.BACKLOG, verdict.reason, Verb.MOVE, notices=(changed_notice(verdict, board),)
        )
    return None


def changed_notice(verdict: Unapproved, board: Board) -> Notice:
    """Ask for a new approval of a text that was changed by somebody without permission; once for each such change."""
    text = (
        f"Not started, or ended: the {verdict.reason}. Please read the text as it is now;"
        f" to approve it, set the label `{board.config.label(Status.READY)}`."
    )
    return Notice(f"changed:{verdict.changed_at or board.snapshot.now:%Y%m%dT%H%M%S}", text)


def _await_run(item: Item, board: Board, key: Key, live: Attempt) -> Decision:
    """Claimed, and no run carries the key yet: wait out the launch grace, then start over without a strike."""
    if not _overdue(live, board):
        due = live.claimed_at + board.config.dispatch.launch_grace
        words = f"{key} is claimed; its run has not appeared yet"
        return board.decide(item, Verb.RUNNING, words, Status.IN_PROGRESS, item.record, due=due)
    reason = "its run was deleted" if live.run else "failed to start: no run ever appeared"
    return _finish(item, board, key, item.record, Ending(Outcome.INFRA, reason))


def _overdue(live: Attempt, board: Board) -> bool:
    """A run list may lag behind, so a run that is not in it counts as missing only after the launch grace."""
    return board.snapshot.now - live.claimed_at > board.config.dispatch.launch_grace


def _finish(item: Item, board: Board, key: Key, record: Record, ending: Ending) -> Decision:
    now = board.snapshot.now
    record = with_newest(record, merge_facts(record, ending, now))
    effect = effect_of(key, record, ending, board.config.with_chosen(board.chosen(item)), now)
    return board.decide(
        item,
        Verb.FINISH,
        effect.reason,
        effect.status,
        effect.record,
        notices=(*effect.notices, *baseline_notices(key, ending.report, board)),
        due=effect.record.not_before if effect.status is Status.READY else None,
    )
