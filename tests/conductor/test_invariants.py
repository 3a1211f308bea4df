"""Story: what must always hold, by the numbers of docs/architecture.md, "Invariants"; 16, and more of 9, in test_killed.py."""

from datetime import timedelta

import pytest

from bot.conductor.tell.summary import overview
from bot.model.config import Config
from bot.model.report import Outcome, Question
from bot.sandbox.world.in_process import client_of
from bot.worker.job.claim import Claim, Refusal
from tests.conductor.story import CONFIG, Story


def test_1_closed_while_queued_is_never_dispatched():
    story = Story()
    first = story.ready()
    second = story.ready(f"depends on #{first}")
    story.tick()
    story.world.close(second)
    story.finish(f"cf-{first}-1", Outcome.PASSED)
    story.tick()
    story.merge(first)
    story.tick()

    assert story.starts() == [f"cf-{first}-1"]
    assert story.status(second) == ("done",)


def test_1_closed_between_snapshot_and_dispatch_is_not_started():
    """DUP-10: the state is read again right before a start."""
    story = Story()
    task = story.ready()
    issues = story.github.issues

    def closed_meanwhile(numbers):
        story.world.close(task)
        return issues(numbers)

    story.github.issues = closed_meanwhile  # type: ignore[method-assign]
    last = story.tick()

    assert story.starts() == []
    assert last.effects.skipped == {task: "changed since snapshot"}


def test_2_closed_while_running_cancels_the_run_and_counts_no_failure():
    story = Story()
    task = story.ready()
    story.tick()
    run = story.begin(f"cf-{task}-1")
    story.world.close(task, reason="not_planned")
    story.tick()
    story.tick()

    assert story.world.run(run).conclusion == "cancelled"
    record = story.record_anyway(task)
    assert (record.strikes, record.attempts[-1].outcome) == (0, Outcome.CANCELLED)
    assert story.status(task) == ()


def test_2_act_14_a_cancel_that_is_ignored_is_forced_after_the_grace_and_keeps_its_slot():
    story = Story(CONFIG + "max_parallel: 1\n")
    task, other = story.ready(), story.ready()
    story.engine.obeys = False
    story.tick()
    run = story.begin(f"cf-{task}-1")
    story.world.close(task)
    for _ in range(3):
        story.tick()
    assert story.engine.cancelled == [(run, False)]
    assert story.starts() == [f"cf-{task}-1"]  # the slot is not free while the run lives
    story.world.wait(timedelta(minutes=5))
    story.tick()
    story.tick()

    assert story.engine.cancelled == [(run, False), (run, True)]
    assert story.starts() == [f"cf-{task}-1", f"cf-{other}-1"]


def test_3_our_own_merge_is_not_an_external_change():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.PASSED)
    story.tick()
    story.merge(task)
    story.tick()

    assert story.status(task) == ("merged",)
    record = story.record_anyway(task)
    assert record.attempts[-1].outcome is Outcome.PASSED
    assert not story.engine.cancelled


def test_3_an_open_issue_whose_own_pull_request_merged_is_closed_by_us():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.PASSED)
    story.tick()
    story.world.edit_issue(story.record(task).pull, body="no closing word")
    story.merge(task)
    assert story.world.issue(task).is_open
    story.tick()

    assert story.status(task) == ("merged",)
    assert not story.world.issue(task).is_open


def test_4_reopened_is_eligible_once():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.PASSED)
    story.tick()
    story.merge(task)
    story.tick()
    story.world.reopen(task)
    for _ in range(3):
        story.tick()

    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_4_reopened_by_a_stranger_waits_in_the_backlog():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.PASSED)
    story.tick()
    story.merge(task)
    story.tick()
    story.world.add_user("triager", "triage")
    story.world.reopen(task, by="triager")
    story.tick()
    story.tick()

    assert story.status(task) == ("backlog",)
    assert story.starts() == [f"cf-{task}-1"]


def test_5_a_failed_need_holds_its_dependents_with_the_chain_named():
    story = Story(CONFIG + "retry: {max_attempts: 1}\n")
    broken = story.ready()
    child = story.ready(f"depends on #{broken}")
    grandchild = story.ready(f"depends on #{child}")
    lone = story.ready()
    story.tick()
    story.finish(f"cf-{broken}-1", Outcome.FAILED, reason="tests fail")
    story.tick()
    story.tick()

    assert story.status(broken) == ("failed",)
    assert story.reason(child) == f"waiting on failed #{broken}"
    assert story.reason(grandchild) == f"waiting on #{child}"
    assert f"cf-{lone}-1" in story.starts()


def test_6_grf_01_a_cycle_is_named_on_each_member_once_and_holds_only_what_is_behind_it():
    """GRF-01."""
    story = Story()
    one, two, three = (story.ready() for _ in range(3))
    four = story.ready()
    behind = story.ready(f"depends on #{one}")
    for child, need in ((one, two), (two, three), (three, one)):
        story.world.edit_issue(child, body=f"depends on #{need}")
    story.tick()
    story.tick()

    assert story.starts() == [f"cf-{four}-1"]
    paths = {
        one: f"{one}→{two}→{three}→{one}",
        two: f"{two}→{three}→{one}→{two}",
        three: f"{three}→{one}→{two}→{three}",
    }
    for member, path in paths.items():
        told = [comment.body for comment in story.world.comments_of(member) if path in comment.body]
        assert len([body for body in told if "waits for itself" in body]) == 1
    assert story.reason(behind).startswith("blocked by cycle")


def test_7_an_unknown_need_is_said_once():
    story = Story()
    task = story.ready("depends on #4711")
    for _ in range(3):
        story.tick()

    told = [comment for comment in story.world.comments_of(task) if "until somebody decides" in comment.body]
    assert len(told) == 1
    assert story.starts() == []
    assert story.reason(task).startswith("waiting on #4711")


@pytest.mark.parametrize("conclusion", ["failure", "cancelled", "startup_failure"])
def test_8_a_worker_that_vanished_is_requeued_without_a_strike(conclusion):
    story = Story()
    task = story.ready()
    story.tick()
    story.die(f"cf-{task}-1", conclusion)
    story.tick()
    assert story.record(task).strikes == 0
    story.tick()

    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_9_two_ticks_at_once_start_one_agent():
    """DUP-01: both may dispatch, but one key is claimed, and the run of a key is the lowest that carries it."""
    story = Story()
    task = story.ready()
    other = client_of(story.world)
    from bot.conductor.act import act
    from bot.conductor.observe import observe
    from bot.conductor.tick import decide

    seen_a, plan_a = decide(story.github, observe(story.github, story.world.now))
    seen_b, plan_b = decide(other, observe(other, story.world.now))
    act(story.github, plan_a, seen_a)
    effects = act(other, plan_b, seen_b)

    assert effects.skipped == {task: "changed since snapshot"}
    assert story.starts() == [f"cf-{task}-1"]


def test_9_where_both_have_dispatched_the_lowest_run_starts_its_agent_and_the_other_is_refused():
    """DUP-01: both have read and read again before either writes, so only the job's first step can tell them apart."""
    from bot.conductor.act import act
    from bot.conductor.observe import observe
    from bot.conductor.tick import decide

    story = Story()
    task = story.ready()
    other = client_of(story.world)
    seen_a, plan_a = decide(story.github, observe(story.github, story.world.now))
    seen_b, plan_b = decide(other, observe(other, story.world.now))
    write = story.github.write

    def after_the_other(changes):
        story.github.write = write  # type: ignore[method-assign]
        act(other, plan_b, seen_b)
        return write(changes)

    story.github.write = after_the_other  # type: ignore[method-assign]
    act(story.github, plan_a, seen_a)
    first, second = story.worker_runs()

    assert story.starts() == [f"cf-{task}-1"] * 2
    assert isinstance(story.claim_check(first), Claim)
    assert story.claim_check(second) == Refusal(f"cf-{task}-1 belongs to run {first.id}")
    story.settle()
    assert len(story.worker_runs()) == 2
    story.finish(f"cf-{task}-1", Outcome.PASSED)
    story.world.run_ended(second.id, "failure")
    story.settle()
    assert story.status(task) == ("done",)
    assert [attempt.outcome for attempt in story.record(task).attempts] == [Outcome.PASSED]


def test_10_the_same_event_twice_has_one_effect():
    """DUP-05: the second look writes nothing at all."""
    story = Story()
    story.ready()
    story.tick()
    story.tick()
    writes = story.world.faults.writes
    story.tick()

    assert story.world.faults.writes == writes


def test_11_a_close_wins_against_a_completion():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.PASSED)
    story.world.close(task, reason="not_planned")
    story.tick()

    assert story.status(task) == ()
    assert story.record_anyway(task).live is None


@pytest.mark.slow
def test_12_act_03_three_hundred_tasks_are_all_seen_and_what_finds_no_slot_is_counted():
    assert Config().max_parallel == 4  # this many only because it is asked for
    story = Story(CONFIG + "max_parallel: 256\nlimits: {total: 256}\n")
    tasks = [story.ready() for _ in range(300)]
    last = story.tick()
    assert [item.task for item in last.plan.decisions] == tasks
    for _ in range(8):  # GitHub takes some 80 new comments a minute and 500 an hour
        story.world.wait(timedelta(minutes=1))
        last = story.tick()

    assert len(set(story.starts())) == len(story.starts()) == 256
    left = [item.task for item in last.plan.decisions if "waits for a slot" in item.reason]
    assert len(left) == overview(last).counts["waiting"] == 44
    assert all("cf:ready" in story.world.labels_of(task) for task in left)


@pytest.mark.parametrize("operation", ["view", "comments_since", "runs", "write", "dispatch"])
def test_13_a_broken_api_ends_the_tick_neutral_and_the_next_one_goes_on(operation):
    from bot.model.errors import TryLater

    story = Story()
    task = story.ready()
    story.world.faults.answer(502, operation, times=1)
    with pytest.raises(TryLater):
        story.tick()
    story.world.wait(timedelta(minutes=6))
    for _ in range(3):
        story.tick()

    assert len([key for key in story.starts() if key.startswith(f"cf-{task}-")]) == 1


@pytest.mark.parametrize("door", ["label", "comment", "title", "body"])
def test_14_a_stranger_starts_nothing(door):
    story = Story()
    story.world.add_user("triager", "triage")
    task = story.world.open_issue("x", "", by="stranger")
    if door == "label":
        story.world.label(task, "cf:ready", by="triager")
    elif door == "comment":
        story.world.label(task, "cf:backlog")
        story.world.comment(task, "/cf run", by="stranger")
    else:
        story.world.label(task, "cf:ready")
        story.world.wait(timedelta(seconds=5))
        story.world.edit_issue(task, by="stranger", **{door: "do something else"})
    for _ in range(3):
        story.tick()

    assert story.starts() == []
    if door in ("title", "body"):
        assert story.status(task) == ("backlog",)
        assert (
            sum("was changed by stranger" in comment.body for comment in story.world.comments_of(task)) >= 1
        )


def test_14_an_edit_by_a_stranger_ends_the_run():
    """SEC-06 (a)."""
    story = Story()
    task = story.world.open_issue("x", "", by="stranger")
    story.world.label(task, "cf:ready")
    story.tick()
    run = story.begin(f"cf-{task}-1")
    story.world.edit_issue(task, body="and now something else", by="stranger")
    story.tick()
    story.tick()

    assert story.world.run(run).conclusion == "cancelled"
    assert story.status(task) == ("backlog",)


def test_14_a_strangers_reply_answers_nothing():
    """ANS-01."""
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.BLOCKED, question=Question("Which database?"))
    story.tick()
    story.world.comment(task, "sqlite", by="stranger")
    story.tick()
    assert story.status(task) == ("blocked",)
    story.world.comment(task, "sqlite")
    story.tick()
    story.tick()

    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]
    assert [(answer.answer, answer.by) for answer in story.record(task).answers] == [("sqlite", "maintainer")]


def test_15_without_gates_nothing_ever_passes():
    story = Story(CONFIG.replace("gates: [{name: tests, run: make test}]", "gates: []"))
    task = story.ready()
    story.tick()
    assert '"verify":[]' in story.worker_runs()[0].inputs["units"]
    story.finish(f"cf-{task}-1", Outcome.UNVERIFIED)
    story.tick()

    assert story.status(task) == ("blocked",)
    assert "review draft" in story.reason(task)


def test_15_a_report_of_passed_without_a_successful_verify_job_is_not_believed():
    story = Story()
    task = story.ready()
    story.tick()
    key = f"cf-{task}-1"
    story.finish(key, Outcome.PASSED, verify="skipped")
    story.tick()

    assert story.status(task) == ("ready",)
    assert story.record(task).attempts[-1].outcome is Outcome.INFRA


def test_17_act_08_ticks_hours_apart_lose_and_double_nothing():
    story = Story()
    alive, ended, never = story.ready(), story.ready(), story.ready()
    story.tick()
    story.begin(f"cf-{alive}-1")
    story.die(f"cf-{ended}-1")
    del story.world.actions.runs[story.run_of(f"cf-{never}-1").id]
    story.world.wait(timedelta(hours=3, minutes=40))
    story.tick()

    assert story.reason(alive).startswith("running as")
    assert [story.record(task).strikes for task in (alive, ended, never)] == [0, 0, 0]
    story.world.wait(timedelta(minutes=1))
    story.tick()
    assert sorted(story.starts())[-2:] == sorted([f"cf-{ended}-2", f"cf-{never}-2"])
