"""What is said beside a decision: it changes nothing about the task."""

from collections.abc import Mapping
from datetime import timedelta

from msgspec.structs import replace

from bot.model.cause import Cause, Obstacle
from bot.model.decision import Decision, Notice, Revision
from bot.model.record import Record, Unsaid
from bot.model.report import NO_FAULT, Question
from bot.notation.digests import named
from bot.notation.keys import Key
from bot.notation.needs import looks_like_declaration
from bot.notation.questions import answered_text
from bot.notation.quoting import quote
from bot.notation.reports import report_name, work_name
from bot.plan.board import Board, Item
from bot.plan.facts.causes import ROWS, title_of
from bot.plan.facts.obstacles import obstacles
from bot.plan.facts.trust import Unknown, may_order

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


def tell_causes(decided: Mapping[int, Decision], board: Board) -> dict[int, Decision]:
    """What stands in the way of many tasks is told once: on the first of them that met it, to who ordered it."""
    after = dict(decided)
    for obstacle in obstacles((decision.record for decision in decided.values()), board.snapshot):
        notice = Notice(_fingerprint(obstacle), "")
        told = any(notice.fingerprint in decision.record.notices for decision in decided.values())
        task = next((task for task in obstacle.tasks if task in after), 0)
        if task and not told and _is_to_be_told(obstacle):
            text = _cause_text(obstacle, after[task], board)
            after[task] = replace(after[task], notices=(*after[task].notices, replace(notice, text=text)))
    return after


def _is_to_be_told(obstacle: Obstacle) -> bool:
    """A provider and a limit need nobody. A guess that one task alone has met is told if it comes back, or names a command."""
    cause = obstacle.met.cause
    if cause in (Cause.PROVIDER, Cause.LIMIT):
        return False
    return obstacle.everybody or cause is Cause.SETUP or (cause is not Cause.MACHINE and obstacle.rounds > 1)


def _fingerprint(obstacle: Obstacle) -> str:
    """One for each time that it came up: which it was, and the attempt that met it first."""
    met = obstacle.met
    return f"cause:{met.cause}:{named(met.key) if met.key else '-'}:{obstacle.first}"


def _cause_text(obstacle: Obstacle, decision: Decision, board: Board) -> str:
    approval, met = decision.record.approval, obstacle.met
    mention = f"@{approval.by} " if approval else ""
    said = f":\n\n{quote(met.words)}" if met.words else "."
    row = ROWS[met.cause]
    many = obstacle.everybody
    held = "Tasks that would meet it wait" if many else "This task waits"
    again = (
        f"and {'go' if many else 'goes'} on as soon as a machine comes"
        if met.cause is Cause.RUNNER
        else f"and {'go on by themselves' if many else 'goes on by itself'}:"
        f" it is tried again after 15 minutes, 1 hour, 6 hours and then daily ({row.probe}),"
        f" and at once by `/{board.config.prefix} retry` on a task that waits, or with a new configuration"
    )
    shown = "; the dashboard shows it while it stands" if board.config.dashboard else ""
    return (
        f"{mention}**{_sentence(title_of(met))}**, as `{obstacle.first}` met it{said}\n\n{row.mend}\n\n{held}, {again}."
        f" No strike is counted, and nothing has to be ordered anew. This is said here alone{shown}."
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


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
