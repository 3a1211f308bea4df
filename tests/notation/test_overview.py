"""An overview in words: every section of the dashboard, its boxes, bounds, and the graph of needs."""

from datetime import timedelta

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from bot.conductor.tell.summary import overview
from bot.model.overview import Overview, Standing
from bot.model.record import Blocker
from bot.model.report import Outcome, Question
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.overview import (
    BODY_MOST,
    GRAPH_MOST,
    dashboard_text,
    gantt_text,
    graph_text,
    overview_lines,
    plain_dashboard,
    same_but_time,
    ticked,
)
from bot.notation.state import State, fitting, read_state, write_state
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


def told(standings=(), section="waiting", **fields):
    return Overview(reason="why", **({section: tuple(standings)} | fields))


def dashboard(overview, state=None, **fields):
    return dashboard_text(overview, state or State(NOW), "cf", NOW, **({"paused": False} | fields))


@pytest.mark.parametrize(
    ("standing", "line"),
    [
        (Standing(1), "- #1"),
        (Standing(1, "why not"), "- #1 why not"),
        (Standing(1, "w" * 200), f"- #1 {'w' * 160} … (cut)"),
        (Standing(1, key="cf-1-1"), "- #1 `cf-1-1`"),
        (Standing(1, key="cf-1-1", run=900), "- #1 [`cf-1-1`](../actions/runs/900)"),
        (Standing(1, pull=70), "- #1 → #70"),
        (Standing(1, at=NOW), "- #1 (2026-03-02 12:00 UTC)"),
        (
            Standing(1, "passed", "cf-1-1", 900, Kind.CODE, 70, NOW, 4.4),
            "- #1 [`cf-1-1`](../actions/runs/900) 4 min passed (2026-03-02 12:00 UTC) → #70",
        ),
    ],
)
def test_a_line_says_what_is_known(standing, line):
    assert line in dashboard(told([standing])).splitlines()


@pytest.mark.parametrize(("count", "listed"), [(40, 40), (41, 40)])
def test_a_section_lists_forty_and_counts_the_rest(count, listed):
    lines = dashboard(told(Standing(number) for number in range(1, count + 1))).splitlines()
    assert f"### Waiting ({count})" in lines
    assert sum(line.startswith("- #") for line in lines) == listed
    assert ("- and 1 more, not listed here" in lines) is (count > listed)


def test_the_sections_stand_in_their_order_and_empty_ones_are_left_out():
    one = (Standing(1),)
    names = ("blocked", "failed", "review", "ready", "waiting", "recent")
    running = (Standing(1, kind=Kind.GATE), Standing(2, kind=Kind.CODE))
    full = replace(told(), running=running, **dict.fromkeys(names, one))
    heads = [line for line in dashboard(full).splitlines() if line.startswith("### ")]
    assert heads == [
        "### Running (1)",
        "### Running: gate (1)",
        "### Blocked (1)",
        "### Failed (1)",
        "### Waiting for review (1)",
        "### Ready (1)",
        "### Waiting (1)",
        "### Recently ended (1)",
        "### Orders",
        "### Settings in force",
    ]
    plain = [line for line in dashboard(told()).splitlines() if line.startswith("### ")]
    assert plain == ["### Orders", "### Settings in force"]


def test_what_fits_exactly_is_shown_whole_and_else_the_sections_get_shorter():
    """Forty lines, fifteen, five, none; the graph goes with the last."""
    edges = ((1, 2),)
    standings = [Standing(number, "w" * 150) for number in range(1, 51)]
    whole = told(standings, edges=edges)
    size = len(dashboard(whole)) - len(write_state(State(NOW))) - 2

    def shown(room):
        least = len(write_state(State(NOW, paused_for="x"))) - 1
        text = dashboard(whole, State(NOW, paused_for="x" * (BODY_MOST - room - least)))
        return sum(line.startswith("- #") for line in text.splitlines()), "```mermaid" in text

    assert shown(size) == (40, True)
    assert shown(size - 1) == (15, True)
    assert shown(2_900) == (5, True)
    assert shown(1_000) == (0, False)


def test_a_box_for_pause_or_for_going_on():
    for paused, box in ((False, PAUSE), (True, UNPAUSE)):
        boxes = [line for line in dashboard(told(), paused=paused).splitlines() if line.startswith("- [ ]")]
        assert len(boxes) == 4
        assert boxes[0] == f"- [ ] {box}"


def test_a_ticked_box_is_an_order():
    text = dashboard(told())
    assert ticked(text) == ()
    assert ticked(text.replace("- [ ]", "- [x]")) == ("pause", "approve", "retry", "stop --all")
    assert ticked(f"- [X] {UNPAUSE} \n- [x] Something else\n- [y] {PAUSE}") == ("unpause",)


def test_the_time_alone_is_no_difference():
    one = dashboard(told())
    later = dashboard_text(told(), State(NOW), "cf", NOW + timedelta(hours=1), paused=False)
    assert one != later
    assert same_but_time(one, later)
    assert not same_but_time(one, dashboard(told([Standing(1)])))


def test_a_plain_dashboard_keeps_the_memory_and_the_kill_switch():
    text = plain_dashboard(State(NOW), "bot")
    assert text.startswith(
        "Please leave this issue open: the conductor keeps its place here. The label `bot:pause` on it"
    )
    assert text.endswith(f"\n\n{write_state(State(NOW))}")


def test_a_few_lines_name_five_of_a_section():
    def lines(count):
        return list(overview_lines(told(Standing(number, f"w{number}") for number in range(1, count + 1))))

    assert lines(5)[2] == "Waiting: #1 (w1); #2 (w2); #3 (w3); #4 (w4); #5 (w5)"
    assert lines(7)[2].endswith("#5 (w5); and 2 more")
    assert len(lines(0)) == 2
    assert list(overview_lines(told([Standing(1, "x" * 99)])))[2] == f"Waiting: #1 ({'x' * 80} … (cut))"


@pytest.mark.parametrize("section", ["failed", "ready", "recent"])
def test_other_sections_are_counted_only(section):
    assert len(list(overview_lines(told([Standing(1)], section)))) == 2


def test_the_chart_shows_what_runs_and_what_ended():
    running = (Standing(3, key="cf-3-1", at=ago(minutes=20)), Standing(4, key="cf-4-1"))
    recent = (
        Standing(1, "passed", "cf-1-1", at=ago(minutes=30), minutes=10.0),
        Standing(2, "failed", "cf-2-1", at=ago(minutes=40), minutes=5.0),
        Standing(5, "refused", "cf-5-1", at=ago(minutes=50)),
    )
    assert gantt_text(Overview(reason="", running=running, recent=recent), NOW).splitlines() == [
        "```mermaid",
        "gantt",
        "  dateFormat YYYY-MM-DDTHH:mm:ss",
        "  axisFormat %H:%M",
        "  cf-2-1 failed :crit, 2026-03-02T11:15:00, 2026-03-02T11:20:00",
        "  cf-1-1 passed :done, 2026-03-02T11:20:00, 2026-03-02T11:30:00",
        "  cf-3-1 running :active, 2026-03-02T11:40:00, 2026-03-02T12:00:00",
        "```",
    ]
    assert gantt_text(Overview(reason="", running=running), NOW) == ""
    assert gantt_text(Overview(reason="", running=running[:1], recent=recent[:1]), NOW) != ""
    many = tuple(replace(recent[0], task=number) for number in range(1, 40))
    assert gantt_text(Overview(reason="", recent=many), NOW).count("passed") == 30


def test_the_graph_draws_what_runs_first_then_what_failed_waits_or_is_ready():
    wide = tuple((1, number) for number in range(2, 70))
    statuses = dict.fromkeys(range(1, 70), Status.BACKLOG) | {
        66: Status.READY,
        67: Status.BLOCKED,
        68: Status.FAILED,
        69: Status.IN_PROGRESS,
    }
    drawing = graph_text(Overview(reason="", edges=wide, statuses=statuses))
    shown = [line.strip().split("[")[0] for line in drawing.splitlines() if "[" in line]
    assert shown == [*(f"t{number}" for number in range(1, 57)), "t66", "t67", "t68", "t69"]
    assert drawing.endswith("\n_9 more tasks with needs are not drawn._")
    sixty = Overview(reason="", edges=tuple((1, number) for number in range(2, 61)))
    assert "not drawn" not in graph_text(sixty)
    assert '  t1["#1 "]' in graph_text(sixty).splitlines()
