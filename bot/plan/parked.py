"""Rules for tasks that are nobody's turn but a person's: answers, reviews, and the plain "not yet"."""

from msgspec.structs import replace

from bot.model.change import EYES, React
from bot.model.decision import Decision, Notice, Verb
from bot.model.issue import Comment
from bot.model.record import Answer, Blocker, Record
from bot.model.snapshot import Lookup
from bot.model.status import Status
from bot.notation.answers import NotAnAnswer, Reply, read_answer
from bot.plan.board import Board, Item
from bot.plan.trust import Unknown, may_order


def take_answers(item: Item, board: Board) -> Decision | None:
    """Replies of authorised people to an open question, taken together in order, re-queue the task once."""
    blocker = item.record.blocker
    if item.meant.status is not Status.BLOCKED or blocker is None:
        return None
    replies, wants = _authorised_replies(item, board, blocker)
    if wants:
        return board.hold(item, "who replied is being looked up", wants=wants)
    read = [
        (comment, read_answer(comment.body, blocker.question.options, board.config.prefix))
        for comment in replies
    ]
    answers = [(comment, verdict) for comment, verdict in read if isinstance(verdict, Reply)]
    seen = replace(item.record, acted=(*item.record.acted, *(comment.id for comment in replies)))
    eyes = tuple(React(comment.node_id, EYES) for comment in replies)
    if not answers:
        if not replies:
            return None
        hint = _hint(blocker) if any(verdict is NotAnAnswer.QUESTION for _, verdict in read) else ()
        return board.decide(
            item, Verb.HOLD, "its question is open", Status.BLOCKED, seen, notices=hint, reactions=eyes
        )
    # With options the last valid one counts; free replies are one answer, in order.
    taken = answers[-1:] if blocker.question.options else answers
    words = "\n\n".join(verdict.text for _, verdict in taken)
    last = taken[-1][0]
    answer = Answer(blocker.question.text, words, last.author.login, last.id, last.created_at)
    record = replace(seen, blocker=None, answers=(*seen.answers, answer), not_before=None)
    return board.decide(
        item, Verb.MOVE, f"answered by {last.author.login}", Status.READY, record, reactions=eyes
    )


def _authorised_replies(
    item: Item, board: Board, blocker: Blocker
) -> tuple[list[Comment], frozenset[Lookup]]:
    replies: list[Comment] = []
    wants: frozenset[Lookup] = frozenset()
    for comment in board.snapshot.comments.get(item.number, ()):
        if comment.created_at < blocker.asked_at or comment.id in item.record.acted:
            continue
        allowed = may_order(comment.author, board.snapshot)
        if isinstance(allowed, Unknown):
            wants |= allowed.wants
        elif allowed:
            replies.append(comment)
    return replies, wants


def _hint(blocker: Blocker) -> tuple[Notice, ...]:
    text = (
        "A reply that ends in a question mark is not taken as the answer. "
        + ("Reply with the letter of an option" if blocker.question.options else "Reply with a statement")
        + " once it is settled."
    )
    return (Notice(f"hint:{blocker.fingerprint}", text),)


def wait_for_people(item: Item, board: Board) -> Decision | None:
    """Every other state in which nothing starts by itself."""
    status = item.meant.status
    if status is Status.READY:
        return None
    return board.hold(item, _why_parked(status, item.record, board))


def _why_parked(status: Status | None, record: Record, board: Board) -> str:
    ready = board.config.label(Status.READY)
    newest = record.attempts[-1] if record.attempts else None
    last = newest.reason or str(newest.outcome or "") if newest else ""
    if status is Status.BACKLOG:
        return f"in the backlog; `{ready}` starts it"
    if status is Status.BLOCKED:
        if record.blocker is not None:
            return "its question is open"
        return f"blocked: {last}" if last else f"blocked by a person; `{ready}` starts it"
    if status is Status.FAILED:
        return f"failed: {last or 'no reason is known'}; `{ready}` starts it again"
    return f"is {status}" if status else "not a task"
