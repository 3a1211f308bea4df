"""Story: Two conductors that overlap may each say something before they see the other's: the next tick folds the later one."""

from datetime import timedelta
from functools import partial

import pytest

from bot.conductor.act import act
from bot.conductor.observe import observe
from bot.conductor.tick import decide
from bot.model.issue import Comment
from bot.model.report import Outcome, Question
from bot.notation.comments import read_fingerprint, with_fingerprint
from bot.notation.records import is_record
from bot.plan.facts.doubles import doubles_among
from bot.sandbox.world.in_process import client_of
from bot.worker.job.claim import Claim
from tests.builders import BOT, NOW, STRANGER, ago
from tests.conductor.story import Story
from tests.conductor.two_accounts import said_twice

OURS = "github-actions[bot]"


def status_comments(story, task):
    return [comment for comment in story.world.comments_of(task) if is_record(comment.body)]


def say_again(story, task, of=is_record):
    """What an overlapping tick had written between another's last look and its write."""
    (comment,) = [one for one in story.world.comments_of(task) if of(one.body)]
    story.world.comment(task, comment.body, by=OURS)
    return comment


def a_start(story, remarks=0):
    task = story.ready()
    for number in range(remarks):
        story.world.comment(task, f"remark {number}")
    story.tick()
    return task


def a_question(story, remarks=0):
    task = a_start(story, remarks)
    story.finish(f"cf-{task}-1", Outcome.BLOCKED, question=Question("Which database?"))
    story.tick()
    return task


def a_failure(story, remarks=0):
    task = a_start(story, remarks)
    story.finish(f"cf-{task}-1", Outcome.FAILED)
    story.tick()
    return task


@pytest.mark.parametrize("tell", [a_start, a_question, a_failure])
@pytest.mark.parametrize("remarks", [0, 9])
def test_the_later_of_two_status_comments_is_folded_and_one_stands(tell, remarks):
    """Also where both stand far down the issue: one that only the index finds, and one that only the newest comments show."""
    story = Story()
    task = tell(story, remarks)
    story.tick()
    story.world.wait(timedelta(hours=1))
    story.world.comment(task, "see above", by="stranger")
    story.tick()
    first = say_again(story, task)
    story.tick()
    (stands,) = status_comments(story, task)
    assert stands.id == first.id
    folded = story.world.comments_of(task)[-1]
    assert f"#issuecomment-{first.id}" in folded.body
    story.tick()
    writes = story.world.faults.writes
    story.tick()
    assert story.world.faults.writes == writes
    assert said_twice(story) == []


def notice(body):
    return bool(read_fingerprint(body))


def test_a_notice_that_stands_twice_is_folded_and_its_answer_still_counts():
    story = Story()
    task = a_question(story)
    say_again(story, task, of=notice)
    story.tick()
    assert len([one for one in story.world.comments_of(task) if notice(one.body)]) == 1
    story.world.wait(timedelta(minutes=1))
    story.world.comment(task, "sqlite")
    story.tick()
    story.tick()
    assert f"cf-{task}-2" in story.starts()


def test_a_reply_that_stands_twice_is_folded():
    story = Story()
    story.tick()
    task = story.ready()
    story.tick()
    story.world.comment(task, "/cf status")
    story.tick()
    say_again(story, task, of=notice)
    story.tick()
    assert len([one for one in story.world.comments_of(task) if notice(one.body)]) == 1


def test_what_people_copy_is_left_alone():
    story = Story()
    task = a_question(story)
    for comment in story.world.comments_of(task):
        story.world.comment(task, comment.body, by="maintainer")
    copied = [comment.body for comment in story.world.comments_of(task) if not comment.author.is_bot]
    story.tick()
    story.tick()
    bodies = [comment.body for comment in story.world.comments_of(task) if not comment.author.is_bot]
    assert bodies == copied


def test_two_that_start_the_same_task_leave_one_status_comment_and_one_agent():
    """Neither sees the other's comment in its last look, as where GitHub's lists are behind."""
    story = Story()
    task = story.ready()
    plans = []
    for github in (story.github, client_of(story.world)):
        seen, decided = decide(github, observe(github, story.world.now))
        stale = github.issues([task])
        github.issues = partial(lambda before, _numbers: before, stale)  # type: ignore[method-assign]
        plans.append((github, seen, decided))
    for github, seen, decided in plans:
        act(github, decided, seen)
    assert len(status_comments(story, task)) == 2
    story.github = client_of(story.world)
    story.tick()
    assert len(status_comments(story, task)) == 1
    runs = story.worker_runs()
    claims = [story.claim_check(run) for run in runs]
    assert [isinstance(claim, Claim) for claim in claims] == [True, False]
    for run in runs:
        story.world.run_ended(run.id, "failure")
    story.settle()
    assert said_twice(story) == []


def test_a_unit_that_names_the_folded_comment_is_still_the_tasks():
    """The later conductor's run may have the lower id, and then it is the one that works."""
    story = Story()
    task = a_start(story)
    first = say_again(story, task)
    story.tick()
    folded = story.world.comments_of(task)[-1]
    run = story.run_of(f"cf-{task}-1")
    run.inputs = {**run.inputs, "units": run.inputs["units"].replace(str(first.id), str(folded.id))}
    assert isinstance(story.claim_check(run), Claim)


@pytest.mark.parametrize("number", range(1, 5))
@pytest.mark.parametrize("after", [False, True])
def test_killed_while_it_folds_the_end_is_the_same(number, after):
    story = Story()
    task = a_failure(story)
    say_again(story, task)
    story.world.faults.fail_write(number, after=after)
    story.settle()
    assert len(status_comments(story, task)) == 1
    assert said_twice(story) == []


def said(number, body, by=BOT, minutes=9, issue=1):
    return Comment(number, f"IC_{number}", issue, by, body, ago(minutes=minutes), NOW)


def test_the_oldest_stays_unless_a_record_names_another():
    told = [said(number, with_fingerprint("Asked.", "question:x")) for number in (5, 3, 4)]
    told += [
        said(6, with_fingerprint("Asked.", "question:x"), by=STRANGER),
        said(7, "words"),
        said(8, "words"),
    ]
    told += [said(9, with_fingerprint("Asked.", "question:x"), issue=2)]
    found = doubles_among([*told, *told], {BOT.id}, ())
    assert [(one.id, first.id) for one, first in found] == [(4, 3), (5, 3)]
    found = doubles_among(told, {BOT.id}, {"IC_5"})
    assert [(one.id, first.id) for one, first in found] == [(3, 5), (4, 5)]
