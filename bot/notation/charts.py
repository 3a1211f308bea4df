"""Pictures in Mermaid, which GitHub draws: a graph of needs, and a Gantt chart. Numbers and words of ours only."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from bot.model.batch import Bar

_NODES_MOST = 80  # a larger picture is unreadable
_BARS_MOST = 80
_COLOURS = {
    "merged": "#6f42c1",
    "done": "#5319e7",
    "failed": "#b60205",
    "blocked": "#d93f0b",
    "in-progress": "#fbca04",
    "ready": "#0e8a16",
}


def needs_graph(edges: Sequence[tuple[int, int]], status: Mapping[int, str]) -> str:
    """Edges are need and dependent. Empty if there are none, or too many nodes to be read."""
    nodes = sorted({node for edge in edges for node in edge})
    if not edges or len(nodes) > _NODES_MOST:
        return ""
    lines = ["```mermaid", "graph LR"]
    lines += [f'  t{node}["#{node} {status.get(node, "")}"]'.replace(' "]', '"]') for node in nodes]
    lines += [f"  t{need} --> t{child}" for need, child in sorted(edges)]
    for name, colour in _COLOURS.items():
        coloured = ",".join(f"t{node}" for node in nodes if status.get(node) == name)
        if coloured:
            kind = name.replace("-", "")
            lines += [f"  classDef {kind} stroke:{colour},stroke-width:3px", f"  class {coloured} {kind}"]
    return "\n".join([*lines, "```"])


def gantt(bars: Sequence[Bar]) -> str:
    """What ran and what is expected to run, by the clock in UTC; a bar is at least a minute long. Empty without bars, or with
    too many.
    """
    if not bars or len(bars) > _BARS_MOST:
        return ""
    lines = ["```mermaid", "gantt", "  dateFormat YYYY-MM-DDTHH:mm", "  axisFormat %H:%M"]
    for number, bar in enumerate(bars):
        kind = f"{bar.kind}, " if bar.kind else ""
        end = max(bar.end, bar.begin + timedelta(minutes=1))
        lines.append(f"  task {bar.task} :{kind}b{number}, {bar.begin:%Y-%m-%dT%H:%M}, {end:%Y-%m-%dT%H:%M}")
    return "\n".join([*lines, "```"])
