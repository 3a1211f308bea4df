"""A shell in which a command of the console is typed."""

import pytest

from bot.sandbox.world.in_process import client_of
from tests.conductor.story import Story


@pytest.fixture
def story(monkeypatch):
    """A story, and a shell with the token of whom TOKEN_OF names."""
    story = Story()
    monkeypatch.setenv("TOKEN_OF", "maintainer")
    monkeypatch.setattr(
        "bot.github.client.connect", lambda environ: client_of(story.world, environ["TOKEN_OF"])
    )
    return story


@pytest.fixture
def conductor(story, monkeypatch):
    """The same with the token of the account that writes our records."""
    monkeypatch.setenv("TOKEN_OF", "github-actions[bot]")
    return story
