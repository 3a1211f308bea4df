"""Durations."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.notation.duration import LONGEST, DurationError, read_duration, write_duration


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("90s", 90),
        ("30m", 1800),
        ("1h30m", 5400),
        ("2d", 172800),
        ("1d2h3m4s", 93784),
        (" 5M ", 300),
        ("0s", 0),
        ("0", 0),
    ],
)
def test_reads(value, seconds):
    assert read_duration(value) == timedelta(seconds=seconds)


def test_zero_needs_no_unit():
    assert read_duration(0) == read_duration("0") == timedelta(0)


@pytest.mark.parametrize(("value", "shown"), [(300, "300"), ("300", "'300'"), (1.5, "1.5")])
def test_a_number_without_a_unit_is_refused_and_named(value, shown):
    with pytest.raises(DurationError) as error:
        read_duration(value)

    assert (
        str(error.value) == f"{shown} has no unit; write a duration with units, such as 90s, 30m, 1h30m or 2d"
    )


@pytest.mark.parametrize(
    "value",
    [
        "",
        "soon",
        "-5m",
        "1.5h",
        "5 m",
        "30m1h",
        "5m5m",
        "m",
        "１m",
        "5w",
        None,
        False,
        True,
        [],
        "9" * 10 + "s",
    ],
)
def test_anything_else_is_refused(value):
    with pytest.raises(DurationError, match="is no duration; write"):
        read_duration(value)


@pytest.mark.parametrize("value", ["3651d", "999999999d999999999h", "999999999m"])
def test_what_no_clock_can_hold_is_refused(value):
    with pytest.raises(DurationError, match="is longer than 3650d"):
        read_duration(value)


@pytest.mark.parametrize("value", ["x" * 100_000, "9" * 100_000, 10**5000], ids=["text", "digits", "int"])
def test_a_long_value_makes_a_short_message(value):
    with pytest.raises(DurationError) as error:
        read_duration(value)

    assert len(str(error.value)) < 150


def test_writes_the_shortest_form():
    assert write_duration(timedelta(minutes=90)) == "1h30m"
    assert write_duration(timedelta(hours=48)) == "2d"
    assert write_duration(timedelta(0)) == "0s"
    assert write_duration(timedelta(seconds=61.9)) == "1m1s"


def test_negative_durations_are_not_written():
    with pytest.raises(ValueError, match="cannot be negative"):
        write_duration(timedelta(seconds=-1))


@given(st.integers(0, int(LONGEST.total_seconds())))
def test_what_is_written_is_read_back(seconds):
    duration = timedelta(seconds=seconds)

    assert read_duration(write_duration(duration)) == duration


@given(st.one_of(st.text(), st.text("0123456789dhms"), st.floats(), st.integers(), st.none()))
def test_reads_or_refuses_but_never_fails_otherwise(value):
    try:
        duration = read_duration(value)
    except DurationError:
        return
    assert timedelta(0) <= duration <= LONGEST
