"""Hidden JSON in our own comments and issues: `<!-- cf:NAME 1 {...} -->`, where 1 is the version; a signature may follow.

Anybody can type a marker, so callers must look only into texts whose author is one of our accounts. Text of others that we
print goes through `defuse`, after which it can form no marker.
"""

import hmac
import re
from collections.abc import Collection, Sequence

from bot.notation.codec import Unreadable

VERSION = 1
"""Raised only where older code would misread what newer code writes: new fields alone need no new version."""

_MARKER = re.compile(
    r"<!-- cf:([a-z-]{1,20}) ([0-9]{1,4}) (\{[^\n<>]*\})(?: (![a-z]{1,20}|[0-9a-f]{64}))? -->"
)
_MISSING, _WRONG = "!missing", "!wrong"
_BROKEN = {
    _MISSING: "its signature is missing: either it is older than the secret CF_STATE_KEY, and `cf adopt` signs it, or not ours",
    _WRONG: "its signature is wrong: it was changed by somebody else, or signed with another CF_STATE_KEY",
}


def write_marker(name: str, payload: str) -> str:
    """Wrap JSON so that nothing inside it can end the HTML comment or be mistaken for Markdown."""
    safe = (
        payload.replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("--", "-\\u002d")
        .replace("@", "\\u0040")
    )
    return f"<!-- cf:{name} {VERSION} {safe} -->"


def read_marker(name: str, text: str) -> str | None:
    """The JSON of the last marker of this name, or None. The caller has checked the text's author.

    Raises Unreadable if a newer version wrote it, or if its signature was looked at and is not right.
    """
    found = [match for match in _MARKER.finditer(text) if match[1] == name]
    if not found:
        return None
    _, version, payload, mark = found[-1].groups()
    if int(version) != VERSION:
        raise Unreadable(f"it was written by a newer version of cf-conductor (format {int(version)})")
    if mark in _BROKEN:
        raise Unreadable(_BROKEN[mark])
    return payload


def signed(text: str, key: str, names: Collection[str], place: str = "") -> str:
    """The text with a signature in each marker of these names. Where `place` is given it holds in that place only."""
    return _MARKER.sub(
        lambda match: _with_mark(match, _signature(match, key, place)) if match[1] in names else match[0],
        text,
    )


def without_markers(text: str) -> str:
    """What people read of a text of ours."""
    return _MARKER.sub("", text).rstrip()


def bears_signature(text: str, names: Collection[str]) -> bool:
    """Whether a marker of these names is signed. Seen only where no key looked at the text: `checked` takes signatures off."""
    return any(
        match[1] in names and match[4] is not None and not match[4].startswith("!")
        for match in _MARKER.finditer(text)
    )


def checked(text: str, keys: Sequence[str], names: Collection[str], places: Sequence[str] = ("",)) -> str:
    """The text as it was before it was signed, and each marker of these names spoilt that none of the keys has signed for one
    of the places.
    """

    def judge(match: re.Match[str]) -> str:
        if match[1] not in names:
            return match[0]
        if match[4] is None:
            return _with_mark(match, _MISSING)
        right = any(
            hmac.compare_digest(match[4], _signature(match, key, place)) for key in keys for place in places
        )
        return _with_mark(match, "" if right else _WRONG)

    return _MARKER.sub(judge, text)


def _signature(match: re.Match[str], key: str, place: str) -> str:
    what = f"{match[1]} {match[2]} {match[3]}" + (f" {place}" if place else "")
    return hmac.digest(key.encode(), what.encode(), "sha256").hex()


def _with_mark(match: re.Match[str], mark: str) -> str:
    return f"<!-- cf:{match[1]} {match[2]} {match[3]} {mark}{' ' if mark else ''}-->"


def defuse(text: str) -> str:
    """Foreign text that can neither form a marker nor hide what follows it."""
    return text.replace("<!--", "&lt;!--").replace("-->", "--&gt;")
