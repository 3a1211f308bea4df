"""The table of tasks, on a terminal and in a file."""

import io
from dataclasses import replace
from datetime import timedelta

from bot.model.record import Record
from bot.model.report import Outcome
from bot.sandbox.play.screen import LiveScreen, PlainScreen, clean, console_for, screen, seconds, task_table
from bot.sandbox.world import NOON
from tests.sandbox.play.seen import MERGED, attempt, facts, task


def shown(look):
    out = io.StringIO()
    console_for(out).print(task_table(look))
    return out.getvalue()


def test_the_table_has_a_row_for_each_task():
    record = Record(1, attempts=(attempt(Outcome.FAILED, ended_at=NOON), attempt(Outcome.PASSED, number=2)))
    look = facts(replace(MERGED, record=record, runs=(7, 8), closed_at=NOON + timedelta(seconds=65)))
    header, row = shown(look).splitlines()
    assert header.split() == ["task", "status", "attempts", "pull", "request", "runs", "time"]
    assert row.split() == [
        "#1",
        "Do",
        "it",
        "merged",
        "2:",
        "failed,",
        "passed",
        "#2",
        "merged",
        "7",
        "8",
        "1m",
        "05s",
    ]


def test_a_title_cannot_style_or_move_anything():
    row = shown(facts(task(title="[red]a[/red]\x1b[2J\nb"))).splitlines()[1]
    assert "[red]a[/red] [2J b" in row
    assert "\x1b" not in row


def test_a_file_gets_plain_lines():
    out = io.StringIO()
    with screen(NOON, lambda: NOON + timedelta(seconds=2), out) as shown:
        shown.line("run 7 began\x1b[0m")
        shown.show(facts(task()))
    assert isinstance(shown, PlainScreen)
    assert not isinstance(shown, LiveScreen)
    assert out.getvalue() == "   2.0s  run 7 began [0m\n"


def test_a_terminal_gets_a_live_table():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    out = Terminal()
    with screen(NOON, lambda: NOON, out) as shown:
        shown.line("run 7 began")
        shown.show(facts(task()))
    assert isinstance(shown, LiveScreen)
    assert "Do it" in out.getvalue()


def test_times_and_lines():
    assert [seconds(timedelta(seconds=each)) for each in (0, 59.94, 60, 3725)] == [
        "0.0s",
        "59.9s",
        "1m 00s",
        "62m 05s",
    ]
    assert clean("a\t\x07b\n c") == "a b c"
