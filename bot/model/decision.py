"""What a tick decided: per task what should be true from now on, and why."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from msgspec import Struct, field

from bot.model.advice import Verdict
from bot.model.batch import Batch, BatchRecord
from bot.model.change import React
from bot.model.chosen import BatchOverrides
from bot.model.engine import EngineChoice
from bot.model.record import Fixed, Proposed, Record
from bot.model.ref import Ref
from bot.model.snapshot import Lookup
from bot.model.status import Status
from bot.model.unit import Join, Kind


class Verb(StrEnum):
    """What a decision does, in one word, for summaries and records."""

    HOLD = "hold"
    START = "start"
    RUNNING = "running"
    CANCEL = "cancel"
    FINISH = "finish"
    MOVE = "move"
    DROP = "drop"


class Notice(Struct, frozen=True):
    """A comment that is posted once per fingerprint: a question, a final result, or what only a person can settle."""

    fingerprint: str
    text: str
    question: bool = False  # its comment id becomes the blocker's


class Revision(Struct, frozen=True):
    """A question's comment whose text changed: `comment` is its node id."""

    comment: str
    notice: Notice


class CancelRun(Struct, frozen=True):
    run: int
    force: bool = False


class Start(Struct, frozen=True):
    """One attempt to claim and dispatch.

    `earlier` is where kept work is (`<run id>/<key>`), `choice` whose agent works, `exceptions` what a person lets through of what
    holds the work, `chosen` what its batch wants otherwise than configured.
    """

    number: int
    kind: Kind = Kind.CODE
    earlier: str = ""
    choice: EngineChoice = EngineChoice()
    exceptions: tuple[str, ...] = ()
    chosen: BatchOverrides = BatchOverrides()


class Decision(Struct, frozen=True):
    """The wanted state of one task. Acting on it writes only the difference to what is there.

    `status` None means no status label; `record` is the record as it should be; `due` is when waiting alone could change
    the decision (a not-before time, a grace, a force-cancel).
    """

    task: int
    verb: Verb
    reason: str
    status: Status | None
    record: Record
    start: Start | None = None
    cancel: CancelRun | None = None
    close: bool = False
    notices: tuple[Notice, ...] = ()
    reactions: tuple[React, ...] = ()
    revisions: tuple[Revision, ...] = ()
    wants: frozenset[Lookup] = frozenset()
    due: datetime | None = None


class Response(Struct, frozen=True):
    """What a comment with commands gets that changes no task: reactions, and at most one reply, written once."""

    issue: str  # node id
    number: int
    comment: int
    reactions: tuple[React, ...] = ()
    text: str = ""


class OpenIssue(Struct, frozen=True):
    """An issue of our own to be opened, once: `fingerprint` is hidden in its body, and one that carries it is not opened again.

    It is looked for among the issues that carry the first of its labels.
    """

    fingerprint: str
    title: str
    body: str
    labels: tuple[str, ...] = ()


class GateStart(Struct, frozen=True):
    """One trial of a batch gate to be dispatched: what is joined, onto which commit or onto the default branch as of when."""

    number: int
    joins: tuple[Join, ...]
    base: str = ""
    before: datetime | None = None


class BatchStep(Struct, frozen=True):
    """The wanted state of one batch issue. `body` is empty where its text stays as it is; `reason` says where the batch is.

    With `close` the issue is closed as the last thing; `reopen` opens one whose resume was ordered while it was closed.
    """

    batch: Batch
    record: BatchRecord
    reason: str
    body: str = ""
    notices: tuple[Notice, ...] = ()
    close: bool = False
    reopen: bool = False
    start: GateStart | None = None
    cancel: CancelRun | None = None
    opens: tuple[OpenIssue, ...] = ()
    wants: frozenset[Lookup] = frozenset()
    due: datetime | None = None

    @property
    def number(self) -> int:
        return self.batch.number


class Plan(Struct, frozen=True):
    """One decision for every tracked task, by number. `cycles` are paths like (1, 2, 3, 1).

    `remembered` are verdicts on questions to be kept for later ticks, by question_fingerprint, `fixed` shared failures that were
    mended. `relations` (task, blocker) are to be shown by GitHub as `blocked by`. `baselines` is what is known of the gates on the
    untouched default branch, by digest.
    """

    decisions: tuple[Decision, ...]
    cycles: tuple[tuple[int, ...], ...] = ()
    behind_cycles: tuple[int, ...] = ()
    batches: tuple[BatchStep, ...] = ()
    opens: tuple[OpenIssue, ...] = ()
    responses: tuple[Response, ...] = ()
    wanted: frozenset[Lookup] = frozenset()  # by what is no task's decision
    remembered: Mapping[str, Verdict] = field(default_factory=dict)
    fixed: Mapping[str, Fixed] = field(default_factory=dict)
    relations: tuple[tuple[int, Ref], ...] = ()
    proposed: Proposed = Proposed()  # on the dashboard, for later ticks
    baselines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def wants(self) -> frozenset[Lookup]:
        wants = [*(decision.wants for decision in self.decisions), *(step.wants for step in self.batches)]
        return self.wanted.union(*wants)
