"""Keys, digests, markers and the JSON inside them."""

import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model.record import Record
from bot.model.report import GateResult, GateStatus, Outcome, Question, Report
from bot.notation.codec import Unreadable, dump, load
from bot.notation.digests import text_digest
from bot.notation.keys import Key, branch_of, keys_in, read_key
from bot.notation.marker import checked, defuse, read_marker, signed, write_marker
from bot.notation.reports import read_report, report_name, work_name, write_report

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=80)
HOSTILE = st.lists(
    st.sampled_from(
        ["<!--", "-->", "--", "-", "<", ">", "@me", "\n", "\\", '"', "cf:record 1 {", "} -->", "x", "\u2028"]
    ),
    max_size=12,
).map("".join)


@given(TEXTS | HOSTILE)
def test_a_marker_gives_back_its_payload_and_holds_nothing_that_markdown_reads(text):
    payload = json.dumps({"text": text}, ensure_ascii=False)
    marker = write_marker("record", payload)
    inside = marker.removeprefix("<!-- ").removesuffix(" -->")

    assert json.loads(read_marker("record", f"words\n{marker}\nmore") or "") == {"text": text}
    assert not any(mark in inside for mark in ("--", "<", ">", "@", "\n"))


@given(HOSTILE, HOSTILE)
def test_defused_text_forms_no_marker_and_hides_nothing(before, after):
    text = defuse(f"{before}{write_marker('record', '{}')}{after}")

    assert read_marker("record", text) is None
    assert "<!--" not in text
    assert "-->" not in text


def test_the_last_marker_of_a_name_counts_and_others_do_not():
    text = "\n".join(
        [
            write_marker("record", '{"task":1}'),
            write_marker("notice", '{"task":3}'),
            write_marker("record", '{"task":2}'),
        ]
    )
    assert read_marker("record", text) == '{"task":2}'
    assert read_marker("state", text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<!-- cf:record 1 [] -->",
        "<!--cf:record 1 {}-->",
        "<!-- cf:record 1 {\n} -->",
        "<!-- cf:Record 1 {} -->",
        "cf:record 1 {}",
    ],
)
def test_what_only_resembles_a_marker_is_none(text):
    assert read_marker("record", text) is None


@pytest.mark.parametrize("text", ["cf-1-1", "cf-12-3", "cf-9999999999-999999"])
def test_a_key_is_read_back_as_written(text):
    key = read_key(text)
    assert key is not None
    assert str(key) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cf-0-1",
        "cf-1-0",
        "cf-01-1",
        "cf-1",
        "cf-1-1-1",
        "CF-1-1",
        "cf-1-1\n",
        " cf-1-1",
        "cf-١-1",
        "cf--1-1",
        "xcf-1-1",
        "cf-12345678901-1",
    ],
)
def test_anything_else_is_no_key(text):
    assert read_key(text) is None


def test_keys_of_a_run_are_found_in_its_title_in_order_and_whole():
    assert keys_in("cf worker cf-12-2 cf-1-1") == (Key(12, 2), Key(1, 1))
    assert keys_in("cf-1-11, cf-1-1x; acf-1-1 cf-1-1-2 (cf-3-4)") == (Key(1, 11), Key(3, 4))
    assert keys_in("") == ()


def test_branches_and_artifacts_are_named_after_the_key():
    key = Key(12, 3)
    assert (branch_of(key), branch_of(key, fresh=True)) == ("cf/12", "cf/12-3")
    assert (work_name(str(key)), report_name(str(key))) == ("cf-work-cf-12-3", "cf-report-cf-12-3")


@given(TEXTS, TEXTS)
def test_digests_tell_texts_apart(title, body):
    digest = text_digest(title, body)
    assert digest == text_digest(title, body)
    assert len(digest) == 32
    assert digest != text_digest(title + "x", body)
    assert digest != text_digest(title, body + "x")


def test_a_digest_knows_where_the_title_ends():
    assert text_digest("a", "\nb") != text_digest("a\n", "b")
    assert text_digest("a\nb", "c") != text_digest("a", "b\nc")
    assert text_digest("\ud800", "") != text_digest("", "\ud800")


def test_values_are_written_without_their_defaults():
    assert dump(Record(7)) == '{"task":7}'
    assert dump(Report("cf-1-1", 1, Outcome.FAILED)) == '{"key":"cf-1-1","task":1,"outcome":"failed"}'


def test_a_report_comes_back_as_it_was():
    report = Report(
        "cf-1-2",
        1,
        Outcome.BLOCKED,
        message="words\n<!-- cf:record 1 {} -->",
        question=Question("Which?", ("A", "B"), "nothing"),
        gates=(GateResult("tests", GateStatus.FAILED, 1.5, "tail"),),
        minutes=0.25,
        statistics={"tokens": 10.0},
    )
    assert read_report(write_report(report)) == report
    assert read_report(write_report(report).encode()) == report


def test_fields_of_a_newer_version_are_ignored():
    text = '{"task":1,"later":{"deep":[1,{"x":null}]},"attempts":[],"strikes":2}'
    assert load(text, Record) == Record(1, strikes=2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        "{}",
        '{"key":"cf-1-1","task":"1","outcome":"failed"}',
        '{"key":"cf-1-1","task":1,"outcome":"splendid"}',
        '{"key":"cf-1-1","task":1,"outcome":"failed","gates":[{"name":"x","status":"fine"}]}',
        '{"key":"cf-1-1","task":1,"outcome":"failed","minutes":"long"}',
        b"\xff\xfe",
        '{"key":"\ud800"}',
        '{"x":' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_what_is_no_report_is_unreadable_and_never_anything_worse(text):
    with pytest.raises(Unreadable, match="not a readable report"):
        read_report(text)


def test_times_keep_their_microseconds_and_zone():
    at = datetime(2026, 3, 2, 12, 0, 1, 234567, tzinfo=UTC)
    assert load(dump(Record(1, not_before=at)), Record).not_before == at


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<!-- cf:record 2 {} -->", "a newer version of cf-conductor (format 2)"),
        ("<!-- cf:record 1 {} !missing -->", "its signature is missing"),
        ("<!-- cf:record 1 {} !wrong -->", "its signature is wrong"),
    ],
)
def test_what_must_not_be_read_says_why(text, words):
    with pytest.raises(Unreadable, match=re.escape(words)):
        read_marker("record", text)


KEY, OLD = "k" * 40, "o" * 40


def test_a_signature_stands_for_name_version_and_every_letter():
    text = f"words {write_marker('record', '{}')} more {write_marker('notice', '{}')}"
    sealed = signed(text, KEY, {"record"})

    assert read_marker("record", sealed) == read_marker("notice", sealed) == "{}"
    assert checked(sealed, (KEY,), {"record"}) == checked(sealed, (OLD, KEY), {"record"}) == text
    assert signed(sealed, KEY, {"record"}) == sealed
    assert checked(text, (KEY,), ()) == text
    for changed in (
        text,
        sealed.replace("{}", "{ }"),
        sealed.replace("record", "state"),
        sealed.replace(" 1 ", " 2 "),
    ):
        spoilt = checked(changed, (KEY,), {"record", "state"})
        with pytest.raises(Unreadable):
            read_marker("state" if "state" in changed else "record", spoilt)
    assert "!wrong" in checked(sealed, (OLD,), {"record"})


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_signing_and_checking_change_nothing_that_is_no_marker(text):
    assert signed(text, KEY, {"zzz"}) == checked(text, (KEY,), {"zzz"}) == text
