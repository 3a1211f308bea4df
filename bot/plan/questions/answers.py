"""Rules for tasks that are nobody's turn but a person's: answers, reviews, and the plain "not yet"."""

from collections.abc import Sequence

from msgspec.structs import replace

from bot.model.change import EYES, React
from bot.model.decision import Decision, Notice, Verb
from bot.model.issue import Comment
from bot.model.record import Answer, Blocker, Parked, Record
from bot.model.status import Status
from bot.notation.answers import NotAnAnswer, Reply, given_by_command, read_answer
from bot.notation.questions import answered_text, question_key
from bot.plan.batches.members import left_by
from bot.plan.board import Board, Item
from bot.plan.facts.ends import ENDS, end_of, hint_text, why_text, words_for
from bot.plan.facts.record_edits import told_to_go_on
from bot.plan.questions.questions import open_elsewhere, reminders, replies_since, revised


def take_answers(item: Item, board: Board) -> Decision | None:
    """Replies of authorised people to an open question, taken together in order, re-queue the task once; so do those to another
    end, where they count.

    Where the question only points to another task, `/cf answer` alone counts here.
    """
    blocker = item.record.blocker
    if item.meant.status is not Status.BLOCKED or blocker is None:
        return _take_words(item, board)
    replies = replies_since(item, board, blocker)
    if replies.wants:
        return board.hold(item, "who replied is being looked up", wants=replies.wants)
    if not replies.comments:
        return open_elsewhere(item, board)
    read_one = given_by_command if blocker.same_as else read_answer
    options, prefix = blocker.question.options, board.config.prefix
    read = [(comment, read_one(comment.body, options, prefix)) for comment in replies.comments]
    answers = [(comment, verdict) for comment, verdict in read if isinstance(verdict, Reply)]
    acted = tuple(dict.fromkeys((*item.record.acted, *(comment.id for comment in replies.comments))))
    seen = replace(item.record, acted=acted)
    eyes = tuple(React(comment.node_id, EYES) for comment in replies.comments)
    if not answers:
        hint = _hint(seen, blocker, [verdict for _, verdict in read], prefix)
        elsewhere = open_elsewhere(replace(item, record=seen), board)
        return elsewhere or board.decide(
            item, Verb.HOLD, "its question is open", Status.BLOCKED, seen, notices=hint, reactions=eyes
        )
    # With options the last valid one counts; free replies are one answer, in order.
    taken = answers[-1:] if options else answers
    words = "\n\n".join(verdict.text for _, verdict in taken)
    last = taken[-1][0]
    answer = Answer(
        blocker.question.text, words, last.author.login, last.id, last.created_at, blocker.fingerprint
    )
    record = replace(seen, blocker=None, answers=(*seen.answers, answer), not_before=None)
    decision = board.decide(
        item, Verb.MOVE, f"answered by {last.author.login}", Status.READY, record, reactions=eyes
    )
    return replace(decision, revisions=revised(record, answered_text(blocker.question, answer)))


def _take_words(item: Item, board: Board) -> Decision | None:
    """What people say to a task that its newest attempt left to them. Where plain replies do not count, the first gets a hint."""
    parked = end_of(item.record)
    row = ENDS[parked.end] if parked is not None else None
    if parked is None or row is None or not row.waits or item.meant.status is not row.status:
        return None
    replies = replies_since(item, board, parked)
    if replies.wants:
        return board.hold(item, "who replied is being looked up", wants=replies.wants)
    prefix = board.config.prefix
    read_one = read_answer if row.reply else given_by_command
    read = [(comment, read_one(comment.body, (), prefix)) for comment in replies.comments]
    told = [(comment, verdict.text) for comment, verdict in read if isinstance(verdict, Reply)]
    if not told:
        return _hint_below(item, parked, replies.comments, board)
    acted = tuple(dict.fromkeys((*item.record.acted, *(comment.id for comment in replies.comments))))
    last = told[-1][0]
    words = "\n\n".join(text for _, text in told)
    answer = Answer("", words, last.author.login, last.id, last.created_at)
    record = replace(
        told_to_go_on(item.record, batch_goes_on=item.number in board.batches),
        acted=acted,
        answers=(*item.record.answers, answer),
    )
    eyes = tuple(React(comment.node_id, EYES) for comment in replies.comments)
    why = f"goes on with the words of {last.author.login}"
    return board.decide(item, Verb.MOVE, why, Status.READY, record, reactions=eyes)


def _hint_below(item: Item, parked: Parked, replies: Sequence[Comment], board: Board) -> Decision | None:
    """Once for each end: what would go on, below a reply that does not."""
    words, prefix = words_for(item.record, board.config), board.config.prefix
    plain = [one for one in replies if isinstance(read_answer(one.body, (), prefix), Reply) or _asks(one)]
    notice = Notice(f"hint:{words.key}", hint_text(parked, words))
    if not plain or notice.fingerprint in item.record.notices:
        return None
    acted = tuple(dict.fromkeys((*item.record.acted, *(comment.id for comment in replies))))
    return board.decide(
        item,
        Verb.HOLD,
        why_text(parked, words),
        item.meant.status,
        replace(item.record, acted=acted),
        notices=(notice,),
        reactions=tuple(React(comment.node_id, EYES) for comment in plain),
    )


def _asks(comment: Comment) -> bool:
    return read_answer(comment.body, ()) is NotAnAnswer.QUESTION


def _hint(
    record: Record, blocker: Blocker, read: Sequence[Reply | NotAnAnswer], prefix: str
) -> tuple[Notice, ...]:
    """Once for each question, why a reply was not taken."""
    if blocker.same_as:
        text = f"This question is open on #{blocker.same_as}: please answer there, or with `/{prefix} answer ...` here."
    elif NotAnAnswer.QUESTION in read:
        text = (
            "A reply that ends in a question mark is not taken as the answer. "
            + ("Reply with the letter of an option" if blocker.question.options else "Reply with a statement")
            + " once it is settled."
        )
    else:
        return ()
    return (Notice(question_key(record).replace("question", "hint"), text),)


def wait_for_people(item: Item, board: Board) -> Decision | None:
    """Every other state in which nothing starts by itself."""
    status = item.meant.status
    if status is Status.READY:
        return None
    if status is Status.BACKLOG and item.record.batch and item.number not in board.batches:
        return board.hold(item, left_by(item.record.batch, board))
    return reminders(item, board) or board.hold(item, _why_parked(status, item.record, board))


def _why_parked(status: Status | None, record: Record, board: Board) -> str:
    ready = board.config.label(Status.READY)
    parked = end_of(record)
    if parked is not None and ENDS[parked.end].status is status and ENDS[parked.end].waits:
        return why_text(parked, words_for(record, board.config))
    if status is Status.BACKLOG:
        return f"in the backlog; `{ready}` starts it"
    newest = record.attempts[-1] if record.attempts else None
    last = newest.reason or str(newest.outcome or "") if newest else ""
    if status is Status.BLOCKED:
        return f"blocked: {last}" if last else f"blocked by a person; `{ready}` starts it"
    if status is Status.FAILED:
        return f"failed: {last or 'no reason is known'}; `{ready}` starts it again"
    return f"is {status}" if status else "not a task"
