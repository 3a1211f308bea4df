"""Which causes stand, derived from the records of all tasks: so they outlive a killed tick, and go by themselves.

An attempt that met a cause opens it, and each further one that began after the last had ended makes the next wait longer. Attempts
that ran side by side tell of the same moment. What began after the last meeting and came past the place where it is met closes it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from bot.model.cause import Cause, Met, Obstacle
from bot.model.config import Config
from bot.model.record import Attempt, Record
from bot.model.report import Outcome
from bot.model.run import Run
from bot.model.snapshot import Snapshot
from bot.model.unit import Kind
from bot.notation.keys import Key
from bot.notation.quoting import quote_line
from bot.plan.facts.causes import QUEUED_LONG, ROWS, TOGETHER, WAITS, Scope, came_past, title_of

_LONGEST = timedelta(days=8)  # what a provider names beyond this is not believed
_UNBEGUN = ("queued", "requested", "waiting", "pending")


class Seen(Struct, frozen=True):
    """One attempt of one task. `begun`: it runs, and one of its jobs began."""

    task: int
    attempt: Attempt
    begun: bool = False

    @property
    def moment(self) -> datetime:
        """When it told what it tells: at its end, or, while it lives, now."""
        return self.attempt.ended_at or datetime.max.replace(tzinfo=self.attempt.claimed_at.tzinfo)

    @property
    def key(self) -> str:
        return str(Key(self.task, self.attempt.number))


def obstacles(records: Iterable[Record], snapshot: Snapshot) -> tuple[Obstacle, ...]:
    """The causes that stand, the one met first in front. When one may be tried again is in `Obstacle.until`."""
    known = tuple(records)
    seen = _seen(known, snapshot)
    met = {
        (one.attempt.cause.cause, one.attempt.cause.key): one.attempt.cause
        for one in seen
        if one.attempt.cause
    }
    found = [_standing(cause, seen, known, snapshot) for cause in met.values()]
    standing = [one for one in found if one is not None]
    return tuple(sorted((*standing, *_unserved(seen, snapshot)), key=lambda one: (one.since, one.met.cause)))


def holds(obstacle: Obstacle, task: int, kind: Kind, engine: str, runner: str) -> bool:
    """Whether the cause would meet a unit of this kind, and holds it. `runner` are the labels it would run on."""
    row, met = ROWS[obstacle.met.cause], obstacle.met
    if kind not in row.kinds or not (
        obstacle.everybody or (task in obstacle.tasks and met.cause is not Cause.MACHINE)
    ):
        return False
    match row.scope:
        case Scope.ENGINE:
            return engine == met.key
        case Scope.RUNNER:
            return runner == met.key
        case Scope.SETUP:
            return engine in obstacle.engines
    return True


def words_of(obstacle: Obstacle) -> str:
    """The cause, and in what words it was met."""
    said = quote_line(obstacle.met.words, 200)
    return f"{title_of(obstacle.met)} ({said})" if said else title_of(obstacle.met)


def lines_of(standing: Iterable[Obstacle], now: datetime) -> Iterator[str]:
    """Each cause that counts for all, for people: what, since when, whom it met, when it is tried again, what to do."""
    for one in standing:
        if not one.everybody:
            continue
        met_by = ", ".join(f"#{task}" for task in one.tasks[:5]) + (
            " and others" if len(one.tasks) > 5 else ""
        )
        since = f"since {one.since:%Y-%m-%d %H:%M} UTC"
        yield f"{words_of(one)}, {since}; met by {met_by}; {outlook(one, now)}. {ROWS[one.met.cause].mend}"


def outlook(obstacle: Obstacle, now: datetime) -> str:
    """When, or by what, it is tried again."""
    if obstacle.met.cause is Cause.RUNNER:
        return f"{obstacle.probe} waits for it since {obstacle.since:%Y-%m-%d %H:%M} UTC"
    if obstacle.probe:
        return f"{obstacle.probe} tries it"
    if obstacle.until is not None and obstacle.until > now:
        return f"tried again at {obstacle.until:%Y-%m-%d %H:%M} UTC"
    return "tried again by the next start"


def labels_of(engine: str, config: Config) -> str:
    """The runner that an engine's attempts want, as one name."""
    own = config.engines.get(engine)
    return ", ".join(own.runner if own and own.runner else config.runner)


def waiting_since(run: Run, attempt: Attempt) -> datetime | None:
    """Since when a run waits for its first job to begin; None once one did."""
    return attempt.claimed_at if run.status in _UNBEGUN else None


def _seen(records: Sequence[Record], snapshot: Snapshot) -> list[Seen]:
    """Every attempt, and every trial of a batch gate, the oldest end first and what lives last."""
    begun = {run.id for run in snapshot.runs if run.status not in _UNBEGUN}
    found = [(record.task, attempt) for record in records for attempt in record.attempts]
    for batch in snapshot.batches:
        trials = [*(batch.record.gate.trials if batch.record.gate else ()), batch.record.trial]
        found += [(batch.number, trial.attempt) for trial in trials if trial is not None]
    seen = [Seen(task, _named(attempt), attempt.live and attempt.run in begun) for task, attempt in found]
    return sorted(seen, key=lambda one: (one.moment, one.attempt.claimed_at, one.task))


def _named(attempt: Attempt) -> Attempt:
    """Records of an earlier version name no cause beside a provider's refusal."""
    if attempt.outcome is not Outcome.CAPACITY or attempt.cause is not None or not attempt.engine:
        return attempt
    return replace(attempt, cause=Met(Cause.PROVIDER, attempt.engine, attempt.reason))


class _Streak(Struct, frozen=True):
    """The meetings of one cause since it was last known to be gone."""

    meetings: tuple[Seen, ...] = ()
    rounds: int = 0
    until: datetime | None = None

    @property
    def last(self) -> datetime | None:
        return self.meetings[-1].moment if self.meetings else None

    def with_meeting(self, one: Seen, config: Config) -> "_Streak":
        rounds = self.rounds + (self.last is None or one.attempt.claimed_at >= self.last)
        again = _again(one, rounds, config)
        return _Streak((*self.meetings, one), rounds, max(self.until or again, again))


def _standing(
    met: Met, seen: Sequence[Seen], records: Sequence[Record], snapshot: Snapshot
) -> Obstacle | None:
    streak = _streak(met, seen, snapshot.config)
    if streak.last is None:
        return None
    if met.cause is Cause.PROVIDER and streak.until is not None and streak.until <= snapshot.now:
        return None  # who comes next may try
    newest = streak.meetings[-1].attempt
    until = streak.last if _asked_anew(streak, records, snapshot) else streak.until
    return Obstacle(
        met=newest.cause or met,
        since=streak.meetings[0].moment,
        last=streak.last,
        tasks=tuple(dict.fromkeys(one.task for one in streak.meetings)),
        first=streak.meetings[0].key,
        until=until,
        everybody=_counts_for_all(streak.meetings),
        engines=tuple(sorted({one.attempt.engine for one in streak.meetings})),
        probe=_probe(met, seen, streak.last),
        rounds=streak.rounds,
    )


def _streak(met: Met, seen: Sequence[Seen], config: Config) -> _Streak:
    streak = _Streak()
    for one in seen:
        cause, last = one.attempt.cause, streak.last
        if cause is not None and (cause.cause, cause.key) == (met.cause, met.key):
            streak = streak.with_meeting(one, config)
        elif (
            last is not None
            and one.attempt.claimed_at >= last
            and _tells_of(one, met)
            and came_past(one.attempt, met, one.begun)
        ):
            streak = _Streak()
    return streak


def _tells_of(one: Seen, met: Met) -> bool:
    return ROWS[met.cause].scope is not Scope.ENGINE or one.attempt.engine == met.key


def _again(one: Seen, rounds: int, config: Config) -> datetime:
    """When it is tried again. A provider says when, or its back-off doubles; all else is tried less and less often."""
    attempt, ended = one.attempt, one.moment
    if attempt.cause is None or attempt.cause.cause is not Cause.PROVIDER:
        return ended + WAITS[min(rounds, len(WAITS)) - 1]
    if attempt.retry_after is not None:
        return min(attempt.retry_after, ended + _LONGEST)
    doubled: timedelta = config.retry.backoff * 2 ** min(rounds - 1, 20)
    return ended + min(doubled, config.retry.max_backoff)


def _counts_for_all(meetings: Sequence[Seen]) -> bool:
    if any(one.attempt.cause is not None and not one.attempt.cause.guessed for one in meetings):
        return True
    return any(
        one.task != other.task and abs(one.moment - other.moment) <= TOGETHER
        for one, other in pairwise(meetings)
    )


def _asked_anew(streak: _Streak, records: Iterable[Record], snapshot: Snapshot) -> bool:
    """Whether a person wants it tried at once, or the configuration is another than the one under which it was met last."""
    last = streak.last
    assert last is not None
    met_by = {one.task for one in streak.meetings}
    orders = [record.tried_at for record in records]
    orders += [
        record.approval.at for record in records if record.approval is not None and record.task in met_by
    ]
    changed = streak.meetings[-1].attempt.blob != snapshot.config.blob
    return changed or any(order is not None and order > last for order in orders)


def _probe(met: Met, seen: Iterable[Seen], last: datetime) -> str:
    """The attempt that tries it: alive, begun since, and of a kind that meets it."""
    row = ROWS[met.cause]
    trying = (
        one.key
        for one in seen
        if one.attempt.live
        and one.attempt.kind in row.kinds
        and one.attempt.claimed_at >= last
        and _tells_of(one, met)
    )
    return next(trying, "")


def _unserved(seen: Iterable[Seen], snapshot: Snapshot) -> Iterable[Obstacle]:
    """Runners that no machine takes: what has been queued for long is its own evidence, and its own probe."""
    runs: Mapping[int, Run] = {run.id: run for run in snapshot.runs}
    found: dict[str, Obstacle] = {}
    for one in seen:
        run, attempt = runs.get(one.attempt.run), one.attempt
        since = (
            waiting_since(run, attempt)
            if run is not None and attempt.live and attempt.kind is Kind.CODE
            else None
        )
        # What waits for an approval, or for its turn in a group, wants no machine yet.
        if since is None or run is None or run.status != "queued" or snapshot.now - since < QUEUED_LONG:
            continue
        label = labels_of(attempt.engine, snapshot.config)
        known = found.get(label)
        new = Obstacle(Met(Cause.RUNNER, label), since, snapshot.now, (one.task,), one.key, probe=one.key)
        found[label] = replace(known, tasks=(*known.tasks, one.task)) if known else new
    return found.values()
