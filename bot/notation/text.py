"""Which lines of a Markdown text speak, and which merely stand there.

Needs and commands are read from lines that a reader sees as the author's own words. Everything else is inert:
fenced and indented code, code spans, `<pre>`-like blocks, HTML comments, quotes and struck-out text. This is the
one place that knows the difference, so that no two readers can disagree about it.

Why not a Markdown library: markdown-it-py was measured (4.x). It serves well and is linear, but it takes 50 to
70 ms to import and 6 to 20 ms per kilobyte to parse, for inline tokens nobody here needs; a tick reads hundreds of
bodies, starts from nothing each time, and this pass costs a small fraction of that. Also it cannot say where inside
a line the inert text lies, and follows CommonMark in cases where we must be stricter (an unclosed comment in the
middle of a line hides everything after it). It is the judge in the tests instead: what it calls code or comment must be inert
here too.

Known and wanted differences from what GitHub shows:

* An unclosed comment or `<pre>`-like element hides all that follows, also beyond the list item it began in.
* Elements nest: `<pre><pre></pre>` is still open, as it is in a browser; Markdown ends the block there.
* A line without `>` right after a quote is live, although Markdown draws it into the quote ("lazy
  continuation"): its author typed it, and a forgotten blank line must not swallow `/cf stop`.
* Fences inside a `<div>` without a blank line between are fences, hence inert.

The pass is linear: each line is looked at once; a line walks only as many open lists as it has columns of indent;
inline marks are found by one alternation without nested quantifiers, and each search for an end either jumps to
what it found or settles the matter for the rest of the paragraph.
"""

import re
from collections import deque
from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

CODE = "\ufffc"
"""Stands in `Line.text` where inert text was: code, `<pre>`-like elements, HTML quotes."""

STRUCK = "\ufffb"
"""Stands in `Line.text` where struck-out text was."""


class Kind(Enum):
    """What a line is, as far as readers of directives care."""

    BLANK = "blank"
    """Nothing visible: empty, or only an HTML comment."""
    TEXT = "text"
    ITEM = "item"
    """The first line of a list item; its marker is not part of `Line.text`."""
    HEADING = "heading"
    RULE = "rule"
    """A thematic break, or the underline of a heading."""
    INERT = "inert"
    """Code, a quotation, or nothing but struck-out text."""


class Line(Struct, frozen=True):
    """One line of a text; `number` counts from 1 and `raw` is the line as written, without its line end.

    `text` is what is live of it: tabs expanded, markers of lists and headings and invisible characters removed,
    comments made a space, other inert text replaced by `CODE` or `STRUCK`. Empty when nothing is live. `depth` is the number of
    list items the line stands in.
    """

    number: int
    raw: str
    text: str
    kind: Kind
    depth: int = 0

    @property
    def live(self) -> bool:
        return bool(self.text)


# What a reader cannot see must not part a word or a number. Joiners, marks of direction, soft hyphens, byte order
# marks, tag characters, variation selectors; and our own two placeholders, which foreign text may not bring along.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_LINE_END = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"(`{3,})[^`]*\Z|(~{3,})")
_HEADING = re.compile(r"#{1,6}(?: |\Z)")
_MARKER = re.compile(r"([-+*]|[0-9]{1,9}[.)])( +|\Z)")
_OWN_BLOCK = re.compile(r"<!--|<(pre|script|style|textarea)(?=[\s>]|\Z)", re.IGNORECASE)

_DEEPEST = 32
"""List items one line may open; beyond it markers are text. Keeps a line of nothing but bullets linear."""

_CODE_TAGS = (
    "pre",
    "code",
    "tt",
    "samp",
    "kbd",
    "xmp",
    "listing",
    "script",
    "style",
    "textarea",
    "blockquote",
    "q",
)
_STRUCK_TAGS = ("del", "s", "strike")
_INLINE = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)"
    r"|(?P<comment><!--)"
    r"|<(?P<tag>" + "|".join(_CODE_TAGS + _STRUCK_TAGS) + r")(?=[\s/>])[^<>]*>"
    r"|(?P<tildes>~+)",
    re.IGNORECASE,
)
_TAG_ENDS = {
    name: re.compile(rf"<(/?){name}(?=[\s/>])[^<>]*>", re.IGNORECASE) for name in _CODE_TAGS + _STRUCK_TAGS
}
_TICKS = re.compile("`+")


def visible(text: str) -> str:
    """The text without characters that take no room on the screen."""
    return _INVISIBLE.sub("", text)


def read_lines(text: str | None) -> tuple[Line, ...]:
    """Every line of a Markdown text, each marked live or inert. Never fails; `None` has no lines."""
    if not text:
        return ()
    return tuple(_Reader().read(_LINE_END.split(text)))


def live_lines(text: str | None) -> Iterator[Line]:
    """Only the lines that speak."""
    return (line for line in read_lines(text) if line.live)


class _Open(Struct):
    """A comment or an element that has begun and has not ended."""

    tag: str | None
    depth: int = 1
    block: bool = False
    """It began a line, so what follows the line of its end is a new block."""

    @property
    def mask(self) -> str:
        if self.tag is None:
            return " "
        return STRUCK if self.tag in _STRUCK_TAGS else CODE

    def end_in(self, text: str, start: int) -> int | None:
        """The position right behind its end, or None if the text ends first."""
        if self.tag is None:
            found = text.find("-->", start)
            return None if found < 0 else found + 3
        for match in _TAG_ENDS[self.tag].finditer(text, start):
            self.depth += -1 if match[1] else 1
            if self.depth == 0:
                return match.end()
        return None


class _Fence(Struct):
    char: str
    length: int
    indent: int

    def closed_by(self, indent: int, rest: str) -> bool:
        mark = rest.rstrip(" ")
        return indent - self.indent < 4 and len(mark) >= self.length and not mark.strip(self.char)


class _Piece(Struct):
    """One line of a paragraph whose inline marks are not read yet."""

    at: int
    text: str
    kind: Kind
    depth: int


class _Reader:
    """Reads blocks line by line, keeping open lists, the open fence and the open paragraph."""

    def __init__(self) -> None:
        self._lines: list[Line] = []
        self._lists: list[int] = []  # the column where the content of each open list item begins
        self._bare_item = False  # the innermost item has no content yet
        self._fence: _Fence | None = None
        self._open: _Open | None = None
        self._paragraph: list[_Piece] = []

    def read(self, raws: list[str]) -> list[Line]:
        for number, raw in enumerate(raws, 1):
            self._lines.append(Line(number, raw, "", Kind.INERT))
            self._take(len(self._lines) - 1, visible(raw).expandtabs(4))
        self._flush()
        return self._lines

    def _set(self, at: int, text: str, kind: Kind, depth: int | None = None) -> None:
        old = self._lines[at]
        self._lines[at] = Line(old.number, old.raw, text, kind, len(self._lists) if depth is None else depth)

    def _take(self, at: int, text: str) -> None:
        if self._open is not None:
            self._inside_open(self._open, at, text)
        elif not text.strip(
            " "
        ):  # nothing else is blank in Markdown; a no-break space holds a paragraph together
            self._blank(at)
        elif self._fence is not None and self._inside_fence(self._fence, text):
            self._set(at, "", Kind.INERT)
        else:
            self._block(at, text)

    def _inside_open(self, opened: _Open, at: int, text: str) -> None:
        end, mask = opened.end_in(text, 0), opened.mask
        if end is None:
            self._set(at, "", Kind.BLANK if mask == " " else Kind.INERT)
            return
        self._open = None
        self._paragraph.append(_Piece(at, mask + text[end:], Kind.TEXT, len(self._lists)))
        if opened.block:
            self._end_block()

    def _blank(self, at: int) -> None:
        if self._fence is not None:
            return
        self._flush()
        if self._open is not None:
            self._inside_open(self._open, at, "")
            return
        if self._bare_item:  # an item that begins with two blank lines is empty, what follows stands outside
            self._lists.pop()
            self._bare_item = False
        self._set(at, "", Kind.BLANK)

    def _inside_fence(self, fence: _Fence, text: str) -> bool:
        """Whether the line belongs to the open fence; a fence ends with the list item that holds it."""
        rest = text.lstrip(" ")
        indent = len(text) - len(rest)
        if indent < fence.indent:
            self._fence = None
            return False
        if fence.closed_by(indent, rest):
            self._fence = None
        return True

    def _block(self, at: int, text: str) -> None:
        """A line outside of open fences and elements: walk into its list items, then see what begins there."""
        rest = text.lstrip(" ")
        indent = len(text) - len(rest)
        kept = 0
        while kept < len(self._lists) and self._lists[kept] <= indent:
            kept += 1
        kind = Kind.TEXT
        while True:
            base = self._lists[kept - 1] if kept else 0
            inner = kept == len(self._lists)
            if indent - base >= 4:
                if not self._paragraph:
                    self._close(kept)
                    self._set(at, "", Kind.INERT)
                    return
                break
            underline = self._underlines(rest, inner=inner)
            item = self._item(rest, interrupts=bool(self._paragraph) and inner)
            if not (underline or item or _starts_block(rest)):
                break
            self._flush(Kind.HEADING if underline else None)
            if self._open is not None:  # the paragraph left a comment open, so this line begins no block
                self._inside_open(self._open, at, text)
                return
            self._close(kept)
            if underline or item is None:
                self._begin(at, base, rest, underline=underline)
                return
            width, content = item
            kind = Kind.ITEM
            self._lists.append(indent + width)
            kept = len(self._lists)
            self._bare_item = not content
            if not content:
                self._set(at, "", kind)
                return
            rest = content.lstrip(" ")
            indent += width + len(content) - len(rest)
        if not self._paragraph:
            self._close(kept)
        self._bare_item = False
        self._paragraph.append(_Piece(at, rest, kind, len(self._lists)))

    def _underlines(self, rest: str, *, inner: bool) -> bool:
        return bool(self._paragraph) and inner and rest[0] in "=-" and not rest.rstrip(" ").strip(rest[0])

    def _item(self, rest: str, *, interrupts: bool) -> tuple[int, str] | None:
        """Width of the marker with its space, and the content behind it, if the text begins a list item."""
        match = _MARKER.match(rest)
        if match is None or _is_rule(rest) or len(self._lists) >= _DEEPEST:
            return None
        marker, gap = match.groups()
        if match.end() == len(rest):
            return None if interrupts else (len(marker) + 1, "")
        if interrupts and marker[0].isdigit() and int(marker[:-1]) != 1:
            return None
        width = len(marker) + (len(gap) if len(gap) < 5 else 1)
        return width, rest[width:]

    def _begin(self, at: int, base: int, rest: str, *, underline: bool) -> None:
        """Begin the block that the line's words open; `base` is the column where its list item's content begins."""
        self._bare_item = False
        if underline or _is_rule(rest):
            self._set(at, "", Kind.RULE)
        elif rest[0] == ">":
            self._set(at, "", Kind.INERT)
        elif match := _FENCE.match(rest):
            mark = match[1] or match[2]
            self._fence = _Fence(mark[0], len(mark), base)
            self._set(at, "", Kind.INERT)
        elif match := _HEADING.match(rest):
            words = _heading_words(rest[match.end() :])
            self._paragraph.append(_Piece(at, words, Kind.HEADING, len(self._lists)))
            self._flush()
        elif (match := _OWN_BLOCK.match(rest)) and match[1] and not _INLINE.match(rest):
            # `<pre`, and its `>` comes on a later line or never
            self._open = _Open(match[1].lower(), block=True)
            self._set(at, "", Kind.INERT)
        else:
            self._paragraph.append(_Piece(at, rest, Kind.TEXT, len(self._lists)))
            self._end_block()

    def _end_block(self) -> None:
        """End an HTML block with its line; what it left open goes on, as a block."""
        self._flush()
        if self._open is not None:
            self._open.block = True

    def _close(self, kept: int) -> None:
        if kept < len(self._lists):
            del self._lists[kept:]
            self._bare_item = False

    def _flush(self, kind: Kind | None = None) -> None:
        """Read the inline marks of the paragraph that ends here."""
        if not self._paragraph:
            return
        pieces, self._paragraph = self._paragraph, []
        masked, self._open = _read_inline("\n".join(piece.text for piece in pieces))
        for piece, line in zip(pieces, masked.split("\n"), strict=True):
            text = line.strip()
            if text.strip(CODE + STRUCK + " "):
                self._set(piece.at, text, kind or piece.kind, piece.depth)
            else:
                self._set(piece.at, "", Kind.INERT if text else Kind.BLANK, piece.depth)


def _starts_block(rest: str) -> bool:
    """Whether the words begin a block other than a paragraph or a list item."""
    return (
        rest[0] == ">"
        or _is_rule(rest)
        or _FENCE.match(rest) is not None
        or _HEADING.match(rest) is not None
        or _OWN_BLOCK.match(rest) is not None
    )


def _is_rule(rest: str) -> bool:
    return rest[0] in "-*_" and not rest.strip(rest[0] + " ") and rest.count(rest[0]) >= 3


def _heading_words(text: str) -> str:
    words = text.rstrip(" ")
    bare = words.rstrip("#")
    return bare if not bare or bare.endswith(" ") else words


def _read_inline(text: str) -> tuple[str, _Open | None]:
    """The paragraph with its inert parts replaced, and what stays open behind it."""
    masks: list[tuple[int, int, str]] = []
    spans = _Spans(text)
    strikes = _Strikes(text)
    left_open: _Open | None = None
    position = 0
    while match := _INLINE.search(text, position):
        position = match.end()
        start = match.start()
        if match["ticks"]:
            if end := spans.end_of(start, position):
                masks.append((start, end, CODE))
                position = end
        elif match["tildes"]:
            if region := strikes.take(start, position):
                masks.append((*region, STRUCK))
        elif match["comment"] or match["tag"]:
            opened = _Open(match["tag"].lower() if match["tag"] else None)
            end_or_none = _empty_comment(text, start) or opened.end_in(text, position)
            masks.append((start, end_or_none or len(text), opened.mask))
            if end_or_none is None:
                left_open = opened
                break
            position = end_or_none
    return _mask(text, masks), left_open


def _empty_comment(text: str, start: int) -> int | None:
    """The end of `<!-->` and `<!--->`, which are whole comments."""
    for form in ("<!-->", "<!--->"):
        if text.startswith(form, start):
            return start + len(form)
    return None


class _Spans:
    """Finds the end of a code span: the next run of as many backticks."""

    def __init__(self, text: str) -> None:
        self._runs: dict[int, deque[int]] = {}
        for match in _TICKS.finditer(text):
            self._runs.setdefault(len(match[0]), deque()).append(match.start())

    def end_of(self, start: int, end: int) -> int | None:
        """Positions asked for must rise; each run is discarded at most once, which keeps the whole linear."""
        runs = self._runs.get(end - start)
        while runs and runs[0] < end:
            runs.popleft()
        return runs[0] + end - start if runs else None


class _Strikes:
    """Pairs `~` with `~` and `~~` with `~~`, the nearest first, as GitHub does."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._openers: dict[int, list[int]] = {1: [], 2: []}

    def take(self, start: int, end: int) -> tuple[int, int] | None:
        """The struck region that this run of tildes ends, if it ends one."""
        width = end - start
        if width > 2:
            return None
        before = self._text[start - 1] if start else " "
        after = self._text[end] if end < len(self._text) else " "
        openers = self._openers[width]
        if openers and _flanks(after, before):
            opener = openers.pop()
            others = self._openers[3 - width]
            while others and others[-1] > opener:
                others.pop()
            return opener, end
        if _flanks(before, after):
            openers.append(start)
        return None


def _flanks(outside: str, inside: str) -> bool:
    """Whether a delimiter between these two characters leans on the inner one."""
    if inside.isspace():
        return False
    return inside.isalnum() or outside.isspace() or not outside.isalnum()


def _mask(text: str, masks: list[tuple[int, int, str]]) -> str:
    """Replace each region by its mask, keeping line ends; of nested regions the outermost counts."""
    parts: list[str] = []
    position = 0
    for start, end, mask in sorted(masks, key=lambda region: (region[0], -region[1])):
        if start < position:
            continue
        parts.append(text[position:start])
        parts.append("\n".join([mask] * (text.count("\n", start, end) + 1)))
        position = end
    parts.append(text[position:])
    return "".join(parts)
