"""A claim and its run: waited for, found by its key, lost, or alive."""

from datetime import timedelta

import pytest

from bot.model.config import Config, Dispatch
from bot.model.decision import CancelRun, Verb
from bot.model.issue import EventKind, StateReason
from bot.model.report import Outcome
from bot.model.snapshot import JobsOf, Permission
from bot.model.status import Status
from tests.builders import (
    GREEN,
    NOW,
    STRANGER,
    a_pull,
    a_report,
    a_run,
    a_running,
    ago,
    an_artifact,
    closed_as,
    decide,
    happened,
    labelled,
)


def test_a_claim_waits_for_its_run_within_the_grace():
    fresh = decide(a_running(run=0, live={"claimed_at": ago(minutes=4)}))
    assert (fresh.verb, fresh.due) == (Verb.RUNNING, ago(minutes=-1))
    late = decide(a_running(run=0, live={"claimed_at": ago(minutes=5, seconds=1)}))
    assert (late.status, late.record.interruptions, late.record.strikes) == (Status.READY, 1, 0)
    assert "failed to start" in late.reason
    patient = Config(dispatch=Dispatch(launch_grace=timedelta(hours=1)))
    assert decide(a_running(run=0), config=patient).verb is Verb.RUNNING


def test_a_run_found_by_its_key_is_adopted():
    decision = decide(a_running(run=0, live={"claimed_at": ago(hours=3)}), runs=(a_run(77),))
    live = decision.record.live
    assert live is not None
    assert live.run == 77


def test_a_deleted_run_is_an_interruption():
    decision = decide(a_running(run=900))
    assert decision.record.attempts[-1].outcome is Outcome.INFRA
    assert "its run was deleted" in decision.reason


def test_a_run_that_is_alive_is_left_alone_however_long_it_takes():
    decision = decide(a_running(live={"claimed_at": ago(hours=30)}), runs=(a_run(),))
    assert (decision.verb, decision.notices, decision.cancel) == (Verb.RUNNING, (), None)
    assert decision.record == a_running(live={"claimed_at": ago(hours=30)}).record


def test_a_claim_is_followed_to_its_end():
    waits = decide(a_running(run=0, live={"claimed_at": ago(minutes=5)}))
    assert (waits.reason, waits.status) == (
        "cf-1-1 is claimed; its run has not appeared yet",
        Status.IN_PROGRESS,
    )
    alive = decide(a_running(), runs=(a_run(),))
    assert (alive.reason, alive.status, alive.due) == (
        "running as cf-1-1 (run 900)",
        Status.IN_PROGRESS,
        None,
    )
    over = decide(a_running(run=0), runs=(a_run(77, conclusion="success"),))
    assert (over.verb, over.reason, over.wants) == (
        Verb.RUNNING,
        "cf-1-1: its end is being read",
        frozenset({JobsOf(77)}),
    )
    assert over.record.attempts[-1].run == 77


def test_an_edit_is_judged_while_it_runs():
    events = (labelled("cf:ready"), happened(EventKind.EDITED, STRANGER, ago(minutes=5)))
    told = decide(a_running(events=events), runs=(a_run(),))
    assert (told.verb, told.status, told.cancel) == (Verb.CANCEL, Status.BACKLOG, CancelRun(900))
    assert told.reason == (
        "title or body was changed by stan after wendy approved it; run 900 is being cancelled"
    )
    (notice,) = told.notices
    assert notice.fingerprint == "changed:20260302T115500"
    assert notice.text == (
        "Not started, or ended: the title or body was changed by stan after wendy approved it. Please read the text as it"
        " is now; to approve it, set the label `cf:ready`."
    )
    asked = decide(a_running(events=events), runs=(a_run(),), permissions={})
    assert (asked.verb, asked.status) == (Verb.RUNNING, Status.IN_PROGRESS)
    assert (asked.reason, asked.wants) == (
        "who edited it is being looked up",
        frozenset({Permission("stan")}),
    )
    assert decide(a_running(events=events, record_fields={"approval": None}), runs=(a_run(),)).cancel is None


def unwanted(run=900, live=None, runs=(), **fields):
    """A task that runs and was closed as not planned."""
    task = a_running(run=run, live=live or {}, **closed_as(StateReason.NOT_PLANNED))
    return decide(task, runs=runs, **fields)


class TestNotWantedAnyMore:
    def test_its_run_is_cancelled_once_and_after_the_grace_by_force(self):
        first = unwanted(runs=(a_run(),))
        assert (first.verb, first.status, first.cancel) == (Verb.CANCEL, None, CancelRun(900))
        assert first.reason == "closed as not planned; run 900 is being cancelled"
        live = first.record.attempts[-1]
        assert (live.cancelled_for, live.cancel_sent_at, live.force_sent_at, live.outcome) == (
            "closed as not planned",
            NOW,
            None,
            None,
        )
        assert first.due == NOW + timedelta(minutes=5)

    @pytest.mark.parametrize(
        ("sent", "forced", "cancel", "words", "due"),
        [
            (ago(minutes=4), None, None, "run 900 is being cancelled", NOW + timedelta(minutes=1)),
            (ago(minutes=5), None, CancelRun(900, force=True), "run 900 is being cancelled by force", None),
            (ago(minutes=9), ago(minutes=4), None, "run 900 is being cancelled", None),
        ],
    )
    def test_what_was_asked_already_is_not_asked_twice(self, sent, forced, cancel, words, due):
        live = {"cancelled_for": "stopped", "cancel_sent_at": sent, "force_sent_at": forced}
        told = decide(a_running(live=live), runs=(a_run(),))
        assert (told.cancel, told.reason, told.due) == (cancel, f"stopped; {words}", due)
        assert told.verb is (Verb.CANCEL if cancel else Verb.RUNNING)
        last = told.record.attempts[-1]
        assert (last.cancel_sent_at, last.force_sent_at) == (sent, NOW if cancel else forced)

    def test_a_run_that_has_not_appeared_is_waited_for_and_then_given_up(self):
        early = unwanted(run=0, live={"claimed_at": ago(minutes=5)})
        assert early.reason == "closed as not planned; its run has not appeared yet"
        assert early.record.attempts[-1].cancelled_for == "closed as not planned"
        late = unwanted(run=0, live={"claimed_at": ago(minutes=6)})
        assert (late.verb, late.reason) == (Verb.DROP, "closed as not planned")
        last = late.record.attempts[-1]
        assert (last.outcome, last.reason, last.ended_at) == (Outcome.CANCELLED, "closed as not planned", NOW)

    def test_once_its_run_has_ended_so_has_the_attempt(self):
        told = unwanted(runs=(a_run(conclusion="cancelled"),))
        last = told.record.attempts[-1]
        assert (told.verb, last.outcome, last.reason) == (
            Verb.DROP,
            Outcome.CANCELLED,
            "closed as not planned",
        )
        before = unwanted(live={"cancelled_for": "stopped"}, runs=(a_run(conclusion="cancelled"),))
        assert before.record.attempts[-1].reason == "stopped"

    def test_a_shared_run_goes_on_for_the_others(self):
        shared = (a_run(900, "cf-1-1", "cf-2-1"),)
        told = unwanted(runs=shared, others=(a_running(2),))
        assert (told.cancel, told.due) == (None, None)
        assert (
            told.reason == "closed as not planned; its leg of run 900 ends by itself; the run goes on for #2"
        )
        assert told.record.attempts[-1].cancelled_for == "closed as not planned"
        alone = unwanted(runs=shared, others=(a_running(2, live={"cancelled_for": "closed"}),))
        assert alone.cancel == CancelRun(900)
        older = unwanted(runs=shared, others=(a_running(2, attempt=2),))
        assert older.cancel == CancelRun(900)
        assert unwanted(runs=shared).cancel == CancelRun(900)

    def test_the_leg_of_a_shared_run_that_has_ended_counts_as_cancelled(self):
        told = unwanted(
            runs=(a_run(900, "cf-1-1", "cf-2-1"),),
            others=(a_running(2),),
            artifacts=(an_artifact(),),
            reports={50: a_report(Outcome.PASSED, minutes=3.0)},
            jobs={900: GREEN},
        )
        last = told.record.attempts[-1]
        assert (last.outcome, last.reason, last.pull) == (Outcome.CANCELLED, "closed as not planned", 70)
        unread = unwanted(
            runs=(a_run(900, "cf-1-1", "cf-2-1"),), others=(a_running(2),), artifacts=(an_artifact(),)
        )
        assert unread.wants == frozenset({JobsOf(900)})
        assert unread.reason == "closed as not planned"


def test_the_run_that_brought_the_news_is_left_to_finish():
    merged = (a_pull(70, merged=True, is_open=False),)
    task = a_running(record_fields={"pull": 70}, pulls=merged, **closed_as(StateReason.COMPLETED))
    told = decide(task, runs=(a_run(),))
    assert (told.verb, told.status, told.cancel, told.due) == (Verb.MOVE, Status.MERGED, None, None)
    assert told.reason == "merged by #70; its run is left to finish"
    assert told.record.attempts == task.record.attempts
    done = decide(
        task,
        runs=(a_run(),),
        artifacts=(an_artifact(),),
        reports={50: a_report(Outcome.PASSED, merged=True)},
        jobs={900: GREEN},
    )
    last = done.record.attempts[-1]
    assert (done.reason, last.outcome, last.reason) == ("merged by #70", Outcome.PASSED, "")


@pytest.mark.parametrize(
    "fields",
    [
        {"runs": (a_run(),)},
        {"runs": (a_run(conclusion="cancelled"),)},
        {"runs": (a_run(900, "cf-1-1", "cf-2-1"),), "others": (a_running(2),), "artifacts": (an_artifact(),)},
        {
            "runs": (a_run(900, "cf-1-1", "cf-2-1"),),
            "others": (a_running(2),),
            "artifacts": (an_artifact(),),
            "reports": {50: a_report(Outcome.PASSED)},
            "jobs": {900: GREEN},
        },
    ],
)
def test_a_lost_approval_is_told_whatever_becomes_of_the_run(fields):
    events = (labelled("cf:ready"), happened(EventKind.EDITED, STRANGER, ago(minutes=5)))
    told = decide(a_running(events=events), **fields)
    assert (told.status, [notice.fingerprint for notice in told.notices]) == (
        Status.BACKLOG,
        ["changed:20260302T115500"],
    )
