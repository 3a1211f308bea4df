"""Story: who can order work, by every door there is: the right value for each role at each door."""

from typing import Any

import pytest
from msgspec.structs import replace

from bot.conductor.observe.checkboxes import read_boxes, with_boxes
from bot.console.batch.carry_out import NotAllowed, perform
from bot.console.batch.inputs import read_request
from bot.model.config import Config, Trust
from bot.model.issue import GHOST, Account, EventKind
from bot.model.record import Blocker
from bot.model.report import Question
from bot.model.status import Status
from bot.notation.overview import BOXES
from bot.plan import plan
from tests.builders import (
    BOT,
    NOW,
    WRITER,
    a_comment,
    a_record,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_issue,
    happened,
    labelled,
)
from tests.conductor.story import Story

ROLES = {
    role: Account(20 + number, f"the-{role}")
    for number, role in enumerate(["admin", "maintain", "write", "triage", "read", "none"])
}
BOTS = {"bot": Account(30, "helper[bot]", is_bot=True), "ourselves": BOT, "ghost": GHOST}
PEOPLE = ROLES | BOTS
MAY = ("admin", "maintain", "write")
# A bot's permission by the API may be high, and counts for nothing.
PERMISSIONS = {account.login: role for role, account in ROLES.items()} | {
    "wendy": "write",
    "helper[bot]": "admin",
}


DEFAULTS: dict[str, Any] = {"permissions": PERMISSIONS, "config": Config()}


def decided(task, **fields):
    return plan(a_snapshot(task, **(DEFAULTS | fields))).decisions[0]


def backlog():
    return a_task(1, Status.BACKLOG, record=a_record(1, Status.BACKLOG, approval=None))


def by_label(who):
    return decided(a_task(1, Status.READY, events=(labelled("cf:ready", who),))).start is not None


def by_command(who):
    return decided(backlog(), comments={1: (a_comment("/cf run", by=who),)}).start is not None


def by_stop(who):
    task = a_running()
    return decided(task, comments={1: (a_comment("/cf stop", by=who),)}, runs=(a_run(),)).cancel is not None


def by_answer(who):
    blocker = Blocker("question:cf-1-1", Question("Which?"), ago(minutes=10))
    task = a_task(1, Status.BLOCKED, record=a_record(1, Status.BLOCKED, blocker=blocker))
    return decided(task, comments={1: (a_comment("The first.", by=who),)}).status is Status.READY


def by_words_for_the_next_attempt(who):
    """`/cf answer` while it runs."""
    task = a_running()
    comments = {1: (a_comment("/cf answer use sqlite", by=who),)}
    return bool(decided(task, comments=comments, runs=(a_run(),)).record.answers)


def by_edit_of_the_body(who):
    """The edit after a writer's order is the new text; by anybody else it takes the order away."""
    edit = happened(EventKind.EDITED, who, ago(minutes=5))
    return (
        decided(a_task(1, Status.READY, body="new", events=(labelled("cf:ready", WRITER), edit))).start
        is not None
    )


def by_edit_of_the_title(who):
    edit = happened(EventKind.RENAMED, who, ago(minutes=5))
    return decided(a_task(1, Status.READY, events=(labelled("cf:ready", WRITER), edit))).start is not None


def by_edit_of_a_comment(who):
    comment = replace(a_comment("/cf run", by=who), updated_at=NOW)
    return decided(backlog(), comments={1: (comment,)}).start is not None


def by_edit_into_a_stop(who):
    comment = replace(a_comment("/cf stop", by=who), updated_at=NOW)
    return decided(a_running(), comments={1: (comment,)}, runs=(a_run(),)).cancel is not None


def by_checkbox(who):
    edit = happened(EventKind.EDITED, who, ago(minutes=5))
    box = next(f"- [x] {words}" for words, order in BOXES.items() if order == "approve")
    dashboard = an_issue(50, "cf:dashboard", author=BOT, body=box, events=(edit,))
    snapshot = a_snapshot(backlog(), others={50: dashboard}, **DEFAULTS)
    snapshot, boxes = read_boxes(dashboard, snapshot, lambda seen, wants: seen)
    return plan(with_boxes(snapshot, boxes, dashboard)).decisions[0].start is not None


def by_batch(role):
    """The order of `cf-batch.yml`: who asked is told by Actions as a login, so the permission API itself is asked."""
    story = Story()
    logins = {"bot": "helper[bot]", "ourselves": "github-actions[bot]", "ghost": "ghost"}
    if role in ROLES:
        story.world.add_user(f"the-{role}", role)
    login = logins.get(role, f"the-{role}")
    task = story.world.open_issue("Do it")
    environ = {"CF_BATCH_TASKS": str(task), "GITHUB_RUN_ID": "77"}
    environ |= {"GITHUB_ACTOR": login, "GITHUB_TRIGGERING_ACTOR": login}
    try:
        perform(story.github, read_request(environ), story.world.now)
    except NotAllowed:
        return False
    return True


def by_reopening(who):
    task = a_task(
        1,
        Status.DONE,
        record=a_record(1, Status.DONE, approval=None),
        events=(labelled("cf:done", BOT), happened(EventKind.REOPENED, who, ago(minutes=5))),
    )
    return decided(task).status is Status.READY


# Ours: what we label ourselves restores what a person approved, and what we edit is no edit of the text by somebody else.
DOORS = {
    by_label: MAY,
    by_command: MAY,
    by_stop: MAY,
    by_answer: MAY,
    by_words_for_the_next_attempt: MAY,
    by_edit_of_the_body: (*MAY, "ourselves"),
    by_edit_of_the_title: (*MAY, "ourselves"),
    by_edit_of_a_comment: (),
    by_edit_into_a_stop: MAY,
    by_checkbox: MAY,
    by_reopening: MAY,
}


@pytest.mark.parametrize("role", PEOPLE)
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_each_role_can_do_at_each_door_what_it_should(door, role):
    assert door(PEOPLE[role]) is (role in DOORS[door])


@pytest.mark.parametrize("role", PEOPLE)
def test_a_batch_is_ordered_by_those_who_may_order(role):
    assert by_batch(role) is (role in MAY)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_an_account_that_is_ignored_can_do_nothing_at_any_door(door, monkeypatch):
    """`trust.ignore` makes a person's account a bot's, whatever it may do on GitHub."""
    ignoring = Config(trust=Trust(ignore=("The-Admin",)))
    monkeypatch.setitem(DEFAULTS, "config", ignoring)
    assert door(ROLES["admin"]) is False
