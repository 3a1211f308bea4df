"""An overview in words: every section of the dashboard, its boxes, bounds, and the graph of needs."""

import pytest
from markdown_it import MarkdownIt

from bot.conductor.tell.summary import overview
from bot.model.record import Blocker
from bot.model.report import Outcome, Question
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.overview import BODY_MOST, GRAPH_MOST, dashboard_text, graph_text, overview_lines, ticked
from bot.notation.state import State, fitting, read_state
from bot.plan import plan
from bot.plan.telling.overview import overview_of
from tests.builders import (
    BOT,
    NOW,
    a_record,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    a_tick,
    ago,
    an_attempt,
    an_issue,
)

PAUSE, UNPAUSE = "Pause: nothing new starts, running work finishes", "Go on: take the pause away"


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


def test_the_graph_draws_needs_between_tracked_tasks():
    tick = a_tick(a_snapshot(a_task(1, title='x"] --> evil'), a_task(2, needs=(1, 99)), a_task(3)))
    drawing = graph_text(overview(tick))
    assert drawing.splitlines() == [
        "```mermaid",
        "graph LR",
        '  t1["#1 in-progress"]',
        '  t2["#2 ready"]',
        "  t1 --> t2",
        "```",
    ]
    assert graph_text(overview(a_tick(a_snapshot(a_task(1), a_task(2))))) == ""


def test_of_too_many_the_graph_draws_those_that_matter_and_says_how_many_are_missing():
    wide = [a_task(number, Status.BACKLOG, needs=(1,)) for number in range(2, 90)]
    failed = a_task(99, Status.FAILED, needs=(1,))
    drawing = graph_text(overview(a_tick(a_snapshot(a_task(1), *wide, failed))))
    assert "t99" in drawing
    assert drawing.count("-->") == GRAPH_MOST - 1
    assert drawing.endswith(f"_{90 - GRAPH_MOST} more tasks with needs are not drawn._")
