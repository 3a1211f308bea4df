"""The record of a tick as JSON: read back as it was, by the version that can read it."""

import json
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from bot.model.advice import Proposal, Verdict
from bot.model.issue import NeedState
from bot.model.ref import Ref
from bot.model.report import Question
from bot.notation.codec import Unreadable
from bot.notation.ticks import (
    VERSION,
    TickRecord,
    read_snapshot,
    read_tick,
    write_decisions,
    write_snapshot,
    write_tick,
)
from bot.plan import plan
from tests.builders import a_snapshot, a_task

RECORD = TickRecord(VERSION, "1.2", datetime(2026, 3, 2, 12, tzinfo=UTC), "b10b", {"x": 1}, {1: {}}, (1,))


def test_a_record_comes_back_as_it_was():
    assert read_tick(write_tick(RECORD)) == RECORD


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "not a readable tickrecord"),
        (b"{}", "not a readable tickrecord"),
        (write_tick(replace(RECORD, version=2)), "a record of version 2; this cf reads version 1"),
    ],
)
def test_what_cannot_be_read_says_why(text, words):
    with pytest.raises(Unreadable, match=words):
        read_tick(text)


def test_keys_that_json_does_not_know_are_written_in_pairs():
    snapshot = a_snapshot(
        a_task(1),
        needs={Ref("octo/lib", 4): NeedState.OPEN},
        verdicts={Question("Why?", ("a", "b")): Verdict("a", "because")},
        proposals={(1, 2): Proposal({1: (2,)})},
    )
    fields = json.loads(json.dumps(write_snapshot(snapshot)))
    assert fields["needs"] == [[{"repository": "octo/lib", "number": 4}, "open"]]
    assert read_snapshot(fields) == snapshot


def test_fields_that_were_not_written_are_at_their_defaults():
    fields = write_snapshot(a_snapshot(a_task(1), starts_blocked_by="paused"))
    assert fields.pop("standstill") == "paused"  # by the name that records have for it
    assert read_snapshot(fields).starts_blocked_by == ""


@pytest.mark.parametrize("fields", [{}, {"now": 5}])
def test_what_is_no_snapshot_is_unreadable(fields):
    with pytest.raises(Unreadable, match="not a readable snapshot"):
        read_snapshot(fields)


def test_decisions_are_written_by_task():
    decided = plan(a_snapshot(a_task(1), a_task(2))).decisions
    written = write_decisions(decided)
    assert list(written) == [1, 2]
    assert (written[1]["verb"], written[1]["start"]["number"]) == ("start", 1)
