"""The fingerprint of a failure: the same for two runs that failed alike, whatever their lines, folders, times and ids were.

What stays significant are words and small numbers: `3 failed` and `2 failed` are two failures, because that is progress.
Every pattern is linear in the length of its text.
"""

import hashlib
import re
from collections.abc import Iterable

_LINES = 60  # of the end of each output: runs that differ only in what was cut from the beginning still agree

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]{0,30}[ -/]{0,5}[@-~]|\][^\x07\x1b]{0,300}(?:\x07|\x1b\\)|[@-Z\\-_])")
# In this order: what is looked for later must not be part of what came before.
_VARIABLE = (
    (re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "ID"),
    (re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]+[0-9:.,]{4,20})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"), "TIME"),
    (re.compile(r"\b[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?"), "TIME"),
    (re.compile(r"(?<![\w.])[0-9]{1,9}(?:[.,][0-9]{1,9})?[ ]?(?:ns|us|µs|ms|s|sec|secs|seconds?|minutes?|min|m)\b"), "TIME"),
    (re.compile(r"\b0[xX][0-9a-fA-F]{1,32}\b"), "ADDRESS"),
    # A folder in front of a name: absolute, of a drive, or relative. The name itself says what failed.
    (re.compile(r"(?<![\w/\\])(?:[A-Za-z]:)?(?:[\w.+@~-]{0,100}[/\\]){1,40}(?=[\w.+@~-])"), ""),
    (re.compile(r"\b(?=[0-9a-fA-F]{0,6}[0-9])(?=[0-9]{0,6}[a-fA-F])[0-9a-fA-F]{7,64}\b"), "ID"),
    (re.compile(r"(?<=[\w)\]]):[0-9]{1,9}(?::[0-9]{1,9})?"), ":LINE"),
    (re.compile(r"\b(lines?|columns?|col)[ ]{0,2}[0-9]{1,9}", re.IGNORECASE), r"\1 LINE"),
    (re.compile(r"\(([0-9]{1,9}),[ ]?([0-9]{1,9})\)"), "(LINE)"),
    (re.compile(r"[0-9]{5,40}"), "ID"),
    (re.compile(r"[-=_*#~.]{4,}"), "-"),
)  # fmt: skip


def failure_fingerprint(failures: Iterable[tuple[str, str]]) -> str:
    """32 hex digits (of a SHA-256) for what failed: name and output of each. Empty if nothing did."""
    told = [f"{name}\n{normalised(output)}" for name, output in failures]
    return hashlib.sha256("\0".join(told).encode("utf-8", "replace")).hexdigest()[:32] if told else ""


def normalised(output: str) -> str:
    """The end of the output without what differs between runs: line numbers, paths, addresses, times, ids, spacing."""
    lines = [line for raw in output.splitlines() if (line := _line(raw))]
    return "\n".join(lines[-_LINES:])


def _line(line: str) -> str:
    text = _ESCAPE.sub("", line[:2_000])
    for pattern, instead in _VARIABLE:
        text = pattern.sub(instead, text)
    return " ".join(text.split())
