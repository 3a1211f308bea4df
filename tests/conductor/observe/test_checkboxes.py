"""Ticked boxes are orders of whoever edited the dashboard, and of nobody without permission."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.conductor.observe.checkboxes import read_boxes, with_boxes
from bot.conductor.tell.summary import remarks
from bot.model.issue import EventKind, TimelineEvent
from bot.model.status import Status
from bot.notation.overview import BOXES, ticked
from tests.builders import BOT, STRANGER, WRITER, a_snapshot, a_task, ago, an_issue
from tests.conductor.story import CONFIG, Story

PAUSE, UNPAUSE = "Pause: nothing new starts, running work finishes", "Go on: take the pause away"


def dashboard_of(story):
    return next(issue for issue in story.world.issues.all() if issue.has_label("cf:dashboard"))


def tick_box(story, text, by="maintainer"):
    board = dashboard_of(story)
    assert f"- [ ] {text}" in board.body
    story.world.wait(timedelta(seconds=3))
    story.world.edit_issue(board.number, body=board.body.replace(f"- [ ] {text}", f"- [x] {text}"), by=by)


def test_the_pause_box_holds_every_start_says_by_whom_and_is_empty_again():
    story = Story()
    story.tick()
    tick_box(story, PAUSE)
    task = story.ready()
    story.tick()
    board = dashboard_of(story)
    assert story.starts() == []
    assert f"ticked by maintainer on {story.world.now:%Y-%m-%d}" in story.reason(task)
    assert "cf:pause" in [label.casefold() for label in story.world.labels_of(board.number)]
    assert ticked(board.body) == ()
    story.tick()
    assert f"on #{board.number}, set by maintainer on" in story.reason(task)

    tick_box(story, UNPAUSE)
    story.tick()
    assert story.starts() == [f"cf-{task}-1"]
    assert "cf:pause" not in story.world.labels_of(board.number)


def test_a_box_counts_only_if_everybody_who_edited_since_may_order():
    story = Story(CONFIG + "trust: {permission: maintain}\n")
    story.world.add_user("writer", "write")
    story.tick()
    tick_box(story, PAUSE, by="writer")
    last = story.tick()
    assert any("writer edited the dashboard" in remark for remark in remarks(last))
    assert ticked(dashboard_of(story).body) == ()
    assert story.world.labels_of(dashboard_of(story).number) == ("cf:dashboard",)


def test_a_tick_that_dies_after_the_pause_is_followed_by_the_same_end():
    story = Story()
    story.tick()
    tick_box(story, PAUSE)
    story.world.faults.fail_write(2, after=False)
    story.settle()
    board = dashboard_of(story)
    assert "cf:pause" in story.world.labels_of(board.number)
    assert ticked(board.body) == ()


def edited(*by, orders=tuple(BOXES), **fields):
    body = "\n".join(f"- [x] {text}" for text in orders)
    events = tuple(
        TimelineEvent(EventKind.EDITED, actor, ago(minutes=9 - place)) for place, actor in enumerate(by)
    )
    return an_issue(9, "cf:dashboard", body=body, author=BOT, events=events, **fields)


def never(snapshot, wants):
    raise AssertionError(wants)


def test_boxes_become_comments_of_whoever_ticked_them_where_such_commands_stand():
    snapshot = a_snapshot(a_task(1, Status.FAILED), a_task(2), a_task(3, Status.FAILED))
    board = edited(STRANGER, BOT, WRITER)  # what strangers did before our own edit is gone
    snapshot, boxes = read_boxes(board, snapshot, never)
    assert boxes is not None
    said = with_boxes(snapshot, boxes, board).comments
    assert {number: comments[0].body for number, comments in said.items()} == {
        1: "/cf retry",
        3: "/cf retry",
        9: "/cf approve\n/cf stop --all",
    }
    assert {comment.author for comments in said.values() for comment in comments} == {WRITER}
    assert {comment.id for comments in said.values() for comment in comments} == {
        -int(ago(minutes=7).timestamp())
    }


@pytest.mark.parametrize("by", [(), (STRANGER,), (WRITER, STRANGER), (BOT,)])
def test_boxes_of_nobody_with_permission_do_nothing(by):
    snapshot = a_snapshot(a_task(1, Status.FAILED))
    after, boxes = read_boxes(edited(*by), snapshot, never)
    assert boxes is not None
    assert boxes.refused
    assert with_boxes(after, boxes, edited(*by)) == snapshot


def test_an_edit_in_the_second_of_our_own_counts_whichever_came_first():
    at = ago(minutes=5)
    events = [TimelineEvent(EventKind.EDITED, actor, at) for actor in (STRANGER, BOT)]
    events.append(TimelineEvent(EventKind.EDITED, WRITER, ago(minutes=4)))
    board = replace(edited(), events=tuple(events))
    _, boxes = read_boxes(board, a_snapshot(a_task(1, Status.FAILED)), never)
    assert boxes is not None
    assert boxes.refused.startswith(STRANGER.login)


def test_permissions_are_looked_up_only_when_a_box_is_ticked():
    unknown = a_snapshot(a_task(1), permissions={})
    assert read_boxes(edited(WRITER, orders=()), unknown, never) == (unknown, None)
    assert read_boxes(None, unknown, never) == (unknown, None)
    asked = []

    def look_up(snapshot, wants):
        asked.extend(wants)
        return replace(snapshot, permissions={"wendy": "admin"})

    _, boxes = read_boxes(edited(WRITER), unknown, look_up)
    assert [want.login for want in asked] == ["wendy"]
    assert boxes is not None
    assert not boxes.refused
