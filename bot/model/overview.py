"""Where everything stands, as one value: dashboard, job summary, outputs and `/cf status` all tell from it."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct, field

from bot.model.status import Status
from bot.model.unit import Kind


class Standing(Struct, frozen=True):
    """One task in one section. `words` say why it is there and may quote people.

    `at` is since when, or when it ended after `minutes` of work.
    """

    task: int
    words: str = ""
    key: str = ""
    run: int = 0
    kind: Kind = Kind.CODE
    pull: int = 0
    at: datetime | None = None
    minutes: float = 0.0


class Overview(Struct, frozen=True):
    """Each task stands in one section; `recent` are ended attempts, newest first, whatever became of their tasks.

    `started` were started by this very tick. `reason` is one line: whether anything can start and, if not, why. `edges` are the
    needs between open tasks, (need, task), and `statuses` what those tasks are. `in_the_way` is a line for each cause that stands.
    """

    running: tuple[Standing, ...] = ()
    ready: tuple[Standing, ...] = ()
    waiting: tuple[Standing, ...] = ()
    blocked: tuple[Standing, ...] = ()
    failed: tuple[Standing, ...] = ()
    review: tuple[Standing, ...] = ()
    backlog: tuple[Standing, ...] = ()
    recent: tuple[Standing, ...] = ()
    started: int = 0
    can_start: bool = False
    reason: str = ""
    in_the_way: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    edges: tuple[tuple[int, int], ...] = ()
    statuses: Mapping[int, Status | None] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """How many tasks stand in each section that people watch."""
        return {
            name: len(getattr(self, name)) for name in ("ready", "running", "waiting", "blocked", "failed")
        }
