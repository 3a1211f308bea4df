"""Durations as people write them: `90s`, `30m`, `1h30m`, `2d`."""

import re
from datetime import timedelta

RIGHT_FORM = "a duration with units, such as 90s, 30m, 1h30m or 2d"
LONGEST = timedelta(days=3650)

_DURATION = re.compile(
    r"(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?", re.IGNORECASE
)
_SHOWN = 40  # characters of a wrong value in its message


class DurationError(ValueError):
    """The value is no duration; the message names it and the right form."""


def read_duration(value: object) -> timedelta:
    """The duration that a text means, blanks around it ignored.

    A number without a unit is refused, since nobody can tell seconds from minutes; only 0 needs none. Raises
    `DurationError`, also for anything longer than ten years.
    """
    if value == 0 and not isinstance(value, bool):
        return timedelta(0)
    if not isinstance(value, str):
        raise DurationError(_wrong(value, "has no unit" if _is_number(value) else "is no duration"))
    text = value.strip()
    if text == "0":
        return timedelta(0)
    match = _DURATION.fullmatch(text)
    if match is None or not text:
        raise DurationError(_wrong(value, "has no unit" if text.isdecimal() else "is no duration"))
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if total > LONGEST.total_seconds():
        raise DurationError(f"{_shown(value)} is longer than {LONGEST.days}d; write {RIGHT_FORM}")
    return timedelta(seconds=total)


def write_duration(duration: timedelta) -> str:
    """The shortest notation, whole seconds, read back as the same duration. Raises `ValueError` if it is negative."""
    if duration < timedelta(0):
        raise ValueError(f"a duration cannot be negative: {duration}")
    minutes, seconds = divmod(duration.days * 86400 + duration.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "m"), (seconds, "s"))
    return "".join(f"{count}{unit}" for count, unit in parts if count) or "0s"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: object) -> str:
    # the text of a huge int must not be made at all: Python refuses it
    text = "this number" if isinstance(value, int) and abs(value) > 10**_SHOWN else repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _wrong(value: object, what: str) -> str:
    return f"{_shown(value)} {what}; write {RIGHT_FORM}"
