from collections.abc import Iterable
from pathlib import Path

import pytest

from bot.sandbox.world import World

_SERVERS = (
    "test_http.py",
    "test_git_http.py",
    "test_pages.py",
    "test_pulls.py",
    "test_concurrency.py",
)


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """What serves on loopback or runs git is not for the quick run."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and item.path.name in _SERVERS:
            item.add_marker("e2e")


@pytest.fixture
def world() -> World:
    return World()
