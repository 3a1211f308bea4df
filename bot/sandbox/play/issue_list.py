"""The issue list of `cf sandbox --issues FILE.yml`: what is opened, what waits for what, and what the scripted maintainer does.

- title: Add a login page
id: login                # optional, to be named in needs
body: Where the name and the password go.
labels: [area:web]       # without a status label, `cf:ready` is added once all issues are open
- title: Send a welcome mail
needs: [login, 3]        # ids, or places in this file; written into the body as `Depends on #1, #3`
blocked_by: [1]          # the same as a native edge
answer: Use SMTP.        # what the maintainer replies if the agent asks
close_after: 10s         # closed as not planned, so long after its agent began
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from bot.model.errors import UsageError
from bot.notation.duration import DurationError, read_duration
from bot.notation.yamlfile import Value, read_yaml

_MOST = 500  # one page of a person's patience
_TITLE = 256  # GitHub's limit
_BODY = 60_000  # GitHub's is 65,536; the needs come on top
_LABEL = 50  # GitHub's limit


@dataclass(frozen=True, slots=True)
class IssuePlan:
    """One issue to open. `needs` and `blocked_by` are places in the list, from 1."""

    title: str
    body: str = ""
    id: str = ""
    labels: tuple[str, ...] = ()
    needs: tuple[int, ...] = ()
    blocked_by: tuple[int, ...] = ()
    answer: str = ""
    close_after: timedelta | None = None
    line: int = 1


def load_issues(path: Path) -> tuple[IssuePlan, ...]:
    """Read the file. Raises UsageError: it cannot be read, or what `read_issues` says."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: cannot be read: it is not UTF-8") from error
    return read_issues(text, str(path))


def read_issues(text: str, file: str) -> tuple[IssuePlan, ...]:
    """Read the list. Raises UsageError naming file, line, what was found and what would be right."""
    document = read_yaml(text, file)
    if not isinstance(document.raw, list) or not document.raw:
        document.fail("must be a list with at least one issue, such as `- title: Add a login page`")
    if len(document.raw) > _MOST:
        raise UsageError(f"{file}: must hold at most {_MOST} issues, found {len(document.raw)}")
    entries = _entries(document)
    drafts = [_draft(entry) for entry in entries]
    places = _places(drafts, entries)
    return tuple(
        replace(draft, needs=_named("needs", entry, places), blocked_by=_named("blocked_by", entry, places))
        for draft, entry in zip(drafts, entries, strict=True)
    )


def _entries(document: Value) -> list[Value]:
    """The list's entries, called as people count them: `issue 1` is the first."""
    lines = {(_name(path[0]), *path[1:]): line for path, line in document.lines.items() if path}
    return [Value(raw, document.file, (_name(index),), lines) for index, raw in enumerate(document.raw)]


def _name(index: str | int) -> str:
    return f"issue {int(index) + 1}"


def _draft(entry: Value) -> IssuePlan:
    if not isinstance(entry.raw, dict):
        entry.fail("must be an issue with at least a title, such as `title: Add a login page`")
    fields = {key: found for key, child in entry.items(_FIELDS) if (found := _FIELDS[key](child)) is not None}
    if "title" not in fields:
        raise UsageError(f"{entry.file}, line {entry.line}: {entry.name}: must have the key 'title'")
    return IssuePlan(line=entry.line, **fields)  # type: ignore[arg-type]


def _title(value: Value) -> str:
    if isinstance(value.raw, str) and (len(value.raw) > _TITLE or "\n" in value.raw.strip()):
        value.fail(f"must be one line of at most {_TITLE} characters")
    return value.text().strip()


def _text(value: Value) -> str:
    text = value.text()
    if len(text) > _BODY:
        value.fail(f"must be at most {_BODY} characters")
    return text


def _label(value: Value) -> str:
    if isinstance(value.raw, str) and len(value.raw) > _LABEL:
        value.fail(f"must be at most {_LABEL} characters")
    return value.text()


def _id(value: Value) -> str:
    if not isinstance(value.raw, str) or not value.raw.replace("-", "").replace("_", "").isalnum():
        value.fail("must be a name of letters, digits, dashes and underscores")
    if value.raw.isdecimal():
        value.fail("must not be a number: numbers are places in the file")
    return value.raw


def _span(value: Value) -> timedelta:
    try:
        return read_duration(value.raw)
    except DurationError:
        value.fail("must be a duration like 5s or 2m")


def _later(_: Value) -> None:
    """Needs are read once every id is known."""


_FIELDS: Mapping[str, Callable[[Value], object]] = {
    "title": _title,
    "body": _text,
    "id": _id,
    "labels": lambda value: value.each(_label),
    "needs": _later,
    "blocked_by": _later,
    "answer": _text,
    "close_after": _span,
}


def _places(drafts: list[IssuePlan], entries: list[Value]) -> Mapping[str, int]:
    places: dict[str, int] = {}
    for place, (draft, entry) in enumerate(zip(drafts, entries, strict=True), start=1):
        if draft.id in places:
            value = _child(entry, "id")
            assert value is not None
            value.fail(f"must be an id of its own: issue {places[draft.id]} has it already")
        if draft.id:
            places[draft.id] = place
    return {**{str(place): place for place in range(1, len(drafts) + 1)}, **places}


def _named(key: str, entry: Value, places: Mapping[str, int]) -> tuple[int, ...]:
    value = _child(entry, key)
    if value is None:
        return ()
    named = [value] if isinstance(value.raw, int) and not isinstance(value.raw, bool) else value.entries()
    return tuple(dict.fromkeys(_place(one, places) for one in named))


def _place(value: Value, places: Mapping[str, int]) -> int:
    """A place in the file, an id, or a place written as people do: `#3`."""
    if isinstance(value.raw, bool) or not isinstance(value.raw, int | str):
        value.fail("must be the number or the id of an issue in this file")
    found = places.get(str(value.raw).removeprefix("#"))
    if found is None:
        ids = [name for name in places if not name.isdecimal()]
        known = f"1 to {len(places) - len(ids)}" + (f", {', '.join(ids)}" if ids else "")
        value.fail(f"must be the number or the id of an issue in this file ({known})")
    return found


def _child(entry: Value, key: str) -> Value | None:
    return next((child for name, child in entry.items() if name == key), None)
