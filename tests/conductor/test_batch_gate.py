"""Story: the batch gate: proven together, or the guilty one found, sent back, and proven again."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.conductor.recording import keep
from bot.conductor.tick import Tick
from bot.model.report import GateResult, GateStatus, Outcome
from tests.conductor.batching import batches, control, issue, last_words, order, record_of, rows, shown, state
from tests.conductor.story import CONFIG, Story

RED = (GateResult("tests", GateStatus.FAILED, 3.0, "test_total failed: 1 != 2"),)


def passed_batch(story: Story, count: int, **inputs: Any) -> tuple[list[int], int]:
    """A batch all of whose members have passed alone, with their pull requests open; the gate's first trial runs."""
    tasks = [issue(story) for _ in range(count)]
    order(story, f"{tasks[0]}-{tasks[-1]}", **inputs)
    (batch,) = batches(story)
    story.settle()
    for task in tasks:
        story.finish_live(task, Outcome.PASSED)
    story.settle()
    return tasks, batch


def hunt(story: Story, batch: int, guilty: int, gates: tuple[GateResult, ...] = RED) -> list[list[int]]:
    """End every trial of the search, red where the guilty one takes part; returns what was joined each time."""
    trials: list[list[int]] = []
    search = record_of(story, batch).gate
    assert search is not None
    while (record := record_of(story, batch)).trial is not None and record.gate is not None:
        if record.gate.heads != search.heads:
            break
        red = guilty in record.gate.tasks[: record.trial.joined]
        joined, _ = story.finish_gate(batch, green=not red, gates=gates if red else ())
        trials.append(joined)
        story.settle()
    return trials


def merge_all(story: Story, tasks: list[int]) -> None:
    for task in tasks:
        story.merge(task)
    story.settle()


def test_what_passed_alone_is_joined_and_proven_once_before_the_batch_is_completed():
    story = Story()
    tasks, batch = passed_batch(story, 2)
    assert story.gate(batch) == f"cf-{batch}-1"
    assert "are joined and proven together" in story.world.issue(batch).body
    assert story.finish_gate(batch) == (tasks, False)
    story.settle()
    merge_all(story, tasks)

    assert state(story, batch) == ("completed",)
    assert f"Batch gate: passed for #{tasks[0]}, #{tasks[1]} together." in story.world.issue(batch).body
    assert story.starts().count(f"cf-{batch}-1") == 1
    assert f"cf-{batch}-2" not in story.starts()  # merging changes nothing about it


def test_the_gate_joins_the_very_commits_of_the_pull_requests():
    story = Story()
    _, batch = passed_batch(story, 2)
    (unit,) = json.loads(story.run_of(f"cf-{batch}-1").inputs["units"])
    heads = [pull.head_sha for pull in story.world.pulls.by_number.values()]
    assert [join["commit"] for join in unit["joins"]] == heads
    assert (unit["kind"], unit["name"], unit["engine"], unit["secret"]) == ("gate", f"#{batch}", "", "")


def test_a_red_gate_names_the_guilty_one_by_bisection_and_it_alone_goes_back():
    story = Story(CONFIG + "max_parallel: 5\n")
    tasks, batch = passed_batch(story, 5)
    guilty = tasks[3]
    trials = hunt(story, batch, guilty)
    assert trials == [tasks, tasks[:2], tasks[:3], tasks[:4]]

    assert [story.status(task) for task in tasks if task != guilty] == [("done",)] * 4
    assert story.status(guilty) == ("ready",)  # it backs off first
    assert state(story, batch) == ("running",)
    (told,) = [one.body for one in story.world.comments_of(guilty) if "to blame" in one.body]
    assert f"#{guilty} is to blame" in told
    assert "test_total failed: 1 != 2" in told
    assert story.record(guilty).feedback == "tests:\ntest_total failed: 1 != 2"

    story.world.wait(timedelta(minutes=2))
    story.settle()
    assert f"cf-{guilty}-2" in story.starts()
    story.finish_live(guilty, Outcome.PASSED)
    story.settle()
    assert story.record(guilty).feedback == ""


@pytest.mark.parametrize("words", ["Xylophone != 2", "E   Xylophone\n```\nmore", "::error::Xylophone"])
def test_the_tick_that_sends_the_guilty_one_back_is_decided_the_same_again_and_keeps_no_word_of_the_log(
    tmp_path, capsys, words
):
    story = Recorded(tmp_path)
    tasks, batch = passed_batch(story, 3)
    hunt(story, batch, tasks[1], (GateResult("tests", GateStatus.FAILED, 3.0, words),))
    story.world.wait(timedelta(minutes=2))
    story.settle()

    assert words.splitlines()[-1] in story.record(tasks[1]).feedback
    files = sorted(tmp_path.glob("tick-*.json"))
    assert len(files) > len(tasks)
    assert main(["replay", *map(str, files)]) == 0, capsys.readouterr().out
    assert not [file for file in files if "Xylophone" in file.read_text(encoding="utf-8")]


class Recorded(Story):
    """Each tick leaves its record in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def tick(self) -> Tick:
        last = super().tick()
        keep(last, self.folder)
        return last


def test_the_work_of_a_merged_member_is_tried_on_the_default_branch_as_it_was():
    story = Story()
    tasks, batch = passed_batch(story, 2)
    story.finish_gate(batch, green=False, gates=RED)
    story.merge(tasks[0])
    story.settle()
    assert story.status(tasks[0]) == ("merged",)
    # The search goes on with what was joined at first.
    assert hunt(story, batch, tasks[1]) == [tasks[:1]]
    assert story.status(tasks[1]) == ("ready",)


def merged_batch(story: Story) -> tuple[list[int], int]:
    """Both members are merged before the last one has ended, so that the default branch holds all."""
    tasks = [issue(story) for _ in range(3)]
    order(story, f"{tasks[0]}-{tasks[2]}")
    (batch,) = batches(story)
    story.settle()
    for task in tasks[:2]:
        story.finish_live(task, Outcome.PASSED)
    story.settle()
    merge_all(story, tasks[:2])
    story.finish_live(tasks[2], Outcome.FAILED)
    story.settle()
    return tasks, batch


def test_where_all_is_merged_the_default_branch_itself_is_proven_and_a_regression_is_opened_once():
    story = Story(CONFIG + "retry: {max_attempts: 1}\n")
    tasks, batch = merged_batch(story)
    assert story.finish_gate(batch, green=False, gates=RED) == ([], False)
    story.settle()
    assert story.finish_gate(batch, green=False, gates=RED) == (tasks[:2], True)
    story.settle()
    assert story.finish_gate(batch, green=False, gates=RED) == (tasks[:1], True)
    story.settle()
    assert story.finish_gate(batch) == ([], True)
    story.settle()

    (opened,) = [one for one in story.world.issues.all() if one.has_label("cf:regression")]
    assert f"Regression by #{tasks[0]}" in opened.title
    assert "test_total failed" in opened.body
    assert state(story, batch) == ("partial",)
    assert "Batch gate: **not passed**" in last_words(story, batch)


def test_what_came_from_elsewhere_is_nobodys_fault():
    story = Story(CONFIG + "retry: {max_attempts: 1}\n")
    _, batch = merged_batch(story)
    story.finish_gate(batch, green=False, gates=RED)
    story.settle()
    story.finish_gate(batch)
    story.settle()
    assert state(story, batch) == ("partial",)
    assert "what fails came from elsewhere" in last_words(story, batch)
    assert not [one for one in story.world.issues.all() if one.has_label("cf:regression")]


def test_work_that_does_not_join_is_guilty_itself():
    story = Story()
    tasks, batch = passed_batch(story, 3)
    story.finish_gate(batch, misfit=tasks[2])
    story.settle()
    assert story.status(tasks[2]) == ("ready",)
    assert story.status(tasks[0]) == story.status(tasks[1]) == ("done",)
    assert len([key for key in story.starts() if key.startswith(f"cf-{batch}-")]) == 1


def test_the_gate_runs_again_after_the_guilty_one_and_red_at_last_is_partial():
    story = Story(CONFIG + "retry: {max_attempts: 2, backoff: 0s}\n")
    tasks, batch = passed_batch(story, 2)
    hunt(story, batch, tasks[1])
    assert story.starts()[-1] == f"cf-{tasks[1]}-2"
    story.move_branch(tasks[1])
    story.finish_live(tasks[1], Outcome.PASSED)
    story.settle()
    hunt(story, batch, tasks[1])
    assert story.status(tasks[1]) == ("failed",)  # named twice, and two attempts is all it has
    story.finish_gate(batch)  # the rest, without it
    story.settle()
    merge_all(story, tasks[:1])

    assert state(story, batch) == ("partial",)
    assert record_of(story, batch).blames == {tasks[1]: 2}
    assert rows(last_words(story, batch))[tasks[1]]["status"] == "failed"


def test_a_gate_that_is_lost_is_run_again_and_at_last_given_up():
    story = Story()
    tasks, batch = passed_batch(story, 1)
    for _ in range(3):
        story.die(story.gate(batch))
        story.settle()
    assert story.gate(batch) == ""
    merge_all(story, tasks)
    assert state(story, batch) == ("partial",)
    assert "could not be run 3 times in a row" in last_words(story, batch)


def test_a_gate_that_the_base_fails_alone_blames_nobody():
    story = Story()
    tasks, batch = passed_batch(story, 1)
    story.finish_gate(batch, green=False, gates=RED)
    story.settle()
    assert story.finish_gate(batch, green=False, gates=RED) == ([], False)
    story.settle()
    assert story.status(tasks[0]) == ("done",)
    merge_all(story, tasks)
    assert "even without the work of this batch" in last_words(story, batch)


def test_without_gates_there_is_nothing_to_prove():
    story = Story(CONFIG.replace("gates: [{name: tests, run: make test}]\n", ""))
    task = issue(story)
    order(story, str(task))
    story.settle()
    story.world.close(task)
    story.settle()
    (batch,) = batches(story)
    assert state(story, batch) == ("completed",)


def test_a_report_that_lies_about_the_gate_proves_nothing():
    story = Story()
    _, batch = passed_batch(story, 1)
    key = story.gate(batch)
    story.finish(key, Outcome.UNVERIFIED)
    story.settle()
    assert story.gate(batch) == f"cf-{batch}-2"  # as if it had been lost


def test_the_gate_waits_for_a_slot_and_takes_one():
    story = Story(CONFIG + "limits: {total: 1}\n")
    task = issue(story)
    other = story.world.open_issue("Other")
    order(story, str(task))
    (batch,) = batches(story)
    story.settle()
    story.finish_live(task, Outcome.PASSED)
    story.world.label(other, "cf:ready")
    story.settle()
    assert story.starts()[-1] == f"cf-{other}-1"
    assert story.gate(batch) == ""
    story.finish_live(other, Outcome.FAILED)
    story.settle()
    assert story.gate(batch) == f"cf-{batch}-1"
    story.world.wait(timedelta(minutes=5))
    story.settle()
    assert "limits.total is 1" in story.foresee()[other]


@pytest.mark.parametrize("how", ["stop", "stop-force"])
def test_a_stop_starts_no_further_trial_and_by_force_ends_the_one_that_runs(how):
    story = Story()
    _, batch = passed_batch(story, 2)
    run = story.begin(story.gate(batch))
    control(story, how, batch)
    story.settle()
    assert story.world.run(run).cancel_requested is (how == "stop-force")
    if how == "stop":
        assert state(story, batch) == ("running",)
        story.finish_gate(batch, green=False)
        story.settle()
    assert state(story, batch) == ("cancelled",)
    assert f"cf-{batch}-2" not in story.starts()


def test_the_table_shows_where_each_member_stands():
    story = Story()
    tasks, batch = passed_batch(story, 1)
    row = shown(story, batch)[tasks[0]]
    assert (row["status"], row["attempts"], row["wave"]) == ("done", "1", "1")
    assert row["run"].startswith("[")
    assert row["pull request"] == f"#{story.record(tasks[0]).pull}"


def test_a_run_whose_task_is_gone_takes_a_slot_from_the_gate_too():
    story = Story(CONFIG + "limits: {total: 2}\n")
    gone, member = story.ready(), issue(story)
    order(story, str(member))
    (batch,) = batches(story)
    story.settle()
    run = story.begin(f"cf-{gone}-1")
    story.engine.obeys = False
    story.world.delete_issue(gone)
    other = story.ready()
    story.finish_live(member, Outcome.PASSED)
    story.settle()
    assert story.starts()[2:] == [f"cf-{other}-1"]
    assert story.gate(batch) == ""
    story.world.run_ended(run, "cancelled")
    story.settle()
    assert story.gate(batch) == f"cf-{batch}-1"
