"""What attempts came to, added up by engine or by category: the numbers of `cf stats`."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from bot.model.config import Config
from bot.model.record import Attempt
from bot.model.report import STRIKES, Outcome
from bot.model.task import Task
from bot.model.unit import Kind

# US dollars a minute for GitHub's standard runners from January 2026 on, by the beginning of the label. Jobs in public repositories
# cost nothing. Source: docs.github.com/en/billing/reference/actions-runner-pricing
PRICES: Mapping[str, float] = {
    "ubuntu-slim": 0.002,
    "ubuntu": 0.006,
    "windows": 0.010,
    "macos": 0.062,
    "self-hosted": 0.0,
}


class Tally(Struct, frozen=True):
    """Sums over ended attempts that started an agent. Rates and means are None where there is nothing to divide by.

    `corrected` are attempts that passed after at least one round of corrections, of `correcting` that had one. `runner_minutes` are
    estimated from whole minutes of the agent's job and one each for verifying and publishing; `price` is None for a runner whose
    price is not known.
    """

    name: str
    attempted: int = 0
    passed: int = 0
    failed: int = 0
    gates: int = 0
    gates_passed: int = 0
    correcting: int = 0
    corrected: int = 0
    minutes: float = 0.0
    tokens: int = 0
    usd: float = 0.0
    passed_tasks: int = 0
    runner_minutes: int = 0
    price: float | None = None

    @property
    def gate_pass_rate(self) -> float | None:
        return self.gates_passed / self.gates if self.gates else None

    @property
    def self_correction_rate(self) -> float | None:
        return self.corrected / self.correcting if self.correcting else None

    @property
    def mean_minutes(self) -> float | None:
        return self.minutes / self.attempted if self.attempted else None

    @property
    def tokens_per_passed_task(self) -> float | None:
        return self.tokens / self.passed_tasks if self.passed_tasks else None


def by_engine(tasks: Iterable[Task], config: Config) -> tuple[Tally, ...]:
    """One tally for each engine, and model where one was named, by name."""

    def name(_: Task, attempt: Attempt) -> str:
        engine = attempt.engine or config.engine
        return f"{engine} ({attempt.model})" if attempt.model else engine

    return _tallies(tasks, name, config)


def by_category(tasks: Iterable[Task], config: Config) -> tuple[Tally, ...]:
    """One tally for each category, by name; tasks without one come under an empty name."""
    return _tallies(tasks, lambda task, _: task.category, config)


def _tallies(
    tasks: Iterable[Task], name: Callable[[Task, Attempt], str], config: Config
) -> tuple[Tally, ...]:
    groups: dict[str, list[tuple[int, Attempt]]] = {}
    for task in tasks:
        for attempt in task.record.attempts:
            if attempt.outcome is not None and attempt.spent.attempts:
                groups.setdefault(name(task, attempt), []).append((task.number, attempt))
    return tuple(_tally(name, groups[name], config) for name in sorted(groups))


def _tally(name: str, attempts: Sequence[tuple[int, Attempt]], config: Config) -> Tally:
    ended = [attempt for _, attempt in attempts]
    passed = [attempt for attempt in ended if attempt.outcome is Outcome.PASSED]
    correcting = [attempt for attempt in ended if attempt.rounds]
    prices = [_price(attempt, config) for attempt in ended]
    return Tally(
        name,
        attempted=len(ended),
        passed=len(passed),
        failed=sum(attempt.outcome in STRIKES for attempt in ended),
        gates=sum(attempt.gates for attempt in ended),
        gates_passed=sum(attempt.gates_passed for attempt in ended),
        correcting=len(correcting),
        corrected=sum(attempt.outcome is Outcome.PASSED for attempt in correcting),
        minutes=sum(attempt.minutes for attempt in ended),
        tokens=sum(attempt.tokens for attempt in ended),
        usd=sum(attempt.usd for attempt in ended),
        passed_tasks=len({task for task, attempt in attempts if attempt.outcome is Outcome.PASSED}),
        runner_minutes=sum(map(runner_minutes, ended)),
        price=None if None in prices else sum(price for price in prices if price is not None),
    )


def runner_minutes(attempt: Attempt) -> int:
    """What GitHub is likely to bill: it rounds each job up to a whole minute."""
    agent = max(1, math.ceil(attempt.minutes)) if attempt.kind is Kind.CODE else 0
    return agent + bool(attempt.gates) + 1


def _price(attempt: Attempt, config: Config) -> float | None:
    engine = config.engines.get(attempt.engine or config.engine)
    rate = price_of(engine.runner if engine and engine.runner else config.runner)
    return None if rate is None else rate * runner_minutes(attempt)


def price_of(labels: Sequence[str]) -> float | None:
    """US dollars a minute for a runner with these labels; None if it is no standard runner (a larger one, say)."""
    for label in labels:
        if label in PRICES:
            return PRICES[label]
    for label in labels:
        system, _, version = label.partition("-")
        if system in PRICES and (version == "latest" or version.replace(".", "").isdigit()):
            return PRICES[system]
    return None
