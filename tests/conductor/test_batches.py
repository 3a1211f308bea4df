"""Story: batches, from the inputs of cf-batch.yml to the closed batch issue."""

from datetime import timedelta

import pytest

from bot.model.errors import TryLater
from bot.model.report import Outcome, Question
from bot.sandbox.world.faults import Disconnected
from tests.conductor.batching import batches, issue, last_words, order, rows, shown, state
from tests.conductor.story import CONFIG, Story


def test_a_parallel_batch_takes_backlog_unlabelled_and_failed_issues_from_order_to_closed_issue():
    story = Story(CONFIG + "retry: {max_attempts: 1}\n")
    failed = story.ready()
    story.tick()
    story.finish(f"cf-{failed}-1", Outcome.FAILED)
    story.tick()
    assert story.status(failed) == ("failed",)
    plain, parked = issue(story), issue(story, "", "cf:backlog")
    said = order(story, f"{failed} {plain} #{parked} {plain}")

    (batch,) = batches(story)
    assert said == f"batch #{batch} is written with 3 tasks"
    assert state(story, batch) == ("pending",)
    table = shown(story, batch)
    assert [table[number]["place"] for number in (failed, plain, parked)] == ["1", "2", "3"]
    assert (table[failed]["status"], table[failed]["why"]) == ("failed", "starts with fresh strikes")
    assert (table[plain]["status"], table[plain]["why"]) == ("new", "–")
    assert story.world.runs("cf-conductor.yml")[-1].event == "workflow_dispatch"

    story.tick()
    assert story.starts()[1:] == [f"cf-{failed}-2", f"cf-{plain}-1", f"cf-{parked}-1"]
    record = story.record(plain)
    assert record.approval is not None
    assert (record.approval.by, record.batch) == ("maintainer", batch)
    story.finish(f"cf-{failed}-2", Outcome.FAILED, reason="2 tests | failed")
    story.finish(f"cf-{plain}-1", Outcome.PASSED)
    story.finish(f"cf-{parked}-1", Outcome.PASSED)
    story.pass_gate(batch)
    assert story.world.issue(batch).is_open  # two pull requests wait for their merge
    assert state(story, batch) == ("running",)
    pulls = [story.record(number).pull for number in (plain, parked)]
    assert (
        f"in this order: #{pulls[0]} (task #{plain}), #{pulls[1]} (task #{parked})"
        in story.world.issue(batch).body
    )
    story.merge(plain)
    story.merge(parked)
    story.tick()

    assert not story.world.issue(batch).is_open
    assert state(story, batch) == ("partial",)
    assert last_words(story, batch).startswith("**The batch has ended: partial.** 2 of 3 passed, 1 failed.")
    ends = rows(last_words(story, batch))
    assert (ends[plain]["status"], ends[plain]["attempts"], ends[plain]["pull request"]) == (
        "merged",
        "1",
        f"#{pulls[0]}",
    )
    assert (ends[failed]["status"], ends[failed]["why"]) == ("failed", "failed: 2 tests ¦ failed")
    story.settle()
    assert len(story.world.comments_of(batch)) == 1
    assert len(story.starts()) == 5  # a failed member is not tried again and again


def test_a_serial_batch_starts_one_at_a_time_in_the_order_written():
    story = Story()
    first, second, third = issue(story), issue(story), issue(story)
    order(story, f"{third} {first} {second}", strategy="serial")
    story.tick()
    assert story.starts() == [f"cf-{third}-1"]
    assert story.foresee()[first].endswith("another member is running")
    story.finish(f"cf-{third}-1", Outcome.FAILED)
    story.tick()
    assert story.starts() == [f"cf-{third}-1"]  # its turn is not over while it backs off
    assert f"#{third} comes first" in story.foresee()[first]
    story.world.wait(timedelta(minutes=2))
    story.tick()
    story.finish(f"cf-{third}-2", Outcome.PASSED)
    story.tick()
    story.finish(f"cf-{first}-1", Outcome.PASSED)
    story.tick()

    assert story.starts() == [f"cf-{third}-1", f"cf-{third}-2", f"cf-{first}-1", f"cf-{second}-1"]


def test_a_serial_batch_puts_a_need_before_its_dependent():
    story = Story()
    need = issue(story)
    dependent = issue(story, f"Depends on #{need}")
    other = issue(story)
    order(story, f"{dependent} {other} {need}", strategy="serial")
    (batch,) = batches(story)
    assert list(shown(story, batch)) == [need, dependent, other]
    story.tick()
    story.finish(f"cf-{need}-1", Outcome.PASSED)
    story.tick()  # what waits for the merge is passed over
    story.merge(need)
    story.finish(f"cf-{other}-1", Outcome.PASSED)
    story.tick()

    assert story.starts() == [f"cf-{need}-1", f"cf-{other}-1", f"cf-{dependent}-1"]


def test_the_batch_has_a_limit_of_its_own_inside_the_repositorys():
    story = Story()
    members = [issue(story) for _ in range(3)]
    order(story, f"{members[0]}-{members[2]}", max_parallel="2")
    other = story.ready()
    story.tick()

    assert sorted(story.starts()) == sorted([f"cf-{members[0]}-1", f"cf-{members[1]}-1", f"cf-{other}-1"])
    assert "max_parallel of batch" in story.foresee()[members[2]]


def test_dup_07_of_two_batches_that_share_a_task_the_later_one_is_cancelled():
    """Two orders that were written at the same moment, each before it could see the other."""
    story = Story()
    task, other = issue(story), issue(story)
    order(story, str(task))
    first = batches(story)[0]
    body = (
        story.world.issue(first)
        .body.replace(f"[{task}]", f"[{task},{other}]")
        .replace('"run":77', '"run":78')
    )
    second = story.world.open_issue("cf batch", body, labels=("cf:batch",), by="github-actions[bot]")
    story.tick()
    story.tick()

    assert story.starts() == [f"cf-{task}-1"]
    assert not story.world.issue(second).is_open
    assert state(story, second) == ("cancelled",)
    assert f"#{task} is a member of #{first}" in last_words(story, second)
    assert story.world.issue(first).is_open


def test_an_outsiders_edit_after_the_order_withdraws_the_approval():
    story = Story()
    mine = story.world.open_issue("Theirs", "text", by="stranger")
    order(story, str(mine))
    story.world.edit_issue(mine, body="text, and delete everything", by="stranger")
    story.settle()

    assert story.starts() == []
    assert story.status(mine) == ("backlog",)
    (batch,) = batches(story)
    assert not story.world.issue(batch).is_open
    assert "title or body was changed by stranger" in last_words(story, batch)


def test_a_writers_edit_after_the_order_does_no_harm():
    story = Story()
    task = issue(story)
    order(story, str(task))
    story.world.edit_issue(task, body="clearer")
    story.tick()
    assert story.starts() == [f"cf-{task}-1"]


@pytest.mark.parametrize("how", ["command", "closed by a person"])
def test_a_stopped_batch_starts_nothing_more_and_lets_what_runs_finish(how):
    story = Story(CONFIG + "max_parallel: 1\n")
    running, waiting = issue(story), issue(story)
    order(story, f"{running} {waiting}")
    story.tick()
    (batch,) = batches(story)
    if how == "command":
        assert (
            order(story, action="stop", target=f"#{batch}", run=78)
            == f"batch #{batch} is stopped; what runs finishes"
        )
        assert "is stopped already" in order(story, action="stop", target=str(batch), run=79)
        assert len(story.world.comments_of(batch)) == 1
    else:
        story.world.close(batch)
    run = story.finish(f"cf-{running}-1", Outcome.FAILED)
    story.world.wait(timedelta(hours=2))
    story.settle()

    assert story.world.run(run).conclusion == "failure"  # not cancelled
    assert story.starts() == [f"cf-{running}-1"]
    assert story.status(running) == story.status(waiting) == ("backlog",)
    story.world.label(waiting, "cf:ready")
    story.settle()
    assert story.starts() == [f"cf-{running}-1", f"cf-{waiting}-1"]  # a person's newer order sets it free


def test_a_batch_that_is_stopped_between_snapshot_and_dispatch_starts_nothing():
    story = Story()
    task = issue(story)
    order(story, str(task))
    (batch,) = batches(story)
    ask = story.github.issues

    def closed_meanwhile(numbers):
        if batch in numbers:
            story.world.close(batch)
        return ask(numbers)

    story.github.issues = closed_meanwhile  # type: ignore[method-assign]
    last = story.tick()

    assert last.effects.skipped == {task: f"batch #{batch} was stopped"}
    assert story.starts() == []


def test_a_batch_issue_by_somebody_else_is_no_order():
    story = Story()
    task = issue(story)
    order(story, str(task))
    (batch,) = batches(story)
    story.world.close(batch)
    story.world.open_issue("cf batch", story.world.issue(batch).body, labels=("cf:batch",))
    story.settle()
    assert story.starts() == []


def test_a_batch_whose_text_somebody_edited_is_stopped_and_says_so():
    story = Story(CONFIG + "max_parallel: 1\n")
    first, second = issue(story), issue(story)
    order(story, f"{first} {second}")
    story.tick()
    (batch,) = batches(story)
    story.world.edit_issue(batch, body=story.world.issue(batch).body.replace("parallel", "serial"))
    story.settle()

    assert not story.world.issue(batch).is_open
    assert "its text was edited by maintainer" in last_words(story, batch)
    assert story.starts() == [f"cf-{first}-1"]
    assert story.status(second) == ("backlog",)


def test_what_waits_for_an_answer_keeps_the_batch_open_and_goes_on_after_it():
    story = Story()
    task = issue(story)
    order(story, str(task))
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.BLOCKED, question=Question("Which?"))
    story.settle()
    assert story.world.issue(batches(story)[0]).is_open
    story.world.comment(task, "The blue one.")
    story.settle()
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_members_behind_a_failed_or_dropped_need_are_not_run():
    story = Story(CONFIG + "retry: {max_attempts: 1}\n")
    fails = issue(story)
    behind = issue(story, f"Depends on #{fails}")
    further = issue(story, f"Depends on #{behind}")
    dropped = issue(story)
    story.world.close(dropped, reason="not_planned")
    without = issue(story, f"Depends on #{dropped}")
    order(story, f"{fails} {behind} {further} {without}")
    story.tick()
    assert story.world.issue(batches(story)[0]).is_open
    story.finish(f"cf-{fails}-1", Outcome.FAILED)
    story.settle()

    ends = rows(last_words(story, batches(story)[0]))
    assert state(story, batches(story)[0]) == ("failed",)
    assert {ends[number]["status"] for number in (behind, further, without)} == {"not run"}
    assert ends[behind]["why"] == f"waiting on failed #{fails}"
    assert ends[further]["why"] == f"waiting on #{behind}"
    assert ends[without]["why"] == f"waiting on #{dropped}, which was closed as not planned"
    assert story.starts() == [f"cf-{fails}-1"]


def test_members_of_a_cycle_are_not_run():
    story = Story()
    task, other = issue(story), issue(story)
    story.world.edit_issue(task, body=f"Depends on #{other}")
    story.world.edit_issue(other, body=f"Depends on #{task}")
    order(story, f"{task} {other}", strategy="serial")
    story.settle()
    (batch,) = batches(story)
    assert rows(last_words(story, batch))[task]["status"] == "not run"
    assert rows(last_words(story, batch))[task]["why"].startswith("part of the cycle")
    assert state(story, batch) == ("cancelled",)  # nothing ran
    assert story.status(task) == story.status(other) == ("backlog",)


def test_a_member_that_is_gone_keeps_no_batch_open():
    story = Story()
    task = issue(story)
    order(story, str(task))
    story.world.delete_issue(task)
    story.settle()
    (batch,) = batches(story)
    assert not story.world.issue(batch).is_open
    assert f"| #{task} | gone |" in last_words(story, batch)


def test_a_pause_does_not_end_a_batch():
    story = Story()
    task = issue(story)
    story.world.label(task, "cf:pause")
    order(story, str(task))
    story.settle()
    assert story.world.issue(batches(story)[0]).is_open
    story.world.unlabel(task, "cf:pause")
    story.settle()
    assert story.starts() == [f"cf-{task}-1"]


def test_a_running_member_goes_on_and_a_person_who_withdraws_one_is_obeyed():
    story = Story()
    running, withdrawn = story.ready(), issue(story)
    story.tick()
    order(story, f"{running} {withdrawn}", max_parallel="1")
    story.settle()
    assert story.starts() == [f"cf-{running}-1"]
    story.world.unlabel(withdrawn, "cf:ready")
    story.finish(f"cf-{running}-1", Outcome.PASSED)
    (batch,) = batches(story)
    story.pass_gate(batch)
    assert story.starts() == [f"cf-{running}-1", f"cf-{batch}-1"]
    story.merge(running)
    story.settle()
    assert state(story, batch) == ("partial",)
    assert rows(last_words(story, batch))[withdrawn]["status"] == "withdrawn"


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("write", range(1, 12))
def test_killed_after_any_write_there_is_one_batch_one_start_a_member_and_one_last_comment(write, after):
    story = Story(CONFIG + "retry: {max_attempts: 1}\n")
    tasks = [issue(story), issue(story, "", "cf:backlog")]
    for number in range(7):
        story.world.comment(tasks[0], f"comment {number}: the record will not be among the first ones")
    story.world.faults.fail_write(write, after=after)
    for attempt in range(1, 4):
        try:
            order(story, f"{tasks[0]} {tasks[1]}", attempt=attempt)
            break
        except (Disconnected, TryLater):
            continue
    story.settle()
    assert len(batches(story)) == 1
    assert len(story.agent_starts()) == 2
    for task in tasks:
        story.finish_live(task, Outcome.FAILED)
    story.settle()

    assert len(story.starts()) == 2
    (batch,) = batches(story)
    assert not story.world.issue(batch).is_open
    assert len(story.world.comments_of(batch)) == 1


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("write", range(1, 9))
def test_killed_while_a_batch_ends_it_ends_once(write, after):
    story = Story(CONFIG + "retry: {max_attempts: 1}\n")
    task = issue(story)
    order(story, str(task))
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.FAILED)
    story.world.faults.fail_write(write, after=after)
    story.settle()
    (batch,) = batches(story)
    assert not story.world.issue(batch).is_open
    assert len(story.world.comments_of(batch)) == 1


def test_without_a_batch_a_tick_asks_for_nothing_more():
    story = Story()
    story.ready()
    story.tick()
    story.tick()
    story.world.limits.requests.clear()
    story.tick()
    assert story.world.limits.requests["issues"] == 0
    assert story.world.limits.requests["labelled"] == 0


def test_lists_that_lag_behind_do_not_stop_a_batch():
    story = Story(CONFIG + "max_parallel: 1\n")
    first, second = issue(story), issue(story)
    order(story, f"{first} {second}")
    story.tick()
    (batch,) = batches(story)
    look = story.github.view

    def without_batch(*args):
        seen = look(*args)
        return type(seen)(
            seen.repository,
            seen.viewer,
            tuple(one for one in seen.issues if one.number != batch),
            seen.labels,
            seen.config_text,
            seen.config_blob,
            seen.at,
        )

    story.github.view = without_batch  # type: ignore[method-assign]
    with pytest.raises(TryLater, match="lists are behind"):
        story.tick()
    story.github.view = look  # type: ignore[method-assign]
    assert story.status(second) == ("ready",)
