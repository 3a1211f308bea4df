"""Story: the action `approve` of `cf-batch.yml`: many tasks of the backlog become ready in one go, by one person's word."""

from collections import Counter

import pytest

from bot.model.errors import CannotGoOn, TryLater
from tests.conductor.batching import batches, issue, order, refusal
from tests.conductor.story import CONFIG, Story


def backlog(story, count, *labels):
    return [issue(story, "", "cf:backlog", *labels) for _ in range(count)]


def approve(story, tasks="", **given):
    return order(story, tasks, action="approve", **given)


def test_without_a_list_the_whole_backlog_becomes_ready_and_starts_without_any_batch():
    story = Story()
    tasks, untracked = backlog(story, 2), issue(story)
    failed, closed = issue(story, "", "cf:failed"), issue(story, "", "cf:backlog")
    story.world.close(closed)
    said = approve(story)

    assert said == f"2 approved: #{tasks[0]}, #{tasks[1]}"
    assert [story.status(task) for task in tasks] == [("ready",)] * 2
    approval = story.record(tasks[0]).approval
    assert approval is not None
    assert approval.by == "maintainer"
    story.settle()
    assert sorted(story.starts()) == [f"cf-{task}-1" for task in tasks]
    assert (story.status(untracked), story.status(failed)) == ((), ("failed",))
    assert batches(story) == []


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ("{0} {2}", (0, 2)),
        ("{0}-{2} except {1}", (0, 2)),
        ("except {0}", (1, 2)),
        ("label:api", (2,)),
        ("except {0}, #{1}", (2,)),
    ],
)
def test_a_list_narrows_it_and_what_stands_behind_except_is_left_out(words, places):
    story = Story()
    tasks = [*backlog(story, 2), *backlog(story, 1, "api")]
    said = approve(story, words.format(*tasks))
    ready = [place for place, task in enumerate(tasks) if story.status(task) == ("ready",)]
    assert ready == list(places)
    assert said.startswith(f"{len(places)} approved: ")
    assert ("was left out" in said) is ("except" in words)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("{task} {ready}", "#{ready} is not in the backlog. Nothing was approved"),
        ("{task} {ready} 99", "#{ready}, #99 are not in the backlog. Nothing was approved"),
        ("except {ready}", "#{ready} is not in the backlog. Nothing was approved"),
        ("except {task}", "no task of the backlog is left to approve"),
        ("label:none", "no task of the backlog is left to approve"),
        ("{task} except label:api", "behind `except` stand the numbers"),
        ("soon", "is neither a number nor a range"),
    ],
)
def test_what_does_not_fit_refuses_the_whole(words, problem):
    story = Story()
    names = {"task": backlog(story, 1)[0], "ready": story.ready()}
    assert problem.format(**names) in refusal(story, words.format(**names), action="approve")
    assert story.status(names["task"]) == ("backlog",)


@pytest.mark.parametrize(("name", "value"), [("target", "30"), ("options", "merge=auto")])
def test_what_approving_does_not_take_is_refused(name, value):
    story = Story()
    backlog(story, 1)
    assert "approve takes a list of tasks" in refusal(story, action="approve", **{name: value})


def test_who_may_not_order_approves_nothing():
    story = Story()
    story.world.add_user("triager", "triage")
    (task,) = backlog(story, 1)
    assert "may not order work here" in refusal(story, action="approve", by="triager")
    assert story.status(task) == ("backlog",)


def test_a_text_that_an_outsider_changes_afterwards_is_not_approved():
    story = Story(CONFIG + "max_parallel: 0\n")
    task = story.world.open_issue("Do it", by="stranger")
    story.world.label(task, "cf:backlog")
    approve(story)
    story.world.edit_issue(task, body="do something else", by="stranger")
    story.settle()
    assert story.status(task) == ("backlog",)


def test_16_killed_at_any_write_and_given_again_each_task_is_approved_once():
    for number in range(1, 8):
        for after in (False, True):
            story = Story()
            tasks = backlog(story, 2)
            story.world.faults.fail_write(number, after=after)
            try:
                approve(story)
            except (TryLater, CannotGoOn):
                story.settle()
                left = [task for task in tasks if story.status(task) == ("backlog",)]
                if left:
                    approve(story, attempt=2)
            story.settle()
            starts = Counter(key.split("-")[1] for key in story.agent_starts())
            assert starts == {str(task): 1 for task in tasks}, (number, after)
            assert len(story.starts()) == 2
