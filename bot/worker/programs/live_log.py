"""The live log of a program: shown line by line, redacted, and unable to give the runner a command."""

import codecs
import re
import secrets
from collections.abc import Callable
from types import TracebackType
from typing import Self

from bot.worker.programs.redact import RedactedStream, Redactor

_CAP = 2_000_000  # characters shown; the kept log holds head and tail of everything
_WIDTH = 4_000  # longer lines are cut into pieces
_LINE_END = re.compile(r"\r\n|\r|\n")


class LiveLog:
    """Feed it bytes between entering and leaving. `write` gets whole lines, `prefix` stands before each."""

    def __init__(self, write: Callable[[str], object], redactor: Redactor, prefix: str = "") -> None:
        self._write = write
        self._prefix = prefix
        self._stream = RedactedStream(redactor)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._partial = ""
        self._left = _CAP
        self._token = secrets.token_hex(16)  # unknown to the program, so it cannot switch commands on again

    def __enter__(self) -> Self:
        self._write(f"::stop-commands::{self._token}\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._left > 0:
            self._show(self._stream.feed(self._decoder.decode(b"", final=True)) + self._stream.flush())
            if self._partial:
                self._line(self._partial)
        self._write(f"::{self._token}::\n")

    def feed(self, data: bytes) -> None:
        """Show what is complete by now. Past the cap nothing more is shown, or even decoded."""
        if self._left > 0:
            self._show(self._stream.feed(self._decoder.decode(data)))

    def _show(self, text: str) -> None:
        lines = _LINE_END.split(self._partial + text)
        self._partial = lines.pop()
        for line in lines:
            self._line(line)
        while len(self._partial) > _WIDTH:
            self._line(self._partial[:_WIDTH])
            self._partial = self._partial[_WIDTH:]

    def _line(self, line: str) -> None:
        for at in range(0, max(len(line), 1), _WIDTH):
            if self._left <= 0:
                return
            piece = line[at : at + _WIDTH]
            self._left -= len(piece) + 1
            self._write(f"{self._prefix}{piece}\n")
            if self._left <= 0:
                self._write(f"{self._prefix}[more output is not shown here; the kept log has its end]\n")
