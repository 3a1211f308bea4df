"""The dashboard: where everything stands, written only when that changed, bounded, with boxes that are orders."""

from datetime import timedelta

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from bot.conductor.observe import observe
from bot.conductor.observe.checkboxes import read_boxes, with_boxes
from bot.conductor.tell.summary import remarks
from bot.model.issue import EventKind, TimelineEvent
from bot.model.record import Blocker
from bot.model.report import Outcome, Question
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.overview import BODY_MOST, BOXES, dashboard_text, overview_lines, same_but_time, ticked
from bot.notation.state import State, fitting, read_state
from bot.plan import plan
from bot.plan.telling.overview import overview_of
from tests.builders import (
    BOT,
    NOW,
    STRANGER,
    WRITER,
    a_record,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_attempt,
    an_issue,
)
from tests.conductor.story import CONFIG, Story

PAUSE, UNPAUSE = "Pause: nothing new starts, running work finishes", "Go on: take the pause away"


def dashboard_of(story):
    return next(issue for issue in story.world.issues.all() if issue.has_label("cf:dashboard"))


def tick_box(story, text, by="maintainer"):
    board = dashboard_of(story)
    assert f"- [ ] {text}" in board.body
    story.world.wait(timedelta(seconds=3))
    story.world.edit_issue(board.number, body=board.body.replace(f"- [ ] {text}", f"- [x] {text}"), by=by)


def a_body(snapshot, state=None):
    told = overview_of(snapshot, plan(snapshot).decisions)
    return dashboard_text(told, state or State(NOW), "cf", NOW, paused=False)


def everything():
    asked = Blocker("question:cf-4-1", Question("Which database?"), ago(minutes=9))
    failed = an_attempt(1, Outcome.FAILED, reason="tests fail", run=805, minutes=4.0)
    return a_snapshot(
        a_task(1),
        a_task(2, needs=(1,)),
        a_running(3, run=903),
        a_task(4, Status.BLOCKED, record=a_record(4, Status.BLOCKED, blocker=asked)),
        a_task(5, Status.FAILED, record=a_record(5, Status.FAILED, attempts=(failed,), next_attempt=2)),
        a_task(6, Status.DONE, record=a_record(6, Status.DONE, pull=70)),
        a_running(7, run=907, live={"kind": Kind.PUBLISH}),
        runs=(a_run(903, "cf-3-1"), a_run(907, "cf-7-1")),
    )


def test_it_shows_every_section_with_reasons_questions_and_links():
    lines = a_body(everything()).splitlines()
    assert "- #3 [`cf-3-1`](../actions/runs/903) (2026-03-02 11:40 UTC)" in lines
    assert "### Running: publish (1)" in lines
    assert "- #2 waiting on #1" in lines
    assert "- #4 Which database? (2026-03-02 11:51 UTC)" in lines
    assert "- #5 failed: tests fail; `cf:ready` starts it again" in lines
    assert "- #5 [`cf-5-1`](../actions/runs/805) 4 min failed (2026-03-02 11:50 UTC)" in lines
    assert any(line.startswith("- #6 ") and line.endswith("→ #70") for line in lines)
    assert "| at once | 4, all kinds together 10 |" in lines
    assert "  t1 --> t2" in lines
    assert f"- [ ] {PAUSE}" in lines
    assert f"- [ ] {UNPAUSE}" not in lines


def test_status_in_a_few_lines_says_first_whether_anything_can_start():
    snapshot = everything()
    first, counts, *rest = overview_lines(overview_of(snapshot, plan(snapshot).decisions, {1: 901}))
    assert first == "**1 started**"
    assert counts == "0 ready, 3 running, 1 waiting, 1 blocked, 1 failed"
    assert rest == [
        "Running: #1; #3",
        "Running: publish: #7",
        "Blocked: #4 (Which database?)",
        "Waiting for review: #6 (#70 is being looked up)",
        "Waiting: #2 (waiting on #1)",
    ]


def test_words_of_others_stay_words():
    evil = Question("@all <!-- cf:state 1 {} --> \n- [x] Stop every run, now\n```mermaid")
    blocker = Blocker("q", evil, ago(minutes=1))
    text = a_body(a_snapshot(a_task(1, Status.BLOCKED, record=a_record(1, Status.BLOCKED, blocker=blocker))))
    assert ticked(text) == ()
    assert "@all" not in text
    assert text.count("<!--") == 1
    assert not [token for token in MarkdownIt().parse(text.rpartition("\n\n")[0]) if token.type == "fence"]


@pytest.mark.parametrize("indexed", [0, 4_000])
def test_thousands_of_tasks_fit_and_what_is_left_out_is_said(indexed):
    tasks = [a_task(number, needs=(number - 1,) if number > 1 else ()) for number in range(1, 600)]
    stuck = [
        a_task(
            number,
            Status.BLOCKED,
            record=a_record(number, Status.BLOCKED, blocker=Blocker("q", Question("x" * 500), NOW)),
        )
        for number in range(1_000, 1_300)
    ]
    state = fitting(State(NOW, {str(number): f"IC_kwDOxxxxxxxx{number:06}" for number in range(indexed)}))
    text = a_body(a_snapshot(*tasks, *stuck), state)
    assert len(text) <= BODY_MOST
    assert "more, not listed here" in text
    assert read_state(an_issue(9, body=text, author=BOT), {BOT.id}) == state


def test_the_index_that_is_too_long_keeps_the_newest_unfinished():
    finished = {str(number): "IC_" + "x" * 30 for number in range(500)}
    records = {str(number): "IC_" + "x" * 30 for number in range(1_000, 1_900)}
    kept = fitting(State(NOW, records, finished))
    assert kept.finished == {}
    assert "1899" in kept.records
    assert 500 < len(kept.records) < 900
    assert fitting(State(NOW, {"1": ""})) == State(NOW, {"1": ""})


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


def test_the_pause_box_holds_every_start_says_by_whom_and_is_empty_again():
    story = Story()
    story.tick()
    tick_box(story, PAUSE)
    task = story.ready()
    story.tick()
    board = dashboard_of(story)
    assert story.starts() == []
    assert f"ticked by maintainer on {story.world.now:%Y-%m-%d}" in story.reason(task)
    assert "cf:pause" in [label.casefold() for label in story.world.labels_of(board.number)]
    assert ticked(board.body) == ()
    story.tick()
    assert f"on #{board.number}, set by maintainer on" in story.reason(task)

    tick_box(story, UNPAUSE)
    story.tick()
    assert story.starts() == [f"cf-{task}-1"]
    assert "cf:pause" not in story.world.labels_of(board.number)


def test_a_box_counts_only_if_everybody_who_edited_since_may_order():
    story = Story(CONFIG + "trust: {permission: maintain}\n")
    story.world.add_user("writer", "write")
    story.tick()
    tick_box(story, PAUSE, by="writer")
    last = story.tick()
    assert any("writer edited the dashboard" in remark for remark in remarks(last))
    assert ticked(dashboard_of(story).body) == ()
    assert story.world.labels_of(dashboard_of(story).number) == ("cf:dashboard",)


def test_a_tick_that_dies_after_the_pause_is_followed_by_the_same_end():
    story = Story()
    story.tick()
    tick_box(story, PAUSE)
    story.world.faults.fail_write(2, after=False)
    story.settle()
    board = dashboard_of(story)
    assert "cf:pause" in story.world.labels_of(board.number)
    assert ticked(board.body) == ()


def edited(*by, orders=tuple(BOXES), **fields):
    body = "\n".join(f"- [x] {text}" for text in orders)
    events = tuple(
        TimelineEvent(EventKind.EDITED, actor, ago(minutes=9 - place)) for place, actor in enumerate(by)
    )
    return an_issue(9, "cf:dashboard", body=body, author=BOT, events=events, **fields)


def never(snapshot, wants):
    raise AssertionError(wants)


def test_boxes_become_comments_of_whoever_ticked_them_where_such_commands_stand():
    snapshot = a_snapshot(a_task(1, Status.FAILED), a_task(2), a_task(3, Status.FAILED))
    board = edited(STRANGER, BOT, WRITER)  # what strangers did before our own edit is gone
    snapshot, boxes = read_boxes(board, snapshot, never)
    assert boxes is not None
    said = with_boxes(snapshot, boxes, board).comments
    assert {number: comments[0].body for number, comments in said.items()} == {
        1: "/cf retry",
        3: "/cf retry",
        9: "/cf approve\n/cf stop --all",
    }
    assert {comment.author for comments in said.values() for comment in comments} == {WRITER}
    assert {comment.id for comments in said.values() for comment in comments} == {
        -int(ago(minutes=7).timestamp())
    }


@pytest.mark.parametrize("by", [(), (STRANGER,), (WRITER, STRANGER), (BOT,)])
def test_boxes_of_nobody_with_permission_do_nothing(by):
    snapshot = a_snapshot(a_task(1, Status.FAILED))
    after, boxes = read_boxes(edited(*by), snapshot, never)
    assert boxes is not None
    assert boxes.refused
    assert with_boxes(after, boxes, edited(*by)) == snapshot


def test_an_edit_in_the_second_of_our_own_counts_whichever_came_first():
    at = ago(minutes=5)
    events = [TimelineEvent(EventKind.EDITED, actor, at) for actor in (STRANGER, BOT)]
    events.append(TimelineEvent(EventKind.EDITED, WRITER, ago(minutes=4)))
    board = replace(edited(), events=tuple(events))
    _, boxes = read_boxes(board, a_snapshot(a_task(1, Status.FAILED)), never)
    assert boxes is not None
    assert boxes.refused.startswith(STRANGER.login)


def test_permissions_are_looked_up_only_when_a_box_is_ticked():
    unknown = a_snapshot(a_task(1), permissions={})
    assert read_boxes(edited(WRITER, orders=()), unknown, never) == (unknown, None)
    assert read_boxes(None, unknown, never) == (unknown, None)
    asked = []

    def look_up(snapshot, wants):
        asked.extend(wants)
        return replace(snapshot, permissions={"wendy": "admin"})

    _, boxes = read_boxes(edited(WRITER), unknown, look_up)
    assert [want.login for want in asked] == ["wendy"]
    assert boxes is not None
    assert not boxes.refused


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
