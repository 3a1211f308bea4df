"""Lines of JSON that a program prints, looked into without ever trusting their shape."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from bot.model.report import Category
from bot.worker.engines.facts import Facts

Event = Mapping[str, Any]


def event(line: str) -> Event | None:
    """The object that this line is, or None."""
    if not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def at(value: object, *path: str) -> Any:
    """What stands there, or None."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def text(value: object, *path: str) -> str:
    """The text that stands there, or nothing."""
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def number(value: object, *path: str) -> float:
    """The number that stands there, not below 0, or 0."""
    found = at(value, *path)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < 1e15:
        return 0
    return found if math.isfinite(found) else 0


def count(value: object, *names: str) -> int:
    """The sum of these whole numbers."""
    return sum(int(number(value, name)) for name in names)


def each(value: object, *path: str) -> Iterator[Event]:
    """The objects of the list that stands there."""
    found = at(value, *path)
    yield from (item for item in found if isinstance(item, dict)) if isinstance(found, list) else ()


_SHELL = frozenset({"bash", "shell", "exec_command", "run_shell_command", "local_shell", "powershell"})
_PLAN = frozenset(
    "todowrite todoread taskcreate taskupdate exitplanmode update_plan write_todos update_todo report_intent plan".split()
)
_FILE = frozenset(
    "read edit multiedit write notebookedit apply_patch patch create view str_replace str_replace_editor glob grep list"
    " read_file read_many_files write_file replace list_directory search_file_content".split()
)
_WHERE = ("command", "cmd", "file_path", "filePath", "path", "notebook_path", "pattern", "description")


def tool_step(facts: Facts, name: str, given: object) -> Facts:
    """One use of a tool of the program, by its name and arguments."""
    kind = name.casefold()
    where = next((words for key in _WHERE if (words := text(given, key))), "")
    if kind in _SHELL:
        return facts.step(Category.SHELL, where or name)
    words = f"{name}: {where}" if where else name
    if kind in _FILE:
        return facts.step(Category.FILE, words)
    return facts.step(Category.PLAN if kind in _PLAN else Category.MODEL, words)
