"""LBL: labels and status, each case by its id."""

import pytest

from bot.conductor.act.labels import label_names
from bot.conductor.tell.summary import markdown, remarks
from bot.conductor.tick import tick
from bot.model.change import RemoveLabel
from bot.model.config import Config
from bot.model.errors import CannotGoOn
from bot.model.report import Outcome
from bot.sandbox.world.in_process import client_of
from tests.conductor.story import Story


def test_lbl_01_label_names_compare_without_case():
    story = Story()
    client_of(story.world, "maintainer").ensure_labels({"CF:Ready": ("0e8a16", "")})
    task = story.world.open_issue("x", labels=("CF:Ready",))
    before = {label.name for label in story.github.view("cf", None).labels}
    assert "CF:Ready" in before
    sent: list[object] = []
    write = story.github.write

    def noted(changes):
        sent.extend(changes)
        return write(changes)

    story.github.write = noted  # type: ignore[method-assign]
    story.tick()

    assert [change.label for change in sent if isinstance(change, RemoveLabel)] == ["CF:Ready"]
    assert story.starts() == [f"cf-{task}-1"]
    assert story.status(task) == ("in-progress",)
    names = [label.name for label in story.github.view("cf", None).labels]
    assert [name for name in names if name.casefold() == "cf:ready"] == ["CF:Ready"]


def test_lbl_02_a_live_attempt_means_in_progress():
    story = Story()
    task = story.ready()
    story.tick()
    story.world.label(task, "cf:ready", by="github-actions[bot]")
    story.tick()

    assert story.status(task) == ("in-progress",)
    assert story.starts() == [f"cf-{task}-1"]


@pytest.mark.parametrize(
    ("labels", "meant"),
    [(("cf:ready", "cf:in-progress"), "ready"), (("cf:ready", "cf:blocked"), "blocked")],
)
def test_lbl_02_without_evidence_precedence_decides(labels, meant):
    story = Story()
    task = story.world.open_issue("x", labels=labels, by="maintainer")
    # No event of a person: the labels came by our own account.
    story.world.issue(task).events.clear()
    last = story.tick()

    assert story.status(task) == (meant,)
    assert story.starts() == []
    other = labels[0 if labels[1].endswith(meant) else 1].removeprefix("cf:")
    (told,) = remarks(last)
    assert told.startswith(f"#{task} had the status labels ")
    assert told.endswith(f": {meant} counts")
    assert other in told
    assert remarks(story.tick()) == []


def test_lbl_02_a_writers_newer_label_wins():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.NO_CHANGES)
    story.tick()
    assert story.status(task) == ("blocked",)
    story.world.label(task, "cf:ready")
    story.tick()
    story.tick()

    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]
    assert story.status(task) == ("in-progress",)


def test_lbl_04_labels_of_people_are_never_touched():
    story = Story()
    task = story.ready("", "bug")
    write = story.github.write

    def urgent_meanwhile(changes):
        story.world.label(task, "urgent")
        return write(changes)

    story.github.write = urgent_meanwhile  # type: ignore[method-assign]
    story.tick()

    assert set(story.world.labels_of(task)) == {"bug", "urgent", "cf:in-progress"}


def test_lbl_05_a_missing_label_is_created():
    story = Story()
    task = story.ready()
    assert "cf:in-progress" not in {label.name for label in story.github.view("cf", None).labels}
    story.tick()

    assert "cf:in-progress" in {label.name for label in story.github.view("cf", None).labels}
    assert story.starts() == [f"cf-{task}-1"]


def test_lbl_05_a_token_that_may_not_create_labels_ends_the_tick_before_any_write():
    story = Story()
    task = story.ready()
    maintainer = client_of(story.world, "maintainer")
    maintainer.ensure_labels(
        {name: look for name, look in label_names(Config()).items() if name != "cf:in-progress"}
    )
    rights = {"issues": "read", "actions": "write", "contents": "read", "pull-requests": "read"}
    weak = client_of(story.world, story.world.accounts.app_token("conductor", rights))
    with pytest.raises(CannotGoOn, match=r"the label cf:in-progress could not be .*issues: write") as caught:
        tick(weak, lambda: story.world.now)

    assert caught.value.exit_code == 1
    assert story.starts() == []
    assert story.world.comments_of(task) == ()
    assert story.status(task) == ("ready",)


def test_lbl_08_a_label_removed_by_a_person_withdraws_the_task():
    story = Story()
    task = story.ready()
    story.tick()
    run = story.begin(f"cf-{task}-1")
    story.world.unlabel(task, "cf:in-progress")
    story.tick()
    story.tick()

    assert story.world.run(run).conclusion == "cancelled"
    assert story.status(task) == ()
    assert "withdrawn by maintainer" in story.record_anyway(task).attempts[-1].cancelled_for


def test_lbl_08_a_label_that_vanished_is_rebuilt():
    story = Story()
    task = story.ready()
    story.tick()
    story.world.unlabel(task, "cf:in-progress", by="github-actions[bot]")
    last = story.tick()

    assert story.status(task) == ("in-progress",)
    assert "put back" in story.reason(task)
    assert f"| #{task} " in markdown(last, None)
    assert story.starts() == [f"cf-{task}-1"]


def test_lbl_10_many_labels_one_dispatch():
    story = Story()
    task = story.world.open_issue("x", labels=("a", "b", "c", "cf:ready"))
    for _ in range(5):
        story.tick()

    assert story.starts() == [f"cf-{task}-1"]


def test_lbl_11_an_event_after_the_dispatch_does_not_double():
    story = Story()
    task = story.ready()
    story.tick()
    story.world.label(task, "cf:ready", by="github-actions[bot]")
    story.tick()
    story.tick()

    assert story.starts() == [f"cf-{task}-1"]


def test_a_program_that_sets_a_label_again_and_again_is_told_three_times_an_hour():
    story = Story()
    task = story.ready()
    story.tick()
    for _ in range(8):
        story.world.label(task, "cf:merged", by="maintainer")
        story.tick()
        assert story.status(task) == ("in-progress",)
    told = [one for one in story.world.comments_of(task) if "was put back" in one.body]
    assert len(told) == 3
    assert story.starts() == [f"cf-{task}-1"]


@pytest.mark.parametrize("label", ["cf:merged", "cf:in-progress"])
def test_an_illegal_move_is_put_back_with_one_comment(label):
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.NO_CHANGES)
    story.tick()
    story.world.label(task, label)
    story.tick()
    story.tick()

    assert story.status(task) == ("blocked",)
    assert len([c for c in story.world.comments_of(task) if "was put back" in c.body]) == 1


@pytest.mark.parametrize(("label", "then"), [("cf:backlog", "backlog"), ("cf:failed", "failed")])
def test_a_persons_label_stops_a_running_task(label, then):
    story = Story()
    task = story.ready()
    story.tick()
    run = story.begin(f"cf-{task}-1")
    story.world.label(task, label)
    story.tick()
    story.tick()
    story.tick()

    assert story.world.run(run).conclusion == "cancelled"
    assert story.status(task) == (then,)
    assert story.starts() == [f"cf-{task}-1"]


def test_ready_alone_on_a_running_task_stops_and_starts_again():
    story = Story()
    task = story.ready()
    story.tick()
    run = story.begin(f"cf-{task}-1")
    story.world.unlabel(task, "cf:in-progress")
    story.world.label(task, "cf:ready")
    for _ in range(3):
        story.tick()

    assert story.world.run(run).conclusion == "cancelled"
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]
