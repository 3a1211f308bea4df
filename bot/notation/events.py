"""Events as JSON: a list for the Action's output, one a line for `events.jsonl`."""

from collections.abc import Iterable
from typing import Any

import msgspec

from bot.model.event import Event


def write_events(events: Iterable[Event]) -> str:
    """A JSON list on one line."""
    return msgspec.json.encode([event_fields(event) for event in events]).decode()


def write_lines(events: Iterable[Event]) -> str:
    """JSON Lines."""
    return "".join(f"{msgspec.json.encode(event_fields(event)).decode()}\n" for event in events)


def event_fields(event: Event) -> dict[str, Any]:
    """The event as one flat object; fields that say nothing are left out."""
    fields: dict[str, Any] = msgspec.to_builtins(event)
    more: dict[str, Any] = fields.pop("more", {})
    return {**fields, **more}
