"""Units as they travel in the worker's `units` input: a JSON list the workflow reads with `fromJSON`.

Beside the unit's own fields each entry holds what the workflow needs and expressions cannot work out: `lead` and `name`
(`#12`, or `#12 #13`) for groups and names, `job_minutes` for the agent job's limit, and each verify leg's `number` for
artifact names, because a gate's own name may hold characters that those may not.
"""

from collections.abc import Sequence

import msgspec

from bot.model.unit import Unit
from bot.notation.codec import Unreadable, load

# Set-up, checkout and keeping the work come on top of the worker's own time.
_AROUND_MINUTES = 25
BASELINE_MINUTES = 15
"""How long the gates may take on the untouched default branch, all together."""


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
    fields: dict[str, object] = msgspec.to_builtins(unit)
    legs = [{"number": number, **msgspec.to_builtins(leg)} for number, leg in enumerate(unit.verify, start=1)]
    return {
        "lead": unit.lead,
        "name": " ".join(f"#{task}" for task in unit.tasks),
        "job_minutes": unit.timeout_minutes + _AROUND_MINUTES + BASELINE_MINUTES * unit.measure,
        **fields,
        "verify": legs,
    }
