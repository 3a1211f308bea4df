"""The snapshot laid out for the rules: each task with what its labels mean, and the graph of needs between them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cached_property

from msgspec import Struct

from bot.model.cause import Cause, Met, Obstacle
from bot.model.change import React
from bot.model.chosen import BatchOverrides
from bot.model.command import Ordered
from bot.model.config import Config
from bot.model.decision import CancelRun, Decision, Notice, Start, Verb
from bot.model.engine import EngineChoice
from bot.model.issue import NeedState
from bot.model.record import Approval, Record
from bot.model.ref import Ref
from bot.model.snapshot import Lookup, Snapshot
from bot.model.status import Status
from bot.model.task import Task
from bot.notation.digests import digest_of
from bot.plan.facts.batch_controls import BatchView, batch_view_of, owners
from bot.plan.facts.comment_commands import CommentCommands, read_comment_commands
from bot.plan.facts.engines import choose_engine
from bot.plan.facts.labels import Meant, meant_status
from bot.plan.facts.obstacles import obstacles
from bot.plan.facts.record_edits import with_status
from bot.plan.graph.graph import Graph

FIX_LABEL = "shared-fix"


class Stop(Struct, frozen=True):
    """Somebody who may has ordered the end of what runs; with `force` without waiting for it to end by itself."""

    by: str
    force: bool = False


class CommandResult(Struct, frozen=True):
    """What the commands about a task came to. `refusals` are those not carried out, each with the reason. `notices` are
    comments that they ask for.

    `wants` must be known first; until then nothing was carried out.
    """

    stop: Stop | None = None
    reactions: tuple[React, ...] = ()
    refusals: tuple[tuple[Ordered, str], ...] = ()
    notices: tuple[Notice, ...] = ()
    wants: frozenset[Lookup] = frozenset()


class Item(Struct, frozen=True):
    """A task under judgement: `record` may already differ from the task's by what an earlier step decided."""

    task: Task
    record: Record
    meant: Meant
    command_result: CommandResult = CommandResult()

    @property
    def number(self) -> int:
        return self.task.number


class Board:
    """Read-only. What every rule may ask, and how a rule words its decision."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.config: Config = snapshot.config
        self.accounts = snapshot.accounts
        self.home = snapshot.repository.full_name.lower()

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Every tracked task in order of its number."""
        tasks = (self.snapshot.tasks[number] for number in sorted(self.snapshot.tasks))
        return tuple(Item(task, task.record, self.meant[task.number]) for task in tasks)

    @cached_property
    def meant(self) -> Mapping[int, Meant]:
        """What every task's labels mean."""
        return {number: meant_status(task, self.snapshot) for number, task in self.snapshot.tasks.items()}

    @cached_property
    def comment_commands(self) -> CommentCommands:
        """The commands in this tick's comments, on whatever issue they stand."""
        return read_comment_commands(self.snapshot)

    @cached_property
    def dashboards(self) -> tuple[int, ...]:
        """Dashboard issues: ours is one of them, and the oldest."""
        label = self.config.label("dashboard")
        return tuple(number for number, issue in self.snapshot.others.items() if issue.has_label(label))

    @cached_property
    def batch_views(self) -> Mapping[int, BatchView]:
        """Every batch at hand, by its number, with the latest word on it."""
        given = self.comment_commands.given
        return {
            batch.number: batch_view_of(batch, self.snapshot, given.get(batch.number, ()))
            for batch in self.snapshot.batches
        }

    @cached_property
    def batches(self) -> Mapping[int, BatchView]:
        """The batch that owns each member."""
        return owners(self.batch_views.values())

    def chosen(self, item: Item) -> BatchOverrides:
        """What the batch that made the task ready wants for it, also after that batch was stopped."""
        batch_view = self.batches.get(item.number) or self.batch_views.get(item.record.batch)
        order = batch_view.batch.order if batch_view is not None else None
        return order.chosen if order is not None else BatchOverrides()

    @cached_property
    def graph(self) -> Graph[int]:
        """Open tasks and their needs inside this repository."""
        return Graph(
            {
                number: [need.number for need in task.needs if need.repository == self.home]
                for number, task in self.snapshot.tasks.items()
                if task.issue.is_open
            }
        )

    @cached_property
    def cyclic(self) -> frozenset[int]:
        return self.graph.in_cycle

    @cached_property
    def behind_cycles(self) -> frozenset[int]:
        return self.graph.behind_cycles

    @cached_property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """The causes that stood when the tick began."""
        return obstacles((task.record for task in self.snapshot.tasks.values()), self.snapshot)

    def is_common(self, met: Met | None) -> bool:
        """Whether an end with this cause counts for nothing on its task. What nobody explains counts until others meet it."""
        if met is None or met.cause is not Cause.MACHINE:
            return met is not None
        return any(
            one.met.cause is met.cause and one.met.key == met.key and one.everybody for one in self.obstacles
        )

    def choice(self, item: Item) -> EngineChoice:
        """Which agent would work on it: asked for by a command or its batch, by its labels, or as configured."""
        engine_requests = [("the command", item.record.engine_request)]
        batch = self.batches.get(item.number)
        if batch is not None and batch.order is not None:
            engine_requests.append((f"batch #{batch.number}", batch.order.engine_request))
        return choose_engine(self.config, item.task.issue.labels, self.snapshot.settings, engine_requests)

    def is_shared_fix(self, item: Item) -> bool:
        """Whether it is an issue of ours that mends a failure which several tasks share."""
        issue = item.task.issue
        return issue.author.id in self.accounts and issue.has_label(self.config.label(FIX_LABEL))

    def own_pull(self, item: Item) -> Ref:
        return Ref(self.snapshot.repository.full_name, item.record.pull)

    def approval_by(self, item: Item, login: str, at: datetime) -> Approval:
        """An order for the text as it stands now."""
        return Approval(login, at, digest_of(item.task))

    def decide(
        self,
        item: Item,
        verb: Verb,
        reason: str,
        status: Status | None,
        record: Record,
        *,
        start: Start | None = None,
        cancel: CancelRun | None = None,
        notices: Iterable[Notice] = (),
        reactions: tuple[React, ...] = (),
        wants: Iterable[Lookup] = (),
        due: datetime | None = None,
    ) -> Decision:
        """A decision whose record says what its status is; notices that were posted before are left out."""
        new = tuple(notice for notice in notices if notice.fingerprint not in record.notices)
        return Decision(
            item.number,
            verb,
            reason,
            status,
            with_status(record, status, self.snapshot.now),
            start=start,
            cancel=cancel,
            notices=new,
            reactions=reactions,
            wants=frozenset(wants),
            due=due,
        )

    def hold(
        self,
        item: Item,
        reason: str,
        *,
        notices: Iterable[Notice] = (),
        wants: Iterable[Lookup] = (),
        due: datetime | None = None,
    ) -> Decision:
        """Leave the task where it is, and say why."""
        return self.decide(
            item, Verb.HOLD, reason, item.meant.status, item.record, notices=notices, wants=wants, due=due
        )

    def move(
        self, item: Item, status: Status | None, record: Record, reason: str, notices: Iterable[Notice] = ()
    ) -> Decision:
        """Give the task another status."""
        return self.decide(item, Verb.MOVE, reason, status, record, notices=notices)


def engine_for(number: int, snapshot: Snapshot) -> EngineChoice:
    """Which agent would work on this task, which is one of the snapshot's."""
    board = Board(snapshot)
    return board.choice(next(item for item in board.items if item.number == number))


def own_pull_state(item: Item, board: Board) -> NeedState | None:
    """How the task's own pull request stands; None if it must be looked up first.

    GitHub lists it with the issue as long as its text closes the issue; otherwise it is asked for by its number.
    """
    for pull in item.task.issue.pulls:
        if pull.number == item.record.pull:
            return (
                NeedState.MERGED
                if pull.merged
                else NeedState.OPEN_PULL
                if pull.is_open
                else NeedState.CLOSED_UNMERGED
            )
    return board.snapshot.needs.get(board.own_pull(item))
