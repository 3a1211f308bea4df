"""Priority, category and estimate of a task."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.notation.duration import write_duration
from bot.notation.estimate import Traits, read_traits

HALF_HOUR = timedelta(minutes=30)


def test_nothing_said_means_the_defaults():
    assert read_traits([], None) == Traits(5, "", None, ())
    assert read_traits([], "", default_priority=3).priority == 3


@pytest.mark.parametrize(
    ("labels", "priority"),
    [
        (["cf:p0"], 0),
        (["CF:P3"], 3),
        (["cf:p7", "cf:p2"], 2),
        (["cf:pause"], 5),
        (["cf:p12"], 5),
        (["cf:p"], 5),
        (["cf:p２"], 5),
    ],
)
def test_priority_comes_from_labels(labels, priority):
    assert read_traits(labels, None).priority == priority


def test_the_prefixes_are_configurable():
    traits = read_traits(
        ["prio-1", "team/web", "bot:estimate/30m"],
        None,
        "bot",
        priority_prefix="prio-",
        category_prefix="team/",
    )

    assert traits == Traits(1, "web", HALF_HOUR)


def test_the_prefix_of_labels_holds_for_priorities_too():
    assert read_traits(["bot:p1", "cf:p0"], None, "bot").priority == 1


def test_the_first_category_by_name_counts():
    assert read_traits(["area:web", "Area: API ", "area:"], None).category == "api"
    assert read_traits(["web"], None, category_prefix="").category == ""


@pytest.mark.parametrize(
    "body",
    ["Estimate: 30m", "**Estimate:** 30m.", "- estimate : 30m", "### x\n\n*Estimate*: `x`\nEstimate: 30m"],
)
def test_estimate_comes_from_a_line_of_the_body(body):
    assert read_traits([], body).estimate == HALF_HOUR


@pytest.mark.parametrize(
    "body",
    ["> Estimate: 30m", "```\nEstimate: 30m\n```", "my Estimate: 30m", "Estimate 30m", "~~Estimate: 30m~~"],
)
def test_inert_text_and_prose_estimate_nothing(body):
    assert read_traits([], body) == Traits()


def test_a_label_outweighs_the_body_and_the_longest_counts():
    assert read_traits(["cf:estimate/10m", "cf:estimate/30m"], "Estimate: 2h").estimate == HALF_HOUR


@pytest.mark.parametrize(
    "body", ["Estimate:", "Estimate: none", "Estimate: n/a", "Estimate: _No response_", "Estimate: -"]
)
def test_an_empty_estimate_is_none(body):
    assert read_traits([], body) == Traits()


def test_an_unreadable_estimate_is_told_and_the_next_source_asked():
    traits = read_traits(["cf:estimate/soon"], "Estimate: 30m")

    assert traits.estimate == HALF_HOUR
    assert traits.warnings == (
        "the estimate `soon` cannot be read; write a duration with units, such as 90s, 30m, 1h30m or 2d",
    )


def test_an_estimate_of_nothing_is_not_counted():
    traits = read_traits(["cf:estimate/0m"], None)

    assert traits.estimate is None
    assert len(traits.warnings) == 1


@given(st.integers(0, 9), st.integers(1, 10_000_000))
def test_what_is_written_is_read_back(priority, seconds):
    estimate = timedelta(seconds=seconds)
    written = write_duration(estimate)
    by_label = read_traits([f"cf:p{priority}", f"cf:estimate/{written}"], None)

    assert by_label == Traits(priority, "", estimate)
    assert read_traits([], f"Estimate: {written}").estimate == estimate


@given(st.lists(st.text()), st.text())
def test_never_fails(labels, body):
    assert (
        0
        <= read_traits([*labels, *(f"cf:estimate/{label}" for label in labels)], f"Estimate: {body}").priority
        <= 9
    )


def test_an_unreadable_estimate_is_shown_as_a_few_plain_characters():
    (told,) = read_traits(["cf:estimate/`x`"], None).warnings
    assert told.startswith("the estimate `'x'` cannot be read;")
    (told,) = read_traits([f"cf:estimate/{'y' * 200}"], None).warnings
    assert told.startswith(f"the estimate `{'y' * 40}` cannot be read;")
