"""How an attempt ended: by the report that counts, or by the jobs of its run."""

from typing import Any

import pytest
from msgspec.structs import replace

from bot.model.decision import Verb
from bot.model.report import GateResult, GateStatus, Outcome
from bot.model.snapshot import JobsOf, ReportIn
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.keys import Key
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
)

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
    last = decision.record.attempts[-1]
    assert (last.outcome, last.reason) == (Outcome.CANCELLED, "cancelled by wendy")


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
    once_more = decide(running, runs=(a_run(901, "cf-1-2", conclusion="failure"),), jobs={901: skipped})
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


@pytest.mark.parametrize(
    ("run", "conclusions", "reason"),
    [
        ("failure", {"agent": "timed_out"}, "the agent's job reached its time limit"),
        ("cancelled", {"agent": "cancelled"}, "its run was cancelled"),
        ("cancelled", {}, "its run was cancelled"),
        ("failure", {"agent": "failure"}, "its run ended (failure) and left no report"),
        ("failure", {}, "its run ended (failure) and left no report"),
        (
            "failure",
            {"agent": "success", "verify": "failure"},
            "verification failed, and its report is missing",
        ),
        (
            "failure",
            {"agent": "success", "verify": "timed_out"},
            "verification failed, and its report is missing",
        ),
        ("failure", {"agent": "success", "verify": "startup_failure"}, "verification was interrupted"),
        ("failure", {"agent": "success", "verify": "success"}, "publishing was lost"),
        (
            "failure",
            {"agent": "success", "verify": "skipped"},
            "the agent's job succeeded, but its report is missing",
        ),
        ("failure", {"agent": "success"}, "the agent's job succeeded, but its report is missing"),
    ],
)
def test_without_a_report_the_jobs_say_why(run, conclusions, reason):
    assert without(run, **conclusions).record.attempts[-1].reason == reason


def test_how_long_it_took_is_the_longer_of_githubs_word_and_the_jobs_own():
    for told, minutes in ((3.0, 4.0), (5.5, 5.5)):
        assert settle(Outcome.PASSED, minutes=told).record.attempts[-1].minutes == minutes
    half = (replace(GREEN[0], started_at=ago(seconds=100), completed_at=NOW), *GREEN[1:])
    decision = decide(
        a_running(),
        runs=(a_run(conclusion="success"),),
        artifacts=(an_artifact(),),
        reports={50: a_report(Outcome.PASSED)},
        jobs={900: half},
    )
    assert decision.record.attempts[-1].minutes == 1.67


def test_what_the_report_says_is_copied_and_nothing_below_nothing():
    gates = (GateResult("a", GateStatus.PASSED), GateResult("b", GateStatus.FAILED))
    report: dict[str, Any] = {
        "engine": "codex", "model": "gpt-5", "tokens": 7, "usd": 0.5, "rounds": 2, "files_changed": 3, "gates": gates,
        "failure": "f", "retry_after": NOW, "head": "c" * 40,
    }  # fmt: skip
    last = settle(Outcome.FAILED, **report).record.attempts[-1]
    assert (last.engine, last.model, last.tokens, last.usd, last.rounds, last.files) == (
        "codex",
        "gpt-5",
        7,
        0.5,
        2,
        3,
    )
    assert (last.gates, last.gates_passed, last.failure, last.retry_after, last.head) == (
        2,
        1,
        "f",
        NOW,
        "c" * 40,
    )
    task = a_running(live={"engine": "aider", "model": "m"})
    less = settle(Outcome.FAILED, task=task, tokens=-1, usd=-0.5).record.attempts[-1]
    assert (less.engine, less.model, less.tokens, less.usd) == ("aider", "m", 0, 0.0)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Outcome.NO_CHANGES, "the agent changed nothing"),
        (Outcome.STALLED, "the agent stood still"),
        (Outcome.UNVERIFIED, "no gate has proven it"),
        (Outcome.FAILED, ""),
    ],
)
def test_where_nobody_gave_a_reason_the_outcome_says_one(outcome, reason):
    assert settle(outcome).record.attempts[-1].reason == reason
    assert settle(outcome, reason="a reason").record.attempts[-1].reason == "a reason"
