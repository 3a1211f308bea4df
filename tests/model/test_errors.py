"""Trouble, and the exit code of each kind."""

from datetime import UTC, datetime

import pytest

from bot.model.errors import BotError, CannotGoOn, NotFound, Refused, TryLater, UsageError, WorkflowMissing


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (BotError, 1),
        (UsageError, 2),
        (CannotGoOn, 1),
        (WorkflowMissing, 1),
        (TryLater, 75),
        (NotFound, 1),
        (Refused, 1),
    ],
)
def test_each_kind_has_its_exit_code_and_says_its_sentence(kind, code):
    assert issubclass(kind, BotError)
    assert (kind.exit_code, str(kind("a sentence"))) == (code, "a sentence")


def test_some_know_more_than_their_sentence():
    at = datetime(2026, 3, 2, tzinfo=UTC)
    assert (TryLater("busy").not_before, TryLater("busy", at).not_before) == (None, at)
    assert (Refused("no").status, Refused("no", 403).status) == (422, 403)
