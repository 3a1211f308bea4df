"""Pictures in Mermaid: the needs of a batch by status, and its time."""

from datetime import timedelta

from bot.model.batch import Bar
from bot.notation.charts import gantt, needs_graph
from tests.builders import NOW


def test_needs_point_at_their_dependents_and_a_status_has_a_colour():
    assert needs_graph([(2, 3), (1, 3)], {1: "in-progress", 2: "done", 3: ""}).splitlines() == [
        "```mermaid",
        "graph LR",
        '  t1["#1 in-progress"]',
        '  t2["#2 done"]',
        '  t3["#3"]',
        "  t1 --> t3",
        "  t2 --> t3",
        "  classDef done stroke:#5319e7,stroke-width:3px",
        "  class t2 done",
        "  classDef inprogress stroke:#fbca04,stroke-width:3px",
        "  class t1 inprogress",
        "```",
    ]


def test_without_needs_or_with_too_many_there_is_no_picture():
    assert needs_graph([], {}) == ""
    assert needs_graph([(number, number + 1) for number in range(1, 80)], {}) != ""
    assert needs_graph([(number, number + 1) for number in range(1, 81)], {}) == ""


def test_a_bar_is_at_least_a_minute_long():
    bars = [Bar(12, NOW, NOW + timedelta(minutes=12), "done"), Bar(14, NOW, NOW)]
    assert gantt(bars).splitlines() == [
        "```mermaid",
        "gantt",
        "  dateFormat YYYY-MM-DDTHH:mm",
        "  axisFormat %H:%M",
        "  task 12 :done, b0, 2026-03-02T12:00, 2026-03-02T12:12",
        "  task 14 :b1, 2026-03-02T12:00, 2026-03-02T12:01",
        "```",
    ]


def test_without_bars_or_with_too_many_there_is_no_chart():
    assert gantt([]) == ""
    assert gantt([Bar(number, NOW, NOW) for number in range(80)]) != ""
    assert gantt([Bar(number, NOW, NOW) for number in range(81)]) == ""


def test_each_status_has_its_colour():
    statuses = ("merged", "done", "failed", "blocked", "in-progress", "ready", "backlog")
    text = needs_graph([(number, 8) for number in range(1, 8)], dict(enumerate(statuses, 1)))
    colours = [line.split()[1:] for line in text.splitlines() if "classDef" in line]
    assert [(name, style.split(":")[1].split(",")[0]) for name, style in colours] == [
        ("merged", "#6f42c1"),
        ("done", "#5319e7"),
        ("failed", "#b60205"),
        ("blocked", "#d93f0b"),
        ("inprogress", "#fbca04"),
        ("ready", "#0e8a16"),
    ]
