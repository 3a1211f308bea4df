"""What may stand in a job's log, held against the runner's own way of finding commands."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.notation.joblog import defused, plain, plain_json

PIECES = ["##[", "#", "[", "::", ":", " ", "\t", "\n", "\r", "\x0b", "\x1b[31m", "add-mask", "]", "main", "é"]
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def obeyed(text):
    """Lines that a runner takes for commands: `::` at the start after white space, `##[` anywhere (ActionCommand.cs).

    .NET's reader ends a line at a line feed, a carriage return, or both.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [line for line in lines if line.lstrip().startswith("::") or "##[" in line]


@given(HOSTILE | st.text())
def test_no_line_of_it_is_obeyed(text):
    assert obeyed(plain(text)) == obeyed(defused(text)) == []


@given(HOSTILE | st.text())
def test_making_it_plain_twice_changes_nothing_more(text):
    assert plain(plain(text)) == plain(text)


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"])).filter(lambda text: not obeyed(text)))
def test_what_nobody_obeys_stays_as_it_is(text):
    assert plain(text) == text


@given(st.text())
def test_no_byte_moves_a_terminal(text):
    assert not [char for char in plain(text) if unicodedata.category(char) == "Cc" and char not in "\t\n"]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("##[add-mask]main", "## [add-mask]main"),
        ("all is well ##[error]boom", "all is well ## [error]boom"),
        ("###[group]x", "### [group]x"),
        ("::set-output name=a::b", ": :set-output name=a::b"),
        ("one\n  ::error::two", "one\n  : :error::two"),
        ("one\r::error::two", "one\n: :error::two"),
        ("\x0b::error::two", ": :error::two"),
        ("std::vector<int>", "std::vector<int>"),
        ("a \x1b]0;title\x07 b", "a ]0;title b"),
        ("a file called \udc80", "a file called \\udc80"),
    ],
)
def test_examples(text, right):
    assert plain(text) == right


@given(st.dictionaries(HOSTILE | st.text(), HOSTILE | st.text()))
def test_json_says_the_same_and_commands_nothing(value):
    shown = plain_json(json.dumps(value, indent=2, ensure_ascii=False))

    assert json.loads(shown) == value
    assert obeyed(shown) == []
