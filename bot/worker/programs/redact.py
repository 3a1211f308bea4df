"""Secret values never leave the job: whatever is printed, kept or posted goes through a `Redactor`."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

HIDDEN = "***"
_SHORTEST = 6  # a shorter value cannot be told from ordinary words
_HINT = (
    4  # so many characters of a secret at the end of a stream are held back until it is known how they go on
)

# Shapes that are secrets whoever owns them: only those whose form alone leaves no doubt.
_SHAPES = re.compile(
    r"gh[opusr]_[0-9A-Za-z]{36,255}|github_pat_[0-9A-Za-z_]{60,255}|sk-ant-[0-9A-Za-z_-]{40,255}"
    r"|AKIA[0-9A-Z]{16}(?![0-9A-Z])|-----BEGIN (?:[A-Z]{2,12} ){0,2}PRIVATE KEY-----"
)


class Redactor:
    """Knows the job's secret values, also as base64, URL and JSON text, hexadecimal, and split by line ends."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        self._pattern = re.compile("|".join(map(_across_lines, self._forms))) if forms else None

    def text(self, text: str) -> str:
        """The text with every secret replaced by `***`."""
        if self._pattern is not None:
            text = self._pattern.sub(HIDDEN, text)
        return _SHAPES.sub(HIDDEN, text)

    def finds(self, text: str) -> bool:
        """Whether the text holds a secret."""
        return bool((self._pattern and self._pattern.search(text)) or _SHAPES.search(text))

    def unfinished(self, text: str) -> int:
        """How many characters at the end may be the beginning of a secret."""
        longest = len(self._forms[0]) if self._forms else 0
        end = [at for at in range(max(0, len(text) - 3 * longest), len(text)) if text[at] not in "\r\n"]
        squeezed = "".join(text[at] for at in end)
        for form in self._forms:
            for size in range(min(len(form) - 1, len(squeezed)), _HINT - 1, -1):
                if squeezed.endswith(form[:size]):
                    return len(text) - end[-size]
        return 0


class RedactedStream:
    """Redacts text that arrives in pieces, so that a secret cut by a piece's end is still found."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""
        self._shown = (
            ""  # the last of what was shown: a secret may begin there, too little of it to be held back
        )

    def feed(self, text: str) -> str:
        """What can be shown by now."""
        whole = self._redactor.text(self._shown + self._held + text)
        pairs = zip(self._shown, whole, strict=False)
        begin = next(
            (at for at, (old, new) in enumerate(pairs) if old != new), min(len(self._shown), len(whole))
        )
        cut = max(begin, len(whole) - self._redactor.unfinished(whole))
        self._held, ready = whole[cut:], whole[begin:cut]
        self._shown = (self._shown + ready)[-3 * _HINT :]
        return ready

    def flush(self) -> str:
        """What was held back; at the end of the stream it is no whole secret, but still nothing to show."""
        held, self._held = self._held, ""
        return HIDDEN if held else ""


def _forms(secret: str) -> Iterator[str]:
    parts = {secret, *secret.split("\n")} if "\n" in secret else {secret}
    for part in parts:
        value = part.strip()
        if len(value) < _SHORTEST:
            continue
        yield value
        yield json.dumps(value)[1:-1]
        for escaped in (quote(value, safe=""), quote_plus(value)):
            yield escaped
            yield re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), escaped)
        yield value.encode().hex()
        yield from _base64_forms(value.encode())


def _base64_forms(value: bytes) -> Iterator[str]:
    """The part of the base64 text that the value alone decides, for each of the three places it may start at."""
    for offset in range(3):
        start = -(-offset * 8 // 6)
        whole = (offset + len(value)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            form = encode(b"\0" * offset + value).decode()[start:whole]
            if len(form) >= _SHORTEST:
                yield form


def _across_lines(form: str) -> str:
    """The form with line ends anywhere inside, also those of a diff, whose lines begin with a sign."""
    return r"(?:\r?\n[+ -]?)?".join(re.escape(char) for char in form)
