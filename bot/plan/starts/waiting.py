"""What a task waits for: needs, each in its own words."""

from collections.abc import Iterator

from msgspec import Struct

from bot.model.decision import Notice
from bot.model.issue import Issue, NeedState, StateReason
from bot.model.ref import Ref
from bot.model.snapshot import Lookup, NeedOf, Snapshot
from bot.model.status import Status
from bot.model.task import Task
from bot.plan.board import Board

# These will not mend themselves: a person must decide, and is asked once.
_NEEDS_A_PERSON = {
    NeedState.NOT_PLANNED: "was closed as not planned",
    NeedState.DUPLICATE: "was closed as a duplicate",
    NeedState.CLOSED_OTHERWISE: "was closed for a reason that this version of cf-conductor does not know",
    NeedState.CLOSED_UNMERGED: "is a pull request that was closed without merge",
    NeedState.UNREADABLE: "cannot be read with this token: it may be private, or not exist",
    NeedState.DELETED: "was deleted",
}


# An edge of our own making is a guess: it ends with the issue, however that was closed.
OFF = (NeedState.NOT_PLANNED, NeedState.DUPLICATE, NeedState.CLOSED_OTHERWISE, NeedState.DELETED)


_CLOSED = {
    StateReason.COMPLETED: NeedState.COMPLETED,
    StateReason.NOT_PLANNED: NeedState.NOT_PLANNED,
    StateReason.DUPLICATE: NeedState.DUPLICATE,
}


class Unmet(Struct, frozen=True):
    ref: Ref
    state: NeedState
    words: str


def unmet_needs(task: Task, board: Board) -> tuple[tuple[Unmet, ...], frozenset[Lookup]]:
    """The needs that are not satisfied, with words for each, and the lookups that are still missing to say so."""
    snapshot = board.snapshot
    unmet: list[Unmet] = []
    wants: set[Lookup] = set()
    for ref in task.needs:
        state = state_of(ref, snapshot)
        if state is None:
            wants.add(NeedOf(ref))
        elif not state.satisfied and not (ref in task.inferred and state in OFF):
            unmet.append(Unmet(ref, state, _words(ref, state, board)))
    if task.issue.hidden_edges:
        hidden = Ref(snapshot.repository.full_name, task.number)
        unmet.append(Unmet(hidden, NeedState.UNREADABLE, "a blocker or sub-issue that this token cannot see"))
    return tuple(unmet), frozenset(wants)


def state_of(ref: Ref, snapshot: Snapshot) -> NeedState | None:
    """How a need stands; None if it must be looked up first."""
    if ref.repository == snapshot.repository.full_name.lower() and ref.number in snapshot.tasks:
        return _issue_state(snapshot.tasks[ref.number].issue)
    return snapshot.needs.get(ref)


def _issue_state(issue: Issue) -> NeedState:
    if issue.is_open:
        return NeedState.OPEN
    return _CLOSED.get(issue.state_reason or StateReason.COMPLETED, NeedState.CLOSED_OTHERWISE)


def need_notices(unmet: tuple[Unmet, ...]) -> Iterator[Notice]:
    """One notice per need that only a person can settle."""
    for need in unmet:
        if need.state in _NEEDS_A_PERSON:
            text = (
                f"This task needs {need.words}. It will not start until somebody decides: complete or replace the need,"
                " or remove the line that names it from the description."
            )
            yield Notice(f"need:{need.ref}:{need.state.name.lower()}", text)


def _words(ref: Ref, state: NeedState, board: Board) -> str:
    local = ref.repository == board.home
    name = f"#{ref.number}" if local else str(ref)
    meant = board.meant.get(ref.number) if local and state is NeedState.OPEN else None
    if meant is not None and meant.status is Status.FAILED:
        return f"failed {name}"
    if state in _NEEDS_A_PERSON:
        return f"{name}, which {_NEEDS_A_PERSON[state]}"
    if state is NeedState.OPEN_PULL:
        return f"{name}, which is not merged yet"
    if state is NeedState.UNKNOWN:
        return f"{name}, which could not be read just now"
    return name
