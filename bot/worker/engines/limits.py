"""When a provider takes work again, as its programs put it: `resets 3pm (America/Bogota)`, `try again in 4 days 2 hours`.

The words were seen in public reports of Claude Code, Codex and Gemini's command line. A time without a date is the next one; one
without a zone is in the zone of this machine, because the program that says it runs here.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_LIMIT = re.compile(
    r"\bhit your [\w ,'-]{0,40}limit\b|\b(?:session|weekly|daily|monthly|hourly|\d+[ -]?hour|five[ -]?hour|usage|opus|sonnet|fable)"
    r"[ _]limit\b|\blimit reached\b.{0,20}\bresets?\b|\blimit will reset\b|\breached your [\w ,'-]{0,40}\blimit\b"
    r"|usage_limit_reached",
    re.IGNORECASE,
)
_NO_LIMIT = re.compile(r"\bcontext\b", re.IGNORECASE)  # a conversation that is too long is no matter of time

_WHEN = (
    r"(?:resets?|reset|try again|retry|available(?: again)?|renews?|refreshes)(?:[_ ](?:at|on))?[\"': ]{0,4}"
)
_UNIX = re.compile(r"(?:limit reached\||resets?_?at\"?[: ]{1,3})\"?(\d{10}|\d{13})\b", re.IGNORECASE)
_SECONDS = re.compile(r"resets?_in_seconds\"?[: ]{1,3}(\d{1,8})\b", re.IGNORECASE)
_ISO = re.compile(
    _WHEN + r"(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?)",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"(?:resets?|reset|try again|retry|wait|available)[^.\n]{0,40}?\b(?:in|after|for)[: ]{1,3}"
    r"((?:\d{1,6}(?:\.\d{1,6})?\s?(?:d|h|m|s|ms|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?)\b[ ,]{0,2}(?:and )?)+"
    r"|(?:\d{1,4}[dhms])+)",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s?(ms|d|h|m|s)", re.IGNORECASE)
_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAYS = "mon tue wed thu fri sat sun".split()
_CLOCK = r"(?:at )?(?:(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?::\d{2})?\s?(?P<half>[ap]\.?m\b\.?)?|(?P<word>noon|midnight))"
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
_DATE = rf"(?:{_MONTH}(?:,? (?P<year>\d{{4}}))?|(?P<weekday>{'|'.join(_DAYS)})[a-z]{{0,6}}|(?P<near>today|tomorrow))"
_ZONE = (
    r"(?:\s?\(?(?P<zone>[A-Za-z]+(?:/[A-Za-z0-9_+-]+)+|(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?|UTC|GMT|Z|[PMCE][SD]T|CES?T|BST|IST|JST)"
    r"\b\)?)?"
)
_NAMED = re.compile(
    _WHEN + rf"(?:{_DATE}(?:,? (?:at )?{_CLOCK})?|{_CLOCK.replace('?P<', '?P<only_')}){_ZONE}", re.IGNORECASE
)
_SHORT = {
    "pst": -8, "pdt": -7, "mst": -7, "mdt": -6, "cst": -6, "cdt": -5, "est": -5, "edt": -4, "utc": 0, "gmt": 0, "z": 0,
    "bst": 1, "cet": 1, "cest": 2, "ist": 5.5, "jst": 9,
}  # fmt: skip
_JUST_NOW = timedelta(minutes=10)  # a limit that has been lifted so short a time ago is not lifted tomorrow


def is_limit(text: str) -> bool:
    """Whether these words of a program say that a plan's limit is used up."""
    return _LIMIT.search(text) is not None and _NO_LIMIT.search(text) is None


def named_time(text: str, now: datetime) -> datetime | None:
    """When it ends, if the words say so. `now` carries the zone of this machine."""
    for found in _readings(text, now):
        if found is not None:
            return max(found, now)
    return None


def _readings(text: str, now: datetime) -> Iterator[datetime | None]:
    if match := _UNIX.search(text):
        yield datetime.fromtimestamp(int(match[1][:10]), UTC)
    if match := _SECONDS.search(text):
        yield now + timedelta(seconds=int(match[1]))
    if match := _ISO.search(text):
        yield _iso(match[1], now)
    if match := _SPAN.search(text):
        yield now + span_of(match[1])
    for match in _NAMED.finditer(text):
        yield _on_the_clock(match, now)


def span_of(words: str) -> timedelta:
    """`4 days 2 hours`, `3h20m10s`, `1.5s`."""
    return timedelta(
        seconds=sum(float(number) * _UNITS[unit.lower()] for number, unit in _PART.findall(words))
    )


def _iso(words: str, now: datetime) -> datetime | None:
    try:
        found = datetime.fromisoformat(words)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=now.tzinfo)


def _on_the_clock(match: "re.Match[str]", now: datetime) -> datetime | None:
    """A date, a time or both; None where the zone is not known or the words are no time."""
    parts = match.groupdict()
    zone = _zone(parts["zone"], now)
    clock = _clock(parts, "") or _clock(parts, "only_")
    dated = any(parts[name] for name in ("month", "weekday", "near"))
    if zone is None or (clock is None and not dated):
        return None
    here = now.astimezone(zone)
    hour, minute = clock or (0, 0)
    try:
        if not dated:
            return _next(here.replace(hour=hour, minute=minute, second=0, microsecond=0), here)
        on = _date(parts, here.date())
        return datetime(on.year, on.month, on.day, hour, minute, tzinfo=zone)
    except ValueError:
        return None


def _next(found: datetime, here: datetime) -> datetime:
    return found if found >= here - _JUST_NOW else found + timedelta(days=1)


def _clock(parts: "dict[str, str | None]", prefix: str) -> tuple[int, int] | None:
    word, hour, minute, half = (parts[f"{prefix}{name}"] for name in ("word", "hour", "minute", "half"))
    if word:
        return (12 if word.lower() == "noon" else 0), 0
    if hour is None or (minute is None and not half):
        return None  # a bare number is no time
    number = int(hour) % 12 + 12 * (half[0].lower() == "p") if half else int(hour)
    return (number, int(minute or 0)) if number < 24 and int(hour) <= (12 if half else 23) else None


def _date(parts: "dict[str, str | None]", today: date) -> date:
    """Raises ValueError for the 31st of February."""
    if near := parts["near"]:
        return today + timedelta(days=near.lower() == "tomorrow")
    if weekday := parts["weekday"]:
        ahead = (_DAYS.index(weekday.lower()) - today.weekday()) % 7
        return today + timedelta(days=ahead)
    month, day, year = (
        _MONTHS.index((parts["month"] or "").lower()) + 1,
        int(parts["day"] or 0),
        parts["year"],
    )
    found = date(int(year) if year else today.year, month, day)
    return found.replace(year=found.year + 1) if not year and (today - found).days > 1 else found


def _zone(name: str | None, now: datetime) -> tzinfo | None:
    if not name:
        return now.tzinfo
    if name.lower() in _SHORT:
        return timezone(timedelta(hours=_SHORT[name.lower()]))
    if match := re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?", name, re.IGNORECASE):
        ahead = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        return timezone(-ahead if match[1] == "-" else ahead) if ahead < timedelta(hours=24) else None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
