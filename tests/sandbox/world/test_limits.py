"""GitHub's limits, at the port."""

from datetime import timedelta

import pytest

from bot.model.change import CreateComment
from bot.model.errors import TryLater
from bot.sandbox.world.in_process import client_of


def test_default_tokens_share_one_budget_and_accounts_have_their_own(world):
    world.limits.run_limit = 2
    one, other = client_of(world, world.run_token(1, {"issues": "write"}, "a")), client_of(world)
    one.permission("stranger")
    other.permission("stranger")

    with pytest.raises(TryLater):
        one.permission("stranger")
    assert client_of(world, "maintainer").permission("stranger") == "read"
    world.wait(timedelta(hours=1))
    assert one.permission("stranger") == "read"
    assert world.limits.requests["permission"] == 5


def test_content_is_counted_by_the_hour_too(world):
    node = world.issue(world.open_issue("task")).node_id
    github = client_of(world)
    for _ in range(10):
        github.write([CreateComment(node, f"{i}") for i in range(50)])
        world.wait(timedelta(minutes=2))

    with pytest.raises(TryLater) as limited:
        github.write([CreateComment(node, "more")])
    assert limited.value.not_before == world.now + timedelta(seconds=60)


def test_limits_can_be_counted_without_being_enforced(world):
    world.limits.enforce = False
    world.limits.run_limit = 0
    assert client_of(world).permission("stranger") == "read"
