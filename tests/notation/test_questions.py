"""Questions: by what the same one is known again, and how each is shown."""

import pytest
from msgspec.structs import replace

from bot.model.record import Answer, Blocker
from bot.model.report import Outcome, Question
from bot.model.status import Status
from bot.notation.questions import (
    answered_text,
    automatic_text,
    pointer_text,
    question_fingerprint,
    question_key,
    question_text,
    reminder_text,
    withdrawn_text,
)
from tests.builders import NOW, a_record, an_attempt

ASKED = Question("Which database?", ("SQLite", "PostgreSQL"), "both")


@pytest.mark.parametrize(
    "text", ["which  DATABASE?", "Which database", "**Which** data\u200bbase?", "Which\ndatabase?!"]
)
def test_the_same_question_in_other_dress_is_the_same(text):
    same = Question(text, ("sqlite.", "postgresql"), "something else")
    assert question_fingerprint(same) == question_fingerprint(ASKED)


@pytest.mark.parametrize(
    "other", [Question("Which data base?", ASKED.options), Question("Which database?"), Question("Which?")]
)
def test_another_question_is_another(other):
    assert question_fingerprint(other) != question_fingerprint(ASKED)


def test_each_attempt_asks_in_a_comment_of_its_own():
    asked = a_record(1, Status.BLOCKED, attempts=(an_attempt(1), an_attempt(2, Outcome.BLOCKED)))
    assert question_key(asked) == "question:cf-1-2"
    assert question_key(a_record(1)) == "question:cf-1-0"


def test_an_open_question_says_whom_it_asks_what_was_tried_the_options_and_how_to_answer():
    record = a_record(1, Status.BLOCKED)
    assert record.approval is not None
    assert question_text(ASKED, record, "What can be done: a reply").split("\n\n") == [
        f"**Question.** @{record.approval.by}: the agent cannot go on without an answer.",
        "> Which database?",
        "What it tried:",
        "> both",
        "- **A** SQLite\n- **B** PostgreSQL",
        "What can be done: a reply",
    ]
    assert question_text(Question("Why?"), replace(record, approval=None), "A reply.").split("\n\n") == [
        "**Question.** The agent cannot go on without an answer.",
        "> Why?",
        "A reply.",
    ]


def test_one_that_is_open_elsewhere_is_one_line():
    assert pointer_text(ASKED, 7, "cf").startswith("**Question**, the same as on #7: Which database?")


def test_what_was_answered_says_by_whom_or_by_which_rule():
    answer = Answer("q", "SQLite", "wendy", 7, NOW, rule="house")
    assert answered_text(ASKED, answer).startswith("**Question, answered** by wendy.")
    assert "**Question, answered automatically** by `house`: one file" in automatic_text(
        ASKED, answer, "one file"
    )
    taken_back = withdrawn_text(ASKED, answer, Answer("q", "PostgreSQL", "tim", 8, NOW))
    assert "by tim, who took back the automatic answer by `house`." in taken_back
    assert taken_back.endswith("Answer:\n\n> PostgreSQL")


@pytest.mark.parametrize(
    ("to", "escalated", "begin"),
    [
        ((), False, "A reminder: this question is open. Which"),
        (("wendy", "acme/web"), False, "@wendy @acme/web: a reminder: this question is open. Which"),
        (("tim",), True, "@tim: this question is still open, and the task waits. Which"),
    ],
)
def test_a_reminder_names_whom_it_is_for(to, escalated, begin):
    assert reminder_text(Blocker("q", ASKED, NOW), to, escalated=escalated).startswith(begin)


def test_each_text_in_full():
    plain = Question("Why?")
    by_rule = Answer("q", "So", "supervisor", 0, NOW, rule="house")
    assert answered_text(plain, Answer("q", "So", "wendy", 7, NOW)) == (
        "**Question, answered** by wendy.\n\n> Why?\n\nAnswer:\n\n> So"
    )
    assert automatic_text(plain, by_rule, "it is small") == (
        "**Question, answered automatically** by `house`: it is small\n\n> Why?\n\nAnswer:\n\n> So\n\n"
        "If that is wrong, reply with the right answer until the next attempt has ended: your reply takes its place,"
        " and an attempt that began with the other one is ended and starts again."
    )
    assert withdrawn_text(plain, by_rule, Answer("q", "No", "tim", 8, NOW)) == (
        "**Question, answered** by tim, who took back the automatic answer by `house`.\n\n> Why?\n\nAnswer:\n\n> No"
    )
    assert pointer_text(Question("w" * 130), 7, "bot") == (
        f"**Question**, the same as on #7: {'w' * 120} … (cut) An answer there answers it here;"
        " `/bot answer ...` here counts for this task alone."
    )
    assert question_text(plain, a_record(1, approval=None), "What can be done:\n\n- a reply") == (
        "**Question.** The agent cannot go on without an answer.\n\n> Why?\n\nWhat can be done:\n\n- a reply"
    )
    assert reminder_text(Blocker("q", Question("w" * 210), NOW), (), escalated=True) == (
        f"This question is still open, and the task waits. {'w' * 200} … (cut)"
    )


def test_a_fingerprint_is_sixteen_digits():
    assert question_fingerprint(Question("Why?")) == question_fingerprint(Question(" why "))
    assert len(question_fingerprint(ASKED)) == 16
