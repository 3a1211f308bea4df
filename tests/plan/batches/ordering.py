"""A batch as a plan sees it: its order, its members, and the one step that is decided about it."""

from typing import Any

from msgspec.structs import replace

from bot.model.batch import Batch, BatchRecord, BatchState, Order
from bot.model.config import Config, EngineConfig
from bot.model.report import Outcome
from bot.model.status import Status
from bot.model.task import Task
from bot.model.unit import Gate
from bot.plan import plan
from tests.builders import BOT, a_pull, a_record, a_snapshot, a_task, ago, an_attempt, an_issue, labelled

BATCH = 90
ORDER = Order(77, "wendy", ago(hours=2), (1, 2))
RECORD = BatchRecord(BatchState.RUNNING, started_at=ago(hours=2))
CONFIG = Config(
    gates=(Gate("tests", "make test"), Gate("lint", "make lint")),
    engine="command",
    engines={"command": EngineConfig(args="agent")},
)


def a_batch(order: Order = ORDER, record: BatchRecord = RECORD, **issue: Any) -> Batch:
    labels = issue.pop("labels", ())
    values = {"author": BOT, "created_at": order.at} | issue
    return Batch(an_issue(BATCH, "cf:batch", *labels, **values), order, record)


def ordered(*tasks: int, **order: Any) -> Batch:
    """A batch that runs, of these tasks."""
    return a_batch(replace(ORDER, tasks=tasks, **order))


def a_member(number: int = 1, status: Status | None = Status.READY, /, **record: Any) -> Task:
    """A task that belongs to the batch."""
    issue = {
        name: record.pop(name) for name in ("pulls", "needs", "is_open", "state_reason") if name in record
    }
    values = {"batch": BATCH} | record
    events = (labelled(f"cf:{status}", BOT, ago(minutes=30)),) if status else ()
    was = values.pop("status", status)
    return a_task(number, status, record=a_record(number, was, **values), events=events, **issue)


def passed(number: int, status: Status = Status.DONE, **record: Any) -> Task:
    """A member whose work passed; its commit is made of its number."""
    head = f"{number}" * 40
    attempts = (an_attempt(1, Outcome.PASSED, claimed_at=ago(minutes=60 - number)),)
    pull = a_pull(70 + number, head_sha=head, merged=status is Status.MERGED, is_open=status is Status.DONE)
    values = {"pull": 70 + number, "head": head, "attempts": attempts, "next_attempt": 2, "pulls": (pull,)}
    return a_member(number, status, **(values | record))


def step(*tasks: Task, batch: Batch | None = None, **fields: Any) -> Any:
    """The `BatchStep` of the batch of tasks 1 and 2."""
    fields.setdefault("config", CONFIG)
    (only,) = plan(a_snapshot(*tasks, batches=(batch or a_batch(),), **fields)).batches
    return only
