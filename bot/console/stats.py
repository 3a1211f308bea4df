"""`cf stats`: what engines and categories came to, from the records on GitHub."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec.structs import replace

from bot.model.config import Config
from bot.model.errors import UsageError
from bot.model.task import Task
from bot.notation.quoting import quote_line
from bot.plan.telling.statistics import Tally, by_category, by_engine
from bot.printing import say, say_json

_MOST_DAYS = 36_500
_COLUMNS = (
    "attempted", "passed", "failed", "gates passed", "self-corrected", "mean min", "tokens/passed task", "model cost", "runner min",
    "runner cost",
)  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `cf stats`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "  cf stats --days 30\n  cf stats --json | jq '.engines[] | {name, passed, attempted}'\n\n"
        "environment: GITHUB_TOKEN, GITHUB_REPOSITORY\n"
        "Runner minutes and cost are estimates at GitHub's prices for standard runners; public repositories pay nothing."
    )
    parser.add_argument("--days", type=int, help="only attempts that ended within so many days")
    parser.add_argument(
        "--json", action="store_true", help="for machines: engines and categories, one object each"
    )


def run(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Print the table. Raises UsageError if the days are none."""
    from bot.console.all_tasks import past_tasks
    from bot.github.client import connect

    if args.days is not None and not 1 <= args.days <= _MOST_DAYS:
        raise UsageError(f"--days: must be from 1 to {_MOST_DAYS}, found {args.days}")
    now = datetime.now(UTC)
    config, tasks = past_tasks(connect(environ), now)
    if args.days:
        tasks = since(tasks, now - timedelta(days=args.days))
    if args.json:
        say_json(stats_json(tasks, config))
    else:
        say("\n".join(stats_lines(tasks, config)))
    return 0


def since(tasks: Sequence[Task], start: datetime) -> tuple[Task, ...]:
    """The tasks with only those attempts that ended since then."""
    return tuple(
        replace(
            task,
            record=replace(
                task.record,
                attempts=tuple(
                    attempt
                    for attempt in task.record.attempts
                    if attempt.ended_at and attempt.ended_at >= start
                ),
            ),
        )
        for task in tasks
    )


def stats_json(tasks: Sequence[Task], config: Config) -> str:
    """Every number and rate, by engine and by category."""
    return json.dumps(
        {
            "engines": [_fields(tally) for tally in by_engine(tasks, config)],
            "categories": [_fields(tally) for tally in by_category(tasks, config)],
        },
        indent=2,
    )


def _fields(tally: Tally) -> dict[str, object]:
    rates = ("gate_pass_rate", "self_correction_rate", "mean_minutes", "tokens_per_passed_task")
    return {**msgspec.to_builtins(tally), **{name: getattr(tally, name) for name in rates}}


def stats_lines(tasks: Sequence[Task], config: Config) -> Iterator[str]:
    """The same as two tables, in columns."""
    engines = by_engine(tasks, config)
    if not engines:
        yield "no attempt has ended yet"
        return
    yield from _table("engine", engines)
    yield ""
    yield from _table("category", by_category(tasks, config))


def _table(title: str, tallies: Sequence[Tally]) -> Iterator[str]:
    rows = [(title, *_COLUMNS), *(_row(tally) for tally in tallies)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        name, *numbers = row
        yield "  ".join(
            [
                name.ljust(widths[0]),
                *(text.rjust(width) for text, width in zip(numbers, widths[1:], strict=True)),
            ]
        ).rstrip()


def _row(tally: Tally) -> tuple[str, ...]:
    return (
        quote_line(tally.name, 40) or "–",
        str(tally.attempted),
        str(tally.passed),
        str(tally.failed),
        _percent(tally.gate_pass_rate),
        _percent(tally.self_correction_rate),
        _number(tally.mean_minutes, ".1f"),
        _number(tally.tokens_per_passed_task, ",.0f"),
        f"${tally.usd:.2f}",
        str(tally.runner_minutes),
        "unknown" if tally.price is None else f"${tally.price:.2f}",
    )


def _percent(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.0%}"


def _number(value: float | None, shape: str) -> str:
    return "–" if value is None else format(value, shape)
