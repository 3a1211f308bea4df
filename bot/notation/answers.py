"""What a reply to a question says."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from bot.notation.text import live_lines

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class NotAnAnswer(Enum):
    """Why a reply does not answer. A counter-question earns one hint; the other kinds are simply no answer."""

    QUESTION = "it ends in a question mark"
    ADDRESSED = "it addresses somebody else"
    UNCLEAR = "it names none of the options"
    EMPTY = "it says nothing"


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer's words; with options, the option itself."""

    text: str


def read_answer(body: str, options: Sequence[str]) -> Reply | NotAnAnswer:
    """Read one comment. Quotes, code and hidden text do not count.

    Without options the whole statement is the answer. With options, a first line that is an option's letter (alone, or
    followed by `.`, `)` or `:`) or its text.
    """
    lines = [line.text.strip() for line in live_lines(body) if line.text.strip()]
    if not lines:
        return NotAnAnswer.EMPTY
    if lines[0].startswith("@"):
        return NotAnAnswer.ADDRESSED
    if lines[-1].endswith("?"):
        return NotAnAnswer.QUESTION
    if not options:
        return Reply("\n".join(lines))
    return _choice(lines[0], options)


def _choice(line: str, options: Sequence[str]) -> Reply | NotAnAnswer:
    letter = line[0].upper()
    rest = line[1:]
    index = _LETTERS.find(letter)
    if 0 <= index < len(options) and (not rest or rest[0] in ".):"):
        return Reply(options[index])
    wanted = line.casefold().rstrip(".")
    for option in options:
        if wanted == option.casefold().rstrip("."):
            return Reply(option)
    return NotAnAnswer.UNCLEAR
