"""Where everything stands after a plan: each task in its section, and whether anything can start."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType

from bot.model.config import Config
from bot.model.decision import Decision, Verb
from bot.model.overview import Overview, Standing
from bot.model.record import Attempt
from bot.model.snapshot import Snapshot
from bot.model.status import Status
from bot.notation.duration import write_duration
from bot.notation.keys import Key

_RECENT = timedelta(days=1)
_SECTIONS = {
    Status.BLOCKED: "blocked",
    Status.FAILED: "failed",
    Status.DONE: "review",
    Status.BACKLOG: "backlog",
}


def overview_of(
    snapshot: Snapshot,
    decisions: Sequence[Decision],
    started: Mapping[int, int] = MappingProxyType({}),
    skipped: Mapping[int, str] = MappingProxyType({}),
    in_the_way: Sequence[str] = (),
) -> Overview:
    """`started` (task -> run) and `skipped` (task -> why) say what became of the decisions, once they were carried out.

    `in_the_way` are the causes that stand, in words.
    """
    sections: dict[str, list[Standing]] = {}
    for decision in decisions:
        section = section_of(decision)
        if section:
            words = skipped.get(decision.task, decision.reason)
            standing = _standing(section, decision, words, started.get(decision.task, 0))
            sections.setdefault(section, []).append(standing)
    can_start, reason = _outlook(snapshot, decisions, len(started), sections)
    open_tasks = {number for number, task in snapshot.tasks.items() if task.issue.is_open}
    home = snapshot.repository.full_name.lower()
    return Overview(
        recent=_recent(decisions, snapshot.now - _RECENT),
        started=len(started),
        can_start=can_start,
        reason=" ".join(reason.split()),
        in_the_way=tuple(in_the_way),
        settings=_settings(snapshot.config),
        edges=tuple(
            sorted(
                {
                    (need.number, number)
                    for number in open_tasks
                    for need in snapshot.tasks[number].needs
                    if need.repository == home and need.number in open_tasks
                }
            )
        ),
        statuses={decision.task: decision.status for decision in decisions if decision.task in open_tasks},
        **{name: tuple(standings) for name, standings in sections.items()},
    )


def section_of(decision: Decision) -> str:
    """The section a task stands in; empty for one that is finished or no task any more."""
    if decision.record.live is not None:
        return "running"
    if decision.status is Status.READY:
        return "waiting" if decision.verb is Verb.HOLD else "ready"
    return _SECTIONS.get(decision.status, "") if decision.status and not decision.close else ""


def _standing(section: str, decision: Decision, words: str, started: int) -> Standing:
    record = decision.record
    live = record.live
    if section == "running" and live is not None:
        key, run = str(Key(decision.task, live.number)), live.run or started
        going = decision.verb is Verb.START or words.startswith("running as")
        plain = run and going and not live.cancelled_for
        return Standing(
            decision.task, "" if plain else words, key, run, live.kind, record.pull, live.claimed_at
        )
    if section == "blocked" and record.blocker is not None:
        return Standing(decision.task, record.blocker.question.text, at=record.blocker.asked_at)
    return Standing(decision.task, words, pull=record.pull)


def _outlook(
    snapshot: Snapshot,
    decisions: Iterable[Decision],
    started: int,
    sections: Mapping[str, Sequence[Standing]],
) -> tuple[bool, str]:
    """Whether anything was or can be started, and one line about it."""
    if started:
        return True, f"{started} started"
    if snapshot.starts_blocked_by:
        return False, snapshot.starts_blocked_by
    ready = len(sections.get("ready", ()))
    if ready:
        return True, f"{ready} can start at the next tick"
    held = Counter(
        decision.reason
        for decision in decisions
        if decision.status is Status.READY and decision.verb is Verb.HOLD and decision.record.live is None
    )
    if held:
        return False, f"nothing can start: {held.most_common(1)[0][0]}"
    return False, f"nothing can start: {len(sections.get('running', ()))} running, no task is ready"


def _recent(decisions: Iterable[Decision], since: datetime) -> tuple[Standing, ...]:
    ended = [
        (attempt.ended_at, decision.task, attempt)
        for decision in decisions
        for attempt in decision.record.attempts
        if attempt.ended_at is not None and attempt.ended_at >= since
    ]
    newest = sorted(ended, key=lambda one: (one[0], one[1]), reverse=True)
    return tuple(_ended(task, attempt) for _, task, attempt in newest)


def _ended(task: int, attempt: Attempt) -> Standing:
    key = str(Key(task, attempt.number))
    return Standing(
        task,
        str(attempt.outcome),
        key,
        attempt.run,
        attempt.kind,
        attempt.pull,
        attempt.ended_at,
        attempt.minutes,
    )


def _settings(config: Config) -> tuple[tuple[str, str], ...]:
    """What decides most about how much starts and what happens with it, as it is in force."""
    engine = config.engines.get(config.engine)
    return (
        ("engine", f"{config.engine} ({engine.model})" if engine and engine.model else config.engine),
        ("gates", ", ".join(gate.name for gate in config.gates) or "none: work stays unverified"),
        ("at once", f"{config.max_parallel}, all kinds together {config.total}"),
        ("order", config.order),
        ("attempts", f"{config.retry.max_attempts}, back-off from {write_duration(config.retry.backoff)}"),
        ("time for one", write_duration(config.timeout)),
        ("merge", config.merge),
        ("configuration", config.blob[:7] or "none: the defaults"),
    )
