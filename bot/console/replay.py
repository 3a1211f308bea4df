"""`cf replay`: decide once more from the record that a tick left behind."""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bot.conductor.recording import _listed
from bot.model.errors import UsageError
from bot.notation.codec import Unreadable
from bot.notation.ticks import TickRecord, read_snapshot, read_tick, write_decisions
from bot.plan import plan
from bot.plan.redacted import differences
from bot.printing import say


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
        say("\n".join(f"{name}: {line}" for line in replay_lines(record, different)))
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
