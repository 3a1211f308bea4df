"""Whom the make-believe GitHub mails, and for what."""

import pytest

from bot.sandbox.world import World


@pytest.fixture
def world():
    world = World("acme/shop")
    for login in ("ada", "bob"):
        world.add_user(login, "write")
    return world


def got(world, login):
    return [mail.why for mail in world.mails.to(login)]


def test_who_wrote_an_issue_is_told_of_what_others_do_on_it(world):
    issue = world.open_issue("x", by="ada")
    world.comment(issue, "hello", by="bob")
    world.comment(issue, "hello yourself", by="ada")
    world.close(issue, by="bob")
    world.reopen(issue, by="ada")
    assert got(world, "ada") == ["comment", "closed"]
    assert got(world, "bob") == ["comment", "reopened"]  # who comments takes part


def test_labels_and_edits_mail_nobody_and_make_nobody_take_part(world):
    issue = world.open_issue("x", by="ada")
    comment = world.comment(issue, "one", by="ada")
    world.label(issue, "bug", by="bob")
    world.unlabel(issue, "bug", by="bob")
    world.edit_comment(comment, "@bob two", by="ada")
    world.edit_issue(issue, body="@bob", by="ada")
    world.comment(issue, "three", by="maintainer")
    assert got(world, "bob") == []
    assert got(world, "ada") == ["comment"]


@pytest.mark.parametrize(
    ("words", "mails"),
    [
        ("@bob please", ["mention"]),
        ("> said @bob", ["mention"]),
        ("for @Bob, and once more @bob", ["mention"]),
        ("`@bob`", []),
        ("```\n@bob\n```", []),
        ("me@bob", []),
        ("@\u200bbob", []),
        ("````text\n```\n@bob\n````", []),
        ("@bobby", []),
        ("<!-- @bob -->", []),
    ],
)
def test_a_mention_is_one_mail_and_the_beginning_of_taking_part(world, words, mails):
    issue = world.open_issue("x", by="ada")
    world.comment(issue, words, by="ada")
    assert got(world, "bob") == mails
    world.comment(issue, "more", by="maintainer")
    assert got(world, "bob") == [*mails, *(["comment"] if mails else [])]


def test_a_request_for_a_review_is_one_mail_however_often_it_is_made(world):
    world.push_files("cf/1", {"a.txt": "a"})
    pull = world.open_pull("cf/1", title="x", by="ada")
    state, token = world.pull(pull), world.token("ada")
    for _ in range(2):
        world.pulls.request_review(state, ["bob"], token)
    assert got(world, "bob") == ["review requested"]
    world.push_files("cf/1", {"a.txt": "b"}, by="ada")
    world.review(pull, "APPROVED", "fine", by="bob")
    world.pulls.request_review(state, ["bob"], token)  # asked again after a review
    world.merge_pull(pull, by="maintainer")
    assert got(world, "bob") == ["review requested", "synchronize", "review requested", "closed"]
    assert got(world, "ada") == ["submitted", "closed"]


def test_bots_get_no_mail(world):
    issue = world.open_issue("x", by="github-actions[bot]")
    world.comment(issue, "hello", by="ada")
    assert world.mails.sent == []
