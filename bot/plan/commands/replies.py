"""What is said back to commands: one reply for each comment, and one reaction to what strangers write."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta

from msgspec import Struct, field

from bot.model.change import CONFUSED, ROCKET, React
from bot.model.command import COMMANDS, Ordered, Row, Scope
from bot.model.decision import BatchStep, Decision, Response
from bot.model.issue import Issue
from bot.model.task import Task
from bot.model.unit import Kind
from bot.notation.batches import gate_words, state_words
from bot.notation.keys import Key
from bot.notation.overview import overview_lines
from bot.notation.quoting import quote, quote_line
from bot.plan.board import Board, Item
from bot.plan.commands.obey import is_answered, reactions_to, refusal_on, with_engine_request
from bot.plan.commands.proposals import inferred_among
from bot.plan.commands.selection import Selection, read_selection
from bot.plan.telling.overview import overview_of

_LISTED = 50


class _Reply(Struct):
    """The reply to one comment while it is put together."""

    issue: Issue
    ordered: Ordered
    failed: bool = False
    parts: list[str] = field(default_factory=list)


def respond(
    items: Iterable[Item], decided: Mapping[int, Decision], steps: Iterable[BatchStep], board: Board
) -> tuple[Response, ...]:
    """All that is said back in this tick. A stranger's comment gets one reaction and no word: it costs nothing to ignore it."""
    replies: dict[int, _Reply] = {}
    for item in items:
        for ordered, why in item.command_result.refusals:
            _reply(replies, ordered, item.task.issue).failed = True
            _reply(replies, ordered, item.task.issue).parts.append(_not_done(ordered, why, board))
        for ordered in board.comment_commands.given.get(item.number, ()):
            if is_answered(ordered):
                words = _answer_on_task(ordered, item, decided[item.number], board)
                _reply(replies, ordered, item.task.issue).parts.append(words)
    by_batch = {step.number: step for step in steps}
    for number, issue in board.snapshot.others.items():
        on_batch = number not in board.dashboards
        for ordered in board.comment_commands.given.get(number, ()):
            place = Scope.BATCH if on_batch else Scope.DASHBOARD
            why = refusal_on(place, ordered, board) or _refusal_by_batch(number, ordered, board)
            reply = _reply(replies, ordered, issue)
            reply.failed = reply.failed or bool(why)
            if why:
                reply.parts.append(_not_done(ordered, why, board))
            elif not on_batch:
                reply.parts.append(_answer_on_dashboard(ordered, decided, board))
            elif words := _answer_on_batch(ordered, by_batch.get(number), board):
                reply.parts.append(f"{_quoted(ordered, board)}\n\n{words}")
    answered = tuple(_response(comment, reply) for comment, reply in replies.items())
    return (*answered, *_to_strangers(board))


def _reply(replies: dict[int, _Reply], ordered: Ordered, issue: Issue) -> _Reply:
    return replies.setdefault(ordered.comment, _Reply(issue, ordered))


def _response(comment: int, reply: _Reply) -> Response:
    reactions = reactions_to(reply.ordered, CONFUSED if reply.failed else ROCKET)
    return Response(reply.issue.node_id, reply.issue.number, comment, reactions, "\n\n".join(reply.parts))


def _to_strangers(board: Board) -> Iterator[Response]:
    for number, refused in board.comment_commands.refused.items():
        task = board.snapshot.tasks.get(number)
        issue = task.issue if task is not None else board.snapshot.others[number]
        for ordered in refused:
            yield Response(issue.node_id, number, ordered.comment, (React(ordered.node, CONFUSED),))


def _quoted(ordered: Ordered, board: Board) -> str:
    """The line that is answered, so that a reply is understood far below it."""
    command = ordered.command
    line = f"/{board.config.prefix} {command.name} {command.text}".split("\n")[0]
    return quote(line.rstrip(), 200)


def _not_done(ordered: Ordered, why: str, board: Board) -> str:
    return f"{_quoted(ordered, board)}\n\nNot done: {why}."


def _folded(title: str, lines: Sequence[str]) -> str:
    return f"<details><summary>{title}</summary>\n\n" + "\n".join(lines) + "\n\n</details>"


# ---------------------------------------------------------------------- help


def help_text(place: Scope, prefix: str) -> str:
    """The commands that a place knows, from the table."""
    places = (place, Scope.TASK) if place is Scope.SPEC else (place,)
    rows = [row for row in COMMANDS if row.place in places and (row.name != "help" or row.place is place)]
    head = f"A {place} knows {len(rows)} commands, each on a line of its own; people with permission may give them."
    return f"{head}\n\n{_folded('The commands', command_table(rows, prefix))}"


def command_table(rows: Iterable[Row], prefix: str) -> list[str]:
    """The lines of a Markdown table of these commands; docs/commands.md shows the same."""
    head = ["| command | what it does |", "|---|---|"]
    return head + [f"| `{row.usage(prefix)}` | {row.effect} |" for row in rows]


# ---------------------------------------------------------------------- tasks


def _answer_on_task(ordered: Ordered, item: Item, decision: Decision, board: Board) -> str:
    name = ordered.command.name
    if name == "help":
        is_spec = item.task.issue.has_label(board.config.label("spec"))
        words = help_text(Scope.SPEC if is_spec else Scope.TASK, board.config.prefix)
    elif name == "status":
        words = _status_of(item, decision, board)
    else:
        words = _rehearsal(ordered, item, decision, board)
    return f"{_quoted(ordered, board)}\n\n{words}"


def _status_of(item: Item, decision: Decision, board: Board) -> str:
    label = f"`{board.config.label(decision.status)}`" if decision.status else "Not a task"
    lines = [f"- {line}" for line in _facts(item.task, decision)]
    return f"**{label}** · {quote_line(decision.reason)}\n\n{_folded('More', lines)}"


def _facts(task: Task, decision: Decision) -> Iterator[str]:
    record = decision.record
    if record.approval:
        yield f"ordered by {quote_line(record.approval.by)} at {record.approval.at:%Y-%m-%d %H:%M} UTC"
    yield f"priority {task.priority}; strikes: {record.strikes}; attempts: {record.next_attempt - 1}"
    for attempt in record.attempts[-5:]:
        key, end = Key(record.task, attempt.number), str(attempt.outcome or "running")
        yield f"`{key}` {attempt.kind}: {end}{f', {quote_line(attempt.reason, 200)}' if attempt.reason else ''}"
    if record.pull:
        yield f"pull request #{record.pull}"
    for need in task.needs[:_LISTED]:
        yield f"needs {quote_line(str(need))}"
    for warning in task.warnings:
        yield quote_line(warning)


def _rehearsal(ordered: Ordered, item: Item, decision: Decision, board: Board) -> str:
    """What `/cf run` would do, with what the attempt would run; nothing is changed."""
    config, asked = board.config, with_engine_request(item, ordered)
    choice = board.choice(asked)
    engine = config.engines.get(choice.engine)
    runner = engine.runner if engine and engine.runner else config.runner
    gates = ", ".join(f"`{quote_line(gate.name, 60)}`" for gate in config.gates)
    text = item.task.issue.title + item.task.issue.body
    minutes = asked.record.timeout_minutes or config.timeout_of(Kind.CODE) // timedelta(minutes=1)
    lines = [
        f"- engine `{quote_line(choice.engine, 60)}`, model {quote_line(choice.model or 'its own default', 60)}",
        f"- at most {minutes} minutes",
        f"- runner `{quote_line(', '.join(runner), 100)}`",
        f"- gates: {gates or 'none, so the work would be an unverified draft'}",
        f"- branch `cf/{item.number}`",
        f"- prompt: {len(text)} characters of title and description, then comments of people who may order, answers and needs",
    ]
    verdict = (
        f"It could not start: {quote_line(choice.problem)}" if choice.problem else quote_line(decision.reason)
    )
    return f"As it stands: {verdict}. Nothing was changed.\n\n{_folded('What would run', lines)}"


# ---------------------------------------------------------------------- batches


def _refusal_by_batch(number: int, ordered: Ordered, board: Board) -> str:
    """Why the batch of this issue does not carry a command out; empty elsewhere, and if it does."""
    batch_view = board.batch_views.get(number)
    results = batch_view.results if batch_view is not None else ()
    return next((one.refusal for one in results if one.ordered == ordered), "")


def _answer_on_batch(ordered: Ordered, step: BatchStep | None, board: Board) -> str:
    """What is asked for, in words; a command that is carried out shows in the issue itself, and gets its reactions only."""
    if ordered.command.name == "help":
        return help_text(Scope.BATCH, board.config.prefix)
    if ordered.command.name == "deps" and step is not None and step.batch.order is not None:
        return inferred_among(step.batch.order.tasks, board).text
    if ordered.command.name != "status":
        return ""
    if step is None:
        return "This is no batch of ours any more."
    gate = [gate_words(step.record.gate)] if step.record.gate is not None else []
    return "\n\n".join([f"**{state_words(step.record)}** · {quote_line(step.reason)}", *gate])


# ---------------------------------------------------------------------- the dashboard


def _answer_on_dashboard(ordered: Ordered, decided: Mapping[int, Decision], board: Board) -> str:
    return f"{_quoted(ordered, board)}\n\n{ON_DASHBOARD[ordered.command.name](ordered, decided, board)}"


def _done_for_all(ordered: Ordered, decided: Mapping[int, Decision]) -> str:
    """The tasks that the command was carried out on, as their records say it; so a repeated tick says the same."""
    done = [number for number, decision in decided.items() if ordered.comment in decision.record.acted]
    names = [f"#{number}" for number in sorted(done)]
    if ordered.command.name == "stop":
        return f"Stopped: {', '.join(names) or 'nothing was running'}."
    selection = read_selection(ordered.command.arguments)
    excluded = [f"#{number}" for number in selection.excluded] if isinstance(selection, Selection) else []
    head = f"Approved: {len(names)}. Left out: {len(excluded)}."
    lines = [f"- approved: {', '.join(names) or 'none'}", f"- left out: {', '.join(excluded) or 'none'}"]
    return f"{head}\n\n{_folded('Which', lines)}"


def _status_of_all(decided: Mapping[int, Decision], board: Board) -> str:
    """In one line whether anything can start and, if not, why; below what runs and what waits for what."""
    decisions = tuple(decided[number] for number in sorted(decided))
    verdict, *lines = overview_lines(overview_of(board.snapshot, decisions))
    return f"{verdict}\n\n{_folded('More', [f'- {line}' for line in lines])}"


ON_DASHBOARD: Mapping[str, Callable[[Ordered, Mapping[int, Decision], Board], str]] = {
    "help": lambda _, __, board: help_text(Scope.DASHBOARD, board.config.prefix),
    "status": lambda _, decided, board: _status_of_all(decided, board),
    "deps": lambda _, __, board: inferred_among(None, board).text,
    "apply": lambda *_: "Taken over, beside the needs that exist.",
    "stop": lambda ordered, decided, _: _done_for_all(ordered, decided),
    "approve": lambda ordered, decided, _: _done_for_all(ordered, decided),
}
"""What each command on the dashboard is answered with, once it was carried out."""
