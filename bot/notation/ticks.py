"""The record of one tick: all that its plan was made from, what it decided, and what came of it; it can be planned again.

JSON knows only texts as keys, so a mapping with other keys is written as a list of pairs.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from bot.model.decision import Decision
from bot.model.snapshot import Snapshot
from bot.notation.codec import Unreadable, load

VERSION = 1


class TickRecord(Struct, frozen=True):
    """`decisions`, by task, are as the reduced snapshot gives them. `unfaithful` names the tasks which the tick itself, with all
    the words before it, decided otherwise. `effects` and `events` are what came of it.
    """

    version: int
    made_by: str
    at: datetime
    configuration: str  # git blob id of the file in force
    snapshot: Mapping[str, Any]
    decisions: Mapping[int, Any]
    unfaithful: tuple[int, ...] = ()
    effects: Mapping[str, Any] = {}
    events: tuple[Mapping[str, Any], ...] = ()


def write_tick(record: TickRecord) -> bytes:
    return msgspec.json.encode(record)


def read_tick(text: bytes) -> TickRecord:
    """Raises Unreadable for what is no record of a tick, or one of a later version."""
    record = load(text, TickRecord)
    if record.version != VERSION:
        raise Unreadable(f"a record of version {record.version}; this cf reads version {VERSION}")
    return record


def write_snapshot(snapshot: Snapshot) -> dict[str, Any]:
    """The snapshot as plain JSON values."""
    fields: dict[str, Any] = {}
    for name, (key, hint) in _wire().items():
        value = getattr(snapshot, name)
        fields[key] = msgspec.to_builtins(list(value.items()) if _in_pairs(hint) else value)
    return fields


def read_snapshot(fields: Mapping[str, Any]) -> Snapshot:
    """Raises Unreadable."""
    values: dict[str, Any] = {}
    try:
        for name, (key, hint) in _wire().items():
            if key not in fields:
                continue  # written before there was such a field
            if _in_pairs(hint):
                # The types come from the hint of the field, so a checker that reads the text cannot know them.
                left, right = get_args(hint)
                values[name] = dict(msgspec.convert(fields[key], list[tuple[left, right]], strict=False))  # type: ignore[valid-type]
            else:
                values[name] = msgspec.convert(fields[key], hint, strict=False)
        return Snapshot(**values)
    except (msgspec.MsgspecError, TypeError) as error:
        raise Unreadable(f"not a readable snapshot: {error}") from error


def write_decisions(decisions: tuple[Decision, ...]) -> dict[int, Any]:
    """The decisions as plain JSON values, by task."""
    return {decision.task: msgspec.to_builtins(decision) for decision in decisions}


@cache
def _wire() -> Mapping[str, tuple[str, Any]]:
    """Of each field of a snapshot: its name in a record, and its type."""
    hints = get_type_hints(Snapshot)
    return {info.name: (info.encode_name, hints[info.name]) for info in msgspec.structs.fields(Snapshot)}


def _in_pairs(hint: Any) -> bool:
    return get_origin(hint) is Mapping and get_args(hint)[0] not in (int, str)
