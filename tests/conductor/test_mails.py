"""Story: whom the bot's doings reach by mail, counted: one notification for an end, and of a batch what a person is needed for."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from bot.model.report import Hold, Outcome, Question
from tests.conductor.batching import batches, order, state
from tests.conductor.story import CONFIG, Story

SIZE = 50


def a_story(config=""):
    """Ada writes issues, the maintainer orders the work; neither watches the repository."""
    story = Story(f"{CONFIG}retry: {{max_attempts: 1, interruptions: 1}}\n{config}")
    story.world.add_user("ada", "write")
    return story


def why(story, login="maintainer"):
    return Counter(mail.why for mail in story.world.mails.to(login))


ENDS: dict[str, tuple[Outcome, dict[str, Any]]] = {
    "passed": (Outcome.PASSED, {}),
    "merged": (Outcome.PASSED, {"merged": True}),
    "failed": (Outcome.FAILED, {"reason": "2 tests failed"}),
    "timeout": (Outcome.TIMEOUT, {}),
    "crashed": (Outcome.CRASHED, {}),
    "infra": (Outcome.INFRA, {}),
    "refused": (Outcome.REFUSED, {}),
    "question": (Outcome.BLOCKED, {"question": Question("Which?", ("a", "b"))}),
    "stalled": (Outcome.STALLED, {}),
    "no_changes": (Outcome.NO_CHANGES, {}),
    "unverified": (Outcome.UNVERIFIED, {}),
    **{
        f"held: {hold}": (Outcome.HELD, {"hold": hold, "head": "c" * 40})
        for hold in Hold
        if hold is not Hold.STALE
    },  # that goes on by itself
    "held": (Outcome.HELD, {"head": "c" * 40}),
}


@pytest.mark.parametrize("name", ENDS)
def test_an_end_is_told_to_who_ordered_it_by_one_mail(name):
    """A label makes nobody take part: only a mention or a request for a review reaches who set it."""
    outcome, report = ENDS[name]
    story = a_story()
    task = story.world.open_issue("Do it", by="ada")
    story.world.label(task, "cf:ready")
    story.settle()
    assert why(story) == {}
    story.finish_live(task, outcome, **report)
    for _ in range(3):
        story.settle()
    assert why(story) == {"review requested" if name == "passed" else "mention": 1}


def test_an_end_by_a_brake_is_one_mail_as_well():
    story = a_story("brakes: {attempts: 1}\n")
    task = story.world.open_issue("Do it", by="ada")
    story.world.label(task, "cf:ready")
    story.settle()
    story.finish_live(task, Outcome.BLOCKED, question=Question("Which?"))
    story.settle()
    assert story.status(task) == ("failed",)
    assert why(story) == {"mention": 1}


def test_what_a_person_did_is_told_by_no_mail():
    story = a_story()
    task = story.world.open_issue("Do it", by="ada")
    story.world.label(task, "cf:ready")
    story.settle()
    story.world.comment(task, "/cf stop")
    story.settle()
    assert why(story) == {}


def test_who_cannot_be_asked_for_a_review_is_told_by_a_comment():
    """Whoever ordered may have left meanwhile."""
    story = a_story()
    task = story.world.open_issue("Do it", by="ada")
    story.world.label(task, "cf:ready")
    story.settle()
    story.finish_live(task, Outcome.PASSED, asked="")
    story.settle()
    (text,) = [one.body for one in story.world.comments_of(task) if "passed every gate" in one.body]
    assert text.startswith(
        "@maintainer: Attempt `cf-1-1` passed every gate. Pull request #3 is ready for review."
    )


def fifty(author, config=""):
    story = a_story(f"max_parallel: 10\n{config}")
    tasks = [story.world.open_issue("Do it", by=author) for _ in range(SIZE)]
    order(story, " ".join(map(str, tasks)))
    return story, tasks, batches(story)[0]


def all_pass(story, tasks, **report):
    """Ten at a time; what is not merged by itself is merged by the maintainer."""
    left = list(tasks)
    while left:
        story.settle()
        for task in [one for one in left if story.record(one).live is not None]:
            story.finish_live(task, Outcome.PASSED, **report)
            left.remove(task)
    story.settle()


def proven_and_merged(story, tasks, batch):
    story.pass_gate(batch)
    for task in tasks:
        story.merge(task)
    story.settle()
    assert state(story, batch) == ("completed",)


@pytest.mark.slow
def test_a_batch_of_fifty_that_passes_sends_who_ordered_it_51_mails():
    """A request for a review each, and the batch's end."""
    story, tasks, batch = fifty("ada")
    all_pass(story, tasks)
    proven_and_merged(story, tasks, batch)
    assert why(story) == {"review requested": SIZE, "mention": 1}
    assert story.world.mails.to("maintainer")[-1].number == batch


@pytest.mark.slow
def test_who_wrote_the_issues_is_told_of_the_status_comment_as_of_any():
    """GitHub mails an author each comment that is written, so each task's one status comment; its edits mail nobody."""
    story, tasks, batch = fifty("maintainer")
    all_pass(story, tasks)
    proven_and_merged(story, tasks, batch)
    assert why(story) == {"review requested": SIZE, "mention": 1, "comment": SIZE}


@pytest.mark.slow
def test_a_batch_that_merges_by_itself_sends_one_mail():
    story, tasks, batch = fifty("ada", "merge: auto\n")
    left = list(tasks)
    while left:
        story.settle()
        for task in [one for one in left if story.record(one).live is not None]:
            key = f"cf-{task}-{story.record(task).live.number}"
            story.finish(key, Outcome.PASSED, merged=True, end=False)
            pull = story.world.pulls.by_number[max(story.world.pulls.by_number)]
            story.world.merge_pull(pull.number, by="github-actions[bot]")
            story.world.run_ended(story.run_of(key).id, "success")
            left.remove(task)
    story.settle()
    if story.gate(batch):
        story.pass_gate(batch)
    assert state(story, batch) == ("completed",)
    assert why(story) == {"mention": 1}


def test_a_shared_fix_that_fails_is_one_mail_to_who_waits_for_it():
    story = a_story("shared_fixes: auto\n")
    tasks = [story.world.open_issue("Do it", by="ada") for _ in range(2)]
    for task in tasks:
        story.world.label(task, "cf:ready")
    story.settle()
    for task in tasks:
        story.finish_live(task, Outcome.FAILED, failure="f" * 32)
    story.settle()
    (fix,) = [one.number for one in story.world.issues.all() if one.has_label("cf:shared-fix")]
    before = len(story.world.mails.to("maintainer"))
    story.finish_live(fix, Outcome.FAILED)
    for _ in range(3):
        story.settle()
    (mail,) = story.world.mails.to("maintainer")[before:]
    assert (mail.number, mail.why) == (fix, "mention")


def test_of_a_batch_only_the_member_that_needs_a_person_is_told():
    """One asks, one fails for good: the question is a mail at once, the failure stands in the batch's end."""
    story = a_story()
    asks, fails = (story.world.open_issue("Do it", by="ada") for _ in range(2))
    order(story, f"{asks} {fails}")
    story.settle()
    story.finish_live(fails, Outcome.FAILED)
    story.finish_live(asks, Outcome.BLOCKED, question=Question("Which?"))
    story.settle()
    assert [(mail.number, mail.why) for mail in story.world.mails.to("maintainer")] == [(asks, "mention")]
    story.world.wait(timedelta(minutes=1))
    story.world.comment(asks, "this one")
    story.settle()
    story.finish_live(asks, Outcome.FAILED)
    for _ in range(3):
        story.settle()
    (batch,) = batches(story)
    assert story.world.mails.to("maintainer")[-1].number == batch
    assert (
        len(story.world.mails.to("maintainer")) == 2 + 1
    )  # who replied takes part, and is told of the failure
