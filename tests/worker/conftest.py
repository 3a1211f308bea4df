from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.worker.bench import Bench

_PROCESSES = ("test_process.py", "test_command.py", "test_join_job.py", "test_isolation.py")
_REPOSITORIES = {"bench", "shop"}  # fixtures


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """What starts programs here is not for the quick run."""
    room = Path(__file__).parent
    for item in items:
        here = item.path.is_relative_to(room) and item.path.parent != room / "engines"
        asks = not _REPOSITORIES.isdisjoint(getattr(item, "fixturenames", ()))
        if here and (asks or item.path.name in _PROCESSES):
            item.add_marker("e2e")


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., Bench]:
    """A function that sets one up: the repository, GitHub, and an agent with these modes."""
    return lambda *modes, **more: Bench(tmp_path, *modes, **more)
