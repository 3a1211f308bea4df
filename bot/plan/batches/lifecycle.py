"""What becomes of each batch in this tick: begun, told, tried again, proven together, ended."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from bot.model.advice import Proposal
from bot.model.batch import (
    Bar,
    BatchRecord,
    BatchState,
    ConfigChange,
    Happening,
    Order,
    Outline,
    Result,
    Strategy,
)
from bot.model.decision import BatchStep, Decision, Notice, OpenIssue
from bot.model.issue import EventKind, TimelineEvent
from bot.model.record import Record
from bot.model.report import Outcome
from bot.model.snapshot import InferNeeds
from bot.model.status import Status
from bot.notation.batches import batch_body, bounded, counts, gate_words, results_text
from bot.notation.codec import dump
from bot.notation.comments import read_fingerprint
from bot.notation.digests import text_digest
from bot.plan.batches.gate import Gated, look_at_gate, to_be_joined
from bot.plan.batches.member_state import PASSED, MemberStates
from bot.plan.board import Board
from bot.plan.commands.consent import on_batch
from bot.plan.facts.batch_controls import BatchView
from bot.plan.graph.forecast import longest_chain, schedule, waves
from bot.plan.graph.graph import Graph
from bot.plan.graph.inference import infer
from bot.plan.graph.order import in_sequence
from bot.plan.starts.barriers import gate_barred
from bot.plan.starts.batch_turns import is_serial
from bot.plan.starts.durations import durations_of

_NOTE = 200  # characters of a sentence that the batch issue keeps
_INFERRED_MOST = 500  # edges that the batch issue holds


def follow_batches(decided: Mapping[int, Decision], board: Board) -> tuple[BatchStep, ...]:
    """One step for each batch at hand, oldest first."""
    if not board.batch_views:
        return ()
    states = MemberStates(decided, board)
    live = sum(decision.record.live is not None for decision in decided.values())
    live += sum(batch.record.trial is not None for batch in board.snapshot.batches)
    live += len(board.snapshot.orphans)
    steps = []
    for number in sorted(board.batch_views):
        step = _Batch(board.batch_views[number], decided, states, board).step(live)
        live += step.start is not None
        steps.append(step)
    return tuple(steps)


class _Batch:
    """One batch, this tick's decisions about its members, and what follows from them."""

    def __init__(
        self, batch_view: BatchView, decided: Mapping[int, Decision], states: MemberStates, board: Board
    ) -> None:
        self._batch_view = batch_view
        self._decided = decided
        self._states = states
        self._board = board
        self._now = board.snapshot.now

    def step(self, live: int) -> BatchStep:
        batch_view, batch = self._batch_view, self._batch_view.batch
        if batch.order is None:
            return self._broken()
        if batch_view.wants:
            return BatchStep(
                batch, batch.record, "who reopened it is being looked up", wants=batch_view.wants
            )
        if batch_view.turned_down:
            return self._turned_down()
        if batch_view.record.state.ended:
            return self._say_the_end(batch_view.record)
        record, wants = on_batch(batch_view, self._told(batch_view.record), self._board)
        if wants:
            return BatchStep(batch, batch_view.record, "needs are being inferred", wants=wants)
        if batch_view.stopped:
            return self._stopped(record)
        if taken := self._taken():
            return self._ended(record, BatchState.CANCELLED, taken)
        if batch_view.waits_to_be_run:
            return self._shown(record, "planned only; nothing starts")
        if batch_view.order.strategy is Strategy.AUTO and not record.inferred:
            return self._infer(record)
        record = replace(record, state=BatchState.RUNNING, started_at=record.started_at or self._now)
        return self._go_on(record, live)

    # ------------------------------------------------------------------ the course of things

    def _go_on(self, record: BatchRecord, live: int) -> BatchStep:
        tasks, states = self._batch_view.order.tasks, self._states
        if any(map(states.may_start, tasks)):
            return self._shown(record, "members run or may start", Gated(record, settled=False))
        if failed := self._to_be_tried_again(record):
            if not all(map(self._has_failed_before, failed)):
                # The round is for those whose failure was written before it begins: a tick may die between the two.
                return self._shown(record, "an extra round is about to begin", due=self._now)
            again = replace(record, rounds=record.rounds + 1, round_at=self._now)
            return self._shown(again, f"extra round {again.rounds} begins", due=self._now)
        waiting = [task for task in tasks if states.goes_on(task) and not self._has_ended(task)]
        joined = None if waiting else to_be_joined(self._batch_view, self._decided, self._board)
        gated = look_at_gate(self._batch_view, record, joined, self._full(live), self._board)
        if gated.record.trial is not None or gated.wants or not (waiting or gated.settled):
            return self._shown(gated.record, gated.waits_for, gated)
        if blamed := self._blamed(gated.record):
            opens = self._regression(gated.record, blamed)
            noted = self._noted(gated.record, [opens[1]] if opens else [])
            return self._shown(noted, f"the gate names #{blamed}", gated, opens=opens[:1], due=self._now)
        merges = [task for task in tasks if states.waits_for_merge(task)]
        if waiting or merges:
            words = "waits for answers" if any(map(states.waits_for_answer, waiting)) else "waits for merges"
            return self._shown(gated.record, words, gated)
        return self._ended(gated.record, self._verdict(gated.record))

    def _has_ended(self, task: int) -> bool:
        """For the batch gate: what is done has ended, though its pull request is open."""
        if self._states.waits_for_merge(task):
            return True
        return self._batch_view.order.end_blocked and self._states.waits_for_answer(task)

    def _to_be_tried_again(self, record: BatchRecord) -> list[int]:
        """The failed members, if there is a round left for them."""
        if record.rounds >= self._batch_view.order.max_retries:
            return []
        return [task for task in self._batch_view.order.tasks if self._status(task) is Status.FAILED]

    def _has_failed_before(self, task: int) -> bool:
        return self._board.snapshot.tasks[task].record.status is Status.FAILED

    def _full(self, live: int) -> str:
        board, pause = self._board, self._board.config.label("pause")
        if board.snapshot.starts_blocked_by:
            return board.snapshot.starts_blocked_by
        if self._batch_view.batch.issue.has_label(pause):
            return f"paused by the label `{pause}`"
        if barred := gate_barred(board):
            return barred
        return (
            f"the gate waits for a slot: limits.total is {board.config.total}"
            if live >= board.config.total
            else ""
        )

    def _blamed(self, record: BatchRecord) -> int:
        """The member that the gate has just named, as long as nothing has followed from that."""
        search = record.gate
        if search is None or search.passed is not False or not search.guilty:
            return 0
        decision = self._decided.get(search.guilty)
        if decision is None:
            return 0
        key = f"gate:{self._batch_view.number}:{search.heads}"
        if decision.status is Status.MERGED:
            return 0 if any(one.key == key for one in record.happenings) else search.guilty
        return (
            search.guilty if decision.status is Status.DONE and decision.record.blamed != search.heads else 0
        )

    def _regression(self, record: BatchRecord, task: int) -> "tuple[OpenIssue, Happening] | tuple[()]":
        """A merged member cannot go back: an issue is opened for what it broke."""
        search = record.gate
        if search is None or self._status(task) is not Status.MERGED:
            return ()
        batch = self._batch_view.number
        key = f"gate:{batch}:{search.heads}"
        body = f"The work of #{task} does not pass together with the rest of batch #{batch}.\n\n{gate_words(search)}"
        label = self._board.config.label("regression")
        opened = OpenIssue(
            key,
            f"Regression by #{task}, found by the gate of batch #{batch}",
            body,
            (label,),
        )
        return opened, Happening(key, self._now, "blame", task, "merged work fails the batch gate")

    def _verdict(self, record: BatchRecord) -> BatchState:
        found = counts(self._results())
        gate_failed = record.gate is not None and record.gate.passed is False
        if found["total"] and found["passed"] == found["total"]:
            return BatchState.PARTIAL if gate_failed else BatchState.COMPLETED
        if found["passed"]:
            return BatchState.PARTIAL
        return BatchState.FAILED if found["failed"] or found["blocked"] else BatchState.CANCELLED

    # ------------------------------------------------------------------ other ends

    def _stopped(self, record: BatchRecord) -> BatchStep:
        """Stopped: what runs finishes (by force: is ended), then the batch is over."""
        mine = [task for task in self._batch_view.order.tasks if self._is_mine(task)]
        gated = look_at_gate(self._batch_view, record, None, "stopped", self._board)
        if gated.record.trial is not None or gated.wants or any(map(self._states.runs, mine)):
            return self._shown(gated.record, "stopped; what runs finishes", gated)
        return self._ended(gated.record, BatchState.CANCELLED)

    def _is_mine(self, task: int) -> bool:
        decision = self._decided.get(task)
        return decision is not None and decision.record.batch == self._batch_view.number

    def _taken(self) -> str:
        """Why the batch cannot be: an earlier one has members of it."""
        batches = self._board.batches
        names = ", ".join(
            f"#{task} is a member of #{batches[task].number}"
            for task in self._batch_view.order.tasks
            if task in batches and batches[task].number != self._batch_view.number
        )
        if not names or not self._batch_view.owns:
            return ""
        return (
            f"**Cancelled**: {names}. A task belongs to one batch at a time; nothing was started by this one."
        )

    def _broken(self) -> BatchStep:
        batch = self._batch_view.batch
        text = f"**Stopped**: {batch.problem}. Nothing more starts by this batch; what runs finishes. Please order a new one."
        record = replace(
            batch.record, state=BatchState.CANCELLED, ended_at=batch.record.ended_at or self._now
        )
        return BatchStep(
            batch, record, batch.problem, notices=self._last_words(text), close=batch.issue.is_open
        )

    def _turned_down(self) -> BatchStep:
        text = f"This batch stays closed: {self._batch_view.turned_down}."
        return replace(
            self._shown(self._batch_view.record, self._batch_view.turned_down),
            notices=self._last_words(text),
            close=True,
        )

    def _ended(self, record: BatchRecord, state: BatchState, head: str = "") -> BatchStep:
        record = replace(record, state=state, ended_at=self._now)
        shown = self._shown(record, f"ended: {state}")
        notices = self._last_words(results_text(record, self._results(), head))
        return replace(shown, notices=notices, close=self._batch_view.batch.issue.is_open)

    def _say_the_end(self, record: BatchRecord) -> BatchStep:
        """The tick that ended it may have died before it said so, or before it closed the issue."""
        batch = self._batch_view.batch
        notices = self._last_words(results_text(record, self._results()))
        return BatchStep(batch, record, f"ended: {record.state}", notices=notices, close=batch.issue.is_open)

    def _last_words(self, text: str) -> tuple[Notice, ...]:
        """The last comment, unless one was posted since the issue was opened or reopened last."""
        batch, board = self._batch_view.batch, self._board
        reopened = [event.at for event in batch.issue.events if event.kind is EventKind.REOPENED]
        fingerprint = f"batch-end:{batch.number}" + (f":{max(reopened):%Y%m%dT%H%M%S}" if reopened else "")
        posted = any(
            comment.author.id in board.accounts and read_fingerprint(comment.body) == fingerprint
            for comment in batch.comments
        )
        by = self._batch_view.call.by if batch.order is not None else ""
        whom = f"\n\nFor @{by}, who ordered this." if by else ""
        return () if posted else (Notice(fingerprint, f"{text}{whom}"),)

    # ------------------------------------------------------------------ inference

    def _infer(self, record: BatchRecord) -> BatchStep:
        """Ask a model for needs between the members; without an answer they go one by one. The next tick begins."""
        batch_view, known = self._batch_view, self._board.snapshot
        tasks = tuple(sorted(task for task in batch_view.order.tasks if task in known.tasks))
        proposal = known.proposals.get(tasks) if tasks else Proposal()
        if proposal is None:
            wants = frozenset({InferNeeds(tasks)})
            return BatchStep(batch_view.batch, record, "needs are being inferred", wants=wants)
        merged = with_inferred(record, tasks, proposal, self._board.graph)
        return self._shown(merged, "needs are inferred", due=self._now)

    # ------------------------------------------------------------------ what is told

    def _told(self, record: BatchRecord) -> BatchRecord:
        """The record with what happened to members and to the configuration since the last look."""
        config = self._board.config.blob
        if record.config and record.config != config:
            change = ConfigChange(self._now, record.config, config)
            record = replace(record, changes=(*record.changes, change))
        record = replace(record, config=config)
        return self._noted(record, self._happenings())

    def _noted(self, record: BatchRecord, found: Iterable[Happening]) -> BatchRecord:
        known = {one.key for one in record.happenings}
        new = [one for one in found if one.key not in known]
        sums = dict(record.sums)
        for one in new:
            kind = f"{one.action} ({one.reason})" if len(one.reason) <= 60 else one.action
            sums[kind] = sums.get(kind, 0) + 1
        return replace(record, happenings=(*record.happenings, *new), sums=sums) if new else record

    def _happenings(self) -> Iterable[Happening]:
        if not self._batch_view.record.started_at:
            return
        for task in self._batch_view.order.tasks:
            decision, seen = self._decided.get(task), self._board.snapshot.tasks.get(task)
            if decision is None or seen is None:
                continue
            what = happened_to(seen.record, decision, self._result(task))
            if what is not None:
                action, reason, stamp = what
                who = _actor(seen.issue.events, self._board.accounts) if action != "requeued" else ""
                yield Happening(f"{action}:{task}:{stamp}", self._now, action, task, reason[:120], who)

    def _status(self, task: int) -> Status | None:
        decision = self._decided.get(task)
        return decision.status if decision else None

    def _result(self, task: int) -> Result:
        return self._states.result(task, self._batch_view)

    def _results(self) -> list[Result]:
        graph, order = self._board.graph, self._batch_view.order
        line = in_sequence(order.tasks, graph) if is_serial(self._batch_view) else order.tasks
        wave = waves(order.tasks, graph)
        return [
            replace(self._result(task), place=place, wave=wave.get(task, 0))
            for place, task in enumerate(line, start=1)
        ]

    def _shown(
        self,
        record: BatchRecord,
        reason: str,
        gated: Gated | None = None,
        *,
        opens: Sequence[OpenIssue] = (),
        due: datetime | None = None,
    ) -> BatchStep:
        """The step with its text, made anew only if what it shows has changed."""
        batch, results = self._batch_view.batch, self._results()
        wanted = gated or Gated(record, settled=False)
        plain = bounded(replace(record, facts=""))  # as it will be read again
        facts = text_digest(dump(plain), dump(results))
        times = [each for each in (wanted.due, due) if each is not None]
        step = BatchStep(
            batch,
            replace(record, facts=facts),
            reason,
            start=wanted.start,
            cancel=wanted.cancel,
            opens=tuple(opens),
            wants=wanted.wants,
            due=min(times, default=None),
            reopen=self._batch_view.owns and not batch.issue.is_open,
        )
        if facts == batch.record.facts:
            return step
        outline = self._outline(results)
        interval = self._batch_view.order.chosen.reconcile
        interval = self._board.config.reconcile_interval if interval is None else interval
        body = batch_body(self._batch_view.order, step.record, results, outline, interval)
        return replace(step, body=body)

    def _outline(self, results: Sequence[Result]) -> Outline:
        running = {
            result.task: live.claimed_at
            for result in results
            if (decision := self._decided.get(result.task)) and (live := decision.record.live)
        }
        done = [
            Bar(result.task, attempt.claimed_at, attempt.ended_at, "done" if result.passed else "crit")
            for result in results
            if (decision := self._decided.get(result.task)) is not None
            for attempt in decision.record.attempts
            if attempt.ended_at is not None and attempt.claimed_at >= self._batch_view.order.at
        ]
        waiting = [
            result.task
            for result in results
            if self._states.goes_on(result.task) and self._status(result.task) is Status.READY
        ]
        merges = [
            (result.pull, result.task)
            for result in self._by_needs(results)
            if self._states.waits_for_merge(result.task)
        ]
        outline = outline_of(
            self._batch_view.order, is_serial(self._batch_view), waiting, running, self._board
        )
        return replace(outline, bars=(*done, *outline.bars), merges=tuple(merges))

    def _by_needs(self, results: Sequence[Result]) -> list[Result]:
        place = {number: index for index, number in enumerate(self._board.graph.topological)}
        return sorted(results, key=lambda result: (place.get(result.task, -1), result.task))


def happened_to(before: Record, decision: Decision, result: Result) -> tuple[str, str, str] | None:
    """What from outside changed a member's course in this tick: the action, why, and what makes it this one time."""
    record, live = decision.record, before.live
    ended = record.attempts[-1] if record.attempts and live is not None else None
    if ended is not None and live is not None and ended.number == live.number:
        if ended.cancelled_for and not live.cancelled_for:
            return "killed", ended.cancelled_for, str(ended.number)
        if (
            ended.outcome in (Outcome.INFRA, Outcome.CAPACITY, Outcome.REFUSED)
            and decision.status is Status.READY
        ):
            return "requeued", "its run was lost", str(ended.number)
    if before.blocker is not None and record.blocker is None and decision.status is Status.READY:
        return "requeued", "answered", str(record.next_attempt)
    if (result.dropped or (result.passed and not result.own)) and before.status not in (*PASSED, None):
        return "skipped", "dropped" if result.dropped else "externally completed", str(record.next_attempt)
    return None


def _actor(events: Sequence[TimelineEvent], accounts: frozenset[int]) -> str:
    people = [event for event in events if event.actor.id not in accounts]
    return max(people, key=lambda event: event.at).actor.login if people else ""


def with_inferred(
    record: BatchRecord, tasks: Sequence[int], proposal: Proposal, graph: Graph[int]
) -> BatchRecord:
    """The record after a model was asked: its needs merged with those that exist, or the batch gone serial."""
    if proposal.problem:
        note = f"The needs could not be inferred, so the tasks go one after the other: {proposal.problem}"
        return replace(record, inferred=True, serial=True, inference=(note[:_NOTE],))
    found = infer(proposal.needs, {node: graph.needs(node) for node in graph.nodes}, tasks)
    needs: dict[int, tuple[int, ...]] = {}
    for task, need in found.accepted[:_INFERRED_MOST]:
        needs[task] = (*needs.get(task, ()), need)
    notes = [f"#{one.task} ← #{one.need} was dropped: {one.reason}" for one in found.dropped]
    left = len(found.accepted) - _INFERRED_MOST
    notes += [f"{left} more are too many for one batch and were dropped"] if left > 0 else []
    return replace(record, inferred=True, needs=needs, inference=tuple(notes))


def outline_of(
    order: Order, serial: bool, waiting: Sequence[int], running: Mapping[int, datetime], board: Board
) -> Outline:
    """What is to be expected: waves, the longest chain, and a simulation of what is left with the slots that there are."""
    now, graph, tasks = board.snapshot.now, board.graph, order.tasks
    durations = durations_of(board)
    limits = [
        board.config.max_parallel,
        board.config.total,
        *([order.max_parallel] if order.max_parallel else []),
    ]
    slots = 1 if serial else min(limits)
    line = in_sequence(waiting, graph) if serial else tuple(waiting)
    if not serial:
        remaining = graph.remaining(durations)
        line = tuple(
            sorted(line, key=lambda task: (-remaining.get(task, timedelta(0)).total_seconds(), task))
        )
    left = {
        task: max(durations.get(task, timedelta(0)) - (now - since), timedelta(minutes=1))
        for task, since in running.items()
    }
    plan = schedule(line, left, graph, durations, slots)
    bars = [
        Bar(task, running.get(task, now + begin), now + end, "active" if task in running else "")
        for task, (begin, end) in plan.items()
    ]
    chain, time = longest_chain(tasks, graph, durations)
    inside = frozenset(tasks)
    known = frozenset(graph.nodes)
    edges = [(need, task) for task in tasks if task in known for need in graph.needs(task) if need in inside]
    depth = waves(tasks, graph)
    end = max((now + end for _, end in plan.values()), default=None)
    return Outline(max(depth.values(), default=1), slots, chain, time, end, tuple(bars), tuple(edges))
