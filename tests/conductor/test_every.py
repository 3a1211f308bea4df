"""`cf conduct --every`: tick after tick, whatever GitHub says, until a person must mend something."""

from datetime import timedelta

import pytest

from bot.cli import main
from bot.conductor.every import read_pause, tick_for_ever
from bot.model.errors import CannotGoOn, TryLater, UsageError
from bot.model.report import Outcome
from tests.conductor.story import Story


class Clock:
    """The world's time; after so many pauses a person has to mend something."""

    def __init__(self, world, pauses):
        self.world, self.pauses, self.slept = world, pauses, []

    def now(self):
        return self.world.now

    def sleep(self, span):
        self.slept.append(span)
        self.world.wait(span)

    def tick(self, tick):
        if len(self.slept) == self.pauses:
            raise CannotGoOn("that is enough")
        return tick()


def run(story, pauses, pause=timedelta(minutes=5)):
    clock = Clock(story.world, pauses)
    with pytest.raises(CannotGoOn, match="that is enough"):
        tick_for_ever(lambda: clock.tick(story.tick), pause, clock)
    return clock.slept


def test_it_ticks_with_the_pause_in_between_and_sooner_where_something_is_due():
    story = Story()
    assert run(story, 2) == [timedelta(minutes=5)] * 2
    task = story.ready()
    run(story, 1)
    story.finish(f"cf-{task}-1", Outcome.FAILED)
    slept = run(story, 2)

    assert timedelta(seconds=25) < slept[0] < timedelta(seconds=40)  # the back-off
    assert f"cf-{task}-2" in story.starts()


def test_a_broken_line_and_a_limit_are_waited_out():
    story = Story()
    task = story.ready()
    story.world.faults.answer(502, "view", times=1)
    assert run(story, 2, timedelta(seconds=30)) == [timedelta(seconds=30)] * 2
    assert story.starts() == [f"cf-{task}-1"]
    clock = Clock(story.world, 1)

    def limited():
        raise TryLater("limited", story.world.now + timedelta(minutes=17))

    with pytest.raises(CannotGoOn):
        tick_for_ever(lambda: clock.tick(limited), timedelta(seconds=30), clock)
    assert clock.slept == [timedelta(minutes=17)]


@pytest.mark.parametrize("text", ["", "4s", "61m", "often", "-30s", "30"])
def test_a_pause_out_of_its_range_is_refused(text):
    with pytest.raises(UsageError, match="from 5s to 1h"):
        read_pause(text)
    assert read_pause("30s") == timedelta(seconds=30)


def test_it_is_no_rehearsal(monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_TOKEN", "t" * 20)
    monkeypatch.setenv("GITHUB_REPOSITORY", "acme/shop")
    assert main(["conduct", "--every", "30s", "--dry-run"]) == 2
    assert "do not go together" in capsys.readouterr().err
