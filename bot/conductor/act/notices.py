"""What is said on tasks: posted before the record, which then knows what GitHub took, and what is still to be said."""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bot.conductor.act.outbox import Effects, write_now
from bot.conductor.observe.view import Observation
from bot.github.fit import CUT, closed
from bot.github.port import GitHub
from bot.model.change import Change, CreateComment, EditComment, Written
from bot.model.decision import Decision, Notice
from bot.model.record import Record
from bot.notation.comments import notice_comment
from bot.plan.facts.record_edits import left_unsaid, said

_KEPT = 3_000  # characters of a notice that the record keeps until it is said


class _Saying(Struct, frozen=True):
    """One notice of one decision; `comment` is the one whose text it becomes, if it is no new one."""

    place: int
    notice: Notice
    change: Change
    comment: str = ""


def say(github: GitHub, decisions: Sequence[Decision], seen: Observation, effects: Effects) -> list[Decision]:
    """Post all notices, and return the decisions with records that know what became of them.

    A tick that dies right after that has posted notices, and the next one knows them by their fingerprints.
    """
    sayings = [one for place, item in enumerate(decisions) for one in _sayings(place, item, seen)]
    answers = write_now(github, "notice", [one.change for one in sayings], effects)
    told = [replace(item, notices=(), revisions=()) for item in decisions]
    for one, answer in zip(sayings, answers, strict=True):
        decision = told[one.place]
        told[one.place] = replace(decision, record=_noted(decision.record, one, answer, seen))
    return told


def _sayings(place: int, decision: Decision, seen: Observation) -> Iterator[_Saying]:
    for changed in decision.revisions:
        change = EditComment(changed.comment, notice_comment(changed.notice))
        yield _Saying(place, changed.notice, change, changed.comment)
    issue = seen.snapshot.tasks[decision.task].issue.node_id
    for notice in decision.notices:
        yield _Saying(place, notice, CreateComment(issue, notice_comment(notice)))


def _noted(record: Record, saying: _Saying, answer: Written, seen: Observation) -> Record:
    notice, now = saying.notice, seen.snapshot.now
    if answer.error:
        return left_unsaid(record, notice.fingerprint, _kept(notice.text), now, saying.comment)
    if saying.comment:
        return said(record, notice.fingerprint, revised=True)
    known = said(record, notice.fingerprint)
    return replace(known, asked_in=answer.node_id) if notice.question else known


def _kept(text: str) -> str:
    return text if len(text) <= _KEPT else f"{closed(text[:_KEPT])}\n\n{CUT}"
