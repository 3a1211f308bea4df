"""What acting did, what it has still to write, and the two things that it does with runs: start one, end one."""

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from bot.conductor.observe.view import Observation
from bot.github.port import GitHub
from bot.model.cause import Met
from bot.model.change import Change, Written
from bot.model.config import WORKER_WORKFLOW
from bot.model.errors import BotError, CannotGoOn, NotFound, Refused
from bot.model.unit import Unit
from bot.notation.units import write_units
from bot.plan.facts.causes import of_refused_dispatch


class Effects(Struct):
    """`skipped` says per task why its decision was left to the next tick; `left` are batches that were.

    `unanswered` are comments whose reply GitHub refused. `unwritten` are tasks on which GitHub took no claim or first word of
    ours, with its words; `not_begun` are those whose start it refused.
    """

    started: dict[int, int] = field(default_factory=dict)  # task -> run id
    skipped: dict[int, str] = field(default_factory=dict)
    left: dict[int, str] = field(default_factory=dict)
    unanswered: set[int] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    unwritten: dict[int, str] = field(default_factory=dict)
    not_begun: set[int] = field(default_factory=set)
    writes: int = 0


class Outbox:
    """Changes that nothing else waits for, written together at the end and in this order: one request instead of many."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, Change]] = []

    def put(self, what: str, changes: Iterable[Change]) -> None:
        """`what` names them where GitHub refuses one."""
        self._waiting += [(what, change) for change in changes]

    def send(self, github: GitHub, effects: Effects) -> None:
        """Write all that waits."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        said = github.write([change for _, change in waiting])
        effects.writes += len(waiting)
        effects.refused += [
            f"{what}: {one.error}" for (what, _), one in zip(waiting, said, strict=True) if one.error
        ]


def write_now(github: GitHub, what: str, changes: Sequence[Change], effects: Effects) -> tuple[Written, ...]:
    """Write what something else waits for; nothing is sent without a change. What was refused is told under this name.

    GitHub may refuse all of it for a reason of one issue that reads like a missing permission (its author has blocked us). So that
    is a refusal like any other here: a token that may write nothing is told by what is written after this.
    """
    if not changes:
        return ()
    try:
        answers = github.write(changes)
    except CannotGoOn as error:
        answers = tuple(Written(error=str(error)) for _ in changes)
    effects.writes += len(changes)
    effects.refused += [f"{what}: {one.error}" for one in answers if one.error]
    return answers


def end_run(github: GitHub, run: int, force: bool, effects: Effects) -> None:
    """Ask for the end of a run; one that is gone needs none."""
    try:
        if force:
            github.force_cancel(run)
        else:
            github.cancel(run)
    except (NotFound, Refused) as error:
        effects.refused.append(f"cancelling run {run}: {error}")


def dispatch_run(github: GitHub, group: Sequence[Unit], seen: Observation) -> tuple[int, Met | None]:
    """Dispatch a run with these units: its id, and why GitHub refused it, if it did. Raises what else the port raises."""
    inputs = {"units": write_units(group), "keys": " ".join(key for unit in group for key in unit.keys)}
    try:
        return github.dispatch(WORKER_WORKFLOW, seen.view.repository.default_branch, inputs), None
    except BotError as error:
        met = of_refused_dispatch(error)
        if met is None:
            raise
        return 0, met
