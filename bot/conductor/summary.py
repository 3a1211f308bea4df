"""What a tick tells: the job summary for people, and the Action's outputs for workflows."""

import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from bot.conductor.tick import Tick
from bot.model.decision import Decision, Verb
from bot.model.status import Status
from bot.notation.quoting import quote_line
from bot.plan.labels import statuses_of

_GRAPH_MOST = 80  # nodes; a larger picture is unreadable


def counts(tick: Tick) -> Mapping[str, int]:
    """How many tasks are ready to start, running, waiting, blocked and failed."""
    found: Counter[str] = Counter()
    for decision in tick.plan.decisions:
        found[_group(decision)] += 1
    return {name: found[name] for name in ("ready", "running", "waiting", "blocked", "failed")}


def _group(decision: Decision) -> str:
    if decision.record.live is not None:
        return "running"
    if decision.status is Status.READY:
        return "waiting" if decision.verb is Verb.HOLD else "ready"
    return {Status.BLOCKED: "blocked", Status.FAILED: "failed"}.get(decision.status or Status.DONE, "other")


def headline(tick: Tick) -> str:
    """One line: whether anything can start, and if not, why."""
    return " ".join(_headline(tick).split())


def _headline(tick: Tick) -> str:
    started = len(tick.effects.started)
    if started:
        return f"{started} started"
    found = counts(tick)
    if tick.seen.snapshot.standstill:
        return tick.seen.snapshot.standstill
    if found["ready"]:
        return f"{found['ready']} can start at the next tick"
    held = [
        decision
        for decision in tick.plan.decisions
        if decision.status is Status.READY and decision.verb is Verb.HOLD
    ]
    if held:
        return f"nothing can start: {Counter(decision.reason for decision in held).most_common(1)[0][0]}"
    return f"nothing can start: {found['running']} running, no task is ready"


def outputs(tick: Tick) -> Mapping[str, str]:
    """The Action's outputs, as docs/action.md describes them; every value is one line."""
    found = counts(tick)
    may_start = found["ready"] and not tick.seen.snapshot.standstill
    return {
        **{name: str(number) for name, number in found.items()},
        "can_start": str(bool(tick.effects.started or may_start)).lower(),
        "has-work": str(bool(found["ready"] or found["running"] or tick.effects.started)).lower(),
        "reason": headline(tick),
        "events": json.dumps([_event(item) for item in tick.plan.decisions if _happened(item, tick)]),
    }


def _happened(decision: Decision, tick: Tick) -> bool:
    return decision.verb not in (Verb.HOLD, Verb.RUNNING) and decision.task not in tick.effects.skipped


def _event(decision: Decision) -> Mapping[str, object]:
    """Numbers and words of ours only: reasons may quote people."""
    return {"task": decision.task, "decision": decision.verb, "status": decision.status}


def markdown(tick: Tick, next_look: datetime | None) -> str:
    """The job summary: headline, a row for each task with its reason, the graph of needs."""
    parts = [f"### cf: {quote_line(headline(tick))}"]
    if tick.plan.cycles:
        members = sum(len(set(cycle)) for cycle in tick.plan.cycles)
        parts.append(f"Cycle members: {members}. Held behind cycles: {len(tick.plan.behind_cycles)}.")
    if tick.plan.decisions:
        rows = [_row(decision, tick) for decision in tick.plan.decisions]
        parts.append("\n".join(["| task | status | decision | reason |", "|---|---|---|---|", *rows]))
    graph = mermaid(tick)
    if graph:
        parts.append(graph)
    parts += [f"- {remark}" for remark in remarks(tick)]
    if next_look is not None:
        parts.append(f"Something is due at {next_look:%H:%M:%S} UTC.")
    return "\n\n".join(parts) + "\n"


def remarks(tick: Tick) -> list[str]:
    """What people should know beside the decisions: refused writes, labels on pull requests, status labels put right."""
    refused = [f"GitHub refused a write: {quote_line(problem)}" for problem in tick.effects.refused]
    pulls = [
        f"label on a pull request ignored: #{issue.number}"
        for issue in tick.seen.view.issues
        if issue.is_pull
    ]
    return [*refused, *pulls, *_repairs(tick)]


def _repairs(tick: Tick) -> list[str]:
    snapshot = tick.seen.snapshot
    found = []
    for decision in tick.plan.decisions:
        present = statuses_of(snapshot.tasks[decision.task], snapshot)
        if len(present) > 1:
            kept = decision.status or "none of them"
            found.append(f"#{decision.task} had the status labels {' and '.join(present)}: {kept} counts")
    return found


def _row(decision: Decision, tick: Tick) -> str:
    title = quote_line(tick.seen.snapshot.tasks[decision.task].issue.title, 60)
    why = tick.effects.skipped.get(decision.task, decision.reason)
    return f"| #{decision.task} {title} | {decision.status or '–'} | {decision.verb} | {quote_line(why)} |"


def mermaid(tick: Tick) -> str:
    """The needs between tracked tasks as a Mermaid graph, coloured by status; empty if there are none or too many."""
    tasks = tick.seen.snapshot.tasks
    home = tick.seen.view.repository.full_name.lower()
    edges = [
        (need.number, number)
        for number, task in tasks.items()
        for need in task.needs
        if need.repository == home and need.number in tasks
    ]
    nodes = sorted({node for edge in edges for node in edge})
    if not edges or len(nodes) > _GRAPH_MOST:
        return ""
    status = {decision.task: decision.status for decision in tick.plan.decisions}
    lines = ["```mermaid", "graph LR"]
    lines += [f'  t{node}["#{node} {status.get(node) or ""}"]' for node in nodes]
    lines += [f"  t{need} --> t{child}" for need, child in sorted(edges)]
    return "\n".join([*lines, "```"])
