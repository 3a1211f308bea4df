"""The record that a tick leaves behind, and `cf replay`, which decides from it once more."""

import argparse
import json
import logging
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bot import __version__
from bot.conductor.tell.summary import events
from bot.conductor.tick import Tick
from bot.model.errors import UsageError
from bot.notation.codec import Unreadable
from bot.notation.events import event_fields, write_lines
from bot.notation.quoting import quote_line
from bot.notation.ticks import (
    VERSION,
    TickRecord,
    read_snapshot,
    read_tick,
    write_decisions,
    write_snapshot,
    write_tick,
)
from bot.plan import plan
from bot.plan.redacted import bones, differences, reduced

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
    snapshot = reduced(tick.seen.snapshot)
    again = plan(snapshot)
    effects = tick.effects
    return TickRecord(
        VERSION,
        __version__,
        snapshot.now,
        snapshot.config.blob,
        write_snapshot(snapshot),
        write_decisions(again.decisions),
        tuple(differences(bones(tick.plan), bones(again))),
        {
            "started": effects.started,
            "skipped": {task: quote_line(why) for task, why in effects.skipped.items()},
            "refused": len(effects.refused),
            "writes": effects.writes,
        },
        tuple(event_fields(event) for event in events(tick)),
    )


def configure(parser: argparse.ArgumentParser) -> None:
    """The argument of `cf replay`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "  gh run download RUN --name cf-tick-RUN-1 && cf replay tick-*.json\n\n"
        "Needs no token and no network. exit code: 0 the same decisions, 1 others, each shown, 2 no record of a tick"
    )
    parser.add_argument("file", nargs="+", help="records of ticks, tick-<time>.json")


def run(args: argparse.Namespace, environ: Mapping[str, str]) -> int:  # noqa: ARG001 - every command has this shape
    """0 if every record decides the same again. Raises UsageError naming the file."""
    same = True
    for name in args.file:
        try:
            record = read_tick(Path(name).read_bytes())
            different = differences(record.decisions, _again(record))
        except OSError as error:
            raise UsageError(f"{name}: cannot be read: {error.strerror}") from error
        except Unreadable as error:
            raise UsageError(f"{name}: is no record of a tick: {error}") from error
        sys.stdout.write("".join(f"{name}: {line}\n" for line in replay_lines(record, different)))
        same = same and not different and not record.unfaithful
    return 0 if same else 1


def _again(record: TickRecord) -> dict[int, Any]:
    """The decisions as they come out now, by way of JSON as those in the record went."""
    found = write_decisions(plan(read_snapshot(record.snapshot)).decisions)
    return {number: json.loads(json.dumps(decision)) for number, decision in found.items()}


def replay_lines(record: TickRecord, different: Mapping[int, tuple[Any, Any]]) -> Iterator[str]:
    """What a person is told: the same, or what differs, field by field."""
    when = f"{record.at:%Y-%m-%d %H:%M:%S} UTC (cf {record.made_by})"
    total = len(record.decisions)
    if record.unfaithful:
        yield f"the tick decided otherwise about {_listed(record.unfaithful)}: a rule reads a text that is left out here"
    if not different:
        yield f"the same {total} decisions as at {when}"
        return
    yield f"{len(different)} of {total} decisions differ from those at {when}"
    for number, (before, now) in different.items():
        if before is None or now is None:
            yield f"#{number}: decided about only {'now' if before is None else 'then'}"
            continue
        for field in sorted({*before, *now}):
            if before.get(field) != now.get(field):
                yield f"#{number} {field}: was {json.dumps(before.get(field))}, is {json.dumps(now.get(field))}"


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(f"#{number}" for number in numbers)
