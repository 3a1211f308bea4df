"""How an attempt ended, and what that makes of its task: the two tables of the specification, row by row."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.config import Config, Retry
from bot.model.decision import Verb
from bot.model.report import GateResult, GateStatus, Outcome, Question
from bot.model.snapshot import JobsOf, ReportIn
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.keys import Key
from bot.notation.quoting import quote
from bot.plan.attempts.consequences import backoff
from bot.plan.attempts.ending import legs_of, run_of
from tests.builders import (
    GREEN,
    NOW,
    a_job,
    a_report,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_artifact,
    an_attempt,
    decide,
    jobs,
    settle,
    words_of,
)

HOURLY = Config(retry=Retry(max_attempts=2))


@pytest.mark.parametrize(
    ("outcome", "status", "strikes", "interruptions"),
    [
        (Outcome.PASSED, Status.DONE, 0, 0),
        (Outcome.UNVERIFIED, Status.BLOCKED, 0, 0),
        (Outcome.NO_CHANGES, Status.BLOCKED, 0, 0),
        (Outcome.FAILED, Status.READY, 1, 0),
        (Outcome.TIMEOUT, Status.READY, 1, 0),
        (Outcome.CRASHED, Status.READY, 1, 0),
        (Outcome.STALLED, Status.BLOCKED, 0, 0),
        (Outcome.BLOCKED, Status.BLOCKED, 0, 0),
        (Outcome.HELD, Status.BLOCKED, 0, 0),
        (Outcome.CANCELLED, Status.READY, 0, 1),
        (Outcome.INFRA, Status.READY, 0, 1),
        (Outcome.CAPACITY, Status.READY, 0, 0),
        (Outcome.REFUSED, Status.READY, 0, 1),
    ],
)
def test_a_report_decides_status_strike_and_interruption(outcome, status, strikes, interruptions):
    decision = settle(outcome)

    assert (decision.verb, decision.status) == (Verb.FINISH, status)
    assert (decision.record.strikes, decision.record.interruptions) == (strikes, interruptions)
    assert decision.record.status is status
    newest = decision.record.attempts[-1]
    assert (newest.outcome, newest.ended_at, newest.run) == (outcome, NOW, 900)
    assert decision.record.live is None
    assert (decision.record.not_before is not None) is bool(strikes)
    assert decision.due == (decision.record.not_before if status is Status.READY else None)


def test_every_outcome_is_in_that_table():
    assert len(Outcome) == 13


def test_the_last_strike_fails_the_task_with_its_evidence():
    task = a_running(attempt=2, record_fields={"strikes": 1})
    gates = (
        GateResult("tests", GateStatus.FAILED, 1.0, "1 failed ```"),
        GateResult("lint", GateStatus.PASSED),
    )
    decision = settle(Outcome.FAILED, task=task, config=HOURLY, reason="2 tests failed", gates=gates)

    assert decision.status is Status.FAILED
    assert (decision.record.strikes, decision.record.not_before, decision.due) == (2, None, None)
    words = words_of(decision)
    assert "after 2 attempts" in words
    assert "2 tests failed" in words
    assert "Gate `tests`:\n\n````text\n1 failed ```\n````" in words
    assert "lint" not in words
    assert "`cf:ready`" in words


def test_one_attempt_allowed_means_one():
    assert settle(Outcome.TIMEOUT, config=Config(retry=Retry(max_attempts=1))).status is Status.FAILED


def test_the_reason_says_when_it_goes_on():
    decision = settle(Outcome.FAILED, reason="tests fail")
    assert decision.reason.startswith("cf-1-1 failed: tests fail; attempt 2 of 3 not before 12:00:3")


def test_three_interruptions_in_a_row_ask_a_person():
    counted = settle(Outcome.INFRA, task=a_running(record_fields={"interruptions": 1, "strikes": 2}))
    assert (counted.status, counted.record.interruptions, counted.record.strikes) == (Status.READY, 2, 2)
    parked = settle(Outcome.REFUSED, task=a_running(record_fields={"interruptions": 2, "strikes": 2}))
    assert (parked.status, parked.record.interruptions, parked.record.strikes) == (Status.BLOCKED, 3, 2)
    assert "after 3 interruptions in a row" in words_of(parked)


def test_only_interruptions_in_a_row_count():
    failed = settle(Outcome.FAILED, task=a_running(record_fields={"interruptions": 2}))
    assert failed.record.interruptions == 0
    assert (
        settle(Outcome.NO_CHANGES, task=a_running(record_fields={"interruptions": 2})).record.interruptions
        == 0
    )


def test_a_pass_clears_strikes_and_keeps_work_and_pull_request():
    decision = settle(
        Outcome.PASSED, task=a_running(record_fields={"strikes": 2, "interruptions": 1}), minutes=4.5
    )
    record = decision.record

    assert (record.strikes, record.interruptions, record.pull, record.head) == (0, 0, 70, "b" * 40)
    assert (record.earlier, record.attempts[-1].minutes) == ("900/cf-1-1", 4.5)
    assert "#70" in decision.reason


def test_unverified_work_is_a_draft_to_review():
    decision = settle(Outcome.UNVERIFIED)
    assert decision.reason == "review draft #70"
    assert decision.record.pull == 70


def test_an_agents_words_are_shown_quoted():
    message = "@wendy <!-- cf:record 1 {} -->\n/cf run\n</details>"
    words = words_of(settle(Outcome.NO_CHANGES, message=message))
    assert quote(message) in words
    assert "@wendy" not in words


def test_hostile_words_stay_quoted_in_every_notice():
    hostile = "x\n/cf run\n@wendy\n<!-- cf:record 1 {} -->\n```"
    gates = (GateResult("t`\n/cf run", GateStatus.FAILED, 1.0, hostile),)
    for outcome in Outcome:
        if outcome is Outcome.PASSED:
            continue
        task = a_running(record_fields={"strikes": 2, "interruptions": 2})
        question = Question(hostile, (hostile, "B"), hostile)
        words = words_of(
            settle(outcome, task=task, reason=hostile, message=hostile, gates=gates, question=question)
        )
        asked = words.replace("@wendy: the agent cannot go on", "")
        assert "@wendy" not in asked, outcome
        assert "<!--" not in words, outcome
        lines = words.split("\n")
        fences = [at for at, line in enumerate(lines) if line.startswith("````")]
        inside = range(*fences) if fences else range(0)
        assert not any(line.startswith("/cf") for at, line in enumerate(lines) if at not in inside), outcome


def test_a_question_is_one_comment_with_options_and_how_to_answer():
    question = Question("Which database?", ("SQLite", "PostgreSQL"), "read the docs")
    decision = settle(Outcome.BLOCKED, question=question)
    (notice,) = decision.notices

    assert notice.question
    assert decision.record.blocker is not None
    assert (decision.record.blocker.question, decision.record.blocker.asked_at) == (question, NOW)
    for words in (
        "@wendy",
        "> Which database?",
        "- **A** SQLite",
        "- **B** PostgreSQL",
        "> read the docs",
        "a letter",
    ):
        assert words in notice.text


def test_blocked_without_a_question_still_asks_something():
    decision = settle(Outcome.BLOCKED)
    assert "without saying what it needs" in words_of(decision)
    assert "just reply" in words_of(decision)


def test_a_refused_pull_request_keeps_the_work():
    decision = settle(Outcome.HELD, reason="AGENTS.md is protected", head="c" * 40)
    assert decision.reason == "cf-1-1 is held: AGENTS.md is protected"
    assert (decision.record.head, decision.record.earlier, decision.record.pull) == (
        "c" * 40,
        "900/cf-1-1",
        0,
    )


# back-off


@pytest.mark.parametrize(
    ("strikes", "seconds"), [(1, 30), (2, 60), (3, 120), (7, 1920), (8, 3600), (100, 3600)]
)
def test_back_off_doubles_to_its_limit_with_at_most_a_tenth_of_jitter(strikes, seconds):
    for number in range(1, 30):
        span = backoff(Config(), strikes, Key(1, number)).total_seconds()
        assert seconds <= span <= seconds * 1.1
        assert span == backoff(Config(), strikes, Key(1, number)).total_seconds()
    assert len({backoff(Config(), strikes, Key(task, 1)) for task in range(1, 30)}) > 20


def test_no_back_off_is_none():
    assert backoff(Config(retry=Retry(backoff=timedelta(0))), 5, Key(1, 1)) == timedelta(0)
    assert backoff(Config(retry=Retry(max_backoff=timedelta(0))), 5, Key(1, 1)) == timedelta(0)


# without a report


def without(run="failure", *annotations, **conclusions):
    """The decision about a run without a report; each of its jobs carries these annotations."""
    legs = jobs(**conclusions)
    noted = {job.id: annotations for job in legs}
    return decide(a_running(), runs=(a_run(conclusion=run),), jobs={900: legs}, annotations=noted)


@pytest.mark.parametrize(
    ("run", "conclusions", "outcome"),
    [
        ("cancelled", {"agent": "timed_out"}, Outcome.TIMEOUT),
        (
            "cancelled",
            {"agent": "cancelled", "verify": "cancelled", "publish": "cancelled"},
            Outcome.CANCELLED,
        ),
        ("cancelled", {}, Outcome.CANCELLED),
        ("failure", {"agent": "failure", "verify": "skipped", "publish": "failure"}, Outcome.INFRA),
        ("failure", {}, Outcome.INFRA),
        ("startup_failure", {}, Outcome.INFRA),
        ("timed_out", {}, Outcome.INFRA),
        ("failure", {"agent": None}, Outcome.INFRA),
        ("success", {"agent": "success", "verify": "skipped", "publish": "success"}, Outcome.INFRA),
        ("failure", {"agent": "success", "verify": "failure", "publish": "failure"}, Outcome.FAILED),
        ("cancelled", {"agent": "success", "verify": "cancelled", "publish": "cancelled"}, Outcome.INFRA),
        ("failure", {"agent": "success", "verify": None, "publish": "failure"}, Outcome.INFRA),
        ("failure", {"agent": "success", "verify": "success", "publish": "failure"}, Outcome.INFRA),
        ("failure", {"agent": "success", "verify": "success"}, Outcome.INFRA),
    ],
)
def test_an_ended_run_without_a_report_is_judged_by_its_jobs(run, conclusions, outcome):
    decision = without(run, **conclusions)
    assert decision.record.attempts[-1].outcome is outcome
    assert decision.verb is Verb.FINISH
    lost_publish = conclusions.get("verify") == "success"
    assert decision.record.republish is lost_publish
    assert (decision.record.earlier == "900/cf-1-1") is lost_publish


PRESSED = "The run was canceled by @wendy."


@pytest.mark.parametrize(
    "conclusions",
    [
        {"agent": "cancelled", "verify": "skipped", "publish": "cancelled"},
        {"agent": "success", "verify": "cancelled", "publish": "cancelled"},
        {"agent": "success", "verify": "success", "publish": "cancelled"},
    ],
)
def test_act_13_a_run_that_a_person_cancelled_in_the_actions_tab_goes_to_the_backlog(conclusions):
    decision = without("cancelled", "Process completed with exit code 1.", PRESSED, **conclusions)

    assert (decision.status, decision.record.strikes, decision.record.interruptions) == (Status.BACKLOG, 0, 0)
    assert (
        decision.reason
        == "cf-1-1 was cancelled by wendy; its work is kept, and `cf:ready` goes on from there"
    )
    assert decision.record.attempts[-1].outcome is Outcome.CANCELLED


@pytest.mark.parametrize(
    "words",
    [
        "The run was canceled by @github-actions[bot].",
        "The operation was canceled.",
        "Canceling since a higher priority waiting request for 'x' exists",
        "agent says: The run was canceled by @wendy.",
        "The run was canceled by @wendy. Or not",
        "The run was canceled by @a/b.",
        "",
    ],
)
def test_act_13_what_names_no_person_is_an_interruption(words):
    decision = without("cancelled", words, agent="cancelled", publish="cancelled")
    assert (decision.status, decision.record.interruptions) == (Status.READY, 1)


def test_act_13_a_run_that_we_cancelled_is_not_asked_about():
    running = a_running(live={"cancelled_for": "closed", "cancel_sent_at": NOW})
    decision = decide(running, runs=(a_run(conclusion="cancelled"),), jobs={900: jobs(agent="cancelled")})
    assert not decision.wants


def test_of_several_verify_jobs_one_failure_decides():
    legs = (
        *jobs(agent="success"),
        a_job("#1 / verify (a)"),
        a_job("#1 / verify (b)", "failure"),
        a_job("#1 / verify (c)", "cancelled"),
    )
    decision = decide(a_running(), runs=(a_run(conclusion="failure"),), jobs={900: legs})
    assert decision.record.attempts[-1].outcome is Outcome.FAILED


def test_a_lost_publish_is_repeated_without_the_agent_until_it_is_done():
    lost = without("failure", agent="success", verify="success", publish="cancelled")
    again = decide(a_task(1, Status.READY, record=lost.record))
    assert again.start is not None
    assert (again.start.kind, again.start.earlier) == (Kind.PUBLISH, "900/cf-1-1")
    running = a_running(
        attempt=2,
        run=901,
        live={"kind": Kind.PUBLISH},
        record_fields={"republish": True, "earlier": "900/cf-1-1"},
    )
    skipped = jobs(agent="skipped", verify="skipped", publish="failure")
    unexplained = dict.fromkeys((job.id for job in skipped), ())
    once_more = decide(
        running,
        runs=(a_run(901, "cf-1-2", conclusion="failure"),),
        jobs={901: skipped},
        annotations=unexplained,
    )
    assert once_more.record.attempts[-1].outcome is Outcome.INFRA
    assert (once_more.record.republish, once_more.record.earlier) == (True, "900/cf-1-1")


def test_a_publish_unit_that_passed_needs_no_verify_job_of_its_own():
    running = a_running(
        attempt=2,
        run=901,
        live={"kind": Kind.PUBLISH},
        record_fields={"republish": True, "earlier": "900/cf-1-1"},
    )
    decision = decide(
        running,
        runs=(a_run(901, "cf-1-2", conclusion="success"),),
        artifacts=(an_artifact("cf-1-2", run=901),),
        reports={50: a_report(Outcome.PASSED, "cf-1-2")},
        jobs={901: jobs(agent="skipped", verify="skipped", publish="success")},
    )
    assert (decision.status, decision.record.republish) == (Status.DONE, False)


# which report counts


def with_reports(*made, legs=GREEN, run=None):
    """`made` are pairs of when an artifact was made and the report in it."""
    artifacts = tuple(an_artifact(number=50 + at, at=when) for at, (when, _) in enumerate(made))
    reports = {50 + at: report for at, (_, report) in enumerate(made)}
    return decide(
        a_running(),
        runs=(run or a_run(conclusion="success"),),
        artifacts=artifacts,
        reports=reports,
        jobs={900: legs},
        annotations={job.id: () for job in legs},
    )


PASSED, FAILED, REFUSED = (a_report(outcome) for outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.REFUSED))


def outcome_of(decision):
    return decision.record.attempts[-1].outcome


def test_a_report_made_before_its_publish_job_began_does_not_count():
    """The agent's job could have uploaded it."""
    assert outcome_of(with_reports((ago(minutes=6), PASSED))) is Outcome.INFRA
    assert outcome_of(with_reports((ago(minutes=5), PASSED))) is Outcome.PASSED
    assert (
        outcome_of(with_reports((ago(minutes=2), PASSED), legs=jobs(agent="success", verify="success")))
        is Outcome.INFRA
    )


def test_a_publish_job_of_another_leg_does_not_make_it_count():
    legs = (*jobs(agent="success", verify="success"), *jobs("#2", publish="success"))
    assert outcome_of(with_reports((ago(minutes=2), PASSED), legs=legs)) is Outcome.INFRA


def test_the_newest_report_wins():
    assert outcome_of(with_reports((ago(minutes=3), FAILED), (ago(minutes=2), PASSED))) is Outcome.PASSED
    assert outcome_of(with_reports((ago(minutes=2), FAILED), (ago(minutes=3), PASSED))) is Outcome.FAILED
    assert outcome_of(with_reports((ago(minutes=2), FAILED), (ago(minutes=2), PASSED))) is Outcome.PASSED


def test_refused_never_replaces_another_report():
    assert outcome_of(with_reports((ago(minutes=3), PASSED), (ago(minutes=2), REFUSED))) is Outcome.PASSED
    assert outcome_of(with_reports((ago(minutes=2), REFUSED))) is Outcome.REFUSED


@pytest.mark.parametrize("report", [None, a_report(Outcome.PASSED, "cf-1-2"), replace(PASSED, task=2)])
def test_a_report_that_is_unreadable_or_about_something_else_is_none(report):
    assert outcome_of(with_reports((ago(minutes=2), report))) is Outcome.INFRA
    assert outcome_of(with_reports((ago(minutes=3), FAILED), (ago(minutes=2), report))) is Outcome.FAILED


def test_a_report_of_another_run_does_not_count():
    decision = decide(
        a_running(),
        runs=(a_run(conclusion="success"),),
        artifacts=(an_artifact(run=901),),
        reports={50: PASSED},
        jobs={900: GREEN},
    )
    assert outcome_of(decision) is Outcome.INFRA


def test_a_report_counts_before_its_run_has_ended():
    legs = jobs(agent="success", verify="success", publish=None)
    assert outcome_of(with_reports((ago(minutes=2), PASSED), legs=legs, run=a_run())) is Outcome.PASSED


def test_a_run_with_nothing_to_show_goes_on():
    for made in ((), ((ago(minutes=2), None),), ((ago(minutes=9), PASSED),)):
        decision = with_reports(*made, run=a_run())
        assert (decision.verb, decision.status) == (Verb.RUNNING, Status.IN_PROGRESS)
        assert decision.record.live is not None


@pytest.mark.parametrize(
    "legs",
    [
        jobs(agent="success", verify="skipped", publish="success"),
        jobs(agent="success", publish="success"),
        jobs(agent="success", verify="failure", publish="success"),
        jobs(agent="failure", verify="success", publish="success"),
        (*GREEN, a_job("#1 / verify (windows)", "cancelled")),
        (*jobs(agent="success", publish="success"), *jobs("#2", verify="success")),
    ],
)
def test_passed_is_believed_only_if_agent_and_every_verify_job_succeeded(legs):
    decision = with_reports((ago(minutes=2), PASSED), legs=legs)
    assert outcome_of(decision) is Outcome.INFRA
    assert decision.status is Status.READY


def test_what_is_not_known_yet_is_asked_for_in_order():
    ended = {"runs": (a_run(conclusion="success"),), "artifacts": (an_artifact(),)}
    assert decide(a_running(), **ended).wants == {JobsOf(900)}
    second = decide(a_running(), jobs={900: GREEN}, **ended)
    assert second.wants == {ReportIn(50)}
    assert second.record.live is not None
    assert decide(a_running(), jobs={900: GREEN}, reports={50: PASSED}, **ended).status is Status.DONE
    assert not decide(a_running(), runs=(a_run(),)).wants


# legs and runs


def test_legs_of_a_shared_run_are_told_apart():
    shared = (
        *jobs("#1", agent="success", verify="success", publish="success"),
        *jobs("#11", agent="failure", verify="skipped", publish="success"),
        *jobs("#2 #3", agent="cancelled"),
        a_job("plan"),
        a_job("#1"),
    )
    agents = [legs_of(task, shared).agent for task in (1, 11, 2, 3)]
    assert agents == [shared[0], shared[3], shared[6], shared[6]]
    assert legs_of(4, shared).agent is None


def test_two_tasks_of_one_run_end_each_by_its_own_leg():
    first, second = a_running(1), a_running(2)
    shared = (
        *jobs("#1", agent="success", verify="success", publish="success"),
        *jobs("#2", agent="success", verify="failure", publish="failure"),
    )
    fields = {
        "runs": (a_run(900, "cf-1-1", "cf-2-1", conclusion="failure"),),
        "artifacts": (an_artifact("cf-1-1"),),
        "reports": {50: PASSED},
        "jobs": {900: shared},
    }
    assert decide(first, others=(second,), **fields).status is Status.DONE
    assert outcome_of(decide(second, others=(first,), **fields)) is Outcome.FAILED


def test_the_newest_job_of_a_role_counts_after_a_re_run():
    again = (*GREEN, replace(a_job("#1 / publish", "failure", attempt=2), id=1))
    assert legs_of(1, again).publish == again[-1]


def test_the_run_of_a_key_is_the_lowest_that_started():
    def chosen(*runs, recorded=0):
        run = run_of(Key(1, 1), an_attempt(run=recorded), a_snapshot(runs=runs))
        return run.id if run else None

    low, high = a_run(10), a_run(11)
    dead = a_run(9, conclusion="startup_failure")
    assert chosen(high, low) == 10
    assert chosen(high, low, recorded=11) == 10
    assert chosen(high, low, dead) == 10
    assert chosen(dead) == 9
    assert chosen(a_run(9, "cf-1-11"), high) == 11
    assert chosen(a_run(9, "cf-1-2")) is None
    assert chosen(replace(low, title="renamed"), recorded=10) == 10
    assert chosen(a_run(10, conclusion="failure"), high) == 10
