"""What is told and shown of a sandbox, and when it is over."""

import io
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.model.issue import StateReason
from bot.model.record import Attempt, Record
from bot.model.report import Outcome
from bot.model.status import Status
from bot.model.unit import Kind
from bot.sandbox.play.changes import changes
from bot.sandbox.play.needs_graph import mermaid
from bot.sandbox.play.screen import LiveScreen, PlainScreen, clean, console_for, screen, seconds, task_table
from bot.sandbox.play.session import Stillness
from bot.sandbox.play.task_states import Facts, PullFacts, RunFacts, TaskFacts
from bot.sandbox.world import NOON


def task(number=1, status=Status.READY, **parts):
    fields: dict[str, Any] = {
        "title": "Do it",
        "is_open": True,
        "reason": None,
        "record": Record(number),
        "needs": (),
        "closed_at": None,
    }
    return TaskFacts(number=number, status=status, **(fields | parts))


def run(status="in_progress", conclusion=None, jobs=(), **parts):
    fields: dict[str, Any] = {
        "id": 7,
        "workflow": "cf-worker.yml",
        "event": "workflow_dispatch",
        "title": "cf [cf-1-1]",
        "tasks": (1,),
    }
    return RunFacts(status=status, conclusion=conclusion, jobs=jobs, **(fields | parts))


def facts(*tasks, runs=(), now=NOON):
    return Facts(now, tasks, runs)


def attempt(outcome=None, number=1, **parts):
    return Attempt(number, Kind.CODE, NOON, Status.READY, "d", outcome=outcome, **parts)


MERGED = task(
    status=Status.MERGED,
    is_open=False,
    reason=StateReason.COMPLETED,
    closed_at=NOON,
    pulls=(PullFacts(2, False, True, False, False),),
)


class TestStillness:
    def looks(self, stillness, look, times=4):
        return [stillness.is_over(look) for _ in range(times)]

    def test_all_done_and_nothing_running_is_the_end(self):
        assert self.looks(Stillness(), facts(MERGED)) == [False, False, False, True]

    def test_what_runs_keeps_it_going(self):
        assert not any(self.looks(Stillness(), facts(MERGED, runs=(run(),)), 10))

    def test_what_is_open_gets_one_scheduled_tick_first(self):
        stillness = Stillness()
        look = facts(task(status=Status.BLOCKED))
        assert not any(self.looks(stillness, look, 4))
        assert stillness.is_due(look)
        assert self.looks(stillness, look, 3) == [False, False, True]

    def test_a_tick_that_changed_something_begins_it_anew(self):
        stillness = Stillness()
        self.looks(stillness, facts(task(status=Status.BLOCKED)))
        assert stillness.is_due(facts(task(status=Status.BLOCKED)))
        after = facts(task(status=Status.READY))
        assert not any(self.looks(stillness, after, 6))
        assert stillness.is_due(after)

    def test_a_back_off_is_waited_for(self):
        record = Record(1, not_before=NOON + timedelta(seconds=5))
        stillness = Stillness()
        early = facts(task(record=record))
        self.looks(stillness, early)
        assert not stillness.is_due(early)
        late = replace(early, now=NOON + timedelta(seconds=6))
        assert stillness.is_due(late)


class TestStory:
    def test_tells_of_runs_jobs_pull_requests_and_status(self):
        before = facts(task(status=Status.IN_PROGRESS), runs=(run("queued"),))
        jobs = (("#1 / agent", "completed", "success"), ("#1 / verify", "completed", "skipped"))
        pull = PullFacts(3, True, False, False, True)
        after = facts(task(status=Status.DONE, pulls=(pull,)), runs=(run(jobs=jobs),))
        assert list(changes(before, after)) == [
            "run 7 began: #1",
            "run 7: #1 / agent: success",
            "#1 pull request #3 is open",
            "#1 in-progress → done",
        ]
        assert list(changes(after, after)) == []

    def test_says_why_an_attempt_came_to_nothing(self):
        before = facts(task(status=Status.IN_PROGRESS))
        record = Record(1, attempts=(attempt(Outcome.FAILED, reason="the gates did not pass"),))
        after = facts(task(status=Status.READY, record=record))
        assert list(changes(before, after)) == ["#1 in-progress → ready (failed: the gates did not pass)"]

    def test_a_conductor_s_run_is_told_only_if_it_failed(self):
        quiet = run("completed", "cancelled", workflow="cf-conductor.yml", tasks=())
        failed = replace(quiet, id=8, conclusion="failure", problem="no such key")
        assert list(changes(None, facts(runs=(quiet, failed)))) == ["run 8 ended: failure (no such key)"]


class TestPicture:
    def test_draws_nodes_edges_and_colours(self):
        drawn = mermaid([MERGED, task(2, needs=(1, 99), title='Say "hi"; <b>')]).splitlines()
        assert drawn[0] == "graph LR"
        assert '  t2["#2 Say hi b<br>ready"]' in drawn
        assert "  t1 --> t2" in drawn
        assert not any("t99" in line for line in drawn)
        assert "  class t1 merged" in drawn


class TestScreen:
    def shown(self, look):
        out = io.StringIO()
        console_for(out).print(task_table(look))
        return out.getvalue()

    def test_the_table_has_a_row_for_each_task(self):
        record = Record(
            1, attempts=(attempt(Outcome.FAILED, ended_at=NOON), attempt(Outcome.PASSED, number=2))
        )
        look = facts(replace(MERGED, record=record, runs=(7, 8), closed_at=NOON + timedelta(seconds=65)))
        header, row = self.shown(look).splitlines()
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

    def test_a_title_cannot_style_or_move_anything(self):
        row = self.shown(facts(task(title="[red]a[/red]\x1b[2J\nb"))).splitlines()[1]
        assert "[red]a[/red] [2J b" in row
        assert "\x1b" not in row

    def test_a_file_gets_plain_lines(self):
        out = io.StringIO()
        with screen(NOON, lambda: NOON + timedelta(seconds=2), out) as shown:
            shown.line("run 7 began\x1b[0m")
            shown.show(facts(task()))
        assert isinstance(shown, PlainScreen)
        assert not isinstance(shown, LiveScreen)
        assert out.getvalue() == "   2.0s  run 7 began [0m\n"

    def test_a_terminal_gets_a_live_table(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        out = Terminal()
        with screen(NOON, lambda: NOON, out) as shown:
            shown.line("run 7 began")
            shown.show(facts(task()))
        assert isinstance(shown, LiveScreen)
        assert "Do it" in out.getvalue()

    def test_times_and_lines(self):
        assert [seconds(timedelta(seconds=each)) for each in (0, 59.94, 60, 3725)] == [
            "0.0s",
            "59.9s",
            "1m 00s",
            "62m 05s",
        ]
        assert clean("a\t\x07b\n c") == "a b c"
