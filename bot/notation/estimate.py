"""What labels and the `Estimate:` line say about a task: priority, category and expected duration."""

import re
from collections.abc import Iterable
from datetime import timedelta

from msgspec import Struct

from bot.notation.duration import RIGHT_FORM, DurationError, read_duration
from bot.notation.text import CODE, STRUCK, live_lines

LOWEST_PRIORITY = 9
DEFAULT_PRIORITY = 5

_LINE = re.compile(r"[*_]{0,3}estimate[*_]{0,3}\s?[:：][*_]{0,3}(?P<value>.*)", re.IGNORECASE)
_EMPTY = frozenset({"", "none", "n/a", "-", "no response"})
_SHOWN = 40


class Traits(Struct, frozen=True):
    """`priority` runs from 0 (first) to 9; `category` is empty if there is none. `warnings` are plain sentences."""

    priority: int = DEFAULT_PRIORITY
    category: str = ""
    estimate: timedelta | None = None
    warnings: tuple[str, ...] = ()


def read_traits(
    labels: Iterable[str],
    body: str | None,
    prefix: str = "cf",
    *,
    priority_prefix: str | None = None,
    default_priority: int = DEFAULT_PRIORITY,
    category_prefix: str = "area:",
) -> Traits:
    """What a task's labels and body say, label names compared without case. Never fails.

    Of several priorities the most urgent counts, of several categories the first by name, of several estimates the
    longest; a label's estimate outweighs the body's, because it takes triage rights to set one.
    """
    names = sorted({label.strip().casefold() for label in labels})
    urgent = (f"{prefix}:p" if priority_prefix is None else priority_prefix).casefold()
    priorities = [int(rest) for rest in _behind(names, urgent) if re.fullmatch("[0-9]", rest)]
    area = category_prefix.casefold()
    categories = [rest for rest in _behind(names, area) if rest] if area else []
    estimate, warnings = _read_estimate(_behind(names, f"{prefix}:estimate/".casefold()), body)
    return Traits(
        min(priorities, default=default_priority), min(categories, default=""), estimate, tuple(warnings)
    )


def _behind(names: Iterable[str], prefix: str) -> list[str]:
    return [name.removeprefix(prefix).strip() for name in names if name.startswith(prefix)]


def _read_estimate(labels: Iterable[str], body: str | None) -> tuple[timedelta | None, list[str]]:
    warnings: list[str] = []
    for values in (labels, _body_values(body)):
        read = [duration for value in values if (duration := _judged(value, warnings)) is not None]
        if read:
            return max(read), warnings
    return None, warnings


def _judged(value: str, warnings: list[str]) -> timedelta | None:
    try:
        duration = read_duration(value)
    except DurationError:
        shown = value.replace(CODE, "...").replace(STRUCK, "...").replace("`", "'")[:_SHOWN]
        warnings.append(f"the estimate `{shown}` cannot be read; write {RIGHT_FORM}")
        return None
    if not duration:
        warnings.append(f"an estimate of nothing is not counted; write {RIGHT_FORM}")
        return None
    return duration


def _body_values(body: str | None) -> list[str]:
    """What stands behind `Estimate:` on live lines, without bold marks and a full stop; empty form fields left out."""
    matches = (_LINE.match(line.text) for line in live_lines(body))
    values = (match["value"].strip(" *_.") for match in matches if match)
    return [value for value in values if value.casefold() not in _EMPTY]
