"""Values to compact JSON and back, by msgspec: strict about types and tolerant of new fields when read.

Values that are kept on GitHub are declared with `omit_defaults`, so that what is not said costs no room.
"""

from typing import Any, TypeVar

import msgspec

from bot.model.errors import BotError

T = TypeVar("T")


class Unreadable(BotError):
    """Text that should hold a value of ours does not; the message names the place in it."""


def dump(value: Any) -> str:
    """Write a value as compact JSON."""
    return msgspec.json.encode(value).decode()


def load(text: str | bytes, kind: type[T]) -> T:
    """Read JSON as a value of this kind; unknown fields are ignored, so older code reads newer text. Raises Unreadable."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Unreadable(f"not a readable {kind.__name__.lower()}: {error}") from error
