"""Readers of configuration values which also say, as JSON Schema, what they take: adding a key gives its schema with it."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import Enum
from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from bot.notation.duration import write_duration
from bot.notation.yamlfile import Value

Schema = Mapping[str, Any]


class Reader(Struct, frozen=True):
    """`read` gives the value or raises UsageError; `schema` takes what `read` takes, as far as JSON Schema can say it.

    `default` is how the value that an absent key means is written; None where there is none to show.
    """

    read: Callable[[Value], Any]
    schema: Schema
    default: Any = None

    def __call__(self, value: Value) -> Any:
        return self.read(value)

    def described(self) -> dict[str, Any]:
        """The schema, with the default that an editor shows."""
        return {**self.schema} if self.default is None else {**self.schema, "default": self.default}


def reads(schema: Schema) -> Callable[[Callable[[Value], Any]], Reader]:
    """Make a reader of a function, which takes what the schema takes and may refuse more of it."""
    return lambda read: Reader(read, schema)


def choice(*names: str) -> Reader:
    """One of the names. YAML 1.1 reads an unquoted `off` as false, which is understood."""
    taken = [*names, False] if "off" in names else [*names]
    return Reader(lambda value: value.choice(*names), {"enum": taken})


def listed(item: Schema, least: int = 0) -> Schema:
    """The schema of a list, for which one text stands as well; nothing at all is an empty list."""
    several: dict[str, Any] = {"type": "array", "items": item}
    if least:
        return {"anyOf": [item, {**several, "minItems": least}]}
    return {"anyOf": [item, several, {"type": "null"}]}


def mapped(properties: Mapping[str, Reader], required: tuple[str, ...] = ()) -> Schema:
    """The schema of a section with these keys and no others. A section without required keys may be left empty."""
    return {
        "type": "object" if required else ["object", "null"],
        "properties": {key: reader.described() for key, reader in properties.items()},
        "additionalProperties": False,
        **({"required": list(required)} if required else {}),
    }


def mapped_freely(item: Schema, names: Schema | None = None) -> Schema:
    """The schema of a section whose keys people choose."""
    free: dict[str, Any] = {"type": ["object", "null"], "additionalProperties": item}
    return {**free, "propertyNames": names} if names else free


def default_of(kind: type[Any], name: str) -> Any:
    """How the default of a field of a Struct is written in YAML; None for one that has none, is empty, or is a section."""
    found = next((each.default for each in fields(kind) if each.name == name), None)
    if isinstance(found, timedelta):
        return write_duration(found)
    if isinstance(found, Enum):
        return found.value
    if isinstance(found, tuple):
        return list(found) if found and all(isinstance(each, str | int) for each in found) else None
    return found if isinstance(found, str | int | float) and found != "" else None


_TEXT_SCHEMA: Schema = {"type": "string", "pattern": "\\S"}

TEXT = Reader(Value.text, _TEXT_SCHEMA)
TEXTS = Reader(Value.texts, listed(_TEXT_SCHEMA))
FLAG = Reader(Value.flag, {"type": "boolean"})


@reads(listed(_TEXT_SCHEMA, least=1))
def some_texts(value: Value) -> tuple[str, ...]:
    """At least one text."""
    return value.texts() or value.fail("must name at least one")
