"""Needs as people write them in an issue's body: `depends on #1, #2 and owner/repo#4`.

A declaration stands at the start of its own line, after a bullet, a checkbox or bold marks. A keyword line without
a reference, or a heading that is a keyword, takes the list or paragraph right below it. What is inert is decided by
`bot/notation/text.py`. A declaration that cannot be read whole is never dropped in silence: it becomes a warning.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct, field

from bot.model.config import Dependencies
from bot.model.ref import Ref
from bot.notation.text import CODE, STRUCK, Kind, Line, read_lines

DEFAULT_KEYWORDS: tuple[str, ...] = Dependencies().keywords
GITHUB = "https://github.com"
LARGEST = 2**31 - 1
"""GitHub's issue numbers are 32-bit integers in its GraphQL schema."""

_SHOWN = 80  # characters of foreign text in a warning
_TOLD = 20  # warnings for one body


class NeedWarning(Struct, frozen=True):
    """Something on a declaration line that could not be read, and how to write it. `text` is one line, made harmless."""

    line: int
    text: str
    mend: str

    def __str__(self) -> str:
        return f"line {self.line}: `{self.text}`: {self.mend}"


class Needs(Struct, frozen=True):
    """What a body declares: numbers of this repository, references to others, each once and in the order written."""

    local: tuple[int, ...] = ()
    foreign: tuple[Ref, ...] = ()
    warnings: tuple[NeedWarning, ...] = ()

    def refs(self, repository: str) -> tuple[Ref, ...]:
        """All of them as references, those of this repository first."""
        return (*(Ref(repository, number) for number in self.local), *self.foreign)


def read_needs(
    body: str | None,
    repository: str,
    keywords: Sequence[str] = DEFAULT_KEYWORDS,
    server: str = GITHUB,
) -> Needs:
    """The needs that a body declares for an issue of `repository` (`owner/name`). Never fails.

    `server` is the web address of this GitHub, for links; only its own links are references.
    """
    if not body or not any(word.strip() for word in keywords):
        return Needs()
    found = _Found(repository.lower(), _host(server))
    _Declarations(read_lines(body), _opening(tuple(keywords)), found).read()
    return Needs(tuple(found.local), tuple(found.foreign), _shortened(found.warnings))


def write_needs(refs: Iterable[Ref], repository: str = "", keyword: str = DEFAULT_KEYWORDS[0]) -> str:
    """One line that `read_needs` reads back as these references; empty for none. Those of `repository` are shortened."""
    own = repository.lower()
    words = [f"#{ref.number}" if ref.repository == own else str(ref) for ref in dict.fromkeys(refs)]
    return f"{keyword} {', '.join(words)}" if words else ""


def looks_like_declaration(text: str | None, keywords: Sequence[str] = DEFAULT_KEYWORDS) -> bool:
    """Whether a comment holds a declaration that would count, had it been written in the body."""
    needs = read_needs(text, "this/repository", keywords)
    return bool(needs.local or needs.foreign)


def _shortened(warnings: list[NeedWarning]) -> tuple[NeedWarning, ...]:
    """At most `_TOLD` warnings, since they go into one comment; the last says how many there are beyond."""
    if len(warnings) <= _TOLD:
        return tuple(warnings)
    beyond = len(warnings) - _TOLD + 1
    return (
        *warnings[: _TOLD - 1],
        NeedWarning(warnings[_TOLD - 1].line, "...", f"and {beyond} more that cannot be read"),
    )


_DECOR = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])[ ]+")
_CHECKBOX = re.compile(r"\[[ xX]\][ ]+")
_MARKS = re.compile(r"[*_]{0,3}")
_COLON = re.compile(r"[ ]*[*_]{0,3}[ ]*(?P<colon>[:：]?)[ ]*[*_]{0,3}[ ]*")
_NONE = re.compile(r"[*_]{0,3}(?:none|n/?a|nothing|nil|no(?: response)?|[-–—])(?![\w#/-])", re.IGNORECASE)
_DASHED = re.compile(r"[-–—]\s*(?=[#\w])")
_GLUE = re.compile(rf"[\s,;&+*_{STRUCK}]+|and(?=[\s#*_]|\Z)", re.IGNORECASE)
_OPEN_END = re.compile(r"(?:[,;&+]|(?<!\w)and)[\s*_]*\Z", re.IGNORECASE)
_NOUN = re.compile(
    r"(?:the )?(?:issues?|tickets?|tasks?|pull[ -]requests?|pulls?|prs?)[: ]+(?=[\[<(*_#\w])", re.IGNORECASE
)
_REFERENCE = re.compile(
    r"(?P<repository>[a-z0-9][a-z0-9_-]{0,99}/[a-z0-9._-]{1,100})?#(?P<number>[0-9]+)"
    r"|gh-(?P<short>[0-9]+)"
    r"|(?P<url>(?:https?://|www\.)[^\s<>()\[\]]+)",
    re.IGNORECASE,
)
_REFERENCE_END = re.compile(r"(?![^\W_]|_[^\W_]|[-–]#?[0-9])")
_LINK = re.compile(r"!?\[(?P<words>[^\[\]]*)\](?:\((?P<to>[^()\s]*)(?:\s[^()]*)?\))?")
_LIKE = re.compile(r"#[-+]?[0-9]|https?://|(?<![a-z0-9])gh-[0-9]", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?…](?=\s|\Z)")
_URL_PATH = re.compile(
    r"/([a-z0-9][a-z0-9_-]{0,99})/([a-z0-9._-]{1,100})/(issues|pull)/([0-9]+)(?:[/?#].*)?", re.IGNORECASE
)
_SCHEME = re.compile(r"\Ahttps?://", re.IGNORECASE)
_HOST_END = re.compile(r"[/?#]")

_FORM = "write `#12`, `owner/repo#12` or a link to an issue"
_LEADS_NOWHERE = "does not lead to an issue or pull request"
_NO_REFERENCE = f"no readable reference follows the keyword; {_FORM}"


@lru_cache(maxsize=16)
def _opening(keywords: tuple[str, ...]) -> re.Pattern[str]:
    """Matches a keyword at the start of a line's words; a blank in it may be written as blanks or one hyphen."""
    words = sorted(
        {" ".join(word.split()).casefold() for word in keywords if word.strip()}, key=len, reverse=True
    )
    choices = "|".join(r"(?:\s+|-)".join(re.escape(part) for part in word.split()) for word in words)
    return re.compile(rf"(?P<keyword>{choices})(?![\w-])", re.IGNORECASE)


def _host(server: str) -> str:
    return _split_url(server.strip())[0]


def _split_url(url: str) -> tuple[str, str]:
    """Host (empty for a path on this server) and the rest, cut by hand: what is odd must fail, not be understood."""
    if url.startswith("/") and not url.startswith("//"):
        return "", url
    rest = _SCHEME.sub("", url, count=1)
    cut = _HOST_END.search(rest)
    end = cut.start() if cut else len(rest)
    return rest[:end].lower(), rest[end:]


class _Found(Struct):
    """What was read so far. Dictionaries serve as ordered sets."""

    repository: str
    host: str
    local: dict[int, None] = field(default_factory=dict)
    foreign: dict[Ref, None] = field(default_factory=dict)
    warnings: list[NeedWarning] = field(default_factory=list)

    def add(self, repository: str, number: int) -> None:
        if repository.lower() == self.repository:
            self.local[number] = None
        else:
            self.foreign[Ref(repository, number)] = None

    def warn(self, line: Line, text: str, mend: str) -> None:
        self.warnings.append(NeedWarning(line.number, _harmless(text), mend))


def _harmless(text: str) -> str:
    """Foreign text fit to stand in a code span of ours: one short line without backticks."""
    plain = text[: 4 * _SHOWN].replace(CODE, "...").replace(STRUCK, "...").replace("`", "'")
    words = "".join(char if char.isprintable() else " " for char in plain)
    words = " ".join(words.split())
    return words if len(words) <= _SHOWN else words[: _SHOWN - 3] + "..."


class _Declarations:
    """Walks the lines and hands what belongs to a declaration to the list reader."""

    def __init__(self, lines: Sequence[Line], opening: re.Pattern[str], found: _Found) -> None:
        self._lines = lines
        self._opening = opening
        self._found = found

    def read(self) -> None:
        at = 0
        while at < len(self._lines):
            line = self._lines[at]
            at += 1
            if line.live and (match := self._keyword(line)):
                at = self._declaration(line, match, at)

    def _keyword(self, line: Line) -> re.Match[str] | None:
        return self._opening.match(line.text, _words_begin(line.text))

    def _declaration(self, line: Line, match: re.Match[str], after: int) -> int:
        """Read one declaration; returns the index of the first line that it did not use."""
        colon = _COLON.match(line.text, match.end())
        spoken = colon is not None and bool(colon["colon"])
        start = colon.end() if colon else match.end()
        rest = line.text[start:]
        if _bare_remark(rest):
            return self._below(line, after, spoken=spoken or line.kind is Kind.HEADING)
        if _says_none(rest) or not rest.strip(STRUCK + " ,;"):
            return after
        # "Needs more work" is prose, "depends on the login work" a declaration gone wrong
        sure = line.kind is not Kind.HEADING and (spoken or re.search(r"[\s-]", match["keyword"]) is not None)
        reader = _List(self._found, line, line.text)
        if not reader.read(start):
            if sure or _LIKE.search(rest):
                self._found.warn(line, line.text, reader.trouble or _NO_REFERENCE)
            return after
        return self._wrapped(reader, after)

    def _wrapped(self, reader: "_List", after: int) -> int:
        """A list whose line ends in a comma or an "and" goes on in the next line of the paragraph."""
        while reader.goes_on and after < len(self._lines):
            line = self._lines[after]
            if line.kind is not Kind.TEXT or self._keyword(line):
                break
            reader = _List(self._found, line, line.text)
            if not reader.read(0):
                break
            after += 1
        return after

    def _below(self, head: Line, after: int, *, spoken: bool) -> int:
        at = after
        if head.kind is Kind.HEADING and at < len(self._lines) and self._lines[at].kind is Kind.RULE:
            at += 1  # the underline of the heading
        while at < len(self._lines) and self._lines[at].kind is Kind.BLANK:
            at += 1
        if at == len(self._lines):
            return after
        if self._lines[at].kind is Kind.ITEM:
            return self._items(at)
        if self._lines[at].kind is Kind.TEXT and not self._keyword(self._lines[at]):
            return self._paragraph(at, spoken=spoken)
        return after

    def _items(self, at: int) -> int:
        """The list that begins here. Items nested below the first level are remarks, unless they begin with a reference."""
        level = self._lines[at].depth
        while at < len(self._lines):
            line = self._lines[at]
            if line.kind is Kind.ITEM and line.depth >= level and not self._keyword(line):
                self._entry(line, told=line.depth == level, hushed=line.depth > level)
            elif line.kind is not Kind.BLANK and (
                line.kind is Kind.ITEM or line.depth < level or self._keyword(line)
            ):
                return at
            at += 1
        return at

    def _paragraph(self, at: int, *, spoken: bool) -> int:
        first = True
        while (
            at < len(self._lines) and self._lines[at].kind is Kind.TEXT and not self._keyword(self._lines[at])
        ):
            self._entry(self._lines[at], told=first and spoken)
            first = False
            at += 1
        return at

    def _entry(self, line: Line, *, told: bool, hushed: bool = False) -> None:
        """One line of references that belongs to a declaration above it."""
        start = _words_begin(line.text)
        rest = line.text[start:]
        if _says_none(rest) or not rest.strip(STRUCK + CODE + " ,;"):
            return
        reader = _List(self._found, line, line.text)
        if not reader.read(start) and not hushed and (told or _LIKE.search(rest)):
            self._found.warn(line, line.text, reader.trouble or _NO_REFERENCE)


def _words_begin(text: str) -> int:
    """Where the words begin behind bullets, a checkbox and bold marks."""
    at = 0
    for pattern in (_DECOR, _CHECKBOX, _MARKS):
        if match := pattern.match(text, at):
            at = match.end()
    return at


def _bare_remark(rest: str) -> bool:
    """Whether nothing but a remark in parentheses, a colon or marks follows the keyword."""
    words = rest.strip(" *_:：")
    if not words:
        return True
    return words[0] == "(" and words.find(")") == len(words) - 1 and not _LIKE.search(words)


def _says_none(rest: str) -> bool:
    match = _NONE.match(rest)
    return match is not None and _DASHED.match(rest) is None


class _List:
    """Reads references from a position of one line until prose or the end of the sentence ends the list."""

    def __init__(self, found: _Found, line: Line, text: str) -> None:
        self._found = found
        self._line = line
        self._text = text
        self.trouble = ""
        self.goes_on = False

    def read(self, at: int) -> bool:
        """Whether at least one reference was there, readable or not; what is left of the line is told about."""
        count = 0
        while True:
            at, glued = self._skip_glue(at, first=count == 0)
            after = self._reference(at) if glued else None
            if after is None:
                break
            count += 1
            at = self._skip_remark(after)
        if count:
            self.goes_on = _OPEN_END.search(
                self._text, max(0, len(self._text) - 8)
            ) is not None and at >= len(self._text)
            self._tell_leftover(at)
        return count > 0

    def _skip_glue(self, at: int, *, first: bool) -> tuple[int, bool]:
        """Skip separators and a noun. References need one between them, except before the first."""
        begin = at
        while match := _GLUE.match(self._text, at):
            at = match.end()
        glued = first or at > begin
        if match := _NOUN.match(self._text, at):
            at = match.end()
        return at, glued

    def _skip_remark(self, at: int) -> int:
        """Skip a remark in parentheses behind a reference: `#4 (the schema), #5`."""
        start = at
        while start < len(self._text) and self._text[start] in " *_":
            start += 1
        if not self._text.startswith("(", start):
            return at
        end = self._text.find(")", start)
        return len(self._text) if end < 0 else end + 1

    def _reference(self, at: int) -> int | None:
        """Read the reference that begins here; the position behind it, or None if there is none."""
        text = self._text
        if text.startswith("<", at) and (match := _REFERENCE.match(text, at + 1)) and match["url"]:
            self._link(match["url"], match[0])
            return match.end() + text.startswith(">", match.end())
        if match := _LINK.match(text, at):
            return self._bracketed(match)
        match = _REFERENCE.match(text, at)
        if match is None:
            return None
        if match["url"]:
            url = match["url"].rstrip(".,;:!?'\"*_" + CODE + STRUCK)
            self._link(url, url)
            return at + len(url)
        if not _REFERENCE_END.match(text, match.end()):
            shown = _harmless(text[at : match.end() + 8])
            self.trouble = f"`{shown}` is not one reference; name each issue by itself, such as `#12, #13`"
            return None
        self._plain(match, match[0])
        return match.end()

    def _bracketed(self, match: re.Match[str]) -> int | None:
        """A Markdown link counts by where it leads; `[#12]` alone by its words."""
        if match["to"]:
            self._link(match["to"], match[0])
            return match.end()
        words = _REFERENCE.fullmatch(match["words"].strip())
        if words is None:
            return None
        self._plain(words, match[0])
        return match.end()

    def _plain(self, match: re.Match[str], shown: str) -> None:
        if match["url"]:
            self._link(match["url"], shown)
        else:
            repository = match["repository"] or self._found.repository
            self._number(repository, match["number"] or match["short"], shown)

    def _link(self, url: str, shown: str) -> None:
        host, path = _split_url(url)
        if host not in ("", self._found.host, f"www.{self._found.host}"):
            foreign = "://" in url or host.startswith("www.")
            why = f"leads to another host than {self._found.host}" if foreign else _LEADS_NOWHERE
            return self._found.warn(self._line, shown, f"this link {why}; {_FORM}")
        match = _URL_PATH.fullmatch(path)
        if match is None:
            return self._found.warn(self._line, shown, f"this link {_LEADS_NOWHERE}; {_FORM}")
        return self._number(f"{match[1]}/{match[2]}", match[4], shown)

    def _number(self, repository: str, digits: str, shown: str) -> None:
        # Compared as text first: Python refuses to convert numbers of more than some thousand digits.
        bare = digits.lstrip("0")
        if not bare or len(bare) > 10 or int(bare) > LARGEST:
            self._found.warn(
                self._line, shown, f"there is no issue of this number; numbers run from 1 to {LARGEST}"
            )
        elif repository.rpartition("/")[2] in (".", ".."):
            self._found.warn(self._line, shown, f"this is not the name of a repository; {_FORM}")
        else:
            self._found.add(repository, int(bare))

    def _tell_leftover(self, at: int) -> None:
        """Warn of references behind the end of the list, but not beyond the sentence."""
        end = _SENTENCE_END.search(self._text, at)
        rest = self._text[at : end.start() if end else len(self._text)]
        if _LIKE.search(rest):
            self._found.warn(
                self._line,
                rest,
                "this follows the list and was not read; separate references by commas or `and`",
            )
