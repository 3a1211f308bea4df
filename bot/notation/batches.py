"""A batch inside its issue: what people read about it, the hidden order and record, and the hidden orders in comments on it."""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from bot.model.batch import (
    Action,
    Batch,
    BatchRecord,
    BatchState,
    Control,
    Order,
    Outline,
    Result,
    Search,
    Strategy,
)
from bot.model.issue import Comment, EventKind, Issue
from bot.notation.charts import gantt, needs_graph
from bot.notation.codec import Unreadable, dump, load
from bot.notation.comments import with_fingerprint
from bot.notation.duration import write_duration
from bot.notation.marker import read_marker, write_marker
from bot.notation.quoting import code_block, quote_line

NAME, RECORD, CONTROL = "batch", "batch-record", "batch-control"

_BODY_MOST = 60_000  # of GitHub's 65,536 characters
_TABLE_MOST = 55_000
_REASONS_MOST = 20_000  # characters, shared by the rows of a table
_REASON_LEAST = 30
_TITLE = 60
_TITLES_MOST = 150  # rows; longer tables go without titles, which GitHub shows beside a number anyhow
_LISTED = 20
_HAPPENINGS_KEPT = 20
_CHANGES_KEPT = 5
_REASON_KEPT = 100
_NOTE_KEPT = 200
_LOG_KEPT = 1_500
_BLOB = 10


# ---------------------------------------------------------------------- the issue


def batch_title(order: Order) -> str:
    """`cf batch: #12, #14 and 3 more (serial)`."""
    shown = [f"#{number}" for number in order.tasks[:2]]
    more = len(order.tasks) - len(shown)
    names = ", ".join(shown) + (f" and {more} more" if more else "")
    return f"cf batch: {names} ({order.strategy})"


def batch_body(
    order: Order, record: BatchRecord, results: Sequence[Result], outline: Outline, interval: timedelta
) -> str:
    """The batch issue's text. The hidden order and record always fit; pictures and titles go first where room is short."""
    kept = bounded(record)
    hidden = "\n\n".join([write_marker(NAME, dump(order)), write_marker(RECORD, dump(kept))])
    before = [_head(order, kept, results), _course(order, kept, outline)]
    after = [
        _inferred(order, kept),
        _happenings(kept, interval),
        _changes(kept),
        _left_out(order),
        _FOOT,
        hidden,
    ]
    pictures = _pictures(results, outline)
    for shown, detail in ((pictures, 2), ([], 2), ([], 1)):
        body = _joined([*before, _table(results, detail), *shown, *after])
        if len(body) <= _BODY_MOST:
            return body
    room = _BODY_MOST - len(_joined([*before, *after]))
    return _joined([*before, _cut(_table(results, 0), room), *after])


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _cut(table: str, room: int) -> str:
    """The table's first lines that fit."""
    if len(table) <= room:
        return table
    lines = table[: max(room - 50, 0)].splitlines()[:-1]
    return "\n".join([*lines, "", f"{table.count(chr(10)) + 1 - len(lines)} more are not shown."])


_FOOT = (
    "`/cf stop` here, or closing this issue, stops the batch: nothing more starts, what runs finishes (`--force` ends it)."
    " `/cf resume` or reopening goes on with what did not come through. When the batch has ended, its results are posted here"
    " and the issue is closed."
)


def bounded(record: BatchRecord) -> BatchRecord:
    """The record without what nothing reads any more, so that it fits the issue however long the batch goes on."""
    gate = record.gate
    if gate is not None:
        gate = replace(gate, log=gate.log[-_LOG_KEPT:], reason=gate.reason[:_NOTE_KEPT])
    return replace(
        record,
        happenings=tuple(
            replace(one, reason=one.reason[:_REASON_KEPT]) for one in record.happenings[-_HAPPENINGS_KEPT:]
        ),
        changes=record.changes[-_CHANGES_KEPT:],
        inference=tuple(note[:_NOTE_KEPT] for note in record.inference[:_LISTED]),
        gate=gate,
    )


def read_batch(issue: Issue, accounts: Collection[int], comments: Sequence[Comment] = ()) -> Batch | None:
    """The batch in an issue that one of our accounts wrote; None in any other issue.

    GitHub lets people with write permission edit our text, so an order counts only as long as nobody else has.
    """
    if issue.author.id not in accounts:
        return None
    known = {comment.id: comment for comment in (*issue.comments, *comments)}
    editors = [
        event.actor.login
        for event in issue.events
        if event.kind is EventKind.EDITED and event.actor.id not in accounts
    ]
    order, record, problem = _read(issue.body)
    if editors:
        problem = f"its text was edited by {editors[-1]}, so it is not known any more what was ordered"
    return Batch(
        issue, None if problem else order, record, problem, tuple(known[number] for number in sorted(known))
    )


def _read(body: str) -> tuple[Order | None, BatchRecord, str]:
    try:
        payload, memory = read_marker(NAME, body), read_marker(RECORD, body)
        if payload is None:
            return None, BatchRecord(), "its text holds no order"
        return load(payload, Order), load(memory, BatchRecord) if memory else BatchRecord(), ""
    except Unreadable as error:
        return None, BatchRecord(), f"its order cannot be read: {error}"


# ---------------------------------------------------------------------- its parts


def _head(order: Order, record: BatchRecord, results: Sequence[Result]) -> str:
    where = f" in [run {order.run}](../actions/runs/{order.run})" if order.run else ""
    many = f"{len(order.tasks)} task{'s' if len(order.tasks) != 1 else ''}"
    how = {
        Strategy.SERIAL: "one after the other, in this order; what a task needs comes before it",
        Strategy.PARALLEL: "in parallel, as needs and limits allow",
        Strategy.AUTO: "as their needs allow, those that a model infers included",
    }[order.strategy]
    limits = [f"at most {order.max_parallel} of them at once"] if order.max_parallel is not None else []
    limits += [
        f"at most {most} started from {name.replace('-', '_').upper()}"
        for name, most in order.max_parallel_by_status.items()
    ]
    limits += ["nothing fresh after a failure"] if order.stop_on_failure else []
    if order.max_retries:
        limits.append(
            f"{order.max_retries} extra round{'s' if order.max_retries != 1 else ''} for what failed"
        )
    limits += ["open questions do not keep it open"] if order.end_blocked else []
    limits += [f"{name} {value}" for name, value in chosen_words(order)]
    extra = f" ({'; '.join(limits)})" if limits else ""
    first = (
        f"{many}, ordered by {quote_line(order.by)}{where} at {order.at:%Y-%m-%d %H:%M:%S} UTC: {how}{extra}."
    )
    return f"**{state_words(record)}** · {counts_words(results)}\n\n{first}"


def state_words(record: BatchRecord) -> str:
    """The state in capitals, and what was said last."""
    words = record.state.upper()
    if record.control is not None and record.control.action is Action.STOP:
        by = f" by {quote_line(record.control.by)}" if record.control.by else ""
        words += f", stopped{by}{' by force' if record.control.force else ''}"
    if record.rounds:
        words += f", extra round {record.rounds}"
    return words


def chosen_words(order: Order) -> Iterator[tuple[str, str]]:
    """Each option for the members' work that was given, by its name, as it may be written in an order."""
    for values in (order.engine_request, order.chosen):
        for name in values.__struct_fields__:
            value = getattr(values, name)
            if value not in ("", None):
                yield name, quote_line(value if isinstance(value, str) else write_duration(value), 60)


def counts(results: Sequence[Result]) -> dict[str, int]:
    """How many members count, came through, were skipped, failed, are blocked, and left the total."""
    counted = [result for result in results if not result.dropped]
    return {
        "total": len(counted),
        "passed": sum(result.passed for result in counted),
        "skipped": sum(result.passed and not result.own for result in counted),
        "failed": sum(result.failed for result in counted),
        "blocked": sum(result.blocked for result in counted),
        "dropped": len(results) - len(counted),
    }


def counts_words(results: Sequence[Result]) -> str:
    """`2 of 3 passed (1 skipped), 1 failed`."""
    found = counts(results)
    skipped = f" ({found['skipped']} skipped: completed elsewhere)" if found["skipped"] else ""
    words = [f"{found['passed']} of {found['total']} passed{skipped}"]
    words += [f"{found[name]} {name}" for name in ("failed", "blocked") if found[name]]
    words += [f"{found['dropped']} left the total"] if found["dropped"] else []
    return ", ".join(words)


def _course(order: Order, record: BatchRecord, outline: Outline) -> str:
    lines = []
    if record.state is BatchState.PENDING and order.dry_run:
        lines.append("This is the plan only: nothing starts until somebody writes `/cf run` here.")
    if not record.state.ended:
        end = f", expected end {outline.expected_end:%Y-%m-%d %H:%M} UTC" if outline.expected_end else ""
        many = f"{outline.waves} wave{'s' if outline.waves != 1 else ''}"
        slots = f"{outline.slots} slot{'s' if outline.slots != 1 else ''}"
        lines.append(f"{many}, {slots}{_chain(outline)}{end}.")
    if outline.merges and not record.state.ended:
        names = ", ".join(f"#{pull} (task #{task})" for pull, task in outline.merges[:_LISTED])
        lines.append(f"Waiting to be merged, in this order: {names}.")
    if record.gate is not None:
        lines.append(gate_words(record.gate))
    return "\n\n".join(lines)


def _chain(outline: Outline) -> str:
    if len(outline.chain) < 2:
        return ""
    names = " → ".join(f"#{number}" for number in outline.chain[:20])
    more = f" and {len(outline.chain) - 20} more" if len(outline.chain) > 20 else ""
    minutes = round(outline.chain_time.total_seconds() / 60)
    return f", longest chain {names}{more} (about {minutes} min)"


def gate_words(search: Search) -> str:
    """How far the batch gate is, in a line."""
    joined = ", ".join(f"#{task}" for task in search.tasks[:20])
    more = f" and {len(search.tasks) - 20} more" if len(search.tasks) > 20 else ""
    trial = search.trials[-1].attempt if search.trials else None
    if search.passed:
        return f"Batch gate: passed for {joined}{more} together."
    if search.passed is None:
        run = f" in [run {trial.run}](../actions/runs/{trial.run})" if trial and trial.run else ""
        hunt = f", looking for the one to blame, trial {len(search.trials)}" if len(search.trials) > 1 else ""
        return f"Batch gate: {joined}{more} are joined and proven together{run}{hunt}."
    blame = f"#{search.guilty} is to blame: " if search.guilty else ""
    tail = f"\n\n{code_block(search.log)}" if search.log else ""
    return f"Batch gate: **not passed**. {blame}{quote_line(search.reason)}{tail}"


def _table(results: Sequence[Result], detail: int) -> str:
    """All that is known in a row each; with less detail the titles, and then all but the essential, are left out."""
    most = max(_REASON_LEAST, _REASONS_MOST // max(len(results), 1)) if detail else 0
    columns = [column for column in _COLUMNS if detail or column.essential]
    if not any(result.was for result in results):
        columns = [column for column in columns if column.name != "was"]
    titles = detail > 1 and len(results) <= _TITLES_MOST
    rows = [
        f"| {' | '.join(column.cell(result, titles, most) or '–' for column in columns)} |"
        for result in results
    ]
    names = " | ".join(column.name for column in columns)
    return "\n".join([f"| {names} |", f"|{'---|' * len(columns)}", *rows])


class _Column(Struct, frozen=True):
    """`cell` makes the text for a result, with its title or not, and with at most so many characters of its reason."""

    name: str
    cell: Callable[[Result, bool, int], str]
    essential: bool = False


def _task(result: Result, titles: bool, _most: int) -> str:
    return f"#{result.task} {quote_line(result.title, _TITLE)}" if titles else f"#{result.task}"


def _status(result: Result, _titles: bool, _most: int) -> str:
    return f"{result.status}, skipped" if result.passed and not result.own else result.status


_COLUMNS = (
    _Column("place", lambda one, _, __: str(one.place or "")),
    _Column("wave", lambda one, _, __: str(one.wave or "")),
    _Column("task", _task, essential=True),
    _Column("status", _status, essential=True),
    _Column("was", lambda one, _, __: one.was),
    _Column("attempts", lambda one, _, __: str(one.attempts or "")),
    _Column("run", lambda one, _, __: f"[{one.run}](../actions/runs/{one.run})" if one.run else ""),
    _Column("pull request", lambda one, _, __: f"#{one.pull}" if one.pull else "", essential=True),
    _Column("time", lambda one, _, __: f"{one.minutes:.0f} min" if one.minutes else ""),
    _Column("cost", lambda one, _, __: f"${one.usd:.2f}" if one.usd else ""),
    _Column("why", lambda one, _, most: quote_line(one.reason, most)),
)


def _inferred(order: Order, record: BatchRecord) -> str:
    if order.strategy is not Strategy.AUTO or not record.inferred:
        return ""
    lines = [
        f"- #{task} ← {', '.join(f'#{need}' for need in needs)}"
        for task, needs in sorted(record.needs.items())[:_LISTED]
    ]
    head = "Inferred needs, for this batch only:" if lines else "No needs inferred."
    notes = [f"- {quote_line(note, 200)}" for note in record.inference]
    return "\n".join([head, "", *lines, *notes]).rstrip()


def _pictures(results: Sequence[Result], outline: Outline) -> list[str]:
    graph = needs_graph(outline.edges, {result.task: result.status for result in results})
    chart = gantt(outline.bars)
    return [
        f"<details><summary>{name}</summary>\n\n{picture}\n\n</details>"
        for name, picture in (("Needs", graph), ("Time", chart))
        if picture
    ]


def _happenings(record: BatchRecord, interval: timedelta) -> str:
    if not record.happenings:
        return ""
    every = f"every {write_duration(interval)}" if interval else "at every tick"
    sums = ", ".join(f"{count} {words}" for words, count in sorted(record.sums.items()))
    rows = [
        f"| {one.at:%H:%M:%S} | {one.action} | #{one.task} | {quote_line(one.reason, 120)} | {quote_line(one.who, 40) or '–'} |"
        for one in record.happenings
    ]
    table = "\n".join(["| time (UTC) | action | task | reason | who |", "|---|---|---|---|---|", *rows])
    return f"Reconciled {every}: {sums}.\n\n{table}"


def _changes(record: BatchRecord) -> str:
    return "\n".join(
        f"- {one.at:%Y-%m-%d %H:%M:%S} UTC: the configuration changed from `{one.before[:_BLOB] or 'none'}`"
        f" to `{one.after[:_BLOB] or 'none'}`"
        for one in record.changes
    )


def _left_out(order: Order) -> str:
    lines = [f"- {quote_line(note, 120)}" for note in order.left_out]
    return "\n".join(["Not part of the batch:", "", *lines]) if lines else ""


# ---------------------------------------------------------------------- comments


def results_text(record: BatchRecord, results: Sequence[Result], head: str = "") -> str:
    """The last words of a batch: how it ended, a count, and one row a member."""
    first = head or f"**The batch has ended: {record.state}.** {counts_words(results)}."
    parts = [first]
    if record.gate is not None and not record.gate.passed:
        parts.append(gate_words(record.gate))
    table = _table(results, 1)
    parts.append(table if len(table) <= _TABLE_MOST else _cut(_table(results, 0), _TABLE_MOST))
    if record.state in (BatchState.PARTIAL, BatchState.FAILED, BatchState.CANCELLED):
        parts.append("To go on with what did not come through, write `/cf resume` here or reopen this issue.")
    return "\n\n".join(parts)


def control_comment(control: Control, text: str) -> str:
    """A comment by which an order about a batch is kept on its issue, recognisable by the run that gave it."""
    return with_fingerprint(
        f"{text}\n\n{write_marker(CONTROL, dump(control))}", f"batch-{control.action}:{control.run}"
    )


def read_control(comment: Comment, accounts: Collection[int]) -> Control | None:
    """The order that a comment of ours keeps about its own issue; None in any other comment, or where it cannot be read."""
    if comment.author.id not in accounts:
        return None
    try:
        payload = read_marker(CONTROL, comment.body)
        control = load(payload, Control) if payload is not None else None
    except Unreadable:
        return None
    return control if control is not None and control.batch == comment.issue else None
