"""What the author of a comment says in it now: nothing quoted, and nothing that a mail program carried along.

GitHub takes replies by mail and keeps what comes with them: the mail that was answered, under a line that says who wrote
it or under its headers, and a signature. A command or an answer in there is somebody else's, or an old one. Where in doubt, the
text counts as carried along: an order is easily written again.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from bot.notation.text import CODE, STRUCK, Kind, Line, read_lines

_LONGEST = 300  # characters of a line that a mail program writes about another mail
_SIGNATURES = ("-- ", "--")
_FOOTERS = re.compile(
    r"sent from (?:my|outlook|mail|yahoo|proton|samsung|the)\b|sent via\b|get outlook for\b|envoyé de(?:puis)? mon\b"
    r"|enviado desde mi\b|inviato da\b|von mein\w* .{1,60} gesendet|reply to this email directly",
    re.IGNORECASE,
)
_ORIGINAL = re.compile(
    r"[-_*]{2,}\s?(?:original message|original appointment|forwarded message|ursprüngliche nachricht|message d'origine"
    r"|mensaje original|messaggio originale)\s?[-_*]{2,}|begin forwarded message:",
    re.IGNORECASE,
)
_DATED = re.compile(r"(?:on|am|le|el|il|op|em|den|på|dnia|w dniu)\b.*[0-9]", re.IGNORECASE)
_WROTE = re.compile(
    r"(?:\bwrote|\bschrieb.*|a écrit|\bescribió|ha scritto|\bschreef.*|\bescreveu|\bskrev.*|napisał\w*)\s?:\Z",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[0-9].*(?:<[^<>\s]+@[^<>\s]+>|\*\*\*@\*\*\*\.\*\*\*>?).*:\Z")
_FROM = re.compile(r"[*_]{0,3}(?:from|von|de|da|van|från|fra|od)[*_]{0,3}\s?:", re.IGNORECASE)
_HEADER = re.compile(
    r"[*_]{0,3}(?:sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé|à|objet|enviado|fecha|para|asunto|inviato|data|oggetto"
    r"|verzonden|aan|onderwerp|skickat|till|ämne)[*_]{0,3}\s?:",
    re.IGNORECASE,
)


class Said(Struct, frozen=True):
    """One line of a comment: as written, and without the marks of a list or heading. In code nothing is an order."""

    words: str
    plain: str
    in_code: bool = False


def own_lines(body: str | None) -> tuple[Line, ...]:
    """The lines of a comment without those that a mail program carried along; inert ones are still among them."""
    lines = read_lines(body)
    own: list[Line] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.kind is not Kind.INERT:
            if _ends_mail(lines, at):
                break
            if below := _below_attribution(lines, at):
                at = _behind_quote(lines, below)
                continue
        own.append(line)
        at += 1
    return tuple(own)


def said_in(body: str) -> Iterator[Said]:
    """The lines that the author says, code among them: a quoted line begins with `>`, a struck-out one is taken back."""
    # Its patterns take long to compile, and few ticks read an answer.
    from bot.notation.sanitise import sanitise

    for line in own_lines(sanitise(body)):
        raw = line.raw.strip()
        if line.live and STRUCK in line.text:
            kept = line.text.replace(STRUCK, "").replace(CODE, "").strip()
            yield Said(kept, kept)
        elif line.live:
            yield Said(raw, raw if CODE in line.text else line.text)
        elif raw and not raw.startswith((">", "~", "<del", "<s>")):
            yield Said(raw, raw, in_code=True)


def _ends_mail(lines: Sequence[Line], at: int) -> bool:
    """Whether a signature, a footer or the headers of another mail begin here."""
    raw = lines[at].raw
    if raw in _SIGNATURES:
        return True
    text = raw.strip()
    if len(text) > _LONGEST:
        return False
    if _FOOTERS.match(text) or _ORIGINAL.match(text):
        return True
    if not _FROM.match(text):
        return False
    return sum(bool(_HEADER.match(line.raw.strip()[:40])) for line in lines[at + 1 : at + 6]) >= 2


def _below_attribution(lines: Sequence[Line], at: int) -> int:
    """The line below "On ... wrote:", which mail programs break into up to three lines; 0 if no such thing begins here."""
    text = ""
    for count in (1, 2, 3):
        if at + count > len(lines):
            return 0
        raw = lines[at + count - 1].raw.strip()
        if not raw or len(raw) > _LONGEST or raw.startswith("/"):
            return 0
        text = f"{text} {raw}".strip()
        if count == 1 and _ADDRESS.search(text):
            return at + 1
        if not _DATED.match(text):
            return 0
        if _WROTE.search(text) or _ADDRESS.search(text):
            return at + count
    return 0


def _behind_quote(lines: Sequence[Line], at: int) -> int:
    """Where the author's words go on: behind a quote that is marked with `>`, else nowhere.

    A line without the mark right below the quote belongs to it: mail programs break long lines and mark the first part only.
    """
    while at < len(lines) and not lines[at].raw.strip():
        at += 1
    if at == len(lines) or not _is_marked(lines[at]):
        return len(lines)
    for below in range(at + 1, len(lines)):
        if lines[below].raw.strip() and not lines[below - 1].raw.strip() and not _is_marked(lines[below]):
            return below
    return len(lines)


def _is_marked(line: Line) -> bool:
    return line.raw.lstrip().startswith(">")
