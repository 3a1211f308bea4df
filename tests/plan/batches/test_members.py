"""The order of turns in a serial batch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.plan.graph.graph import Graph
from bot.plan.graph.order import in_sequence


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
