"""Batches: what a person ordered in one go, and how it ends."""

from enum import StrEnum

from msgspec import Struct

from bot.model.engine import Wish
from bot.model.issue import Issue
from bot.model.moment import Moment


class Strategy(StrEnum):
    PARALLEL = "parallel"
    SERIAL = "serial"


class Order(Struct, frozen=True, omit_defaults=True):
    """What was ordered. `tasks` stand in the order written, each once; `run` is the workflow run that wrote the order down.

    `max_parallel` None: only the repository's own limits hold.
    """

    run: int
    by: str
    at: Moment
    tasks: tuple[int, ...]
    strategy: Strategy = Strategy.PARALLEL
    max_parallel: int | None = None
    wish: Wish = Wish()


class Batch(Struct, frozen=True, omit_defaults=True):
    """An open batch issue of ours. `order` is None where its text is not an order of ours any more; `problem` says why."""

    issue: Issue
    order: Order | None
    problem: str = ""

    @property
    def number(self) -> int:
        return self.issue.number


class Result(Struct, frozen=True, omit_defaults=True):
    """Where a member of an ended batch stands, in words for a table. `reason` is filled where it did not come through."""

    task: int
    status: str
    attempts: int = 0
    pull: int = 0
    reason: str = ""


class BatchEnd(Struct, frozen=True, omit_defaults=True):
    """A batch issue to be closed, with its last words. `text` is empty where they were posted before."""

    issue: str  # node id
    number: int
    text: str
