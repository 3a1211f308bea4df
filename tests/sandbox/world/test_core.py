"""The world's clock."""

from datetime import timedelta

from bot.sandbox.world import NOON, World


def test_time_moves_only_when_told():
    world = World()
    assert (world.now, world.core.now) == (NOON, NOON)
    world.wait(timedelta(milliseconds=1500))
    assert world.core.now == NOON + timedelta(seconds=1), "GitHub's times are whole seconds"
