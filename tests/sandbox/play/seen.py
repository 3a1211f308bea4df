"""What is seen of a sandbox, for those who tell and show it."""

from typing import Any

from bot.model.issue import StateReason
from bot.model.record import Attempt, Record
from bot.model.status import Status
from bot.model.unit import Kind
from bot.sandbox.play.task_states import Facts, PullFacts, RunFacts, TaskFacts
from bot.sandbox.world import NOON


def task(number=1, status=Status.READY, **parts):
    fields: dict[str, Any] = {
        "title": "Do it",
        "is_open": True,
        "reason": None,
        "record": Record(number),
        "needs": (),
        "closed_at": None,
    }
    return TaskFacts(number=number, status=status, **(fields | parts))


def run(status="in_progress", conclusion=None, jobs=(), **parts):
    fields: dict[str, Any] = {
        "id": 7,
        "workflow": "cf-worker.yml",
        "event": "workflow_dispatch",
        "title": "cf [cf-1-1]",
        "tasks": (1,),
    }
    return RunFacts(status=status, conclusion=conclusion, jobs=jobs, **(fields | parts))


def facts(*tasks, runs=(), now=NOON):
    return Facts(now, tasks, runs)


def attempt(outcome=None, number=1, **parts):
    return Attempt(number, Kind.CODE, NOON, Status.READY, "d", outcome=outcome, **parts)


MERGED = task(
    status=Status.MERGED,
    is_open=False,
    reason=StateReason.COMPLETED,
    closed_at=NOON,
    pulls=(PullFacts(2, False, True, False, False),),
)
