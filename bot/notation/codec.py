"""Values to compact JSON and back, by msgspec: sparse when written, strict about types and tolerant of new fields when read."""

import dataclasses
from typing import Any, TypeVar

import msgspec

from bot.model.errors import BotError

T = TypeVar("T")


class Unreadable(BotError):
    """Text that should hold a value of ours does not; the message names the place in it."""


def dump(value: Any) -> str:
    """Write a dataclass as compact JSON, leaving out what equals its field's default."""
    return msgspec.json.encode(sparse(value)).decode()


def load(text: str | bytes, kind: type[T]) -> T:
    """Read JSON as the dataclass `kind`; unknown fields are ignored, so older code reads newer text. Raises Unreadable."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Unreadable(f"not a readable {kind.__name__.lower()}: {error}") from error


def sparse(value: Any) -> Any:
    """A dataclass as nested plain values without the fields that hold their default."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: sparse(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if not _is_default(field, getattr(value, field.name))
        }
    if isinstance(value, tuple | list):
        return [sparse(item) for item in value]
    if isinstance(value, dict):
        return {key: sparse(item) for key, item in value.items()}
    return msgspec.to_builtins(value)


def _is_default(field: "dataclasses.Field[Any]", value: Any) -> bool:
    if field.default is not dataclasses.MISSING:
        return bool(value == field.default)
    if field.default_factory is not dataclasses.MISSING:
        return bool(value == field.default_factory())
    return False
