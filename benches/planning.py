"""How planning grows with the number of tasks: `python -P -m benches.planning` or `python benches/planning.py`.

Each bench is measured at growing sizes within one run, and judged by ratios, which hold on any machine: ten times the
input may take little more than ten times as long. Ends with 1 if a bound is broken. To add a bench, add a line
to `BENCHES`.
"""

import gc
import random
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bot.model.config import Config, EngineConfig
from bot.model.issue import Account, EventKind, Issue, TimelineEvent
from bot.model.record import Record
from bot.model.ref import Ref
from bot.model.snapshot import Snapshot
from bot.model.task import Task
from bot.model.view import Repository
from bot.notation.needs import read_needs
from bot.plan import plan
from bot.plan.graph.graph import Graph
from bot.plan.graph.order import Candidate, History, critical_path_order, expected_durations, score_order

Needs = Mapping[int, list[int]]
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Bench:
    """`prepare` makes the input of a size and returns what is timed. `growth` bounds time ratio / size ratio."""

    name: str
    sizes: tuple[int, ...]
    prepare: Callable[[int], Callable[[], object]]
    growth: float = 3.0  # quadratic growth would show as 5 at five times the size
    seconds: float | None = None  # an upper bound for `sizes[0]`, generous enough for any machine


def tasks_with_needs(edges: int) -> Needs:
    """Half as many tasks as edges, each with two needs among earlier tasks, mostly recent ones; a few cycles in between."""
    choose = random.Random(edges)
    size = edges // 2
    needs = {
        task: [max(1, task - choose.randint(1, 50)), choose.randint(1, task)] for task in range(1, size + 1)
    }
    return {task: [need for need in found if need != task] for task, found in needs.items()}


def groups_with_needs(edges: int) -> Needs:
    """Groups of a hundred tasks each, as batches make them."""
    choose = random.Random(edges)
    return {
        task: [task - choose.randint(1, (task - 1) % 100) for _ in range(2)] if task % 100 != 1 else []
        for task in range(1, edges // 2 + 1)
    }


def candidates(needs: Needs) -> list[Candidate]:
    return [Candidate(task, task % 10, NOON - timedelta(minutes=task), f"area-{task % 7}") for task in needs]


def cycles_and_order(edges: int) -> Callable[[], object]:
    needs = tasks_with_needs(edges)

    def run() -> object:
        graph = Graph(needs)
        return graph.cycles, graph.behind_cycles, graph.topological

    return run


def critical_path(edges: int) -> Callable[[], object]:
    needs = tasks_with_needs(edges)
    tasks = candidates(needs)
    history = History.of((task.category, timedelta(minutes=task.number % 40)) for task in tasks)
    return lambda: critical_path_order(tasks, Graph(needs), expected_durations(tasks, history))


def score(edges: int) -> Callable[[], object]:
    needs = groups_with_needs(edges)
    tasks = candidates(needs)
    return lambda: score_order(tasks, Graph(needs))


def score_of_one_web(edges: int) -> Callable[[], object]:
    needs = tasks_with_needs(edges)
    tasks = candidates(needs)
    return lambda: score_order(tasks, Graph(needs))


def reading_needs(size: int) -> Callable[[], object]:
    paragraph = "Some words about `code` and [a link](https://example.org).\n\n- [ ] depends on #1, #2\n```\nx = 1\n```\n"
    body = paragraph * (size // len(paragraph))
    return lambda: read_needs(body, "acme/shop")


def a_chain(size: int) -> Needs:
    """Each task needs the one before it."""
    return {task: [task - 1] if task > 1 else [] for task in range(1, size + 1)}


def plan_of_web(edges: int) -> Callable[[], object]:
    return whole_plan(tasks_with_needs(edges))


def plan_of_chain(size: int) -> Callable[[], object]:
    return whole_plan(a_chain(size))


def whole_plan(found: Needs) -> Callable[[], object]:
    """A snapshot of ready tasks with these needs, planned by all the rules."""
    maintainer = Account(1, "maintainer")
    order = (TimelineEvent(EventKind.LABELED, maintainer, NOON, "cf:ready"),)
    tasks = {
        number: Task(
            Issue(
                number, "", number, "", "", maintainer, True, None, ("cf:ready",), NOON, NOON, events=order
            ),
            Record(number),
            needs=tuple(Ref("acme/shop", need) for need in needs),
        )
        for number, needs in found.items()
    }
    home = Repository("acme/shop", "", "main")
    snapshot = Snapshot(
        NOON,
        home,
        Config(engines={"command": EngineConfig(args="agent")}),
        frozenset({2}),
        tasks,
        permissions={"maintainer": "write"},
    )
    return lambda: plan(snapshot)


BENCHES = (
    Bench("whole plan, edges", (20_000, 50_000, 200_000), plan_of_web, seconds=1.0),
    Bench("whole plan, tasks in one chain", (2_000, 5_000, 10_000), plan_of_chain, seconds=1.0),
    Bench("cycles, edges", (20_000, 50_000, 100_000), cycles_and_order, seconds=1.0),
    Bench("critical path, edges", (20_000, 50_000, 100_000), critical_path, seconds=1.0),
    Bench("score in groups, edges", (20_000, 50_000, 100_000), score, seconds=1.0),
    # counting what can be reached in one single web has no known linear way; the bound is what chunks of bits cost
    Bench("score of one web, edges", (20_000, 50_000, 100_000), score_of_one_web, growth=8.0, seconds=2.0),
    Bench("reading needs, characters", (65_536, 262_144, 1_048_576), reading_needs, seconds=1.0),
)


def best_of(run: Callable[[], object], times: int = 3) -> float:
    """The shortest of a few runs, which other work on the machine disturbs least; no garbage collection meanwhile."""
    found: list[float] = []
    for _ in range(times):
        gc.collect()
        gc.disable()
        begin = time.perf_counter()
        run()
        found.append(time.perf_counter() - begin)
        gc.enable()
    return min(found)


def measure(bench: Bench) -> list[str]:
    """Print the bench's times and return what broke a bound."""
    broken: list[str] = []
    first = 0.0
    for size in bench.sizes:
        taken = best_of(bench.prepare(size))
        first = first or taken
        growth = (taken / first) / (size / bench.sizes[0])
        sys.stdout.write(f"{bench.name:30} {size:>9,} {taken * 1000:>9.1f} ms   x{growth:.2f} of linear\n")
        if growth > bench.growth:
            broken.append(
                f"{bench.name}: {size:,} takes {growth:.2f} times what linear growth allows (bound {bench.growth})"
            )
    if bench.seconds is not None and first > bench.seconds:
        broken.append(f"{bench.name}: {bench.sizes[0]:,} takes {first:.2f} s (bound {bench.seconds} s)")
    return broken


def main() -> int:
    broken = [line for bench in BENCHES for line in measure(bench)]
    for line in broken:
        sys.stderr.write(f"too slow: {line}\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
