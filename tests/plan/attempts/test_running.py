"""A claim and its run: waited for, found by its key, lost, or alive."""

from datetime import timedelta

from bot.model.config import Config, Dispatch
from bot.model.decision import Verb
from bot.model.report import Outcome
from bot.model.status import Status
from tests.builders import a_run, a_running, ago, decide


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
