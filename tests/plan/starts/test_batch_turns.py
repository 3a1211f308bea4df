"""Whose turn it is in a batch: each limit with the words of the one that it holds."""

from typing import Any

import pytest
from msgspec.structs import replace

from bot.model.batch import Strategy
from bot.model.record import Blocker
from bot.model.report import Outcome, Question
from bot.model.status import Status
from bot.plan import plan
from bot.plan.starts.batch_turns import is_fresh
from tests.builders import a_record, a_run, a_running, a_snapshot, a_task, ago, an_attempt
from tests.plan.batches.ordering import BATCH, CONFIG, RECORD, a_batch, a_member, ordered, passed


def decided(*tasks, batch=None, **fields):
    """What is said of each task, by number: that it starts, or why it waits."""
    runs = tuple(a_run(900 + task.number, f"cf-{task.number}-1") for task in tasks if task.record.live)
    values: dict[str, Any] = {"config": CONFIG, "runs": runs, "batches": (batch or a_batch(),)} | fields
    decisions = plan(a_snapshot(*tasks, **values)).decisions
    return {one.task: "starts" if one.start else one.reason for one in decisions}


def running(number, **fields):
    return a_running(number, run=900 + number, record_fields={"batch": BATCH}, **fields)


def failed(number, **record):
    attempts = (an_attempt(1, Outcome.FAILED, reason="1 != 2"),)
    return a_member(number, Status.FAILED, **({"attempts": attempts, "next_attempt": 2} | record))


SERIAL = ordered(2, 1, 3, strategy=Strategy.SERIAL)


class TestSerial:
    def test_one_after_the_other_in_the_order_written(self):
        said = decided(a_member(1), a_member(2), a_member(3), batch=SERIAL)
        turn = "waits for its turn in batch #90"
        assert said == {1: f"{turn}: #2 comes first", 2: "starts", 3: f"{turn}: another member is running"}

    def test_while_one_runs_no_other_starts(self):
        said = decided(a_member(1), running(2), batch=SERIAL)
        assert said[1] == "waits for its turn in batch #90: another member is running"

    def test_what_can_start_by_itself_soon_is_not_overtaken(self):
        backs_off = a_member(2, not_before=ago(minutes=-5))
        said = decided(a_member(1), backs_off, batch=SERIAL)
        assert said[1] == "waits for its turn in batch #90: #2 comes first"
        answered = a_member(2, Status.BLOCKED, blocker=Blocker("q", Question("?"), ago(minutes=9)))
        assert decided(a_member(1), answered, batch=SERIAL)[1] == "starts"
        assert decided(a_member(1), passed(2), batch=SERIAL)[1] == "starts"
        held = replace(a_member(2), issue=replace(a_member(2).issue, labels=("cf:ready", "cf:pause")))
        assert decided(a_member(1), held, batch=SERIAL)[1] == "starts"

    def test_what_became_ready_just_now_is_not_overtaken(self):
        said = decided(
            a_member(1),
            running(2),
            batch=SERIAL,
            runs=(a_run(902, "cf-2-1", conclusion="failure"),),
            jobs={902: ()},
        )
        assert said[1] == "waits for its turn in batch #90: #2 comes first"

    def test_a_need_comes_before_its_dependent(self):
        said = decided(a_member(1), a_member(2, needs=(1,)), batch=SERIAL)
        assert said == {1: "starts", 2: "waiting on #1"}

    def test_where_no_needs_could_be_inferred_they_go_one_by_one_too(self):
        auto = ordered(1, 2, strategy=Strategy.AUTO)
        gone = replace(auto, record=replace(RECORD, inferred=True, serial=True))
        assert decided(a_member(1), a_member(2), batch=gone)[2].startswith("waits for its turn")
        inferred = replace(auto, record=replace(RECORD, inferred=True))
        assert decided(a_member(1), a_member(2), batch=inferred) == {1: "starts", 2: "starts"}


def test_nothing_starts_before_needs_were_inferred():
    auto = ordered(1, 2, strategy=Strategy.AUTO)
    said = decided(a_member(1), a_task(5), batch=auto)
    assert said == {1: "batch #90 infers needs first", 5: "starts"}


def test_a_pause_on_the_batch_holds_its_members_only():
    said = decided(a_member(1), a_task(5), batch=a_batch(labels=("cf:pause",)))
    assert said == {1: "paused by the label `cf:pause` on batch #90", 5: "starts"}


class TestLimits:
    @pytest.mark.parametrize(("most", "starts"), [(None, [2, 3, 4]), (3, [2, 3]), (2, [2]), (1, []), (0, [])])
    def test_how_many_at_once(self, most, starts):
        batch = ordered(1, 2, 3, 4, max_parallel=most)
        said = decided(
            running(1),
            a_member(2),
            a_member(3),
            a_member(4),
            a_task(5),
            batch=batch,
            config=replace(CONFIG, max_parallel=9),
        )
        assert [task for task, words in said.items() if words == "starts"] == [*starts, 5]
        held = {words for task, words in said.items() if task in (2, 3, 4) and words != "starts"}
        assert held <= {f"waits for a slot: max_parallel of batch #90 is {most}"}

    def test_by_what_they_start_from(self):
        batch = ordered(1, 2, 3, 4, max_parallel_by_status={"failed": 1})
        again = {"attempts": (an_attempt(1, Outcome.FAILED),), "strikes": 1, "next_attempt": 2}
        members = (a_member(1, **again), a_member(2, **again), a_member(3))
        said = decided(*members, batch=batch)
        words = "waits for a slot: max_parallel_by_status of batch #90 for FAILED is 1"
        assert said == {1: "starts", 2: words, 3: "starts"}
        live = running(4, live={"started_from": Status.FAILED})
        assert decided(members[0], live, batch=batch)[1] == words
        other = running(4, live={"started_from": Status.READY})
        assert decided(members[0], other, batch=batch)[1] == "starts"

    def test_what_others_run_does_not_count(self):
        batch = ordered(1, 2, max_parallel=1)
        assert decided(a_member(1), a_running(5, run=905), batch=batch)[1] == "starts"


class TestStopOnFailure:
    BATCH = ordered(1, 2, 3, stop_on_failure=True)

    def test_nothing_fresh_starts_after_a_failure(self):
        said = decided(a_member(1), failed(2), batch=self.BATCH)
        assert said[1] == "on_failure of batch #90 is stop, and #2 failed"
        assert decided(a_member(1), failed(2), batch=ordered(1, 2))[1] == "starts"

    def test_what_was_begun_goes_on(self):
        again = a_member(1, attempts=(an_attempt(1, Outcome.FAILED),), strikes=1, next_attempt=2)
        assert decided(again, failed(2), batch=self.BATCH)[1] == "starts"
        assert decided(a_member(1, round=1), failed(2), batch=self.BATCH)[1] == "starts"

    def test_a_failure_elsewhere_stops_nothing(self):
        other = a_task(5, Status.FAILED, record=a_record(5, Status.FAILED))
        assert decided(a_member(1), other, batch=self.BATCH)[1] == "starts"


@pytest.mark.parametrize(
    ("fields", "fresh"),
    [
        ({}, True),
        ({"attempts": (an_attempt(1, Outcome.FAILED),), "strikes": 0}, True),
        ({"attempts": (an_attempt(1, Outcome.FAILED),), "strikes": 1}, False),
        ({"attempts": (an_attempt(1, Outcome.BLOCKED),)}, False),
        ({"round": 1}, False),
    ],
)
def test_fresh_is_what_was_not_tried_since_the_order(fields, fresh):
    assert is_fresh(a_record(**fields)) is fresh
