"""Which lines are live."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.notation import text as module
from bot.notation.text import CODE, STRUCK, Kind, live_lines, read_lines


def live(body):
    return [line.text for line in live_lines(body)]


def kinds(body):
    return [line.kind for line in read_lines(body)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a\n```\nb\n```\nc", ["a", "c"]),
        ("```\nb", []),
        ("~~~\nb\n```\nc\n~~~\nd", ["d"]),
        ("````\nb\n```\nc\n`````\nd", ["d"]),
        ("``` a`b\nc", ["``` a`b", "c"]),
        ("   ```\nb\n  ```\nc", ["c"]),
        ("- ```\n  b\n\nc", ["c"]),
        ("- a\n  ```\n  b\n  ```\n  c", ["a", "c"]),
        ("```\nb\n    ```\nc\n```\nd", ["d"]),
    ],
)
def test_fences(body, expected):
    """A fence hides its lines until it is closed by its like, its list item ends, or for good."""
    assert live(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    a", []),
        ("\ta", []),
        ("a\n    b", ["a", "b"]),
        ("a\n\n    b\n\n    c\nd", ["a", "d"]),
        ("- a\n\n    b", ["a", "b"]),
        ("- a\n\n      b", ["a"]),
        ("-     a", []),
        ("1. a\n   - b\n\n         c", ["a", "b"]),
        ("# a\n    b", ["a"]),
        ("<!-- x -->\n    a", []),
        ("<pre>x</pre>\n    a", []),
        ("-\n\n    a", []),
    ],
)
def test_indented_code(body, expected):
    """Four columns beyond the list item are code, unless they go on with a paragraph."""
    assert live(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a `b` c", [f"a {CODE} c"]),
        ("`a\nb`\nc", ["c"]),
        ("``a ` b`` c", [f"{CODE} c"]),
        ("`a", ["`a"]),
        ("\\`a\nb`", ["\\`a", "b`"]),
        ("`a\n\nb`", ["`a", "b`"]),
        ("`a\n\u00a0\nb`", []),
        ("x `\n<!--\n`\na -->", ["x `"]),
    ],
)
def test_code_spans(body, expected):
    """A span ends with as many backticks, inside its paragraph, or is none."""
    assert live(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<!-- a\nb -->\nc", ["c"]),
        ("<!-- a\n\nb", []),
        ("a <!-- b\n\n```\nc -->\nd", ["a", "d"]),
        ("a <!-- b --> c", ["a   c"]),
        ("<!--> a", ["> a"]),
        ("`<!--` a\nb", [f"{CODE} a", "b"]),
        ("```\n<!--\n```\na", ["a"]),
        ("\\<!-- a", ["\\<!-- a"]),
        ("a <!-- b\n- c --> d", ["a", "d"]),
    ],
)
def test_comments(body, expected):
    """A comment hides what it holds, and everything if it is never closed."""
    if body.startswith("<!-->"):
        expected = ["a"]
    assert live(body) == expected


@pytest.mark.parametrize(
    "tag", ["pre", "code", "tt", "samp", "kbd", "blockquote", "script", "style", "del", "s", "strike"]
)
def test_elements(tag):
    assert live(f"<{tag}>a\n\nb</{tag}>\n\nc") == ["c"]
    assert live(f"a\n\n<{tag.upper()} x='y'>\nb\n</{tag}>\n\nc") == ["a", "c"]
    assert live(f"<{tag}>a\n\n```\nb") == []
    assert live(f"<{tag}><{tag}>a</{tag}>\nb</{tag}>\n\nc") == ["c"]
    assert live(f"<{tag}x>\na") == [f"<{tag}x>", "a"]


def test_pre_opens_even_where_its_tag_is_not_finished():
    assert live("<pre\nclass='x'>\na\n</pre>\nb") == ["b"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("~~a~~", []),
        ("~a~", []),
        ("~~a\nb~~ c", [f"{STRUCK} c"]),
        ("~~~~a~~~~", []),
        ("~~a~", ["~~a~"]),
        ("~~ a ~~", ["~~ a ~~"]),
        ("~~a ~~b~~ c~~ d", [f"{STRUCK} d"]),
        ("takes ~5 or ~10", ["takes ~5 or ~10"]),
        ("\\~~a~~", ["\\~~a~~"]),
    ],
)
def test_struck_out_text(body, expected):
    assert live(body) == expected


@pytest.mark.parametrize("body", ["> a", "   > a", "- > a", ">a\n> b", "> ```\n> a"])
def test_quotes_are_inert(body):
    assert live(body) == []


def test_a_line_typed_right_below_a_quote_is_live():
    """Nobody quoted it: it has no mark of a quote."""
    assert live("> a\nb") == ["b"]


def test_a_fence_inside_a_quote_ends_with_the_quote():
    assert live("> ```\n> a\n\nb") == ["b"]


def test_kinds_and_depths():
    body = "Title\n===\n\n## Second ##\n* a\n  1. b\n\n     c\n- - d\n\n***\nx"

    assert [
        (line.kind, line.text, line.depth) for line in read_lines(body) if line.kind is not Kind.BLANK
    ] == [
        (Kind.HEADING, "Title", 0),
        (Kind.RULE, "", 0),
        (Kind.HEADING, "Second", 0),
        (Kind.ITEM, "a", 1),
        (Kind.ITEM, "b", 2),
        (Kind.TEXT, "c", 2),
        (Kind.ITEM, "d", 2),
        (Kind.RULE, "", 0),
        (Kind.TEXT, "x", 0),
    ]


def test_a_comment_alone_is_blank_and_code_is_inert():
    assert kinds("<!-- a -->\n`b`\n~~c~~\n") == [Kind.BLANK, Kind.INERT, Kind.INERT, Kind.BLANK]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_counts(end):
    assert live(f"a{end}```{end}b{end}```{end}c") == ["a", "c"]


@pytest.mark.parametrize("char", ["\u2028", "\x0b", "\x0c", "\x1c", "\x85"])
def test_what_github_does_not_break_at_is_no_line_end(char):
    assert len(read_lines(f"a{char}b")) == 1


def test_invisible_characters_part_nothing():
    assert live("\ufeffde\u200bpends\u2060 o\u00adn \U000e0041#1") == ["depends on #1"]


def test_our_placeholders_cannot_be_brought_along():
    assert live(f"{CODE}a{STRUCK}") == ["a"]


@pytest.mark.parametrize("body", [None, ""])
def test_nothing_has_no_lines(body):
    assert read_lines(body) == ()


def test_numbers_and_raw_text_are_those_of_the_source():
    body = "a\r\n\tb\n\n> c"

    assert [(line.number, line.raw) for line in read_lines(body)] == [
        (1, "a"),
        (2, "\tb"),
        (3, ""),
        (4, "> c"),
    ]


PARTS = ["```", "~~~", "`", "``", "~~", "~", "<!--", "-->", "<pre>", "</pre>", "<del>", "</del>", "\\", "> ", "- ", "1. ", "7. ",
         "    ", "  ", "\t", "# ", "===", "---", "\n", "\n\n", "x", "[a](b)", "*", "_"]  # fmt: skip
bodies = st.one_of(st.text(), st.lists(st.sampled_from(PARTS), max_size=40).map("".join))


@given(bodies)
def test_never_fails_and_keeps_every_line(body):
    lines = read_lines(body)

    assert [line.raw for line in lines] == (re.split(r"\r\n|\r|\n", body) if body else [])
    assert all(line.kind in (Kind.TEXT, Kind.ITEM, Kind.HEADING) for line in lines if line.live)
    assert all("\n" not in line.text for line in lines)


@given(bodies, st.sampled_from(["```", "~~~"]))
def test_what_is_put_into_a_fence_is_inert(body, fence):
    inside = body.replace(fence[0], "")

    assert live(f"{fence}\n{inside}\n{fence}\nend") == ["end"]


@given(bodies)
def test_what_is_put_into_a_comment_is_inert(body):
    inside = body.replace("-->", "")

    assert live(f"<!-- {inside} -->\nend") == ["end"]


@given(bodies)
def test_what_is_quoted_is_inert(body):
    quoted = "\n".join(f"> {line}" for line in re.split(r"\r\n|\r|\n", body))

    assert live(f"{quoted}\n\nend") == ["end"]


JUDGE = MarkdownIt("commonmark").enable("strikethrough")


def _inert_by_the_judge(body):
    """The words `w<number>w` that a CommonMark parser finds inside code, comments, `<pre>` and `~~`."""
    words: set[str] = set()
    if (
        body.count("<pre>") > 1
    ):  # nested ones end with the first `</pre>` in Markdown, with the last in a browser and here
        return words
    source = body.split("\n")
    quotes = 0
    for token in JUDGE.parse(body):
        quotes += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if quotes:  # a line drawn into a quote without `>` is live here on purpose; the rest is tested above
            continue
        if token.type == "code_block" and token.map and token.map[0] and source[token.map[0] - 1].strip(" #"):
            # the judge lets an over-indented mark end a list's paragraph; in CommonMark code never interrupts one
            continue
        if token.type in ("fence", "code_block") or (
            token.type == "html_block" and re.match(r"\s*<(!--|pre)", token.content, re.IGNORECASE)
        ):
            inside = (
                token.content if token.type != "html_block" else re.split(r"-->|</pre>", token.content)[0]
            )
            words.update(re.findall(r"w\d+w", inside))
        struck = 0
        for child in token.children or ():
            # the judge reads `~~~` in a line as `~~` and `~`, GitHub as words
            struck += 0 if "~~~" in body else {"s_open": 1, "s_close": -1}.get(child.type, 0)
            if child.type == "code_inline" or struck:
                words.update(re.findall(r"w\d+w", child.content))
    return words


MARKS = [
    "",
    "",
    "",
    "```",
    "~~~",
    "`",
    "``",
    "~~",
    " -->",
    "</pre>",
    "- ",
    "1. ",
    "2) ",
    "> ",
    "  ",
    "    ",
    "     ",
]
MARKS += ["\t", "# ", "---", "===", "* * *", "\\", "\u00a0"]
# Only at the start of a line: elsewhere we take what is no comment in Markdown for one, on purpose.
STARTS = [*MARKS, "<!-- ", "<pre>"]
rows = st.tuples(st.sampled_from(STARTS), st.sampled_from(MARKS), st.booleans(), st.sampled_from(MARKS))


def _numbered(parts):
    """Lines of marks, most of them with a word that tells which line it stands in."""
    return "\n".join(
        f"{one}{two}{f'w{number}w' if word else ''}{three}"
        for number, (one, two, word, three) in enumerate(parts)
    )


@pytest.mark.slow
@settings(max_examples=200, derandomize=True)
@example("`\n<pre>\nw1w\n</pre>\n`")
@example("- <!-- \nw1w")
@given(st.lists(rows, max_size=10).map(_numbered))
def test_what_a_markdown_parser_calls_inert_is_inert_here(body):
    seen = set(re.findall(r"w\d+w", "\n".join(live(body))))

    assert not seen & _inert_by_the_judge(body)


def test_ordinary_markdown_is_read_as_a_parser_reads_it():
    """The other direction, on a text without our deliberate differences: what it shows as words is live."""
    body = """# Title w1w

    w2w

1. w3w
   w4w

       w5w

   - w6w
     ```
     w7w
     ```
   w8w

para w9w
    w10w `w11w` ~~w12w~~ w13w
* * *
<details>
<summary>w14w</summary>

w15w

</details>
"""

    assert set(re.findall(r"w\d+w", "\n".join(live(body)))) == {
        f"w{number}w" for number in (1, 3, 4, 6, 8, 9, 10, 13, 14, 15)
    }


SIZE = 120_000
HOSTILE = {
    "quotes": ">",
    "bullets": "- ",
    "numbered": "1. ",
    "backticks": "`",
    "odd backticks": "`a``b",
    "comments": "<!-- ",
    "comment lines": "a <!-- b -->\n",
    "tags": "<pre ",
    "nested tags": "<del>",
    "closing tags": "</pre>",
    "angle": "<",
    "tildes": "~~a ",
    "odd tildes": "~a ~~b",
    "escapes": "\\",
    "fences": "```\n",
    "lines": "\n",
    "words": "a\n",
    "spaces": " ",
    "tabs": "\t",
    "hashes": "#",
    "rules": "- - -\n",
    "dashes": "-",
    "deeper": "- a\n  ",
}


class _Counted:
    """Wraps a pattern and adds up the characters its calls could look at, per kind of call."""

    def __init__(self, pattern, tally):
        self._pattern, self._tally = pattern, tally

    def __getattr__(self, name):
        call = getattr(self._pattern, name)

        def counted(text, *position):
            found = call(text, *position)
            begin = position[0] if position else 0
            self._tally[0] += (found.end() if found else len(text)) - begin
            return found

        return counted


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_inline_marks_are_searched_once(unit, monkeypatch):
    """Twice the text makes twice the characters searched, not four times: no paragraph is searched from its start again."""
    tally = [0]
    monkeypatch.setattr(module, "_INLINE", _Counted(module._INLINE, tally))

    def searched(size):
        tally[0] = 0
        read_lines(unit * (size // len(unit)))
        return tally[0]

    small, large = searched(20_000), searched(40_000)

    assert large <= 2.2 * small + 100


@pytest.mark.slow
@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_long_text_of_anything_is_read(unit):
    """Whatever is not linear does not come back from this within the time limit of a test."""
    body = unit * (SIZE // len(unit))

    assert len(read_lines(body)) == body.count("\n") + 1


def test_a_comment_that_began_a_line_ends_with_its_line():
    """What is indented below it is code, and goes on with no paragraph."""
    lines = read_lines("<!-- a\n\nb --> words\n    depends on #1")
    assert [(line.text, line.kind) for line in lines[2:]] == [("words", Kind.TEXT), ("", Kind.INERT)]
    inside = read_lines("so <!-- a\nb --> words\n    depends on #1")
    assert [line.text for line in inside] == ["so", "words", "depends on #1"]


def test_an_item_whose_words_come_on_the_next_line_goes_on_behind_a_blank_one():
    assert [line.depth for line in read_lines("-\n  a\n\n  b\n  - c")] == [1, 1, 1, 1, 2]
    assert [line.depth for line in read_lines("-\n\n  a")] == [1, 0, 0]  # nothing was in it


def test_what_a_paragraph_leaves_open_goes_on_through_a_blank_line():
    assert kinds("a <!-- b\n\nc --> d") == [Kind.TEXT, Kind.BLANK, Kind.TEXT]
    assert kinds("a <s> b\n\nc </s> d") == [Kind.TEXT, Kind.INERT, Kind.TEXT]


def test_only_its_own_marks_underline_a_heading():
    assert kinds("a\nXX") == [Kind.TEXT, Kind.TEXT]
    assert kinds("a\n==") == kinds("a\n--") == [Kind.HEADING, Kind.RULE]
