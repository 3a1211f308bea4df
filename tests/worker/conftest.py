import pytest


@pytest.fixture
def bench(tmp_path):
    """A function that sets one up: the repository, GitHub, and an agent with these modes."""
    from tests.worker.bench import Bench

    return lambda *modes, **more: Bench(tmp_path, *modes, **more)
