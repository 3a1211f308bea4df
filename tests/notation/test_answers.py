"""What counts as an answer (ANS-02), and what does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.notation.answers import NotAnAnswer, Reply, chosen, read_answer

AB = ("SQLite", "PostgreSQL 16")


@pytest.mark.parametrize(
    "body",
    [
        "B",
        "b",
        "B.",
        "B)",
        "B:",
        " B \n",
        "**B**",
        "`B`",
        "- B",
        "B. It is cheaper.",
        "B) because of the locks",
        "B\nA would do as well",
        "PostgreSQL 16",
        "postgresql 16.",
        "*PostgreSQL* 16",
        "`PostgreSQL 16`",
        "B\u200b",
        "<!-- A -->B",
        "> A or B?\n\nB",
        "~~A~~\nB",
        "/cf answer B",
        "/CF answer b.",
        "/cf answer: not\n/cf answer postgresql 16",
        "noise?\n/cf answer B",
    ],
)
def test_an_option_is_named_by_its_letter_or_its_text(body):
    assert read_answer(body, AB) == Reply("PostgreSQL 16")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("what does B cost?", NotAnAnswer.QUESTION),
        ("B?", NotAnAnswer.QUESTION),
        ("B\nor is A better?", NotAnAnswer.QUESTION),
        ("**B?**", NotAnAnswer.QUESTION),
        ("B を使いますか？", NotAnAnswer.QUESTION),
        ("A bit more context would help", NotAnAnswer.UNCLEAR),
        ("@bob please decide", NotAnAnswer.ADDRESSED),
        ("**@bob** B", NotAnAnswer.ADDRESSED),
        ("\u200b@bob B", NotAnAnswer.ADDRESSED),
        ("C", NotAnAnswer.UNCLEAR),
        ("AB", NotAnAnswer.UNCLEAR),
        ("A, please", NotAnAnswer.UNCLEAR),
        ("the second", NotAnAnswer.UNCLEAR),
        (".", NotAnAnswer.UNCLEAR),
        ("I think\nB", NotAnAnswer.UNCLEAR),
        ("ß", NotAnAnswer.UNCLEAR),
        ("ı.", NotAnAnswer.UNCLEAR),
        ("", NotAnAnswer.EMPTY),
        (" \n\t", NotAnAnswer.EMPTY),
        ("> B", NotAnAnswer.EMPTY),
        ("~~B~~", NotAnAnswer.EMPTY),
        ("<!-- B -->", NotAnAnswer.EMPTY),
        ("<!-- B", NotAnAnswer.EMPTY),
        ("&lt;!-- B --&gt;", NotAnAnswer.EMPTY),
        ("\u200b\u202e", NotAnAnswer.EMPTY),
        ("/cf stop", NotAnAnswer.EMPTY),
        ("/cf", NotAnAnswer.EMPTY),
        ("/cf answer", NotAnAnswer.EMPTY),
    ],
)
def test_anything_else_resumes_nothing(body, why):
    assert read_answer(body, AB) is why


def test_an_abbreviation_is_no_letter():
    assert read_answer("E.g. the cheaper one", ("one", "two", "three", "four", "five")) is NotAnAnswer.UNCLEAR


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("use sqlite", "use sqlite"),
        ("use `pytest -x` for it", "use `pytest -x` for it"),
        ("`make check`", "`make check`"),
        ("this:\n\n```\nmake check\n```", "this:\n```\nmake check\n```"),
        ("1. first\n2. then", "1. first\n2. then"),
        ("> which?\n\nthis one", "this one"),
        ("~~that~~ this", "this"),
        ("a <!-- b --> c", "a  c"),
        ("sq\u200blite", "sqlite"),
        ("/cf stop\nuse sqlite", "use sqlite"),
        ("/cf answer use sqlite", "use sqlite"),
        ("```\n/cf stop\n```\nkeep that line", "```\n/cf stop\n```\nkeep that line"),
        ("@ noon", "@ noon"),
        ("Is it sqlite? Yes.", "Is it sqlite? Yes."),
    ],
)
def test_without_options_the_whole_statement_is_the_answer(body, words):
    assert read_answer(body, ()) == Reply(words)


def test_cf_answer_counts_also_where_it_names_no_option():
    assert read_answer("/cf answer use redis", AB) == Reply("use redis")


@given(st.text(), st.lists(st.text(), max_size=30))
def test_no_reply_and_no_option_breaks_it_and_only_offered_options_are_chosen(body, options):
    verdict = read_answer(body, options)
    if isinstance(verdict, Reply) and options and "/cf" not in body.lower():
        assert verdict.text in options


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("b", "PostgreSQL"),
        ("B) because it lasts\nand more", "PostgreSQL"),
        ("sqlite.", "SQLite"),
        ("use both", "use both"),
        ("c", "c"),
        ("x\nb", "x\nb"),
    ],
)
def test_what_words_given_by_command_mean_for_these_options(words, meant):
    assert chosen(words, ("SQLite", "PostgreSQL")) == meant
    assert chosen(words, ()) == words
