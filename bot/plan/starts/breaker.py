"""The breaker of each engine: where its provider takes no work for now, no task of it starts until it does again.

It is derived from the records of all tasks, so it outlives a killed tick, and closes by itself.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from bot.model.config import Config
from bot.model.record import Attempt, Record
from bot.model.report import NO_FAULT, Outcome

_LONGEST = timedelta(days=8)  # what a provider names beyond this is not believed


def breakers(records: Iterable[Record], config: Config) -> Mapping[str, datetime]:
    """Until when each engine is held, by what its attempts met most recently."""
    by_engine: dict[str, list[Attempt]] = {}
    for record in records:
        for attempt in record.attempts:
            if attempt.ended_at is not None and attempt.engine:
                by_engine.setdefault(attempt.engine, []).append(attempt)
    found = {engine: _until(attempts, config) for engine, attempts in by_engine.items()}
    return {engine: until for engine, until in found.items() if until is not None}


def _until(attempts: list[Attempt], config: Config) -> datetime | None:
    """The wait doubles with each failure that began after the last one ended, and ends early by what began after it and did work.

    Attempts that ran side by side tell of the same moment: their failures are one, and their successes prove nothing.
    """
    until: datetime | None = None
    rounds, last = 0, None
    for attempt in sorted(attempts, key=_ended):
        if attempt.outcome is Outcome.CAPACITY:
            rounds += last is None or attempt.claimed_at >= last
            last = _ended(attempt)
            until = max(until or last, _again(attempt, rounds, config))
        elif attempt.outcome not in NO_FAULT and last is not None and attempt.claimed_at >= last:
            rounds, last, until = 0, None, None
    return until


def _again(attempt: Attempt, rounds: int, config: Config) -> datetime:
    ended = _ended(attempt)
    if attempt.retry_after is not None:
        return min(attempt.retry_after, ended + _LONGEST)
    doubled: timedelta = config.retry.backoff * 2 ** min(rounds - 1, 20)
    return ended + min(doubled, config.retry.max_backoff)


def _ended(attempt: Attempt) -> datetime:
    assert attempt.ended_at is not None
    return attempt.ended_at
