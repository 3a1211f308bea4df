"""Text within so many bytes, which says how much of it is missing."""

from collections.abc import Sequence


def cut(text: str, most: int) -> str:
    """The text, or as many whole paragraphs from its beginning as fit into so many bytes, and how many more there are."""
    if len(text.encode("utf-8", "replace")) <= most:
        return text
    parts = text.split("\n\n")
    kept = _fitting(parts, most - 60, 2)
    return "\n\n".join([*parts[:kept], f"_{len(parts) - kept} more parts are left out._"]) + "\n"


def bounded(lines: Sequence[str], most: int, more: str) -> list[str]:
    """The lines, or as many as fit into so many bytes and one that says how many are missing (`more`, with `{}` for it)."""
    kept = _fitting(lines, most, 1)
    return [*lines[:kept], *([more.format(len(lines) - kept)] if kept < len(lines) else [])]


def _fitting(parts: Sequence[str], most: int, between: int) -> int:
    size = 0
    for place, part in enumerate(parts):
        size += len(part.encode("utf-8", "replace")) + between
        if size > most:
            return place
    return len(parts)
