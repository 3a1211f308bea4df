"""The one door for what reaches a terminal or a job's log: own lines, JSON, logging, errors, tracebacks.

Nothing else writes to standard output or standard error; `make check` holds that. Whatever goes through here is made
plain first (`bot/notation/joblog.py`), so words of others that are quoted in a line of ours command nothing.
"""

import logging
import re
import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from bot.notation.bounds import cut
from bot.notation.joblog import defused, plain, plain_json


def say(text: str = "") -> None:
    """Print a line, or several, to standard output."""
    _write(sys.stdout, f"{plain(text)}\n")


def say_json(text: str) -> None:
    """Print JSON to standard output: the same values, and nothing that a runner obeys."""
    _write(sys.stdout, f"{plain_json(text)}\n")


def complain(text: str) -> None:
    """Print a line, or several, to standard error."""
    _write(sys.stderr, f"{plain(text)}\n")


def pass_on(text: str) -> None:
    """Print output of a program as it came. Whoever calls this has taken secrets and commands out of it."""
    _write(sys.stdout, text)


def flush() -> None:
    """Hand over what is still in a buffer. Raises BrokenPipeError if nobody reads any more."""
    sys.stdout.flush()


def terminal() -> TextIO:
    """Returns standard output for a program that draws: colours stay, commands do not."""
    drawn: Any = _Drawn(sys.stdout)
    return drawn  # type: ignore[no-any-return]  # it has all that the real one has


SUMMARY_MOST = 1024 * 1024 - 1024
"""Bytes of a step's summary: GitHub drops all of it where the file passes a mebibyte, and others may add to it.

Source: docs.github.com, "Workflow commands for GitHub Actions", on adding a job summary.
"""

_HEADING = re.compile(r"^#{2,3} ", re.MULTILINE)
_LEFT_OUT = re.compile(r"\A_(\d+) earlier parts are left out._\n\n")


def add_to_summary(file: Path, text: str) -> None:
    """Add a part, which begins with a heading. Earlier ones that leave it no room are taken away, and counted."""
    part = cut(text, SUMMARY_MOST - 100).encode("utf-8", "replace")
    before = file.read_bytes() if file.exists() else b""
    if len(before) + len(part) <= SUMMARY_MOST:
        with file.open("ab") as out:
            out.write(part)
        return
    shown = before.decode("utf-8", "replace")
    told = _LEFT_OUT.match(shown)
    count = max(1, len(_HEADING.findall(shown))) + (int(told[1]) if told else 0)
    file.write_bytes(f"_{count} earlier parts are left out._\n\n".encode() + part)


def set_up() -> None:
    """Send logging and uncaught errors of this process through the door."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Format("cf: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread


def _write(stream: TextIO, text: str) -> None:
    stream.write(text)
    stream.flush()


class _Format(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return plain(super().format(record))


class _Drawn:
    """A stream that takes commands out of what is drawn to it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(defused(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _uncaught(kind: type[BaseException], error: BaseException, where: TracebackType | None, /) -> None:
    complain("".join(traceback.format_exception(kind, error, where)).rstrip())


def _uncaught_in_thread(arguments: threading.ExceptHookArgs, /) -> None:
    if arguments.exc_value is not None and arguments.exc_type is not SystemExit:
        _uncaught(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)
