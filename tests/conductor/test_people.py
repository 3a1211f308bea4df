"""Story: people give orders in comments, and strangers try to: whole ticks on the make-believe GitHub."""

import json
from datetime import timedelta

import pytest

from bot.model.report import Hold, Outcome
from bot.notation.comments import read_fingerprint, replied_to
from bot.worker.job.claim import Refusal
from tests.conductor.story import CONFIG, Story


@pytest.fixture
def story():
    """A repository whose conductor has run before: comments from before its first tick order nothing."""
    story = Story()
    story.tick()
    return story


def reactions(story, comment):
    return [content for content, _ in story.world.issues.comment(comment).reactions]


def replies(story, number):
    """Which comments were replied to, in order."""
    found = (replied_to(read_fingerprint(comment.body)) for comment in story.world.comments_of(number))
    return [comment for comment in found if comment]


def test_run_on_an_unlabelled_issue_approves_and_starts_it(story):
    task = story.world.open_issue("Do it")
    order = story.world.comment(task, "/cf run")
    story.tick()
    assert story.starts() == [f"cf-{task}-1"]
    assert story.status(task) == ("in-progress",)
    assert story.record(task).approval.by == "maintainer"
    assert sorted(reactions(story, order)) == ["EYES", "ROCKET"]
    assert replies(story, task) == []


def test_dup_07_two_orders_at_the_same_moment_make_one_start_and_the_later_one_is_told(story):
    task = story.world.open_issue("Do it")
    first, second = story.world.comment(task, "/cf run"), story.world.comment(task, "/cf run")
    story.settle()
    late = story.world.comment(task, "/cf run")
    story.settle()

    assert story.starts() == [f"cf-{task}-1"]
    assert {"ROCKET"} <= set(reactions(story, first)) & set(reactions(story, second))
    assert replies(story, task) == [late]
    assert f"already running as cf-{task}-1" in story.world.comments_of(task)[-1].body


def test_cmd_04_a_command_acts_once_however_often_it_is_edited_and_delivered(story):
    task = story.ready()
    story.settle()
    story.finish_live(task, Outcome.NO_CHANGES)
    story.settle()
    order = story.world.comment(task, "/cf run")
    ok = story.world.comment(task, "ok")
    story.settle()
    assert len(story.starts()) == 2
    story.finish_live(task, Outcome.NO_CHANGES)
    story.settle()
    story.world.edit_comment(order, "/cf run\n\nplease")
    story.world.edit_comment(ok, "/cf run")
    story.settle()
    assert len(story.starts()) == 2
    assert replies(story, task) == [ok]


def test_an_edited_stop_stops(story):
    task = story.ready()
    story.settle()
    comment = story.world.comment(task, "hm")
    story.tick()
    story.world.edit_comment(comment, "/cf stop")
    story.settle()
    assert story.status(task) == ("backlog",)


def test_stop_ends_the_run_and_retry_starts_anew(story):
    task = story.ready()
    story.settle()
    run = story.begin(f"cf-{task}-1")
    story.world.comment(task, "/cf stop because the schema is wrong")
    story.tick()
    assert story.status(task) == ("backlog",)
    assert story.engine.cancelled == [(run, False)]
    story.world.run_ended(run, "cancelled")
    story.settle()
    assert (story.status(task), story.starts()) == (("backlog",), [f"cf-{task}-1"])
    story.world.comment(task, "/cf retry")
    story.settle()
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_publish_lets_exactly_the_listed_paths_through(story):
    task = story.ready()
    story.settle()
    paths = (".github/workflows/ci.yml", "AGENTS.md")
    story.finish(f"cf-{task}-1", Outcome.HELD, hold=Hold.PROTECTED, protected=paths, head="b" * 40)
    story.settle()
    assert story.status(task) == ("blocked",)
    assert all(path in story.world.comments_of(task)[-1].body for path in paths)
    story.world.comment(task, "/cf publish")
    story.settle()
    (unit,) = json.loads(story.run_of(f"cf-{task}-2").inputs["units"])
    assert (unit["kind"], tuple(unit["exceptions"])) == ("publish", paths)
    assert unit["earlier"] == f"{story.run_of(f'cf-{task}-1').id}/cf-{task}-1"


def test_options_of_run_reach_the_unit_and_no_other_task(story):
    first, other = story.world.open_issue("One"), story.ready()
    story.world.comment(first, "/cf run --model tiny --timeout 15m")
    story.settle()
    units = {key: json.loads(story.run_of(f"cf-{key}-1").inputs["units"])[0] for key in (first, other)}
    assert (units[first]["model"], units[first]["timeout_minutes"]) == ("tiny", 15)
    assert (units[other].get("model", ""), units[other]["timeout_minutes"]) == ("", 60)


def test_act_12_a_job_that_is_run_again_names_the_command_that_helps(story):
    """What the refusal of a re-run says is a command, and the command starts the task once more."""
    task = story.ready()
    story.settle()
    run = story.run_of(f"cf-{task}-1")
    refusal = story.claim_check(run, attempt=2)
    assert isinstance(refusal, Refusal)
    (words,) = [word for word in refusal.reason.split("`") if word.startswith("/cf")]
    story.finish_live(task, Outcome.NO_CHANGES)
    story.settle()
    story.world.comment(task, words)
    story.settle()
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_cmd_06_a_stranger_gets_one_reaction_and_starts_nothing(story):
    """On a task, on an issue that is none, and on the dashboard: no label, no record, no reply, no run."""
    task = story.world.open_issue("Mine", labels=("cf:backlog",))
    other = story.world.open_issue("Theirs", by="stranger")
    story.settle()
    orders = [
        story.world.comment(number, body, by="stranger")
        for number in (task, other, dashboard(story))
        for body in ("/cf run", "/cf approve", "/cf stop --all", "/cf help\n/cf status\n/cf frobnicate")
    ]
    before = [len(story.world.comments_of(number)) for number in (task, other, dashboard(story))]
    story.settle()
    assert story.starts() == []
    assert (story.status(task), story.status(other)) == (("backlog",), ())
    assert [len(story.world.comments_of(number)) for number in (task, other, dashboard(story))] == before
    assert {tuple(reactions(story, order)) for order in orders} == {("CONFUSED",)}


def test_sec_19_the_author_of_the_text_decides(story):
    """A maintainer edits a stranger's comment, a stranger's words stay a stranger's."""
    task = story.ready()
    story.settle()
    comment = story.world.comment(task, "hello", by="stranger")
    story.world.edit_comment(comment, "/cf stop", by="maintainer")
    story.settle()
    assert story.status(task) == ("in-progress",)


def test_cmd_12_comments_on_pull_requests_order_nothing(story):
    task = story.ready()
    story.settle()
    story.finish_live(task, Outcome.PASSED)
    story.settle()
    pull = story.record(task).pull
    order = story.world.comment(pull, "/cf retry\n/cf help")
    story.settle()
    assert story.starts() == [f"cf-{task}-1"]
    assert (reactions(story, order), replies(story, pull)) == ([], [])


def test_a_reply_is_written_once_and_an_idle_tick_writes_nothing(story):
    plain = story.world.open_issue("Not a task")
    asked = story.world.comment(plain, "/cf help")
    story.world.comment(dashboard(story), "/cf status")
    story.settle()
    before = story.world.faults.writes
    for _ in range(3):
        story.tick()
    assert story.world.faults.writes == before
    assert replies(story, plain) == [asked]
    assert story.status(plain) == ()
    assert "A task knows" in story.world.comments_of(plain)[-1].body
    assert story.world.comments_of(dashboard(story))[-1].body.startswith(
        "> /cf status\n\n**nothing can start"
    )


def test_orders_on_a_closed_issue_are_seen_and_refused(story):
    task = story.world.open_issue("Over")
    story.world.close(task)
    order = story.world.comment(task, "/cf run")
    story.settle()
    assert story.starts() == []
    assert replies(story, task) == [order]
    assert "reopening it" in story.world.comments_of(task)[-1].body


def test_orders_from_before_the_installation_hold_nothing():
    story = Story()
    task = story.world.open_issue("Old")
    story.world.comment(task, "/cf run\n/cf help")
    story.settle()
    assert (story.starts(), replies(story, task)) == ([], [])
    story.world.comment(task, "/cf run")
    story.settle()
    assert story.starts() == [f"cf-{task}-1"]


def test_the_backlog_is_approved_in_bulk_from_the_dashboard():
    story = Story(CONFIG + "max_parallel: 1\n")
    story.tick()
    tasks = [story.world.open_issue(f"Task {number}", labels=("cf:backlog",)) for number in range(4)]
    story.tick()
    story.world.comment(dashboard(story), f"/cf approve except {tasks[3]}")
    story.settle()
    assert [story.status(task) for task in tasks] == [("in-progress",), ("ready",), ("ready",), ("backlog",)]
    assert "Approved: 3. Left out: 1." in story.world.comments_of(dashboard(story))[-1].body
    story.world.comment(dashboard(story), "/cf stop --all")
    story.settle()
    assert story.status(tasks[0]) == ("backlog",)


def test_a_configured_prefix_is_the_word_for_commands_too():
    story = Story(CONFIG + "prefix: bot\n")
    story.tick()
    task = story.world.open_issue("Do it")
    story.world.comment(task, "/cf run")
    story.settle()
    assert story.starts() == []
    story.world.comment(task, "/bot run")
    story.settle()
    assert story.starts() == [f"cf-{task}-1"]


def test_a_command_on_a_task_that_moved_under_the_tick_is_not_lost(story):
    """Somebody wrote the record between look and write, so the decision waits; the comment is read again."""
    from bot.conductor.act import act
    from bot.conductor.observe import observe
    from bot.conductor.tick import decide, tick

    task = story.ready()
    story.settle()
    story.finish_live(task, Outcome.FAILED)
    story.settle()
    order = story.world.comment(task, "/cf stop\n/cf frobnicate")
    story.world.wait(timedelta(seconds=2))
    seen, decided = decide(story.github, observe(story.github, story.world.now))
    story.world.label(task, "cf:failed")
    tick(story.github, lambda: story.world.now)
    effects = act(story.github, decided, seen)
    assert effects.skipped
    story.settle()
    assert order in story.record(task).acted
    assert replies(story, task) == [order]


def dashboard(story):
    return next(issue.number for issue in story.world.issues.all() if issue.has_label("cf:dashboard"))
