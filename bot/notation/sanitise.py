"""Foreign text made safe, in both directions: for a prompt (`sanitise`) and for what we post (`neutralise`).

Every function here is linear in the length of its text, whatever the text holds.
"""

import html
import re

from msgspec import Struct

from bot.notation.marker import defuse

# Each round undoes one layer of hiding. Real text is stable after one; what is not after these is cut, not looked at for ever.
_ROUNDS = 6

_AMPERSANDS = re.compile(r"&(?:(?:amp|AMP|#0{0,6}38|#[xX]0{0,6}26);)+")
_ENTITY = re.compile(r"&(?:#[0-9]{1,9}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{1,31});")
_BARE_OPENER = re.compile(r"&(?:lt|LT|#0{0,6}60|#[xX]0{0,6}3[cC])(?=!--)")
_BARE_CLOSER = re.compile(r"--&(?:gt|GT|#0{0,6}62|#[xX]0{0,6}3[eE])(?![0-9A-Za-z])")

_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners and fillers that show nothing
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f"  # zero width, bidirectional controls
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # fillers, variation selectors, byte order mark
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # shorthand and musical format controls
    "\U000e0000-\U000e0fff"  # tags and supplementary variation selectors
    "\ud800-\udfff\ue000-\uf8ff\U000f0000-\U0010ffff"  # surrogates and private use
    "]"
)
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029]")

_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_IS_EMOJI = re.compile(f"[{_EMOJI}]")
_TAKES_SELECTOR = re.compile(f"[{_EMOJI}0-9#*]")
# Scripts in which a joiner or non-joiner between two letters changes what a reader sees.
_JOINED_SCRIPT = re.compile("[\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\u0900-\u0dff]")


def sanitise(text: str) -> str:
    """Text as a reader sees it: entities decoded, HTML comments and invisible characters gone, until nothing changes.

    An unclosed comment hides everything after it, as it does on GitHub. Joiners inside visible emoji stay.
    """
    for _ in range(_ROUNDS):
        before = text
        text = _strip_comments(_strip_invisible(_decode(text)))
        if text == before:
            return text
    return text.partition("<!--")[0]


def _decode(text: str) -> str:
    if "&" not in text:
        return text
    text = _ENTITY.sub(lambda match: html.unescape(match[0]), _AMPERSANDS.sub("&", text))
    return _BARE_CLOSER.sub("-->", _BARE_OPENER.sub("<", text))


def _strip_invisible(text: str) -> str:
    return _INVISIBLE.sub(_kept_if_seen, _LINE_ENDS.sub("\n", text))


def _kept_if_seen(match: "re.Match[str]") -> str:
    """A joiner or selector that is part of a visible sign, else nothing."""
    char = match[0]
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    if char in "\ufe0e\ufe0f":
        return char if _TAKES_SELECTOR.match(before) else ""
    if char == "\u200d" and _IS_EMOJI.match(after) and (before == "\ufe0f" or _IS_EMOJI.match(before)):
        return char
    if char in "\u200c\u200d" and _JOINED_SCRIPT.match(before) and _JOINED_SCRIPT.match(after):
        return char
    return ""


def _strip_comments(text: str) -> str:
    kept = []
    at = 0
    while (start := text.find("<!--", at)) >= 0:
        kept.append(text[at:start])
        end = text.find("-->", start + 2)  # `<!-->` is a whole, empty comment
        if end < 0:
            return "".join(kept)
        at = end + 3
    kept.append(text[at:])
    return "".join(kept)


_CLOSING = re.compile(
    r"(?<![0-9A-Za-z_])(close[sd]?|fix(?:es|ed)?|resolve[sd]?)"
    r"(?=([\s:*_~`'\"\[(<]{0,20})"
    r"(#[0-9]{1,12}(?![0-9])|gh-[0-9]|[\w.-]{1,100}/[\w.-]{1,100}#[0-9]"
    r"|https?://[^\s/]{1,200}/[^\s/]{1,100}/[^\s/]{1,100}/(?:issues|pull|discussions)/[0-9]))",
    re.IGNORECASE,
)
_MENTION = re.compile(r"(?<![0-9A-Za-z_.@/])@(?=[0-9A-Za-z])")
_BREAK = "\u200b"  # seen by GitHub's parsers, not by readers; harmless inside code, unlike an entity


class Neutral(Struct, frozen=True):
    """Text that closes nothing but its own issue, calls nobody and forms no marker.

    `defused` are the references that it would have closed.
    """

    text: str
    defused: tuple[str, ...]


def neutralise(text: str, own: int = 0) -> Neutral:
    """Make an agent's or a stranger's words safe to post. `own` is the one issue that they may close."""
    defused: list[str] = []

    def broken(match: "re.Match[str]") -> str:
        if match[3] == f"#{own}":
            return match[1]
        defused.append(match[3])
        return match[1][0] + _BREAK + match[1][1:]

    safe = _CLOSING.sub(broken, sanitise(text))
    return Neutral(_MENTION.sub("@" + _BREAK, defuse(safe)), tuple(dict.fromkeys(defused)))
