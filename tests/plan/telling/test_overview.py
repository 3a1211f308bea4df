"""Where everything stands: how many in each section, and why nothing starts."""

import pytest

from bot.conductor.tell.summary import overview
from bot.model.config import Config, EngineConfig
from bot.model.decision import Decision, Verb
from bot.model.issue import StateReason
from bot.model.overview import Standing
from bot.model.record import Blocker
from bot.model.ref import Ref
from bot.model.report import Outcome, Question
from bot.model.status import Status
from bot.model.unit import Gate, Kind
from bot.plan.telling.overview import overview_of, section_of
from tests.builders import (
    a_record,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    a_tick,
    ago,
    an_attempt,
    closed_as,
)


def many():
    return a_snapshot(
        a_task(1),
        a_task(2, needs=(1,)),
        a_running(3, run=903),
        a_task(4, Status.BLOCKED),
        a_task(
            5, Status.FAILED, record=a_record(5, Status.FAILED, attempts=(an_attempt(1, Outcome.FAILED),))
        ),
        a_task(6, Status.BACKLOG),
        a_task(7, Status.DONE),
        runs=(a_run(903, "cf-3-1"),),
    )


def test_counts_tell_ready_running_waiting_blocked_and_failed_apart():
    assert overview(a_tick(many())).counts == {
        "ready": 0,
        "running": 2,
        "waiting": 1,
        "blocked": 1,
        "failed": 1,
    }


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"starts_blocked_by": "paused by the label `cf:pause` on #9"},
            "paused by the label `cf:pause` on #9",
        ),
        ({"config": Config(max_parallel=0)}, "nothing can start: waits for a slot: max_parallel is 0"),
    ],
)
def test_the_headline_says_why_nothing_starts(fields, words):
    assert overview(a_tick(a_snapshot(a_task(1), a_task(2), **fields))).reason == words


def a_decision(status=Status.READY, verb=Verb.HOLD, number=1, **fields):
    record = fields.pop("record", None) or a_record(number, status)
    return Decision(number, verb, fields.pop("reason", "why"), status, record, **fields)


@pytest.mark.parametrize(
    ("decision", "section"),
    [
        (a_decision(), "waiting"),
        (a_decision(verb=Verb.MOVE), "ready"),
        (a_decision(Status.BLOCKED), "blocked"),
        (a_decision(Status.FAILED), "failed"),
        (a_decision(Status.DONE), "review"),
        (a_decision(Status.DONE, close=True), ""),
        (a_decision(Status.BACKLOG), "backlog"),
        (a_decision(Status.MERGED), ""),
        (a_decision(None), ""),
        (a_decision(Status.BACKLOG, record=a_running().record), "running"),
    ],
)
def test_each_task_stands_in_one_section(decision, section):
    assert section_of(decision) == section


def standing(decision, **fields):
    told = overview_of(a_snapshot(), [decision], **fields)
    (one,) = getattr(told, section_of(decision))
    return one


LIVE = a_running().record
UNKNOWN = a_running(run=0).record


@pytest.mark.parametrize(
    ("decision", "fields", "words", "run"),
    [
        (a_decision(Status.IN_PROGRESS, Verb.RUNNING, record=LIVE), {}, "", 900),
        (a_decision(Status.IN_PROGRESS, Verb.RUNNING, record=UNKNOWN), {}, "why", 0),
        (a_decision(Status.IN_PROGRESS, Verb.START, record=UNKNOWN), {"started": {1: 901}}, "", 901),
        (a_decision(Status.IN_PROGRESS, Verb.START, record=LIVE), {"started": {1: 901}}, "", 900),
        (
            a_decision(Status.IN_PROGRESS, Verb.START, record=UNKNOWN),
            {"skipped": {1: "not now"}},
            "not now",
            0,
        ),
        (a_decision(Status.BACKLOG, Verb.CANCEL, record=LIVE), {}, "why", 900),
        (
            a_decision(
                Status.BACKLOG, Verb.RUNNING, record=a_running(live={"cancelled_for": "stopped"}).record
            ),
            {},
            "why",
            900,
        ),
    ],
)
def test_what_runs_as_it_should_needs_no_words(decision, fields, words, run):
    assert standing(decision, **fields) == Standing(1, words, "cf-1-1", run, Kind.CODE, 0, ago(minutes=20))


def test_a_question_stands_for_what_is_blocked():
    asked = Blocker("q", Question("Which?"), ago(minutes=9))
    blocked = a_decision(Status.BLOCKED, record=a_record(1, Status.BLOCKED, blocker=asked, pull=70))
    assert standing(blocked) == Standing(1, "Which?", at=ago(minutes=9))
    assert standing(a_decision(Status.BLOCKED, record=a_record(1, pull=70))) == Standing(1, "why", pull=70)
    assert standing(a_decision(Status.FAILED, record=a_record(1, blocker=asked))) == Standing(1, "why")


@pytest.mark.parametrize(
    ("decisions", "started", "blocked_by", "can_start", "reason"),
    [
        ([], {1: 5, 2: 6}, "", True, "2 started"),
        ([], {1: 5}, "paused", True, "1 started"),
        ([a_decision(verb=Verb.MOVE)], {}, "paused", False, "paused"),
        ([a_decision(verb=Verb.MOVE)], {}, "", True, "1 can start at the next tick"),
        (
            [a_decision(reason="a"), a_decision(number=2, reason="b"), a_decision(number=3, reason="b  c")],
            {},
            "",
            False,
            "nothing can start: a",
        ),
        (
            [a_decision(reason="a"), a_decision(number=2, reason="b"), a_decision(number=3, reason="b")],
            {},
            "",
            False,
            "nothing can start: b",
        ),
        (
            [a_decision(Status.READY, record=LIVE), a_decision(Status.BLOCKED, number=2)],
            {},
            "",
            False,
            "nothing can start: 1 running, no task is ready",
        ),
        ([], {}, "", False, "nothing can start: 0 running, no task is ready"),
        ([a_decision(reason="a \n b")], {}, "", False, "nothing can start: a b"),
    ],
)
def test_one_line_says_whether_anything_can_start(decisions, started, blocked_by, can_start, reason):
    told = overview_of(a_snapshot(starts_blocked_by=blocked_by), decisions, started)
    assert (told.can_start, told.reason, told.started) == (can_start, reason, len(started))


def test_what_ended_within_a_day_is_recent_the_newest_first():
    def ended(number, at, **fields):
        return an_attempt(number, Outcome.PASSED, ended_at=at, run=900, pull=70, minutes=4.0, **fields)

    one = a_record(1, attempts=(ended(1, ago(days=1, seconds=1)), ended(2, ago(days=1)), an_attempt(3)))
    two = a_record(2, attempts=(ended(1, ago(hours=1), kind=Kind.PUBLISH), ended(2, ago(days=1))))
    decisions = [a_decision(record=one), a_decision(number=2, record=two)]
    assert overview_of(a_snapshot(), decisions).recent == (
        Standing(2, "passed", "cf-2-1", 900, Kind.PUBLISH, 70, ago(hours=1), 4.0),
        Standing(2, "passed", "cf-2-2", 900, Kind.CODE, 70, ago(days=1), 4.0),
        Standing(1, "passed", "cf-1-2", 900, Kind.CODE, 70, ago(days=1), 4.0),
    )


def test_needs_between_open_tasks_are_told_with_what_these_are():
    closed = a_task(3, Status.DONE, needs=(1,), **closed_as(StateReason.COMPLETED))
    tasks = (a_task(1, needs=(2, 3, 99, Ref("octo/lib", 2))), a_task(2), closed)
    told = overview_of(
        a_snapshot(*tasks), [a_decision(), a_decision(Status.FAILED, number=2), a_decision(None, number=3)]
    )
    assert told.edges == ((2, 1),)
    assert told.statuses == {1: Status.READY, 2: Status.FAILED}


def test_the_settings_in_force_are_told():
    def settings(**fields):
        engines = {"codex": EngineConfig(model="gpt-5"), "command": EngineConfig(args="x")}
        config = Config(**({"engine": "codex", "engines": engines} | fields))
        return dict(overview_of(a_snapshot(config=config), []).settings)

    assert settings() == {
        "engine": "codex (gpt-5)",
        "gates": "none: work stays unverified",
        "at once": "4, all kinds together 10",
        "order": "critical-path",
        "attempts": "3, back-off from 30s",
        "time for one": "1h",
        "merge": "manual",
        "configuration": "none: the defaults",
    }
    other = settings(engine="command", gates=(Gate("tests", "x"), Gate("lint", "x")), blob="a" * 40)
    assert (other["engine"], other["gates"], other["configuration"]) == ("command", "tests, lint", "a" * 7)
    assert settings(engine="aider")["engine"] == "aider"
