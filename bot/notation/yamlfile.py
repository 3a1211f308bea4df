"""YAML with the line of every value, so that an error can name file, line, what was found and what would be right."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, TypeVar

import yaml
from msgspec import Struct, field

from bot.model.errors import UsageError

T = TypeVar("T")
Path = tuple[str | int, ...]

# The C loader is about nine times faster; PyYAML without it still works.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FEW = 10  # keys that an error can list without hiding the rest of it
_MOST_NODES = 20_000  # aliases can make a small text expand without bound


class Value(Struct, frozen=True):
    """One value of a YAML file with its place. `raw` is what YAML says it is."""

    raw: Any
    file: str
    path: Path = ()
    lines: Mapping[Path, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The key path as people write it: `retry.max_attempts`, `gates[0].run`."""
        text = ""
        for part in self.path:
            text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
        return " ".join(text.split())

    @property
    def line(self) -> int:
        return self.lines.get(self.path, 1)

    def fail(self, right: str) -> NoReturn:
        """Raise UsageError: where, what was found, what would be right."""
        where = f"{self.file}, line {self.line}"
        what = f"{self.name}: " if self.path else ""
        raise UsageError(f"{where}: {what}{right}, found {_shown(self.raw)}")

    def items(self, known: Mapping[str, object] | None = None) -> Iterator[tuple[str, "Value"]]:
        """The entries of a mapping. With `known`, an unknown key is an error that names the nearest known one."""
        if self.raw is None:
            return
        if not isinstance(self.raw, dict):
            keys = f", with {', '.join(known)} as keys" if known and len(known) <= _FEW else ""
            self.fail(f"must be a mapping of keys to values{keys}")
        for key in self.raw:
            child = self._child(key)
            if known is not None and key not in known:
                from difflib import get_close_matches  # only an error needs it

                near = get_close_matches(key, list(known), 1, 0.6)
                hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
                where = f"{self.file}, line {child.line}"
                raise UsageError(f"{where}: unknown key {child.name!r}; {hint}")
            yield key, child

    def entries(self) -> Iterator["Value"]:
        """The entries of a list; a single text counts as a list of one."""
        if self.raw is None:
            return
        if isinstance(self.raw, str):
            yield self
            return
        if not isinstance(self.raw, list):
            self.fail("must be a list")
        for index in range(len(self.raw)):
            yield self._child(index)

    def _child(self, key: str | int) -> "Value":
        return Value(self.raw[key], self.file, (*self.path, key), self.lines)

    def text(self) -> str:
        if not isinstance(self.raw, str) or not self.raw.strip():
            self.fail("must be a text that is not empty")
        return self.raw

    def integer(self, low: int, high: int) -> int:
        if isinstance(self.raw, bool) or not isinstance(self.raw, int) or not low <= self.raw <= high:
            self.fail(f"must be a whole number from {low} to {high}")
        return self.raw

    def flag(self) -> bool:
        if not isinstance(self.raw, bool):
            self.fail("must be true or false")
        return self.raw

    def choice(self, *names: str) -> str:
        """One of the names; YAML reads an unquoted `off` as false, which is understood."""
        raw = "off" if self.raw is False and "off" in names else self.raw
        if raw not in names or not isinstance(raw, str):
            self.fail(f"must be one of {', '.join(names)}")
        return raw

    def texts(self) -> tuple[str, ...]:
        return tuple(entry.text() for entry in self.entries())

    def each(self, read: Callable[["Value"], T]) -> tuple[T, ...]:
        return tuple(read(entry) for entry in self.entries())


def read_yaml(text: str, file: str) -> Value:
    """Parse one YAML document. Raises UsageError that names file and line: bad YAML, a key twice, a key that is no text."""
    try:
        loader = _LOADER(text)
        try:
            node = loader.get_single_node()
            lines: dict[Path, int] = {}
            raw = _Builder(loader, file, lines).build(node, ()) if node is not None else None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise UsageError(
            f"{file}, line {line}: not readable as YAML: {error.problem or error.context}"
        ) from error
    except RecursionError as error:
        raise UsageError(f"{file}: not readable as YAML: nested too deep") from error
    except (yaml.YAMLError, ValueError) as error:
        raise UsageError(f"{file}: not readable as YAML: {str(error).splitlines()[0]}") from error
    return Value(raw, file, (), lines)


class _Builder:
    """Turns nodes into plain values and notes their lines."""

    def __init__(self, loader: Any, file: str, lines: dict[Path, int]) -> None:
        self._loader, self._file, self._lines, self._left = loader, file, lines, _MOST_NODES

    def build(self, node: Any, path: Path) -> Any:
        self._left -= 1
        line = node.start_mark.line + 1
        if self._left < 0 or len(path) > 20:
            raise UsageError(
                f"{self._file}, line {line}: too large or too deep; aliases that expand without bound are refused"
            )
        self._lines.setdefault(path, line)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        try:
            return self._loader.construct_object(node)
        except (
            ValueError,
            LookupError,
            AttributeError,
        ) as error:  # what PyYAML raises for `!!bool maybe`, 2024-13-45 and the like
            raise UsageError(
                f"{self._file}, line {line}: {_shown(node.value)} is not a value of the kind it looks like"
            ) from error

    def _mapping(self, node: Any, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str):
                raise UsageError(f"{self._file}, line {line}: a key must be a plain text")
            if key in found:
                raise UsageError(f"{self._file}, line {line}: the key {key!r} stands here a second time")
            self._lines[(*path, key)] = line
            found[key] = self.build(value_node, (*path, key))
        return found


def _shown(raw: Any) -> str:
    try:
        text = repr(raw)
    except ValueError:  # Python refuses to write out an integer of thousands of digits
        return "a number too large to show"
    return text if len(text) <= 60 else text[:57] + "..."
