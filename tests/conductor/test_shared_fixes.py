"""Story: several tasks meet one failure: one issue mends it, they wait and go on; a fix may fail or be undone."""

from datetime import timedelta

import pytest

from bot.conductor.act import act
from bot.conductor.observe import observe
from bot.conductor.recording import record_of
from bot.conductor.tick import decide
from bot.model.report import GateResult, GateStatus, Outcome
from bot.notation.comments import read_fingerprint
from bot.sandbox.world.in_process import client_of
from tests.conductor.story import CONFIG, Story

BROKEN = {
    "failure": "f" * 32,
    "gates": (GateResult("tests", GateStatus.FAILED, 1.0, "no such table: carts"),),
}


def fixes(story):
    return [issue for issue in story.world.issues.all() if issue.has_label("cf:shared-fix")]


def fail(story, task, **report):
    live = story.record(task).live
    assert live is not None
    story.finish(f"cf-{task}-{live.number}", Outcome.FAILED, **(BROKEN | report))


def two_fail(config=CONFIG, **report):
    """Two tasks, one shared failure; the issue that mends it."""
    story = Story(config)
    tasks = [story.ready(), story.ready()]
    story.tick()
    for task in tasks:
        fail(story, task, **report)
        story.tick()
    story.tick()
    (fix,) = fixes(story)
    return story, tasks, fix.number


def test_one_issue_holds_the_error_the_tasks_and_the_proposed_fix():
    story, tasks, fix = two_fail()
    issue = story.world.issue(fix)
    assert story.status(fix) == ("backlog",)
    for part in (
        "@maintainer",
        *(f"- #{task}\n" for task in tasks),
        "no such table: carts",
        "**Proposed fix.**",
        "`cf:ready`",
    ):
        assert part in f"{issue.body}\n"
    for _ in range(3):
        story.world.wait(timedelta(hours=2))
        story.tick()
    assert len(fixes(story)) == 1
    assert len(story.starts()) == 2
    assert story.reason(tasks[0]) == f"the same failure is being mended by #{fix}"


def test_the_tasks_need_it_and_go_on_without_a_strike_when_it_closes():
    story, tasks, fix = two_fail()
    assert [story.record(task).own_needs for task in tasks] == [(fix,), (fix,)]
    story.world.wait(timedelta(minutes=5))
    story.world.close(fix)
    story.tick()
    story.tick()
    story.tick()
    assert story.starts()[2:] == [f"cf-{task}-2" for task in tasks]
    assert [(story.record(task).strikes, story.record(task).own_needs) for task in tasks] == [
        (0, ()),
        (0, ()),
    ]


def test_with_auto_it_is_worked_on_at_once_and_everything_merges():
    story, tasks, fix = two_fail(CONFIG + "shared_fixes: auto\n")
    story.tick()
    story.tick()
    assert story.starts()[-1] == f"cf-{fix}-1"
    story.finish(f"cf-{fix}-1", Outcome.PASSED)
    story.tick()
    story.merge(fix)
    for _ in range(3):
        story.tick()
    assert story.status(fix) == ("merged",)
    for task in tasks:
        story.finish_live(task, Outcome.PASSED)
    story.tick()
    assert [story.status(task) for task in tasks] == [("done",), ("done",)]


def test_off_opens_nothing():
    story = Story(CONFIG + "shared_fixes: off\n")
    tasks = [story.ready(), story.ready()]
    story.tick()
    for task in tasks:
        fail(story, task)
    story.tick()
    story.tick()
    assert not fixes(story)


def test_different_failures_share_nothing_and_nor_does_one_without_a_fingerprint():
    story = Story()
    tasks = [story.ready() for _ in range(4)]
    story.tick()
    for task, failure in zip(tasks, ("a" * 32, "b" * 32, "", ""), strict=True):
        fail(story, task, failure=failure)
    story.tick()
    story.tick()
    assert not fixes(story)


def test_a_third_task_that_meets_it_waits_as_well():
    story, _, fix = two_fail()
    third = story.ready()
    story.tick()
    fail(story, third)
    story.tick()
    story.tick()
    assert story.record(third).own_needs == (fix,)
    assert len(fixes(story)) == 1


def test_tasks_that_are_out_of_strikes_go_on_too():
    story, tasks, fix = two_fail(CONFIG + "retry: {max_attempts: 1}\n")
    assert [story.status(task) for task in tasks] == [("failed",), ("failed",)]
    story.world.close(fix)
    for _ in range(3):
        story.tick()
    assert story.starts()[2:] == [f"cf-{task}-2" for task in tasks]


def test_a_task_that_began_before_the_fix_is_run_once_more_without_a_strike():
    story, _, fix = two_fail()
    late = story.ready()
    story.tick()
    story.world.wait(timedelta(minutes=1))
    story.world.close(fix)
    story.tick()
    fail(story, late)
    story.tick()
    story.tick()
    assert story.record(late).strikes == 0
    assert story.reason(late) != ""
    story.tick()
    assert f"cf-{late}-2" in story.starts()
    fail(story, late)
    story.tick()
    story.tick()
    assert story.record(late).strikes == 1


def test_a_fix_that_fails_is_a_persons():
    story, tasks, fix = two_fail(CONFIG + "shared_fixes: auto\nretry: {max_attempts: 1}\n")
    story.tick()
    story.tick()
    fail(story, fix)
    for _ in range(3):
        story.tick()
    assert story.status(fix) == ("failed",)
    told = [
        one.body
        for one in story.world.comments_of(fix)
        if (read_fingerprint(one.body) or "").startswith("fix-failed")
    ]
    assert len(told) == 1
    assert told[0].startswith("@maintainer This shared fix failed, and 2 tasks wait for it.")
    assert len(fixes(story)) == 1
    story.world.close(fix, reason="not_planned")
    for _ in range(3):
        story.tick()
    assert len(fixes(story)) == 1
    assert [story.record(task).own_needs for task in tasks] == [(), ()]


def test_a_fix_that_did_not_last_is_opened_again():
    story, _, fix = two_fail()
    story.world.close(fix)
    story.tick()
    story.world.wait(timedelta(minutes=1))
    others = [story.ready(), story.ready()]
    story.tick()
    for task in others:
        fail(story, task)
        story.tick()
    story.tick()
    assert len(fixes(story)) == 2
    again = fixes(story)[-1]
    assert f"#{fix} mended the same before" in again.body
    assert story.record(others[0]).own_needs == (again.number,)


def test_two_conductors_open_one():
    story = Story()
    tasks = [story.ready(), story.ready()]
    story.tick()
    for task in tasks:
        fail(story, task)
    other = client_of(story.world)
    seen, planned = decide(other, observe(other, story.world.now))
    story.tick()
    act(other, planned, seen)
    assert len(fixes(story)) == 1


def test_of_two_that_were_opened_all_the_same_the_younger_is_closed():
    story, tasks, fix = two_fail()
    body = story.world.issue(fix).body
    spare = story.world.open_issue(
        "x", body, labels=("cf:shared-fix", "cf:backlog"), by="github-actions[bot]"
    )
    story.tick()
    story.tick()
    assert not story.world.issue(spare).is_open
    assert story.record(tasks[0]).own_needs == (fix,)
    story.tick()
    assert story.world.issue(fix).is_open


def test_a_stranger_cannot_forge_a_fix():
    story, tasks, fix = two_fail()
    story.world.open_issue("x", story.world.issue(fix).body, by="stranger")
    story.tick()
    assert story.record(tasks[0]).own_needs == (fix,)


@pytest.mark.parametrize("config", ["", "shared_fixes: auto\n"])
def test_the_record_of_a_tick_decides_the_same(config):
    story, _, fix = two_fail(CONFIG + config)
    ticks = [story.tick(), story.tick()]
    story.world.close(fix)
    ticks += [story.tick(), story.tick()]
    assert [record_of(tick).unfaithful for tick in ticks] == [()] * 4
