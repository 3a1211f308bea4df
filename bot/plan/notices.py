"""What is said beside a decision: it changes nothing about the task."""

from collections.abc import Mapping
from datetime import timedelta

from msgspec.structs import replace

from bot.model.decision import Decision, Notice, Revision, Verb
from bot.model.record import Record, Unsaid
from bot.model.report import NO_FAULT, Outcome, Question
from bot.model.status import Status
from bot.notation.keys import Key
from bot.notation.needs import looks_like_declaration
from bot.notation.questions import answered_text
from bot.notation.quoting import quote
from bot.notation.reports import report_name, work_name
from bot.plan.board import Board, Item
from bot.plan.facts.record_edits import last_attempt
from bot.plan.facts.trust import Unknown, may_order

_SET_UP = "set-up:"
_MISPLACED = Notice(
    "misplaced",
    "Needs are read from the description only. Please write the line into the description of this issue.",
)


def hint_misplaced(item: Item, decision: Decision, board: Board) -> Decision:
    """Once, when somebody authorised declared a need in a comment."""
    if (
        not item.task.issue.is_open
        or item.task.record_problem
        or _MISPLACED.fingerprint in decision.record.notices
    ):
        return decision
    for comment in board.snapshot.comments.get(item.number, ()):
        if not looks_like_declaration(comment.body, board.config.dependencies.keywords):
            continue
        allowed = may_order(comment.author, board.snapshot)
        if isinstance(allowed, Unknown):
            return replace(decision, wants=decision.wants | allowed.wants)
        if allowed:
            return replace(decision, notices=(*decision.notices, _MISPLACED))
    return decision


def tell_set_up(decided: Mapping[int, Decision], board: Board) -> dict[int, Decision]:
    """A set-up that fails, fails for every task: said on the first that met it, and on no other while it lasts."""
    told, after = _told_set_ups(board), dict(decided)
    for number in sorted(decided):
        decision = decided[number]
        last = last_attempt(decision.record)
        if (
            decision.verb is not Verb.FINISH
            or last is None
            or last.outcome is not Outcome.INFRA
            or not last.failure
        ):
            continue
        notices = tuple(one for one in decision.notices if not one.fingerprint.startswith("interrupted:"))
        record = replace(decision.record, parked=None)  # nor is it said again on each of them
        if last.failure not in told:
            told.add(last.failure)
            notices, record = (*notices, _set_up_notice(decision, board)), decision.record
        after[number] = replace(decision, notices=notices, record=record)
    return after


def _told_set_ups(board: Board) -> set[str]:
    """The failures of a set-up that were told on a task which has met nothing else since."""
    told = [
        item.record for item in board.items if any(one.startswith(_SET_UP) for one in item.record.notices)
    ]
    ended = [[attempt for attempt in record.attempts if attempt.outcome is not None][-1:] for record in told]
    return {last.failure for one in ended for last in one if last.outcome is Outcome.INFRA and last.failure}


def _set_up_notice(decision: Decision, board: Board) -> Notice:
    record = decision.record
    last, approval = record.attempts[-1], record.approval
    key = Key(decision.task, last.number)
    text = (
        f"{f'@{approval.by} ' if approval else ''}**The set-up failed**, before any work of attempt `{key}` was judged:\n\n"
        f"{quote(last.reason or 'No reason is known.')}\n\nEvery task here begins with it, so this is said here alone. No strike is"
        f" counted; each task that meets it {board.config.retry.interruptions} times in a row is blocked, until the label"
        f" `{board.config.label(Status.READY)}` is set anew."
    )
    return Notice(f"{_SET_UP}{key}", text)


def mention_late(item: Item, decision: Decision, board: Board) -> Decision:
    """Once, when an attempt that had been given up reports after all: it has no effect, and where its work is kept."""
    new = []
    for attempt in item.task.record.attempts:
        if attempt.outcome not in NO_FAULT or attempt.ended_at is None or attempt.cancelled_for:
            continue
        key = str(Key(item.number, attempt.number))
        came = [one for one in board.snapshot.artifacts if one.name == report_name(key)]
        late = [one for one in came if one.created_at > attempt.ended_at]
        if late and f"late:{key}" not in decision.record.notices:
            text = (
                f"Attempt `{key}`, which had been given up ({attempt.outcome}), has reported since. That changes nothing here;"
                f" what it made is kept as `{work_name(key)}` of [run {late[0].run_id}](../actions/runs/{late[0].run_id})."
            )
            new.append(Notice(f"late:{key}", text))
    return replace(decision, notices=(*decision.notices, *new)) if new else decision


_AGAIN_AFTER = (timedelta(0), timedelta(minutes=5), timedelta(hours=1), timedelta(hours=6), timedelta(days=1))


def say_again(item: Item, decision: Decision, board: Board) -> Decision:
    """What GitHub refused is said at the next chance: in the next tick, and then ever more seldom."""
    record, now = decision.record, board.snapshot.now
    if not record.unsaid or item.task.record_problem:
        return decision
    waiting = {one.fingerprint for one in record.unsaid if not one.comment}
    new = {notice.fingerprint: notice for notice in decision.notices}
    kept = tuple(one for one in record.unsaid if _still_says(one, record))
    due = [one for one in kept if now >= one.at + _AGAIN_AFTER[min(one.tries, len(_AGAIN_AFTER)) - 1]]
    again = [new.get(one.fingerprint) or _notice_of(one, record) for one in due if not one.comment]
    revisions = [Revision(one.comment, _notice_of(one, record)) for one in due if one.comment]
    return replace(
        decision,
        record=replace(record, unsaid=kept),
        notices=(*(one for one in decision.notices if one.fingerprint not in waiting), *again),
        revisions=(*decision.revisions, *revisions),
    )


def _still_says(one: Unsaid, record: Record) -> bool:
    """A question that is neither open nor answered any more is asked no more; a comment that may be gone is not tried for ever."""
    if one.comment:
        return one.tries < len(_AGAIN_AFTER)
    question = one.fingerprint.startswith("question:")
    return not question or record.blocker is not None or bool(record.answers and record.answers[-1].question)


def _notice_of(one: Unsaid, record: Record) -> Notice:
    """Its words; a question that was answered meanwhile is told as that."""
    question = one.fingerprint.startswith("question:") and not one.comment
    last = record.answers[-1] if record.answers else None
    if question and record.blocker is None and last is not None and not last.rule:
        return Notice(one.fingerprint, answered_text(Question(last.question), last), question=True)
    return Notice(one.fingerprint, one.text, question=question)
