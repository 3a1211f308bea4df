"""When what is left of a batch will probably be done: a simulation with as many slots as it has."""

import heapq
from collections.abc import Mapping, Sequence
from datetime import timedelta

from bot.plan.graph.graph import Graph

_ZERO = timedelta(0)


def waves(members: Sequence[int], graph: Graph[int]) -> Mapping[int, int]:
    """The earliest round, from 1, in which each member could run if rounds waited for each other; none for members of a cycle.

    Needs outside the batch do not count.
    """
    inside, known = frozenset(members), frozenset(graph.nodes)
    wave: dict[int, int] = {}
    for node in graph.topological:
        if node in inside:
            needs = (wave[need] for need in graph.needs(node) if need in wave)
            wave[node] = max(needs, default=0) + 1
    return wave | {node: 1 for node in members if node not in known}


def longest_chain(
    members: Sequence[int], graph: Graph[int], durations: Mapping[int, timedelta]
) -> tuple[tuple[int, ...], timedelta]:
    """The chain of needs among the members that takes longest, first task first, and its time."""
    inside = frozenset(members)
    best: dict[int, tuple[timedelta, int]] = {}
    for node in graph.topological:
        if node in inside:
            before = max(
                ((best[need][0], need) for need in graph.needs(node) if need in best), default=(_ZERO, 0)
            )
            best[node] = (before[0] + durations.get(node, _ZERO), before[1])
    if not best:
        return (), _ZERO
    node = max(best, key=lambda number: (best[number][0], -number))
    total = best[node][0]
    chain = [node]
    while best[node][1]:
        node = best[node][1]
        chain.append(node)
    return tuple(reversed(chain)), total


def schedule(
    waiting: Sequence[int],
    running: Mapping[int, timedelta],
    graph: Graph[int],
    durations: Mapping[int, timedelta],
    slots: int,
) -> Mapping[int, tuple[timedelta, timedelta]]:
    """Begin and end of each, from now, if a slot is refilled as soon as anything may start, in the order given.

    `running` are tasks under way with the time each still takes. Needs that are neither waiting nor running are taken as met;
    members of a cycle are left out, and without a slot nothing is scheduled.
    """
    known = frozenset(graph.nodes)
    todo = [number for number in waiting if number not in graph.in_cycle and number not in running]
    here = {*todo, *running}
    open_needs = {
        number: here.intersection(graph.needs(number) if number in known else ()) for number in todo
    }
    plan = {number: (_ZERO, span) for number, span in running.items()}
    busy = [(span, number) for number, span in running.items()]
    heapq.heapify(busy)
    clock = _ZERO
    while slots > 0:
        able = [number for number in todo if not open_needs[number]]
        for number in able[: max(slots - len(busy), 0)]:
            todo.remove(number)
            end = clock + durations.get(number, _ZERO)
            plan[number] = (clock, end)
            heapq.heappush(busy, (end, number))
        if not busy:
            break
        clock, ended = heapq.heappop(busy)
        for needs in open_needs.values():
            needs.discard(ended)
    return plan
