"""Story: later words on a batch: stop, force, resume, and what the later of them does."""

from datetime import timedelta
from typing import Any

import pytest

from bot.model.report import Outcome, Question
from tests.conductor.batching import (
    batches,
    control,
    issue,
    last_words,
    order,
    record_of,
    refusal,
    rows,
    shown,
    state,
)
from tests.conductor.story import CONFIG, Story

ONCE = CONFIG + "retry: {max_attempts: 1}\n"


def failed_batch(story: Story, task: int, *others: int, **inputs: Any) -> int:
    """A batch whose first member has just failed for good."""
    order(story, " ".join(map(str, (task, *others))), **inputs)
    (batch,) = batches(story)
    story.settle()
    story.finish_live(task, Outcome.FAILED)
    return batch


def test_a_stop_by_force_ends_what_runs_and_by_force_after_the_grace():
    story = Story(CONFIG + "max_parallel: 1\n")
    running, waiting = issue(story), issue(story)
    order(story, f"{running} {waiting}")
    story.tick()
    (batch,) = batches(story)
    run = story.begin(f"cf-{running}-1")
    story.engine.obeys = False
    assert control(story, "stop-force", batch) == f"batch #{batch} is stopped; what runs is ended"
    story.tick()

    assert story.world.run(run).cancel_requested
    assert story.status(running) == ("backlog",)
    assert state(story, batch) == ("running",)  # until the run has ended
    story.world.wait(timedelta(minutes=6))
    story.tick()
    assert story.engine.cancelled[-1] == (run, True)
    story.world.run_ended(run, "cancelled")
    story.settle()

    assert state(story, batch) == ("cancelled",)
    assert story.starts() == [f"cf-{running}-1"]
    assert "stopped by maintainer by force" in story.world.issue(batch).body
    assert "| killed |" in story.world.issue(batch).body


def test_a_stop_by_force_may_follow_a_plain_one():
    story = Story()
    task = issue(story)
    order(story, str(task))
    story.tick()
    (batch,) = batches(story)
    run = story.begin(f"cf-{task}-1")
    control(story, "stop", batch)
    story.tick()
    assert not story.world.run(run).cancel_requested
    control(story, "stop-force", batch, run=901)
    story.tick()
    assert story.world.run(run).cancel_requested


@pytest.mark.parametrize("how", ["workflow", "reopened"])
def test_a_resume_goes_on_with_what_did_not_come_through(how):
    story = Story(ONCE)
    bad, good, parked = issue(story), issue(story), issue(story)
    batch = failed_batch(story, bad, good, parked, max_parallel="2")
    story.finish_live(good, Outcome.PASSED)
    story.settle()
    story.finish_live(parked, Outcome.FAILED)
    story.pass_gate(batch)
    story.merge(good)
    story.settle()
    assert state(story, batch) == ("partial",)

    story.world.wait(timedelta(minutes=5))
    if how == "workflow":
        assert control(story, "resume", batch) == f"batch #{batch} goes on"
        assert "goes on already" in control(story, "resume", batch, run=901)
    else:
        story.world.reopen(batch)
    story.settle()
    assert state(story, batch) == ("running",)
    assert story.agent_starts() >= {f"cf-{bad}-2", f"cf-{parked}-2"}
    assert f"cf-{good}-2" not in story.starts()
    assert shown(story, batch)[bad]["was"] == "failed"
    approval = story.record(bad).approval
    assert approval is not None
    assert approval.by == "maintainer"

    for task in (bad, parked):
        story.finish_live(task, Outcome.PASSED)
    story.pass_gate(batch)
    for task in (bad, parked):
        story.merge(task)
    story.settle()
    assert state(story, batch) == ("completed",)
    assert not story.world.issue(batch).is_open
    assert "has ended: completed.** 3 of 3 passed" in last_words(story, batch)
    assert "nothing to resume" in refusal(story, action="resume", target=str(batch), run=902)
    story.world.wait(timedelta(minutes=5))
    story.world.reopen(batch)
    story.settle()
    assert not story.world.issue(batch).is_open
    assert "nothing to resume" in last_words(story, batch)


def test_a_resume_leaves_alone_what_a_person_withdrew_or_took_over_since():
    story = Story(ONCE + "max_parallel: 3\n")
    bad, withdrawn, own = issue(story), issue(story), issue(story)
    batch = failed_batch(story, bad, withdrawn, own)
    for task in (withdrawn, own):
        story.finish_live(task, Outcome.FAILED)
    story.settle()
    assert state(story, batch) == ("failed",)
    story.world.label(withdrawn, "cf:backlog")
    story.world.label(own, "cf:ready")
    story.settle()
    assert f"cf-{own}-2" in story.starts()
    story.world.wait(timedelta(minutes=5))
    control(story, "resume", batch)
    story.settle()

    assert f"cf-{bad}-2" in story.starts()
    assert f"cf-{withdrawn}-2" not in story.starts()
    assert story.starts().count(f"cf-{own}-2") == 1


def test_a_resume_by_force_runs_what_is_done_again_and_never_what_is_merged():
    story = Story(ONCE)
    merged, done = issue(story), issue(story)
    order(story, f"{merged} {done}")
    story.settle()
    (batch,) = batches(story)
    for task in (merged, done):
        story.finish_live(task, Outcome.PASSED)
    story.pass_gate(batch)
    story.merge(merged)
    story.settle()
    control(story, "stop", batch)
    story.settle()
    assert state(story, batch) == ("cancelled",)
    pull = story.record(done).pull
    control(story, "resume-force", batch, run=901)
    story.settle()

    assert f"cf-{done}-2" in story.starts()
    assert f"cf-{merged}-2" not in story.starts()
    assert story.record(done).pull == pull  # it goes on upon its branch


def test_of_stop_and_resume_the_later_one_counts():
    story = Story(CONFIG + "max_parallel: 1\n")
    first, second = issue(story), issue(story)
    order(story, f"{first} {second}")
    story.tick()
    (batch,) = batches(story)
    control(story, "stop", batch)
    control(story, "resume", batch, run=901)
    story.finish(f"cf-{first}-1", Outcome.PASSED)
    story.settle()
    assert f"cf-{second}-1" in story.starts()
    control(story, "stop", batch, run=902)
    story.finish(f"cf-{second}-1", Outcome.FAILED)
    story.world.wait(timedelta(hours=2))
    story.settle()
    assert state(story, batch) == ("cancelled",)
    assert f"cf-{second}-2" not in story.starts()


def test_a_batch_stopped_before_its_first_tick_can_be_resumed():
    story = Story()
    task = issue(story)
    order(story, str(task))
    (batch,) = batches(story)
    control(story, "stop", batch)
    story.settle()
    assert story.starts() == []
    assert state(story, batch) == ("cancelled",)
    control(story, "resume", batch, run=901)
    story.settle()
    assert story.starts() == [f"cf-{task}-1"]


def test_somebody_who_may_not_order_reopens_in_vain():
    story = Story(ONCE)
    story.world.add_user("triager", "triage")
    task = issue(story)
    batch = failed_batch(story, task)
    story.settle()
    story.world.wait(timedelta(minutes=5))
    story.world.reopen(batch, by="triager")
    story.settle()

    assert not story.world.issue(batch).is_open
    assert "triager, who may not order work here, reopened it" in last_words(story, batch)
    assert story.starts() == [f"cf-{task}-1"]
    assert "may not order work" in refusal(story, action="resume", target=str(batch), by="triager")


def test_a_resume_is_refused_for_members_of_another_running_batch():
    story = Story(ONCE)
    task = issue(story)
    batch = failed_batch(story, task)
    story.settle()
    order(story, str(task), run=78)
    other = batches(story)[-1]
    assert f"#{task} is a member of batch #{other}" in refusal(
        story, action="resume", target=str(batch), run=79
    )
    story.world.wait(timedelta(minutes=5))
    story.world.reopen(batch)
    story.settle()
    assert state(story, batch) == ("cancelled",)  # the running one has it, although its number is higher
    assert state(story, other) == ("running",)


def test_members_of_an_ended_batch_are_held_with_the_reason_until_a_person_orders_anew():
    story = Story(ONCE)
    task, dependent = issue(story), issue(story)
    batch = failed_batch(story, task, dependent)
    story.world.edit_issue(dependent, body=f"Depends on #{task}")
    story.finish_live(dependent, Outcome.FAILED)
    story.settle()
    assert state(story, batch) == ("failed",)
    behind = issue(story, f"Depends on #{task}")
    order(story, str(behind), run=78)
    story.settle()
    assert story.status(behind) == ("backlog",)
    assert "has ended or was stopped; `cf:ready` starts it on its own" in story.foresee()[behind]


def test_a_run_that_is_repeated_says_its_word_once():
    story = Story()
    task = issue(story)
    order(story, str(task))
    story.tick()
    (batch,) = batches(story)
    control(story, "stop", batch)
    story.settle()
    for number in range(6):
        story.world.comment(batch, f"remark {number}")
    story.tick()
    control(story, "stop", batch, attempt=2)
    assert sum("Stopped" in one.body for one in story.world.comments_of(batch)) == 1


def test_a_dry_run_starts_nothing_until_it_is_run():
    story = Story()
    task, other = issue(story), story.ready()
    assert "is planned with 2 tasks" in order(story, f"{task} {other}", dry_run="true")
    (batch,) = batches(story)
    story.settle()
    assert state(story, batch) == ("pending",)
    assert story.starts() == [f"cf-{other}-1"]  # planned only: it has taken nobody over
    assert "This is the plan only" in story.world.issue(batch).body
    control(story, "resume", batch)
    story.settle()
    assert state(story, batch) == ("running",)
    assert f"cf-{task}-1" in story.starts()
    assert "This is the plan only" not in story.world.issue(batch).body


def test_with_blocked_end_the_batch_ends_although_a_question_is_open():
    story = Story()
    asks, fails = issue(story), issue(story)
    order(story, f"{asks} {fails}", options="blocked=end")
    story.tick()
    story.finish(f"cf-{asks}-1", Outcome.BLOCKED, question=Question("Which?"))
    story.world.label(fails, "cf:failed")
    story.settle()
    story.die(f"cf-{fails}-1", "cancelled")
    story.settle()
    (batch,) = batches(story)
    assert state(story, batch) == ("failed",)
    assert rows(last_words(story, batch))[asks]["status"] == "blocked"
    story.world.comment(asks, "The blue one.")
    story.settle()
    assert story.status(asks) == ("backlog",)  # a member starts only through its batch
    control(story, "resume", batch)
    story.settle()
    assert f"cf-{asks}-2" in story.starts()


def test_on_failure_stop_starts_nothing_fresh_and_ends():
    story = Story(ONCE + "max_parallel: 2\n")
    task, running, waiting = issue(story), issue(story), issue(story)
    batch = failed_batch(story, task, running, waiting, on_failure="stop")
    story.settle()
    assert f"on_failure of batch #{batch} is stop, and #{task} failed" in shown(story, batch)[waiting]["why"]
    story.finish_live(running, Outcome.PASSED)
    story.pass_gate(batch)
    story.merge(running)
    story.settle()

    assert state(story, batch) == ("partial",)
    assert f"cf-{waiting}-1" not in story.starts()
    assert rows(last_words(story, batch))[waiting]["status"] == "not run"


def test_extra_rounds_give_failed_members_fresh_strikes_and_a_passed_one_lifts_the_stop():
    story = Story(ONCE + "max_parallel: 1\n")
    task, waiting = issue(story), issue(story)
    batch = failed_batch(story, task, waiting, on_failure="stop", max_retries="2")
    story.settle()
    assert story.starts()[-1] == f"cf-{task}-2"
    story.finish_live(task, Outcome.FAILED)
    story.settle()
    assert record_of(story, batch).rounds == 2
    assert "extra round 2" in story.world.issue(batch).body
    story.finish_live(task, Outcome.PASSED)
    story.settle()
    assert story.starts()[-1] == f"cf-{waiting}-1"
    story.finish_live(waiting, Outcome.FAILED)
    story.settle()
    assert f"cf-{waiting}-2" not in story.starts()  # the rounds are used up


def test_a_failed_member_is_tried_again_only_when_nothing_of_the_batch_runs():
    story = Story(ONCE)
    task, running = issue(story), issue(story)
    batch = failed_batch(story, task, running, max_retries="1")
    story.settle()
    assert story.starts() == [f"cf-{task}-1", f"cf-{running}-1"]
    story.finish_live(running, Outcome.FAILED)
    story.settle()
    assert story.agent_starts() == {f"cf-{n}-{k}" for n in (task, running) for k in (1, 2)}
    for each in (task, running):
        story.finish_live(each, Outcome.FAILED)
    story.settle()
    assert state(story, batch) == ("failed",)
    assert len(story.starts()) == 4


def test_the_limit_by_what_members_start_from_holds_inside_the_batch():
    story = Story()
    members = [issue(story) for _ in range(3)]
    order(story, f"{members[0]}-{members[2]}", options="max_parallel_by_status=READY=1, failed=2")
    story.settle()
    assert len(story.starts()) == 1
    assert "max_parallel_by_status of batch" in story.foresee()[members[2]]


def test_a_pause_on_the_batch_issue_holds_its_members_only():
    story = Story()
    task, other = issue(story), story.ready()
    order(story, str(task))
    (batch,) = batches(story)
    story.world.label(batch, "cf:pause")
    story.settle()
    assert story.starts() == [f"cf-{other}-1"]
    assert f"on batch #{batch}" in story.foresee()[task]
    story.world.unlabel(batch, "cf:pause")
    story.settle()
    assert f"cf-{task}-1" in story.starts()


def test_members_completed_elsewhere_count_as_passed_and_dropped_ones_leave_the_total():
    story = Story(CONFIG + "max_parallel: 1\n")
    first, done, dropped, labelled = (issue(story) for _ in range(4))
    order(story, f"{first} {done} {dropped} {labelled}")
    story.tick()
    (batch,) = batches(story)
    story.world.close(done)
    story.world.close(dropped, reason="not_planned")
    story.world.label(labelled, "cf:done")
    story.finish(f"cf-{first}-1", Outcome.PASSED)
    story.pass_gate(batch)
    story.merge(first)
    story.settle()

    words = last_words(story, batch)
    assert "has ended: completed.** 3 of 3 passed (2 skipped: completed elsewhere), 1 left the total" in words
    assert rows(words)[done]["status"] == rows(words)[labelled]["status"] == "done, skipped"
    assert rows(words)[dropped]["status"] == "dropped"
    body = story.world.issue(batch).body
    assert "Reconciled every 1m: 1 skipped (dropped), 2 skipped (externally completed)." in body
    assert f"| skipped | #{done} | externally completed | maintainer |" in body


def test_the_issue_is_written_only_when_something_changed():
    story = Story()
    task = issue(story)
    order(story, str(task))
    story.settle()
    (batch,) = batches(story)
    story.begin(f"cf-{task}-1")
    story.tick()
    before = story.world.issue(batch).body
    writes = story.world.faults.writes
    for _ in range(3):
        story.world.wait(timedelta(minutes=10))
        story.tick()
    assert story.world.faults.writes == writes
    assert story.world.issue(batch).body == before


def test_a_change_of_the_configuration_is_noted():
    story = Story()
    task = issue(story)
    order(story, str(task))
    story.tick()
    (batch,) = batches(story)
    story.world.push_files("main", {".github/cf.yml": CONFIG + "max_parallel: 2\n"})
    story.tick()
    (change,) = record_of(story, batch).changes
    assert change.before != change.after
    assert f"the configuration changed from `{change.before[:10]}`" in story.world.issue(batch).body


def comment(story: Story, batch: int, words: str, by: str = "maintainer") -> None:
    story.world.wait(timedelta(seconds=2))
    story.world.comment(batch, words, by=by)
    story.world.wait(timedelta(seconds=2))


def replies(story: Story, batch: int) -> str:
    ours = [one.body for one in story.world.comments_of(batch) if one.author.is_bot]
    return "\n".join(ours)


def test_commands_on_the_issue_stop_and_resume():
    story = Story(CONFIG + "max_parallel: 1\n")
    first, second = issue(story), issue(story)
    order(story, f"{first} {second}")
    story.settle()
    (batch,) = batches(story)
    run = story.begin(f"cf-{first}-1")
    comment(story, batch, "/cf stop")
    story.settle()
    assert story.world.issue(batch).is_open  # what runs finishes first
    assert not story.world.run(run).cancel_requested
    assert "stopped by maintainer" in story.world.issue(batch).body
    comment(story, batch, "/cf stop --force, please")
    story.settle()
    assert story.world.run(run).cancel_requested
    assert state(story, batch) == ("cancelled",)
    assert not story.world.issue(batch).is_open
    assert f"cf-{second}-1" not in story.starts()

    comment(story, batch, "/cf stop")
    story.settle()
    assert "Not done: the batch has ended already." in replies(story, batch)
    comment(story, batch, "/cf resume")
    story.settle()
    assert story.world.issue(batch).is_open
    assert state(story, batch) == ("running",)
    assert story.agent_starts() == {f"cf-{first}-1", f"cf-{first}-2"}
    comment(story, batch, "/cf resume")
    story.settle()
    assert "Not done: it goes on already." in replies(story, batch)


def test_a_dry_run_is_started_by_a_command():
    story = Story()
    task = issue(story)
    order(story, str(task), dry_run="true")
    (batch,) = batches(story)
    comment(story, batch, "/cf run", by="stranger")
    story.settle()
    assert story.starts() == []
    comment(story, batch, "/cf run")
    story.settle()
    assert story.starts() == [f"cf-{task}-1"]
    comment(story, batch, "/cf run")
    story.settle()
    assert "Not done: it was not ordered with dry_run" in replies(story, batch)


def test_status_is_told_and_each_command_counts_once():
    story = Story()
    task = issue(story)
    order(story, str(task))
    story.settle()
    (batch,) = batches(story)
    comment(story, batch, "/cf status")
    story.settle()
    assert replies(story, batch).count("**RUNNING** · members run or may start") == 1


def test_a_stop_between_snapshot_and_dispatch_is_heard():
    story = Story()
    task = issue(story)
    order(story, str(task))
    (batch,) = batches(story)
    asked = story.github.issues

    def stopped_meanwhile(numbers):
        if batch in numbers:
            story.world.comment(batch, "/cf stop")
        return asked(numbers)

    story.github.issues = stopped_meanwhile  # type: ignore[method-assign]
    last = story.tick()
    story.github.issues = asked  # type: ignore[method-assign]
    assert last.effects.skipped == {task: f"batch #{batch} was stopped"}
    story.settle()
    assert story.starts() == []
    assert state(story, batch) == ("cancelled",)


@pytest.mark.parametrize(("command", "later", "starts"), [("resume", "stop", 1), ("stop", "resume", 2)])
def test_a_word_by_the_workflow_outweighs_a_command_that_no_tick_has_seen_yet(command, later, starts):
    story = Story()
    first, second = issue(story), issue(story)
    order(story, f"{first} {second}", strategy="serial")
    (batch,) = batches(story)
    story.settle()
    if command == "resume":
        control(story, "stop-force", batch)
        story.settle()
        story.die(f"cf-{first}-1", "cancelled")
        story.settle()
        assert state(story, batch) == ("cancelled",)
    else:
        story.finish_live(first, Outcome.PASSED)
    story.world.add_user("other", "write")
    story.world.comment(batch, f"/cf {command}", by="other")
    control(story, later, batch, run=901)
    story.settle()
    assert len(story.starts()) == starts
    assert state(story, batch) == (("cancelled",) if later == "stop" else ("running",))
