"""What a person sees in the terminal: a live table where there is one, plain lines where there is none."""

from datetime import datetime, timedelta
from types import TracebackType
from typing import Protocol, Self, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from bot.printing import terminal
from bot.sandbox.play.task_states import Facts, TaskFacts

_LINES = 10
_PLAIN_WIDTH = 120
_STYLES = {
    "merged": "magenta",
    "done": "blue",
    "in-progress": "yellow",
    "ready": "green",
    "blocked": "red",
    "failed": "bold red",
    "dropped": "dim",
}


class Screen(Protocol):
    """Told of every line and of how everything stands."""

    def line(self, text: str) -> None: ...

    def show(self, facts: Facts) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def screen(began: datetime, now: "Clock", to: TextIO | None = None) -> Screen:
    """The right one for where the output goes."""
    console = console_for(terminal() if to is None else to)
    return LiveScreen(console, began, now) if console.is_terminal else PlainScreen(console, began, now)


def console_for(to: TextIO) -> Console:
    """A terminal's own width; a fixed one for files and pipes."""
    return Console(
        file=to, width=None if to.isatty() else _PLAIN_WIDTH, highlight=False, emoji=False, markup=False
    )


class Clock(Protocol):
    def __call__(self) -> datetime: ...


class PlainScreen:
    """Lines with the seconds since the beginning."""

    def __init__(self, console: Console, began: datetime, now: Clock) -> None:
        self._console, self._began, self._now = console, began, now

    def line(self, text: str) -> None:
        """One thing that happened."""
        self._console.print(Text(f"{_since(self._began, self._now())}  {clean(text)}"), soft_wrap=True)

    def show(self, facts: Facts) -> None:
        """Lines say enough."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class LiveScreen(PlainScreen):
    """A table that changes in place, with the last lines below it."""

    def __init__(self, console: Console, began: datetime, now: Clock) -> None:
        super().__init__(console, began, now)
        self._lines: list[str] = []
        self._facts: Facts | None = None
        self._live = Live(console=console, refresh_per_second=8, transient=True)

    def line(self, text: str) -> None:
        self._lines = [*self._lines, f"{_since(self._began, self._now())}  {clean(text)}"][-_LINES:]
        self._refresh()

    def show(self, facts: Facts) -> None:
        self._facts = facts
        self._refresh()

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def _refresh(self) -> None:
        table = [task_table(self._facts)] if self._facts else []
        lines = [Text(line, no_wrap=True, overflow="ellipsis", style="dim") for line in self._lines]
        self._live.update(Group(*table, *lines))


def task_table(facts: Facts) -> Table:
    """Task, status, attempts, pull request, runs, time."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("task", "", "status", "attempts", "pull request", "runs", "time"):
        # Where the width does not do, titles and runs give way; each cell stays on one line.
        table.add_column(name, overflow="ellipsis", no_wrap=name not in ("", "runs"))
    for task in facts.tasks:
        table.add_row(
            *(
                Text(cell, style=style, no_wrap=True, overflow="ellipsis")
                for cell, style in _row(task, facts.now)
            )
        )
    return table


def _row(task: TaskFacts, now: datetime) -> list[tuple[str, str]]:
    took = task.took(now)
    outcomes = ", ".join(str(attempt.outcome or "running") for attempt in task.attempts)
    pulls = ", ".join(f"#{pull.number} {_pull_word(pull.merged, pull.is_open)}" for pull in task.pulls)
    return [
        (f"#{task.number}", "bold"),
        (_short(clean(task.title)), ""),
        (task.word, _STYLES.get(task.word, "")),
        (f"{len(task.attempts)}: {outcomes}" if outcomes else "0", ""),
        (pulls or "–", ""),
        (" ".join(map(str, task.runs)) or "–", ""),
        (seconds(took) if took is not None else "–", ""),
    ]


def _short(title: str) -> str:
    return title if len(title) <= 40 else f"{title[:39].rstrip()}…"


def _pull_word(merged: bool, is_open: bool) -> str:
    return "merged" if merged else "open" if is_open else "closed"


def seconds(span: timedelta) -> str:
    """`4.2s`, `2m 05s`."""
    whole = span.total_seconds()
    return f"{whole:.1f}s" if whole < 60 else f"{int(whole // 60)}m {int(whole % 60):02}s"


def clean(text: str) -> str:
    """One line that cannot move the cursor."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _since(began: datetime, now: datetime) -> str:
    return f"{(now - began).total_seconds():6.1f}s"
