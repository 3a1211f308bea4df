"""Failures that are alike have one fingerprint; progress has another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.notation.fingerprints import failure_fingerprint, normalised


def one(text):
    return failure_fingerprint([("tests", text)])


SAME = {
    "line numbers": ("app/a.py:12: error", "app/a.py:340: error"),
    "line and column": ("a.ts(12,5): error TS1", "a.ts(9,41): error TS1"),
    "words for lines": ('File "x.py", line 7, in f', 'File "x.py", line 91, in f'),
    "folders": ("/home/runner/work/shop/shop/tests/test_a.py failed", "/builds/7/shop/tests/test_a.py failed"),
    "relative folders": ("./tests/test_a.py failed", "tests/test_a.py failed"),
    "drives": ("C:\\work\\a\\test_a.py failed", "D:\\b\\test_a.py failed"),
    "temporary folders": ("/tmp/pytest-of-ann/pytest-3/x.db missing", "/tmp/pytest-of-bob/pytest-77/x.db missing"),
    "addresses": ("<Shop object at 0x7f3a9c>", "<Shop object at 0x55d0e11f20>"),
    "durations": ("3 failed in 0.12s", "3 failed in 14.5s"),
    "units of time": ("took 12 ms, then 3 seconds", "took 7 ms, then 1 seconds"),
    "moments": ("2026-01-02T03:04:05.678Z boom", "2027-11-12 13:14:15+01:00 boom"),
    "clocks": ("[12:01:09] boom", "[23:59:59.123] boom"),
    "uuids": (
        "task 0d9a3a52-5c1f-4c3f-9a58-0b1d3f2a9c11 lost",
        "task ffffffff-5c1f-4c3f-9a58-000000000000 lost",
    ),
    "commits": ("at commit 3fe8eaa", "at commit da85df4f00"),
    "ports": ("127.0.0.1:40123 refused", "127.0.0.1:51999 refused"),
    "process ids": ("pid 123456 died", "pid 98765 died"),
    "colours": ("\x1b[31mFAILED\x1b[0m a", "FAILED a"),
    "rules": ("===== 1 failed =====", "========== 1 failed =========="),
    "blank lines and spacing": ("a\n\n  b", "a\nb  \n"),
}  # fmt: skip


@pytest.mark.parametrize(("left", "right"), SAME.values(), ids=SAME)
def test_what_differs_between_runs_does_not_count(left, right):
    assert normalised(left) == normalised(right)
    assert one(left) == one(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("3 failed", "2 failed"),
        ("assert 1 == 2", "assert 1 == 3"),
        ("tests/test_a.py failed", "tests/test_b.py failed"),
        ("KeyError: 'a'", "KeyError: 'b'"),
        ("ModuleNotFoundError: No module named 'x1'", "ModuleNotFoundError: No module named 'x2'"),
        ("deadbeef is no word with a digit", "feedface is no word with a digit"),
    ],
)
def test_what_failed_counts(left, right):
    assert one(left) != one(right)


def test_names_count_and_nothing_failed_has_none():
    assert failure_fingerprint([("a", "x")]) != failure_fingerprint([("b", "x")])
    assert failure_fingerprint([]) == ""
    assert len(one("x")) == 32


def test_only_the_end_counts():
    tail = "\n".join(f"line of words {'x' * n}" for n in range(60))
    assert one(f"begins here\n{tail}") == one(f"begins there\n{tail}")


@given(st.text(max_size=300))
def test_it_never_fails_and_is_stable(text):
    assert one(text) == one(text)
    assert "\n\n" not in normalised(text)


def test_hostile_lines_are_linear():
    for hostile in (
        "a/" * 200_000,
        "0" * 400_000,
        "\x1b[" * 200_000,
        "1.1" * 100_000,
        "(1," * 100_000,
        ("a" * 90 + " ") * 9_000,
    ):
        assert len(normalised(hostile + "\n" + hostile)) < 5_000


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("task 0d9a3a52-5c1f-4c3f-9a58-0b1d3f2a9c11 lost", "task ID lost"),
        ("2026-01-02T03:04:05.678Z boom", "TIME boom"),
        ("[12:01:09] boom", "[TIME] boom"),
        ("3 failed in 0.12s", "3 failed in TIME"),
        ("at 0x7f3a9c", "at ADDRESS"),
        ("/tmp/a/test_a.py failed", "test_a.py failed"),
        ("at commit 3fe8eaa", "at commit ID"),
        ("a.py:12: error", "a.py:LINE: error"),
        ("line 7, col 9", "line LINE, col LINE"),
        ("a.ts(12,5): error", "a.ts(LINE): error"),
        ("pid 123456 died", "pid ID died"),
        ("===== 1 failed =====", "- 1 failed -"),
    ],
)
def test_what_stands_for_what_differs_stays_the_same_word(text, left):
    """A fingerprint is kept for as long as its task lives."""
    assert normalised(text) == left
