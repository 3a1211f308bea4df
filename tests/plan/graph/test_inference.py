"""Proposed needs: merged with what exists, never in its place, and what cannot hold is dropped with its reason."""

from hypothesis import given
from hypothesis import strategies as st

from bot.plan.graph.graph import Graph
from bot.plan.graph.inference import infer

KNOWN = (1, 2, 3, 4)


def reasons(inferred):
    return {(one.task, one.need): one.reason for one in inferred.dropped}


def test_new_edges_are_accepted_and_existing_ones_are_not_told_twice():
    inferred = infer({2: (1,), 3: (2, 1, 1)}, {3: (2,)}, KNOWN)
    assert inferred.accepted == ((2, 1), (3, 1))
    assert inferred.dropped == ()


def test_unknown_numbers_and_self_edges_are_dropped():
    inferred = infer({1: (9, 1), 8: (2,)}, {}, KNOWN)
    assert inferred.accepted == ()
    assert reasons(inferred) == {
        (1, 9): "#9 is not among the tasks",
        (1, 1): "a task cannot need itself",
        (8, 2): "#8 is not among the tasks",
    }


def test_what_closes_a_cycle_with_existing_edges_is_dropped_with_its_path():
    inferred = infer({1: (3,), 4: (1,)}, {3: (2,), 2: (1,)}, KNOWN)
    assert inferred.accepted == ((4, 1),)
    assert reasons(inferred) == {(1, 3): "it would close the cycle 1→3→2→1"}


def test_of_two_proposals_that_close_a_cycle_the_first_holds():
    inferred = infer({1: (2,), 2: (1,)}, {}, KNOWN)
    assert inferred.accepted == ((1, 2),)
    assert (2, 1) in reasons(inferred)


def test_a_chain_of_ten_thousand_is_no_trouble():
    chain = {number: (number - 1,) for number in range(2, 10_001)}
    assert infer({1: (10_000,)}, chain, range(1, 10_001)).accepted == ()


NUMBERS = st.integers(1, 7)
EDGES = st.dictionaries(NUMBERS, st.lists(NUMBERS, max_size=4), max_size=7)


@given(EDGES, EDGES)
def test_no_new_cycle_ever_and_every_proposal_is_accounted_for(proposal, existing):
    inferred = infer(proposal, existing, range(1, 7))
    before = {edge for task, needs in existing.items() for edge in ((task, need) for need in needs)}
    merged = {task: [*needs, *existing.get(task, ())] for task, needs in existing.items()}
    for task, need in inferred.accepted:
        merged.setdefault(task, []).append(need)
    told = {*inferred.accepted, *((one.task, one.need) for one in inferred.dropped)}

    assert Graph(merged).in_cycle == Graph(existing).in_cycle
    assert {(task, need) for task, needs in proposal.items() for need in needs} == told | (
        before & {(task, need) for task, needs in proposal.items() for need in needs}
    )
    assert not told & before
