"""Story: events wake, nothing is done twice (DUP class), and everything is read before anything is written (API-05, API-07)."""

from collections import Counter
from datetime import timedelta

import pytest

from bot.model.errors import TryLater
from bot.model.report import Outcome
from tests.conductor.story import CONFIG, Story


def test_dup_02_the_event_that_was_evicted_is_not_missed():
    """Six events in six seconds, one run survives: a tick scans everything, whatever woke it."""
    story = Story()
    tasks = [story.ready() for _ in range(3)]
    for task in tasks:
        story.world.comment(task, "just a remark")
    evicted = story.ready()

    story.tick()  # the one run that survived, of whichever event

    assert story.starts() == [f"cf-{task}-1" for task in (*tasks, evicted)]


def test_dup_02_conductor_runs_queue_as_one_running_and_one_pending():
    """What GitHub keeps of six events: the first run and the newest one."""
    story = Story()
    for _ in range(6):
        story.ready()

    runs = story.world.runs("cf-conductor.yml")
    waiting = [run.status for run in runs if run.status != "completed"]

    assert waiting.count("pending") <= 1
    assert len(waiting) <= 2
    assert all(run.conclusion == "cancelled" for run in runs if run.status == "completed")


@pytest.mark.slow
def test_dup_03_two_hundred_labels_within_a_minute_lose_nothing():
    """Capacity 10: each tick is the survivor of a storm, and each of the 200 is dispatched exactly once."""
    story = Story(f"{CONFIG}max_parallel: 10\nlimits: {{total: 10}}\n")
    tasks = [story.ready() for _ in range(200)]
    for storm in range(22):
        story.tick()
        if storm % 4 == 0:
            story.tick()  # the storm's second survivor
        for run in story.worker_runs():
            if run.status != "completed":
                story.finish(run.inputs["keys"], Outcome.PASSED)

    assert Counter(story.starts()) == Counter(f"cf-{task}-1" for task in tasks)


def test_dup_05_the_same_event_ten_minutes_later_writes_nothing():
    story = Story()
    task = story.ready()
    story.tick()
    story.world.wait(timedelta(minutes=2))
    story.begin(f"cf-{task}-1")
    story.tick()
    before = story.world.faults.writes
    story.world.wait(timedelta(minutes=10))

    story.tick()

    assert story.world.faults.writes == before


def test_dup_10_closed_between_snapshot_and_dispatch_starts_nothing():
    story = Story()
    task = story.ready()
    other = story.ready()
    read_again = story.github.issues

    def closed_meanwhile(numbers):
        story.github.issues = read_again  # type: ignore[method-assign]
        story.world.close(task)
        return read_again(numbers)

    story.github.issues = closed_meanwhile  # type: ignore[method-assign]
    last = story.tick()

    assert last.effects.skipped == {task: "changed since snapshot"}
    assert story.starts() == [f"cf-{other}-1"]


def test_dup_10_a_label_that_went_between_snapshot_and_dispatch_starts_nothing():
    story = Story()
    task = story.ready()
    read_again = story.github.issues

    def withdrawn_meanwhile(numbers):
        story.github.issues = read_again  # type: ignore[method-assign]
        story.world.unlabel(task, "cf:ready")
        return read_again(numbers)

    story.github.issues = withdrawn_meanwhile  # type: ignore[method-assign]
    last = story.tick()

    assert last.effects.skipped == {task: "changed since snapshot"}
    assert story.starts() == []


@pytest.mark.slow
def test_api_05_everything_is_read_before_the_first_write():
    """250 tasks that each lose their label as they are started: no page shifts under the reading."""
    story = Story(f"{CONFIG}max_parallel: 250\nlimits: {{total: 250}}\n")
    tasks = [story.ready() for _ in range(250)]
    order: list[str] = []
    for name in ("view", "comments_since", "runs", "issues"):
        _noting(story.github, name, order)
    for name in ("write", "dispatch"):
        _noting(story.github, name, order)
    for _ in range(10):
        order.clear()
        story.tick()
        first_write = next(
            (place for place, name in enumerate(order) if name in ("write", "dispatch")), len(order)
        )
        assert "view" not in order[first_write:]
        assert "comments_since" not in order[first_write:]
        story.world.wait(timedelta(minutes=1))

    assert Counter(story.starts()) == Counter(f"cf-{task}-1" for task in tasks)


def _noting(github, name, order):
    real = getattr(github, name)

    def noted(*args, **kwargs):
        order.append(name)
        return real(*args, **kwargs)

    setattr(github, name, noted)


def test_api_07_lists_decide_and_never_the_search():
    """A label just added starts its task in this tick, one just removed does not; nothing of the port is a search."""
    story = Story()
    added = story.world.open_issue("New", "")
    removed = story.ready()
    story.world.label(added, "cf:ready")
    story.world.unlabel(removed, "cf:ready")

    story.tick()

    assert story.starts() == [f"cf-{added}-1"]
    assert not [name for name in dir(story.github) if "search" in name]


def test_dup_09_chatter_cannot_evict_a_manual_batch():
    """The order's workflow has a group of its own, and comments that are no business of ours take no group at all."""
    story = Story()
    task = story.world.open_issue("x", "")
    run = story.world.dispatch(
        "cf-batch.yml", inputs={"action": "run", "tasks": str(task)}, token="maintainer"
    )
    for _ in range(5):
        story.world.comment(task, "chatter", by="maintainer")

    (order,) = story.world.runs("cf-batch.yml")
    assert order.id == run
    assert order.conclusion is None


@pytest.mark.parametrize("lag", [1, 3])
def test_dup_01_stale_lists_start_nothing_twice(lag):
    """A replica that is behind shows the task ready after its start; the record, read again, says otherwise."""
    story = Story()
    task = story.ready()
    story.tick()
    story.world.faults.lag(lag)
    for _ in range(4):
        try:
            story.tick()
        except TryLater:
            continue

    assert story.starts() == [f"cf-{task}-1"]
