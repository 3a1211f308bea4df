"""Text that GitHub stores: never too long, readable where it is cut, our memory whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.github.fit import CUT, MAX_BYTES, MAX_CHARACTERS, fit, fit_title
from bot.notation.marker import read_marker, write_marker

MARKER = write_marker("record", '{"task":1,"note":"' + "x" * 2000 + '"}')


def fits(text):
    return len(text) <= MAX_CHARACTERS and len(text.encode()) <= MAX_BYTES


@pytest.mark.parametrize("text", ["", "short", "x" * 65_536, "😀" * 65_536])
def test_what_fits_is_left_alone(text):
    assert fit(text) == text


@pytest.mark.parametrize(
    "text", ["x" * 65_537, "x" * 70_000, "😀" * 65_537, "é\n" * 40_000, "👩🏽‍🚀" * 30_000]
)
def test_api_13_what_is_too_long_is_cut_and_says_so(text):
    cut = fit(text)
    assert fits(cut)
    assert len(cut) > 60_000
    assert cut.rstrip().endswith(CUT)
    assert text.startswith(cut[: len(cut) - 1000])


@pytest.mark.parametrize("body", ["word\n" * 20_000, "😀" * 70_000, "x" * 65_600])
def test_the_marker_at_the_end_stays_whole(body):
    cut = fit(f"{body}\n\n{MARKER}\n")
    assert fits(cut)
    assert read_marker("record", cut) == read_marker("record", MARKER)
    assert CUT in cut


def test_api_13_an_open_fence_is_closed_before_the_note():
    cut = fit("intro\n\n````python\n" + "```\ncode\n" * 10_000)
    assert f"\n````\n\n{CUT}" in cut


def test_a_closed_fence_is_not_opened_again():
    cut = fit("~~~\ncode\n~~~\n" + "word " * 20_000)
    assert cut.count("~~~") == 2


def test_folded_sections_and_comments_are_closed():
    cut = fit("<details><details></details>\n" + "word\n" * 20_000)
    assert cut.count("<details") == cut.count("</details>")
    assert cut.index("</details>", 100) < cut.index(CUT)
    cut = fit("<!-- never closed\n" + "word\n" * 20_000)
    assert cut.index("-->") < cut.index(CUT)


def test_a_note_of_the_callers_own():
    assert (
        fit("x" * 70_000, "full log: https://github.test/r/5")
        .rstrip()
        .endswith("full log: https://github.test/r/5")
    )


@given(st.text(alphabet="ab`~<!->\n😀 dtils/", max_size=60), st.integers(1, 30_000))
def test_any_text_fits_and_keeps_its_marker(piece, times):
    text = (piece * (times * 60 // max(1, len(piece))))[:150_000] + "\n" + MARKER
    cut = fit(text)
    assert fits(cut)
    assert cut.rstrip().endswith(MARKER)


@pytest.mark.parametrize(
    "piece",
    [
        "<details>",
        " ",
        "<!-- cf:",
        "<!-- cf:a -->",
        "```\n",
        "~~~ <details>\n",
        " -->",
        "\n<!-- cf:record 1 {",
    ],
)
def test_hostile_text_is_cut_like_any_other(piece):
    text = piece * (300_000 // len(piece))
    cut = fit(f"{text}\n{MARKER}")
    assert fits(cut)
    assert cut.endswith(MARKER)


def test_what_no_request_can_carry_is_replaced():
    assert fit("a\ud800b\0c") == "a?bc"
    assert fit_title("a\udfff") == "a?"


def test_titles_are_one_line_of_256():
    assert fit_title("a\n b") == "a b"
    assert len(fit_title("x" * 300)) == 256
