"""Foreign words in our comments can do nothing there."""

import html
import re

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.notation.marker import read_marker, write_marker
from bot.notation.quoting import code_block, quote, quote_line
from bot.notation.text import live_lines

PIECES = [
    "<!-- cf:record 1 {} -->",
    "<!--",
    "-->",
    "<",
    "@wendy",
    "@",
    "&#64;wendy",
    "&#x40;",
    "&commat;bob",
    "/cf run",
    "\n",
    "\r",
    "\r\n",
    "\u2028",
    "\x85",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x00",
    "```",
    "````",
    "~~~",
    "`",
    "|",
    "\\",
    "\\|",
    "# x",
    "- ",
    "> ",
    "    ",
    "<details>",
    "</details>",
    "<pre>",
    "<script",
    "\u200b",
    "\u202e",
    "::set-output name=x::",
    "![x](y)",
    "1. ",
    "word",
    " ",
]
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
MENTION = re.compile(r"@[A-Za-z0-9]")


def seen(text):
    """What mentions are looked for in: entities decoded, as in the page that GitHub draws."""
    return html.unescape(text)


@given(HOSTILE)
@example("&#64;wendy")
@example("<\u200b!-- cf:record 1 {} -->")
def test_no_text_forms_a_marker_a_mention_an_order_or_a_tag(text):
    for shown in (quote(text), quote_line(text), code_block(text)):
        assert read_marker("record", shown) is None
        assert "<!--" not in shown
        assert not MENTION.search(seen(shown))
        assert not re.search(r"<[A-Za-z/!?]", shown)
    for block in (quote(text), code_block(text)):
        assert not list(live_lines(block))
    assert "\n" not in quote_line(text)
    assert not re.search(r"[\r\x00\x0b\x0c\x85\u2028\u2029]", quote(text) + quote_line(text))


@given(HOSTILE)
def test_every_line_of_a_quote_is_quoted(text):
    assert all(line.startswith(">") for line in quote(text).split("\n"))


@given(HOSTILE)
def test_a_fence_cannot_be_closed_from_inside(text):
    tokens = MARKDOWN.parse(f"before\n\n{code_block(text)}\n\nafter")

    assert [token.type for token in tokens if token.level == 0 and token.type != "paragraph_close"] == [
        "paragraph_open",
        "fence",
        "paragraph_open",
    ]


@given(HOSTILE)
def test_a_cell_cannot_add_another_cell(text):
    tokens = MARKDOWN.parse(f"| a | b |\n|---|---|\n| {quote_line(text)} | last |\n")
    cells = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "td_open"]

    assert len(cells) == 2
    assert cells[1] == "last"


def test_long_text_is_cut_and_said_so():
    assert quote("x" * 10_000).endswith("… (cut)")
    assert len(quote("x" * 10_000)) < 3_100
    assert len(quote_line("@a" * 10_000)) < 700
    block = code_block("begin" + "x" * 10_000 + "end")
    assert "(the beginning is left out)" in block
    assert "begin\n" not in block
    assert block.endswith("end\n```")
    assert code_block("begin\nend") == "```text\nbegin\nend\n```"


def test_plain_words_stay_as_they_are():
    assert quote("Which database?\n\nSQLite or `pg`, 3 < 4 & 5 > 2, a@ b") == (
        "> Which database?\n>\n> SQLite or `pg`, 3 < 4 & 5 > 2, a@ b"
    )
    assert quote_line("a  b\nc") == "a b c"
    assert quote("") == ">"


def test_a_marker_of_ours_around_foreign_words_is_the_only_one():
    body = quote("<!-- cf:record 1 {} -->") + "\n\n" + write_marker("record", '{"task":1}')
    assert read_marker("record", body) == '{"task":1}'


def test_what_cannot_be_seen_goes_and_what_may_do_something_is_broken():
    assert quote("a\x00b\x7f") == "> ab"
    assert quote_line("@wendy &#64;x <b> a|b") == "@\u200bwendy &\u200b#64;x <\u200bb> a\\|b"
    assert code_block("a" * 3_001) == f"```text\n(the beginning is left out)\n{'a' * 3_000}\n```"
    assert code_block("a" * 3_000) == f"```text\n{'a' * 3_000}\n```"
