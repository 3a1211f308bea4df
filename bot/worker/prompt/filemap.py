"""A map of a repository's files that fits: every file, else folders with how many files they hold, less deep until it fits."""

from collections import Counter
from collections.abc import Iterable, Sequence

from bot.notation.sanitise import sanitise
from bot.worker.prompt.packing import tokens

_DEEPEST = 5
_LONGEST = 200


def file_map(paths: Sequence[str], most: int) -> tuple[str, bool]:
    """The map in at most so many tokens, and whether it names every file; empty if not even the top fits."""
    if len(paths) <= most:  # a path is more than a token, so more of them never fit
        whole = "\n".join(_shown(path) for path in sorted(paths))
        if tokens(whole) <= most:
            return whole, True
    for depth in range(_DEEPEST, 0, -1):
        text = "\n".join(_folders(paths, depth))
        if tokens(text) <= most:
            return text, False
    return "", False


def _folders(paths: Iterable[str], depth: int) -> list[str]:
    counts: Counter[str] = Counter()
    for path in paths:
        folder, _, _ = path.rpartition("/")
        counts["/".join(folder.split("/")[:depth])] += 1
    return [
        f"{_shown(folder) or '.'}/ ({count} file{'s' if count > 1 else ''})"
        for folder, count in sorted(counts.items())
    ]


def _shown(path: str) -> str:
    return " ".join(sanitise(path).split())[:_LONGEST]
