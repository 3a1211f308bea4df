"""`cf runs`: attempts, newest first, of all tasks or of one."""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum

from msgspec import Struct

from bot.model.errors import UsageError
from bot.model.record import Attempt
from bot.model.report import Outcome
from bot.model.task import Task
from bot.notation.keys import Key
from bot.notation.quoting import quote_line
from bot.printing import say, say_json

_BLOCKED = (Outcome.BLOCKED, Outcome.UNVERIFIED, Outcome.NO_CHANGES, Outcome.HELD, Outcome.STALLED)


class View(StrEnum):
    """How a run stands, in the words of `--status`; the outcome beside it says more."""

    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    BLOCKED = "BLOCKED"


class Ran(Struct, frozen=True):
    """One attempt of one task."""

    task: int
    attempt: Attempt

    @property
    def view(self) -> View:
        """Derived, never stored."""
        if self.attempt.outcome is None:
            return View.RUNNING
        if self.attempt.outcome is Outcome.PASSED:
            return View.COMPLETED
        return View.BLOCKED if self.attempt.outcome in _BLOCKED else View.FAILED


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `cf runs`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "  cf runs --status RUNNING\n  cf runs 12\n  cf runs --json | jq '.[0].run'\n\n"
        "environment: GITHUB_TOKEN, GITHUB_REPOSITORY"
    )
    parser.add_argument("task", type=int, nargs="?", help="only the runs of this issue")
    parser.add_argument("--status", type=str.upper, choices=[view.value for view in View], help="only those")
    parser.add_argument("--limit", type=int, default=20, help="at most so many (default: 20)")
    parser.add_argument(
        "--json", action="store_true", help="for machines: a JSON list, one object for each run"
    )


def run(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Print the runs. Raises UsageError if the issue is no task, or the limit is none."""
    from bot.console.all_tasks import past_tasks
    from bot.github.client import connect

    if args.limit < 1:
        raise UsageError(f"--limit: must be at least 1, found {args.limit}")
    _, tasks = past_tasks(connect(environ), datetime.now(UTC))
    found = select(tasks, args.task, View(args.status) if args.status else None)[: args.limit]
    if args.json:
        say_json(runs_json(found))
    else:
        say("\n".join(runs_lines(found)))
    return 0


def select(tasks: Iterable[Task], task: int | None, view: View | None) -> list[Ran]:
    """The attempts, newest first. Raises UsageError if `task` is none of the tasks."""
    tasks = [one for one in tasks if task is None or one.number == task]
    if task is not None and not tasks:
        raise UsageError(f"#{task} is no task: it has no status label of ours")
    found = [Ran(one.number, attempt) for one in tasks for attempt in one.record.attempts]
    found = [ran for ran in found if view is None or ran.view is view]
    return sorted(found, key=lambda ran: (ran.attempt.claimed_at, ran.task), reverse=True)


def runs_lines(found: Sequence[Ran]) -> Iterator[str]:
    """One line for each, in columns."""
    if not found:
        yield "no run"
        return
    rows = [("key", "status", "outcome", "kind", "started", "min", "engine", "run", "why"), *map(_row, found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _row(ran: Ran) -> tuple[str, ...]:
    attempt = ran.attempt
    why = quote_line(attempt.reason or attempt.cancelled_for, 60)
    return (
        str(Key(ran.task, attempt.number)),
        ran.view.value,
        str(attempt.outcome or "–"),
        str(attempt.kind),
        f"{attempt.claimed_at:%Y-%m-%d %H:%M}",
        f"{attempt.minutes:.1f}" if attempt.minutes else "–",
        quote_line(f"{attempt.engine} {attempt.model}".strip(), 40) or "–",
        str(attempt.run or "–"),
        why,
    )


def runs_json(found: Sequence[Ran]) -> str:
    """The same for machines, with every number that is known."""
    return json.dumps(
        [
            {
                "task": ran.task,
                "key": str(Key(ran.task, ran.attempt.number)),
                "status": ran.view,
                "outcome": ran.attempt.outcome,
                "kind": ran.attempt.kind,
                "run": ran.attempt.run,
                "started": ran.attempt.claimed_at.isoformat(),
                "ended": ran.attempt.ended_at.isoformat() if ran.attempt.ended_at else None,
                "minutes": ran.attempt.minutes,
                "engine": ran.attempt.engine,
                "model": ran.attempt.model,
                "tokens": ran.attempt.tokens,
                "usd": ran.attempt.usd,
                "rounds": ran.attempt.rounds,
                "files": ran.attempt.files,
                "gates": ran.attempt.gates,
                "gates_passed": ran.attempt.gates_passed,
                "pull": ran.attempt.pull,
                "reason": ran.attempt.reason or ran.attempt.cancelled_for,
            }
            for ran in found
        ],
        indent=2,
    )
