"""The task list of an order: numbers and ranges, labels, milestones, and all that is ready."""

import re
from collections.abc import Iterator

from msgspec import Struct

from bot.model.errors import UsageError
from bot.notation.quoting import quote_line

MOST_TASKS = 500
"""Members of one batch. The batch issue's table must fit GitHub's 65,536 characters."""

_WORD = re.compile(r"""[\s,]*((?:[A-Za-z]+:(?:"[^"]*"|'[^']*'|[^\s,]*))|[^\s,]+)""")
_NUMBER = re.compile(r"#?([1-9][0-9]{0,9})", re.ASCII)
_RANGE = re.compile(r"#?([1-9][0-9]{0,9})-#?([1-9][0-9]{0,9})", re.ASCII)


class Numbers(Struct, frozen=True):
    numbers: tuple[int, ...]


class Labelled(Struct, frozen=True):
    """Every open issue with this label."""

    label: str


class InMilestone(Struct, frozen=True):
    milestone: str


class AllReady(Struct, frozen=True):
    """Every approved task that is labelled ready when the order is written."""


Term = Numbers | Labelled | InMilestone | AllReady


def read_tasks(text: str) -> tuple[Term, ...]:
    """Read `12 14-18 #20`, `label:x`, `milestone:"two words"` and `ready`, parted by blanks or commas, in the order written.

    Raises UsageError naming every part that cannot be read, and when nothing is named or too much is.
    """
    terms: list[Term] = []
    problems: list[str] = []
    for word in _words(text):
        term = _term(word)
        if isinstance(term, str):
            problems.append(term)
        else:
            terms.append(term)
    if problems:
        raise UsageError(f"tasks: {'; '.join(problems)}. {_RIGHT_FORM}")
    if not terms:
        raise UsageError(f"tasks: the list is empty. {_RIGHT_FORM}")
    named = sum(len(term.numbers) for term in terms if isinstance(term, Numbers))
    if named > MOST_TASKS:
        raise UsageError(f"tasks: {named} numbers are named; one batch holds at most {MOST_TASKS}")
    return tuple(terms)


_RIGHT_FORM = "Write numbers and ranges like `12 14-18 #20`, `label:x`, `milestone:y`, or `ready`"


def _words(text: str) -> Iterator[str]:
    return (match[1] for match in _WORD.finditer(text) if match[1])


def _term(word: str) -> Term | str:
    """The term, or what is wrong with the word."""
    if number := _NUMBER.fullmatch(word):
        return Numbers((int(number[1]),))
    if span := _RANGE.fullmatch(word):
        first, last = int(span[1]), int(span[2])
        if first > last:
            return f"`{shown(word)}` runs backwards; write {last}-{first}"
        if last - first >= MOST_TASKS:
            return f"`{shown(word)}` names {last - first + 1} numbers; one batch holds at most {MOST_TASKS}"
        return Numbers(tuple(range(first, last + 1)))
    if word.casefold() == "ready":
        return AllReady()
    kind, colon, value = word.partition(":")
    name = value.strip("\"'").strip()
    if colon and kind.casefold() in ("label", "milestone"):
        if not name:
            return f"`{shown(word)}` names no {kind.casefold()}"
        return Labelled(name) if kind.casefold() == "label" else InMilestone(name)
    return f"`{shown(word)}` is neither a number nor a range"


def shown(text: str) -> str:
    """Foreign text inside one of our own sentences."""
    return quote_line(text, 60).replace("`", "'")
