"""`.github/cf.yml` read into a `Config`. Every key is known by this table, has a range, and is refused outside it."""

import re
import shlex
from collections.abc import Mapping
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from bot.model.config import (
    CONFIG_PATH,
    Blockers,
    Brakes,
    Budget,
    Config,
    Dependencies,
    Dispatch,
    EngineConfig,
    Hooks,
    Models,
    Publish,
    Retry,
    Spending,
    Stall,
    SupervisorRule,
    Trust,
)
from bot.model.engine import ADDRESS, ALIASES, ENGINES, RENAMED, WORD
from bot.model.errors import UsageError
from bot.model.event import EVENTS
from bot.model.status import Status
from bot.model.unit import Gate, Kind, verify_legs
from bot.notation.bystatus import NotALimit, idle_names, read_by_status
from bot.notation.duration import DurationError, read_duration
from bot.notation.phrases import read_phrase
from bot.notation.readers import (
    FLAG,
    TEXT,
    TEXTS,
    Reader,
    choice,
    default_of,
    listed,
    mapped,
    mapped_freely,
    reads,
    some_texts,
)
from bot.notation.yamlfile import Value, read_yaml

_JOBS_PER_RUN = 256  # GitHub's limit of jobs in one workflow run
_JOBS_PER_UNIT = 3  # the leg itself, agent, publish; verify legs come on top

# Keys of the full design whose feature does not exist yet: a switch without effect would be a lie.
_NOT_YET = frozenset("unit testing".split())

_ENGINE_NAMES = tuple(sorted({*ENGINES, *ALIASES}))
_RENAMED_ENGINES = {
    "react": "mini-swe-agent",
    "plan": "mini-swe-agent",
    "cloud": "runner labels with any engine",
}

_PREFIX_LINE = re.compile(
    r"^prefix[ \t]{0,9}:[ \t]{0,9}[\"']?([A-Za-z0-9_-]{1,20})[\"']?[ \t]{0,9}(?:#.*)?$", re.MULTILINE
)


@lru_cache(maxsize=2)  # a conductor that lingers or runs for ever looks at the same file again and again
def read_config(text: str | None, blob: str = "", file: str = CONFIG_PATH) -> Config:
    """Read the file's text; None (no file) is the defaults. `blob` is its git blob id, kept in the result.
    `file` is what errors call it.

    Raises UsageError naming file, line, key, what was found and what would be right.
    """
    if text is None:
        return Config(blob=blob)
    document = read_yaml(text, file)
    fields: dict[str, Any] = {}
    for key, value in _entries(document, _TOP):
        fields |= _TOP[key](value)
    config = replace(Config(blob=blob), **fields)
    _check_whole(config, document)
    return config


def config_schema() -> dict[str, Any]:
    """The file's JSON Schema, made from the readers. Only they can say the ranges of durations and that a name stands once."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"cf-conductor: {CONFIG_PATH}",
        **mapped(_TOP),
    }


def guess_prefix(text: str) -> str:
    """The prefix that a file names which cannot be read as a whole; empty if none is to be seen. Never raises."""
    found = _PREFIX_LINE.search(text)
    return found[1] if found else ""


def _entries(value: Value, table: Mapping[str, Reader]) -> list[tuple[str, Value]]:
    for key, child in value.items(None if isinstance(value.raw, dict) else table):
        if child.name in _NOT_YET and key not in table:
            raise UsageError(
                f"{child.file}, line {child.line}: {child.name!r} has no effect yet in this version; remove it"
            )
    return list(value.items(table))


def _duration(low: timedelta, high: timedelta) -> Reader:
    def read(value: Value) -> timedelta:
        try:
            found: timedelta | None = read_duration(value.raw)
        except DurationError:
            found = None
        if found is None or not low <= found <= high:
            value.fail(f"must be a duration like 30s, 10m or 2h, from {_short(low)} to {_short(high)}")
        return found

    words = f"a duration like 30s, 10m or 2h, from {_short(low)} to {_short(high)}"
    written: dict[str, Any] = {"type": "string", "pattern": _DURATION}
    taken = written if low else {"anyOf": [written, {"const": 0}]}
    return Reader(read, {"description": words, **taken})


def _short(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    return f"{seconds}s" if seconds % 60 or not seconds else f"{seconds // 60}m"


def _integer(low: int, high: int) -> Reader:
    return Reader(
        lambda value: value.integer(low, high), {"type": "integer", "minimum": low, "maximum": high}
    )


def _section(kind: type[Any], table: Mapping[str, Reader]) -> Reader:
    def read(value: Value) -> Any:
        return kind(**{key: table[key](child) for key, child in _entries(value, table)})

    return Reader(read, mapped(_with_defaults(table, kind)))


def _with_defaults(
    table: Mapping[str, Reader], kind: type[Any], names: Mapping[str, str] | None = None
) -> dict[str, Reader]:
    """The readers, each with the default of the field of `kind` that it fills (by `names`, where it is called otherwise)."""
    return {
        key: replace(read, default=default_of(kind, names[key] if names else key))
        for key, read in table.items()
    }


def _as(name: str, read: Reader) -> Reader:
    """A key that fills this field of the configuration."""
    return Reader(lambda value: {name: read(value)}, read.schema, default_of(Config, name))


def _renamed(table: Mapping[str, tuple[str, Reader]]) -> Reader:
    """A section whose keys are fields of the configuration itself, under other names."""
    readers = {key: read for key, (_, read) in table.items()}

    def read(value: Value) -> dict[str, Any]:
        return {table[key][0]: readers[key](child) for key, child in _entries(value, readers)}

    named = {key: name for key, (name, _) in table.items()}
    return Reader(read, mapped(_with_defaults(readers, Config, named)))


# At least one part, in this order; blanks around it are ignored.
_DURATION = "^\\s*(?=[0-9])(0|([0-9]{1,9}[dD])?([0-9]{1,9}[hH])?([0-9]{1,9}[mM])?([0-9]{1,9}[sS])?)\\s*$"
_SECOND, _HOUR = timedelta(seconds=1), timedelta(hours=1)
_ZERO = timedelta(0)


@reads({"type": "string", "pattern": "^[^\\W_][\\w .-]{0,49}$"})
def _name(value: Value) -> str:
    """A gate's name: it becomes part of job and file names, so it stays plain."""
    text = value.text()
    if len(text) > 50 or not all(char.isalnum() or char in " ._-" for char in text) or not text[0].isalnum():
        value.fail("must be a name of at most 50 letters, digits, spaces, dots, dashes and underscores")
    return text


def _read_gate(value: Value) -> Gate:
    fields = {key: _GATE[key](child) for key, child in _entries(value, _GATE)}
    for key in ("name", "run"):
        if key not in fields:
            value.fail(f"must have the key {key!r}")
    return Gate(**fields)


_GATE: Mapping[str, Reader] = {
    "name": _name,
    "run": TEXT,
    "timeout": _duration(_SECOND, 6 * _HOUR),
    "os": some_texts,
    "own_job": FLAG,
}
_GATE_SCHEMA = mapped(_with_defaults(_GATE, Gate), required=("name", "run"))


@reads({"type": ["array", "null"], "items": _GATE_SCHEMA})
def _gates(value: Value) -> tuple[Gate, ...]:
    if isinstance(value.raw, str | dict):
        value.fail("must be a list, such as `- {name: tests, run: make test}`")
    gates = value.each(_read_gate)
    names = [gate.name for gate in gates]
    for name in names:
        if names.count(name) > 1:
            value.fail(f"must have each name once, and {name!r} stands twice")
    return gates


@reads({"enum": [*_ENGINE_NAMES]})
def _engine(value: Value) -> str:
    name = value.text()
    if name in RENAMED:
        value.fail(f"must be an engine of today: for {name!r} use {RENAMED[name]}")
    known = value.choice(*_ENGINE_NAMES)
    return ALIASES.get(known, known)


@reads(
    mapped_freely(TEXT.schema, {"pattern": "^(?!CF_|GITHUB_|ACTIONS_|RUNNER_)(?=_*[^\\W_])[^\\W\\d]\\w*$"})
)
def _environment(value: Value) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, child in value.items():
        if (
            not key.replace("_", "").isalnum()
            or key[0].isdigit()
            or key.startswith(("CF_", "GITHUB_", "ACTIONS_", "RUNNER_"))
        ):
            child.fail(
                "must be named in letters, digits and underscores, and not begin with CF_, GITHUB_, ACTIONS_ or RUNNER_"
            )
        found[key] = child.text()
    return found


@reads({"type": "string", "pattern": f"^{ADDRESS.pattern}$"})
def _address(value: Value) -> str:
    text = value.text()
    if ADDRESS.fullmatch(text) is None:
        value.fail("must be an address like https://models.example.com/v1")
    return text


@reads({"type": "string", "pattern": "\\S"})
def _arguments(value: Value) -> str:
    """A command line, or arguments as a shell would split them."""
    text = value.text()
    try:
        shlex.split(text)
    except ValueError as error:
        value.fail(f"must be words as bash would read them: {error}")
    return text


@reads({"type": "string", "pattern": f"^{WORD.pattern}$"})
def _engine_word(value: Value) -> str:
    text = value.text()
    if WORD.fullmatch(text) is None:
        value.fail(
            "must be a name of letters, digits and any of . _ : / @ + -, such as anthropic/claude-sonnet-4-5"
        )
    return text


_ENGINE_CONFIG = _section(
    EngineConfig,
    {
        "args": _arguments,
        "env": _environment,
        "runner": TEXTS,
        "model": _engine_word,
        "provider": _engine_word,
        "base_url": _address,
        "install": TEXTS,
    },
)


@reads(mapped(dict.fromkeys(_ENGINE_NAMES, _ENGINE_CONFIG)))
def _engines(value: Value) -> dict[str, EngineConfig]:
    for name, child in value.items():
        if name in RENAMED:
            child.fail(f"must be an engine of today: for {name!r} use {RENAMED[name]}")
    found: dict[str, EngineConfig] = {}
    for name, child in _entries(value, dict.fromkeys(_ENGINE_NAMES, _ENGINE_CONFIG)):
        known = ALIASES.get(name, name)
        if known in found:
            child.fail(f"must stand once, and {name!r} is another name of {known!r}")
        found[known] = _ENGINE_CONFIG(child)
    return found


@reads(TEXT.schema)
def _phrase(value: Value) -> str:
    text = value.text()
    try:
        read_phrase(text)
    except ValueError as error:
        value.fail(str(error))
    return text


_ANSWER_MOST = 500


@reads({**TEXT.schema, "maxLength": _ANSWER_MOST})
def _short_answer(value: Value) -> str:
    text = value.text().strip()
    return text if len(text) <= _ANSWER_MOST else value.fail(f"must be at most {_ANSWER_MOST} characters")


_RULE: Mapping[str, Reader] = {
    "name": _name,
    "match": Reader(
        lambda value: value.each(_phrase) or value.fail("must name at least one phrase"), some_texts.schema
    ),
    "answer": _short_answer,
    "reason": TEXT,
    "unless": Reader(lambda value: value.each(_phrase), TEXTS.schema),
}


def _read_rule(value: Value) -> SupervisorRule:
    found = {key: _RULE[key](child) for key, child in _entries(value, _RULE)}
    for key in ("name", "match", "answer"):
        if key not in found:
            value.fail(f"must have the key {key!r}")
    return SupervisorRule(**{"reason": f"a rule of this repository, in {CONFIG_PATH}", **found})


@reads({"type": ["array", "null"], "items": mapped(_RULE, required=("name", "match", "answer"))})
def _rules(value: Value) -> tuple[SupervisorRule, ...]:
    return value.each(_read_rule)


def _duration_or_off(low: timedelta, high: timedelta) -> Reader:
    """A duration, for which `off` stands as 0 does."""
    read = _duration(low, high)
    taken = {"anyOf": [read.schema, {"enum": ["off", False]}]}
    return Reader(lambda value: _ZERO if value.raw is False or value.raw == "off" else read(value), taken)


@reads({"type": ["string", "null"], "pattern": "\\S"})
def _text_or_nothing(value: Value) -> str | None:
    return None if value.raw is None else value.text()


@reads({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,20}$"})
def _prefix(value: Value) -> str:
    text = value.text()
    if len(text) > 20 or not all(char.isascii() and (char.isalnum() or char in "-_") for char in text):
        value.fail("must be at most 20 letters, digits, dashes and underscores")
    return text


@reads(mapped_freely(_integer(0, 256).schema))
def _counts(value: Value) -> dict[str, int]:
    return {key: child.integer(0, 256) for key, child in value.items()}


_NAMES = "|".join(name for status in Status for name in (status.name, status.value))
_PAIR = f"({_NAMES})=(25[0-6]|2[0-4][0-9]|1[0-9]{{2}}|[0-9]{{1,2}})"


@reads(
    {
        "anyOf": [
            mapped_freely(_integer(0, 256).schema, {"pattern": f"^({_NAMES})$"}),
            {"type": "string", "pattern": f"^{_PAIR}(, *{_PAIR})*$"},
        ]
    }
)
def _by_status(value: Value) -> dict[str, Any]:
    try:
        limits = read_by_status(value.raw)
    except NotALimit as error:
        value.fail(str(error))
    idle = idle_names(limits)
    words = f"{value.file}, line {value.line}: {value.name}: nothing starts from {', '.join(idle)}, so that limit has no effect"
    return {"max_parallel_by_status": limits, "warnings": (words,) if idle else ()}


def _number(low: int, high: int) -> Reader:
    def read(value: Value) -> float:
        raw = value.raw
        if isinstance(raw, bool) or not isinstance(raw, int | float) or not low <= raw <= high:
            value.fail(f"must be a number from {low} to {high}")
        return raw

    return Reader(read, {"type": "number", "minimum": low, "maximum": high})


_SPENDING = _section(
    Spending,
    {"minutes": _number(0, 10**7), "tokens": _number(0, 10**13), "usd": _number(0, 10**7)},
)


_ACCOUNT = _integer(1, 2**53)


@reads({"type": ["array", "null"], "items": _ACCOUNT.schema})
def _account_ids(value: Value) -> tuple[int, ...]:
    return value.each(_ACCOUNT)


@reads({"const": "closed"})
def _closed_only(value: Value) -> str:
    if value.raw == "done":
        value.fail("must be closed until stacked branches exist")
    return value.choice("closed")


# Ten minutes less than GitHub gives a job: setting up, checking out and keeping the work need some of it.
_WALL = _duration(_SECOND, timedelta(minutes=350))


_WALL_BY_KIND = {kind.value: _WALL for kind in (Kind.CODE, Kind.GATE)}


@reads({"anyOf": [_WALL.schema, {**mapped(_WALL_BY_KIND), "type": "object"}]})
def _timeout(value: Value) -> dict[str, Any]:
    """One duration for every kind of unit, or a mapping of kinds."""
    if not isinstance(value.raw, dict):
        return {"timeout": _WALL(value)}
    return {"timeout_by_kind": {Kind(key): _WALL(child) for key, child in value.items(_WALL_BY_KIND)}}


@reads(listed({"type": "string", "pattern": "^[a-z_.*?]{1,60}$"}))
def _event_patterns(value: Value) -> tuple[str, ...]:
    """Names of events; `*` stands for any letters. Each must mean at least one that there is."""

    def read(entry: Value) -> str:
        pattern = entry.text()
        if not any(fnmatchcase(name, pattern) for name in EVENTS):
            kinds = sorted({f"{name.partition('.')[0]}.*" for name in EVENTS})
            entry.fail(f"must be an event of docs/telling.md or a pattern of some, like {', '.join(kinds)}")
        return pattern

    return value.each(read)


@reads({"type": "integer", "const": 1})
def _version(value: Value) -> dict[str, Any]:
    return {} if type(value.raw) is int and value.raw == 1 else value.fail("must be 1")


_TOP: Mapping[str, Reader] = {
    "version": _version,
    "prefix": _as("prefix", _prefix),
    "engine": _as("engine", _engine),
    "engines": _as("engines", _engines),
    "model": _as("model", _engine_word),
    "runner": _as("runner", some_texts),
    "setup": _as("setup", TEXTS),
    "gates": _as("gates", _gates),
    "corrections": _as("corrections", _integer(0, 20)),
    "baseline": _as("baseline", FLAG),
    "start": _as("start", choice("auto", "manual")),
    "isolation": _as("isolation", choice("branch", "worktree")),
    "timeout": _timeout,
    "stall": _as(
        "stall",
        _section(
            Stall,
            {
                "timeout": _duration(_ZERO, 6 * _HOUR),
                "action": choice("blocker", "retry", "fail"),
            },
        ),
    ),
    "max_parallel": _as("max_parallel", _integer(0, 256)),
    "max_parallel_by_label": _as("max_parallel_by_label", _counts),
    "max_parallel_by_status": _by_status,
    "limits": _renamed({"total": ("total", _integer(0, 256))}),
    "dispatch": _as(
        "dispatch",
        _section(
            Dispatch,
            {
                "units_per_run": _integer(1, 85),
                "launch_grace": _duration(timedelta(minutes=1), timedelta(hours=24)),
            },
        ),
    ),
    "order": _as("order", choice("critical-path", "score")),
    "priority": _renamed(
        {"labels": ("priority_prefix", TEXT), "default": ("priority_default", _integer(0, 9))}
    ),
    "category": _renamed({"prefix": ("category_prefix", TEXT)}),
    "dependencies": _as(
        "dependencies",
        _section(
            Dependencies,
            {
                "keywords": TEXTS,
                "native": FLAG,
                "sub_issues": FLAG,
                "sync": choice("none", "native"),
                "satisfied_by": _closed_only,
            },
        ),
    ),
    "retry": _as(
        "retry",
        _section(
            Retry,
            {
                "max_attempts": _integer(1, 100),
                "backoff": _duration(_ZERO, _HOUR),
                "max_backoff": _duration(_ZERO, 24 * _HOUR),
                "interruptions": _integer(1, 100),
            },
        ),
    ),
    "brakes": _as(
        "brakes",
        _section(
            Brakes,
            {
                "no_progress": _integer(2, 20),
                "attempts": _integer(1, 10_000),
                "minutes": _number(1, 10**7),
                "tokens": _number(1, 10**13),
            },
        ),
    ),
    "budget": _as("budget", _section(Budget, dict.fromkeys(("attempt", "task", "day"), _SPENDING))),
    "merge": _as("merge", choice("manual", "auto")),
    "publish": _as(
        "publish",
        _section(
            Publish,
            {"max_files": _integer(1, 3000), "max_bytes": _integer(1, 100_000_000), "protected": TEXTS},
        ),
    ),
    "reconcile": _renamed(
        {
            "interval": ("reconcile_interval", _duration(_ZERO, _HOUR)),
            "force_after": ("force_after", _duration(timedelta(minutes=1), _HOUR)),
        }
    ),
    "linger": _as("linger", _duration(_ZERO, timedelta(minutes=30))),
    "trust": _as(
        "trust",
        _section(
            Trust,
            {
                "permission": choice("triage", "write", "maintain", "admin"),
                "ignore": TEXTS,
                "apps": TEXTS,
                "authors": choice("any", "writers"),
            },
        ),
    ),
    "models": _as("models", _section(Models, {"supervisor": _text_or_nothing, "planning": _text_or_nothing})),
    "hooks": _as(
        "hooks",
        _section(
            Hooks,
            {
                "before_task": _text_or_nothing,
                "after_task_success": _text_or_nothing,
                "after_task_failure": _text_or_nothing,
                "timeout": _duration(_SECOND, _HOUR),
            },
        ),
    ),
    "supervisor": _as("supervisor", choice("rules", "llm", "off")),
    "supervisor_rules": _as("supervisor_rules", _rules),
    "inference": _renamed({"apply": ("inference", choice("ask", "auto"))}),
    "shared_fixes": _as("shared_fixes", choice("propose", "auto", "off")),
    "blockers": _as(
        "blockers",
        _section(
            Blockers,
            {
                "remind": _duration_or_off(_ZERO, timedelta(days=60)),
                "escalate": _duration_or_off(_ZERO, timedelta(days=60)),
                "escalate_to": TEXTS,
            },
        ),
    ),
    "identity": _renamed({"also": ("also", _account_ids)}),
    "dashboard": _as("dashboard", FLAG),
    "webhook": _renamed({"events": ("webhook_events", _event_patterns)}),
}


def _check_whole(config: Config, document: Value) -> None:
    if config.dependencies.sync == "native" and not config.dependencies.native:
        line = document.lines.get(("dependencies", "sync"), 1)
        raise UsageError(
            f"{document.file}, line {line}: dependencies.sync: native needs dependencies.native: true, found false"
        )
    legs = len(verify_legs(config.gates))
    jobs = config.dispatch.units_per_run * (_JOBS_PER_UNIT + legs)
    if jobs > _JOBS_PER_RUN:
        line = document.lines.get(("dispatch", "units_per_run"), document.lines.get(("gates",), 1))
        raise UsageError(
            f"{document.file}, line {line}: dispatch.units_per_run: {config.dispatch.units_per_run} units x"
            f" (3 + {legs} verify legs) are {jobs} jobs in one run, GitHub allows {_JOBS_PER_RUN};"
            f" at most {_JOBS_PER_RUN // (_JOBS_PER_UNIT + legs)} units fit"
        )
