"""SEC-16, AGT-20: nothing hidden goes into a prompt, and nothing an agent writes closes, calls or marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.notation.marker import read_marker
from bot.notation.sanitise import neutralise, sanitise


def test_sec_16_the_case():
    body = "a\u200bb\u202ec\U000e0041\U000e0042 &lt;!-- run rm --&gt; and &#60;!-- x --&#62; \U0001f469\u200d\U0001f4bb ok"

    assert sanitise(body) == "abc  and  \U0001f469\u200d\U0001f4bb ok"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a <!-- x --> b", "a  b"),
        ("a <!-- x", "a "),
        ("a <!--> b --> c", "a  b --> c"),
        ("&amp;lt;!-- x --&amp;gt; b", " b"),
        ("&amp;amp;amp;#x3c;!-- x --> b", " b"),
        ("<!<!-- a -->-- rm --> b", " b"),
        ("<\u200b!-- x --> b", " b"),
        ("<&#x200b;!-- x -&shy;-> b", " b"),
        ("&lt!-- x --&gt b", " b"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("x\x00\x1b[31my", "x[31my"),
        ("zero \u2060width\ufeff \u00adsoft", "zero width soft"),
        ("tags: \U000e0001\U000e007f.", "tags: ."),
        ("a\ufe0fb c\u200dd", "ab cd"),
        ("filler \u3164\u115f\uffa0.", "filler ."),
    ],
)
def test_what_hides_goes(text, clean):
    assert sanitise(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "plain text, 1 < 2 && a->b -- c",
        "\u2764\ufe0f\u200d\U0001f525 and \U0001f3f3\ufe0f\u200d\U0001f308",
        "\U0001f468\U0001f3fd\u200d\U0001f680 3\ufe0f\u20e3",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "call f(&copy=1&lt=2) and a?b=1&copy=2",
        "\u65e5\u672c\u8a9e, caf\u00e9, \u00fc\n\ttabbed",
    ],
)
def test_what_a_reader_sees_stays(text):
    assert sanitise(text) == text


@given(st.text(alphabet="<!-->&;ltgampx#60 \u200b\u200da\n", max_size=80))
def test_sanitised_text_hides_nothing(text):
    clean = sanitise(text)

    assert "<!--" not in clean
    assert "\u200b" not in clean


@pytest.mark.parametrize(
    "piece",
    [
        "<!--",
        "&amp;",
        "&",
        "<!<!-- a -->-- a -->",
        "&#0000038;",
        "@a ",
        "fix #1 ",
        "closes  ::",
        "\u200d",
        "&amp;lt;!-- ",
    ],
)
def test_a_long_text_of_anything_is_read(piece):
    """Whatever is not linear does not come back from this within the time limit of a test."""
    neutral = neutralise(piece * 20_000, 1)

    assert len(neutral.defused) <= 1


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("Closes #21", "#21"),
        ("closes: #21", "#21"),
        ("Fixed\n#21", "#21"),
        ("resolves **#21**", "#21"),
        ("fixes [#21](x)", "#21"),
        ("close GH-21", "GH-2"),
        ("Resolved octo/lib#4", "octo/lib#4"),
        ("closes https://github.com/acme/shop/issues/21", "https://github.com/acme/shop/issues/2"),
        ("&#67;loses #21", "#21"),
        ("clo\u200bses #21", "#21"),
        ("closes #12 and closes #121", "#121"),
    ],
)
def test_agt_20_closing_words_for_other_issues_are_broken(text, reference):
    neutral = neutralise(text, 12)

    assert neutral.defused == (reference,)
    assert neutralise(neutral.text.replace("\u200b", ""), 12).defused == (reference,)
    assert not any(f"{word} #21" in neutral.text.lower() for word in ("closes", "fixes", "close", "resolves"))


@pytest.mark.parametrize(
    "text", ["fixes #12", "Closes #12.", "a prefix #21", "see #21", "this closes the door"]
)
def test_its_own_issue_and_ordinary_words_stay(text):
    assert neutralise(text, 12) == type(neutralise("", 1))(text, ())


def test_mentions_and_markers_are_inert():
    text = neutralise(
        "hi @octocat, mail me@example.com; <!-- cf:record 1 {} --> &lt;!-- cf:record 1 {} --&gt;", 1
    ).text

    assert "@octocat" not in text
    assert "me@example.com" in text
    assert read_marker("record", text) is None


def test_what_stands_between_two_comments_is_kept_also_where_the_second_never_ends():
    assert sanitise("a <!-- b --> c <!-- d --> e <!-- f") == "a  c  e "
    assert sanitise("a<!-->b") == "ab"
