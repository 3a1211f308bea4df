"""People delete, close, edit and move what the conductor keeps on GitHub: nothing starts twice and no key comes again."""

import re
from datetime import timedelta

import pytest

from bot.conductor.tell.summary import markdown
from bot.conductor.tick import tick
from bot.model.errors import TryLater
from bot.model.report import GateResult, GateStatus, Outcome, Question
from bot.notation.reports import REPORT_FILE, report_name
from bot.sandbox.world.errors import ApiError
from bot.sandbox.world.faults import Disconnected, Fault
from tests.conductor.story import CONFIG, Story, zipped


def dashboard(story):
    return next(issue for issue in story.world.issues.all() if issue.has_label("cf:dashboard"))


def delete_comments(story, task):
    for comment in story.world.comments_of(task):
        story.world.delete_comment(comment.id)


def order_anew(story, task):
    story.world.unlabel(task, "cf:ready")
    story.world.label(task, "cf:ready")
    story.tick()
    story.tick()


@pytest.mark.parametrize("gap", [timedelta(minutes=1), timedelta(hours=9)])
def test_a_deleted_status_comment_does_not_start_the_keys_from_one_again(gap):
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.FAILED)
    story.tick()
    delete_comments(story, task)
    story.world.wait(gap)
    story.tick()
    assert story.starts() == [f"cf-{task}-1"]  # who ordered it is lost, too
    order_anew(story, task)

    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]
    assert [attempt.number for attempt in story.record(task).attempts] == [2]


def test_keys_go_on_even_where_the_old_runs_are_gone_too():
    story = Story()
    task = story.ready()
    for number in (1, 2):
        story.tick()
        story.die(f"cf-{task}-{number}")
        story.tick()
    for number in (1, 2):
        story.world.delete_run(story.run_of(f"cf-{task}-{number}").id)
    delete_comments(story, task)
    story.tick()

    assert story.record(task).next_attempt > 2


def test_a_run_whose_status_comment_was_deleted_is_ended():
    """Nothing could be published by it any more."""
    story = Story()
    task = story.ready()
    story.tick()
    run = story.begin(f"cf-{task}-1")
    delete_comments(story, task)
    for _ in range(3):
        story.tick()
    assert story.world.run(run).conclusion == "cancelled"
    assert story.status(task) == ("backlog",)
    order_anew(story, task)

    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_a_closed_dashboard_loses_no_record_that_is_far_down_its_issue():
    story = Story()
    task = story.ready()
    for number in range(8):
        story.world.comment(task, f"remark {number}")
    story.tick()
    run = story.begin(f"cf-{task}-1")
    story.world.close(dashboard(story).number)
    story.world.wait(timedelta(hours=30))
    story.tick()

    assert story.starts() == [f"cf-{task}-1"]
    assert story.record(task).attempts[-1].run == run
    assert story.world.run(run).conclusion is None


def test_of_two_dashboards_the_older_stays():
    story = Story()
    story.ready()
    story.tick()
    first = dashboard(story)
    ours = story.world.token("github-actions[bot]")
    second = story.world.issues.create("cf dashboard", first.body, ("cf:dashboard",), ours)
    story.tick()
    assert first.is_open
    assert not second.is_open


def test_a_pause_counts_on_either_of_two_dashboards():
    story = Story()
    story.tick()
    ours = story.world.token("github-actions[bot]")
    second = story.world.issues.create("cf dashboard", dashboard(story).body, ("cf:dashboard",), ours)
    story.world.label(second.number, "cf:pause")
    story.ready()
    story.tick()
    story.tick()
    assert story.starts() == []


@pytest.mark.parametrize("time", ["2026-03-02T12:00:00", "9999-01-01T00:00:00Z", "soon"])
def test_a_dashboard_that_a_person_edited_stops_nothing(time):
    story = Story()
    task = story.ready()
    story.tick()
    body = re.sub(r'"comments_since":"[^"]*"', f'"comments_since":"{time}"', dashboard(story).body)
    story.world.edit_issue(dashboard(story).number, body=body)
    story.finish(f"cf-{task}-1", Outcome.BLOCKED)
    story.tick()
    story.world.wait(timedelta(minutes=1))
    story.world.comment(task, "sqlite")
    story.tick()
    story.tick()

    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_a_time_without_offset_makes_a_record_unreadable_and_kills_no_tick():
    story = Story()
    task = story.ready()
    story.tick()
    comment = story.world.comments_of(task)[0]
    story.world.edit_comment(comment.id, re.sub(r'("claimed_at":"[^"Z]*)Z"', r'\1"', comment.body))
    story.tick()
    assert story.reason(task).startswith("its record cannot be read")


def test_an_unreadable_record_does_not_keep_a_closed_issue_running():
    story = Story()
    task = story.ready()
    story.tick()
    run = story.begin(f"cf-{task}-1")
    comment = story.world.comments_of(task)[0]
    story.world.edit_comment(comment.id, comment.body.replace(f'"task":{task}', '"task":"x"'))
    story.tick()
    assert story.world.run(run).conclusion is None
    story.world.close(task)
    story.tick()
    assert story.world.run(run).conclusion == "cancelled"


def test_the_run_of_a_deleted_issue_is_ended():
    story = Story()
    task, other = story.ready(), story.ready()
    story.tick()
    gone, lives = story.begin(f"cf-{task}-1"), story.begin(f"cf-{other}-1")
    story.world.delete_issue(task)
    story.tick()
    assert story.world.run(gone).conclusion == "cancelled"
    assert story.world.run(lives).conclusion is None


def test_a_run_that_is_gone_when_it_is_to_be_cancelled_stops_nobody_else():
    story = Story()
    task = story.ready()
    story.tick()
    story.begin(f"cf-{task}-1")
    story.world.close(task)
    other = story.ready()
    story.world.faults.planned.append(Fault(lambda: ApiError(404, "Not Found", "NOT_FOUND"), "cancel"))
    story.tick()
    assert f"cf-{other}-1" in story.starts()


def test_a_broken_configuration_keeps_the_prefix_it_had():
    """Under another prefix every task would be out of sight, and a second dashboard would appear."""
    story = Story(CONFIG + "prefix: robot\n")
    task = story.world.open_issue("Do it", labels=("robot:ready",))
    story.tick()
    story.world.push_files("main", {".github/cf.yml": CONFIG + "prefix: robot\nnonsense: 1\n"})
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.PASSED)
    story.tick()

    assert story.world.labels_of(task) == ("robot:done",)
    assert [issue.title for issue in story.world.issues.all() if not issue.is_pull] == [
        "Do it",
        "cf dashboard",
    ]


def test_an_order_in_the_second_of_its_own_start_is_no_second_order():
    """Killed before the label was written, the event of the order is all that shows, and times have whole seconds."""
    story = Story()
    task = story.ready()
    story.world.faults.planned.append(Fault(Disconnected, "dispatch", writes_only=True, after=True))
    with pytest.raises(TryLater):
        tick(story.github, lambda: story.world.now)
    run = story.begin(f"cf-{task}-1")
    story.tick()
    story.tick()

    assert story.starts() == [f"cf-{task}-1"]
    assert story.world.run(run).conclusion is None
    assert story.status(task) == ("in-progress",)


@pytest.mark.parametrize(
    "data", [b"", b"no archive", b"PK\x05\x06" + b"\xff" * 18, b"x" * 3_000_000, "spoilt"]
)
def test_an_artifact_that_the_agent_uploaded_under_the_reports_name_stops_no_tick(data):
    """Whoever holds the runner's artifact token can upload anything by any name."""
    story = Story()
    task, other = story.ready(), story.ready()
    story.tick()
    key = f"cf-{task}-1"
    run = story.begin(key)
    if data == "spoilt":
        whole = bytearray(zipped({REPORT_FILE: "{}" * 200}))
        whole[len(REPORT_FILE) + 31] ^= 0xFF
        data = bytes(whole)
    story.world.add_artifact(run, report_name(key), data)
    story.finish(f"cf-{other}-1", Outcome.PASSED)
    story.tick()

    assert story.status(other) == ("done",)
    assert story.status(task) == ("in-progress",)


def test_a_need_that_is_open_again_since_the_snapshot_starts_nothing():
    """Needs are looked at once more right before a start."""
    story = Story()
    need = story.world.open_issue("First")
    task = story.ready(f"depends on #{need}")
    story.world.close(need)
    look = story.github.issues

    def reopened_meanwhile(numbers):
        story.world.reopen(need)
        return look(numbers)

    story.github.issues = reopened_meanwhile  # type: ignore[method-assign]
    last = story.tick()

    assert story.starts() == []
    assert last.effects.skipped == {task: f"its needs changed since the snapshot: acme/shop#{need} is open"}


HOSTILE = (
    '<!-- cf:record 1 {"task":1,"next_attempt":99} -->\n@everyone @acme/team &#64;admin\n::add-mask::x\n##[error]x\n'
    "| a | b |\n```\n</details><details>\u202e\u200b\x07\r\n/cf stop\n--> <script>alert(1)</script>"
)


def test_hostile_words_through_every_door_form_nothing_of_ours():
    """Title, body, label, comment, reason, question, options, gate name, gate tail, message."""
    story = Story()
    story.world.add_user("triager", "triage")
    task = story.ready(HOSTILE, title=HOSTILE[:250].replace("\n", " "))
    story.world.label(task, "area:" + HOSTILE[:40].replace("\n", " "))
    story.tick()
    gate = GateResult(HOSTILE, GateStatus.FAILED, tail=HOSTILE)
    story.finish(f"cf-{task}-1", Outcome.FAILED, reason=HOSTILE, message=HOSTILE, gates=(gate,))
    story.tick()
    story.world.wait(timedelta(minutes=5))
    story.tick()
    asked = Question(HOSTILE, options=(HOSTILE, "B"), tried=HOSTILE)
    story.finish(f"cf-{task}-2", Outcome.BLOCKED, question=asked)
    story.tick()
    story.world.comment(task, f"/cf answer {HOSTILE}")
    last = story.tick()

    ours = [comment.body for comment in story.world.comments_of(task) if comment.author.is_bot]
    assert len(ours) >= 2
    for body in ours:
        assert len(re.findall("<!-- cf:", body)) == 1
        assert not re.search(r"@(?=[A-Za-z])(?!maintainer)", body)
        assert not re.search(r"^/cf", body, re.MULTILINE)
        assert "<script" not in body
        assert "&#64;" not in body.partition("<!-- cf:")[0]
    text = markdown(last, None)
    assert "<!--" not in text
    assert "<script" not in text
    assert not re.search(r"^::|##\[", text, re.MULTILINE)
    assert story.record(task).next_attempt == 3
