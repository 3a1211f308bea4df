"""Issues, labels and comments: who may do what, and what is remembered of it."""

import pytest

from bot.model.issue import NeedState
from bot.model.ref import Ref
from bot.sandbox.world import ApiError, World


def refused(status: int):
    return pytest.raises(ApiError, check=lambda error: error.status == status)


def kinds(world: World, number: int) -> list[str]:
    return [event.kind for event in world.issue(number).events]


@pytest.mark.parametrize("role", ["none", "read"])
def test_labels_need_triage(world, role):
    world.add_user("somebody", role)
    number = world.open_issue("task", labels=["cf:ready"], by="somebody")

    assert world.labels_of(number) == ()
    with refused(403):
        world.label(number, "cf:ready", by="somebody")


def test_triage_may_label_and_close_but_not_dispatch(world):
    world.add_user("helper", "triage")
    number = world.open_issue("task")

    world.label(number, "cf:ready", by="helper")
    assert world.labels_of(number) == ("cf:ready",)
    world.close(number, by="helper")

    issue = world.issue(number)
    assert (issue.is_open, issue.closed_by.login) == (False, "helper")
    assert [(event.kind, event.actor.login) for event in issue.events] == [
        ("labeled", "helper"),
        ("closed", "helper"),
    ]
    with refused(403):
        world.dispatch("cf-conductor.yml", token="helper")


def test_people_close_and_edit_their_own(world):
    number = world.open_issue("mine", by="stranger")
    said = world.comment(number, "words", by="stranger")

    world.edit_issue(number, title="still mine", body="more", by="stranger")
    world.edit_comment(said, "other words", by="stranger")
    world.close(number, by="stranger")

    issue = world.issue(number)
    assert (issue.title, issue.body, issue.is_open) == ("still mine", "more", False)
    assert issue.edits[-1].editor.login == "stranger"
    assert [comment.body for comment in world.comments_of(number)] == ["other words"]

    others = world.open_issue("not mine", "as it was")
    answer = world.comment(others, "not mine either")
    with refused(403):
        world.edit_issue(others, body="more", by="stranger")
    with refused(403):
        world.close(others, by="stranger")
    with refused(403):
        world.edit_comment(answer, "x", by="stranger")

    issue = world.issue(others)
    assert (issue.body, issue.is_open) == ("as it was", True)
    assert [comment.body for comment in world.comments_of(others)] == ["not mine either"]


def test_a_private_repository_hides_itself(world):
    world = World(private=True)
    with refused(404):
        world.open_issue("task", by="stranger")


def test_the_same_label_again_is_no_event(world):
    number = world.open_issue("task", labels=["CF:Ready"])

    world.label(number, "cf:ready")
    world.unlabel(number, "cf:READY")
    world.unlabel(number, "cf:ready")

    assert kinds(world, number) == ["labeled", "unlabeled"]
    assert world.issue(number).events[0].label.name == "CF:Ready"


def test_the_same_text_again_is_no_edit(world):
    number = world.open_issue("task", "text")

    world.edit_issue(number, title="task", body="text")
    assert world.issue(number).edits == []

    world.edit_issue(number, body="other", by="maintainer")
    assert len(world.issue(number).edits) == 2, "the first entry is the creation"


@pytest.mark.parametrize(("title", "body"), [("", "x"), ("t" * 257, ""), ("t", "b" * 65_537)])
def test_texts_have_limits(world, title, body):
    with refused(422):
        world.open_issue(title, body)


def test_a_locked_issue_takes_words_of_writers_only(world):
    number = world.open_issue("task")
    world.issues.lock(world.issue(number), world.token("maintainer"))

    world.comment(number, "allowed")
    with refused(403):
        world.comment(number, "not allowed", by="stranger")


def test_numbers_are_never_used_again(world):
    first = world.open_issue("first")
    world.delete_issue(first)

    assert world.open_issue("second") == first + 1
    with refused(410):
        world.issue(first)
    with refused(404):
        world.issue(99)


def test_a_token_reaches_no_further_than_its_permissions(world):
    number = world.open_issue("task")
    reader = world.accounts.run_token(0, {"issues": "read"}, "reader")

    with refused(403) as told:
        world.comment(number, "x", by=reader)
    assert told.value.message == "Resource not accessible by integration"


def test_edges_have_rules(world):
    task = world.open_issue("task")
    others = [world.open_issue(f"other {i}") for i in range(51)]
    with refused(422):
        world.block(task, task)
    for other in others[:50]:
        world.block(task, other)
    with refused(422):
        world.block(task, others[0])
    with refused(422):
        world.block(task, others[50])
    world.unblock(task, others[0])
    world.block(task, others[50])
    with refused(404):
        world.unblock(task, others[0])


def test_pull_requests_are_no_blockers(world):
    task = world.open_issue("task")
    world.push_files("branch", {"a": "b"})
    with refused(422):
        world.block(task, world.open_pull("branch", "work"))


def test_a_hidden_blocker_is_counted_and_not_shown(world):
    task = world.open_issue("task")
    world.block(task, Ref("secret/place", 1))
    known = Ref("acme/api", 2)
    world.elsewhere(known, NeedState.COMPLETED)
    world.block(task, known)

    issue = world.issue(task)
    assert world.dependencies.visible(issue.blocked_by) == (known,)
    assert world.dependencies.blocked_by_open(issue) == 1


def test_tokens_cannot_be_guessed_with_a_salt():
    one, other = World(salt="one"), World(salt="other")

    assert one.token("maintainer").value != other.token("maintainer").value
    assert "maintainer" not in one.token("maintainer").value
    assert one.token(one.token("maintainer").value) == one.token("maintainer")
