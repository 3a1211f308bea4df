"""What is written down as a need and what GitHub shows as one: made the same, or the difference said once."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from bot.model.decision import Decision, Notice
from bot.model.issue import NeedState
from bot.model.ref import Ref
from bot.plan.board import Board, Item
from bot.plan.starts.waiting import state_of

MOST = 50  # blockers that GitHub takes for one issue
_PER_TICK = 40
_ISSUES = (
    NeedState.OPEN,
    NeedState.COMPLETED,
    NeedState.NOT_PLANNED,
    NeedState.DUPLICATE,
    NeedState.CLOSED_OTHERWISE,
)
Relation = tuple[int, Ref]


def to_be_written(decided: Mapping[int, Decision], board: Board) -> tuple[Relation, ...]:
    """With `dependencies.sync: native` the open needs that text or record name and GitHub does not show: (task, blocker).

    Only issues of this repository: GitHub takes no pull request, and what is elsewhere may not be ours to name. Of many
    the first; a later tick writes the others.
    """
    if board.config.dependencies.sync != "native":
        return ()
    found: list[Relation] = []
    for number, decision in decided.items():
        task = board.snapshot.tasks[number]
        if not task.issue.is_open or decision.status is None or number in board.cyclic:
            continue
        own = (Ref(board.home, need) for need in decision.record.own_needs)
        there = {edge.ref for edge in task.issue.edges}
        missing = [
            ref
            for ref in dict.fromkeys((*task.written, *own))
            if ref not in there and ref.repository == board.home and _is_open_issue(ref, board)
        ]
        room = MOST - len(task.issue.edges) - task.issue.hidden_edges
        found += [(number, ref) for ref in missing[: max(0, room)]]
    return tuple(found[:_PER_TICK])


def _is_open_issue(ref: Ref, board: Board) -> bool:
    return state_of(ref, board.snapshot) is NeedState.OPEN


def mention_mismatch(item: Item, decision: Decision, board: Board) -> Decision:
    """Once for each difference: both text and GitHub name needs, and not the same. All of them count."""
    config, task = board.config.dependencies, item.task
    tells = task.issue.is_open and not task.record_problem and decision.status is not None
    if not tells or not config.native or config.sync == "native":
        return decision
    native = {edge.ref for edge in task.issue.edges if edge.ref is not None}
    written = {ref for ref in task.written if ref in native or state_of(ref, board.snapshot) in _ISSUES}
    only_written, only_native = sorted(written - native), sorted(native - written)
    if not native or not written or native == written:
        return decision
    sentences = [
        *([f"Only the description names {_names(only_written, board)}."] if only_written else []),
        *([f"Only GitHub's `blocked by` names {_names(only_native, board)}."] if only_native else []),
        "All of them count.",
    ]
    names = ",".join(map(str, (*only_written, "", *only_native)))
    notice = Notice(f"mismatch:{names}"[:200], f"The needs of this task differ. {' '.join(sentences)}")
    known = notice.fingerprint in (*decision.record.notices, *(one.fingerprint for one in decision.notices))
    return decision if known else replace(decision, notices=(*decision.notices, notice))


def _names(refs: Iterable[Ref], board: Board) -> str:
    return ", ".join(f"#{ref.number}" if ref.repository == board.home else str(ref) for ref in refs)
