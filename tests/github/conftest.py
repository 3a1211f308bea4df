"""The client at its transport: answers by respx, a clock that moves when the client sleeps."""

import pytest
import respx

from tests.github.hub import Clock, client


@pytest.fixture
def router():
    with respx.mock(assert_all_called=False) as router:
        yield router


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def github(clock):
    with client(clock) as github:
        yield github
