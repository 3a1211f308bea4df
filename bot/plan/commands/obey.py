"""What commands do to a task: each is carried out once, or refused in words."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from msgspec.structs import replace

from bot.model.change import EYES, ROCKET, React
from bot.model.command import COMMANDS, STARTING, Command, Ordered, Row, Scope, row_of
from bot.model.decision import Decision, Verb
from bot.model.engine import ALIASES, EngineRequest
from bot.model.record import Answer
from bot.model.report import Hold, Outcome
from bot.model.status import Status
from bot.notation.duration import read_duration
from bot.notation.keys import Key
from bot.plan.attempts.running import end_live
from bot.plan.board import Board, Item, Stop
from bot.plan.commands.proposals import consent, nothing_proposed, propose
from bot.plan.commands.selection import Selection, read_selection
from bot.plan.facts.engines import engine_problem
from bot.plan.facts.labels import Meant
from bot.plan.facts.record_edits import last_attempt, reset_by_order
from bot.plan.facts.trust import Unknown, may_label
from bot.plan.graph.inference import nothing_waits


def for_all_tasks(board: Board) -> tuple[Ordered, ...]:
    """The commands on the dashboard that are about many tasks and can be carried out."""
    return tuple(
        ordered
        for number in board.dashboards
        for ordered in board.comment_commands.given.get(number, ())
        if ordered.command.name in ("stop", "approve") and not refusal_on(Scope.DASHBOARD, ordered, board)
    )


def obey(item: Item, board: Board, for_all: Sequence[Ordered]) -> Item:
    """The task as the commands of authorised people make it, in the order in which they were given."""
    given = board.comment_commands.given.get(item.number, ())
    acted = [ordered for ordered in given if ordered.comment in item.record.acted]
    own = [ordered for ordered in given if ordered not in acted or _is_never_done(ordered)]
    # Carried out by a tick that died before it could say so everywhere.
    again = [react for ordered in acted if _is_done(ordered) for react in reactions_to(ordered, ROCKET)]
    item = _with_result(item, reactions=tuple(again)) if again else item
    if not own and not for_all:
        return item
    move = item.meant.move
    mover = may_label(move.actor, board.snapshot) if move is not None else False
    if isinstance(mover, Unknown):
        return _with_result(item, wants=mover.wants)
    # A label of somebody who may not set it will be put back: commands are about the status behind it.
    ignored = move is not None and not mover and item.record.status is not None
    before, judged = item.meant, Meant(item.record.status) if ignored else item.meant
    item = replace(item, meant=judged)
    for ordered in sorted((*own, *for_all), key=lambda ordered: ordered.at):
        if ordered in for_all:
            item = _obey_for_all(item, ordered, board)
        elif not is_answered(ordered):
            item = _obey_one(item, ordered, board)
    return replace(item, meant=before) if item.meant is judged else item


def _is_done(ordered: Ordered) -> bool:
    command = ordered.command
    carried_out = command.name in _EFFECTS and not command.problem and not is_answered(ordered)
    return carried_out and (not ordered.edited or command.name == "stop")


def _is_never_done(ordered: Ordered) -> bool:
    """A command that cannot be carried out is said so, even if what stands beside it was carried out by a tick that died then."""
    return bool(ordered.command.problem) and not ordered.edited


def is_answered(ordered: Ordered) -> bool:
    """Whether a command gets a reply and changes nothing."""
    command = ordered.command
    return not command.problem and (command.name in ("status", "help") or command.has("dry-run"))


def _obey_one(item: Item, ordered: Ordered, board: Board) -> Item:
    why_not = refusal(item, ordered, board)
    if why_not:
        # An edited comment comes again with each edit: where a record can hold it, its author is told once.
        told = _acted(item, ordered) if ordered.edited and item.task.comment is not None else item
        return _with_result(told, refusals=(*item.command_result.refusals, (ordered, why_not)))
    if ordered.command.name == "answer" and _is_asked(item):
        return item  # taken with the other replies to its question
    done = _EFFECTS[ordered.command.name](item, ordered, board)
    if done.command_result.wants:
        return done  # not carried out yet
    return _with_result(
        _acted(done, ordered), reactions=(*done.command_result.reactions, *reactions_to(ordered, ROCKET))
    )


def reactions_to(ordered: Ordered, verdict: str) -> tuple[React, ...]:
    """Seen, and the verdict; a ticked box has nothing to react to."""
    return (React(ordered.node, EYES), React(ordered.node, verdict)) if ordered.comment > 0 else ()


def _obey_for_all(item: Item, ordered: Ordered, board: Board) -> Item:
    if ordered.comment in item.task.record.acted or item.task.record_problem:
        return item
    if ordered.command.name == "stop":
        concerned = item.record.live is not None
        return _acted(_stop(item, ordered, board), ordered) if concerned else item
    selection = read_selection(ordered.command.arguments)
    assert isinstance(selection, Selection), "what cannot be read is refused before"
    concerned = item.meant.status is Status.BACKLOG and item.task.issue.is_open and selection.takes(item.task)
    if not concerned or _outweighed(item, ordered, board):
        return item
    return _acted(_order_work(item, ordered, board), ordered)


def _is_asked(item: Item) -> bool:
    return item.record.blocker is not None and item.meant.status is Status.BLOCKED


def _acted(item: Item, ordered: Ordered) -> Item:
    acted = tuple(dict.fromkeys((*item.record.acted, ordered.comment)))
    return replace(item, record=replace(item.record, acted=acted))


def _with_result(item: Item, **changes: object) -> Item:
    return replace(item, command_result=replace(item.command_result, **changes))


# ---------------------------------------------------------------------- refusals


def refusal(item: Item, ordered: Ordered, board: Board) -> str:
    """Why a command is not carried out on this task, as the end of "Not done: ..."; empty if it is."""
    command, prefix = ordered.command, board.config.prefix
    row = row_on_task(item, command.name, board)
    if command.problem:
        return command.problem
    if row is None:
        return _elsewhere(command.name, prefix)
    if command.name in NOT_YET:
        return f"`/{prefix} {command.name}` is not there yet"
    if ordered.edited and command.name in STARTING:
        return _edited(command.name, prefix)
    if item.task.record_problem:
        return item.task.record_problem
    if command.name == "stop":
        return ""
    if not item.task.issue.is_open:
        return "this issue is closed; reopening it orders the work anew"
    if _outweighed(item, ordered, board):
        return "the status label was changed since then, and the later word counts"
    if row.states and item.meant.status not in row.states:
        return _wrong_state(item, row, prefix)
    if command.name == "publish":
        return _nothing_held(item, prefix)
    if command.name == "apply":
        return nothing_proposed(item, prefix)
    engine = command.value("engine").lower()
    return engine_problem(ALIASES.get(engine, engine)) if engine else ""


def refusal_on(place: Scope, ordered: Ordered, board: Board) -> str:
    """Why a command on the dashboard or a batch is not carried out, as far as that needs no look at the batch; empty if it is."""
    command, prefix = ordered.command, board.config.prefix
    if command.problem:
        return command.problem
    if row_of(command.name, place) is None:
        return _elsewhere(command.name, prefix)
    if command.name in NOT_YET:
        return f"`/{prefix} {command.name}` is not there yet"
    if ordered.edited and command.name in STARTING:
        return _edited(command.name, prefix)
    if place is Scope.DASHBOARD and command.name == "stop" and not command.has("all"):
        return f"here it takes `--all`, and stops every run; `/{prefix} stop` on a task stops that one"
    if command.name == "approve":
        return _wrong_selection(command, board)
    if place is Scope.DASHBOARD and command.name == "apply" and not board.snapshot.proposed.needs:
        return nothing_waits(prefix)
    return ""


def _wrong_selection(command: Command, board: Board) -> str:
    """A number that is no task in the backlog refuses the whole."""
    selection = read_selection(command.arguments)
    if not isinstance(selection, Selection):
        return selection
    unfit = [number for number in selection.excluded if not _is_in_backlog(number, board)]
    names = ", ".join(f"#{number}" for number in unfit)
    return (
        f"{names} {'is' if len(unfit) == 1 else 'are'} not in the backlog; nothing was approved"
        if unfit
        else ""
    )


def _is_in_backlog(number: int, board: Board) -> bool:
    meant = board.meant.get(number)
    return meant is not None and meant.status is Status.BACKLOG and board.snapshot.tasks[number].issue.is_open


NOT_YET = frozenset({"plan"})
"""Commands of the table that nothing carries out in this version."""


def _edited(name: str, prefix: str) -> str:
    return f"an edited comment starts nothing; please write `/{prefix} {name}` in a new one"


def row_on_task(item: Item, name: str, board: Board) -> Row | None:
    """The table's row for a command on this issue; a specification is a task with some commands more."""
    is_spec = item.task.issue.has_label(board.config.label("spec"))
    return (row_of(name, Scope.SPEC) if is_spec and name != "help" else None) or row_of(name, Scope.TASK)


def _elsewhere(name: str, prefix: str) -> str:
    places = " or ".join(f"a {row.place}" for row in COMMANDS if row.name == name)
    return f"`/{prefix} {name}` belongs on {places}"


def _wrong_state(item: Item, row: Row, prefix: str) -> str:
    words = row.refusals.get(item.meant.status)
    if words is None:
        states = ", ".join(f"`{prefix}:{state}`" for state in row.states if state)
        return f"`/{prefix} {row.name}` works from {states}, and this task is `{prefix}:{item.meant.status}`"
    live = item.record.live
    return words.format(key=Key(item.number, live.number) if live else "its attempt", prefix=prefix)


def _outweighed(item: Item, ordered: Ordered, board: Board) -> bool:
    """Whether somebody who may has given another order since: a later label, or for a stop a later start."""
    move, approval = item.meant.move, item.record.approval
    labelled = move is not None and move.at > ordered.at and may_label(move.actor, board.snapshot) is True
    if ordered.command.name != "stop":
        return labelled
    started = approval is not None and approval.at > ordered.at
    return started or (labelled and item.meant.status is Status.READY)


def _nothing_held(item: Item, prefix: str) -> str:
    held, last = item.record.held, last_attempt(item.record)
    lost = {
        Hold.SECRET: "holds a secret",
        Hold.EXPIRED: "has expired",
        Hold.UNFIT: "is not what may be published",
    }
    if held is not None and held.why in lost:
        return f"the held work {lost[held.why]}; `/{prefix} retry` makes a new attempt"
    if item.record.earlier and (held is not None or (last is not None and last.outcome is Outcome.HELD)):
        return ""
    return "no work of this task is held"


# ---------------------------------------------------------------------- effects


def _order_work(item: Item, ordered: Ordered, board: Board) -> Item:
    """Approve the text as it stands; the task is ready, with fresh strikes."""
    approval = board.approval_by(item, ordered.author.login, ordered.at)
    record = replace(reset_by_order(item.record), approval=approval)
    return replace(item, record=record, meant=Meant(Status.READY))


def _run(item: Item, ordered: Ordered, board: Board) -> Item:
    """As `_order_work`; its options hold for the attempts that follow, until the next such order."""
    return with_engine_request(_order_work(item, ordered, board), ordered)


def with_engine_request(item: Item, ordered: Ordered) -> Item:
    """The task with what the options of a `run` ask for."""
    command = ordered.command
    engine_request = EngineRequest(engine=command.value("engine").lower(), model=command.value("model"))
    minutes = read_duration(command.value("timeout") or 0) // timedelta(minutes=1)
    return replace(
        item,
        record=replace(
            item.record, engine_request=engine_request, timeout_minutes=minutes, started_by_command=True
        ),
    )


def _stop(item: Item, ordered: Ordered, board: Board) -> Item:
    """To the backlog, if something runs or would; the run ends by `obey_stop`."""
    if _outweighed(item, ordered, board):
        return item
    stop = Stop(ordered.author.login, force=ordered.command.has("force"))
    waiting = item.meant.status in (Status.READY, Status.IN_PROGRESS, Status.BLOCKED)
    meant = Meant(Status.BACKLOG) if waiting else item.meant
    return _with_result(replace(item, meant=meant), stop=stop)


def _publish(item: Item, ordered: Ordered, board: Board) -> Item:
    """Held work is published as it is: what its notice lists is what this person lets through."""
    approval = board.approval_by(item, ordered.author.login, ordered.at)
    held = item.record.held
    record = replace(
        reset_by_order(item.record),
        approval=approval,
        republish=True,
        exceptions=held.protected if held else (),
        held=replace(held, tries=0) if held is not None and held.why is Hold.STALE else None,
    )
    return replace(item, record=record, meant=Meant(Status.READY))


def _answer(item: Item, ordered: Ordered, board: Board) -> Item:  # noqa: ARG001 - every effect has this shape
    """Words for the next attempt, also while one is running."""
    answer = Answer("", ordered.command.text, ordered.author.login, ordered.comment, ordered.at)
    return replace(item, record=replace(item.record, answers=(*item.record.answers, answer)))


_EFFECTS: dict[str, Callable[[Item, Ordered, Board], Item]] = {
    "run": _run,
    "retry": _order_work,
    "approve": _order_work,
    "stop": _stop,
    "publish": _publish,
    "answer": _answer,
    "deps": propose,
    "apply": consent,
}


# ---------------------------------------------------------------------- the rule, and what is left to say


def obey_stop(item: Item, board: Board) -> Decision | None:
    """`/cf stop`: the run is cancelled and the task goes to the backlog, or is ready again where it was ordered anew since."""
    stop = item.command_result.stop
    if stop is None or (item.record.live is None and item.meant.status is Status.READY):
        return None
    why = f"stopped by {stop.by}"
    return end_live(item, board, item.meant.status, why, Verb.MOVE, force=stop.force)


def with_reactions(item: Item, decision: Decision) -> Decision:
    """The decision with the reactions to the commands that it carries out, and the comments that they ask for."""
    heard = item.command_result
    if not heard.reactions:
        return decision
    new = tuple(notice for notice in heard.notices if notice.fingerprint not in decision.record.notices)
    return replace(
        decision, reactions=(*decision.reactions, *heard.reactions), notices=(*decision.notices, *new)
    )
