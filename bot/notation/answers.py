"""What a reply to a question says."""

import re
from collections.abc import Iterator, Sequence
from enum import Enum

from msgspec import Struct

from bot.notation.text import CODE, STRUCK, read_lines

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTER = re.compile(r"([A-Za-z])(?:[.):](?=\s|\Z)|\Z)", re.ASCII)
_ADDRESSED = re.compile(r"[*_~]*@[A-Za-z0-9]")
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_MARKS = "*_~"  # emphasis around a word is not part of it
_ORDER = re.compile(r"/cf(?:\s+(answer)(?:\s+(.*))?)?(?=\s|\Z)", re.IGNORECASE | re.DOTALL)


class NotAnAnswer(Enum):
    """Why a reply does not answer. A counter-question earns one hint; the other kinds are simply no answer."""

    QUESTION = "it ends in a question mark"
    ADDRESSED = "it addresses somebody else"
    UNCLEAR = "it names none of the options"
    EMPTY = "it says nothing"


class Reply(Struct, frozen=True):
    """The answer's words; with options, the option itself."""

    text: str


class _Said(Struct, frozen=True):
    """One line of a reply: as written, and without the marks of a list or heading. In code nothing is an order."""

    words: str
    plain: str
    in_code: bool = False

    @property
    def order(self) -> "re.Match[str] | None":
        return None if self.in_code else _ORDER.match(self.plain)


def read_answer(body: str, options: Sequence[str]) -> Reply | NotAnAnswer:
    """Read one comment. Quotes, hidden and struck-out text and lines that are orders (`/cf stop`) do not count; code does.

    Without options the whole statement is the answer. With options, a first line that is an option's letter (alone, or
    followed by `.`, `)` or `:`) or its text. What follows `/cf answer` is the answer in any case.
    """
    lines = list(_stated(body))
    ordered = [match for line in lines if (match := line.order)]
    given = [match[2].strip() for match in ordered if match[2] and match[2].strip()]
    if given:
        chosen = _choice(given[-1], options)
        return chosen if isinstance(chosen, Reply) else Reply("\n".join(given))
    lines = [line for line in lines if not line.order]
    if not lines:
        return NotAnAnswer.EMPTY
    if _ADDRESSED.match(lines[0].plain):
        return NotAnAnswer.ADDRESSED
    if lines[-1].plain.rstrip(_MARKS).endswith(_QUESTION_MARKS):
        return NotAnAnswer.QUESTION
    if not options:
        return Reply("\n".join(line.words for line in lines))
    return _choice(lines[0].plain, options)


def _stated(body: str) -> Iterator[_Said]:
    """The lines that the author says, code among them: a quoted line begins with `>`, a struck-out one is taken back."""
    # Its patterns take long to compile, and few ticks read an answer.
    from bot.notation.sanitise import sanitise

    for line in read_lines(sanitise(body)):
        raw = line.raw.strip()
        if line.live and STRUCK in line.text:
            kept = line.text.replace(STRUCK, "").replace(CODE, "").strip()
            yield _Said(kept, kept)
        elif line.live:
            yield _Said(raw, raw if CODE in line.text else line.text)
        elif raw and not raw.startswith((">", "~", "<del", "<s>")):
            yield _Said(raw, raw, in_code=True)


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
