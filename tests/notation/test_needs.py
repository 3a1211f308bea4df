"""Needs in an issue's body."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model.ref import Ref
from bot.notation.needs import LARGEST, looks_like_declaration, read_needs, write_needs
from bot.notation.text import live_lines

HERE = "acme/shop"
LIMIT = 65_536  # what GitHub lets a body hold


def local(body, **options):
    return set(read_needs(body, HERE, **options).local)


def warnings(body):
    return [(warning.line, warning.text) for warning in read_needs(body, HERE).warnings]


def test_dep_01_text_inside_code_is_never_a_declaration():
    body = (
        "intro\n```\ndepends on #10\n```\n~~~\ndepends on #11\n~~~\n\n    depends on #12\n\n"
        "<pre>depends on #13</pre>\ndepends on #14 "
    )

    assert local(body) == {14}
    assert local("```\ndepends on #15") == set()


def test_dep_02_every_reference_on_a_declaration_line_counts():
    assert local("depends on #1, #2 #3") == {1, 2, 3}
    assert local("Depends on #1 and #2") == {1, 2}


def test_dep_04_prose_after_the_list_ends_the_list():
    assert local("Depends on: none. (earlier plan was #21 → #22)") == set()
    assert local("depends on #4. See also #9 and #10") == {4}
    for word in ("none", "n/a", "N/A", "-", "None.", "nothing", "_No response_"):
        assert read_needs(f"Depends on: {word}", HERE).warnings == ()
        assert local(f"Depends on {word}\n- #7") == set()


def test_dep_06_html_comments_are_inert():
    body = "<!-- depends on #1\n/cf run -->\ndepends on #2"
    assert local(body) == {2}
    # Commands are read from the same live lines.
    assert [line.text for line in live_lines(body)] == ["depends on #2"]
    assert list(live_lines("<!-- /cf stop -->")) == []
    assert local("depends on #1\n<!-- depends on #2\n\ndepends on #3") == {1}
    assert local("depends on <!-- #1 --> #2") == {2}


def test_dep_09_a_qualified_reference_never_becomes_a_local_number():
    needs = read_needs("depends on octo/lib#12, ACME/Shop#13", HERE)

    assert needs.local == (13,)
    assert needs.foreign == (Ref("octo/lib", 12),)
    assert [str(ref) for ref in needs.refs(HERE)] == ["acme/shop#13", "octo/lib#12"]


def test_dep_10_links_are_understood_or_reported():
    body = (
        "depends on https://github.com/acme/shop/issues/12\n"
        "depends on https://github.com/acme/shop/pull/13?x=1#top\n"
        "depends on https://github.com/octo/lib/issues/4\n"
        "depends on https://github.com.evil.example/acme/shop/issues/5\n"
        "depends on the login work"
    )

    needs = read_needs(body, HERE)

    assert set(needs.local) == {12, 13}
    assert needs.foreign == (Ref("octo/lib", 4),)
    form = "write `#12`, `owner/repo#12` or a link to an issue"
    link = "https://github.com.evil.example/acme/shop/issues/5"
    assert [str(warning) for warning in needs.warnings] == [
        f"line 4: `{link}`: this link leads to another host than github.com; {form}",
        f"line 5: `depends on the login work`: no readable reference follows the keyword; {form}",
    ]


def test_dep_11_blocks_points_the_other_way():
    assert local("Blocks #8") == set()


@pytest.mark.parametrize(
    "body",
    [
        "This does not depend on #9",
        "It may depend on #9 later",
        "No longer blocked by #9",
        "not blocked by #9",
        "Is it blocked by #9?",
        "| depends on | #9 |",
        "depends on not #9",
        "independs on #9",
        "needs-review: #9",
        "needsmore #9",
    ],
)
def test_dep_13_negated_or_mid_sentence_mentions_are_not_edges(body):
    assert local(body) == set()


def test_dep_16_a_declaration_in_a_comment_is_recognised():
    assert looks_like_declaration("depends on #6")
    assert looks_like_declaration("ok\n\n- Blocked by: octo/lib#6")
    for comment in (
        None,
        "",
        "> depends on #6",
        "see #6",
        "`depends on #6`",
        "needs work",
        "Depends on: none",
    ):
        assert not looks_like_declaration(comment)


def test_dep_18_quoted_text_is_inert_list_bullets_are_live():
    assert local("> depends on #4\n- depends on #5\n* Depends on: #6\n1. depends on #7") == {5, 6, 7}


def test_dep_20_a_keyword_line_or_heading_takes_the_list_below_it():
    assert local("Depends on:\n- #12\n- #13\n\ntext #14") == {12, 13}
    assert local("### Depends on\n\n#15, #16\n\n### Notes\n#17") == {15, 16}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Depends on:\n\n- #1\n\n- #2\n\n#3", {1, 2}),
        ("Depends on\n#1\n#2\n\n#3", {1, 2}),
        ("Depends on\n---\n\n#1", {1}),
        ("## Depends on (optional)\n\n#1 and\n#2", {1, 2}),
        ("**Depends on:**\n* [ ] #1 the schema\n* [x] octo/lib#9\n* #2", {1, 2}),
        ("Depends on:\n- #1\n  - about #7\n  - #8\n- #2", {1, 2, 8}),
        ("Depends on:\n<!-- list them -->\n- #1", {1}),
        ("Depends on:\n```\n#1\n```\n- #2", set()),
        ("### Depends on\n### Notes\n#1", set()),
        ("### Depends on\n\n_No response_\n\n#1", set()),
        ("Depends on:\nBlocked by: #3", {3}),
        ("Depends on:\n- #1\n- blocked by #2\n- #3", {1, 2}),
        ("Depends on:\n\nSee #14 for context", set()),
        ("depends on `#4`\n- #7", set()),
        ("depends on ~~#4~~\n- #7", set()),
        ("depends on <!-- #4 -->\n- #7", {7}),
    ],
)
def test_what_stands_below_a_keyword(body, expected):
    assert local(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "depends on #4",
        "DEPENDS ON #4",
        "Depends-On: #4",
        "blocked by #4",
        "requires #4",
        "Needs: #4",
        "**Depends on**: #4",
        "**Depends on:** #4",
        "__Depends on #4__",
        "*depends on* **#4**",
        "- [ ] depends on #4",
        "* [x] **Blocked by:** #4",
        "12) depends on #4",
        "### Depends on #4",
        "  depends  on\t#4",
        "depends on：#4",
        "depends on:#4",
        "depends on #4's fix",
        "depends on issue #4",
        "blocked by the pull request #4",
        "depends on GH-4",
        "depends on acme/shop#4",
        "depends on [#4]",
        "depends on [the login](https://github.com/acme/shop/issues/4)",
        'depends on [the login](https://github.com/acme/shop/issues/4 "title")',
        "depends on [#9](/acme/shop/issues/4)",
        "depends on <https://github.com/acme/shop/issues/4>",
        "depends on https://GitHub.com/ACME/shop/issues/4.",
        "depends on http://www.github.com/acme/shop/pull/4/files",
        "depends on www.github.com/acme/shop/issues/4",
        "depends on #004",
        "depends on ~~#9~~ #4",
        "dep\u200bends on #\u20604",
        "\ufeffdepends on #4",
        "depends\u00a0on #4",
        "x\r\ndepends on #4\r\ny",
        "x\rdepends on #4\ry",
        "text\n7. depends on #4",
    ],
)
def test_ways_to_write_one_need(body):
    needs = read_needs(body, HERE)

    assert needs.local == (4,)
    assert needs.warnings == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("depends on #1,#2;#3&#4 + #5", {1, 2, 3, 4, 5}),
        ("depends on #1, and #2, issue #3", {1, 2, 3}),
        ("depends on #1 (the schema), #2", {1, 2}),
        ("depends on #1 (not #9)", {1}),
        ("depends on #1, ~~#9~~, #2", {1, 2}),
        ("depends on #1,\n#2 and\n#3\n#4", {1, 2, 3}),
        ("depends on #1, #1, ACME/shop#1", {1}),
        ("depends on #1: the schema", {1}),
        ("depends on #1\ndepends on #2", {1, 2}),
    ],
)
def test_lists(body, expected):
    assert local(body) == expected
    assert warnings(body) == []


@pytest.mark.parametrize(
    ("body", "expected", "told"),
    [
        ("depends on #0, #2", {2}, "#0"),
        ("depends on #-1", set(), "depends on #-1"),
        (f"depends on #{LARGEST + 1}", set(), f"#{LARGEST + 1}"),
        ("depends on #" + "9" * 5000, set(), "#" + "9" * 76 + "..."),
        ("depends on #１２", set(), "depends on #１２"),
        ("depends on 12", set(), "depends on 12"),
        ("depends on #12abc", set(), "depends on #12abc"),
        ("depends on #1-3", set(), "depends on #1-3"),
        ("depends on #1-#3", set(), "depends on #1-#3"),
        ("depends on #1 to #3", {1}, "to #3"),
        ("depends on #1 or #2", {1}, "or #2"),
        ("depends on #4 but not #9", {4}, "but not #9"),
        ("depends on (#1)", set(), "depends on (#1)"),
        ("depends on `#1`", set(), "depends on ..."),
        ("depends on acme/..#4", set(), "acme/..#4"),
        (
            "depends on https://github.com/acme/shop/discussions/4",
            set(),
            "https://github.com/acme/shop/discussions/4",
        ),
        (
            "depends on https://github.com@evil.example/acme/shop/issues/4",
            set(),
            "https://github.com@evil.example/acme/shop/issues/4",
        ),
        (
            "depends on https://github.com:443@x/acme/shop/issues/4",
            set(),
            "https://github.com:443@x/acme/shop/issues/4",
        ),
        (
            "depends on https://github.com\\@x/acme/shop/issues/4",
            set(),
            "https://github.com\\@x/acme/shop/issues/4",
        ),
        ("depends on [x](../issues/4)", set(), "[x](../issues/4)"),
        (
            "depends on [x](javascript://github.com/acme/shop/issues/4)",
            set(),
            "[x](javascript://github.com/acme/shop/issues/4)",
        ),
        ("depends on [#4](https://evil.example/4)", set(), "[#4](https://evil.example/4)"),
        ("needs: more work", set(), "needs: more work"),
        ("Needs review of #5", set(), "Needs review of #5"),
        ("Depends on:\n- the login\n- #13", {13}, "the login"),
        ("### Depends on\n\nthe login work", set(), "the login work"),
        ("Depends on: - #4", set(), "Depends on: - #4"),
    ],
)
def test_what_cannot_be_read_is_told(body, expected, told):
    """Half a list is read as far as it goes, the rest named: nothing is dropped in silence."""
    assert local(body) == expected
    assert [text for _, text in warnings(body)] == [told]


@pytest.mark.parametrize(
    "body", ["Needs more tests.", "requires Node 18", "needs\nsome love", "## Needs and goals", "Requires:"]
)
def test_plain_prose_is_not_told(body):
    assert read_needs(body, HERE) == read_needs("", HERE)


def test_a_warning_holds_foreign_text_harmless():
    """It goes into a comment of ours as a code span: one line, no backtick, no more than a glance of it."""
    (warning,) = read_needs("depends on @everyone \u0007 <b>`` ` " + "x" * 500, HERE).warnings

    assert "`" not in warning.text
    assert warning.text.isprintable()
    assert len(warning.text) <= 80


def test_warnings_fit_into_one_comment():
    many = read_needs("depends on " + "#0, " * 500, HERE).warnings

    assert len(many) == 20
    assert many[-1].mend == "and 481 more that cannot be read"


def test_keywords_are_configurable():
    assert local("Wartet auf #1\ndepends on #2", keywords=["wartet auf"]) == {1}
    assert local("a+b (c) #1", keywords=["a+b (c)"]) == {1}
    assert local("depends on #1", keywords=[]) == set()
    assert local("#1", keywords=[" "]) == set()
    assert local("needs review #1", keywords=["needs", "needs review"]) == {1}


def test_links_belong_to_the_server_asked():
    body = "depends on https://git.example.org/acme/shop/issues/4, https://github.com/acme/shop/issues/5"

    assert local(body, server="https://git.example.org") == {4}


def test_nothing_declares_nothing():
    assert read_needs(None, HERE) == read_needs("", HERE) == read_needs("text", HERE)


refs = st.builds(
    Ref, st.from_regex(r"[a-z0-9][a-z0-9-]{0,20}/[a-z0-9_-]{1,20}", fullmatch=True), st.integers(1, LARGEST)
)
bodies = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(
            [
                "depends on ",
                "needs",
                ":",
                "#1",
                "#",
                "a/b#2",
                "https://github.com/a/b/issues/3",
                "[",
                "](",
                ")",
                "(",
                "<",
                ">",
                ", ",
                " and ",
                "\n",
                "\n\n",
                "- ",
                "## ",
                "`",
                "~~",
                "none",
                "-",
                ".",
                "9" * 20,
                "GH-4",
                "**",
            ]
        ),
        max_size=30,
    ).map("".join),
)


@given(st.lists(refs, max_size=8), st.booleans())
def test_what_is_written_is_read_back(written, own):
    repository = written[0].repository if written and own else HERE
    expected = list(dict.fromkeys(written))

    needs = read_needs(write_needs(written, repository), repository)

    assert needs.warnings == ()
    assert set(needs.refs(repository)) == set(expected)
    assert needs.foreign == tuple(ref for ref in expected if ref.repository != repository)
    assert read_needs(write_needs(written), repository) == needs


def test_no_need_writes_nothing():
    assert write_needs([]) == ""


@given(bodies)
def test_never_fails_and_yields_only_possible_numbers(body):
    needs = read_needs(body, HERE)

    assert all(1 <= number <= LARGEST for number in needs.local)
    assert all(ref.repository != HERE for ref in needs.foreign)
    assert all("\n" not in str(warning) for warning in needs.warnings)


@given(bodies)
def test_inert_stays_inert(body):
    quoted = "\n".join(f"> {line}" for line in body.splitlines())

    assert read_needs(quoted, HERE) == read_needs("", HERE)
    assert read_needs("~~~\n" + body.replace("~", "") + "\n~~~", HERE) == read_needs("", HERE)
    assert (
        read_needs("<!--" + body, HERE) == read_needs("", HERE)
        or "-->" in body
        or body.startswith((">", "->"))
    )


@pytest.mark.parametrize(
    "unit",
    [
        "depends on ",
        "depends on #1, ",
        "#1 ",
        "depends on #",
        "needs\n\n\n",
        "needs:\n- x\n",
        "[",
        "[a](",
        "[a](b ",
        "(",
        "*",
        "1",
        "a/",
        "https://github.com/",
        " ",
        ",",
        "depends on (",
        "Depends on:\n",
        "gh-",
        "- [ ] ",
        "\u200b",
        "x#1",
    ],
)
@pytest.mark.parametrize("head", ["", "depends on ", "depends on #1 "])
def test_the_longest_body_is_read(head, unit):
    """Anything worse than linear would show at the length that GitHub allows."""
    needs = read_needs(head + unit * (LIMIT // len(unit)), HERE)

    assert set(needs.local) <= {1}


def test_words_below_an_item_belong_to_it_and_the_list_goes_on():
    assert local("## Needs\n- #1\n  and some words about #3\n- #2\n\nwords about #4") == {1, 2}
