"""The dashboard: written only when something changed, and a memory where its text is not wanted."""

from datetime import timedelta

from bot.conductor.observe import observe
from bot.notation.overview import same_but_time
from tests.conductor.story import CONFIG, Story


def dashboard_of(story):
    return next(issue for issue in story.world.issues.all() if issue.has_label("cf:dashboard"))


def test_time_alone_is_no_reason_to_write_it():
    story = Story()
    story.ready("depends on #77")
    story.settle()
    written = story.world.faults.writes
    before = dashboard_of(story).body
    story.world.wait(timedelta(minutes=20))
    story.tick()
    assert story.world.faults.writes == written
    assert dashboard_of(story).body == before
    assert same_but_time(before, before.replace("_As of 2", "_As of 3"))
    assert not same_but_time(before, before.replace("waiting", "ready"))


def test_switched_off_it_is_one_line_and_the_memory():
    story = Story(CONFIG + "dashboard: false\n")
    story.ready()
    story.settle()
    body = dashboard_of(story).body
    assert len(body.split("\n\n")) == 2
    assert body.startswith("Please leave this issue open")
    story.world.label(dashboard_of(story).number, "cf:pause")
    assert "paused by the label" in story.tick().seen.snapshot.starts_blocked_by


def test_the_index_names_only_tasks_whose_record_is_among_the_first_comments():
    story = Story()
    task = story.ready()
    story.tick()
    story.tick()
    seen = observe(story.github, story.world.now)
    assert seen.state is not None
    assert seen.state.records == {str(task): ""}
    story.world.unlabel(task, "cf:in-progress")
    assert story.tick().seen.snapshot.tasks[task].record.attempts
