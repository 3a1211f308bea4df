"""The graph of needs: cycles, what waits behind them, and the sizes that ordering goes by.

Nothing here recurses, so a chain of 10,000 tasks is as good as one of three, and everything but the count of
descendants is linear in nodes and edges.
"""

import heapq
from collections.abc import Hashable, Iterable, Mapping
from datetime import timedelta
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct


class Node(Hashable, Protocol):
    """A node is anything that can be put in order: issue numbers, references."""

    def __lt__(self, other: Any, /) -> bool: ...


N = TypeVar("N", bound=Node)

CHUNK = 8192
"""Descendants counted at once, one bit each: at most a kilobyte for each node, however large the graph."""


class Cycle(Struct, Generic[N], frozen=True):
    """A strongly connected component that needs itself. `path` is a shortest way round through its smallest member.

    The path follows the needs, and begins and ends with that member. Where several loops are tangled, not every member
    lies on it; `Graph.path_through` shows a member its own.
    """

    members: tuple[N, ...]
    path: tuple[N, ...]

    def __str__(self) -> str:
        return show_path(self.path)


def show_path(path: Iterable[object]) -> str:
    """`1→2→3→1`."""
    return "→".join(map(str, path))


class Graph(Generic[N]):
    """A graph made from `child -> what it needs`. Needs that are no keys are nodes without needs; repeats count once.

    Nodes are kept in their own order, so equal graphs give equal answers, however the mapping was built.
    """

    def __init__(self, needs: Mapping[N, Iterable[N]]) -> None:
        edges = {child: frozenset(parents) for child, parents in needs.items()}
        self.nodes: tuple[N, ...] = tuple(sorted(edges.keys() | frozenset().union(*edges.values())))
        self._index = {node: index for index, node in enumerate(self.nodes)}
        self._needs: list[tuple[int, ...]] = [()] * len(self.nodes)
        dependents: list[list[int]] = [[] for _ in self.nodes]
        for index, node in enumerate(self.nodes):
            self._needs[index] = tuple(sorted(self._index[parent] for parent in edges.get(node, ())))
            for parent in self._needs[index]:
                dependents[parent].append(index)
        self._dependents = dependents

    def needs(self, node: N) -> tuple[N, ...]:
        """What the node needs directly, in order. Raises `KeyError` for an unknown node."""
        return tuple(self.nodes[parent] for parent in self._needs[self._index[node]])

    def dependents(self, node: N) -> tuple[N, ...]:
        """What needs the node directly, in order. Raises `KeyError` for an unknown node."""
        return tuple(self.nodes[child] for child in self._dependents[self._index[node]])

    # cycles

    @cached_property
    def cycles(self) -> tuple[Cycle[N], ...]:
        """Every cycle, by its smallest member."""
        components = sorted(sorted(members) for members in self._components)
        return tuple(
            Cycle(tuple(self.nodes[member] for member in members), self._round(members[0]))
            for members in components
        )

    @cached_property
    def in_cycle(self) -> frozenset[N]:
        """The nodes that are members of a cycle."""
        return frozenset(self.nodes[index] for index, cyclic in enumerate(self._cyclic) if cyclic)

    @cached_property
    def behind_cycles(self) -> frozenset[N]:
        """The nodes that need a member of a cycle, directly or through others, and are no members themselves."""
        seen = list(self._cyclic)
        pending = [index for index, cyclic in enumerate(self._cyclic) if cyclic]
        behind: list[N] = []
        while pending:
            for child in self._dependents[pending.pop()]:
                if not seen[child]:
                    seen[child] = True
                    behind.append(self.nodes[child])
                    pending.append(child)
        return frozenset(behind)

    def path_through(self, node: N) -> tuple[N, ...]:
        """A shortest cycle through the node, along its needs, from the node to itself; empty if it is in none.

        Raises `KeyError` for an unknown node. Linear in the size of the cycle's component.
        """
        index = self._index[node]
        return self._round(index) if self._cyclic[index] else ()

    @cached_property
    def _components(self) -> list[list[int]]:
        """The strongly connected components that are cycles (Tarjan 1972, with the calls kept on a list)."""
        unseen, size = -1, len(self.nodes)
        order, low = [unseen] * size, [0] * size
        on_stack = bytearray(size)
        stack: list[int] = []
        found: list[list[int]] = []
        clock = 0
        for root in range(size):
            if order[root] != unseen:
                continue
            calls = [(root, iter(self._needs[root]))]
            order[root] = low[root] = clock
            clock += 1
            stack.append(root)
            on_stack[root] = True
            while calls:
                node, parents = calls[-1]
                for parent in parents:
                    if order[parent] == unseen:
                        order[parent] = low[parent] = clock
                        clock += 1
                        stack.append(parent)
                        on_stack[parent] = True
                        calls.append((parent, iter(self._needs[parent])))
                        break
                    if on_stack[parent]:
                        low[node] = min(low[node], order[parent])
                else:
                    calls.pop()
                    if calls:
                        caller = calls[-1][0]
                        low[caller] = min(low[caller], low[node])
                    if low[node] == order[node]:
                        members = _popped(stack, node, on_stack)
                        if len(members) > 1 or node in self._needs[node]:
                            found.append(members)
        return found

    @cached_property
    def _component_of(self) -> list[int]:
        """For each node the number of its cycle, or -1."""
        component = [-1] * len(self.nodes)
        for number, members in enumerate(self._components):
            for member in members:
                component[member] = number
        return component

    @cached_property
    def _cyclic(self) -> list[bool]:
        return [number >= 0 for number in self._component_of]

    def _round(self, start: int) -> tuple[N, ...]:
        """A shortest way from a member of a cycle along needs back to itself, found breadth first inside its component."""
        component = self._component_of
        came_from: dict[int, int] = {}
        level = [start]
        while start not in came_from:
            following: list[int] = []
            for node in level:
                for parent in self._needs[node]:
                    if component[parent] == component[start] and parent not in came_from:
                        came_from[parent] = node
                        following.append(parent)
            level = following
        path = [start]
        step = came_from[start]
        while step != start:
            path.append(step)
            step = came_from[step]
        path.append(start)
        return tuple(self.nodes[index] for index in reversed(path))

    # sizes, over the nodes that are in no cycle

    @cached_property
    def topological(self) -> tuple[N, ...]:
        """The nodes in no cycle, each after its needs; among those free at the same time the smallest first.

        Edges to members of a cycle are left out here and in all sizes: such an edge never resolves as it stands.
        """
        return tuple(self.nodes[index] for index in self._sorted)

    @cached_property
    def _sorted(self) -> list[int]:
        missing = [
            -1 if self._cyclic[index] else sum(not self._cyclic[parent] for parent in parents)
            for index, parents in enumerate(self._needs)
        ]
        free = [index for index, count in enumerate(missing) if count == 0]
        order: list[int] = []
        while free:  # sorted from the start, hence already a heap
            node = heapq.heappop(free)
            order.append(node)
            for child in self._dependents[node]:
                missing[child] -= 1
                if missing[child] == 0:
                    heapq.heappush(free, child)
        return order

    @cached_property
    def depths(self) -> Mapping[N, int]:
        """For each node in no cycle the length of the longest path to it from a node that needs nothing."""
        depth = [0] * len(self.nodes)
        for index in self._sorted:
            parents = [depth[parent] + 1 for parent in self._needs[index] if not self._cyclic[parent]]
            depth[index] = max(parents, default=0)
        return {self.nodes[index]: depth[index] for index in self._sorted}

    def remaining(self, durations: Mapping[N, timedelta]) -> Mapping[N, timedelta]:
        """For each node in no cycle its own duration and that of the longest chain of dependents behind it."""
        nothing = timedelta(0)
        longest = [nothing] * len(self.nodes)
        for index in reversed(self._sorted):
            behind = (longest[child] for child in self._dependents[index] if not self._cyclic[child])
            longest[index] = durations.get(self.nodes[index], nothing) + max(behind, default=nothing)
        return {self.nodes[index]: longest[index] for index in self._sorted}

    @cached_property
    def descendants(self) -> Mapping[N, int]:
        """For each node in no cycle how many distinct others need it, directly or through others. Exact.

        Counting what can be reached has no known linear way, so the nodes are taken in chunks, a bit each, and the
        bits are handed from dependents to needs. Memory stays bounded, and since chunks keep to connected parts
        of the graph, many small groups of tasks, the usual case, cost time in proportion to their number.
        """
        counts = [0] * len(self.nodes)
        order, part_begins = self._by_part()
        for begin in range(0, len(order), CHUNK):
            end = min(begin + CHUNK, len(order))
            bits: dict[int, int] = {}
            # A node's dependents stand behind it in its own part, so its bits are complete when its turn comes.
            for position in range(end - 1, part_begins[begin] - 1, -1):
                node = order[position]
                below = bits.pop(node, 0)
                if below:
                    counts[node] += below.bit_count()
                if position >= begin:
                    below |= 1 << (position - begin)
                if below:
                    for parent in self._needs[node]:
                        if not self._cyclic[parent]:
                            bits[parent] = bits.get(parent, 0) | below
        return {self.nodes[index]: counts[index] for index in self._sorted}

    def _by_part(self) -> tuple[list[int], list[int]]:
        """The nodes in no cycle, topologically sorted inside each connected part, and for each position where its part begins."""
        part = [-1] * len(self.nodes)
        parts: list[list[int]] = []
        for root in self._sorted:
            if part[root] < 0:
                part[root] = len(parts)
                parts.append([])
                pending = [root]
                while pending:
                    node = pending.pop()
                    for neighbour in (*self._needs[node], *self._dependents[node]):
                        if part[neighbour] < 0 and not self._cyclic[neighbour]:
                            part[neighbour] = part[root]
                            pending.append(neighbour)
        for node in self._sorted:
            parts[part[node]].append(node)
        order: list[int] = []
        begins: list[int] = []
        for members in parts:
            begins += [len(order)] * len(members)
            order += members
        return order, begins


def _popped(stack: list[int], last: int, on_stack: bytearray) -> list[int]:
    """The top of the stack down to `last`, taken off."""
    members: list[int] = []
    while not members or members[-1] != last:
        members.append(stack.pop())
        on_stack[members[-1]] = False
    return members
