"""When a sandbox is over."""

from dataclasses import replace
from datetime import timedelta

from bot.model.record import Record
from bot.model.status import Status
from bot.sandbox.play.session import Stillness
from bot.sandbox.world import NOON
from tests.sandbox.play.seen import MERGED, facts, run, task


def looks(stillness, look, times=4):
    return [stillness.is_over(look) for _ in range(times)]


def test_all_done_and_nothing_running_is_the_end():
    assert looks(Stillness(), facts(MERGED)) == [False, False, False, True]


def test_what_runs_keeps_it_going():
    assert not any(looks(Stillness(), facts(MERGED, runs=(run(),)), 10))


def test_what_is_open_gets_one_scheduled_tick_first():
    stillness = Stillness()
    look = facts(task(status=Status.BLOCKED))
    assert not any(looks(stillness, look, 4))
    assert stillness.is_due(look)
    assert looks(stillness, look, 3) == [False, False, True]


def test_a_tick_that_changed_something_begins_it_anew():
    stillness = Stillness()
    looks(stillness, facts(task(status=Status.BLOCKED)))
    assert stillness.is_due(facts(task(status=Status.BLOCKED)))
    after = facts(task(status=Status.READY))
    assert not any(looks(stillness, after, 6))
    assert stillness.is_due(after)


def test_a_back_off_is_waited_for():
    record = Record(1, not_before=NOON + timedelta(seconds=5))
    stillness = Stillness()
    early = facts(task(record=record))
    looks(stillness, early)
    assert not stillness.is_due(early)
    late = replace(early, now=NOON + timedelta(seconds=6))
    assert stillness.is_due(late)
