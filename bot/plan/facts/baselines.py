"""What is known of the gates on the untouched default branch."""

from collections.abc import Iterable, Mapping

from bot.model.record import Record
from bot.model.snapshot import Snapshot


def known_baselines(snapshot: Snapshot) -> Mapping[str, tuple[str, ...]]:
    """The red gates by digest: what earlier ticks kept, and what the records of the tasks at hand say.

    The records come first in time: a tick that dies before it wrote the dashboard loses nothing.
    """
    return {**snapshot.baselines, **in_records(task.record for task in snapshot.tasks.values())}


def in_records(records: Iterable[Record]) -> dict[str, tuple[str, ...]]:
    """The red gates by digest, as attempts found them; the newest counts."""
    found = [
        (attempt.claimed_at, attempt.baseline)
        for record in records
        for attempt in record.attempts
        if attempt.baseline is not None
    ]
    ordered = sorted(found, key=lambda one: one[0])
    return {baseline.digest: baseline.red for _, baseline in ordered}
