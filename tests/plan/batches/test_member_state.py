"""Where each member of a batch stands, and whether anything may still come of it."""

from typing import Any

import pytest
from msgspec.structs import replace

from bot.model.batch import Result
from bot.model.issue import NeedState, StateReason
from bot.model.record import Blocker
from bot.model.ref import Ref
from bot.model.report import Outcome, Question
from bot.model.status import Status
from bot.model.unit import Kind
from bot.plan import plan
from bot.plan.batches.member_state import MemberStates
from bot.plan.board import Board
from tests.builders import a_pull, a_run, a_running, a_snapshot, a_task, an_attempt, by_number
from tests.plan.batches.ordering import BATCH, CONFIG, RECORD, a_batch, a_member, ordered, passed

ELSEWHERE = Ref("octo/lib", 4)


def states(*tasks: Any, batch: Any = None, **fields: Any) -> tuple[MemberStates, Any]:
    fields.setdefault("config", CONFIG)
    snapshot = a_snapshot(*tasks, batches=(batch or a_batch(),), **fields)
    board = Board(snapshot)
    return MemberStates(by_number(plan(snapshot)), board), board.batch_views[BATCH]


def closed(number, reason=StateReason.COMPLETED, status=Status.DONE, **fields):
    return a_member(number, status, is_open=False, state_reason=reason, **fields)


def failed(number, **fields):
    attempts = (an_attempt(1, Outcome.FAILED, reason="1 != 2"),)
    return a_member(number, Status.FAILED, **({"attempts": attempts, "next_attempt": 2} | fields))


RUNNING = a_running(1, record_fields={"batch": BATCH})
RUNS = {"runs": (a_run(),)}
WAITS = Blocker("q", Question("Which?"), RUNNING.issue.created_at)


@pytest.mark.parametrize(
    ("tasks", "fields", "goes_on", "may_start"),
    [
        ((a_member(1),), {}, True, True),
        ((RUNNING,), RUNS, True, True),
        ((a_member(1, Status.BLOCKED),), {}, True, False),
        ((passed(1),), {}, True, False),
        ((a_member(1, Status.DONE),), {}, False, False),
        ((failed(1),), {}, False, False),
        ((a_member(1, Status.BACKLOG),), {}, False, False),
        ((a_task(1, record_problem="unreadable"),), {}, False, False),
        ((closed(1),), {}, False, False),
        ((), {}, False, False),
        ((passed(1, pulls=(a_pull(71, merged=True, is_open=False),)),), {}, False, False),
        ((a_member(1, needs=(2,)), a_member(2)), {}, True, False),
        ((a_member(1, needs=(2,)), closed(2)), {}, True, True),
        ((a_member(1, needs=(2,)), failed(2)), {}, False, False),
        ((a_member(1, needs=(2,)), closed(2, StateReason.NOT_PLANNED, None)), {}, False, False),
        ((a_member(1, needs=(2,)), passed(2)), {}, True, False),
        ((a_member(1, needs=(2,)), a_member(2, needs=(1,))), {}, False, False),
        ((a_member(1, needs=(2,)), a_member(2, needs=(2,))), {}, False, False),
        ((a_member(1, needs=(ELSEWHERE,)),), {"needs": {ELSEWHERE: NeedState.OPEN}}, False, False),
        ((a_member(1, needs=(ELSEWHERE,)),), {"needs": {ELSEWHERE: NeedState.OPEN_PULL}}, True, False),
        ((a_member(1, needs=(ELSEWHERE,)),), {"needs": {ELSEWHERE: NeedState.UNKNOWN}}, True, False),
        ((a_member(1, needs=(ELSEWHERE,)),), {"needs": {ELSEWHERE: NeedState.COMPLETED}}, True, True),
        ((a_member(1, needs=(ELSEWHERE,)),), {"needs": {ELSEWHERE: NeedState.DELETED}}, False, False),
        ((a_member(1), failed(2)), {"batch": ordered(1, 2, stop_on_failure=True)}, False, False),
        ((a_member(1, round=1), failed(2)), {"batch": ordered(1, 2, stop_on_failure=True)}, True, True),
        ((a_member(1), failed(2)), {}, True, True),
    ],
)
def test_whether_anything_may_come_of_it(tasks, fields, goes_on, may_start):
    found, _ = states(*tasks, **fields)
    assert (found.goes_on(1), found.may_start(1)) == (goes_on, may_start)


def test_what_runs_what_waits_for_a_merge_and_what_for_an_answer():
    found, _ = states(
        RUNNING,
        passed(2),
        a_member(3, Status.BLOCKED),
        a_member(4),
        a_member(5, Status.DONE),
        batch=ordered(1, 2, 3, 4, 5),
        **RUNS,
    )
    tasks = range(1, 8)
    assert [task for task in tasks if found.runs(task)] == [1, 4]  # the fourth starts now
    assert [task for task in tasks if found.waits_for_merge(task)] == [2]
    assert [task for task in tasks if found.waits_for_answer(task)] == [3]


def result(*tasks, **fields):
    found, view = states(*tasks, **fields)
    return found.result(1, view)


class TestResult:
    def test_of_a_member_that_is_gone(self):
        was = a_batch(record=replace(RECORD, was={"failed": (2,), "done": (1,)}))
        assert result(batch=was) == Result(
            1, "", "gone", reason="the issue cannot be read any more", dropped=True, was="done"
        )

    def test_of_what_ran(self):
        attempts = (
            an_attempt(1, Outcome.FAILED, run=800, minutes=1.23, usd=0.12344),
            an_attempt(2, Outcome.HELD, run=801, minutes=1.11, usd=0.1),
            an_attempt(3, Outcome.PASSED, run=802, kind=Kind.PUBLISH, minutes=0.5),
        )
        assert result(passed(1, attempts=attempts, next_attempt=4)) == Result(
            1,
            "Task 1",
            "done",
            attempts=2,
            run=802,
            pull=71,
            minutes=2.8,
            usd=0.2234,
            reason="waits for review of #71",
            passed=True,
            own=True,
        )

    @pytest.mark.parametrize(
        ("tasks", "status", "reason"),
        [
            ((a_member(1),), "in-progress", "starts as cf-1-1"),
            ((failed(1),), "failed", "failed: 1 != 2"),
            ((failed(1, attempts=()),), "failed", "failed: no reason is known; `cf:ready` starts it again"),
            ((a_member(1, Status.BLOCKED, blocker=WAITS),), "blocked", "its question is open"),
            ((a_member(1, needs=(2,)), failed(2)), "not run", "waiting on failed #2"),
            ((a_member(1, needs=(2, 3)), failed(2), a_member(3)), "not run", "waiting on failed #2, #3"),
            ((a_member(1, needs=(2,)), a_member(2)), "ready", "waiting on #2"),
            ((a_member(1, needs=(1,)),), "not run", "part of the cycle 1→1"),
            ((a_member(1, Status.BACKLOG),), "not run", "in the backlog; `cf:ready` starts it"),
            ((a_member(1, Status.BACKLOG, batch=80),), "backlog", "in the backlog; `cf:ready` starts it"),
            ((a_member(1, None),), "withdrawn", "not a task: it carries no status label"),
            ((a_task(1, record_problem="it cannot be read"),), "not run", "it cannot be read"),
            ((closed(1),), "done", ""),
            ((closed(1, StateReason.DUPLICATE, None),), "dropped", "closed as a duplicate"),
        ],
    )  # fmt: skip
    def test_status_and_why(self, tasks, status, reason):
        found = result(*tasks)
        assert (found.status, found.reason) == (status, reason)

    def test_after_a_failure_that_stops_the_batch_the_limit_says_why(self):
        found = result(a_member(1), failed(2), batch=ordered(1, 2, stop_on_failure=True))
        assert (found.status, found.reason) == ("not run", "on_failure of batch #90 is stop, and #2 failed")

    @pytest.mark.parametrize(
        ("task", "said"),
        [
            (passed(1), (True, True)),
            (a_member(1, Status.DONE), (True, False)),
            (closed(1), (True, False)),
            (closed(1, pull=71), (True, False)),
            (passed(1, Status.MERGED, is_open=False, state_reason=StateReason.COMPLETED), (True, True)),
            (
                passed(1, Status.MERGED, is_open=False, state_reason=StateReason.COMPLETED, pull=99),
                (True, False),
            ),
            (passed(1, pulls=(a_pull(71, merged=True, is_open=False),)), (True, True)),
            (closed(1, StateReason.NOT_PLANNED, None), (False, False)),
            (failed(1), (False, False)),
        ],
    )
    def test_what_passed_and_whether_it_was_our_own_work(self, task, said):
        found = result(task)
        assert (found.passed, found.own) == said

    def test_what_failed_is_blocked_or_dropped_is_told_apart(self):
        told = [
            result(failed(1)),
            result(a_member(1, Status.BLOCKED)),
            result(closed(1, StateReason.NOT_PLANNED, None)),
            result(closed(1)),
        ]
        assert [(one.failed, one.blocked, one.dropped) for one in told] == [
            (True, False, False),
            (False, True, False),
            (False, False, True),
            (False, False, False),
        ]
