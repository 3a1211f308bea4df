"""Lingering: how long a tick stays, with a clock that jumps."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.conductor.act.outbox import Effects
from bot.conductor.linger import LOOK_EVERY, Lingering
from bot.model.decision import Decision, Plan, Verb
from bot.model.record import Record
from tests.builders import NOW, a_snapshot, a_tick

MOST = timedelta(minutes=6)


@dataclass
class Clock:
    at: datetime = NOW
    slept: list[timedelta] = field(default_factory=list)

    def now(self) -> datetime:
        return self.at

    def sleep(self, span: timedelta) -> None:
        self.slept.append(span)
        self.at += span


def lingered(*dues, superseded=lambda: False, most=MOST, writes=1):
    """Run ticks that say in turn when something is due (in seconds from the first tick; None: nothing)."""
    clock, left, ticked = Clock(), list(dues), []

    def tick():
        ticked.append(clock.at - NOW)
        due = left.pop(0) if left else None
        at = None if due is None else NOW + timedelta(seconds=due)
        decided = Plan((Decision(1, Verb.HOLD, "x", None, Record(1), due=at),))
        return a_tick(a_snapshot(), decided=decided, effects=Effects(writes=writes))

    Lingering(tick, superseded, clock).run(lambda last: most)
    return [int(span.total_seconds()) for span in ticked], clock


def test_nothing_due_is_one_tick_and_no_waiting():
    ticked, clock = lingered(None)
    assert (ticked, clock.slept) == ([0], [])


def test_what_is_due_soon_gets_its_tick_on_time():
    ticked, clock = lingered(40, 100, None)
    assert ticked == [0, 40, 100]
    assert max(clock.slept) == LOOK_EVERY


def test_what_is_due_later_than_the_limit_is_left_to_the_next_sweep():
    assert lingered(361)[0] == [0]
    assert lingered(360)[0] == [0, 360]
    assert lingered(200, 400)[0] == [0, 200]  # counted from the first tick, not from the last
    assert lingered(1, most=timedelta(0))[0] == [0]


def test_a_pending_run_takes_over_at_the_next_look():
    ticked, clock = lingered(300, superseded=lambda: True)
    assert (ticked, clock.slept) == ([0], [LOOK_EVERY])


def test_what_is_due_already_needs_no_sleep():
    ticked, clock = lingered(-5, 0, None)
    assert (ticked, clock.slept) == ([0, 0, 0], [])


def test_what_is_due_already_and_does_not_move_is_looked_at_now_and_then_only():
    """A tick that changed nothing would change nothing again: it is not repeated in a hot loop."""
    ticked, _ = lingered(-5, -5, None, writes=0)
    assert ticked == [0, 15, 30]
