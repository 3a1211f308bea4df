"""The inputs of `cf-batch.yml` read into the parts of an order, every wrong one named."""

import re
from collections.abc import Mapping
from datetime import timedelta

from msgspec.structs import replace

from bot.model.batch import Order, Strategy
from bot.model.chosen import BatchOverrides
from bot.model.engine import ALIASES, ENGINES, RENAMED, WORD, EngineRequest
from bot.model.errors import UsageError
from bot.model.moment import Moment
from bot.notation.bystatus import STARTED_FROM, NotALimit, idle_names, read_by_status
from bot.notation.duration import DurationError, read_duration, write_duration
from bot.notation.quoting import quote_line
from bot.notation.tasklists import shown

_MOST = 256
_CHOICES = {
    "stall_action": ("blocker", "retry", "fail"),
    "isolation": ("branch", "worktree"),
    "merge": ("manual", "auto"),
    "blocked": ("wait", "end"),
}
_DURATIONS = {
    "stall_timeout": (timedelta(0), timedelta(hours=6)),
    "timeout": (timedelta(seconds=1), timedelta(minutes=350)),
    "reconcile": (timedelta(0), timedelta(hours=1)),
}
OPTIONS = tuple(sorted({*_CHOICES, *_DURATIONS, "max_parallel_by_status", "model", "provider"}))
"""Every option that an order may name beside its own inputs."""


def read_order(given: Mapping[str, str], run: int, by: str, at: Moment) -> Order:
    """The order, still without its tasks, from the inputs by name; what is not there has its default.

    Raises UsageError naming everything that is wrong.
    """
    problems: list[str] = []
    limit = _number(given, "max_parallel", "", 1, problems)
    order = Order(
        run,
        by,
        at,
        (),
        Strategy(_choice(given, "strategy", tuple(Strategy), problems) or Strategy.PARALLEL),
        max_parallel=limit,
        stop_on_failure=_choice(given, "on_failure", ("continue", "stop"), problems) == "stop",
        max_retries=_number(given, "max_retries", "0", 0, problems) or 0,
        dry_run=_choice(given, "dry_run", ("false", "true"), problems) == "true",
    )
    engine = _engine(given.get("engine", ""), problems)
    try:
        options = read_options(given.get("options", ""))
    except UsageError as error:
        problems.append(str(error))
        options = {}
    engine_request = EngineRequest(
        engine, _name(options, "provider", problems), _name(options, "model", problems)
    )
    order = _with_options(replace(order, engine_request=engine_request), options, problems)
    if problems:
        raise UsageError("; ".join(problems))
    return order


def read_options(text: str) -> Mapping[str, str]:
    """The options, one `key=value` a line; blank lines and `#` comments do not count.

    Raises UsageError naming every line that is malformed, unknown or given twice.
    """
    options: dict[str, str] = {}
    problems: list[str] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not key or not value:
            problems.append(f"line {number}, `{shown(line)}`, is not key=value")
        elif key not in OPTIONS:
            problems.append(
                f"line {number}: there is no option `{shown(key)}`; the options are {', '.join(OPTIONS)}"
            )
        elif key in options:
            problems.append(f"line {number}: `{key}` is given twice")
        else:
            options[key] = value
    if problems:
        raise UsageError(f"options: {'; '.join(problems)}")
    return options


def _with_options(order: Order, options: Mapping[str, str], problems: list[str]) -> Order:
    chosen = BatchOverrides(
        stall_timeout=_duration(options, "stall_timeout", problems),
        stall_action=_choice(options, "stall_action", _CHOICES["stall_action"], problems),
        timeout=_duration(options, "timeout", problems),
        isolation=_choice(options, "isolation", _CHOICES["isolation"], problems),
        merge=_choice(options, "merge", _CHOICES["merge"], problems),
        reconcile=_duration(options, "reconcile", problems),
    )
    by_status = _limits(options.get("max_parallel_by_status", ""), problems)
    blocked = _choice(options, "blocked", _CHOICES["blocked"], problems)
    return replace(order, chosen=chosen, max_parallel_by_status=by_status, end_blocked=blocked == "end")


def _limits(text: str, problems: list[str]) -> dict[str, int]:
    """Limits by what an attempt is started from, by the status' name."""
    try:
        limits = read_by_status(text or None)
    except NotALimit as error:
        problems.append(f"max_parallel_by_status {quote_line(str(error), 200)}")
        return {}
    if idle := idle_names(limits):
        names = ", ".join(status.name for status in STARTED_FROM)
        problems.append(
            f"max_parallel_by_status: nothing is started from {', '.join(idle)}, only from {names}"
        )
    return {str(status): most for status, most in limits.items()}


def _choice(given: Mapping[str, str], name: str, allowed: tuple[str, ...], problems: list[str]) -> str:
    value = given.get(name, "").lower()
    if value and value not in allowed:
        problems.append(f"{name} must be {' or '.join(allowed)} and is `{quote_line(given[name], 40)}`")
        return ""
    return value


def _engine(name: str, problems: list[str]) -> str:
    """An agent that exists here, by its own name."""
    name = name.lower()
    if name in RENAMED:
        problems.append(f"engine {name} is from an earlier product: use {RENAMED[name]}")
    elif name and ALIASES.get(name, name) not in ENGINES:
        problems.append(
            f"engine must be one of {', '.join((*ENGINES, *ALIASES))} and is `{quote_line(name, 40)}`"
        )
    return name


def _name(given: Mapping[str, str], name: str, problems: list[str]) -> str:
    value = given.get(name, "")
    if value and not WORD.fullmatch(value):
        problems.append(
            f"{name} must be a name of letters, digits and `._:/@+-` and is `{quote_line(value, 40)}`"
        )
        return ""
    return value


def _number(
    given: Mapping[str, str], name: str, otherwise: str, least: int, problems: list[str]
) -> int | None:
    value = given.get(name) or otherwise
    if not value:
        return None
    if not _is_number(value) or not least <= int(value) <= _MOST:
        problems.append(
            f"{name} must be a whole number from {least} to {_MOST} and is `{quote_line(value, 40)}`"
        )
        return None
    return int(value)


def _is_number(text: str) -> bool:
    return re.fullmatch("[0-9]{1,6}", text, re.ASCII) is not None


def _duration(given: Mapping[str, str], name: str, problems: list[str]) -> timedelta | None:
    if not given.get(name):
        return None
    low, high = _DURATIONS[name]
    try:
        found = read_duration(given[name])
    except DurationError:
        found = None
    if found is None or not low <= found <= high:
        problems.append(
            f"{name} must be a duration like 30s, 10m or 2h, from {write_duration(low)} to {write_duration(high)},"
            f" and is `{quote_line(given[name], 40)}`"
        )
        return None
    return found
