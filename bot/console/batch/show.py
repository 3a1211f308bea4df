"""`cf batch list` and `cf batch show N`: the batches of a repository, and one of them with its members as they stand now."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import msgspec
from msgspec.structs import replace

from bot.conductor.observe import observe
from bot.conductor.observe.tasks import read_tasks
from bot.conductor.observe.view import Observation
from bot.conductor.tick import decide
from bot.github.port import GitHub
from bot.model.batch import Batch, BatchState, Result
from bot.model.errors import UsageError
from bot.model.issue import Issue
from bot.notation.batches import chosen_words, counts, counts_words, gate_words, read_batch, state_words
from bot.notation.quoting import quote_line
from bot.plan.batches.member_state import MemberStates
from bot.plan.board import Board
from bot.plan.facts.batch_controls import batch_view_of
from bot.printing import say, say_json


def show_list(environ: Mapping[str, str], state: str, limit: int, *, as_json: bool) -> int:
    """Print the batches, newest first. Raises UsageError for a limit that is none."""
    from bot.github.client import connect

    if limit < 1:
        raise UsageError(f"--limit: must be at least 1, found {limit}")
    found, foreign = all_batches(connect(environ), datetime.now(UTC))
    wanted = [batch for batch in found if not state or batch.record.state is BatchState(state)][:limit]
    _print(list_json(wanted) if as_json else list_lines(wanted, foreign))
    return 0


def show_one(environ: Mapping[str, str], number: int, *, as_json: bool) -> int:
    """Print one batch. Raises UsageError if the number is none of ours."""
    from bot.github.client import connect

    batch, results = batch_with_results(connect(environ), number, datetime.now(UTC))
    _print(one_json(batch, results) if as_json else one_lines(batch, results))
    return 0


def _print(shown: str | Iterator[str]) -> None:
    """JSON as one text, lines for people one by one."""
    if isinstance(shown, str):
        say_json(shown)
    else:
        say("\n".join(shown))


def all_batches(github: GitHub, now: datetime) -> tuple[list[Batch], list[Issue]]:
    """Ours, open and ended, newest first; and the issues that carry the label and that no account of ours wrote."""
    snapshot = observe(github, now).snapshot
    label = snapshot.config.label("batch")
    issues = [*github.labelled(label), *github.labelled(label, closed=True)]
    read = {issue.number: (issue, read_batch(issue, snapshot.accounts)) for issue in issues}
    ours = [batch for _, batch in read.values() if batch is not None]
    foreign = [issue for issue, batch in read.values() if batch is None]
    return sorted(ours, key=lambda batch: -batch.number), foreign


def list_lines(found: Sequence[Batch], foreign: Sequence[Issue] = ()) -> Iterator[str]:
    """One line for each, in columns."""
    yield from _table(("batch", "state", "tasks", "strategy", "by", "ordered", "ended"), map(_line, found))
    if not found:
        yield "no batch"
    if foreign:
        authors = sorted({f"{issue.author.login} (id {issue.author.id})" for issue in foreign})
        names = ", ".join(quote_line(author, 60) for author in authors[:5])
        yield f"{len(foreign)} more are by {names}: they count only if `identity.also` names that id"


def _line(batch: Batch) -> tuple[str, ...]:
    order, ended = batch.order, batch.record.ended_at
    return (
        f"#{batch.number}",
        str(batch.record.state),
        str(len(order.tasks)) if order else "–",
        str(order.strategy) if order else quote_line(batch.problem, 60),
        quote_line(order.by, 40) if order else "–",
        f"{order.at:%Y-%m-%d %H:%M}" if order else "–",
        f"{ended:%Y-%m-%d %H:%M}" if ended else "–",
    )


def _table(head: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> Iterator[str]:
    rows = list(lines)
    if not rows:
        return
    rows.insert(0, head)
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def list_json(found: Sequence[Batch]) -> str:
    """The same for machines."""
    return json.dumps([_facts(batch) for batch in found], indent=2)


def _facts(batch: Batch) -> dict[str, object]:
    order, record = batch.order, batch.record
    facts = {
        "batch": batch.number,
        "state": record.state,
        "problem": batch.problem,
        "started": record.started_at,
        "ended": record.ended_at,
        "rounds": record.rounds,
        "gate": record.gate.passed if record.gate else None,
    }
    if order is not None:
        facts |= {
            "tasks": order.tasks,
            "strategy": order.strategy,
            "by": order.by,
            "ordered": order.at,
            "run": order.run,
            "max_parallel": order.max_parallel,
            "max_retries": order.max_retries,
            "on_failure": "stop" if order.stop_on_failure else "continue",
            "dry_run": order.dry_run,
            "options": dict(chosen_words(order)),
        }
    plain: dict[str, object] = msgspec.to_builtins(facts)
    return plain


# ---------------------------------------------------------------------- one


def batch_with_results(github: GitHub, number: int, now: datetime) -> tuple[Batch, list[Result]]:
    """The batch, and each member as it stands now. Raises UsageError if the number is no batch of ours."""
    seen = observe(github, now)
    snapshot = seen.snapshot
    batch = next((one for one in snapshot.batches if one.number == number), None)
    if batch is None:
        issue = github.issues([number]).get(number)
        labelled = issue is not None and issue.has_label(snapshot.config.label("batch"))
        batch = read_batch(issue, snapshot.accounts) if issue is not None and labelled else None
    if batch is None:
        raise UsageError(f"#{number} is not a batch of ours; `cf batch list` names them")
    if batch.order is None:
        return batch, []
    seen, decided = decide(github, _with_members(github, seen, batch.order.tasks))
    board = Board(seen.snapshot)
    states = MemberStates({decision.task: decision for decision in decided.decisions}, board)
    batch_view = board.batch_views.get(number) or batch_view_of(batch, seen.snapshot)
    return batch, [states.result(task, batch_view) for task in batch.order.tasks]


def _with_members(github: GitHub, seen: Observation, tasks: Sequence[int]) -> Observation:
    """What a tick does not look at any more is read as well."""
    snapshot = seen.snapshot
    missing = [task for task in tasks if task not in snapshot.tasks]
    issues = github.issues(missing) if missing else {}
    more = read_tasks(github, issues, (), seen.view, seen.state, snapshot.config, snapshot.accounts)
    return replace(seen, snapshot=replace(snapshot, tasks={**snapshot.tasks, **more}))


def one_lines(batch: Batch, results: Sequence[Result]) -> Iterator[str]:
    """How it stands, the gate, and one line for each member."""
    order = batch.order
    if order is None:
        yield f"batch #{batch.number}: {batch.problem}"
        return
    yield f"batch #{batch.number}: {state_words(batch.record)}; {counts_words(results)}"
    yield f"ordered by {quote_line(order.by)} at {order.at:%Y-%m-%d %H:%M} UTC: {order.strategy}"
    yield from (f"{name}: {value}" for name, value in chosen_words(order))
    if batch.record.gate is not None:
        yield gate_words(batch.record.gate).splitlines()[0]
    yield from _table(
        ("task", "status", "attempts", "run", "pull", "min", "usd", "why"), map(_member, results)
    )


def _member(result: Result) -> tuple[str, ...]:
    return (
        f"#{result.task}",
        result.status,
        str(result.attempts or "–"),
        str(result.run or "–"),
        f"#{result.pull}" if result.pull else "–",
        f"{result.minutes:.1f}" if result.minutes else "–",
        f"{result.usd:.2f}" if result.usd else "–",
        quote_line(result.reason, 80),
    )


def one_json(batch: Batch, results: Sequence[Result]) -> str:
    """The same for machines, with every number that is known."""
    members = [{name: getattr(one, name) for name in one.__struct_fields__} for one in results]
    return json.dumps({**_facts(batch), "counts": counts(results), "members": members}, indent=2)
