"""Which of the tasks that may start goes first.

Two orders, chosen by the configuration's `order`: `critical_path_order`, the longest expected remaining work first,
and `score_order`, by a weighted sum. Both put continued tasks before fresh ones and settle ties by priority, age and
number. The graph holds all open tasks, so that work which cannot start yet still counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct, field

from bot.plan.graph.graph import Graph

DEFAULT_DURATION = timedelta(minutes=15)
"""Expected of a task as long as nothing is known: no estimate, and no attempt in this repository has finished."""


class Candidate(Struct, frozen=True):
    """What ordering wants to know about a task. `continued` is work that was begun: a lost run, an answered question."""

    number: int
    priority: int
    created_at: datetime
    category: str = ""
    estimate: timedelta | None = None
    continued: bool = False


class History(Struct, frozen=True):
    """How long finished attempts took: medians by category, and of the whole repository (None if there are none)."""

    by_category: Mapping[str, timedelta] = field(default_factory=dict)
    overall: timedelta | None = None

    @staticmethod
    def of(finished: Iterable[tuple[str, timedelta]]) -> "History":
        """From the category (empty for none) and duration of each finished attempt."""
        grouped: dict[str, list[timedelta]] = {}
        for category, duration in finished:
            grouped.setdefault(category, []).append(duration)
        everything = [duration for durations in grouped.values() for duration in durations]
        return History(
            {category: _median(durations) for category, durations in grouped.items() if category},
            _median(everything) if everything else None,
        )

    def expected(self, task: Candidate, default: timedelta = DEFAULT_DURATION) -> timedelta:
        """The task's own estimate, else what its category took, else what the repository took, else the default."""
        if task.estimate is not None:
            return task.estimate
        return self.by_category.get(task.category, self.overall or default)


def _median(durations: Sequence[timedelta]) -> timedelta:
    ordered = sorted(durations)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def expected_durations(
    tasks: Iterable[Candidate], history: History, default: timedelta = DEFAULT_DURATION
) -> dict[int, timedelta]:
    """The expected duration of every open task, by number."""
    return {task.number: history.expected(task, default) for task in tasks}


def critical_path_order(
    candidates: Iterable[Candidate], graph: Graph[int], durations: Mapping[int, timedelta]
) -> tuple[Candidate, ...]:
    """The candidates by the longest chain of expected work that begins with each, longest first.

    `durations` are the expected ones of all open tasks. A candidate that is no node of the graph stands for itself;
    members of a cycle can never start and are left out.
    """
    tasks = tuple(candidates)
    remaining = graph.remaining(durations)
    nothing = timedelta(0)
    lengths = {task.number: remaining.get(task.number, durations.get(task.number, nothing)) for task in tasks}
    return _sorted(tasks, graph, {number: length.total_seconds() for number, length in lengths.items()})


def score_order(candidates: Iterable[Candidate], graph: Graph[int]) -> tuple[Candidate, ...]:
    """The candidates by score, highest first; members of a cycle are left out."""
    tasks = tuple(candidates)
    return _sorted(tasks, graph, scores(tasks, graph))


def scores(candidates: Iterable[Candidate], graph: Graph[int]) -> dict[int, float]:
    """`1000*u + 100*d + 10*p` of every candidate in no cycle, by number.

    `u`: distinct descendants, as a share of the largest such number. `d`: 1 minus the longest path from a root, as a share of
    the longest. `p`: priority, 1 for the most urgent. All in 0..1; without descendants or paths anywhere `u` is 0, `d` is 1.
    """
    descendants, depths = graph.descendants, graph.depths
    most = max(descendants.values(), default=0) or 1
    deepest = max(depths.values(), default=0) or 1
    return {
        task.number: 1000 * descendants.get(task.number, 0) / most
        + 100 * (1 - depths.get(task.number, 0) / deepest)
        + 10 * (10 - min(task.priority, 10)) / 10
        for task in candidates
        if task.number not in graph.in_cycle
    }


def _sorted(
    tasks: Iterable[Candidate], graph: Graph[int], rank: Mapping[int, float]
) -> tuple[Candidate, ...]:
    able = (task for task in tasks if task.number not in graph.in_cycle)
    return tuple(
        sorted(
            able,
            key=lambda task: (
                not task.continued,
                -rank[task.number],
                task.priority,
                task.created_at,
                task.number,
            ),
        )
    )


def in_sequence(tasks: Sequence[int], graph: Graph[int]) -> tuple[int, ...]:
    """The tasks in the order written, but each one's needs among them before it. Members of a cycle stay where they are."""
    members, known, done = frozenset(tasks), frozenset(graph.nodes), dict[int, None]()
    for task in tasks:
        stack = [task]
        while stack:
            number = stack[-1]
            needs = graph.needs(number) if number in known and number not in graph.in_cycle else ()
            first = [
                need for need in needs if need in members and need not in done and need not in graph.in_cycle
            ]
            if first and number not in done:
                stack += reversed(first)
            else:
                done.setdefault(stack.pop())
    return tuple(done)
