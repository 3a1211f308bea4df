"""Units as they travel in the worker's `units` input: a JSON list the workflow reads with `fromJSON`.

Beside the unit's own fields each entry holds `lead` and `name` (`#12`, or `#12 #13`), which the workflow uses in names and groups.
"""

import dataclasses
from collections.abc import Sequence

import msgspec

from bot.model.unit import Unit
from bot.notation.codec import Unreadable, load


def write_units(units: Sequence[Unit]) -> str:
    """Every field is written, so that an expression in the workflow never meets a missing one."""
    return msgspec.json.encode([_plain(unit) for unit in units]).decode()


def read_unit(text: str) -> Unit:
    """One entry, as the task workflow passes it on. Raises Unreadable."""
    unit = load(text, Unit)
    if not unit.tasks or not len(unit.tasks) == len(unit.keys) == len(unit.comments):
        raise Unreadable("not a readable unit: tasks, keys and comments must be as many, and at least one")
    return unit


def _plain(unit: Unit) -> dict[str, object]:
    fields: dict[str, object] = msgspec.to_builtins(dataclasses.asdict(unit))
    return {"lead": unit.lead, "name": " ".join(f"#{task}" for task in unit.tasks), **fields}
