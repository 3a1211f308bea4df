import pytest

from bot.sandbox.world import World


@pytest.fixture
def world() -> World:
    return World()
