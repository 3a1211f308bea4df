"""Settings for every test: the same generated examples every time and everywhere, so a suite that passed passes again."""

from hypothesis import settings

# The same examples in every run, few enough for the whole suite to stay under five minutes.
settings.register_profile("here", max_examples=60, derandomize=True, deadline=None, print_blob=True)
settings.load_profile("here")


def pytest_collection_modifyitems(items):
    """The demo's tests share one run of it, the longest thing there is. First in the queue of a process, they begin at once and
    are never taken over by another process, which would have to play the demo again."""
    items.sort(key=lambda item: "demo" not in getattr(item, "fixturenames", ()))
