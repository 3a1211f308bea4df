"""Proposed needs judged: what may join the edges that exist, and what may not, each with its reason."""

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

Edge = tuple[int, int]  # (task, what it needs)


class Dropped(Struct, frozen=True):
    """A proposed edge that does not count, and why, in plain words."""

    task: int
    need: int
    reason: str


class Inferred(Struct, frozen=True):
    """`accepted` are new edges, in order; what exists already is in neither list."""

    accepted: tuple[Edge, ...]
    dropped: tuple[Dropped, ...]


def nothing_waits(prefix: str) -> str:
    """Why `apply` has nothing to do where nothing was proposed."""
    return f"no needs wait here to be taken over; `/{prefix} deps` proposes some"


def infer(
    proposal: Mapping[int, Iterable[int]], existing: Mapping[int, Iterable[int]], known: Collection[int]
) -> Inferred:
    """Merge proposed needs (task -> needs) with the edges that exist; these are never replaced.

    Dropped are numbers that are not `known`, a task's need of itself, and whatever closes a cycle with the existing edges and
    those accepted before it. Edges are taken by task, then in the order proposed, so equal input gives equal output.
    """
    needs = {task: set(parents) for task, parents in existing.items()}
    accepted: list[Edge] = []
    dropped: list[Dropped] = []
    for task in sorted(proposal):
        for need in dict.fromkeys(proposal[task]):
            if need in needs.get(task, ()):
                continue
            reason = _refusal(task, need, needs, known)
            if reason:
                dropped.append(Dropped(task, need, reason))
            else:
                needs.setdefault(task, set()).add(need)
                accepted.append((task, need))
    return Inferred(tuple(accepted), tuple(dropped))


def _refusal(task: int, need: int, needs: Mapping[int, Collection[int]], known: Collection[int]) -> str:
    for number in (task, need):
        if number not in known:
            return f"#{number} is not among the tasks"
    if task == need:
        return "a task cannot need itself"
    way = _way(need, task, needs)
    if way:
        return f"it would close the cycle {'→'.join(map(str, (task, *way)))}"
    return ""


def _way(start: int, goal: int, needs: Mapping[int, Collection[int]]) -> tuple[int, ...]:
    """A shortest way along needs from one task to another, both ends included; empty if there is none."""
    came_from: dict[int, int] = {start: start}
    level = [start]
    while level and goal not in came_from:
        following: list[int] = []
        for node in level:
            for parent in sorted(needs.get(node, ())):
                if parent not in came_from:
                    came_from[parent] = node
                    following.append(parent)
        level = following
    if goal not in came_from:
        return ()
    way = [goal]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return tuple(reversed(way))
