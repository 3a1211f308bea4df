"""Errors of the world, as the port names them."""

import pytest

from bot.model.errors import CannotGoOn, NotFound, Refused, TryLater
from bot.sandbox.world import NOON, ApiError, Disconnected
from bot.sandbox.world.errors import forbidden
from bot.sandbox.world.in_process import translated


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ApiError(401, "Bad credentials"), CannotGoOn),
        (ApiError(404, "Not Found"), NotFound),
        (ApiError(410, "Gone"), NotFound),
        (ApiError(409, "Conflict"), Refused),
        (ApiError(502, "Server Error"), TryLater),
        (ApiError(403, "slow down", "RATE_LIMITED"), TryLater),
        (forbidden(), CannotGoOn),
        (Disconnected(), TryLater),
    ],
)
def test_errors_become_the_ports(error, kind):
    assert type(translated(error, NOON)) is kind
