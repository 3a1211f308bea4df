"""Ids in the names and texts of tests, and the page that says what each of them promises."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging

TESTS = Path(__file__).parents[1]
PAGE = (TESTS / "CASES.md").read_text(encoding="utf-8")
# Three letters and two digits: ABC-12 in a text, abc_12 in a name, and perhaps the letter of one part, ABC-12c or abc_12c.
ID = re.compile(r"(?<![A-Za-z0-9-])(?!utf)([a-z]{3})[-_]([0-9]{2})[a-z]?(?![A-Za-z0-9-])", re.IGNORECASE)
ROW = re.compile(r"^\| ([A-Z]{3}-[0-9]{2}) \| (\S.*\S) \|$", re.MULTILINE)
GROUP = re.compile(r"^## (.+)\n\n(.+)\n\n\| id \| promise \|\n\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)


def ids_in(text: str) -> set[str]:
    return {f"{prefix.upper()}-{number}" for prefix, number in ID.findall(text)}


def used() -> dict[str, list[str]]:
    """Each id with the files that use it."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("*.py")):
        if path != Path(__file__) and "node_modules" not in path.parts:
            for name in ids_in(path.read_text(encoding="utf-8")):
                found.setdefault(name, []).append(path.relative_to(TESTS).as_posix())
    return found


def explained() -> list[str]:
    return [name for name, _ in ROW.findall(PAGE)]


def test_every_id_that_a_test_uses_is_explained():
    assert {name: files for name, files in used().items() if name not in explained()} == {}


def test_every_id_that_is_explained_is_used_by_a_test():
    assert [name for name in explained() if name not in used()] == []


def test_ids_are_unique_and_stand_sorted_in_the_group_of_their_prefix():
    groups = GROUP.findall(PAGE)
    listed = [name for _, _, rows in groups for name, _ in ROW.findall(rows)]
    assert listed == explained()  # no row stands outside a group
    assert sum(len(rows.splitlines()) for _, _, rows in groups) == len(listed)  # and every row is one
    assert len(set(listed)) == len(listed)
    for prefix, meaning, rows in groups:
        names = [name for name, _ in ROW.findall(rows)]
        assert names == sorted(names)
        assert {name.partition("-")[0] for name in names} == {prefix}
        assert meaning.endswith(".")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def test_sec_12_no_token():", {"SEC-12"}),
        ("def test_16_act_12c_again():", {"ACT-12"}),
        ("def test_grf_03_grf_13_lists():", {"GRF-03", "GRF-13"}),
        ('("agt_07_changes_nothing", "command")', {"AGT-07"}),
        ("(SEC-06, SEC-17) and AGT-10a, API-13's", {"SEC-06", "SEC-17", "AGT-10", "API-13"}),
    ],
)
def test_an_id_is_found_in_names_and_texts(text, found):
    assert ids_in(text) == found


@pytest.mark.parametrize(
    "text",
    "UTF-8 utf-16 UTF-32 SHA-256 SHA-1 ISO-8601 cf-1-1 cf-12-3 ML-DSA-44 RSA-2048 GPT-5 2026-11-29 abc-12-3 a1b_22".split(),
)
def test_what_only_looks_like_an_id_is_none(text):
    assert ids_in(f"it says {text} there") == set()
