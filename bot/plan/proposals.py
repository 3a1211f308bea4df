"""`/cf deps` and `/cf apply`: needs that a model proposes, shown in one comment, and merged once somebody consents."""

from collections.abc import Iterable, Mapping
from itertools import groupby

from msgspec.structs import replace

from bot.model.advice import Proposal
from bot.model.command import Ordered
from bot.model.decision import Notice
from bot.model.record import Record
from bot.model.ref import Ref
from bot.model.snapshot import InferNeeds
from bot.model.status import Status
from bot.notation.quoting import quote_line
from bot.plan.board import Board, Item
from bot.plan.inference import Edge, Inferred, infer

_MOST_EDGES = 200
_MOST_TASKS = 100
_FINISHED = (None, Status.DONE, Status.MERGED)
AUTOMATIC = "inference.apply: auto"


def propose(item: Item, ordered: Ordered, board: Board) -> Item:
    """`/cf deps`: ask the model about the open tasks, and show what may join the needs that exist."""
    numbers = tuple(sorted(_open_tasks(board)))[:_MOST_TASKS]
    if len(numbers) < 2:
        return _told(item, ordered, item.record, "No needs inferred: there are no two open tasks.")
    proposal = board.snapshot.proposals.get(numbers)
    if proposal is None:
        return replace(item, heard=replace(item.heard, wants=item.heard.wants | {InferNeeds(numbers)}))
    found = infer(proposal.needs, _existing(board), _open_tasks(board))
    accepted = found.accepted[:_MOST_EDGES]
    auto = board.config.inference == "auto"
    record = replace(item.record, proposed=accepted, consent=AUTOMATIC if auto and accepted else "")
    return _told(item, ordered, record, _proposal_text(proposal, found, board, auto=auto))


def consent(item: Item, ordered: Ordered, board: Board) -> Item:  # noqa: ARG001 - every effect has this shape
    """`/cf apply`: from now on what was proposed here is taken over, task by task, until all of it is."""
    return replace(item, record=replace(item.record, consent=ordered.author.login))


def nothing_proposed(item: Item, prefix: str) -> str:
    """Why `/cf apply` has nothing to do here; empty if it has."""
    return (
        "" if item.record.proposed else f"no needs wait here to be taken over; `/{prefix} deps` proposes some"
    )


def take_over(items: Iterable[Item], board: Board) -> tuple[Item, ...]:
    """The tasks with the needs that somebody consented to, beside those they have: nothing is replaced.

    Judged anew, because edges may have changed since. The proposal is cleared by the tick that finds nothing missing any more, so a
    tick that dies between two records loses no edge.
    """
    items = tuple(items)
    consented = [item for item in items if item.record.consent and item.record.proposed]
    if not consented:
        return items
    wanted = _by_task(edge for item in consented for edge in item.record.proposed)
    added = _by_task(infer(wanted, _existing(board), _open_tasks(board)).accepted)
    return tuple(_with(item, added.get(item.number, ()), board, cleared=not added) for item in items)


def _with(item: Item, needs: tuple[int, ...], board: Board, *, cleared: bool) -> Item:
    record, task = item.record, item.task
    if cleared and record.consent:
        record = replace(record, proposed=(), consent="")
    if needs:
        record = replace(record, own_needs=tuple(dict.fromkeys((*record.own_needs, *needs))))
        refs = tuple(Ref(board.home, need) for need in needs)
        task = replace(task, needs=(*task.needs, *refs), inferred=(*task.inferred, *refs))
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
    return replace(item, record=record, heard=replace(item.heard, notices=(*item.heard.notices, notice)))


def _proposal_text(proposal: Proposal, found: Inferred, board: Board, *, auto: bool) -> str:
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
        how = "They hold from now on" if auto else f"`/{board.config.prefix} apply` here takes them over"
        parts.append(
            f"{how}, beside the needs that exist. A need falls away when its issue is closed in any way."
        )
    if found.dropped:
        lines = [f"- #{one.task} <- #{one.need}: {one.reason}" for one in found.dropped[:20]]
        parts.append("Left out:\n\n" + "\n".join(lines))
    return "\n\n".join(parts)
