"""The graph of needs."""

import tracemalloc
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.plan.graph.graph import CHUNK, Graph, show_path

graphs = st.dictionaries(st.integers(1, 12), st.sets(st.integers(1, 12), max_size=4), max_size=12)


def ladder(diamonds):
    """1 at the root; each diamond adds two sides and a joint: 3 * diamonds + 1 nodes."""
    needs: dict[int, list[int]] = {1: []}
    joint = 1
    for _ in range(diamonds):
        needs |= {joint + 1: [joint], joint + 2: [joint], joint + 3: [joint + 1, joint + 2]}
        joint += 3
    return needs


def reachable(needs, start):
    """Everything that `start` needs, directly or not; the start itself only by way of a cycle."""
    seen, pending = set(), list(needs.get(start, ()))
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending += needs.get(node, ())
    return seen


def test_a_cycle_is_shown_as_a_path_from_its_smallest_member():
    graph = Graph({1: [2], 2: [3], 3: [1], 4: []})

    (cycle,) = graph.cycles

    assert str(cycle) == "1→2→3→1"
    assert cycle.members == (1, 2, 3)
    assert graph.in_cycle == {1, 2, 3}
    assert graph.topological == (4,)


def test_the_path_follows_the_needs_not_the_numbers():
    (cycle,) = Graph({1: [3], 3: [2], 2: [1]}).cycles

    assert cycle.path == (1, 3, 2, 1)


def test_a_task_that_needs_itself_is_a_cycle():
    (cycle,) = Graph({5: [5]}).cycles

    assert cycle.path == (5, 5)


def test_what_is_merely_behind_a_cycle_is_no_member():
    """A chain 10 -> 1 where 1 loops with 2; 11 is behind 10, 12 only in front of the loop."""
    graph = Graph({1: [2, 12], 2: [1], 10: [1], 11: [10], 12: []})

    assert [cycle.members for cycle in graph.cycles] == [(1, 2)]
    assert graph.behind_cycles == {10, 11}
    assert graph.topological == (10, 11, 12)


def test_tangled_loops_are_one_cycle_and_each_member_has_a_path():
    graph = Graph({1: [2], 2: [1, 3], 3: [2]})

    (cycle,) = graph.cycles

    assert cycle.members == (1, 2, 3)
    assert cycle.path == (1, 2, 1)
    assert graph.path_through(3) == (3, 2, 3)


def test_two_cycles_are_two():
    graph = Graph({7: [8], 8: [7], 1: [2], 2: [1], 3: [1, 7]})

    assert [str(cycle) for cycle in graph.cycles] == ["1→2→1", "7→8→7"]
    assert graph.path_through(3) == ()


def test_a_chain_of_ten_thousand_is_no_cycle_and_needs_no_stack():
    size = 10_000
    graph = Graph({number: [number - 1] for number in range(2, size + 1)})

    assert graph.cycles == ()
    assert graph.topological == tuple(range(1, size + 1))
    assert graph.depths[size] == size - 1
    assert graph.descendants[1] == size - 1
    assert graph.remaining(dict.fromkeys(graph.nodes, timedelta(seconds=1)))[1] == timedelta(seconds=size)


def test_a_ring_of_ten_thousand_is_found():
    size = 10_000
    graph = Graph({number: [number % size + 1] for number in range(1, size + 1)})

    (cycle,) = graph.cycles

    assert cycle.path == (*range(1, size + 1), 1)


def test_descendants_are_counted_not_paths():
    assert Graph(ladder(10)).descendants[1] == 30


def test_descendants_are_exact_across_chunks():
    """More nodes than bits of one chunk, in one connected part."""
    size = 2 * CHUNK + 3
    graph = Graph({number: [1] if number % 2 else [number - 1, 1] for number in range(2, size + 1)})

    assert graph.descendants[1] == size - 1
    assert graph.descendants[3] == 1


@pytest.mark.slow
def test_thirty_thousand_nodes_fit_into_memory():
    """A bit for each pair of nodes would take 112 MB."""
    size = 30_000
    graph = Graph({number: {number // 2, number // 3} - {0} for number in range(2, size + 1)})
    assert len(graph.topological) == size
    tracemalloc.start()

    counts = graph.descendants

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert counts[1] == size - 1
    assert peak < 60_000_000


def test_needs_and_dependents_are_read_back_in_order():
    graph = Graph({3: [2, 1, 2], 2: [1]})

    assert graph.nodes == (1, 2, 3)
    assert graph.needs(3) == (1, 2)
    assert graph.dependents(1) == (2, 3)


def test_an_empty_graph_has_nothing():
    graph = Graph[int]({})

    assert graph.cycles == ()
    assert graph.topological == ()
    assert graph.descendants == graph.depths == {}


def test_remaining_work_is_the_longest_chain_not_the_sum():
    graph = Graph({2: [1], 3: [1], 4: [3]})
    minutes = {1: 10, 2: 25, 3: 10, 4: 10}

    remaining = graph.remaining({number: timedelta(minutes=length) for number, length in minutes.items()})

    assert {number: length.seconds // 60 for number, length in remaining.items()} == {
        1: 35,
        2: 25,
        3: 20,
        4: 10,
    }


def test_show_path():
    assert show_path((1, 2, 1)) == "1→2→1"


@given(graphs)
def test_cycles_are_exactly_the_nodes_that_reach_themselves(needs):
    graph = Graph(needs)
    expected = {node for node in graph.nodes if node in reachable(needs, node)}

    assert graph.in_cycle == expected
    assert (
        graph.behind_cycles == {node for node in graph.nodes if reachable(needs, node) & expected} - expected
    )
    for cycle in graph.cycles:
        assert cycle.path[0] == cycle.path[-1] == min(cycle.members)
        assert len(set(cycle.path)) == len(cycle.path) - 1
        for member in cycle.members:
            path = graph.path_through(member)
            assert path[0] == path[-1] == member
            assert all(parent in needs[child] for child, parent in pairwise(path))


@given(graphs)
def test_sizes_equal_their_definitions(needs):
    graph = Graph(needs)
    loose = set(graph.nodes) - graph.in_cycle
    inner = {node: {parent for parent in needs.get(node, ()) if parent in loose} for node in loose}
    position = {node: at for at, node in enumerate(graph.topological)}

    assert set(position) == loose
    assert all(position[parent] < position[node] for node in loose for parent in inner[node])
    assert graph.descendants == {
        node: sum(node in reachable(inner, other) for other in loose) for node in loose
    }
    assert graph.depths == {
        node: max((graph.depths[parent] + 1 for parent in inner[node]), default=0) for node in loose
    }


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=20), st.randoms())
def test_the_order_of_writing_changes_nothing(edges, random):
    def built(pairs):
        needs: dict[int, list[int]] = {}
        for child, parent in pairs:
            needs.setdefault(child, []).append(parent)
        return Graph(needs)

    shuffled = list(edges)
    random.shuffle(shuffled)

    one, other = built(edges), built(shuffled)

    assert (one.cycles, one.topological, one.descendants) == (
        other.cycles,
        other.topological,
        other.descendants,
    )


def test_descendants_are_counted_part_by_part_and_chunk_by_chunk(monkeypatch):
    monkeypatch.setattr("bot.plan.graph.graph.CHUNK", 2)
    edges = {2: [1], 3: [2], 4: [2, 3], 12: [11], 13: [11], 14: [12, 13], 15: [14], 21: [], 32: [31]}
    assert dict(Graph(edges).descendants) == {
        1: 3, 2: 2, 3: 1, 4: 0,
        11: 4, 12: 2, 13: 2, 14: 1, 15: 0,
        21: 0,
        31: 1, 32: 0,
    }  # fmt: skip
