"""How good the order is: how long a batch takes under it, against what no order could beat.

Batches of every shape are played through for each policy, and the time until the last task has ended is divided by the
lower bound max(critical path, work / slots). Everything is seeded, so the numbers are the same on every machine. Ends with 1
if the default order misses a bound: at most 1.02 of the lower bound with estimates (geometric mean over all batches) and
ahead of every other policy; without estimates at most 0.5 % behind the best.
"""

import heapq
import itertools
import math
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bot.plan.graph.graph import Graph
from bot.plan.graph.order import Candidate, History, critical_path_order, expected_durations, score_order

SEEDS = range(5)
SIZES = (20, 60, 200)
SLOTS = (2, 4, 8)
CATEGORIES = ("api", "docs", "infra", "ui")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
WITH_ESTIMATES, BEHIND = 1.02, 1.005

Needs = Mapping[int, Sequence[int]]
Ready = Sequence[int]
Policy = Callable[["Batch", "Known", Ready], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Batch:
    """`minutes` are what each task will really take; `tasks` hold what is known of it before."""

    needs: Needs
    minutes: Mapping[int, float]
    tasks: Mapping[int, Candidate]
    graph: Graph[int]


@dataclass(frozen=True, slots=True)
class Known:
    """What has ended so far, as (category, duration)."""

    finished: list[tuple[str, timedelta]]


def layered(size: int, choose: random.Random) -> Needs:
    """Layers of about a tenth of the tasks; each task needs one to three of the layer before."""
    width = max(2, size // 10)
    return {
        task: sorted({choose.randint(first - width, first - 1) for _ in range(choose.randint(1, 3))})
        if (first := (task - 1) // width * width + 1) > width
        else []
        for task in range(1, size + 1)
    }


def tree(size: int, choose: random.Random) -> Needs:
    """Each task needs one earlier task, whichever."""
    return {task: [choose.randint(1, task - 1)] if task > 1 else [] for task in range(1, size + 1)}


def sparse(size: int, choose: random.Random) -> Needs:
    """Mostly independent tasks, every other one with an earlier need."""
    return {
        task: [choose.randint(1, task - 1)] if task > 1 and choose.random() < 0.5 else []
        for task in range(1, size + 1)
    }


def fan(size: int, choose: random.Random) -> Needs:
    """One task in ten is a hub that the others fan out from: each needs one or two hubs."""
    hubs = range(1, max(2, size // 10) + 1)
    return {
        task: [] if task in hubs else sorted(choose.sample(hubs, choose.randint(1, 2)))
        for task in range(1, size + 1)
    }


SHAPES = {"layered": layered, "tree": tree, "sparse": sparse, "fan": fan}


def make(shape: str, size: int, seed: int, *, estimated: bool) -> Batch:
    """A batch whose durations are lognormal around what is usual for each category, and whose estimates are noisy."""
    choose = random.Random(f"{shape} {size} {seed}")
    needs = SHAPES[shape](size, choose)
    usual = {category: choose.choice((8, 15, 30, 60)) for category in CATEGORIES}
    minutes, tasks = {}, {}
    for task in needs:
        category = choose.choice(CATEGORIES)
        minutes[task] = usual[category] * choose.lognormvariate(0, 0.6)
        guess = minutes[task] * choose.lognormvariate(0, 0.3)
        tasks[task] = Candidate(task, 5, NOON, category, timedelta(minutes=guess) if estimated else None)
    return Batch(needs, minutes, tasks, Graph(needs))


def by_critical_path(batch: Batch, known: Known, ready: Ready) -> Sequence[int]:
    expected = expected_durations(batch.tasks.values(), History.of(known.finished))
    return _numbers(critical_path_order([batch.tasks[task] for task in ready], batch.graph, expected))


def by_score(batch: Batch, known: Known, ready: Ready) -> Sequence[int]:
    return _numbers(score_order([batch.tasks[task] for task in ready], batch.graph))


def first_come(batch: Batch, known: Known, ready: Ready) -> Sequence[int]:
    return sorted(ready)


def by_paths(batch: Batch, known: Known, ready: Ready) -> Sequence[int]:
    """The task first from which the most paths lead to an end: what counting edges without a memory does."""
    paths: dict[int, int] = {}
    for task in reversed(batch.graph.topological):
        paths[task] = sum(1 + paths[child] for child in batch.graph.dependents(task))
    return sorted(ready, key=lambda task: (-paths[task], task))


POLICIES: Mapping[str, Policy] = {
    "critical path": by_critical_path,
    "score": by_score,
    "first come": first_come,
    "path counting": by_paths,
}


def _numbers(candidates: Sequence[Candidate]) -> list[int]:
    return [candidate.number for candidate in candidates]


def play(batch: Batch, slots: int, policy: Policy) -> float:
    """Minutes until the last task has ended, when a slot is refilled as soon as anything is ready."""
    waiting = {task: len(needs) for task, needs in batch.needs.items()}
    ready = [task for task, left in waiting.items() if not left]
    running: list[tuple[float, int]] = []
    known, now = Known([]), 0.0
    while ready or running:
        if ready and len(running) < slots:
            for task in policy(batch, known, ready)[: slots - len(running)]:
                ready.remove(task)
                heapq.heappush(running, (now + batch.minutes[task], task))
        now, task = heapq.heappop(running)
        known.finished.append((batch.tasks[task].category, timedelta(minutes=batch.minutes[task])))
        for child in batch.graph.dependents(task):
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return now


def play_in_waves(batch: Batch, slots: int) -> float:
    """The same behind a barrier: a level begins when the one before has ended."""
    levels: dict[int, list[int]] = {}
    for task, depth in batch.graph.depths.items():
        levels.setdefault(depth, []).append(task)
    total = 0.0
    for depth in sorted(levels):
        free = [0.0] * slots
        for task in levels[depth]:
            heapq.heapreplace(free, free[0] + batch.minutes[task])
        total += max(free)
    return total


def bound(batch: Batch, slots: int) -> float:
    """What no order can beat."""
    lengths = batch.graph.remaining({task: timedelta(minutes=took) for task, took in batch.minutes.items()})
    longest = max(length.total_seconds() / 60 for length in lengths.values())
    return max(longest, sum(batch.minutes.values()) / slots)


def compare(*, estimated: bool, sizes: Sequence[int] = SIZES) -> dict[str, float]:
    """For each policy the geometric mean of its time over the bound, of all batches."""
    logs: dict[str, list[float]] = {name: [] for name in (*POLICIES, "level barrier")}
    for shape, size, seed in itertools.product(SHAPES, sizes, SEEDS):
        batch = make(shape, size, seed, estimated=estimated)
        for slots in SLOTS:
            least = bound(batch, slots)
            for name, policy in POLICIES.items():
                logs[name].append(math.log(play(batch, slots, policy) / least))
            logs["level barrier"].append(math.log(play_in_waves(batch, slots) / least))
    return {name: math.exp(sum(found) / len(found)) for name, found in logs.items()}


def judge(found: Mapping[str, float], *, estimated: bool) -> list[str]:
    """What is wrong with the default order, in words."""
    ours = found["critical path"]
    rival, best = min(
        ((name, mean) for name, mean in found.items() if name != "critical path"), key=lambda one: one[1]
    )
    if not estimated:
        return [f"{ours:.4f} is more than 0.5 % behind {rival} ({best:.4f})"] if ours > best * BEHIND else []
    wrong = [f"{ours:.4f} of the bound is more than {WITH_ESTIMATES}"] if ours > WITH_ESTIMATES else []
    return [*wrong, *([f"{ours:.4f} is not ahead of {rival} ({best:.4f})"] if ours >= best else [])]


def main() -> int:
    broken = []
    for estimated in (True, False):
        found = compare(estimated=estimated)
        sys.stdout.write(f"time over the lower bound, {'with' if estimated else 'without'} estimates:\n")
        for name, mean in sorted(found.items(), key=lambda one: one[1]):
            sys.stdout.write(f"  {name:16} {mean:.4f}\n")
        broken += judge(found, estimated=estimated)
    for line in broken:
        sys.stderr.write(f"critical path: {line}\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
