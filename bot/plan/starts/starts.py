"""Which ready tasks start now, in which order, and why the others do not yet."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from msgspec.structs import replace

from bot.model.decision import Decision, Notice, Start, Verb
from bot.model.engine import EngineChoice
from bot.model.issue import NeedState
from bot.model.record import Approval, Attempt, Record
from bot.model.report import Hold
from bot.model.snapshot import Snapshot
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.keys import Key
from bot.plan.attempts.running import changed_notice
from bot.plan.board import Board, Item
from bot.plan.facts.labels import set_by
from bot.plan.facts.record_edits import started_from
from bot.plan.facts.trust import Unapproved, Unknown, judge_order
from bot.plan.graph.graph import show_path
from bot.plan.graph.order import Candidate, critical_path_order, score_order
from bot.plan.starts.batch_turns import Turns
from bot.plan.starts.breaker import breakers
from bot.plan.starts.budgets import day_used_up
from bot.plan.starts.durations import candidate_of, durations_of
from bot.plan.starts.waiting import need_notices, unmet_needs


def hold_unreadable(item: Item, board: Board) -> Decision | None:  # noqa: ARG001 - every rule has this shape
    """A task whose record cannot be read is left alone and said so: guessing could start it twice.

    The decision's record stays as it was read, so that nothing is written over the comment that cannot be read.
    """
    problem = item.task.record_problem
    return Decision(item.number, Verb.HOLD, problem, item.meant.status, item.record) if problem else None


def hold_cyclic(item: Item, board: Board) -> Decision | None:
    """A task on a cycle of needs can never start; each member is told once, with its path."""
    if item.meant.status not in (Status.READY, Status.BACKLOG) or item.number not in board.cyclic:
        return None
    path = show_path(board.graph.path_through(item.number))
    text = f"This task waits for itself: {path}. Remove one of these needs; until then no member of the cycle starts."
    return board.hold(item, f"part of the cycle {path}", notices=(Notice(f"cycle:{path}", text),))


def hold_paused(item: Item, board: Board) -> Decision | None:
    """`cf:pause` on a task holds that one; what runs goes on."""
    label = board.config.label("pause")
    issue = item.task.issue
    if not issue.has_label(label):
        return None
    return board.hold(item, f"paused by the label `{label}`{set_by(issue, label, board.accounts)}")


def hold_all_starts(item: Item, board: Board) -> Decision | None:
    """Nothing starts: paused, no valid configuration, no worker workflow."""
    return board.hold(item, board.snapshot.starts_blocked_by) if board.snapshot.starts_blocked_by else None


def hold_without_agent(item: Item, board: Board) -> Decision | None:
    """An engine without its key, its model or its command line can do nothing: said here, before a runner is paid for."""
    problem = "" if item.record.republish else board.choice(item).problem
    return board.hold(item, problem) if problem else None


def hold_back_off(item: Item, board: Board) -> Decision | None:
    """After a strike a task waits until its not-before time."""
    due = item.record.not_before
    if due is None or board.snapshot.now >= due:
        return None
    return board.hold(item, f"backs off until {due:%H:%M:%S} UTC", due=due)


def hold_for_needs(item: Item, board: Board) -> Decision | None:
    """Every need must be satisfied, now."""
    unmet, wants = unmet_needs(item.task, board)
    if item.number in board.behind_cycles:
        names = ", ".join(need.words for need in unmet) or "a need"
        return board.hold(item, f"blocked by cycle: waits for {names}")
    if not unmet and not wants:
        return None
    unread = [need for need in unmet if need.state is NeedState.UNKNOWN]
    words = ", ".join(need.words for need in unread or unmet)
    reason = (
        f"need unreadable: {words}" if unread else f"waiting on {words or 'needs that are being looked up'}"
    )
    return board.hold(item, reason, notices=(*need_notices(unmet), *_warnings(item)), wants=wants)


def _warnings(item: Item) -> tuple[Notice, ...]:
    """Needs declarations that could not be read, said once each."""
    return tuple(
        Notice(f"warning:{warning}"[:200], f"A line about needs could not be read whole. {warning}")
        for warning in item.task.warnings
    )


def hold_unapproved(item: Item, board: Board) -> Decision | None:
    """Only work that somebody with permission ordered, for the text as it stands, may start."""
    verdict = judge_order(item.task, item.record, board.snapshot)
    if isinstance(verdict, Unknown):
        return board.hold(item, "who ordered it is being looked up", wants=verdict.wants)
    if not isinstance(verdict, Unapproved):
        return None
    if verdict.changed_at is not None:
        notices = (changed_notice(verdict, board),)
        return board.move(
            item, Status.BACKLOG, item.record, f"changed after approval: {verdict.reason}", notices
        )
    text = f"Not started: {verdict.reason}."
    return board.hold(item, f"not approved: {verdict.reason}", notices=(Notice("unapproved", text),))


def hold_until_called(item: Item, board: Board) -> Decision | None:
    """With `start: manual` an order approves only. An agent starts by a batch or a command, and goes on until the next order."""
    if _is_called(item.number, item.record, board):
        return None
    run = f"/{board.config.prefix} run"
    return board.hold(item, f"approved only (start: manual); it starts by `{run}` or a batch")


def _is_called(number: int, record: Record, board: Board) -> bool:
    return (
        board.config.start != "manual"
        or record.started_by_command
        or record.republish
        or number in board.batches
    )


# GitHub takes about 80 new comments and other contents a minute; each start may create a status comment, and people and
# workers write too.
STARTS_PER_TICK = 40


def start_in_order(items: Sequence[Item], decided: Mapping[int, Decision], board: Board) -> list[Decision]:
    """Start what fits the limits, the most urgent first; the rest is held with the limit's name.

    `decided` are the other tasks: each that an attempt still owns takes a slot until its run has ended.
    """
    slots = _Slots(board, [decision for decision in decided.values() if decision.record.live is not None])
    records = [*(decision.record for decision in decided.values()), *(item.record for item in items)]
    held = breakers(records, board.config)
    used_up, tomorrow = day_used_up(records, board)
    turns = Turns(items, decided, board)
    by_number = {item.number: item for item in items}
    decisions = []
    for candidate in _in_order(items, board):
        item = by_number[candidate.number]
        kind = _kind(item.record)
        until = held.get(board.choice(item).engine)
        if kind is Kind.CODE and until is not None and until > board.snapshot.now:
            reason = f"{board.choice(item).engine} takes no work until {until:%Y-%m-%d %H:%M:%S} UTC"
            decisions.append(board.hold(item, reason, due=until))
            continue
        if kind is Kind.CODE and used_up:
            decisions.append(board.hold(item, used_up, due=tomorrow))
            continue
        full = slots.refusal(item) or turns.refusal(item)
        if not full and slots.taken >= STARTS_PER_TICK:
            due = board.snapshot.now + timedelta(minutes=1)
            decisions.append(
                board.hold(item, f"starts a minute later: a tick starts at most {STARTS_PER_TICK}", due=due)
            )
        elif full:
            decisions.append(board.hold(item, full, notices=_warnings(item)))
        else:
            slots.take(item)
            turns.take(item)
            decisions.append(_start(item, board))
    return decisions


class _Slots:
    """Counts what runs against the limits; a limit of 0 is 0. All but `limits.total` are about attempts, not about publishing."""

    def __init__(self, board: Board, used: Sequence[Decision]) -> None:
        self._config = board.config
        orphans = len(board.snapshot.orphans)
        self._all = len(used) + orphans
        self._gates = sum(batch.record.trial is not None for batch in board.snapshot.batches)
        self.taken = 0
        live = [
            (board.snapshot.tasks[decision.task], attempt)
            for decision in used
            if (attempt := decision.record.live) is not None and attempt.kind is Kind.CODE
        ]
        self._attempts = len(live) + orphans
        self._by_label = {
            label: sum(task.issue.has_label(label) for task, _ in live)
            for label in self._config.max_parallel_by_label
        }
        self._by_status = Counter(attempt.started_from for _, attempt in live)

    def refusal(self, item: Item) -> str:
        if self._all + self._gates >= self._config.total:
            return f"waits for a slot: limits.total is {self._config.total}"
        if _kind(item.record) is not Kind.CODE:
            return ""
        if self._attempts >= self._config.max_parallel:
            return f"waits for a slot: max_parallel is {self._config.max_parallel}"
        status = started_from(item.record)
        most = self._config.max_parallel_by_status.get(status, self._config.max_parallel)
        if self._by_status[status] >= most:
            return f"waits for a slot: max_parallel_by_status for {status.name} is {most}"
        for label, most in self._config.max_parallel_by_label.items():
            if item.task.issue.has_label(label) and self._by_label[label] >= most:
                return f"waits for a slot: max_parallel_by_label for {label} is {most}"
        return ""

    def take(self, item: Item) -> None:
        self._all += 1
        self.taken += 1
        if _kind(item.record) is not Kind.CODE:
            return
        self._attempts += 1
        self._by_status[started_from(item.record)] += 1
        for label in self._by_label:
            self._by_label[label] += item.task.issue.has_label(label)


def _kind(record: Record) -> Kind:
    """What a start of this task would do."""
    if not record.republish:
        return Kind.CODE
    stale = record.held is not None and record.held.why is Hold.STALE
    return Kind.UPDATE if stale else Kind.PUBLISH


def expected_order(snapshot: Snapshot, decisions: Iterable[Decision]) -> tuple[int, ...]:
    """Tasks that start now or wait for needs or a slot, in the order in which they are taken once they have them."""
    board = Board(snapshot)
    waiting = {
        item.task
        for item in decisions
        if item.start is not None
        or (
            item.status is Status.READY
            and item.record.live is None
            and _is_called(item.task, item.record, board)
        )
    }
    return tuple(
        one.number for one in _in_order([item for item in board.items if item.number in waiting], board)
    )


def _in_order(items: Sequence[Item], board: Board) -> Iterable[Candidate]:
    candidates = [candidate_of(item) for item in items]
    if not candidates:
        return ()
    if board.config.order == "score":
        return score_order(candidates, board.graph)
    return critical_path_order(candidates, board.graph, durations_of(board))


def _start(item: Item, board: Board) -> Decision:
    """Claim: the attempt's key goes into the record, the dispatch follows once that is written."""
    approval = judge_order(item.task, item.record, board.snapshot)
    assert isinstance(approval, Approval), "only approved tasks get here"
    record = item.record
    kind = _kind(record)
    choice = EngineChoice() if kind is not Kind.CODE else board.choice(item)
    attempt = Attempt(
        record.next_attempt,
        kind,
        board.snapshot.now,
        started_from(record),
        approval.digest,
        engine=choice.engine,
        model=choice.model,
    )
    # Only `code` counts as an attempt in limits; every unit takes the next number of its task.
    claimed = _claimed(record, attempt, approval)
    key = Key(item.number, attempt.number)
    return board.decide(
        item,
        Verb.START,
        f"starts as {key}",
        Status.IN_PROGRESS,
        claimed,
        start=Start(
            attempt.number,
            kind,
            record.earlier,
            choice,
            record.exceptions if record.republish else (),
            board.chosen(item),
        ),
        notices=_warnings(item),
        due=board.snapshot.now + board.config.dispatch.launch_grace,
    )


def _claimed(record: Record, attempt: Attempt, approval: Approval) -> Record:
    """The record after the claim."""
    return replace(
        record,
        attempts=(*record.attempts, attempt),
        next_attempt=record.next_attempt + 1,
        approval=approval,
        not_before=None,
    )
