"""An overview in words: the dashboard's body with its boxes, the lines of `/cf status`, and the graph of needs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from bot.model.overview import Overview, Standing
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.quoting import quote_line
from bot.notation.state import State, write_state

BODY_MOST = 65_000  # characters; GitHub takes 65,536
GRAPH_MOST = 60  # nodes; a larger picture is unreadable
_BARS_MOST = 30  # bars of a Gantt chart
_LISTED = 40  # lines of one section, while there is room
_NEEDED = "Please leave this issue open: the conductor keeps its place here."

# A box that is ticked is the order beside it, given by whoever edited the issue.
BOXES: Mapping[str, str] = {
    "Pause: nothing new starts, running work finishes": "pause",
    "Go on: take the pause away": "unpause",
    "Approve the whole backlog": "approve",
    "Try every failed task again": "retry",
    "Stop every run, now": "stop --all",
}
_LOGIN = re.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_BOX = re.compile(r"^- \[([xX])\] (.{1,80})$", re.MULTILINE)
_AT = re.compile(r"^_As of .{1,40}_$", re.MULTILINE)


def ticked(body: str) -> tuple[str, ...]:
    """The orders whose boxes are ticked, in the order of the table."""
    found = {text.strip() for _, text in _BOX.findall(body)}
    return tuple(order for text, order in BOXES.items() if text in found)


def overview_lines(overview: Overview) -> Iterator[str]:
    """The overview in a few lines of Markdown, as a reply: one line whether anything can start, then what there is."""
    yield f"**{quote_line(overview.reason)}**"
    yield ", ".join(f"{number} {name}" for name, number in overview.counts.items())
    yield from (f"In the way: {line}" for line in overview.in_the_way)
    for name, standings in _sections(overview):
        if standings and name.startswith(("Running", "Waiting", "Blocked")):
            yield (
                f"{name}: " + "; ".join(_inline(standing) for standing in standings[:5]) + _more(standings, 5)
            )


def dashboard_text(overview: Overview, state: State, prefix: str, at: datetime, *, paused: bool) -> str:
    """The dashboard's body, within what GitHub takes: long sections are cut, the graph goes, and what is left out is said."""
    asked = _asks(state, prefix)
    memory = f"{asked}\n\n{write_state(state)}" if asked else write_state(state)
    bodies = (_body(overview, prefix, at, paused, most) for most in (_LISTED, 15, 5))
    room = BODY_MOST - len(memory)
    text = next((body for body in bodies if len(body) <= room), _body(overview, prefix, at, paused, 0))
    return f"{text}\n\n{memory}"


def plain_dashboard(state: State, prefix: str) -> str:
    """The body where `dashboard: false` wants no more than a place for the memory and the kill switch."""
    asks = f"{asked}\n\n" if (asked := _asks(state, prefix)) else ""
    return f"{asks}{_NEEDED} The label `{prefix}:pause` on it holds every start.\n\n{write_state(state)}"


def moved_dashboard(successor: int) -> str:
    """The body of a dashboard that has been replaced: it holds no memory any more, so nobody goes by it."""
    return f"This is not the dashboard any more: #{successor} is. A pause that was set here stands there."


def same_but_time(one: str, other: str) -> bool:
    """Whether two bodies tell the same: the time alone is no reason to write."""
    return _AT.sub("", one) == _AT.sub("", other)


def _asks(state: State, prefix: str) -> str:
    """Whom a pause that nobody set asks to look, and how it ends; empty if there is none."""
    pause = state.pause
    if pause is None or not pause.why:
        return ""
    who = f"@{pause.by}: " if _LOGIN.fullmatch(pause.by) else ""
    return (
        f"{who}everything is paused, because {pause.why}. What runs goes on. To let work start again, take the label"
        f" `{prefix}:pause` away from this issue, or tick the box above it; whoever may order work can."
    )


def _body(overview: Overview, prefix: str, at: datetime, paused: bool, most: int) -> str:
    counts = ", ".join(f"{number} {name}" for name, number in overview.counts.items())
    parts = [
        f"**{quote_line(overview.reason)}** ({counts})",
        f"_As of {at:%Y-%m-%d %H:%M:%S} UTC_",
        f"{_NEEDED} Ticks that change nothing do not rewrite it. The label `{prefix}:pause` on it holds every start.",
    ]
    if overview.in_the_way:
        parts.append("\n".join(["### In the way\n", *(f"- {line}" for line in overview.in_the_way)]))
    for name, standings in _sections(overview):
        if standings:
            parts.append(f"### {name} ({len(standings)})")
            lines = [_line(standing) for standing in standings[:most]]
            parts.append(
                "\n".join([*lines, *([_left_out(standings, most)] if len(standings) > most else [])])
            )
    parts.append(
        "### Orders\n\nA tick in a box is an order by whoever set it; the box is empty again once it was read."
    )
    hidden = "pause" if paused else "unpause"
    parts.append("\n".join(f"- [ ] {text}" for text, order in BOXES.items() if order != hidden))
    rows = [f"| {name} | {quote_line(value)} |" for name, value in overview.settings]
    parts.append("\n".join(["### Settings in force\n", "| | |", "|---|---|", *rows]))
    if most and (graph := graph_text(overview)):
        parts.append(f"### Needs\n\n{graph}")
    return "\n\n".join(parts)


def _sections(overview: Overview) -> Iterator[tuple[str, Sequence[Standing]]]:
    kinds = {standing.kind for standing in overview.running}
    for kind in Kind:
        if kind in kinds:
            name = "Running" if kind is Kind.CODE else f"Running: {kind}"
            yield name, [standing for standing in overview.running if standing.kind is kind]
    yield "Blocked", overview.blocked
    yield "Failed", overview.failed
    yield "Waiting for review", overview.review
    yield "Ready", overview.ready
    yield "Waiting", overview.waiting
    yield "Recently ended", overview.recent


def _line(standing: Standing) -> str:
    parts = [f"- #{standing.task}"]
    if standing.key:
        key = f"`{standing.key}`"
        parts.append(f"[{key}](../actions/runs/{standing.run})" if standing.run else key)
    if standing.minutes:
        parts.append(f"{standing.minutes:.0f} min")
    if standing.words:
        parts.append(quote_line(standing.words, 160))
    if standing.at is not None:
        parts.append(f"({standing.at:%Y-%m-%d %H:%M} UTC)")
    if standing.pull:
        parts.append(f"→ #{standing.pull}")
    return " ".join(parts)


def _inline(standing: Standing) -> str:
    words = quote_line(standing.words, 80)
    return f"#{standing.task} ({words})" if words else f"#{standing.task}"


def _more(standings: Sequence[Standing], shown: int) -> str:
    return f"; and {len(standings) - shown} more" if len(standings) > shown else ""


def _left_out(standings: Sequence[Standing], shown: int) -> str:
    return f"- and {len(standings) - shown} more, not listed here"


def graph_text(overview: Overview) -> str:
    """The needs between open tasks as a Mermaid graph; empty without any. Of too many, those of what runs or failed come first."""
    edges = overview.edges
    nodes = sorted({node for edge in edges for node in edge}, key=lambda node: (_rank(overview, node), node))
    if not nodes:
        return ""
    shown = frozenset(nodes[:GRAPH_MOST])
    lines = ["```mermaid", "graph LR"]
    lines += [f'  t{node}["#{node} {overview.statuses.get(node) or ""}"]' for node in sorted(shown)]
    lines += [f"  t{need} --> t{task}" for need, task in edges if need in shown and task in shown]
    note = (
        [f"\n_{len(nodes) - len(shown)} more tasks with needs are not drawn._"]
        if len(nodes) > len(shown)
        else []
    )
    return "\n".join([*lines, "```", *note])


def gantt_text(overview: Overview, now: datetime) -> str:
    """What runs and what ended within the last day, as a Mermaid Gantt chart; empty where fewer than two bars would stand."""
    bars = [(one, one.at, now, "active") for one in overview.running if one.at is not None]
    bars += [
        (one, one.at - timedelta(minutes=one.minutes), one.at, "done" if one.words == "passed" else "crit")
        for one in overview.recent
        if one.at is not None and one.minutes
    ]
    if len(bars) < 2:
        return ""
    shown = sorted(bars[:_BARS_MOST], key=lambda bar: (bar[1], bar[0].task))
    lines = ["```mermaid", "gantt", "  dateFormat YYYY-MM-DDTHH:mm:ss", "  axisFormat %H:%M"]
    lines += [
        f"  {one.key} {one.words if mark != 'active' else 'running'} :{mark}, {start:%Y-%m-%dT%H:%M:%S}, {end:%Y-%m-%dT%H:%M:%S}"
        for one, start, end, mark in shown
    ]
    return "\n".join([*lines, "```"])


def _rank(overview: Overview, node: int) -> int:
    order = (Status.IN_PROGRESS, Status.FAILED, Status.BLOCKED, Status.READY)
    status = overview.statuses.get(node)
    return order.index(status) if status in order else len(order)
