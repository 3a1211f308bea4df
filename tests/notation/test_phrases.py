"""Phrases: whole words only, and nothing in them that could be slow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.notation.phrases import holds, parts_of, read_phrase, words_of
from tests.growth import growth


def found(text, phrase):
    return holds(words_of(text), read_phrase(phrase))


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("use pip", "pip", True),
        ("the pipeline", "pip", False),
        ("pip-tools", "pip", True),
        ("PIP!", "pip", True),
        ("virtual  environment", "virtual environment", True),
        ("virtual\nenvironment", "virtual environment", True),
        ("virtual machine environment", "virtual environment", False),
        ("virtual machine environment", "virtual ... environment", True),
        ("one two three four five six seven eight", "one ... eight", True),
        ("one two three four five six seven eight nine", "one ... nine", False),
        ("deleting", "delet*", True),
        ("undeleted", "delet*", False),
        ("npm or yarn", "yarn|npm or yarn|npm", True),
        ("asyncio_mode", "asyncio mode", True),
        ("vir\u200btual env", "virtual env", True),
        ("", "pip", False),
        ("a b a b c", "a b c", True),
    ],
)
def test_finding(text, phrase, expected):
    assert found(text, phrase) is expected


def test_humps_are_word_ends_where_caution_asks_for_it():
    assert parts_of("config.apiKey") == ("config", "api", "key")
    assert words_of("config.apiKey") == ("config", "apikey")


@pytest.mark.parametrize(
    "text",
    ["", "...", "a ...", "a.b", "(a+)+", "a||b", "|a", "*", "ab*", "a*b", "a_b", "[a]", "\\w", "x " * 13],
)
def test_what_is_no_phrase_is_refused(text):
    with pytest.raises(ValueError, match="must"):
        read_phrase(text)


@given(st.text(max_size=60))
def test_any_text_is_a_phrase_or_refused(text):
    try:
        phrase = read_phrase(text)
    except ValueError:
        return
    assert phrase


def test_the_worst_phrase_over_a_long_text_takes_steps_in_proportion():
    """Also where each word could begin it, and none ends it."""
    phrase = read_phrase(" ... ".join(["a|b"] * 11) + " c")
    small, large = ("a", "b") * 500, ("a", "b") * 2_000

    assert holds((*large, "c"), phrase)
    assert growth(lambda: holds(small, phrase), lambda: holds(large, phrase)) < 8


def test_a_gap_is_between_two_words_only():
    first, second, third = read_phrase("... one two ... three")
    assert (first.gap, second.gap, third.gap) == (0, 0, 6)
    assert holds(("x", "one", "two", "a", "b", "c", "d", "e", "f", "three"), (first, second, third))
    assert not holds(("one", "two", "a", "b", "c", "d", "e", "f", "g", "three"), (first, second, third))
    assert not holds(("one", "x", "two", "three"), (first, second, third))
