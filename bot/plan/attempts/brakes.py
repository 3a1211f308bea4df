"""Brakes: they count progress, not attempts. Decided when an attempt ends, from what the record holds."""

from bot.model.config import Config
from bot.model.record import Attempt, Record

CONFLICT = "conflict"
"""The evidence of attempts whose work contradicts the default branch: each makes a new commit, and comes no further."""


def tripped(record: Record, config: Config) -> str:
    """Why the task should be parked, with the evidence; empty if it may go on.

    A person's order starts one more attempt all the same; when that ends, the brake looks again.
    """
    brakes = config.brakes
    same = unchanged(record)
    if same >= brakes.no_progress and record.attempts[-1].evidence == CONFLICT:
        return f"{same} attempts in a row ended in a conflict with the default branch"
    if same >= brakes.no_progress:
        return (
            f"{same} attempts in a row changed neither the commit, nor the gates' results, nor the question"
        )
    spent = record.spent
    caps = (
        ("attempts", spent.attempts, brakes.attempts),
        ("minutes", spent.minutes, brakes.minutes),
        ("tokens", spent.tokens, brakes.tokens),
    )
    return next(
        (
            f"{used:.0f} {name} are used, of at most {most:.0f} (brakes.{name})"
            for name, used, most in caps
            if used >= most
        ),
        "",
    )


def unchanged(record: Record) -> int:
    """How many attempts up to the newest have left everything as it was; those that prove nothing are passed over."""
    telling: list[Attempt] = [attempt for attempt in record.attempts if attempt.evidence]
    count = 0
    for attempt in reversed(telling):
        if attempt.evidence != telling[-1].evidence:
            break
        count += 1
    return count
