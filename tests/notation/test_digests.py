"""Digests tell texts apart."""

from hypothesis import given
from hypothesis import strategies as st

from bot.notation.digests import text_digest

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
