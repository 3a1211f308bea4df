"""Trouble on order."""

import pytest

from bot.model.change import CreateComment
from bot.model.errors import TryLater
from bot.sandbox.world import Fault
from bot.sandbox.world.in_process import client_of


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
