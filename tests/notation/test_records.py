"""The hidden record, the state of the dashboard, and the comments that hold them."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.model.decision import Notice
from bot.model.record import Answer, Blocker, Held, Record, Spent
from bot.model.report import Hold, Outcome, Question
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.codec import Unreadable, dump
from bot.notation.comments import notice_comment, read_fingerprint, status_comment
from bot.notation.marker import read_marker, write_marker
from bot.notation.records import bounded, is_record, read_record, write_record
from bot.notation.state import State, fitting, read_state, write_state
from tests.builders import (
    BOT,
    NOW,
    OTHER_BOT,
    STRANGER,
    WRITER,
    a_comment,
    a_record,
    ago,
    an_attempt,
    an_issue,
)

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


def test_a_status_comment_says_state_reason_attempts_and_what_was_taken_as_an_answer():
    body = status_comment(FULL, "waits | for\nsomething", "cf").split("<!--")[0]

    assert "**`cf:blocked`** · waits \\| for something" in body
    assert "| `cf-1-1` code | [900](../actions/runs/900) | failed | 1.5 |" in body
    assert "| `cf-1-2` publish | – | blocked | – |" in body
    assert "| `cf-1-3` code | – | being cancelled | – | closed |" in body
    assert "Taken as an answer, from wendy: a" in body
    assert status_comment(Record(1), "x", "bot").startswith("**not a task any more**")


def test_only_the_newest_attempts_are_shown_and_the_rest_is_counted():
    attempts = tuple(an_attempt(n, Outcome.FAILED) for n in range(1, 13))
    body = status_comment(a_record(1, attempts=attempts, next_attempt=31), "x", "cf")

    assert "`cf-1-12`" in body
    assert "`cf-1-4` " not in body
    assert "22 earlier attempts are not shown" in body


def test_a_notice_carries_its_fingerprint_whatever_its_text_holds():
    for fingerprint in ("cycle:1→2→1", "warning:`-->` @x", "x\n<!-- cf:notice 1 {} -->"):
        assert read_fingerprint(notice_comment(Notice(fingerprint, "words"))) == fingerprint
    assert read_fingerprint("words") is None
    assert read_fingerprint(write_marker("notice", '{"fingerprint":3}')) is None


def test_the_state_comes_back_from_our_own_dashboard_only():
    state = State(NOW, {"1": "IC_1"}, {"2": "IC_2"}, "blob")
    body = f"words\n\n{write_state(state)}"

    assert read_state(an_issue(9, author=BOT, body=body), OURS) == state
    assert read_state(an_issue(9, author=WRITER, body=body), OURS) is None
    assert read_state(an_issue(9, author=BOT, body="words"), OURS) is None
    assert read_state(an_issue(9, author=BOT, body=write_marker("state", '{"records":3}')), OURS) is None
    newer = write_marker("state", '{"comments_since":"2026-03-02T12:00:00Z","more":1}')
    assert read_state(an_issue(9, author=BOT, body=newer), OURS) == State(NOW)
    assert read_marker("record", write_state(State(ago(days=1)))) is None


def test_the_state_of_thousands_of_tasks_fits_a_dashboard_and_running_ones_stay_in_it():
    """Finished tasks go first, then those of which nothing runs, the oldest first."""
    node = "IC_kwDOABCDEF5abcdef"
    numbers = [str(number) for number in range(1, 5001)]
    state = State(NOW, dict.fromkeys(numbers, node), {"9001": node}, "blob", spent={"cf-1-1": Spent(1)})
    kept = fitting(state, numbers[:3])

    assert len(write_state(kept)) < 31_000
    assert kept.finished == {}
    assert list(kept.records) == [*numbers[:3], *numbers[-len(kept.records) + 3 :]]
    assert (kept.spent, kept.config_blob) == (state.spent, "blob")
    assert fitting(kept, numbers[:3]) == kept
