"""Story: a pause of the repository: who can label sets it, only who may order lifts it, and its issue's fate changes nothing."""

from datetime import timedelta

import pytest

from bot.conductor.observe import observe
from bot.model.report import Outcome
from bot.sandbox.world.in_process import client_of
from tests.conductor.test_killed import own_writes
from tests.conductor.two_accounts import BOT, board, boards, pause_of, tick_as, two

UNPAUSE = "Go on: take the pause away"
STALE = "stale"


def paused(config="", by="maintainer"):
    """A dashboard with the label, and a task that is held by it."""
    story = two(config)
    story.world.accounts.app_token(STALE, {"issues": "write"})
    ran = story.ready()
    tick_as(story, BOT)
    story.begin(f"cf-{ran}-1")
    story.world.label(board(story).number, "cf:pause", by=by)
    task = story.ready()
    return story, ran, task


def stale(story):
    return story.world.accounts.named[f"app-{STALE}"]


def lock(story, number):
    story.world.lock_issue(number)
    story.world.close(number)


FATES = {
    "closed by a person": lambda story, number: story.world.close(number),
    "closed by a triager": lambda story, number: story.world.close(number, by="triager"),
    "closed by a stale bot": lambda story, number: story.world.close(
        number, reason="not_planned", by=stale(story)
    ),
    "closed by another workflow": lambda story, number: story.world.close(number, by=BOT),
    "locked and closed": lock,
    "made a discussion": lambda story, number: story.world.transfer_issue(number, by="writer"),
    "moved": lambda story, number: story.world.transfer_issue(number),
    "deleted": lambda story, number: story.world.delete_issue(number),
    "its label taken": lambda story, number: story.world.unlabel(number, "cf:dashboard", by="triager"),
}


@pytest.mark.parametrize("seen", [True, False], ids=["seen by a tick", "not seen yet"])
@pytest.mark.parametrize("fate", FATES)
def test_whatever_becomes_of_its_issue_the_pause_stands(fate, seen):
    story, ran, task = paused()
    if seen:
        tick_as(story, BOT)
    before = board(story).number
    FATES[fate](story, before)
    for _ in range(3):
        tick_as(story, BOT)
        story.world.wait(timedelta(hours=2))
    assert story.starts() == [f"cf-{ran}-1"]
    new = board(story)
    assert new.number != before
    assert "cf:pause" in story.world.labels_of(new.number)
    story.world.unlabel(new.number, "cf:pause")
    tick_as(story, BOT)
    assert f"cf-{task}-1" in story.starts()


@pytest.mark.parametrize("fate", ["closed by a stale bot", "locked and closed", "closed by a triager"])
def test_the_new_one_says_who_set_it_and_when(fate):
    story, _, _ = paused(by="triager")
    set_at = story.world.now
    story.world.wait(timedelta(minutes=90))
    FATES[fate](story, board(story).number)
    tick_as(story, BOT)
    tick_as(story, BOT)
    words = f"paused by the label `cf:pause` on #{board(story).number}, set by triager on {set_at:%Y-%m-%d %H:%M} UTC"
    assert observe(story.github, story.world.now).snapshot.starts_blocked_by == words
    assert pause_of(story).at == set_at
    assert story.starts() == ["cf-1-1"]


@pytest.mark.parametrize("fate", ["made a discussion", "deleted", "its label taken"])
def test_a_dashboard_that_vanished_is_taken_for_a_pause_and_asks_who_ordered_last(fate):
    story, ran, _ = paused()
    story.world.unlabel(board(story).number, "cf:pause")
    tick_as(story, BOT)
    starts = story.starts()
    FATES[fate](story, board(story).number)
    waiting = story.ready()
    tick_as(story, BOT)
    tick_as(story, BOT)
    assert story.starts() == starts
    body = board(story).body
    assert "@maintainer: everything is paused, because the dashboard was gone" in body
    assert "cf:pause" in story.world.labels_of(board(story).number)
    assert story.world.run(story.run_of(f"cf-{ran}-1").id).conclusion is None
    story.world.unlabel(board(story).number, "cf:pause", by="writer")
    tick_as(story, BOT)
    assert f"cf-{waiting}-1" in story.starts()


def test_a_dashboard_that_vanished_is_not_replaced_by_the_memory_of_one_before_it():
    story, ran, _ = paused()
    story.world.unlabel(board(story).number, "cf:pause")
    tick_as(story, BOT)
    story.world.close(board(story).number)
    tick_as(story, BOT)
    story.world.label(board(story).number, "cf:pause", by="triager")
    starts = story.starts()
    story.world.transfer_issue(board(story).number)
    story.ready()
    tick_as(story, BOT)
    tick_as(story, BOT)
    assert story.starts() == starts
    assert ran


def test_a_dashboard_that_vanished_after_everything_was_merged_is_one_as_well():
    story = two()
    task = story.ready()
    tick_as(story, BOT)
    story.finish(f"cf-{task}-1", Outcome.PASSED)
    tick_as(story, BOT)
    story.merge(task)
    tick_as(story, BOT)
    story.world.wait(timedelta(days=9))
    story.world.delete_issue(board(story).number)
    story.ready()
    tick_as(story, BOT)
    assert story.starts() == [f"cf-{task}-1"]


@pytest.mark.parametrize("labels", [(), ("cf:ready",), ("cf:failed",), ("cf:in-progress",)])
def test_without_records_it_is_the_first_day(labels):
    story = two()
    story.world.open_issue("x", labels=labels)
    tick_as(story, BOT)
    assert pause_of(story) is None
    assert "cf:pause" not in story.world.labels_of(board(story).number)


def test_a_dashboard_that_is_closed_without_a_pause_is_followed_by_one_without():
    story = two()
    story.ready()
    tick_as(story, BOT)
    story.world.close(board(story).number, by="triager")
    task = story.ready()
    tick_as(story, BOT)
    assert f"cf-{task}-1" in story.starts()


@pytest.mark.parametrize("seen", [True, False], ids=["seen by a tick", "not seen yet"])
@pytest.mark.parametrize("by", ["triager", STALE, BOT])
def test_a_label_that_others_take_away_is_put_back_once_with_a_word(by, seen):
    story, ran, task = paused()
    if seen:
        tick_as(story, BOT)
    number = board(story).number
    who = stale(story) if by == STALE else by
    for _ in range(3):
        story.world.wait(timedelta(minutes=3))
        story.world.unlabel(number, "cf:pause", by=who)
        tick_as(story, BOT)
        tick_as(story, BOT)
    assert story.starts() == [f"cf-{ran}-1"]
    words = [comment.body for comment in story.world.comments_of(number) if "taken away" in comment.body]
    assert len(words) == 1
    back = [
        event
        for event in story.world.issue(number).events
        if event.kind == "labeled" and event.label.name == "cf:pause"
    ]
    assert len(back) == 2
    assert "cf:pause" not in story.world.labels_of(
        number
    )  # it was put back once, and the state holds the pause
    assert f"- [ ] {UNPAUSE}" in board(story).body

    story.world.wait(timedelta(minutes=3))
    body = board(story).body.replace(f"- [ ] {UNPAUSE}", f"- [x] {UNPAUSE}")
    story.world.edit_issue(number, body=body, by="writer")
    tick_as(story, BOT)
    assert f"cf-{task}-1" in story.starts()
    another = story.ready()
    for _ in range(3):
        tick_as(story, BOT)
    assert f"cf-{another}-1" in story.starts()
    assert "cf:pause" not in story.world.labels_of(number)


@pytest.mark.parametrize(("by", "permission", "lifts"), [
    ("writer", "write", True), ("writer", "maintain", False), ("triager", "triage", True), ("maintainer", "admin", True),
    ("triager", "write", False),
])  # fmt: skip
def test_who_may_order_lifts_it_by_taking_the_label_away(by, permission, lifts):
    story, _, task = paused(f"trust: {{permission: {permission}}}\n")
    tick_as(story, BOT)
    story.world.unlabel(board(story).number, "cf:pause", by=by)
    tick_as(story, BOT)
    assert (f"cf-{task}-1" in story.starts()) is lifts


@pytest.mark.parametrize("by", ["writer", "triager"])
def test_a_box_lifts_it_for_whoever_may_order(by):
    story, _, task = paused("trust: {permission: maintain}\n" if by == "writer" else "")
    tick_as(story, BOT)
    story.world.wait(timedelta(minutes=3))
    number, may = board(story).number, "maintainer"
    ticked = board(story).body.replace(f"- [ ] {UNPAUSE}", f"- [x] {UNPAUSE}")
    if by == "writer":
        story.world.edit_issue(number, body=ticked, by=by)
        tick_as(story, BOT)
        assert f"cf-{task}-1" not in story.starts()
        story.world.wait(timedelta(minutes=3))
        ticked = board(story).body.replace(f"- [ ] {UNPAUSE}", f"- [x] {UNPAUSE}")
    story.world.edit_issue(number, body=ticked, by=may)
    tick_as(story, BOT)
    assert f"cf-{task}-1" in story.starts()


def test_a_label_that_was_deleted_from_the_repository_lifts_nothing():
    story, ran, _ = paused()
    tick_as(story, BOT)
    story.world.issues.delete_label("cf:pause", story.world.token("writer"))
    tick_as(story, BOT)
    tick_as(story, BOT)
    assert story.starts() == [f"cf-{ran}-1"]
    assert "cf:pause" in story.world.labels_of(board(story).number)


def test_a_state_that_somebody_else_wrote_over_is_no_evidence():
    story, ran, _ = paused("trust: {permission: maintain}\n")
    tick_as(story, BOT)
    number = board(story).number
    story.world.wait(timedelta(minutes=3))
    story.world.edit_issue(number, body="nothing here", by="writer")
    story.world.unlabel(number, "cf:pause", by="writer")
    tick_as(story, BOT)
    tick_as(story, BOT)
    assert story.starts() == [f"cf-{ran}-1"]
    assert "cf:pause" in story.world.labels_of(number)


def test_a_second_dashboard_with_a_pause_hands_it_over_before_it_is_closed():
    story = two()
    tick_as(story, BOT)
    first = board(story)
    ours = story.world.token(BOT)
    second = story.world.issues.create("cf dashboard", first.body, ("cf:dashboard",), ours)
    story.world.label(second.number, "cf:pause", by="triager")
    story.ready()
    for _ in range(3):
        tick_as(story, BOT)
    assert [issue.number for issue in boards(story)] == [first.number]
    assert "cf:pause" in story.world.labels_of(first.number)
    assert story.starts() == []


@pytest.mark.parametrize("fate", ["closed by a stale bot", "deleted"])
def test_killed_at_any_write_no_start_slips_through(fate):
    def tell():
        story, _, _ = paused()
        tick_as(story, BOT)
        FATES[fate](story, board(story).number)
        story.on_with()
        return story

    undisturbed = tell()
    undisturbed.settle()
    for number in own_writes(undisturbed):
        for after in (False, True):
            story = tell()
            story.world.faults.fail_write(number, after=after)
            story.settle()
            assert story.starts() == ["cf-1-1"], (number, after)
            assert "cf:pause" in story.world.labels_of(board(story).number), (number, after)


def test_what_a_maintainer_sees_is_the_same():
    story, _, _ = paused()
    tick_as(story, BOT)
    story.world.close(board(story).number, by="triager")
    said = [
        observe(client_of(story.world, who), story.world.now).snapshot.starts_blocked_by
        for who in (BOT, "maintainer")
    ]
    assert said[0] == said[1] != ""
