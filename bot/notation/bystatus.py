"""`max_parallel_by_status`, as a mapping or as the text `READY=3,FAILED=1`."""

import re
from collections.abc import Mapping

from bot.model.status import Status

STARTED_FROM = (Status.READY, Status.FAILED, Status.BLOCKED, Status.IN_PROGRESS)
"""What an attempt can be started from: fresh, after a strike, after an answer, after a lost run."""

_MOST = 256
_COUNT = re.compile(r"[0-9]{1,3}")


class NotALimit(ValueError):
    """The text says which pair is wrong and what would be right."""


def read_by_status(raw: object) -> Mapping[Status, int]:
    """The limit for each status that has one. Raises NotALimit naming the pair and the valid names."""
    pairs = raw.items() if isinstance(raw, Mapping) else _split(raw)
    limits: dict[Status, int] = {}
    for name, count in pairs:
        status, most = _status(name, count), _count(name, count)
        if status in limits:
            raise NotALimit(f"must name each status once, and {name} stands twice")
        limits[status] = most
    return limits


def idle_names(limits: Mapping[Status, int]) -> tuple[str, ...]:
    """The names in it that nothing can start from, so that their limit has no effect."""
    return tuple(status.name for status in limits if status not in STARTED_FROM)


def _split(raw: object) -> list[tuple[str, int | str]]:
    if raw is None:
        return []
    if not isinstance(raw, str):
        raise NotALimit("must be a mapping like {READY: 3, FAILED: 1}, or the text READY=3,FAILED=1")
    pairs: list[tuple[str, int | str]] = []
    for part in raw.split(","):
        name, equals, count = (piece.strip() for piece in part.partition("="))
        if not (name and equals and count):
            raise NotALimit(f"must be pairs like READY=3,FAILED=1, and {part.strip()!r} is none")
        pairs.append((name, int(count) if _COUNT.fullmatch(count) else count))
    return pairs


def _status(name: object, count: object) -> Status:
    written = str(name).strip().lower().replace("_", "-")
    if written not in set(Status):
        valid = ", ".join(status.name for status in Status)
        raise NotALimit(f"must name states, and {_pair(name, count)} does not: valid names are {valid}")
    return Status(written)


def _count(name: object, count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _MOST:
        raise NotALimit(f"must give whole numbers from 0 to {_MOST}, and {_pair(name, count)} does not")
    return count


def _pair(name: object, count: object) -> str:
    return f"{name}={count}"[:80]
