"""A text made of parts within a budget of tokens: each part says how much it may take and how it shrinks, and what goes is told.

Tokens are estimated as a third of the bytes of UTF-8, more than the usual tokenizers count for prose or code in any language.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

_BYTES = 3  # per token
_NOTE = 40  # tokens that a part keeps free for saying what it left out
_TICKS = re.compile("`{20,}")  # no fence needs to be longer than what can be looked for here


class Drop(StrEnum):
    """Which pieces go first where there is no room for all."""

    OLDEST = "earlier"
    LAST = "further"


class Cut(StrEnum):
    """Which end of a piece goes where it is too long."""

    END = "end"
    BEGINNING = "beginning"


class Piece(Struct, frozen=True):
    """One comment, one file, one log. `head` stands before it and is never cut; `fenced` shows the text as code."""

    text: str
    head: str = ""
    fenced: bool = False


class Part(Struct, frozen=True):
    """Some pieces under a heading. `most` and `each` are tokens for all and for one; `called` is what people call a piece."""

    name: str
    called: str
    pieces: Sequence[Piece]
    most: int
    each: int
    drop: Drop = Drop.LAST
    cut: Cut = Cut.END
    heading: str = ""


def tokens(text: str) -> int:
    """About how many tokens a text is, rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES)


class Packer:
    """Takes parts in the order of their worth, and gives each what is left of the budget at most."""

    def __init__(self, budget: int) -> None:
        self.room = budget
        self.left_out: list[str] = []

    def add(self, part: Part) -> str:
        """The part's text as far as it fits; empty if it has no pieces."""
        if not part.pieces:
            return ""
        heading = f"## {part.heading}\n\n" if part.heading else ""
        room = min(part.most, self.room) - tokens(heading) - _NOTE
        if room <= 0:
            self.left_out.append(_of(len(part.pieces), len(part.pieces), part.called))
            return ""
        kept, shortened = _fitting(part, room)
        dropped = len(part.pieces) - len(kept)
        if shortened:
            self.left_out.append(f"the {part.cut} of {_of(shortened, len(part.pieces), part.called)}")
        if dropped:
            self.left_out.append(_of(dropped, len(part.pieces), part.called))
            note = f"({dropped} {part.drop} {part.called} left out)"
            kept = [note, *kept] if part.drop is Drop.OLDEST else [*kept, note]
        text = heading + "\n\n".join(kept)
        self.room -= tokens(text) + 1
        return text


def _fitting(part: Part, room: int) -> tuple[list[str], int]:
    """What fits, in order, and how many of it are shortened. The piece that is kept first is shortened rather than dropped."""
    order = list(reversed(part.pieces)) if part.drop is Drop.OLDEST else list(part.pieces)
    kept: list[str] = []
    shortened = 0
    for piece in order:
        text, cut = shown(piece, part.each, part.cut)
        if tokens(text) + 1 > room and not kept:
            text, cut = shown(piece, min(part.each, room), part.cut)
        if tokens(text) + 1 > room:
            break
        room -= tokens(text) + 1
        shortened += cut
        kept.append(text)
    return (kept[::-1] if part.drop is Drop.OLDEST else kept), shortened


def shown(piece: Piece, most: int, cut: Cut = Cut.END) -> tuple[str, bool]:
    """A piece in at most so many tokens, and whether it was shortened; empty if there is not even room to say so."""
    text = _TICKS.sub("`" * 19, piece.text.strip()) if piece.fenced else piece.text.strip()
    fence = _fence(text) if piece.fenced else ""
    before = f"{piece.head}\n\n" if piece.head else ""
    around = f"{before}{fence}text\n\n{fence}" if fence else before
    short, was_cut = bounded(text, most - tokens(around), cut)
    if was_cut and not short:
        return "", True
    return (f"{before}{fence}text\n{short}\n{fence}" if fence else before + short), was_cut


def bounded(text: str, most: int, cut: Cut = Cut.END) -> tuple[str, bool]:
    """The text in at most so many tokens, with a note where something went, and whether it did."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most * _BYTES:
        return text, False
    note = "(the rest is left out)" if cut is Cut.END else "(the beginning is left out)"
    room = most * _BYTES - len(note) - 2
    if room <= 0:
        return "", True
    if cut is Cut.END:
        return f"{data[:room].decode('utf-8', 'ignore').rstrip()}\n\n{note}", True
    return f"{note}\n{data[-room:].decode('utf-8', 'ignore').lstrip()}", True


def _fence(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


def _of(some: int, total: int, called: str) -> str:
    return f"{some} of {total} {called}" if total > 1 else f"the {called}"
