"""Story: what people, runs and trouble make of a task, and what is never done twice."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

import bot
from bot.conductor.tell.summary import remarks
from bot.model.errors import CannotGoOn
from bot.model.report import Hold, Outcome
from bot.model.unit import Kind
from bot.notation.comments import read_fingerprint
from bot.sandbox.world.in_process import client_of
from tests.conductor.story import CONFIG, Story

BOT = Path(bot.__file__).parent


def told(story, number, words):
    return [comment.body for comment in story.world.comments_of(number) if words in comment.body]


# ---------------------------------------------------------------------- outcomes


@pytest.mark.parametrize("who", ["github-actions[bot]", "tidy-up[bot]", "a reader", "somebody who left"])
def test_act_13_cancelled_by_whoever_is_no_person_with_permission_is_an_interruption(who):
    """GitHub names an App by its slug alone, so it looks like a person."""
    story = Story()
    task = story.ready()
    story.tick()
    run = story.begin(f"cf-{task}-1")
    if who == "tidy-up[bot]":
        story.world.cancel(run, by=story.world.accounts.app_token("tidy-up", {"actions": "write"}))
    elif who == "github-actions[bot]":
        story.world.cancel(run, by=who)
    else:
        story.world.add_user(who.split()[-1], "write")
        story.world.cancel(run, by=who.split()[-1])
        story.world.add_user(who.split()[-1], "read" if who == "a reader" else "none")
    for _ in range(3):
        story.tick()

    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]
    assert story.record(task).interruptions == 1


def test_act_13_cancelled_by_a_person_waits_for_that_person():
    story = Story()
    task = story.ready()
    story.tick()
    story.world.cancel(story.begin(f"cf-{task}-1"), by="maintainer")
    for _ in range(3):
        story.tick()

    assert story.status(task) == ("backlog",)
    record = story.record(task)
    assert (record.strikes, record.interruptions) == (0, 0)
    assert told(story, task, "cancelled by maintainer; its work is kept, and `cf:ready` goes on from there")
    story.world.label(task, "cf:ready")
    story.settle()
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_act_13_cancelled_because_its_issue_was_closed_is_no_failure_and_no_retry():
    story = Story()
    task = story.ready()
    story.tick()
    story.begin(f"cf-{task}-1")
    story.world.close(task)
    story.settle()

    assert story.status(task) == ("done",)
    assert story.starts() == [f"cf-{task}-1"]
    assert story.record_anyway(task).attempts[-1].cancelled_for == "closed as completed"


def test_act_13_cancelled_without_cause_three_times_asks_a_person():
    story = Story()
    task = story.ready()
    for number in (1, 2, 3):
        story.settle()
        story.die(f"cf-{task}-{number}", "cancelled")
    story.settle()

    assert story.status(task) == ("blocked",)
    assert len(story.starts()) == 3
    assert story.record(task).strikes == 0


def test_act_13_a_token_that_may_not_read_checks_costs_the_name_only():
    story = Story()
    app = story.world.accounts.app_token(
        "conductor", {"issues": "write", "actions": "write", "contents": "read", "pull_requests": "read"}
    )
    story.github = client_of(story.world, app)
    task = story.ready()
    story.tick()
    story.world.cancel(story.begin(f"cf-{task}-1"), by="maintainer")
    story.tick()

    assert story.status(task) == ("ready",)
    assert story.record(task).interruptions == 1


def test_a_refused_merge_is_tried_again_by_publishing_once_github_says_that_nothing_hinders_it():
    story = Story(CONFIG + "merge: auto\n")
    task = story.ready()
    story.tick()
    story.world.pulls.missing_check = "ci"
    words = 'not merged: Required status check "ci" is expected.'
    pull = story._publish(task, f"cf-{task}-1")
    head = story.world.pull(pull).head_sha
    story.finish(f"cf-{task}-1", Outcome.PASSED, unmerged=True, reason=words, head=head)
    story.settle()
    assert story.status(task) == ("done",)
    assert story.reason(task) == f"#{pull} is merged once GitHub says that nothing hinders it"
    assert len(told(story, task, "The merge is tried again by itself")) == 1
    story.world.pulls.missing_check = ""
    story.settle()

    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]
    assert '"kind":"publish"' in story.worker_runs()[-1].inputs["units"]
    story.merge(task)
    story.finish(f"cf-{task}-2", Outcome.PASSED, merged=True, head=head)
    story.settle()
    assert story.status(task) == ("merged",)
    assert len(told(story, task, "passed every gate")) == 1


def test_a_set_up_that_fails_is_told_once_for_the_repository_and_again_after_it_had_worked():
    story = Story()
    tasks = [story.ready(), story.ready()]

    def fail(*which, attempt):
        story.settle()
        for task in which:
            key = f"cf-{task}-{attempt}"
            story.finish(
                key, Outcome.INFRA, reason="set-up failed (exit 4): make deps\nno disk", failure="f" * 32
            )
        story.settle()

    def said():
        return [len(told(story, task, "no disk")) - 1 for task in tasks]  # the status comment tells it too

    for attempt in (1, 2, 3):
        fail(*tasks, attempt=attempt)
        assert said() == [1, 0]
    assert [story.status(task) for task in tasks] == [("blocked",)] * 2
    assert "set-up failed (exit 4): make deps" in story.reason(tasks[1])
    assert [story.record(task).strikes for task in tasks] == [0, 0]
    for task in tasks:
        story.world.label(task, "cf:ready")
    story.settle()
    story.finish(f"cf-{tasks[0]}-4", Outcome.FAILED)
    story.finish(f"cf-{tasks[1]}-4", Outcome.FAILED)
    story.settle()
    story.world.wait(timedelta(minutes=5))
    fail(tasks[1], attempt=5)
    assert said() == [1, 1]


def test_act_07_a_refused_pull_request_is_published_later_without_an_agent():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.HELD, hold=Hold.SETTING, head="c" * 40, reason="not allowed")
    story.settle()
    assert story.status(task) == ("blocked",)
    assert story.starts() == [f"cf-{task}-1"]
    for key, hours in ((2, 1), (3, 5), (4, 18)):
        story.world.wait(timedelta(hours=hours))
        story.settle()
        assert story.starts()[-1] == f"cf-{task}-{key}"
        assert '"kind":"publish"' in story.worker_runs()[-1].inputs["units"]
        story.finish(f"cf-{task}-{key}", Outcome.HELD, hold=Hold.SETTING, head="c" * 40, reason="not allowed")
        story.settle()
    story.world.wait(timedelta(days=3))
    story.settle()

    assert len(story.starts()) == 4
    assert len(told(story, task, "was not published")) == 1
    assert story.record(task).spent.attempts == 1


def test_a_conflict_of_merge_auto_starts_again_without_a_strike():
    story = Story(CONFIG + "merge: auto\n")
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.PASSED, conflict=True)
    story.settle()

    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]
    assert story.record(task).strikes == 0


def test_units_that_publish_count_in_the_total_only():
    story = Story(CONFIG + "max_parallel: 1\nlimits: {total: 2}\n")
    lost = story.ready()
    story.tick()
    story.die(f"cf-{lost}-1", agent="success", verify="success", publish="failure")
    story.tick()
    story.tick()
    fresh, waiting = story.ready(), story.ready()
    story.tick()

    live = story.record(lost).live
    assert live is not None
    assert live.kind is Kind.PUBLISH
    assert f"cf-{fresh}-1" in story.starts()
    assert story.reason(waiting) == "waits for a slot: limits.total is 2"


# ---------------------------------------------------------------------- people


def test_done_by_a_persons_label_counts_as_completed_elsewhere_and_satisfies_no_need():
    story = Story()
    task = story.ready()
    behind = story.ready(f"depends on #{task}")
    story.tick()
    run = story.begin(f"cf-{task}-1")
    story.world.label(task, "cf:done")
    story.world.wait(timedelta(seconds=5))
    story.settle()

    assert story.status(task) == ("done",)
    assert story.world.run(run).conclusion == "cancelled"
    assert story.reason(behind) == f"waiting on #{task}"
    story.world.close(task)
    story.settle()
    assert f"cf-{behind}-1" in story.starts()


def test_agt_24_a_pull_request_closed_by_a_person_stops_the_spending():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.PASSED)
    story.tick()
    pull = story.record(task).pull
    story.world.comment(pull, "why not?", by="stranger")
    story.tick()
    assert story.status(task) == ("done",)
    story.world.close(pull)
    for _ in range(3):
        story.tick()

    assert story.status(task) == ("backlog",)
    assert story.starts() == [f"cf-{task}-1"]
    assert len(told(story, task, "was closed without merge")) == 1


# ---------------------------------------------------------------------- attempts


@pytest.mark.parametrize("hours", [0, 4])
def test_agt_13_act_08_a_claim_whose_run_never_appeared_is_claimed_anew(hours):
    story = Story()
    task = story.ready()
    story.tick()
    del story.world.actions.runs[story.run_of(f"cf-{task}-1").id]
    story.world.wait(timedelta(minutes=4))
    story.tick()
    assert story.starts() == []
    story.world.wait(timedelta(hours=hours, minutes=6))
    story.tick()
    story.tick()

    assert story.starts() == [f"cf-{task}-2"]
    assert story.record(task).attempts[0].reason.startswith("failed to start") or "deleted" in (
        story.record(task).attempts[0].reason
    )
    assert story.record(task).strikes == 0


def test_agt_14_the_attempt_limit_outlives_every_restart_and_waiting_costs_nothing():
    story = Story(CONFIG + "max_parallel: 1\n")
    other, task = story.ready(), story.ready()
    for _ in range(2):  # no free slot
        story.github = client_of(story.world)
        story.tick()
    story.world.close(other)
    for _ in range(20):
        story.github = client_of(story.world)
        story.tick()
        if story.record(task).live:
            story.finish_live(task, Outcome.FAILED)
        story.world.wait(timedelta(minutes=5))

    assert [key for key in story.starts() if key.startswith(f"cf-{task}-")] == [
        f"cf-{task}-{n}" for n in (1, 2, 3)
    ]
    assert story.status(task) == ("failed",)
    prints = [read_fingerprint(comment.body) for comment in story.world.comments_of(task)]
    assert [one for one in prints if one and one.startswith("failed:")] == [f"failed:cf-{task}-3"]


# ---------------------------------------------------------------------- repository


def test_act_19_the_default_branch_is_read_not_assumed():
    story = Story()
    for name in ("trunk", "dev/next"):
        story.world.push_files(name, {"x": name}, "x", by="maintainer")
        story.world.git.default_branch = story.world.core.default_branch = name
        story.ready()
        story.tick()

    assert [run.ref for run in story.worker_runs()] == ["trunk", "dev/next"]
    code = [path for path in BOT.rglob("*.py") if "sandbox" not in path.parts]
    assert len(code) > 50
    assert not [
        path for path in code if re.search(r"""["'](main|master)["']""", path.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(
    ("fact", "words"), [({"archived": True}, "is archived"), ({"has_issues": False}, "issues switched off")]
)
def test_act_20_a_repository_that_takes_no_work_ends_the_tick_with_one_sentence(fact, words):
    story = Story()
    story.ready()
    view = story.github.view

    def seen(*asked):
        found = view(*asked)
        return replace(found, repository=replace(found.repository, **fact))

    story.github.view = seen  # type: ignore[method-assign]
    with pytest.raises(CannotGoOn, match=words) as caught:
        story.tick()
    assert caught.value.exit_code == 1
    assert "\n" not in str(caught.value)
    assert story.starts() == []


def test_api_08_pull_requests_are_no_tasks():
    story = Story()
    tasks = [story.ready() for _ in range(3)]
    pulls = []
    for name in ("one", "two"):
        story.world.push_files(name, {f"{name}.txt": name}, name, by="maintainer")
        pulls.append(story.world.open_pull(name, title=name, body="", by="maintainer"))
        story.world.label(pulls[-1], "cf:ready")
    told_of = remarks(story.tick())

    assert sorted(story.starts()) == [f"cf-{task}-1" for task in tasks]
    assert told_of == [f"label on a pull request ignored: #{pull}" for pull in pulls]
    assert [story.world.labels_of(pull) for pull in pulls] == [("cf:ready",)] * 2


def test_act_24_a_worker_workflow_that_is_missing_is_named_with_its_branch():
    story = Story(worker=False)
    task = story.ready()
    story.tick()

    assert (
        story.reason(task)
        == "nothing can start: .github/workflows/cf-worker.yml is missing from the branch main"
    )
    assert story.starts() == []
    assert not story.record(task).attempts


# ---------------------------------------------------------------------- runs


def shared_run():
    story = Story(CONFIG + "dispatch: {units_per_run: 2}\n")
    one, two = story.ready(), story.ready()
    story.tick()
    assert len(story.worker_runs()) == 1
    story.begin(f"cf-{two}-1")
    return story, one, two, story.begin(f"cf-{one}-1")


def test_a_shared_run_is_cancelled_once_none_of_its_tasks_is_wanted():
    story, one, two, run = shared_run()
    story.world.close(one, reason="not_planned")
    story.settle()
    assert story.engine.cancelled == []
    assert story.record_anyway(one).live is not None  # its leg has not ended yet
    assert story.status(two) == ("in-progress",)
    story.world.close(two, reason="not_planned")
    story.settle()

    assert story.engine.cancelled == [(run, False)]
    assert [story.record_anyway(task).attempts[-1].outcome for task in (one, two)] == [Outcome.CANCELLED] * 2


def test_a_leg_that_ended_by_itself_frees_its_task_while_the_run_goes_on():
    story, one, two, _ = shared_run()
    story.world.close(one, reason="not_planned")
    story.settle()
    story.finish(f"cf-{one}-1", Outcome.CANCELLED, end=False)
    story.settle()

    attempt = story.record_anyway(one).attempts[-1]
    assert (attempt.outcome, attempt.reason) == (Outcome.CANCELLED, "closed as not planned")
    assert story.engine.cancelled == []
    assert story.record(two).live is not None


def test_a_run_whose_task_is_gone_keeps_its_slot_and_is_forced_after_the_grace():
    story = Story(CONFIG + "max_parallel: 1\n")
    gone = story.ready()
    story.tick()
    run = story.begin(f"cf-{gone}-1")
    story.engine.obeys = False
    story.world.delete_issue(gone)
    waiting = story.ready()
    story.settle()
    assert story.engine.cancelled == [(run, False)]
    assert story.reason(waiting) == "waits for a slot: max_parallel is 1"
    story.world.wait(timedelta(minutes=5))
    story.settle()

    assert story.engine.cancelled == [(run, False), (run, True)]
    assert f"cf-{waiting}-1" in story.starts()


def test_agt_23_a_report_of_an_attempt_that_was_given_up_changes_nothing_and_is_mentioned_once():
    story = Story()
    task = story.ready()
    story.tick()
    lost = story.run_of(f"cf-{task}-1")
    del story.world.actions.runs[lost.id]
    story.world.wait(timedelta(minutes=6))
    story.settle()
    assert story.starts() == [f"cf-{task}-2"]
    story.world.actions.runs[lost.id] = lost
    story.finish(f"cf-{task}-1", Outcome.FAILED)
    story.settle()
    assert story.status(task) == ("in-progress",)
    story.finish(f"cf-{task}-2", Outcome.PASSED)
    story.settle()

    assert story.status(task) == ("done",)
    assert [attempt.outcome for attempt in story.record(task).attempts] == [Outcome.INFRA, Outcome.PASSED]
    (late,) = told(story, task, "which had been given up")
    assert f"`cf-work-cf-{task}-1`" in late


def test_a_record_among_three_hundred_comments_is_found_without_reading_them():
    story = Story()
    task = story.world.open_issue("Do it")
    for number in range(300):
        story.world.comment(task, f"words {number}")
    story.world.label(task, "cf:ready")
    story.settle()
    asked = []
    by_id = story.github.comments_by_id

    def counted(node_ids):
        asked.append(list(node_ids))
        return by_id(node_ids)

    story.github.comments_by_id = counted  # type: ignore[method-assign]
    story.github.comments_on = None  # type: ignore[method-assign, assignment]
    story.tick()

    assert [len(ids) for ids in asked] == [1]
    assert story.record(task).live is not None
    assert story.starts() == [f"cf-{task}-1"]
