"""New questions: every one passes here, whatever raised it, and is answered already, or by the supervisor, or put to a person."""

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from bot.model.advice import Verdict
from bot.model.change import EYES, React
from bot.model.decision import Decision, Notice, Revision, Verb
from bot.model.end import End
from bot.model.issue import Comment
from bot.model.record import Answer, Blocker, Parked, Record
from bot.model.report import Question
from bot.model.snapshot import Classify, Lookup
from bot.model.status import Status
from bot.notation.answers import Reply, chosen, only_agrees, read_answer
from bot.notation.keys import Key
from bot.notation.questions import (
    answered_text,
    automatic_text,
    pointer_text,
    question_key,
    question_text,
    reminder_text,
    withdrawn_text,
)
from bot.plan.attempts.running import end_live
from bot.plan.board import Board, Item
from bot.plan.facts.ends import ENDS, Batch, end_of, end_reminder, ways_text, why_text, words_for
from bot.plan.facts.trust import Unknown, may_order, rank
from bot.plan.questions.supervisor import MODEL, Automatic, fingerprint_of, judge

SUPERVISOR = "supervisor"
MOST_AUTOMATIC = 2


def settle_questions(decided: Mapping[int, Decision], board: Board) -> dict[int, Decision]:
    """The decisions, each new question in them settled: answered while its attempt still ran, by the supervisor, or asked.

    By number, so that of two tasks with the same new question the lower asks, and the other points there.
    """
    settled = dict(decided)
    items = {item.number: item for item in board.items}
    asked = _open_questions(decided, items)
    for number in sorted(decided):
        decision = decided[number]
        if _is_new(decision, items[number]):
            settled[number] = _settle(items[number], decision, asked, board)
            blocker = settled[number].record.blocker
            if blocker is not None and not blocker.same_as:
                asked.setdefault(blocker.fingerprint, number)
    return settled


def _is_new(decision: Decision, item: Item) -> bool:
    blocker = decision.record.blocker
    return blocker is not None and blocker != item.task.record.blocker and decision.verb is Verb.FINISH


def _open_questions(decided: Mapping[int, Decision], items: Mapping[int, Item]) -> dict[str, int]:
    """Where each question that was open before stays open: fingerprint -> the task that asks it in full."""
    return {
        decision.record.blocker.fingerprint: number
        for number, decision in sorted(decided.items(), reverse=True)
        if decision.record.blocker is not None
        and decision.status is Status.BLOCKED
        and not decision.record.blocker.same_as
        and not _is_new(decision, items[number])
    }


def _settle(item: Item, decision: Decision, asked: Mapping[str, int], board: Board) -> Decision:
    record, blocker = decision.record, decision.record.blocker
    assert blocker is not None, "only called for a question"
    blocker = replace(blocker, fingerprint=fingerprint_of(blocker.question, board.snapshot))
    early = _given_early(record)
    if early is not None:
        words = chosen(early.answer, blocker.question.options)
        answer = replace(early, question=blocker.question.text, answer=words, fingerprint=blocker.fingerprint)
        answers = tuple(answer if one is early else one for one in record.answers)
        text = answered_text(blocker.question, answer)
        return _resume(
            item, board, replace(record, answers=answers), text, f"its question was answered by {answer.by}"
        )
    if len(record.automatic) < MOST_AUTOMATIC and blocker.fingerprint not in record.automatic:
        verdict = judge(blocker.question, board.snapshot)
        if isinstance(verdict, Classify):
            return replace(decision, wants=decision.wants | {verdict})
        if isinstance(verdict, Automatic):
            return _answer_automatically(item, board, record, blocker, verdict)
    first = asked.get(blocker.fingerprint, 0)
    record = replace(record, blocker=replace(blocker, same_as=first), asked_in="")
    notice = Notice(question_key(record), open_text(record, board), question=True)
    return replace(decision, record=record, notices=(*decision.notices, *_unposted(record, notice)))


def open_text(record: Record, board: Board) -> str:
    """The comment of an open question: in full, or one line that says where it is asked in full."""
    blocker = record.blocker
    assert blocker is not None, "only called for a question"
    if blocker.same_as:
        return pointer_text(blocker.question, blocker.same_as, board.config.prefix)
    end = End.CHOICE if blocker.question.options else End.QUESTION
    return question_text(blocker.question, record, ways_text(end, words_for(record, board.config)))


def _given_early(record: Record) -> Answer | None:
    """The newest words that were given by `/cf answer` while the attempt that asks now was still running."""
    begun = record.attempts[-1].claimed_at.replace(microsecond=0)
    early = [answer for answer in record.answers if not answer.question and answer.at >= begun]
    return early[-1] if early else None


def _answer_automatically(
    item: Item, board: Board, record: Record, blocker: Blocker, verdict: Automatic
) -> Decision:
    answer = Answer(
        blocker.question.text,
        verdict.answer,
        SUPERVISOR,
        0,
        board.snapshot.now.replace(microsecond=0),
        blocker.fingerprint,
        verdict.rule,
    )
    record = replace(
        record, answers=(*record.answers, answer), automatic=(*record.automatic, blocker.fingerprint)
    )
    text = automatic_text(blocker.question, answer, verdict.reason)
    return _resume(item, board, record, text, f"its question was answered by {verdict.rule}")


def _resume(item: Item, board: Board, record: Record, text: str, reason: str) -> Decision:
    """A question that is posted as answered: the task is ready at once."""
    record = replace(record, blocker=None, not_before=None, asked_in="")
    notice = Notice(question_key(record), text, question=True)
    return board.decide(item, Verb.FINISH, reason, Status.READY, record, notices=(notice,))


def _unposted(record: Record, notice: Notice) -> tuple[Notice, ...]:
    return () if notice.fingerprint in record.notices else (notice,)


def revised(record: Record, text: str) -> tuple[Revision, ...]:
    """The comment of the newest question, with another text; nothing if it is not known which comment that is."""
    if not record.asked_in:
        return ()
    return (Revision(record.asked_in, Notice(question_key(record), text)),)


# ---------------------------------------------------------------------- replies


class Replies(Struct, frozen=True):
    """Comments of authorised people that were not acted upon yet, oldest first; `wants` are permissions to be looked up first."""

    comments: tuple[Comment, ...]
    wants: frozenset[Lookup]


def replies_since(item: Item, board: Board, since: Blocker | Answer | Parked) -> Replies:
    """What people replied to a question, to an end, or to an automatic answer. An edit after it was acted upon does not count.

    Whoever has write permission can edit what others wrote; where that is not enough to answer, nothing edited is an answer.
    """
    editors_count = rank(board.config.trust.permission) <= rank("write")
    begun = since.asked_at if isinstance(since, Blocker) else since.at
    found: list[Comment] = []
    wants: frozenset[Lookup] = frozenset()
    for comment in board.snapshot.comments.get(item.number, ()):
        theirs = not comment.edited or editors_count
        if comment.created_at < begun or comment.id in item.task.record.acted or not theirs:
            continue
        allowed = may_order(comment.author, board.snapshot)
        if isinstance(allowed, Unknown):
            wants |= allowed.wants
        elif allowed:
            found.append(comment)
    return Replies(tuple(found), wants)


def open_elsewhere(item: Item, board: Board) -> Decision | None:
    """A question that points to the same one on another task: answered there it is answered here, and where that one is gone
    it is asked here in full.
    """
    blocker = item.record.blocker
    if blocker is None or not blocker.same_as:
        return None
    first = board.snapshot.tasks.get(blocker.same_as)
    if first is not None:
        given = [
            answer
            for answer in first.record.answers
            if answer.fingerprint == blocker.fingerprint and not answer.rule
        ]
        if given:
            answer = replace(given[-1], resolved=False)
            record = replace(
                item.record, blocker=None, not_before=None, answers=(*item.record.answers, answer)
            )
            revisions = revised(item.record, answered_text(blocker.question, answer))
            reason = f"answered by {answer.by} on #{blocker.same_as}"
            return replace(board.move(item, Status.READY, record, reason), revisions=revisions)
    heir = _heir(item.number, blocker, board)
    if heir == blocker.same_as:
        return None
    record = replace(item.record, blocker=replace(blocker, same_as=0 if heir == item.number else heir))
    decision = board.decide(item, Verb.HOLD, "its question is open", Status.BLOCKED, record)
    return replace(decision, revisions=revised(record, open_text(record, board)))


def _heir(number: int, blocker: Blocker, board: Board) -> int:
    """Where this question is asked in full from now on: where it is, else the lowest task that points."""
    holders = {
        item.number: item.task.record.blocker.same_as
        for item in board.items
        if item.task.record.blocker is not None
        and item.task.record.blocker.fingerprint == blocker.fingerprint
        and item.meant.status is Status.BLOCKED
        and item.task.issue.is_open
    }
    full = [task for task, same_as in sorted(holders.items()) if not same_as]
    return next(iter(full), min(holders, default=number))


def reminders(item: Item, board: Board) -> Decision | None:
    """What waits for a person: said once more after `blockers.remind`, and once to others after `blockers.escalate`."""
    parked, record = end_of(item.record), item.record
    noted = record.blocker is not None or record.parked is not None
    if parked is None or not noted or not _is_reminded(item, parked, board):
        return None
    key = Key(item.number, parked.attempt)
    due = [
        (parked.at + after, f"{kind}:{key}", kind == "escalate")
        for kind, after in (
            ("remind", board.config.blockers.remind),
            ("escalate", board.config.blockers.escalate),
        )
        if after and f"{kind}:{key}" not in record.notices
    ]
    now = [one for one in due if one[0] <= board.snapshot.now]
    later = [at for at, _, _ in due if at > board.snapshot.now]
    by = (record.approval.by,) if record.approval else ()
    notices = []
    for _, fingerprint, escalated in now[-1:]:  # after a long silence one comment is enough
        to = board.config.blockers.escalate_to if escalated else ()
        notices.append(Notice(fingerprint, _reminder(item, parked, to or by, board, escalated=escalated)))
    passed_over = tuple(fingerprint for _, fingerprint, _ in now[:-1])
    told = replace(item, record=replace(record, notices=(*record.notices, *passed_over)))
    reason = why_text(parked, words_for(record, board.config))
    return board.hold(told, reason, notices=notices, due=min(later, default=None))


def _is_reminded(item: Item, parked: Parked, board: Board) -> bool:
    """A question that is open elsewhere is reminded of there, and what the batch of a member tells, by the batch."""
    row, blocker = ENDS[parked.end], item.record.blocker
    elsewhere = blocker is not None and blocker.same_as
    told_by_batch = row.batch is not Batch.SAME and item.number in board.batches
    return item.meant.status is row.status and row.waits and not elsewhere and not told_by_batch


def _reminder(item: Item, parked: Parked, to: tuple[str, ...], board: Board, *, escalated: bool) -> str:
    if item.record.blocker is not None:
        return reminder_text(item.record.blocker, to, escalated=escalated)
    return end_reminder(parked, words_for(item.record, board.config), to, escalated=escalated)


# ---------------------------------------------------------------------- veto


def heed_veto(item: Item, board: Board) -> Decision | None:
    """A reply to an automatic answer takes its place, until the first attempt that began with it has ended.

    An attempt that runs with the answer taken back is ended and starts again, without a strike. Words that only agree are no veto.
    """
    automatic = standing_automatic(item)
    if automatic is None:
        return None
    replies = replies_since(item, board, automatic)
    if replies.wants:
        return board.hold(item, "who replied is being looked up", wants=replies.wants)
    read = [(comment, read_answer(comment.body, (), board.config.prefix)) for comment in replies.comments]
    said = [
        (comment, verdict)
        for comment, verdict in read
        if isinstance(verdict, Reply) and not only_agrees(verdict.text)
    ]
    if not said:
        return None
    last = said[-1][0]
    words = "\n\n".join(verdict.text for _, verdict in said)
    answer = replace(
        automatic, answer=words, by=last.author.login, comment=last.id, at=last.created_at, rule=""
    )
    acted = tuple(dict.fromkeys((*item.record.acted, *(comment.id for comment in replies.comments))))
    new = {comment.id for comment in replies.comments}
    others = tuple(one for one in item.record.answers if one != automatic and one.comment not in new)
    record = replace(item.record, answers=(*others, answer), acted=acted)
    taken_back = replace(item, record=record)
    decision = end_live(
        taken_back, board, Status.READY, f"its automatic answer was taken back by {answer.by}", Verb.MOVE
    )
    text = withdrawn_text(_question_of(automatic), automatic, answer)
    eyes = tuple(React(comment.node_id, EYES) for comment in replies.comments)
    return replace(decision, revisions=revised(record, text), reactions=eyes)


def standing_automatic(item: Item) -> Answer | None:
    """The automatic answer that may still be taken back: the newest answer of all, while the attempt it is for has not ended."""
    given = [answer for answer in item.record.answers if answer.question]
    newest = given[-1] if given else None
    if newest is None or not newest.rule or newest.resolved or item.record.blocker is not None:
        return None
    if item.meant.status not in (Status.READY, Status.IN_PROGRESS):
        return None
    since = [attempt for attempt in item.record.attempts if attempt.claimed_at >= newest.at]
    return newest if all(attempt.live for attempt in since) else None


def _question_of(answer: Answer) -> Question:
    return Question(answer.question)


def remembered(decided: Mapping[int, Decision], board: Board) -> dict[str, Verdict]:
    """Verdicts to be kept: what the model answered, and which automatic answers were taken back."""
    return dict(_worth_keeping(decided, board))


def _worth_keeping(decided: Mapping[int, Decision], board: Board) -> Iterator[tuple[str, Verdict]]:
    for number, decision in decided.items():
        before = {
            answer.fingerprint: answer
            for answer in board.snapshot.tasks[number].record.answers
            if answer.rule
        }
        for answer in decision.record.answers:
            if answer.rule == MODEL and answer.fingerprint not in before:
                yield answer.fingerprint, Verdict(answer.answer, "the model answered it before")
            elif not answer.rule and answer.fingerprint in before:
                yield (
                    answer.fingerprint,
                    Verdict(reason=f"an automatic answer was taken back by {answer.by}", vetoed=True),
                )
