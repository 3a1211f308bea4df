"""Text within so many bytes: whole, or shorter and counted."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.notation.bounds import bounded, cut


@pytest.mark.parametrize(
    ("most", "kept"),
    [
        (7, ["aa", "bb"]),
        (6, ["aa", "bb"]),
        (5, ["aa", "1 more"]),
        (3, ["aa", "1 more"]),
        (2, ["2 more"]),
        (0, ["2 more"]),
    ],
)
def test_lines_are_counted_with_what_ends_them(most, kept):
    assert bounded(["aa", "bb"], most, "{} more") == kept


def test_bytes_count_and_not_letters():
    assert bounded(["é", "é"], 5, "{} more") == ["é", "1 more"]
    assert bounded([], 0, "{} more") == []


def test_what_fits_is_left_alone_and_else_whole_paragraphs_stay():
    text = "\n\n".join(["one"] * 40)
    assert cut(text, len(text)) == text
    assert cut(text, len(text) - 1) == "one\n\n" * 27 + "_13 more parts are left out._\n"
    assert cut("x" * 100, 99) == "_1 more parts are left out._\n"


@settings(max_examples=200)
@given(st.lists(st.text(max_size=20), max_size=30), st.integers(0, 300))
def test_lines_within_a_bound_are_all_there_or_counted(lines, most):
    kept = bounded(lines, most, "{} more")
    if kept != lines:
        shown = len(kept) - 1
        assert kept == [*lines[:shown], f"{len(lines) - shown} more"]
        assert len("\n".join(kept[:shown]).encode("utf-8", "replace")) <= most


@given(st.lists(st.text("ab é", max_size=30), max_size=30).map("\n\n".join), st.integers(100, 300))
def test_a_text_within_a_bound_is_whole_or_shorter_than_it(text, most):
    assert cut(text, most) == text or len(cut(text, most).encode()) <= most
