"""Settings for every test: the same generated examples every time and everywhere, so a suite that passed passes again."""

from hypothesis import settings

settings.register_profile("here", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("here")
