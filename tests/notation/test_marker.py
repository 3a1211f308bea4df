"""Markers: what is hidden in them comes back, forms nothing else, and is signed."""

import hmac
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.notation.codec import Unreadable
from bot.notation.marker import checked, defuse, read_marker, signed, write_marker

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


def test_what_is_defused_can_still_be_read():
    assert defuse("a <!-- b --> c") == "a &lt;!-- b --&gt; c"


def test_a_signature_is_what_the_key_makes_of_name_version_and_words():
    text = signed(write_marker("record", '{"task":1}'), "key", {"record"})
    mac = hmac.new(b"key", b'record 1 {"task":1}', "sha256").hexdigest()
    assert mac in text
    assert mac not in signed(write_marker("record", '{"task":1}'), "other", {"record"})
