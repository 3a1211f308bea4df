"""The agent's question, as it writes it to `.cf/question.md`.

The text comes first; then, if there are alternatives, one a line as `A. SQLite`, `B. PostgreSQL`; then `Tried:` and what
it tried.
"""

import re

from bot.model.report import Question
from bot.notation.sanitise import sanitise

_OPTION = re.compile(r"\s{0,3}(?:[-*+] )?[*_]{0,2}([A-Za-z])[.):][*_]{0,2}\s+(\S.*)")
_TRIED = re.compile(
    r"\s{0,3}(?:#{1,6} *)?[*_]{0,2}(?:what (?:i|was|it) )?tried[*_]{0,2}:?[*_]{0,2}(?:\s+(.*))?$",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"\s{0,3}(?:#{1,6} *)?[*_]{0,2}(?:question|options)[*_]{0,2}:?[*_]{0,2}\s*$", re.IGNORECASE
)
_TEXT, _EACH, _MOST = 4_000, 300, 8


def read_question(text: str) -> Question | None:
    """The question in an agent's file, or None if it says nothing. Options count from two on, lettered A, B, C in order."""
    words: list[str] = []
    tried: list[str] = []
    options: list[str] = []
    part = words
    for line in sanitise(text).splitlines():
        option = _OPTION.match(line)
        if (match := _TRIED.match(line)) is not None:
            part = tried
            part.extend([match[1]] if match[1] else [])
        elif (
            option is not None and ord(option[1].upper()) - ord("A") == len(options) < _MOST and part is words
        ):
            options.append(option[2].strip()[:_EACH])
        elif _HEADING.match(line) is None:
            part.append(line)
    if len(options) == 1:
        words.append(options.pop())
    asked = "\n".join(words).strip()[:_TEXT]
    if not asked and not options:
        return None
    return Question(asked or "Which of these?", tuple(options), "\n".join(tried).strip()[:_TEXT])
