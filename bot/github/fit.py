"""Text that fits into what GitHub stores: 65,536 characters, and 262,144 bytes for those that need more than one."""

import re

MAX_CHARACTERS = 65_536
MAX_BYTES = 262_144
MAX_TITLE = 256
_MEMORY = 48_000  # characters of markers that are kept; the last one always is
CUT = "*This text was too long for GitHub and is cut here; the run's artifact holds all of it.*"

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")


def fit(text: str, note: str = CUT) -> str:
    """The text as it is, or cut with what was open closed and the note below.

    Hidden markers at the end stay whole: they are our memory. A text whose markers alone do not fit is returned as long as it is,
    and GitHub refuses it.
    """
    text = _sound(text)
    if _fits(text):
        return text
    body, tail = _split(text)
    room = MAX_CHARACTERS - len(tail) - len(note) - 8
    space = MAX_BYTES - len(tail.encode()) - len(note.encode()) - 8
    while room > 0:
        kept = body[:room].encode()[: max(0, space)].decode(errors="ignore")
        whole = closed(kept.rsplit("\n", 1)[0] if "\n" in kept[-2000:] else kept) + f"\n\n{note}\n" + tail
        if _fits(whole):
            return whole
        room -= max(256, len(whole) - MAX_CHARACTERS)
        space -= max(256, len(whole.encode()) - MAX_BYTES)
    return tail.lstrip()


def fit_title(title: str) -> str:
    """A title on one line and no longer than GitHub takes."""
    line = " ".join(_sound(title).split())
    return line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 1] + "…"


def _sound(text: str) -> str:
    """Without what no request can carry: halves of surrogate pairs (`?` instead) and NUL."""
    return text.encode(errors="replace").decode().replace("\0", "")


def _split(text: str) -> tuple[str, str]:
    """The text before the hidden markers at its end, and these. Walks backwards, so that foreign text costs its length once."""
    start = len(text.rstrip())
    found = len(text)
    while text.endswith(" -->", 0, start):
        begin = text.rfind("<!-- cf:", 0, start)
        if found < len(text) and len(text) - begin > _MEMORY:
            break
        if begin < 0 or text.find("\n", begin, start) >= 0 or text.find("-->", begin, start - 3) >= 0:
            break
        found = start = begin
        while start and text[start - 1].isspace():
            start -= 1
    return text[:start] if found < len(text) else text, text[start:] if found < len(text) else ""


def _fits(text: str) -> bool:
    return len(text) <= MAX_CHARACTERS and len(text.encode()) <= MAX_BYTES


def closed(text: str) -> str:
    """With a comment, a code fence and folded sections closed that it leaves open, so that what follows is seen."""
    fence = _open_fence(text)
    if fence:
        text += f"\n{fence}"
    elif text.rfind("<!--") > text.rfind("-->"):
        text += " -->"
    folded = text.count("<details") - text.count("</details>")
    return text + "\n</details>" * max(0, folded)


def _open_fence(text: str) -> str:
    fence = ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if not found:
            continue
        marks, rest = found[1], found[2]
        if not fence:
            fence = "" if marks[0] == "`" and "`" in rest else marks
        elif marks[0] == fence[0] and len(marks) >= len(fence) and not rest.strip():
            fence = ""
    return fence
