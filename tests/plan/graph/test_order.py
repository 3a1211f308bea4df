"""Which task goes first."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.plan.graph.graph import Graph
from bot.plan.graph.order import (
    DEFAULT_DURATION,
    Candidate,
    History,
    critical_path_order,
    expected_durations,
    in_sequence,
    score_order,
    scores,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def minutes(count):
    return timedelta(minutes=count)


def a_task(number, priority=1, age=0, **rest):
    return Candidate(number, priority, NOON - minutes(age), **rest)


def numbers(tasks):
    return [task.number for task in tasks]


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        ({2: [1], 3: [1], 4: [2, 3]}, {1: 1109, 2: 392.33, 3: 392.33, 4: 9}),
        ({2: [1], 3: [2], 4: [3, 1], 5: [4]}, {1: 1109, 2: 834, 3: 559, 4: 284, 5: 9}),
        ({1: [2], 2: [1], 3: []}, {3: 109}),
    ],
)
def test_scores_are_those_of_the_specification(needs, expected):
    graph = Graph(needs)

    found = scores([a_task(number) for number in graph.nodes], graph)

    assert {number: round(score, 2) for number, score in found.items()} == expected


def test_a_ladder_of_ten_diamonds_counts_thirty_descendants():
    """Every joint halves its share with what is below, never more: paths would make the root 4,092."""
    needs: dict[int, list[int]] = {}
    joint = 1
    for _ in range(10):
        needs |= {joint + 1: [joint], joint + 2: [joint], joint + 3: [joint + 1, joint + 2]}
        joint += 3
    graph = Graph(needs)

    found = scores([a_task(number) for number in graph.nodes], graph)

    assert graph.descendants[1] == 30
    assert found[1] == 1109
    assert round(found[4], 2) == round(1000 * 27 / 30 + 100 * (1 - 2 / 20) + 9, 2)


def test_priorities_beyond_ten_weigh_nothing():
    assert scores([a_task(1, priority=99)], Graph({1: []})) == {1: 100}


def test_score_order_is_highest_first_and_leaves_cycles_out():
    graph = Graph({2: [1], 3: [1], 4: [2, 3], 8: [9], 9: [8]})

    assert numbers(score_order([a_task(number) for number in (9, 8, 4, 3, 2, 1)], graph)) == [1, 2, 3, 4]


def test_the_longest_remaining_work_goes_first():
    """2 alone takes 25 minutes; 1 takes 10 but 30 more wait for it, though 1 has the worse priority."""
    tasks = [
        a_task(1, priority=9, estimate=minutes(10)),
        a_task(2, estimate=minutes(25)),
        a_task(3, estimate=minutes(30)),
    ]
    graph = Graph({3: [1], 2: []})

    ordered = critical_path_order(tasks[:2], graph, expected_durations(tasks, History()))

    assert numbers(ordered) == [1, 2]


def test_a_task_outside_the_graph_stands_for_itself():
    tasks = [a_task(1, estimate=minutes(5)), a_task(2, estimate=minutes(6))]

    assert numbers(critical_path_order(tasks, Graph({}), expected_durations(tasks, History()))) == [2, 1]


def test_members_of_a_cycle_are_left_out():
    tasks = [a_task(1), a_task(2), a_task(3)]

    assert numbers(critical_path_order(tasks, Graph({1: [2], 2: [1]}), {})) == [3]


@pytest.mark.parametrize("order", [lambda t, g: critical_path_order(t, g, {}), score_order])
def test_continued_tasks_go_before_fresh_ones(order):
    graph = Graph({1: [], 2: [1], 5: []})

    assert numbers(order([a_task(1, priority=0), a_task(5, priority=9, continued=True)], graph)) == [5, 1]


def test_ties_go_to_priority_then_age_then_number():
    tasks = [a_task(4, priority=2, age=9), a_task(3, age=1), a_task(2, age=1), a_task(5, age=5)]

    assert numbers(critical_path_order(tasks, Graph({}), {})) == [5, 2, 3, 4]


def test_an_estimate_outweighs_history():
    history = History.of([("docs", minutes(40))])

    assert history.expected(a_task(1, category="docs", estimate=minutes(3))) == minutes(3)


def test_history_is_asked_by_category_then_as_a_whole():
    history = History.of(
        [("docs", minutes(2)), ("docs", minutes(4)), ("docs", minutes(90)), ("", minutes(50))]
    )

    assert history.expected(a_task(1, category="docs")) == minutes(4)
    assert history.expected(a_task(1, category="api")) == minutes(27)
    assert history.expected(a_task(1)) == minutes(27)


def test_without_any_history_a_default_is_expected():
    assert History.of([]).expected(a_task(1)) == DEFAULT_DURATION
    assert History().expected(a_task(1), minutes(1)) == minutes(1)


@pytest.mark.parametrize(
    ("tasks", "needs", "sequence"),
    [
        ((3, 1, 2), {}, (3, 1, 2)),
        ((1, 2, 3), {1: [3]}, (3, 1, 2)),
        ((1, 2, 3), {1: [2, 3], 2: [3]}, (3, 2, 1)),
        ((1, 2), {1: [9]}, (1, 2)),
        ((1, 2, 3), {1: [2], 2: [1]}, (1, 2, 3)),
        ((5, 1, 2, 3), {5: [1], 1: [2], 2: [1]}, (5, 1, 2, 3)),
        ((), {}, ()),
    ],
)
def test_the_order_written_counts_and_a_need_comes_before_its_dependent(tasks, needs, sequence):
    assert in_sequence(tasks, Graph(needs)) == sequence


def test_a_long_chain_is_as_good_as_a_short_one():
    tasks = tuple(range(1, 5_001))
    graph = Graph({number: [number + 1] for number in tasks[:-1]})
    assert in_sequence(tasks, graph) == tasks[::-1]


@given(
    st.permutations(range(1, 9)),
    st.dictionaries(st.integers(1, 9), st.lists(st.integers(1, 9), max_size=3), max_size=9),
)
def test_every_task_has_one_place_behind_its_needs(tasks, needs):
    graph = Graph(needs)
    sequence = in_sequence(tasks, graph)
    assert sorted(sequence) == sorted(tasks)
    places = {number: place for place, number in enumerate(sequence)}
    for child, parents in needs.items():
        for parent in parents:
            if child in places and parent in places and not {child, parent} & graph.in_cycle:
                assert places[parent] < places[child]
