"""An order for a batch: what it may name, who may give it, and what refuses the whole of it."""

import pytest

from bot.console.batch.carry_out import NotAllowed, perform
from bot.console.batch.inputs import read_request
from tests.conductor.batching import batches, issue, order, refusal
from tests.conductor.story import Story


@pytest.mark.parametrize("limit", ["0", "-1", "two", "1.5", "257"])
def test_a_limit_that_is_no_number_of_at_least_one_is_refused(limit):
    story = Story()
    assert "max_parallel must be a whole number" in refusal(story, str(issue(story)), max_parallel=limit)


def test_unknown_numbers_and_pull_requests_refuse_the_whole_order_naming_all():
    story = Story()
    task = issue(story)
    story.world.push_files("topic", {"a.txt": "a"})
    pull = story.world.open_pull("topic", "A pull request")
    words = refusal(story, f"{task} {pull} 900 901")

    assert f"#{pull} is a pull request; #900 does not exist; #901 does not exist" in words
    story.tick()
    assert story.starts() == []


def test_the_conductors_own_issues_are_no_tasks():
    story = Story()
    story.tick()
    dashboard = story.tick().seen.dashboard
    assert dashboard is not None
    assert "the conductor's own issue" in refusal(story, f"{issue(story)} {dashboard.number}")


def test_closed_issues_are_skipped_and_named_and_repeats_count_once():
    story = Story()
    closed, task = issue(story), issue(story)
    story.world.close(closed)
    assert order(story, f"{closed} {task} {task}").endswith(f"with 1 task; left out: #{closed} is closed")
    assert f"- #{closed} is closed" in story.world.issue(batches(story)[0]).body
    assert "no open task is left" in refusal(story, str(closed), run=78)


@pytest.mark.parametrize("tasks", ["", "   ", ","])
def test_an_empty_list_is_refused(tasks):
    assert "the list is empty" in refusal(Story(), tasks)


@pytest.mark.parametrize("permission", ["none", "read", "triage"])
def test_somebody_without_permission_is_refused(permission):
    story = Story()
    story.world.add_user("visitor", permission)
    task = issue(story)
    assert "visitor may not order work here" in refusal(story, str(task), by="visitor")
    with pytest.raises(NotAllowed) as refused:
        order(story, str(task), by="visitor")
    assert refused.value.exit_code == 1
    story.tick()
    assert story.starts() == []


def test_a_rerun_needs_both_people_and_a_bot_is_none():
    story = Story()
    task = issue(story)
    environ = {"CF_BATCH_TASKS": str(task), "GITHUB_RUN_ID": "77"}
    environ |= {"GITHUB_ACTOR": "stranger", "GITHUB_TRIGGERING_ACTOR": "maintainer"}
    with pytest.raises(NotAllowed, match="stranger"):
        perform(story.github, read_request(environ), story.world.now)
    assert "may not order work" in refusal(story, str(task), by="github-actions[bot]")


def test_a_rerun_of_the_same_run_writes_nothing_new_even_after_the_batch_has_ended():
    story = Story()
    task = issue(story)
    order(story, str(task))
    assert "holds this order already" in order(story, str(task), attempt=2)
    (batch,) = batches(story)
    story.world.close(batch)
    assert order(story, str(task), attempt=3).startswith(f"batch #{batch} holds this order already")
    assert batches(story) == [batch]


def test_a_member_of_a_running_batch_is_refused_by_the_next_order():
    story = Story()
    task, other = issue(story), issue(story)
    order(story, str(task))
    assert f"#{task} is a member of batch #{batches(story)[0]}" in refusal(story, f"{task} {other}", run=78)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"action": "spec"}, "the action `spec` is not there yet"),
        ({"action": "dance"}, "the action must be one of run, stop, "),
        ({"strategy": "random"}, "strategy must be parallel or serial or auto"),
        ({"on_failure": "panic"}, "on_failure must be continue or stop and is `panic`"),
        ({"max_retries": "many"}, "max_retries must be a whole number"),
        ({"engine": "co dex"}, "engine must be one of "),
        ({"dry_run": "maybe"}, "dry_run must be false or true"),
        ({"options": "timeout=2\nmerge=later"}, "merge must be manual or auto and is `later`"),
        (
            {"options": "timeout=2"},
            "timeout must be a duration like 30s, 10m or 2h, from 1s to 5h50m, and is `2`",
        ),
        (
            {"options": "max_parallel_by_status=DONE=1"},
            "nothing is started from DONE, only from READY, FAILED",
        ),
        ({"options": "blocked=maybe"}, "blocked must be wait or end"),
        ({"options": "speed=11"}, "there is no option `speed`"),
        ({"options": "timeout"}, "line 1, `timeout`, is not key=value"),
        ({"target": "30"}, "run takes no target"),
        ({"action": "stop"}, "stop needs the number of a batch issue"),
        ({"action": "stop", "target": "30"}, "stop takes a target only, and no tasks"),
    ],
)
def test_what_is_wrong_or_not_there_yet_is_refused_before_anything_is_written(inputs, words):
    story = Story()
    assert words in refusal(story, str(issue(story)), **inputs)


def test_an_option_that_asks_for_what_happens_anyhow_is_taken():
    story = Story()
    assert "is written" in order(story, str(issue(story)), options="# questions\nblocked=wait\n")


def test_a_label_names_every_open_issue_that_carries_it():
    story = Story()
    first, second = issue(story, "", "good first issue"), issue(story, "", "Good First Issue")
    closed = issue(story, "", "good first issue")
    story.world.close(closed)
    order(story, 'label:"good first issue"')
    story.tick()

    assert sorted(story.starts()) == sorted([f"cf-{first}-1", f"cf-{second}-1"])
    assert "no open issue is labelled nothing" in refusal(story, "label:nothing", run=78)


def test_ready_names_approved_tasks_only():
    story = Story()
    story.world.add_user("triager", "triage")
    approved = story.ready()
    sneaked = story.world.open_issue("Sneaked in", by="stranger")
    story.world.label(sneaked, "cf:ready", by="triager")
    said = order(story, "ready", strategy="serial")
    story.tick()

    assert f"#{sneaked} is ready but not approved" in said
    assert story.starts() == [f"cf-{approved}-1"]


def test_an_explicit_number_approves_what_somebody_else_could_not():
    story = Story()
    story.world.add_user("triager", "triage")
    task = issue(story)
    story.world.label(task, "cf:ready", by="triager")
    story.tick()
    assert story.starts() == []
    order(story, str(task))
    story.tick()
    assert story.starts() == [f"cf-{task}-1"]


def test_stop_wants_a_batch_of_ours():
    story = Story()
    task = issue(story)
    fake = story.world.open_issue("cf batch", "", labels=("cf:batch",), by="maintainer")
    for number in (task, fake, 900):
        assert f"#{number} is not a batch of ours" in refusal(story, action="stop", target=str(number))
    order(story, str(task))
    batch = batches(story)[-1]
    assert "may not order work" in refusal(story, action="stop", target=str(batch), by="stranger")
