"""Our comments: what a status comment shows, and the fingerprint in a notice."""

import pytest

from bot.model.decision import Notice
from bot.model.record import Record
from bot.model.report import Outcome
from bot.notation.comments import notice_comment, read_fingerprint, replied_to, reply_to, status_comment
from bot.notation.marker import write_marker
from tests.builders import a_record, an_attempt
from tests.notation.test_records import FULL


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


@pytest.mark.parametrize(
    ("fingerprint", "comment"),
    [
        ("reply:12", 12),
        ("reply:-12", -12),
        ("reply:0", 0),
        ("reply:x", 0),
        ("reply:12x", 0),
        ("", 0),
        (None, 0),
    ],
)
def test_a_reply_is_known_by_the_comment_that_it_replies_to(fingerprint, comment):
    assert replied_to(fingerprint) == comment
    assert replied_to(reply_to(comment)) == comment
