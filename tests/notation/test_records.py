"""The hidden record: read back as it was, by our own comments only, and within what a comment holds."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.model.record import Answer, Blocker, Held, Record, Spent
from bot.model.report import Hold, Outcome, Question
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.codec import Unreadable, dump
from bot.notation.comments import status_comment
from bot.notation.marker import write_marker
from bot.notation.records import bounded, is_record, read_record, write_record
from tests.builders import BOT, NOW, OTHER_BOT, STRANGER, WRITER, a_comment, a_record, an_attempt

OURS = {BOT.id}
COMMENT_MOST = 60_000


def read(body, task=1, by=BOT):
    return read_record(a_comment(body, by=by), task, OURS)


FULL = a_record(
    1,
    Status.BLOCKED,
    attempts=(
        an_attempt(1, Outcome.FAILED, reason="tests -- fail\n<!-- x -->", run=900, minutes=1.5),
        an_attempt(2, Outcome.BLOCKED, kind=Kind.PUBLISH, started_from=Status.FAILED),
        an_attempt(3, cancel_sent_at=NOW, cancelled_for="closed", force_sent_at=NOW),
    ),
    next_attempt=4,
    strikes=1,
    interruptions=2,
    not_before=NOW + timedelta(microseconds=5),
    blocker=Blocker("question:cf-1-2", Question("Which @db?", ("A --> B", "C"), "tried"), NOW),
    answers=(Answer("q", "a", "wendy", 7, NOW),),
    notices=("a", "b"),
    acted=(1, 2),
    pull=70,
    head="b" * 40,
    earlier="900/cf-1-2",
    republish=True,
    reviewed_at=NOW,
    reopened_at=NOW,
    batch=5,
)


@pytest.mark.parametrize("record", [Record(1), FULL])
def test_a_record_comes_back_as_it_was(record):
    assert read(f"words\n\n{write_record(record)}\n") == record
    assert read(status_comment(record, "why", "cf")) == record


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_no_text_in_a_record_or_beside_it_changes_what_is_read(text):
    attempt = an_attempt(1, Outcome.FAILED, reason=text, cancelled_for=text)
    record = a_record(1, Status.FAILED, attempts=(attempt,), answers=(Answer(text, text, text, 1, NOW),))

    assert read(status_comment(record, text, "cf")) == record


@pytest.mark.parametrize("author", [STRANGER, WRITER, OTHER_BOT])
def test_sec_07_an_exact_copy_by_another_author_is_no_record(author):
    assert read(write_record(FULL), by=author) is None


def test_a_record_about_another_task_is_none():
    assert read(write_record(FULL), task=2) is None


def test_a_comment_without_a_record_is_none():
    assert read("hello") is None
    assert read(write_marker("notice", dump({"fingerprint": "x"}))) is None


VERSION_1 = replace(
    FULL,
    attempts=(
        *FULL.attempts[:2],
        an_attempt(
            3,
            Outcome.CAPACITY,
            engine="codex",
            model="m",
            tokens=12,
            usd=0.5,
            rounds=2,
            files=3,
            gates=2,
            gates_passed=1,
            evidence="e" * 16,
            failure="f" * 16,
            retry_after=NOW,
            head="a" * 40,
            pull=70,
        ),
        *FULL.attempts[2:],
    ),
    held=Held(Hold.SETTING, NOW, 2, ("AGENTS.md",), 1),
    exceptions=("AGENTS.md",),
    before=Spent(30, 100.5, 7, 2.25),
)


def test_a_record_of_the_first_format_is_read_right_for_ever():
    """A file as it was written then: what is added later must not change what it says."""
    text = (Path(__file__).parents[1] / "data/records/version-1.md").read_text(encoding="utf-8")
    assert read(text) == VERSION_1


def test_a_record_of_a_newer_format_is_said_not_guessed():
    body = write_record(FULL).replace("cf:record 1 ", "cf:record 2 ")
    with pytest.raises(Unreadable, match="a newer version of cf-conductor"):
        read(body)
    assert is_record(body)


def test_a_record_of_a_newer_version_is_read_as_far_as_it_is_known():
    body = write_marker("record", '{"task":1,"strikes":2,"of_tomorrow":[1,2]}')
    assert read(body) == Record(1, strikes=2)


@pytest.mark.parametrize(
    "payload",
    ['{"task":"one"}', "{}", '{"task":1,"status":"waiting"}', '{"task":1,"strikes":null}', "{task}"],
)
def test_a_record_that_cannot_be_read_is_said_not_guessed(payload):
    with pytest.raises(Unreadable):
        read(write_marker("record", payload))


@pytest.mark.parametrize("char", ["x", "<", "@", "-", "\n", "\u0001", "\U0001f600", '"'])
def test_a_record_of_five_hundred_attempts_and_long_words_fits_a_comment(char):
    text = char * 65_000
    attempts = tuple(
        an_attempt(n, Outcome.FAILED, reason=text, cancelled_for=text, run=10**11 + n) for n in range(1, 501)
    )
    record = replace(
        FULL,
        attempts=attempts,
        next_attempt=501,
        answers=tuple(Answer(text, text, "wendy", n, NOW) for n in range(300)),
        notices=tuple(f"{n}{char * 190}" for n in range(500)),
        acted=tuple(range(10**10, 10**10 + 900)),
        blocker=Blocker("q", Question(text, tuple(text for _ in range(8)), text), NOW),
    )
    body = status_comment(record, text, "cf")
    kept = read(body)

    assert len(body) < COMMENT_MOST
    assert kept is not None
    assert (kept.next_attempt, kept.attempts[-1].number, kept.answers[-1].comment) == (501, 500, 299)
    assert kept.blocker is not None
    assert len(kept.blocker.question.options) == 8
    assert kept.notices[-1] == record.notices[-1]
    assert kept.acted[-1] == record.acted[-1]


def test_what_attempts_used_up_is_known_after_they_are_dropped():
    attempts = tuple(an_attempt(n, Outcome.FAILED, minutes=1.5, tokens=10, usd=0.25) for n in range(1, 501))
    record = replace(FULL, attempts=attempts, next_attempt=501)
    kept = read(write_record(record))

    assert kept is not None
    assert len(kept.attempts) == 20
    assert kept.spent == record.spent == Spent(500, 750.0, 5000, 125.0)


def test_what_fits_is_not_cut():
    record = replace(
        FULL, attempts=tuple(an_attempt(n, Outcome.FAILED, reason="r" * 300) for n in range(1, 21))
    )
    assert bounded(record) == record
    assert read(write_record(record)) == record


def test_as_much_is_kept_as_is_said():
    many = replace(
        FULL,
        notices=tuple(f"n{number}" for number in range(60)),
        acted=tuple(range(120)),
        answers=tuple(Answer(f"q{number}", "a", "wendy", number, NOW) for number in range(30)),
        attempts=tuple(an_attempt(number, Outcome.FAILED) for number in range(1, 31)),
        feedback="f" * 5_000,
    )
    kept = bounded(many)
    assert (kept.notices, kept.acted) == (many.notices[10:], many.acted[20:])
    assert (kept.answers, kept.attempts) == (many.answers[10:], many.attempts[10:])
    assert kept.feedback == "f" * 4_000
    fewer = bounded(many, 2, 3)
    assert (len(fewer.notices), len(fewer.answers), len(fewer.attempts)) == (20, 2, 2)
    assert (fewer.notices[0], fewer.feedback, fewer.acted) == ("n40", "fff", kept.acted)


def test_each_text_is_cut_and_no_option_is_lost():
    asked = Question("question", ("first", "second"), "tried")
    long = replace(
        FULL,
        attempts=(an_attempt(1, Outcome.FAILED, reason="reason", cancelled_for="closed"),),
        answers=(Answer("question", "answer", "wendy", 1, NOW),),
        blocker=Blocker("fingerprint", asked, NOW),
    )
    kept = bounded(long, 5, 3)
    assert (kept.attempts[0].reason, kept.attempts[0].cancelled_for) == ("rea", "clo")
    assert (kept.answers[0].question, kept.answers[0].answer) == ("que", "ans")
    assert kept.blocker == Blocker("fingerprint", Question("que", ("fir", "sec"), "tri"), NOW)


@pytest.mark.parametrize(
    ("count", "length", "kept"), [(20, 1_500, (20, 1_500)), (20, 3_000, (20, 1_000)), (60, 900, (20, 900))]
)
def test_the_first_size_that_fits_is_taken(count, length, kept):
    attempts = tuple(
        an_attempt(number, Outcome.FAILED, reason="r" * length) for number in range(1, count + 1)
    )
    read_back = read(write_record(Record(1, attempts=attempts)))
    assert read_back is not None
    assert (len(read_back.attempts), len(read_back.attempts[0].reason)) == kept
