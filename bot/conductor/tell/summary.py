"""What a tick tells: the job summary for people, and the Action's outputs for workflows."""

from collections.abc import Mapping
from datetime import datetime

from bot.conductor.tick import Tick
from bot.model.decision import Decision
from bot.model.event import Event
from bot.model.overview import Overview
from bot.notation.bounds import bounded
from bot.notation.events import write_events
from bot.notation.overview import gantt_text, graph_text
from bot.notation.quoting import quote_line
from bot.plan.facts.labels import statuses_of
from bot.plan.facts.obstacles import lines_of
from bot.plan.telling.events import Done, Reloaded, events_of
from bot.plan.telling.overview import overview_of

_EVENTS_MOST = 100
_ROWS_MOST = 400_000  # bytes; a tick's summary shares the file with those of the ticks after it
_REMARKS_MOST = 100_000


def overview(tick: Tick) -> Overview:
    """Where everything stands after the tick."""
    effects, snapshot = tick.effects, tick.seen.snapshot
    in_the_way = tuple(lines_of(tick.plan.obstacles, snapshot.now))
    return overview_of(snapshot, tick.plan.decisions, effects.started, effects.skipped, in_the_way)


def events(tick: Tick) -> tuple[Event, ...]:
    """What the tick made true."""
    effects = tick.effects
    done = Done(effects.started, effects.skipped, len(effects.refused), _configuration(tick))
    return events_of(tick.seen.snapshot, tick.plan, done)


def _headlines(tick: Tick) -> tuple[Event, ...]:
    """Without an agent's steps: they are many, GitHub takes a megabyte of outputs, and the record of the tick holds them."""
    return tuple(event for event in events(tick) if not event.event.startswith("agent."))


def _configuration(tick: Tick) -> Reloaded:
    state, now = tick.seen.state, tick.seen.view.config_blob
    if tick.seen.misconfigured:
        return Reloaded.SAME if state is not None and state.rejected == now else Reloaded.REJECTED
    known = state is None or state.config_blob == tick.seen.snapshot.config.blob
    return Reloaded.SAME if known else Reloaded.RELOADED


def outputs(tick: Tick) -> Mapping[str, str]:
    """The Action's outputs, as docs/action.md describes them; every value is one line."""
    told = overview(tick)
    found = told.counts
    return {
        **{name: str(number) for name, number in found.items()},
        "can_start": str(told.can_start).lower(),
        "has-work": str(bool(found["ready"] or found["running"] or told.started)).lower(),
        "reason": told.reason,
        "events": write_events(_headlines(tick)),
    }


def markdown(tick: Tick, next_look: datetime | None) -> str:
    """The job summary: headline, a row for each task with its reason, what happened, the graph of needs, and times."""
    told, happened = overview(tick), _headlines(tick)
    counts = ", ".join(f"{number} {name}" for name, number in told.counts.items())
    parts = [f"### cf: {quote_line(told.reason)}", counts]
    parts += [f"In the way: {line}" for line in told.in_the_way]
    if tick.plan.cycles:
        members = sum(len(set(cycle)) for cycle in tick.plan.cycles)
        parts.append(f"Cycle members: {members}. Held behind cycles: {len(tick.plan.behind_cycles)}.")
    if tick.plan.decisions:
        rows = bounded(
            [_row(decision, tick) for decision in tick.plan.decisions], _ROWS_MOST, "| {} more | | | |"
        )
        parts.append("\n".join(["| task | status | decision | reason |", "|---|---|---|---|", *rows]))
    if happened:
        lines = [f"- `{event.event}`{_where(event)}" for event in happened]
        rest = [f"- {len(lines) - _EVENTS_MOST} more"] if len(lines) > _EVENTS_MOST else []
        parts.append("\n".join([*lines[:_EVENTS_MOST], *rest]))
    parts += [picture for picture in (graph_text(told), gantt_text(told, tick.seen.snapshot.now)) if picture]
    parts += bounded([f"- {remark}" for remark in remarks(tick)], _REMARKS_MOST, "- {} more remarks")
    if next_look is not None:
        parts.append(f"Something is due at {next_look:%H:%M:%S} UTC.")
    return "\n\n".join(parts) + "\n"


def _where(event: Event) -> str:
    parts = [f"#{event.task}" if event.task else "", f"`{event.key}`" if event.key else "", event.reason]
    return "".join(f" {part}" for part in parts if part)


def remarks(tick: Tick) -> list[str]:
    """What people should know beside the decisions: refused writes, labels on pull requests, repairs, keys without effect."""
    refused = [f"GitHub refused a write: {quote_line(problem)}" for problem in tick.effects.refused]
    refused += [
        f"GitHub takes no comment on #{task}: {quote_line(words)}"
        for task, words in tick.effects.unwritten.items()
    ]
    pulls = [
        f"label on a pull request ignored: #{issue.number}"
        for issue in tick.seen.view.issues
        if issue.is_pull
    ]
    boxes = tick.seen.boxes
    unobeyed = [f"ticked boxes do not count: {quote_line(boxes.refused)}"] if boxes and boxes.refused else []
    false = [
        f"#{issue.number} is labelled {tick.seen.snapshot.config.label('dashboard')} and is not the conductor's: it is ignored"
        for issue in tick.seen.conducts.ignored
    ]
    warnings = (quote_line(words) for words in tick.seen.snapshot.config.warnings)
    return [*refused, *pulls, *unobeyed, *false, *_repairs(tick), *warnings]


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
