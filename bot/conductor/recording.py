"""The record that a tick leaves behind, and `cf replay`, which decides from it once more."""

import logging
from pathlib import Path

from bot import __version__
from bot.conductor.tell.summary import events
from bot.conductor.tick import Tick
from bot.notation.events import event_fields, write_lines
from bot.notation.quoting import quote_line
from bot.notation.ticks import (
    VERSION,
    TickRecord,
    write_decisions,
    write_snapshot,
    write_tick,
)
from bot.plan import plan
from bot.plan.redacted import comparable, differences, redacted

log = logging.getLogger(__name__)

EVENTS_FILE = "events.jsonl"


def keep(tick: Tick, folder: Path) -> None:
    """Write the tick's record into the folder, and add its events to `events.jsonl`. What cannot be written is logged, no more."""
    record = record_of(tick)
    if record.unfaithful:
        log.warning("the tick's record decides otherwise about %s", _listed(record.unfaithful))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"tick-{record.at:%Y%m%dT%H%M%S.%f}Z.json").write_bytes(write_tick(record))
        with (folder / EVENTS_FILE).open("a", encoding="utf-8") as file:
            file.write(write_lines(events(tick)))
    except OSError as error:
        log.warning("the tick's record could not be written: %s", error)


def record_of(tick: Tick) -> TickRecord:
    """All that is needed to decide again, without anybody's words."""
    snapshot = redacted(tick.seen.snapshot)
    again = plan(snapshot)
    effects = tick.effects
    return TickRecord(
        VERSION,
        __version__,
        snapshot.now,
        snapshot.config.blob,
        write_snapshot(snapshot),
        write_decisions(again.decisions),
        tuple(differences(comparable(tick.plan), comparable(again))),
        {
            "started": effects.started,
            "skipped": {task: quote_line(why) for task, why in effects.skipped.items()},
            "refused": len(effects.refused),
            "writes": effects.writes,
        },
        tuple(event_fields(event) for event in events(tick)),
    )


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(f"#{number}" for number in numbers)
