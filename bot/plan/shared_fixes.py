"""Shared fixes: the same failure met by several tasks is mended once, in an issue of its own, while they wait for it.

All of it is derived anew at each tick, from the newest failure in the tasks' records and from the fix's issue, so it does not
matter which tick opens the issue or sees it closed.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from bot.model.decision import Decision, Notice, OpenIssue, Verb
from bot.model.issue import NeedState
from bot.model.record import Attempt, Fixed, Record, SharedFix
from bot.model.ref import Ref
from bot.model.report import NO_FAULT, STRIKES, GateStatus
from bot.model.snapshot import NeedOf
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.comments import read_fingerprint
from bot.notation.quoting import code_block, quote, quote_line
from bot.plan.board import FIX_LABEL, Board, Item
from bot.plan.starts.waiting import state_of

_MARK = "shared-fix:"
_LISTED = 30
_WAITING = (Status.READY, Status.FAILED)
_BEING_OPENED = "several tasks fail alike: a shared fix is being opened"


def fix_mark(failure: str, times: int) -> str:
    """The fingerprint of the issue that mends a failure: `times` counts up when a fix did not last."""
    return f"{_MARK}{failure}:{times}"


def fix_of(item: Item, board: Board) -> tuple[str, int] | None:
    """The failure that this issue of ours is to mend, and for which time; None for every other task."""
    if not board.is_shared_fix(item):
        return None
    mark = read_fingerprint(item.task.issue.body) or ""
    failure, _, times = mark.removeprefix(_MARK).partition(":")
    return (failure, int(times)) if mark.startswith(_MARK) and times.isdecimal() else None


def failing(record: Record) -> str:
    """The fingerprint of the failure that stands between this task and its end; empty if nothing does.

    It stands also while the next attempt runs, and whatever interrupted one since: neither has shown anything else.
    """
    if record.strikes == 0 and record.status is not Status.FAILED:
        return ""
    last = _telling(record)
    if last is None or last.outcome not in STRIKES:
        return ""
    return "" if last.failure in record.unshared else last.failure


def _telling(record: Record) -> Attempt | None:
    """The newest attempt that came to an end of its own."""
    ended = (one for one in reversed(record.attempts) if one.kind is Kind.CODE and one.outcome is not None)
    return next((one for one in ended if one.outcome not in NO_FAULT), None)


def _is_concerned(status: Status | None, record: Record) -> bool:
    """Whether a task waits to go on, or does: its next attempt runs, and is wanted."""
    live = record.live
    return not live.cancelled_for if live is not None else status in _WAITING


def _may_tell(record: Record, fixed: Fixed | None) -> bool:
    """After a fix only what began later says that it did not last."""
    last = _telling(record)
    return fixed is None or (last is not None and last.claimed_at >= fixed.at)


def open_fixes(board: Board) -> Mapping[str, int]:
    """The open fix of each failure. Where two conductors opened one each, the lower number counts."""
    found: dict[str, int] = {}
    for item in board.items:
        mends = fix_of(item, board) if item.task.issue.is_open else None
        if mends is not None:
            found.setdefault(mends[0], item.number)
    return found


def admit_fix(item: Item, board: Board) -> Item:
    """With `shared_fixes: auto` the configuration orders a fix: for it stands who ordered the first task that waits for it."""
    if board.config.shared_fixes != "auto" or item.record.approval is not None or fix_of(item, board) is None:
        return item
    if item.meant.status is not Status.READY:
        return item
    mended = board.snapshot.tasks
    orders = [
        task.record.approval
        for task in mended.values()
        if task.record.fix is not None and task.record.fix.issue == item.number and task.record.approval
    ]
    if not orders:
        return item
    approval = board.approval_by(item, orders[0].by, item.task.issue.created_at)
    return replace(item, record=replace(item.record, approval=approval))


def close_spare_fix(item: Item, board: Board) -> Decision | None:
    """Two conductors may open the same fix: the younger one is closed before it starts."""
    mends = fix_of(item, board)
    if mends is None or item.record.live is not None:
        return None
    first = open_fixes(board).get(mends[0], item.number)
    if first == item.number:
        return None
    notice = Notice("spare-fix", f"#{first} mends the same failure, so this one is closed.")
    decision = board.move(item, Status.DONE, item.record, f"#{first} mends the same", (notice,))
    return replace(decision, close=True)


def tell_failed_fix(item: Item, board: Board) -> Decision | None:
    """A fix that failed is a person's, and said so once to those who ordered what waits for it."""
    mends = fix_of(item, board)
    if mends is None or item.meant.status is not Status.FAILED:
        return None
    waiting = [task for task in board.snapshot.tasks.values() if _waits_for(task.record, item.number)]
    people = dict.fromkeys(task.record.approval.by for task in waiting if task.record.approval)
    text = (
        f"{' '.join(f'@{name}' for name in people)} This shared fix failed, and {_counted(len(waiting))} for it. Please mend the"
        " cause and close this issue as completed; closed as not planned, they go on without it."
    ).strip()
    last = _telling(item.record)
    text += f"\n\n{quote(last.reason)}" if last is not None and last.reason else ""
    number = item.record.next_attempt - 1
    return board.hold(
        item, "the shared fix failed: it is a person's now", notices=(Notice(f"fix-failed:{number}", text),)
    )


def _counted(count: int) -> str:
    return "1 task waits" if count == 1 else f"{count} tasks wait"


def _waits_for(record: Record, number: int) -> bool:
    return record.fix is not None and record.fix.issue == number


def await_fix(item: Item, board: Board) -> Decision | None:
    """A task whose failure is shared waits for its fix, and goes on without a strike once that is closed as completed.

    Closed in any other way the fix is off: the task goes on as if there had been none, and does not ask for one again. A person's
    `cf:ready` does not jump the queue: the failure is still there.
    """
    record = item.record
    if item.meant.status not in _WAITING or record.live is not None:
        return None
    if record.fix is not None:
        return _follow(item, record.fix, board)
    failure = failing(record)
    if not failure or board.config.shared_fixes == "off" or fix_of(item, board) is not None:
        return None
    fix = open_fixes(board).get(failure, 0)
    if fix:
        waiting = replace(
            record, fix=SharedFix(failure, fix), own_needs=tuple(dict.fromkeys((*record.own_needs, fix)))
        )
        return board.hold(replace(item, record=waiting), f"the same failure is being mended by #{fix}")
    fixed = board.snapshot.fixed.get(failure)
    if fixed is not None and not _may_tell(record, fixed):
        return _go_on(item, failure, board, f"#{fixed.issue} has mended this failure since its attempt began")
    return board.hold(item, _BEING_OPENED) if len(sharing(failure, board)) > 1 else None


def sharing(failure: str, board: Board) -> tuple[Item, ...]:
    """The tasks that have this failure behind them and wait or run, fixes themselves left out."""
    return tuple(
        item
        for item in board.items
        if item.task.issue.is_open
        and _is_concerned(item.meant.status, item.record)
        and failing(item.record) == failure
        and fix_of(item, board) is None
    )


def hold_alike(
    free: Sequence[Item], decided: Mapping[int, Decision], board: Board
) -> tuple[list[Item], dict[int, Decision]]:
    """Those of the free tasks that may start, and the others held: their failure was met by another one in this very tick, so a
    fix is about to be opened, and an attempt before it would be paid for nothing.
    """
    if board.config.shared_fixes == "off":
        return list(free), {}
    waiting = {item.number: board.hold(item, _BEING_OPENED) for item in free}
    shared = _shared({**decided, **waiting}, board)
    held = {one.task: one for _, alike in shared for one in alike if one.task in waiting}
    return [item for item in free if item.number not in held], held


def _follow(item: Item, fix: SharedFix, board: Board) -> Decision | None:
    ref = Ref(board.snapshot.repository.full_name, fix.issue)
    state = state_of(ref, board.snapshot)
    if state is None:
        return board.hold(item, f"#{fix.issue} is being looked up", wants={NeedOf(ref)})
    if state in (NeedState.OPEN, NeedState.UNKNOWN):
        return board.hold(item, f"the same failure is being mended by #{fix.issue}")
    if state.satisfied:
        return _go_on(item, fix.failure, board, f"#{fix.issue} has mended the failure that it shares")
    record = replace(_without_fix(item.record, fix, board), unshared=(*item.record.unshared, fix.failure))
    return board.decide(item, Verb.HOLD, f"its shared fix #{fix.issue} is off", item.meant.status, record)


def _without_fix(record: Record, fix: SharedFix, board: Board) -> Record:
    """The need goes with it, unless it is a relation of GitHub's as well: the record says that such a one is ours."""
    if board.config.dependencies.sync == "native":
        return replace(record, fix=None)
    return replace(record, fix=None, own_needs=tuple(one for one in record.own_needs if one != fix.issue))


def _go_on(item: Item, failure: str, board: Board, reason: str) -> Decision:
    """Ready again, the strike of that failure given back; once for each failure, so that a fix that mends nothing ends."""
    record = item.record if item.record.fix is None else _without_fix(item.record, item.record.fix, board)
    record = replace(
        record,
        strikes=max(0, record.strikes - 1),
        not_before=None,
        unshared=(*record.unshared, failure),
    )
    return board.move(item, Status.READY, record, reason)


# ---------------------------------------------------------------------- the issues, and what is remembered of them


def fixes_to_open(decided: Mapping[int, Decision], board: Board) -> tuple[OpenIssue, ...]:
    """One issue for each failure that two or more tasks wait with and that no open fix is for."""
    if board.config.shared_fixes == "off" or board.snapshot.starts_blocked_by:
        return ()
    return tuple(_to_open(decided, board))


def _to_open(decided: Mapping[int, Decision], board: Board) -> Iterator[OpenIssue]:
    there = open_fixes(board)
    for failure, alike in _shared(decided, board):
        if failure not in there:
            yield _issue(failure, board.snapshot.fixed.get(failure), alike, board)


def _shared(decided: Mapping[int, Decision], board: Board) -> list[tuple[str, list[Decision]]]:
    """The failures that two or more tasks have behind them after this tick, with the decisions about these."""
    met: dict[str, list[Decision]] = {}
    for item in board.items:
        decision = decided.get(item.number)
        if decision is None or not item.task.issue.is_open or fix_of(item, board) is not None:
            continue
        failure = failing(decision.record) if _is_concerned(decision.status, decision.record) else ""
        told = decision.record.fix is None and _may_tell(decision.record, board.snapshot.fixed.get(failure))
        if failure and told:
            met.setdefault(failure, []).append(decision)
    return [(failure, alike) for failure, alike in sorted(met.items()) if len(alike) > 1]


def _issue(failure: str, fixed: Fixed | None, decisions: Sequence[Decision], board: Board) -> OpenIssue:
    record = decisions[0].record
    people = dict.fromkeys(one.record.approval.by for one in decisions if one.record.approval)
    whom = " ".join(f"@{name}" for name in people)
    last = _telling(record)
    what = quote_line((last.reason if last else "") or "the same check fails", 100)
    listed = "\n".join(f"- #{one.task}" for one in decisions[:_LISTED])
    auto = board.config.shared_fixes == "auto"
    ready = board.config.label(Status.READY)
    parts = [
        f"{whom} {len(decisions)} tasks fail alike, so the cause is probably not theirs:".strip(),
        listed,
        *_error(failure, board),
        (
            "**Proposed fix.** Find what makes this fail on the default branch, mend it there with the smallest change that does,"
            " and leave the tasks above alone. They wait for this issue, go on when it is closed as completed, and without it when"
            " it is closed as not planned."
        ),
        *([f"#{fixed.issue} mended the same before, and it did not last."] if fixed else []),
        *([] if auto else [f"The label `{ready}` starts it."]),
    ]
    labels = (board.config.label(FIX_LABEL), board.config.label(Status.READY if auto else Status.BACKLOG))
    mark = fix_mark(failure, fixed.times + 1 if fixed else 1)
    return OpenIssue(mark, f"Shared fix: {what}", "\n\n".join(parts), labels)


def _error(failure: str, board: Board) -> list[str]:
    """The failing output, where a report of this tick holds it."""
    for report in board.snapshot.reports.values():
        if report is not None and report.failure == failure:
            failed = [gate for gate in report.gates if gate.status is not GateStatus.PASSED and gate.tail]
            return [f"`{quote_line(gate.name, 60)}` says:\n\n{code_block(gate.tail)}" for gate in failed[:2]]
    return []


def fixed_now(decided: Mapping[int, Decision], board: Board) -> dict[str, Fixed]:
    """Fixes that are closed as completed, by the failure that they mended, for later ticks."""
    found: dict[str, Fixed] = {}
    for item in board.items:
        mends = fix_of(item, board)
        issue = item.task.issue
        done = decided[item.number].status in (Status.DONE, Status.MERGED) and not issue.is_open
        if mends is None or not done or "spare-fix" in item.record.notices:
            continue
        known = board.snapshot.fixed.get(mends[0])
        if known is None or known.times < mends[1]:
            found[mends[0]] = Fixed(item.number, issue.closed_at or board.snapshot.now, mends[1])
    return found
