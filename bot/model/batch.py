"""Batches: what a person ordered in one go, what became of it so far, and how it ends."""

from datetime import timedelta
from enum import StrEnum

from msgspec import Struct, field

from bot.model.chosen import BatchOverrides
from bot.model.engine import EngineRequest
from bot.model.issue import Comment, Issue
from bot.model.moment import Moment
from bot.model.record import Attempt, Proposed


class Strategy(StrEnum):
    PARALLEL = "parallel"
    SERIAL = "serial"
    AUTO = "auto"  # the needs between the members are inferred before anything starts


class BatchState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        return self not in (BatchState.PENDING, BatchState.RUNNING)


class Order(Struct, frozen=True, omit_defaults=True):
    """What was ordered. `tasks` stand in the order written, each once; `run` is the workflow run that wrote the order down.

    `max_parallel` None: only the repository's own limits hold. `max_parallel_by_status` is by what members were started from
    (a status' name). With `stop_on_failure` nothing fresh starts while a member has failed for good; `end_blocked` ends the
    batch although questions are open; a `dry_run` shows the plan and waits to be run.
    """

    run: int
    by: str
    at: Moment
    tasks: tuple[int, ...]
    strategy: Strategy = Strategy.PARALLEL
    max_parallel: int | None = None
    engine_request: EngineRequest = field(default=EngineRequest(), name="wish")
    max_parallel_by_status: dict[str, int] = field(default_factory=dict)
    stop_on_failure: bool = False
    max_retries: int = 0
    chosen: BatchOverrides = BatchOverrides()
    end_blocked: bool = False
    dry_run: bool = False
    left_out: tuple[str, ...] = ()  # what was named and is no member, in words


class Action(StrEnum):
    RUN = "run"  # of a dry run
    STOP = "stop"
    RESUME = "resume"


class Control(Struct, frozen=True, omit_defaults=True):
    """A person's later word on a batch. Of several the latest counts."""

    action: Action
    by: str
    at: Moment
    force: bool = False
    run: int = 0  # of cf-batch.yml, if it was given there, and then the batch that it is about
    batch: int = 0


class Trial(Struct, frozen=True, omit_defaults=True):
    """One run of the gates over the first `joined` members of a search; with `old`, on the default branch as it was before them.

    `conflict` is a task whose work did not join.
    """

    attempt: Attempt
    joined: int
    old: bool = False
    conflict: int = 0


class Search(Struct, frozen=True, omit_defaults=True):
    """One go of the batch gate over these members, in the order of joining, and the hunt for the guilty one if it is red.

    The first `merged` of them are in the default branch already; `heads` is a digest of all their commits. `base` is the commit of
    the default branch that the trials stand on, `before` a time before the first member's work. `passed` is None while it
    goes on; `guilty` 0 with a red end means that no single member is to blame.
    """

    tasks: tuple[int, ...]
    merged: int
    heads: str
    before: Moment
    trials: tuple[Trial, ...] = ()
    base: str = ""
    passed: bool | None = None
    guilty: int = 0
    reason: str = ""
    failing: tuple[str, ...] = ()  # configured gates, by name, that were not passed
    log: str = ""  # the failing gates' last words


class Happening(Struct, frozen=True, omit_defaults=True):
    """A reconciliation: something outside changed a member's course. `key` makes each count once."""

    key: str
    at: Moment
    action: str
    task: int
    reason: str
    who: str = ""


class ConfigChange(Struct, frozen=True, omit_defaults=True):
    """The configuration's git blob, as it changed under the batch."""

    at: Moment
    before: str
    after: str


class BatchRecord(Struct, frozen=True, omit_defaults=True):
    """Our memory of one batch, hidden in its issue. `control` is the latest word that was acted upon.

    `rounds` counts the extra rounds begun, the last of them at `round_at`; `was` holds members by their status before a
    resume. `needs` are the inferred ones, by member, once `inferred` (`serial`: in vain, so the members go one by one);
    `inference` says how that went. `proposed` are those that `/cf deps` on its issue came to; by consent all of them reach the
    issues. `blames` counts how often the gate named a member, `sums` reconciliations by kind. `facts` is a digest of what the
    issue shows.
    """

    state: BatchState = BatchState.PENDING
    started_at: Moment | None = None
    ended_at: Moment | None = None
    control: Control | None = None
    rounds: int = 0
    round_at: Moment | None = None
    was: dict[str, tuple[int, ...]] = field(default_factory=dict)
    inferred: bool = False
    serial: bool = False
    needs: dict[int, tuple[int, ...]] = field(default_factory=dict)
    inference: tuple[str, ...] = ()
    proposed: Proposed = Proposed()
    gate: Search | None = None
    next_gate: int = 1
    blames: dict[int, int] = field(default_factory=dict)
    happenings: tuple[Happening, ...] = ()
    sums: dict[str, int] = field(default_factory=dict)
    config: str = ""
    changes: tuple[ConfigChange, ...] = ()
    facts: str = ""

    @property
    def trial(self) -> Trial | None:
        """The gate's trial that runs now, if any."""
        last = self.gate.trials[-1] if self.gate and self.gate.trials else None
        return last if last is not None and last.attempt.live else None


class Batch(Struct, frozen=True, omit_defaults=True):
    """A batch issue of ours. `order` is None where its text is not an order of ours any more; `problem` says why.

    `comments` are those on it that are at hand: its first ones, and new ones.
    """

    issue: Issue
    order: Order | None
    record: BatchRecord = BatchRecord()
    problem: str = ""
    comments: tuple[Comment, ...] = ()

    @property
    def number(self) -> int:
        return self.issue.number


class Result(Struct, frozen=True, omit_defaults=True):
    """Where a member stands, for a table. `reason` is filled where it waits or did not come through.

    `passed` without `own`: it was completed elsewhere and skipped. `dropped`: it left the total. `run` is of its last attempt;
    `minutes` and `usd` are of all of them. `wave` counts from 1, 0 for members of a cycle.
    """

    task: int
    title: str
    status: str
    attempts: int = 0
    run: int = 0
    pull: int = 0
    minutes: float = 0.0
    usd: float = 0.0
    reason: str = ""
    passed: bool = False
    own: bool = False
    dropped: bool = False
    failed: bool = False
    blocked: bool = False
    was: str = ""
    place: int = 0
    wave: int = 0


class Bar(Struct, frozen=True):
    """A stretch of time in a chart. `kind` is `done`, `active`, `crit` (failed) or empty (expected)."""

    task: int
    begin: Moment
    end: Moment
    kind: str = ""


class Outline(Struct, frozen=True):
    """The course of a batch as a whole. `chain` is the longest by expected time; `merges` are pull request and task, in order."""

    waves: int
    slots: int
    chain: tuple[int, ...]
    chain_time: timedelta
    expected_end: Moment | None
    bars: tuple[Bar, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()
    merges: tuple[tuple[int, int], ...] = ()
