"""Questions, answers, and the plain "not yet"."""

import pytest
from msgspec.structs import replace

from bot.model.change import React
from bot.model.decision import Verb
from bot.model.issue import GHOST, Account
from bot.model.record import Answer, Blocker
from bot.model.report import Outcome, Question
from bot.model.snapshot import Permission
from bot.model.status import Status
from tests.builders import (
    BOT,
    OTHER_BOT,
    STRANGER,
    a_comment,
    a_record,
    a_task,
    ago,
    an_attempt,
    decide,
    words_of,
)

AB = Question("Which database?", ("SQLite", "PostgreSQL"))
FREE = Question("What is it called?")


def asked(*comments, question=AB, **record):
    kept = a_record(
        1,
        Status.BLOCKED,
        attempts=(an_attempt(1, Outcome.BLOCKED),),
        next_attempt=2,
        blocker=Blocker("question:cf-1-1", question, ago(minutes=10)),
        **record,
    )
    return decide(a_task(1, Status.BLOCKED, record=kept), comments={1: comments} if comments else {})


def test_ans_01_only_a_writers_reply_answers():
    for by in (BOT, OTHER_BOT, STRANGER, GHOST):
        decision = asked(a_comment("B", by=by))
        assert (decision.verb, decision.status, decision.reactions) == (Verb.HOLD, Status.BLOCKED, ())
    assert asked(a_comment("B")).status is Status.READY


def test_ans_02_an_unclear_reply_does_not_resume_and_a_question_earns_one_hint():
    first = asked(a_comment("what does B cost?", 1))
    assert (first.status, first.reactions, first.record.acted) == (
        Status.BLOCKED,
        (React("IC_1", "EYES"),),
        (1,),
    )
    assert "question mark" in words_of(first)
    told = {"notices": tuple(notice.fingerprint for notice in first.notices), "acted": (1,)}
    second = asked(a_comment("what does B cost?", 1), a_comment("A bit more context would help", 2), **told)
    assert (second.status, second.notices, second.record.acted) == (Status.BLOCKED, (), (1, 2))
    third = asked(a_comment("@bob please decide", 3), a_comment("and A?", 4), **told)
    assert (third.status, third.notices) == (Status.BLOCKED, ())
    last = asked(a_comment("B.", 5), **told)
    assert last.status is Status.READY
    assert [answer.answer for answer in last.record.answers] == ["PostgreSQL"]


def test_an_answer_is_kept_with_its_author_and_the_question_is_closed():
    decision = asked(a_comment("it is called Bob", 7), question=FREE)
    assert decision.record.answers == (
        Answer(FREE.text, "it is called Bob", "wendy", 7, ago(minutes=2), "question:cf-1-1"),
    )
    assert (decision.record.blocker, decision.reactions, decision.reason) == (
        None,
        (React("IC_7", "EYES"),),
        "answered by wendy",
    )


def test_free_replies_are_taken_together_and_of_options_the_last_counts():
    free = asked(
        a_comment("one", 1, at=ago(minutes=5)), a_comment("two", 2, at=ago(minutes=4)), question=FREE
    )
    assert [answer.answer for answer in free.record.answers] == ["one\n\ntwo"]
    chosen = asked(a_comment("A", 1), a_comment("B", 2), a_comment("hm, why?", 3))
    assert [(answer.answer, answer.comment) for answer in chosen.record.answers] == [("PostgreSQL", 2)]
    assert chosen.record.acted == (1, 2, 3)


def test_what_was_said_before_the_question_or_acted_upon_does_not_count():
    assert asked(a_comment("B", at=ago(minutes=11))).status is Status.BLOCKED
    assert asked(a_comment("B", 1), acted=(1,)).status is Status.BLOCKED
    assert asked(a_comment("B", at=ago(minutes=10))).status is Status.READY


def test_who_replied_is_asked_for_before_anything_is_taken():
    decision = asked(a_comment("A", 1), a_comment("B", 2, by=Account(9, "new")))
    assert decision.wants == {Permission("new")}
    assert (decision.status, decision.record.acted) == (Status.BLOCKED, ())


def test_a_comment_answers_nothing_where_nothing_was_asked():
    for status in Status:
        kept = a_record(1, status)
        decision = decide(a_task(1, status, record=kept), comments={1: (a_comment("B"),)})
        assert not decision.record.answers


def test_an_order_in_a_reply_is_no_answer():
    decision = asked(a_comment("/cf stop"), question=FREE)
    assert (decision.status, decision.record.answers) == (Status.BACKLOG, ())


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (Status.BACKLOG, "in the backlog; `cf:ready` starts it"),
        (Status.BLOCKED, "blocked by a person; `cf:ready` starts it"),
        (Status.FAILED, "failed: no reason is known; `cf:ready` starts it again"),
        (Status.DONE, "done; waits for its issue to be closed"),
        (Status.MERGED, "is merged"),
    ],
)
def test_every_state_that_waits_says_for_what(status, reason):
    decision = decide(a_task(1, status, record=a_record(1, status)))
    assert (decision.verb, decision.reason, decision.status) == (Verb.HOLD, reason, status)


def test_the_last_attempts_reason_is_told():
    record = a_record(
        1, Status.BLOCKED, attempts=(an_attempt(1, Outcome.HELD, reason="AGENTS.md is protected"),)
    )
    assert decide(a_task(1, Status.BLOCKED, record=record)).reason == "blocked: AGENTS.md is protected"
    assert decide(a_task(1, Status.FAILED, record=replace(record, status=Status.FAILED))).reason.startswith(
        "failed: AGENTS.md"
    )


@pytest.mark.parametrize(
    ("question", "words"), [(AB, "Reply with the letter of an option"), (FREE, "Reply with a statement")]
)
def test_a_hint_says_how_to_answer(question, words):
    (notice,) = asked(a_comment("why?"), question=question).notices
    assert notice.fingerprint == "hint:cf-1-1"
    assert notice.text == (
        f"A reply that ends in a question mark is not taken as the answer. {words} once it is settled."
    )


def test_where_a_question_points_elsewhere_a_reply_is_pointed_there_too():
    kept = a_record(1, Status.BLOCKED, blocker=Blocker("q", AB, ago(minutes=10), same_as=2))
    first = a_task(
        2, Status.BLOCKED, record=a_record(2, Status.BLOCKED, blocker=Blocker("q", AB, ago(minutes=11)))
    )
    decision = decide(
        a_task(1, Status.BLOCKED, record=kept), others=(first,), comments={1: (a_comment("B"),)}
    )
    assert (decision.verb, decision.reason, decision.record.acted) == (
        Verb.HOLD,
        "its question is open",
        (1,),
    )
    (notice,) = decision.notices
    assert notice.fingerprint == "hint:cf-1-0"
    assert notice.text == "This question is open on #2: please answer there, or with `/cf answer ...` here."
    command = a_comment("/cf answer B")
    answered = decide(a_task(1, Status.BLOCKED, record=kept), others=(first,), comments={1: (command,)})
    assert [answer.answer for answer in answered.record.answers] == ["PostgreSQL"]
