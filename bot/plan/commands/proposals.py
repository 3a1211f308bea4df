"""`/cf deps` and `/cf apply`: needs that a model proposes, shown in one comment, and merged once somebody consents."""

from collections.abc import Iterable, Mapping
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from bot.model.advice import Proposal
from bot.model.command import Ordered
from bot.model.decision import Notice
from bot.model.record import Record
from bot.model.ref import Ref
from bot.model.snapshot import InferNeeds, Lookup
from bot.model.status import Status
from bot.notation.quoting import quote_line
from bot.plan.board import Board, Item
from bot.plan.graph.inference import Edge, Inferred, infer, nothing_waits

_MOST_EDGES = 200
_MOST_TASKS = 100
_FINISHED = (None, Status.DONE, Status.MERGED)
AUTOMATIC = "inference.apply: auto"


class Found(Struct, frozen=True):
    """What asking for needs came to: the edges that may join those that exist, and what to say; or what must be looked up first."""

    edges: tuple[Edge, ...] = ()
    text: str = ""
    wants: frozenset[Lookup] = frozenset()


def inferred_among(tasks: Iterable[int] | None, board: Board) -> Found:
    """What the model makes of these tasks, as far as they are open; None: of all that are."""
    known = _open_tasks(board)
    numbers = tuple(sorted(known if tasks is None else known & frozenset(tasks)))[:_MOST_TASKS]
    if len(numbers) < 2:
        return Found(text="No needs inferred: there are no two open tasks.")
    proposal = board.snapshot.proposals.get(numbers)
    if proposal is None:
        return Found(wants=frozenset({InferNeeds(numbers)}))
    found = infer(proposal.needs, _existing(board), frozenset(numbers))
    return Found(found.accepted[:_MOST_EDGES], _proposal_text(proposal, found, board))


def consent_to(edges: tuple[Edge, ...], board: Board) -> str:
    """Who has consented to these edges as soon as they are proposed."""
    return AUTOMATIC if edges and board.config.inference == "auto" else ""


def propose(item: Item, ordered: Ordered, board: Board) -> Item:
    """`/cf deps`: ask the model about the open tasks, and show what may join the needs that exist."""
    found = inferred_among(None, board)
    if found.wants:
        return replace(
            item, command_result=replace(item.command_result, wants=item.command_result.wants | found.wants)
        )
    record = replace(item.record, proposed=found.edges, consent=consent_to(found.edges, board))
    return _told(item, ordered, record, found.text)


def consent(item: Item, ordered: Ordered, board: Board) -> Item:  # noqa: ARG001 - every effect has this shape
    """`/cf apply`: from now on what was proposed here is taken over, task by task, until all of it is."""
    return replace(item, record=replace(item.record, consent=ordered.author.login))


def nothing_proposed(item: Item, prefix: str) -> str:
    """Why `/cf apply` has nothing to do here; empty if it has."""
    return "" if item.record.proposed else nothing_waits(prefix)


def take_over(items: Iterable[Item], more: Iterable[Edge], board: Board) -> tuple[Item, ...]:
    """The tasks with the needs that somebody consented to on a task, and `more` of them: nothing that is there is replaced.

    The proposal is cleared by the tick that finds nothing missing any more, so a tick that dies between two records loses no edge.
    """
    items = tuple(items)
    consented = (edge for item in items if item.record.consent for edge in item.record.proposed)
    added = _by_task(missing((*consented, *more), board))
    return tuple(_with(item, added.get(item.number, ()), board, cleared=not added) for item in items)


def missing(edges: Iterable[Edge], board: Board) -> tuple[Edge, ...]:
    """Those of these edges that the issues do not have and may have, judged anew, because others may have come since.

    What a batch lent its members is there already, but only until the batch ends.
    """
    wanted = tuple(dict.fromkeys(edges))
    if not wanted:
        return ()
    known, tasks = _open_tasks(board), board.snapshot.tasks
    lent = {
        (task, need) for task, need in wanted if task in known and Ref(board.home, need) in tasks[task].lent
    }
    new = infer(_by_task(edge for edge in wanted if edge not in lent), _existing(board), known)
    return (*sorted(edge for edge in lent if edge[1] in known), *new.accepted)


def _with(item: Item, needs: tuple[int, ...], board: Board, *, cleared: bool) -> Item:
    record, task = item.record, item.task
    if cleared and record.consent:
        record = replace(record, proposed=(), consent="")
    if needs:
        record = replace(record, own_needs=tuple(dict.fromkeys((*record.own_needs, *needs))))
        refs = tuple(Ref(board.home, need) for need in needs)
        needed = tuple(dict.fromkeys((*task.needs, *refs)))
        task = replace(task, needs=needed, inferred=(*task.inferred, *refs))
    return replace(item, record=record, task=task)


def _open_tasks(board: Board) -> frozenset[int]:
    return frozenset(
        item.number
        for item in board.items
        if item.task.issue.is_open and not item.task.record_problem and item.meant.status not in _FINISHED
    )


def _existing(board: Board) -> Mapping[int, tuple[int, ...]]:
    return {node: board.graph.needs(node) for node in board.graph.nodes}


def _by_task(edges: Iterable[Edge]) -> dict[int, tuple[int, ...]]:
    return {
        task: tuple(need for _, need in found)
        for task, found in groupby(sorted(dict.fromkeys(edges)), key=lambda edge: edge[0])
    }


def _told(item: Item, ordered: Ordered, record: Record, text: str) -> Item:
    notice = Notice(f"deps:{ordered.comment}", text)
    return replace(
        item,
        record=record,
        command_result=replace(item.command_result, notices=(*item.command_result.notices, notice)),
    )


def _proposal_text(proposal: Proposal, found: Inferred, board: Board) -> str:
    if proposal.problem:
        return f"No needs inferred: {quote_line(proposal.problem)}."
    parts = ["**Inferred needs**, `task <- needs`:" if found.accepted else "No needs inferred."]
    by_task = _by_task(found.accepted[:_MOST_EDGES])
    if by_task:
        parts.append(
            "\n".join(
                f"- #{task} <- {', '.join(f'#{need}' for need in needs)}" for task, needs in by_task.items()
            )
        )
        how = (
            "They hold from now on"
            if consent_to(found.accepted, board)
            else f"`/{board.config.prefix} apply` here takes them over"
        )
        parts.append(
            f"{how}, beside the needs that exist. A need falls away when its issue is closed in any way."
        )
    if found.dropped:
        lines = [f"- #{one.task} <- #{one.need}: {one.reason}" for one in found.dropped[:20]]
        parts.append("Left out:\n\n" + "\n".join(lines))
    return "\n\n".join(parts)
