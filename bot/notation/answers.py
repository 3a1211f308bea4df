"""What a reply to a question says."""

import re
from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from bot.notation.commands import is_order, read_commands
from bot.notation.own_words import said_in
from bot.notation.phrases import words_of

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTER = re.compile(r"([A-Za-z])(?:[.):](?=\s|\Z)|\Z)", re.ASCII)
_ADDRESSED = re.compile(r"[*_~]*@[A-Za-z0-9]")
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_MARKS = "*_~"  # emphasis around a word is not part of it


class NotAnAnswer(Enum):
    """Why a reply does not answer. A counter-question earns one hint; the other kinds are simply no answer."""

    QUESTION = "it ends in a question mark"
    ADDRESSED = "it addresses somebody else"
    UNCLEAR = "it names none of the options"
    EMPTY = "it says nothing"


class Reply(Struct, frozen=True):
    """The answer's words; with options, the option itself."""

    text: str


def read_answer(body: str, options: Sequence[str], prefix: str = "cf") -> Reply | NotAnAnswer:
    """Read one comment. Quotes, hidden and struck-out text and lines that are orders (`/cf stop`) do not count; code does.

    Without options the whole statement is the answer. With options, a first line that is an option's letter (alone, or
    followed by `.`, `)` or `:`) or its text. What follows `/cf answer` is the answer in any case.
    """
    ordered = given_by_command(body, options, prefix)
    if isinstance(ordered, Reply):
        return ordered
    lines = [line for line in said_in(body) if line.in_code or not is_order(line.plain, prefix)]
    if not lines:
        return NotAnAnswer.EMPTY
    if _ADDRESSED.match(lines[0].plain):
        return NotAnAnswer.ADDRESSED
    if lines[-1].plain.rstrip(_MARKS).endswith(_QUESTION_MARKS):
        return NotAnAnswer.QUESTION
    if not options:
        return Reply("\n".join(line.words for line in lines))
    return _choice(lines[0].plain, options)


_AGREES = frozenset(
    "ok okay fine good great nice thanks thank you yes yep sure right correct agreed lgtm perfect looks sounds that s is works"
    " 1 cool".split()
)


def only_agrees(text: str) -> bool:
    """Whether the words say no more than that something is right."""
    return set(words_of(text)) <= _AGREES


def chosen(words: str, options: Sequence[str]) -> str:
    """What `/cf answer` words mean for these options: the one that their first line names, else the words themselves."""
    found = _choice(words.split("\n", 1)[0], options)
    return found.text if isinstance(found, Reply) else words


def given_by_command(body: str, options: Sequence[str], prefix: str = "cf") -> Reply | NotAnAnswer:
    """Read one comment where only `/cf answer` counts."""
    given = [
        command.text for command in read_commands(body, prefix) if command.name == "answer" and command.text
    ]
    if not given:
        return NotAnAnswer.UNCLEAR
    choice = _choice(given[-1].split("\n", 1)[0], options)
    return choice if isinstance(choice, Reply) else Reply("\n".join(given))


def _choice(line: str, options: Sequence[str]) -> Reply | NotAnAnswer:
    bare = _bare(line)
    for option in options:
        if bare and bare == _bare(option):
            return Reply(option)
    match = _LETTER.match(line.strip(_MARKS + "`"))
    index = _LETTERS.find(match[1].upper()) if match else -1
    return Reply(options[index]) if 0 <= index < len(options) else NotAnAnswer.UNCLEAR


def _bare(text: str) -> str:
    """An option's text as people repeat it: without emphasis, code marks, the last full stop and differences of case."""
    return " ".join(text.translate({ord(mark): None for mark in "*_~`"}).casefold().split()).rstrip(".")
