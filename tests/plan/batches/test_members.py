"""Members of a batch: whom its order reaches, what its end by force and its gate do to them, and what holds them after it."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.batch import Action, BatchRecord, BatchState, Control, Search
from bot.model.config import Config, Retry
from bot.model.decision import CancelRun, Verb
from bot.model.record import Approval, Blocker
from bot.model.report import Question
from bot.model.snapshot import Permission
from bot.model.status import Status
from bot.notation.digests import text_digest
from bot.notation.keys import Key
from bot.plan.attempts.consequences import backoff
from bot.plan.batches.members import admit
from bot.plan.board import Board
from tests.builders import (
    NOW,
    STRANGER,
    WRITER,
    a_record,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    decide,
    labelled,
)
from tests.plan.batches.ordering import BATCH, ORDER, RECORD, a_batch, a_member, passed

ORDERED = Approval("wendy", ORDER.at, text_digest("Task 1", ""))
OLD = Approval("tim", ago(days=1), "old")
RESUMED = replace(RECORD, control=Control(Action.RESUME, "ada", ago(minutes=9)))
BY_FORCE = replace(RECORD, control=Control(Action.RESUME, "ada", ago(minutes=9), force=True))
ASKED = Blocker("q", Question("Which?"), ago(minutes=20))


def in_state(status, **record):
    """A task that the batch has not reached yet."""
    return a_task(
        1, status, record=a_record(1, status, **({"approval": None, "strikes": 2} | record)), events=()
    )


def admitted(task, batch=None, *others, **fields):
    board = Board(a_snapshot(task, *others, batches=(batch or a_batch(),), **fields))
    return admit(board.items[0], board)


class TestOrder:
    @pytest.mark.parametrize("status", [None, Status.BACKLOG, Status.FAILED])
    def test_what_waits_becomes_ready_with_fresh_strikes(self, status):
        item = admitted(in_state(status))
        assert (item.meant.status, item.record.batch, item.record.strikes) == (Status.READY, BATCH, 0)
        assert item.record.approval == ORDERED

    def test_what_is_ready_keeps_its_strikes(self):
        item = admitted(in_state(Status.READY))
        assert (item.meant.status, item.record.batch, item.record.strikes) == (Status.READY, BATCH, 2)

    @pytest.mark.parametrize("status", [Status.BLOCKED, Status.DONE, Status.MERGED])
    def test_what_waits_for_a_person_or_is_finished_stays_so(self, status):
        item = admitted(in_state(status, blocker=ASKED))
        assert (item.meant.status, item.record.batch, item.record.strikes) == (status, BATCH, 2)
        assert (item.record.approval, item.record.blocker) == (ORDERED, ASKED)

    def test_what_runs_goes_on_as_its_own(self):
        running = a_running(record_fields={"approval": OLD})
        item = admitted(replace(running, issue=replace(running.issue, events=())))
        assert (item.meant.status, item.record.batch, item.record.approval) == (
            Status.IN_PROGRESS,
            BATCH,
            ORDERED,
        )
        ending = a_running(record_fields={"approval": OLD}, live={"cancelled_for": "stopped"})
        assert admitted(replace(ending, issue=replace(ending.issue, events=()))).record.batch == 0

    def test_in_progress_without_an_attempt_is_left_alone(self):
        assert admitted(in_state(Status.IN_PROGRESS)).record.batch == 0

    @pytest.mark.parametrize("fields", [{"record_problem": "unreadable"}, {"is_open": False}])
    def test_what_is_closed_or_cannot_be_read_is_left_alone(self, fields):
        task = a_task(1, Status.BACKLOG, record=a_record(1, Status.BACKLOG, approval=None), **fields)
        assert admitted(task).record == task.record

    def test_another_task_is_none_of_it(self):
        task = a_task(5, Status.BACKLOG)
        assert admitted(task).record == task.record

    def test_what_a_person_did_after_the_order_outweighs_it(self):
        late = labelled("cf:backlog", WRITER, ago(hours=1))
        was = a_record(1, Status.FAILED, approval=None, status_at=ago(hours=3))
        task = a_task(1, Status.BACKLOG, record=was)
        moved = replace(task, issue=replace(task.issue, events=(late,)))
        item = admitted(moved)
        assert (item.meant.status, item.record.batch, item.record.approval) == (Status.BACKLOG, BATCH, None)
        early = replace(late, at=ORDER.at)
        item = admitted(replace(task, issue=replace(task.issue, events=(early,))))
        assert (item.meant.status, item.record.approval) == (Status.READY, ORDERED)

    @pytest.mark.parametrize(
        ("record", "reached"),
        [
            ({"approval": OLD}, True),
            ({"approval": replace(ORDERED, by="tim")}, False),
            ({"approval": replace(ORDERED, by="tim", at=ago(minutes=1))}, False),
            ({"batch": BATCH}, False),
            ({"batch": 80}, True),
        ],
    )
    def test_it_counts_once_for_each_member(self, record, reached):
        item = admitted(in_state(Status.BACKLOG, **record))
        assert (item.meant.status is Status.READY) is reached


class TestResume:
    @pytest.mark.parametrize(
        ("status", "record", "batch", "ready"),
        [
            (Status.FAILED, {"batch": BATCH}, RESUMED, True),
            (
                Status.FAILED,
                {"batch": BATCH, "approval": Approval("ada", ago(minutes=9), "d")},
                RESUMED,
                False,
            ),
            (Status.BLOCKED, {"batch": BATCH}, RESUMED, True),
            (Status.BLOCKED, {"batch": BATCH, "blocker": ASKED}, RESUMED, False),
            (Status.DONE, {"batch": BATCH}, RESUMED, False),
            (Status.DONE, {"batch": BATCH}, BY_FORCE, True),
            (Status.MERGED, {"batch": BATCH}, BY_FORCE, False),
            (Status.BACKLOG, {"batch": BATCH}, RESUMED, True),
            (Status.BACKLOG, {}, RESUMED, False),
            (None, {}, RESUMED, False),
            (Status.FAILED, {}, RESUMED, True),
            (Status.BACKLOG, {}, replace(RESUMED, started_at=None), True),
        ],
    )
    def test_it_takes_up_what_did_not_come_through_and_nobody_withdrew(self, status, record, batch, ready):
        item = admitted(in_state(status, **record), a_batch(record=batch))
        assert (item.meant.status is Status.READY) is ready
        if ready:
            assert item.record.approval == Approval("ada", ago(minutes=9), ORDERED.digest)
            assert (item.record.strikes, item.record.batch) == (0, BATCH)

    def test_what_is_ready_gets_fresh_strikes_too(self):
        assert admitted(in_state(Status.READY, batch=BATCH), a_batch(record=RESUMED)).record.strikes == 0


@pytest.mark.parametrize(
    ("record", "batch", "again"),
    [
        ({}, {}, True),
        ({"status_at": ago(minutes=19)}, {}, False),
        ({"status_at": ago(minutes=20)}, {}, True),
        ({"status_at": None}, {}, False),
        ({"round": 2}, {}, False),
        ({"round": 1}, {}, True),
        ({}, {"round_at": None}, False),
        ({}, {"rounds": 0}, False),
        ({"status": Status.DONE}, {}, False),
    ],
)
def test_an_extra_round_gives_fresh_strikes_once_to_what_had_failed_before(record, batch, again):
    values = {"strikes": 3, "status_at": ago(minutes=30), "approval": ORDERED} | record
    status = values.pop("status", Status.FAILED)
    task = a_member(1, status, **values)
    rounds = replace(RECORD, **({"rounds": 2, "round_at": ago(minutes=20)} | batch))
    item = admitted(task, a_batch(record=rounds))
    assert (item.meant.status is Status.READY) is again
    assert item.record.strikes == (0 if again else 3)
    if again:
        assert (item.record.round, item.record.batch, item.record.approval) == (2, BATCH, ORDERED)


class TestAfterTheEnd:
    """The batch is not at hand any more, or owns nothing."""

    def test_a_member_is_held_until_a_person_orders_it_anew(self):
        left = decide(a_task(1, Status.READY, record=a_record(1, Status.READY, batch=BATCH), events=()))
        assert (left.verb, left.status) == (Verb.MOVE, Status.BACKLOG)
        assert left.reason == "batch #90 has ended or was stopped; `cf:ready` starts it on its own"
        parked = decide(a_task(1, Status.BACKLOG, record=a_record(1, Status.BACKLOG, batch=BATCH)))
        assert (parked.verb, parked.reason) == (Verb.HOLD, left.reason)

    def test_a_newer_order_frees_it(self):
        record = a_record(1, Status.READY, batch=BATCH, started_by_command=True, status_at=ago(hours=2))
        anew = a_task(1, Status.READY, record=record, events=(labelled("cf:ready", at=ago(minutes=5)),))
        started = decide(anew)
        assert started.start is not None
        assert (started.record.batch, started.record.started_by_command) == (0, False)
        assert started.record.approval == Approval("wendy", ago(minutes=5), ORDERED.digest)
        board = Board(a_snapshot(anew))
        assert admit(board.items[0], board).record.approval == started.record.approval
        same = a_task(1, Status.READY, record=record, events=(labelled("cf:ready"),))
        assert decide(same).status is Status.BACKLOG

    def test_who_ordered_it_is_asked_first(self):
        record = a_record(1, Status.READY, batch=BATCH, status_at=ago(hours=2))
        by_stranger = labelled("cf:ready", STRANGER, ago(minutes=5))
        asked = decide(a_task(1, Status.READY, record=record, events=(by_stranger,)), permissions={})
        assert asked.reason == "who ordered it is being looked up"
        assert asked.wants == frozenset({Permission("stan")})


class TestEndByForce:
    STOP = Control(Action.STOP, "ada", ago(minutes=1), force=True)
    STOPPED = replace(RECORD, control=STOP)

    def ended(self, record=STOPPED, **fields):
        running = a_running(record_fields={"batch": BATCH}, **fields)
        return decide(running, batches=(a_batch(record=record),), runs=(a_run(),))

    def test_what_it_started_is_cancelled_and_kept_in_the_backlog(self):
        told = self.ended()
        assert (told.verb, told.status, told.cancel) == (Verb.CANCEL, Status.BACKLOG, CancelRun(900))
        assert told.reason == "batch #90 was stopped by force by ada; run 900 is being cancelled"
        nobody = replace(self.STOPPED, control=replace(self.STOP, by=""))
        assert self.ended(nobody).reason == "batch #90 was stopped by force; run 900 is being cancelled"

    def test_without_force_it_goes_on(self):
        plain = replace(self.STOPPED, control=replace(self.STOP, force=False))
        assert self.ended(plain).verb is Verb.RUNNING

    def test_what_is_being_ended_already_is_left_to_that(self):
        assert self.ended(live={"cancelled_for": "closed"}).reason.startswith("closed; ")

    def test_what_another_batch_started_goes_on(self):
        running = a_running(record_fields={"batch": 80})
        told = decide(running, batches=(a_batch(record=self.STOPPED),), runs=(a_run(),))
        assert told.verb is Verb.RUNNING


class TestGate:
    def named(self, task=None, config=None, blames=None, guilty=1, passed_=False, batch=None):
        search = Search((1, 2), 0, "h", ago(), passed=passed_, guilty=guilty, reason="it fails", log="1 != 2")
        record = replace(RECORD, gate=search, blames=blames or {1: 1})
        return decide(
            task or passed(1, strikes=0),
            others=(passed(2),),
            batches=(batch or a_batch(record=record),),
            config=config,
        )

    def test_the_guilty_one_goes_back_with_its_log(self):
        told = self.named()
        wait = backoff(Config(), 1, Key(1, 2))
        assert (told.verb, told.status, told.reason) == (
            Verb.MOVE,
            Status.READY,
            "the gate of batch #90 does not pass with it",
        )
        record = told.record
        assert (record.strikes, record.blamed, record.feedback) == (1, "h", "1 != 2")
        assert (record.not_before, told.due) == (NOW + wait, NOW + wait)
        (notice,) = told.notices
        assert notice.fingerprint == "gate:90:h"
        assert notice.text == (
            "Together with the other work of batch #90 this task does not pass.\n\n"
            "Batch gate: **not passed**. #1 is to blame: it fails\n\n```text\n1 != 2\n```"
        )

    def test_each_time_it_is_named_is_a_strike_and_the_last_one_fails_it(self):
        twice = self.named(blames={1: 2})
        assert (twice.status, twice.record.strikes) == (Status.READY, 2)
        told = self.named(blames={1: 3})
        assert (told.status, told.record.strikes, told.due) == (Status.FAILED, 3, None)
        assert told.notices[0].text.endswith("It has no attempt left; `cf:ready` starts it again.")
        search = Search((1, 2), 0, "h", ago(), passed=False, guilty=2)
        second = a_batch(record=replace(RECORD, gate=search, blames={1: 3, 2: 1}))
        other = decide(passed(2), others=(passed(1),), batches=(second,))
        assert (other.status, other.record.strikes) == (Status.READY, 1)
        once = Config(retry=Retry(max_attempts=1, backoff=timedelta(seconds=1)))
        assert self.named(config=once, blames={2: 5}).status is Status.FAILED  # unknown counts as one

    @pytest.mark.parametrize(
        "fields",
        [
            {"guilty": 2},
            {"passed_": None},
            {"passed_": True},
            {"task": passed(1, blamed="h")},
            {"task": a_member(1, Status.BLOCKED, pull=71)},
            {"batch": a_batch()},
        ],
    )
    def test_nobody_else_and_not_twice(self, fields):
        assert self.named(**fields).record.feedback == ""


def test_members_of_a_batch_that_has_ended_are_not_its_own():
    over = BatchRecord(BatchState.FAILED, started_at=ago(hours=2), ended_at=ago(hours=1))
    assert admitted(in_state(Status.BACKLOG), a_batch(record=over)).record.batch == 0
