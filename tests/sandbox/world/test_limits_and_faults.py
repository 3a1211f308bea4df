"""GitHub's limits, and trouble on order, at the port."""

from datetime import timedelta

import pytest

from bot.model.change import CreateComment
from bot.model.errors import CannotGoOn, NotFound, NotPermitted, OverLimit, Refused, TryLater
from bot.sandbox.world import NOON, ApiError, Disconnected, Fault, World
from bot.sandbox.world.errors import forbidden
from bot.sandbox.world.in_process import client_of, translated


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


def test_the_nth_write_fails_and_only_that(world):
    node = world.issue(world.open_issue("task")).node_id
    github = client_of(world)
    world.faults.fail_write(3)
    github.write([CreateComment(node, "1")])
    github.write([CreateComment(node, "2")])
    with pytest.raises(TryLater):
        github.write([CreateComment(node, "3"), CreateComment(node, "4")])
    github.write([CreateComment(node, "5")])

    assert [comment.body for comment in world.comments_of(1)] == ["1", "2", "5"]
    assert world.faults.writes == 4


def test_any_error_may_be_ordered(world):
    class Killed(BaseException):
        pass

    world.faults.planned.append(Fault(Killed, "dispatch", after=True))
    with pytest.raises(Killed):
        client_of(world).dispatch("cf-worker.yml", "main", {"units": "[]", "keys": "cf-1-1"})
    assert len(world.runs()) == 1


def test_a_lagging_list_answers_as_before(world):
    github = client_of(world)
    before = github.view("cf", None, [1])
    world.open_issue("task")
    world.faults.lag(1)

    assert github.view("cf", None, [1]) == before
    assert len(github.view("cf", None, [1]).issues) == 1


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ApiError(401, "Bad credentials"), CannotGoOn),
        (ApiError(404, "Not Found"), NotFound),
        (ApiError(410, "Gone"), NotFound),
        (ApiError(409, "Conflict"), Refused),
        (ApiError(502, "Server Error"), TryLater),
        (ApiError(403, "slow down", "RATE_LIMITED"), OverLimit),
        (forbidden(), NotPermitted),
        (Disconnected(), TryLater),
    ],
)
def test_errors_become_the_ports(error, kind):
    assert type(translated(error, NOON)) is kind


def test_time_moves_only_when_told():
    world = World()
    assert (world.now, world.core.now) == (NOON, NOON)
    world.wait(timedelta(milliseconds=1500))
    assert world.core.now == NOON + timedelta(seconds=1), "GitHub's times are whole seconds"
