"""Foreign words inside our own comments: shown, bounded, and unable to mention, command, hide or mark anything."""

import re

from bot.notation.marker import defuse
from bot.notation.text import visible

_MOST = 3_000
_TICKS = re.compile("`{3,}")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MENTION = re.compile("@(?=[A-Za-z0-9])")
_TAG = re.compile("<(?=[A-Za-z/?!])")  # `<details>` would hide what follows
_ENTITY = re.compile("&(?=#[0-9xX]|commat;)")  # `&#64;name` mentions as well
_BREAK = "\u200b"  # takes no room, and parts what GitHub would read as one


def quote(text: str, most: int = _MOST) -> str:
    """A block quote of the text; every line begins with `> `, so no line of it is an order to any bot."""
    lines = _harmless(_cut(text, most)).splitlines() or [""]
    return "\n".join(f"> {line}".rstrip() for line in lines)


def quote_line(text: str, most: int = 300) -> str:
    """The text on one line, for lists, tables and headlines."""
    return " ".join(_harmless(_cut(text, most)).replace("|", "\\|").split())


def code_block(text: str, most: int = _MOST) -> str:
    """The end of a log as a code block whose fence nothing inside can close."""
    tail = _harmless(text[-most:]) if len(text) > most else _harmless(text)
    fence = max((match for match in _TICKS.findall(tail)), key=len, default="``") + "`"
    note = "(the beginning is left out)\n" if len(text) > most else ""
    return f"{fence}text\n{note}{tail.rstrip()}\n{fence}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + " … (cut)"


def _harmless(text: str) -> str:
    """No hidden characters, no HTML, and no `@name` that would notify somebody."""
    plain = defuse(_ENTITY.sub("&" + _BREAK, visible(_CONTROL.sub("", text))))
    return _TAG.sub("<" + _BREAK, _MENTION.sub("@" + _BREAK, plain))
