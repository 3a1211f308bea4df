"""Attempt keys: `cf-<task>-<n>` names the n-th start of a task everywhere, and is never used again."""

import re

from msgspec import Struct

_KEY = re.compile(r"(?<![0-9A-Za-z-])cf-([1-9][0-9]{0,9})-([1-9][0-9]{0,5})(?![0-9A-Za-z-])", re.ASCII)


class Key(Struct, frozen=True, order=True):
    task: int
    number: int

    def __str__(self) -> str:
        return f"cf-{self.task}-{self.number}"


def read_key(text: str) -> Key | None:
    """The key that the whole text is, or None."""
    match = _KEY.fullmatch(text)
    return Key(int(match[1]), int(match[2])) if match else None


def keys_in(run_title: str) -> tuple[Key, ...]:
    """The keys that a run's title carries, in order."""
    return tuple(Key(int(task), int(number)) for task, number in _KEY.findall(run_title))


def branch_of(key: Key, fresh: bool = False) -> str:
    """The branch that work is published on: `cf/<task>`, or `cf/<task>-<n>` where that one is not ours to move."""
    return f"cf/{key.task}-{key.number}" if fresh else f"cf/{key.task}"
