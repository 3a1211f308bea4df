"""The batch gate: what is joined, what a trial's end says, and how the search for the guilty one goes on."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.batch import Action, BatchRecord, BatchState, Control, Search, Trial
from bot.model.decision import CancelRun, GateStart
from bot.model.record import Attempt
from bot.model.report import GateResult, GateStatus, Outcome
from bot.model.snapshot import JobsOf
from bot.model.status import Status
from bot.model.unit import Join, Kind
from bot.notation.keys import Key
from tests.builders import GREEN, NOW, a_pull, a_report, a_run, a_task, ago, an_artifact, jobs
from tests.plan.batches.ordering import BATCH, CONFIG, RECORD, a_batch, passed, step

ONE, TWO = "1" * 40, "2" * 40
BASE = "e" * 40
HEADS = step(passed(1), passed(2)).record.gate.heads
RED = GateResult("tests", GateStatus.FAILED, 1.0, "1 != 2")


def a_trial(number=1, outcome=None, joined=2, **fields):
    run = fields.pop("run", 900)
    told = {
        name: fields.pop(name) for name in ("reason", "cancel_sent_at", "force_sent_at") if name in fields
    }
    at = fields.pop("claimed_at", ago(minutes=20))
    attempt = Attempt(number, Kind.GATE, at, Status.READY, "", run=run, outcome=outcome, **told)
    return Trial(attempt, joined, **fields)


def a_search(*trials, **fields):
    return Search(
        (1, 2), fields.pop("merged", 0), fields.pop("heads", HEADS), ago(minutes=74), trials, **fields
    )


def searching(*trials, record=RECORD, **fields):
    return a_batch(record=replace(record, gate=a_search(*trials, **fields), next_gate=len(trials) + 1))


def ended(outcome, *trials, members=None, record=RECORD, search=None, config=CONFIG, **report):
    """The step when the newest trial has come back with this report."""
    key = str(Key(BATCH, len(trials)))
    green = outcome is Outcome.PASSED
    return step(
        *(members or (passed(1), passed(2))),
        batch=searching(*trials, record=record, **(search or {})),
        runs=(a_run(900, key, conclusion="success"),),
        artifacts=(an_artifact(key),),
        reports={50: a_report(outcome, key, task=BATCH, pull=0, head="", **report)},
        jobs={
            900: tuple(
                replace(job, name=job.name.replace("#1", f"#{BATCH}")) for job in (GREEN if green else FAILED)
            )
        },
        config=config,
    )


FAILED = jobs(verify="failure", publish="success")


def test_the_first_trial_joins_what_passed_alone_onto_the_default_branch():
    first = step(passed(1), passed(2))
    assert first.start == GateStart(1, (Join(1, ONE), Join(2, TWO)))
    assert first.record.gate == Search((1, 2), 0, HEADS, ago(minutes=74), (a_trial(run=0, claimed_at=NOW),))
    assert (first.record.next_gate, first.reason) == (2, "the batch gate starts")
    assert first.due == NOW + CONFIG.dispatch.launch_grace


def test_a_member_takes_part_with_its_own_pull_request_as_it_stands_else_as_it_was_published():
    moved = passed(1, pulls=(a_pull(70, head_sha="9" * 40), a_pull(71, head_sha="3" * 40)))
    assert step(moved, passed(2)).start.joins[0] == Join(1, "3" * 40)
    hidden = passed(1, pulls=(a_pull(71, head_sha="not a commit"),))
    assert step(hidden, passed(2)).start.joins[0] == Join(1, ONE)
    nothing = passed(1, pull=0, pulls=())
    assert step(nothing, passed(2)).start.joins == (Join(2, TWO),)


def test_a_need_comes_before_its_dependent_and_what_is_merged_before_all():
    assert [join.task for join in step(passed(1, needs=(2,)), passed(2)).start.joins] == [2, 1]
    merged = step(passed(1), passed(2, Status.MERGED))
    assert merged.record.gate.tasks == (2, 1)
    assert merged.record.gate.merged == 1
    assert merged.start.joins == (Join(1, ONE),)  # the default branch holds the other


def test_the_same_work_is_the_same_search_in_whatever_order():
    assert step(passed(1, needs=(2,)), passed(2)).record.gate.heads == HEADS
    assert step(passed(1, head="4" * 40, pulls=()), passed(2)).record.gate.heads != HEADS
    settled = step(passed(1), passed(2), batch=searching(passed=True))
    assert (settled.start, settled.reason) == (None, "waits for merges")
    moved = step(passed(1), passed(2), batch=searching(passed=True, heads="other"))
    assert moved.start is not None


class TestRun:
    def test_a_trial_without_a_run_is_waited_for_and_then_counts_as_lost(self):
        early = step(passed(1), passed(2), batch=searching(a_trial(run=0, claimed_at=ago(minutes=5))))
        assert (early.reason, early.due) == ("cf-90-1 is claimed; its run has not appeared yet", NOW)
        for run, reason in ((0, "no run ever appeared"), (900, "its run was deleted")):
            late = step(passed(1), passed(2), batch=searching(a_trial(run=run, claimed_at=ago(minutes=6))))
            lost, again = late.record.gate.trials
            assert (lost.attempt.outcome, lost.attempt.reason) == (Outcome.INFRA, reason)
            assert (again.attempt.number, late.start.number) == (2, 2)

    def test_a_run_is_noted_and_followed(self):
        run = a_run(901, "cf-90-1")
        going = step(passed(1), passed(2), batch=searching(a_trial(run=0)), runs=(run,))
        assert going.record.trial == a_trial(run=901)
        assert (going.reason, going.start, going.due) == ("the batch gate runs as cf-90-1", None, None)
        over = a_run(901, "cf-90-1", conclusion="success")
        read = step(passed(1), passed(2), batch=searching(a_trial(run=0)), runs=(over,))
        assert (read.reason, read.wants) == ("cf-90-1: its end is being read", {JobsOf(901)})
        assert read.record.trial == a_trial(run=901)

    @pytest.mark.parametrize(
        ("sent", "forced", "cancel", "due"),
        [
            (None, None, CancelRun(900), NOW + timedelta(minutes=5)),
            (ago(minutes=4), None, None, NOW + timedelta(minutes=1)),
            (ago(minutes=5), None, CancelRun(900, force=True), None),
            (ago(minutes=9), ago(minutes=4), None, None),
        ],
    )
    def test_a_stop_by_force_cancels_it_once_and_once_more_by_force(self, sent, forced, cancel, due):
        stopped = replace(RECORD, control=Control(Action.STOP, "wendy", ago(minutes=9), force=True))
        trial = a_trial(cancel_sent_at=sent, force_sent_at=forced)
        batch = searching(trial, record=stopped)
        told = step(passed(1), passed(2), batch=batch, runs=(a_run(900, "cf-90-1"),))
        assert (told.cancel, told.due, told.reason) == (cancel, due, "stopped; what runs finishes")
        attempt = told.record.trial.attempt
        assert attempt.cancel_sent_at == (sent or NOW)
        assert attempt.force_sent_at == (NOW if cancel and cancel.force else forced)


class TestEnd:
    def test_green_together_is_passed(self):
        done = ended(Outcome.PASSED, a_trial())
        said = {"outcome": Outcome.PASSED, "reason": "passed", "ended_at": NOW, "minutes": 4.0}
        trial = replace(a_trial(), attempt=replace(a_trial().attempt, **said))
        assert done.record.gate == a_search(trial, passed=True)
        assert (done.reason, done.start, done.record.blames) == ("waits for merges", None, {})

    def test_a_red_one_is_hunted_for_on_the_same_base(self):
        again = ended(Outcome.FAILED, a_trial(), base=BASE, reason="r" * 300, gates=(RED,))
        assert again.start == GateStart(2, (Join(1, ONE),), base=BASE)
        first, second = again.record.gate.trials
        assert (first.attempt.outcome, first.attempt.reason) == (Outcome.FAILED, "r" * 120)
        assert (second.joined, second.old) == (1, False)
        assert again.record.gate.base == BASE

    def test_where_some_are_merged_it_is_hunted_for_on_the_branch_as_it_was(self):
        members = (passed(1, Status.MERGED), passed(2))
        again = ended(
            Outcome.FAILED, a_trial(), members=members, search={"merged": 1}, base=BASE, gates=(RED,)
        )
        assert again.start == GateStart(2, (Join(1, ONE), Join(2, TWO)), before=ago(minutes=74))
        assert again.record.gate.trials[-1].old
        old = replace(a_trial(2), old=True)
        search = {"merged": 1, "base": ""}
        more = ended(
            Outcome.FAILED, a_trial(1, Outcome.FAILED), old, members=members, search=search, base="f" * 40
        )
        assert (more.record.gate.base, more.start.before) == ("", ago(minutes=74))

    @pytest.mark.parametrize("base", ["", "e" * 39, "main", f"{BASE}\n"])
    def test_what_is_no_commit_is_no_base(self, base):
        assert ended(Outcome.FAILED, a_trial(), base=base).record.gate.base == ""

    def test_what_the_first_red_trial_said_is_kept_and_only_configured_gates_are_named(self):
        gates = (
            GateResult("fine", GateStatus.PASSED, 1.0, "all well"),
            GateResult("mute", GateStatus.FAILED, 1.0, ""),
            RED,
            GateResult("lint", GateStatus.ERROR, 1.0, "no such file"),
            RED,
        )
        first = ended(Outcome.FAILED, a_trial(), gates=gates).record.gate
        assert first.failing == ("tests", "lint")
        assert first.log == "tests:\n1 != 2\n\nlint:\nno such file\n\ntests:\n1 != 2"
        other = (GateResult("lint", GateStatus.FAILED, 1.0, "another"),)
        later = ended(
            Outcome.FAILED,
            a_trial(1, Outcome.FAILED),
            a_trial(2, joined=1),
            search={"failing": ("tests",), "log": "as it was"},
            gates=other,
        ).record.gate
        assert (later.failing, later.log) == (("tests",), "as it was")

    def test_of_a_long_log_the_end_is_kept(self):
        long = (GateResult("tests", GateStatus.FAILED, 1.0, "x" * 5_000 + "end"),)
        log = ended(Outcome.FAILED, a_trial(), gates=long).record.gate.log
        assert (len(log), log[-4:]) == (4_000, "xend")

    def test_the_guilty_one_is_named_and_counted(self):
        trials = (a_trial(1, Outcome.FAILED), a_trial(2, joined=1))
        found = ended(Outcome.PASSED, *trials, search={"log": "tests:\n1 != 2", "failing": ("tests",)})
        gate = found.record.gate
        assert (gate.passed, gate.guilty) == (False, 2)
        assert (gate.reason, gate.log, gate.failing) == (
            "the gates fail from this task's work on",
            "tests:\n1 != 2",
            ("tests",),
        )
        assert (found.reason, found.due, found.record.blames) == ("the gate names #2", NOW, {2: 1})
        again = ended(Outcome.PASSED, *trials, record=replace(RECORD, blames={1: 1, 2: 2}))
        assert again.record.blames == {1: 1, 2: 3}

    def test_work_that_does_not_join_is_guilty_itself(self):
        found = ended(Outcome.FAILED, a_trial(), misfit=1)
        assert (found.record.gate.guilty, found.record.gate.trials[0].conflict) == (1, 1)
        assert ended(Outcome.PASSED, a_trial(), misfit=1).record.gate.trials[0].conflict == 0
        stranger = ended(Outcome.FAILED, a_trial(), misfit=7)
        assert (stranger.record.gate.passed, stranger.start.number) == (None, 2)

    def test_where_the_base_is_red_alone_nobody_is_blamed(self):
        trials = (a_trial(1, Outcome.FAILED), a_trial(2, Outcome.FAILED, joined=1), a_trial(3, joined=0))
        found = ended(Outcome.FAILED, *trials)
        assert (found.record.gate.passed, found.record.gate.guilty, found.record.blames) == (False, 0, {})
        assert "without the work of this batch" in found.record.gate.reason
        assert found.reason == "waits for merges"

    def test_trials_that_show_nothing_are_repeated_three_times_in_a_row_at_most(self):
        lost = a_trial(1, Outcome.INFRA, reason="lost")
        again = step(passed(1), passed(2), batch=searching(lost, replace(lost, joined=1)))
        assert again.start == GateStart(3, (Join(1, ONE), Join(2, TWO)))
        broken = (a_trial(1, Outcome.FAILED), lost, lost)
        assert step(passed(1), passed(2), batch=searching(*broken)).start is not None
        for last, why in (("", "infra"), ("no runner", "no runner")):
            trials = (lost, lost, a_trial(3, Outcome.INFRA, reason=last))
            given_up = step(passed(1), passed(2), batch=searching(*trials))
            assert given_up.record.gate.reason == f"it could not be run 3 times in a row: {why}"
            assert (given_up.record.gate.passed, given_up.start) == (False, None)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"starts_blocked_by": "paused"}, "paused"),
        ({"config": replace(CONFIG, total=0)}, "the gate waits for a slot: limits.total is 0"),
        (
            {"config": replace(CONFIG, total=2), "orphans": (5, 6)},
            "the gate waits for a slot: limits.total is 2",
        ),
        (
            {"batch": a_batch(labels=("cf:pause",))},
            "paused by the label `cf:pause`",
        ),
    ],
)
def test_where_nothing_may_start_the_gate_waits_too(fields, reason):
    waits = step(passed(1), passed(2), **fields)
    assert (waits.start, waits.reason, waits.record.gate) == (None, reason, a_search())


def test_with_a_slot_left_it_starts():
    assert step(passed(1), passed(2), config=replace(CONFIG, total=2), orphans=(5,)).start is not None


def test_without_gates_or_work_there_is_nothing_to_prove():
    assert step(passed(1), passed(2), config=replace(CONFIG, gates=())).record.gate is None
    elsewhere = [a_task(number, Status.DONE) for number in (1, 2)]
    over = step(*elsewhere, batch=a_batch(record=BatchRecord(BatchState.RUNNING, started_at=ago(hours=1))))
    assert (over.record.gate, over.reason) == (None, "ended: completed")
