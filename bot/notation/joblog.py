"""What may stand in a job's log: no line that the runner obeys, no byte that moves a terminal.

The runner obeys `##[command]` anywhere in a line, and `::command::` at its start, after white space
(actions/runner, ActionCommand.cs).
"""

import re

_ANYWHERE = re.compile(r"##(?=\[)")
_AT_THE_START = re.compile(r"(^|[\r\n])([^\S\r\n]*):(?=:)")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")


def plain(text: str) -> str:
    """Returns the text with nothing in it that runner or terminal obeys. Line breaks and tabs stay."""
    return defused(_CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def defused(text: str) -> str:
    """Returns the text with nothing in it that the runner obeys; colours of a terminal stay."""
    # A lone surrogate cannot be written as UTF-8: a file name may hold one.
    writable = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return _AT_THE_START.sub(r"\1\2: ", _ANYWHERE.sub("## ", writable))


def plain_json(text: str) -> str:
    """Returns the same JSON, spelt so that the runner obeys none of it: `##` stands only inside of texts."""
    return text.replace("##[", "#\\u0023[")
