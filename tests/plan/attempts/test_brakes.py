"""Brakes: no progress, or too much used in a task's whole life."""

import pytest
from msgspec.structs import replace

from bot.model.config import Brakes, Config, Retry
from bot.model.report import GateResult, GateStatus, Outcome, Question
from bot.model.status import Status
from tests.builders import a_record, a_running, a_task, an_attempt, decide, settle, words_of


def tried(*outcomes, **fields):
    return tuple(an_attempt(number, outcome, **fields) for number, outcome in enumerate(outcomes, 1))


def ready(number=1, *attempts, **fields):
    return a_task(
        number,
        Status.READY,
        record=a_record(number, Status.READY, attempts=attempts, next_attempt=99, **fields),
    )


def again(outcome=Outcome.FAILED, before=2, config=None, same=True, **report):
    """The decision when one more attempt ends like (or unlike) those before it."""
    first = (
        settle(outcome, config=Config(retry=Retry(max_attempts=50)), **report).record.attempts[-1].evidence
    )
    earlier = tried(*[outcome] * before, evidence=first if same else "other")
    task = a_running(attempt=before + 1, earlier_attempts=earlier)
    return settle(outcome, task=task, config=config or Config(retry=Retry(max_attempts=50)), **report)


GATES = (GateResult("tests", GateStatus.FAILED, 1.0, "1 failed"),)


def test_three_attempts_without_any_progress_park_the_task_with_its_evidence():
    decision = again(gates=GATES, reason="tests fail")

    assert decision.status is Status.FAILED
    assert (
        "3 attempts in a row changed neither the commit, nor the gates' results, nor the question"
        in decision.reason
    )
    assert "**Stopped by a brake**" in words_of(decision)
    assert "1 failed" in words_of(decision)
    assert again(gates=GATES, before=1).status is Status.READY
    assert again(gates=GATES, same=False).status is Status.READY


def test_the_same_question_over_and_over_is_no_progress_either():
    decision = again(Outcome.BLOCKED, question=Question("Which  database?"))
    assert (decision.status, decision.record.blocker) == (Status.FAILED, None)
    assert "> Which  database?" in words_of(decision)
    assert again(Outcome.BLOCKED, question=Question("Which?"), same=False).status is Status.BLOCKED


def evidence(outcome=Outcome.FAILED, **report):
    return settle(outcome, **report).record.attempts[-1].evidence


def test_what_counts_as_progress():
    assert evidence(gates=GATES) == evidence(gates=(replace(GATES[0], seconds=9.0, tail="2 failed"),))
    several = {
        evidence(),
        evidence(head="a" * 40),
        evidence(gates=GATES),
        evidence(gates=(replace(GATES[0], status=GateStatus.PASSED),)),
        evidence(Outcome.BLOCKED, question=Question("A?")),
        evidence(Outcome.BLOCKED, question=Question("B?")),
    }
    assert len(several) == 6
    assert {
        evidence(outcome) for outcome in (Outcome.INFRA, Outcome.CANCELLED, Outcome.REFUSED, Outcome.CAPACITY)
    } == {""}


def test_interruptions_between_two_attempts_hide_no_standstill():
    same = evidence()
    earlier = (
        an_attempt(1, Outcome.FAILED, evidence=same),
        an_attempt(2, Outcome.INFRA),
        an_attempt(3, Outcome.FAILED, evidence=same),
    )
    task = a_running(attempt=4, earlier_attempts=earlier)
    assert (
        settle(Outcome.FAILED, task=task, config=Config(retry=Retry(max_attempts=50))).status is Status.FAILED
    )


@pytest.mark.parametrize(
    ("brakes", "words"),
    [
        ({"attempts": 3}, "3 attempts are used, of at most 3 (brakes.attempts)"),
        ({"minutes": 12}, "14 minutes are used, of at most 12 (brakes.minutes)"),
        ({"tokens": 100}, "103 tokens are used, of at most 100 (brakes.tokens)"),
    ],
)
def test_the_caps_of_a_tasks_whole_life(brakes, words):
    config = Config(retry=Retry(max_attempts=50), brakes=Brakes(**brakes))
    task = a_running(
        attempt=3, earlier_attempts=tried(Outcome.FAILED, Outcome.FAILED, minutes=5.0, tokens=50)
    )
    decision = settle(Outcome.FAILED, task=task, config=config, tokens=3)
    assert decision.status is Status.FAILED
    assert words in decision.reason
    assert settle(Outcome.PASSED, task=task, config=config, tokens=3).status is Status.DONE


def test_a_person_grants_one_more_attempt_beyond_a_tripped_brake():
    config = Config(brakes=Brakes(attempts=1))
    ordered = ready(1, *tried(Outcome.FAILED))
    assert decide(ordered, config=config).start is not None
    task = a_running(attempt=2, earlier_attempts=tried(Outcome.FAILED))
    assert settle(Outcome.FAILED, task=task, config=config).status is Status.FAILED
