"""The batch gate: the work of the members that passed, joined and proven together, and who is to blame if it is not.

Each trial is a unit of kind `gate`, numbered and claimed like an attempt, in the record of its batch.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from bot.model.batch import BatchRecord, Search, Trial
from bot.model.decision import CancelRun, Decision, GateStart
from bot.model.record import Attempt
from bot.model.report import GateStatus, Outcome, Report
from bot.model.snapshot import Lookup
from bot.model.status import Status
from bot.model.unit import Join, Kind
from bot.notation.digests import text_digest
from bot.notation.keys import Key
from bot.plan.attempts.ending import Ending, ending_of, run_of
from bot.plan.board import Board
from bot.plan.facts.batch_controls import BatchView
from bot.plan.graph.bisect import Found, Tried, Try, next_step

_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}", re.ASCII)
_VERDICTS = (Outcome.PASSED, Outcome.FAILED)
_REASON = 120  # characters of why a trial ended
_CLOCKS = timedelta(minutes=15)  # how far our clock and GitHub's may be apart


class Joined(Struct, frozen=True):
    """The members whose work takes part, in the order of joining: those that are merged first, needs before dependents."""

    joins: tuple[Join, ...]
    merged: int
    before: datetime

    @property
    def heads(self) -> str:
        return text_digest(
            "gate", " ".join(f"{join.task}:{join.commit}" for join in sorted(self.joins, key=_number))
        )


class Gated(Struct, frozen=True):
    """The record after a look at the gate. `settled`: there is nothing to prove, or a verdict for the work as it is."""

    record: BatchRecord
    settled: bool
    start: GateStart | None = None
    cancel: CancelRun | None = None
    wants: frozenset[Lookup] = frozenset()
    due: datetime | None = None
    waits_for: str = ""


def _number(join: Join) -> int:
    return join.task


def to_be_joined(batch_view: BatchView, decided: Mapping[int, Decision], board: Board) -> Joined | None:
    """What the gate is about; None if no member has work of ours to show."""
    place = {number: index for index, number in enumerate(board.graph.topological)}
    found: list[tuple[bool, Join]] = []
    begun: list[datetime] = []
    for number in batch_view.order.tasks:
        decision = decided.get(number)
        commit = _commit_of(decision, board) if decision is not None else ""
        if decision is None or not commit:
            continue
        found.append((decision.status is Status.MERGED, Join(number, commit)))
        begun += [attempt.claimed_at for attempt in decision.record.attempts]
    if not found or not begun:
        return None
    ordered = sorted(found, key=lambda one: (not one[0], place.get(one[1].task, -1), one[1].task))
    return Joined(
        tuple(join for _, join in ordered), sum(merged for merged, _ in ordered), min(begun) - _CLOCKS
    )


def _commit_of(decision: Decision, board: Board) -> str:
    """The head of the member's own pull request: as people may have moved it, else as we published it."""
    record = decision.record
    if decision.status not in (Status.DONE, Status.MERGED) or not record.pull:
        return ""
    pulls = board.snapshot.tasks[decision.task].issue.pulls
    shown = next((pull.head_sha for pull in pulls if pull.number == record.pull), "")
    return next((commit for commit in (shown, record.head) if _COMMIT.fullmatch(commit)), "")


def look_at_gate(
    batch_view: BatchView, record: BatchRecord, joined: Joined | None, full: str, board: Board
) -> Gated:
    """Settle the trial that runs, and say what comes next. `full` says why nothing may start just now; empty if it may."""
    trial = record.trial
    if trial is not None:
        followed = _follow(batch_view, record, trial, board)
        if followed.record.trial is not None or followed.wants:
            return followed
        record = followed.record
    if not board.config.gates or joined is None:
        return Gated(record, settled=True)
    search = record.gate
    if search is None or search.heads != joined.heads:
        search = Search(tuple(join.task for join in joined.joins), joined.merged, joined.heads, joined.before)
    if search.passed is not None:
        return Gated(record, settled=True)
    if _interrupted(search) >= board.config.retry.interruptions:
        last = search.trials[-1].attempt
        reason = f"it could not be run {_interrupted(search)} times in a row: {last.reason or last.outcome}"
        return Gated(replace(record, gate=replace(search, passed=False, reason=reason)), settled=True)
    step = next_step(len(search.tasks), search.merged, _tried(search))
    if isinstance(step, Found):
        return Gated(_concluded(record, search, step), settled=True)
    if full:
        return Gated(replace(record, gate=search), settled=False, waits_for=full)
    return _started(record, search, step, joined, board)


def _follow(batch_view: BatchView, record: BatchRecord, trial: Trial, board: Board) -> Gated:
    """The record with its trial's run noted, or the trial ended."""
    now, attempt = board.snapshot.now, trial.attempt
    key = Key(batch_view.number, attempt.number)
    run = run_of(key, attempt, board.snapshot)
    grace = attempt.claimed_at + board.config.dispatch.launch_grace
    if run is None:
        if now <= grace:
            return Gated(
                record, settled=False, due=grace, waits_for=f"{key} is claimed; its run has not appeared yet"
            )
        reason = "its run was deleted" if attempt.run else "no run ever appeared"
        return Gated(_with(record, _ended(trial, Ending(Outcome.INFRA, reason), now)), settled=False)
    noted = replace(trial, attempt=replace(attempt, run=run.id))
    ending = ending_of(key, run, board.snapshot)
    if isinstance(ending, frozenset):
        return Gated(
            _with(record, noted), settled=False, wants=ending, waits_for=f"{key}: its end is being read"
        )
    if ending is not None:
        names = frozenset(gate.name for gate in board.config.gates)
        return Gated(_with(record, _ended(noted, ending, now), ending.report, names), settled=False)
    cancel, noted = _cancelled(noted, batch_view, run.id, board)
    due = noted.attempt.cancel_sent_at
    return Gated(
        _with(record, noted),
        settled=False,
        cancel=cancel,
        due=due + board.config.force_after if due and not noted.attempt.force_sent_at else None,
        waits_for=f"the batch gate runs as {key}",
    )


def _cancelled(trial: Trial, batch_view: BatchView, run: int, board: Board) -> tuple[CancelRun | None, Trial]:
    """A stop by force ends the gate, too, and after the grace once more by force."""
    attempt, now = trial.attempt, board.snapshot.now
    if not batch_view.forced_end:
        return None, trial
    if attempt.cancel_sent_at is None:
        return CancelRun(run), replace(trial, attempt=replace(attempt, cancel_sent_at=now))
    if attempt.force_sent_at is None and now - attempt.cancel_sent_at >= board.config.force_after:
        return CancelRun(run, force=True), replace(trial, attempt=replace(attempt, force_sent_at=now))
    return None, trial


def _ended(trial: Trial, ending: Ending, now: datetime) -> Trial:
    conflict = ending.report.misfit if ending.report and ending.outcome is Outcome.FAILED else 0
    attempt = replace(
        trial.attempt,
        outcome=ending.outcome,
        reason=(ending.reason or str(ending.outcome))[:_REASON],
        ended_at=now,
        minutes=ending.minutes,
    )
    return replace(trial, attempt=attempt, conflict=conflict)


def _with(
    record: BatchRecord, trial: Trial, report: Report | None = None, gates: frozenset[str] = frozenset()
) -> BatchRecord:
    """The record with its newest trial replaced, and with what its report brings for the whole search.

    `gates` are the configured ones, by name; no other name in a report counts.
    """
    search = record.gate
    assert search is not None, "a trial belongs to a search"
    changes: dict[str, object] = {"trials": (*search.trials[:-1], trial)}
    if report is not None:
        base = report.base if _COMMIT.fullmatch(report.base) else ""
        changes["base"] = search.base or (base if not trial.old else "")
        tails = [
            f"{gate.name}:\n{gate.tail}"
            for gate in report.gates
            if gate.status is not GateStatus.PASSED and gate.tail
        ]
        failing = (gate.name for gate in report.gates if gate.status is not GateStatus.PASSED)
        changes["failing"] = search.failing or tuple(dict.fromkeys(name for name in failing if name in gates))
        if not search.log and tails:
            changes["log"] = "\n\n".join(tails)[-4_000:]
    return replace(record, gate=replace(search, **changes))


def _tried(search: Search) -> list[Tried]:
    ended = [trial for trial in search.trials if trial.attempt.outcome in _VERDICTS]
    return [
        Tried(
            trial.joined,
            trial.old,
            trial.attempt.outcome is Outcome.PASSED,
            search.tasks.index(trial.conflict) + 1 if trial.conflict in search.tasks else 0,
        )
        for trial in ended
    ]


def _interrupted(search: Search) -> int:
    """How many trials in a row have shown nothing."""
    count = 0
    for trial in reversed(search.trials):
        if trial.attempt.outcome in _VERDICTS:
            break
        count += 1
    return count


def _concluded(record: BatchRecord, search: Search, found: Found) -> BatchRecord:
    if found.green:
        return replace(record, gate=replace(search, passed=True, failing=(), log=""))
    guilty = search.tasks[found.guilty - 1] if found.guilty else 0
    blames = dict(record.blames)
    if guilty:
        blames[guilty] = blames.get(guilty, 0) + 1
    return replace(
        record, blames=blames, gate=replace(search, passed=False, guilty=guilty, reason=found.reason)
    )


def _started(record: BatchRecord, search: Search, step: Try, joined: Joined, board: Board) -> Gated:
    commits = {join.task: join.commit for join in joined.joins}
    tasks: Sequence[int] = search.tasks[: step.joined]
    chosen = [task for place, task in enumerate(tasks) if step.old or place >= search.merged]
    attempt = Attempt(record.next_gate, Kind.GATE, board.snapshot.now, Status.READY, "")
    search = replace(search, trials=(*search.trials, Trial(attempt, step.joined, step.old)))
    return Gated(
        replace(record, gate=search, next_gate=record.next_gate + 1),
        settled=False,
        start=GateStart(
            attempt.number,
            tuple(Join(task, commits[task]) for task in chosen),
            base="" if step.old else search.base,
            before=search.before if step.old else None,
        ),
        due=board.snapshot.now + board.config.dispatch.launch_grace,
        waits_for="the batch gate starts",
    )
