"""Digests tell texts apart."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.notation.digests import digest_of, named, text_digest
from tests.builders import a_task

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=80)


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


def test_a_task_is_told_by_its_text_or_by_the_digest_that_stands_for_it():
    assert digest_of(a_task(title="t", body="b")) == text_digest("t", "b")
    assert digest_of(replace(a_task(), digest="d" * 32)) == "d" * 32
    assert text_digest("t", "b") == "ff77846d3136ee2ced7d444e329da6a8"


def test_a_name_stands_for_a_text_once():
    assert named("words") == "text-dba36bffa5ca"
    assert named(named("words")) == named("words")
    assert named("") == ""
    assert named(f"{named('words')}x") != f"{named('words')}x"
    assert named("\ud800") != named("\ud801")
