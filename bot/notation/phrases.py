"""Phrases that a question is searched for: whole words in order, never parts of words, in time linear in the question.

A phrase is words with blanks between them: `virtual environment`. `a|b` is either word, `delet*` any word that begins so, and
`...` leaves room for up to six words. There is nothing else, so no phrase can be slow or mean more than it shows.
"""

import re
import unicodedata

from msgspec import Struct

from bot.notation.text import visible

_GAP = 6
_MOST_WORDS = 12
_SHORTEST_STEM = 3
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Step(Struct, frozen=True):
    """One word of a phrase: any of `words`, or one that begins with a stem, at most `gap` words after the one before it."""

    words: frozenset[str]
    stems: tuple[str, ...]
    gap: int

    def takes(self, word: str) -> bool:
        return word in self.words or word.startswith(self.stems)


Phrase = tuple[Step, ...]


def read_phrase(text: str) -> Phrase:
    """Read a phrase. Raises ValueError saying what would be right."""
    steps: list[Step] = []
    gap = 0
    for part in text.split():
        if part == "...":
            gap = _GAP
            continue
        steps.append(_step(part, gap if steps else 0))
        gap = 0
    if not steps or gap:
        raise ValueError("must hold words, and not end in ...")
    if len(steps) > _MOST_WORDS:
        raise ValueError(f"must hold at most {_MOST_WORDS} words")
    return tuple(steps)


def _step(part: str, gap: int) -> Step:
    words: set[str] = set()
    stems: list[str] = []
    for choice in part.split("|"):
        stem = choice.removesuffix("*")
        if words_of(stem) != (stem.casefold(),):
            raise ValueError(
                "must be words of letters and digits, with a|b for either, a* for a beginning and ... for a gap;"
                f" {part!r} is none"
            )
        if stem == choice:
            words.add(stem.casefold())
        elif len(stem) < _SHORTEST_STEM:
            raise ValueError(f"must have at least {_SHORTEST_STEM} letters before *; {choice!r} has fewer")
        else:
            stems.append(stem.casefold())
    return Step(frozenset(words), tuple(stems), gap)


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text as people see them, in lower case, parted at everything that is no letter or digit."""
    return tuple(_WORD.findall(plain(text).casefold()))


def parts_of(text: str) -> tuple[str, ...]:
    """Like `words_of`, and `apiKey` is two words as well."""
    return words_of(_HUMP.sub(" ", plain(text)))


def plain(text: str) -> str:
    """The text as people see it, in the plainest form of its characters."""
    return unicodedata.normalize("NFKC", visible(text))


def holds(words: tuple[str, ...], phrase: Phrase) -> bool:
    """Whether the words hold the phrase somewhere."""
    ends: set[int] = {at + 1 for at, word in enumerate(words) if phrase[0].takes(word)}
    for step in phrase[1:]:
        places = {at for end in ends for at in range(end, min(end + step.gap + 1, len(words)))}
        ends = {at + 1 for at in places if step.takes(words[at])}
    return bool(ends)
