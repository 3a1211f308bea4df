"""Finished work that was not published, and pull requests that people refuse or review."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.config import Config
from bot.model.decision import Verb
from bot.model.record import Held, Unmerged
from bot.model.report import Hold, Outcome
from bot.model.status import Status
from bot.model.unit import Kind
from bot.plan.facts.record_edits import reset_by_order
from tests.builders import (
    GREEN,
    NOW,
    a_pull,
    a_record,
    a_report,
    a_run,
    a_running,
    a_task,
    ago,
    an_artifact,
    an_attempt,
    decide,
    settle,
    words_of,
)

HEAD = "c" * 40


def held(why=None, **report):
    return settle(Outcome.HELD, reason="no", head="" if why is Hold.SECRET else HEAD, hold=why, **report)


@pytest.mark.parametrize(
    ("why", "report", "words"),
    [
        (Hold.PROTECTED, {"protected": ("AGENTS.md",)}, "lets exactly these paths through"),
        (None, {"protected": ("AGENTS.md",)}, "- AGENTS.md"),
        (Hold.SETTING, {}, "tried again after 1 hour, 6 hours and 24 hours; `/cf publish` tries it at once"),
        (Hold.SECRET, {}, "Only a new attempt can help: set the label `cf:ready`."),
        (Hold.EXPIRED, {}, "Only a new attempt can help"),
        (None, {}, "`/cf publish` tries to publish it again"),
    ],
)
def test_what_helps_depends_on_why_it_is_held(why, report, words):
    decision = held(why, **report)
    assert (decision.status, decision.record.strikes, decision.record.republish) == (Status.BLOCKED, 0, False)
    assert words in words_of(decision)
    kept = decision.record.held
    assert (kept.protected if kept else ()) == report.get("protected", ())


def blocked(tries=0, since=NOW, **fields):
    attempts = (an_attempt(1, Outcome.HELD, reason="GitHub refused the pull request", head=HEAD),)
    record = a_record(
        1,
        Status.BLOCKED,
        attempts=attempts,
        next_attempt=2,
        earlier="900/cf-1-1",
        head=HEAD,
        held=Held(Hold.SETTING, since, 1, tries=tries),
        **fields,
    )
    return a_task(1, Status.BLOCKED, record=record)


@pytest.mark.parametrize(("tries", "hours"), [(0, 1), (1, 6), (2, 24)])
def test_act_07_publishing_that_a_setting_refused_is_tried_again_without_the_agent(tries, hours):
    before = decide(blocked(tries, NOW - timedelta(hours=hours, seconds=-1)))
    after = decide(blocked(tries, NOW - timedelta(hours=hours)))

    assert (before.verb, before.status, before.due) == (Verb.HOLD, Status.BLOCKED, NOW + timedelta(seconds=1))
    assert "GitHub refused the pull request; tried again at" in before.reason
    assert (after.status, after.reason) == (Status.READY, "publishing is tried again")
    start = decide(a_task(1, Status.READY, record=after.record)).start
    assert start is not None
    assert (start.kind, start.earlier, start.exceptions) == (Kind.PUBLISH, "900/cf-1-1", ())


def test_act_07_after_three_times_it_waits_for_a_person():
    decision = decide(blocked(3, ago(days=9)))
    assert (decision.status, decision.due) == (Status.BLOCKED, None)


def publishing_again(outcome, **report):
    record = {
        "earlier": "900/cf-1-1",
        "head": HEAD,
        "republish": True,
        "held": Held(Hold.SETTING, ago(hours=1), 1, tries=1),
    }
    task = a_running(attempt=2, live={"kind": Kind.PUBLISH}, record_fields=record)
    return settle(outcome, task=task, **report)


def test_act_07_a_second_refusal_is_not_told_twice_and_a_success_ends_it():
    again = publishing_again(Outcome.HELD, hold=Hold.SETTING, head=HEAD)
    assert (again.status, again.notices, again.record.held) == (
        Status.BLOCKED,
        (),
        Held(Hold.SETTING, ago(hours=1), 1, tries=1),
    )
    assert again.record.earlier == "900/cf-1-1"  # a publish unit keeps no work of its own
    lost = publishing_again(Outcome.INFRA)
    assert (lost.status, lost.record.republish, lost.record.held) == (Status.READY, True, again.record.held)
    secret = publishing_again(Outcome.HELD, hold=Hold.SECRET)
    assert len(secret.notices) == 1
    assert secret.record.held == Held(Hold.SECRET, NOW, 2)


def test_work_that_was_published_is_held_no_more():
    record = {
        "earlier": "900/cf-1-1",
        "head": HEAD,
        "republish": True,
        "held": Held(Hold.PROTECTED, ago(hours=1), 1, ("a",)),
        "exceptions": ("a",),
    }
    task = a_running(attempt=2, live={"kind": Kind.PUBLISH}, record_fields=record)
    legs = (replace(GREEN[0], conclusion="skipped"), *GREEN[2:])
    decision = decide(
        task,
        runs=(a_run(900, "cf-1-2", conclusion="success"),),
        artifacts=(an_artifact("cf-1-2"),),
        reports={50: a_report(Outcome.PASSED, "cf-1-2")},
        jobs={900: legs},
    )
    after = decision.record
    assert (decision.status, after.held, after.exceptions) == (Status.DONE, None, ())
    assert (after.pull, after.earlier) == (70, "900/cf-1-1")


def test_a_persons_order_for_a_new_attempt_forgets_the_hold():
    record = reset_by_order(a_record(1, held=Held(Hold.SETTING, NOW, 1), exceptions=("a",)))
    assert (record.held, record.exceptions) == (None, ())


# merged by itself


def test_a_conflict_goes_back_without_a_strike_and_the_brake_counts_it():
    once = settle(Outcome.PASSED, conflict=True, config=Config(merge="auto"))
    assert (once.status, once.record.strikes, once.record.pull) == (Status.READY, 0, 70)
    assert once.notices == ()
    same = once.record.attempts[-1].evidence
    earlier = tuple(an_attempt(n, Outcome.PASSED, evidence=same) for n in (1, 2))
    third = settle(
        Outcome.PASSED, task=a_running(attempt=3, earlier_attempts=earlier), conflict=True, head="d" * 40
    )
    assert third.status is Status.FAILED
    assert "3 attempts in a row ended in a conflict with the default branch" in third.notices[0].text
    assert settle(Outcome.PASSED, conflict=True, merged=True).status is Status.DONE


MERGING = Config(merge="auto")
REFUSED = 'not merged: Required status check "ci" is expected.'


def unmerged(pull=None, config=MERGING, at=NOW, **fields):
    return decide(
        offered(
            Status.DONE, pull or a_pull(70, head_sha=HEAD, can_merge=True), unmerged=Unmerged(at, **fields)
        ),
        config=config,
    )


def test_a_merge_that_is_refused_for_another_reason_is_told_once_and_remembered():
    first = settle(Outcome.PASSED, unmerged=True, reason=REFUSED, head=HEAD, config=MERGING)
    assert (first.status, first.record.strikes, first.record.unmerged) == (Status.DONE, 0, Unmerged(NOW))
    assert REFUSED.replace('"', "") in words_of(first).replace('"', "")
    assert "tried again by itself once GitHub says that nothing hinders it" in words_of(first)
    again = publishing_merge(unmerged=True, reason=REFUSED)
    assert (again.status, again.notices, again.record.unmerged) == (Status.DONE, (), Unmerged(NOW, 1))
    merged = publishing_merge(merged=True)
    assert (merged.status, merged.notices, merged.record.unmerged) == (Status.DONE, (), None)


def publishing_merge(**report):
    fields = {"earlier": "900/cf-1-1", "head": HEAD, "pull": 70, "unmerged": Unmerged(ago(hours=1), 1)}
    task = a_running(attempt=2, live={"kind": Kind.PUBLISH}, record_fields=fields, pulls=(a_pull(70),))
    return decide(
        task,
        config=MERGING,
        runs=(a_run(900, "cf-1-2", conclusion="success"),),
        artifacts=(an_artifact("cf-1-2"),),
        reports={50: a_report(Outcome.PASSED, "cf-1-2", head=HEAD, **report)},
        jobs={900: (replace(GREEN[0], conclusion="skipped"), *GREEN[2:])},
    )


@pytest.mark.parametrize(
    ("pull", "config", "again"),
    [
        ({}, MERGING, True),
        ({"can_merge": False}, MERGING, False),
        ({"head_sha": "e" * 40}, MERGING, False),  # somebody added to it
        ({}, Config(), False),
    ],
)
def test_it_is_tried_again_by_publishing_when_github_says_mergeable(pull, config, again):
    decision = unmerged(a_pull(70, **{"head_sha": HEAD, "can_merge": True} | pull), config)
    assert (decision.status is Status.READY) is again
    if again:
        ready = a_task(1, Status.READY, record=decision.record, pulls=(a_pull(70),))
        start = decide(ready, config=config).start
        assert start is not None
        assert (start.kind, start.earlier) == (Kind.PUBLISH, "900/cf-1-1")


@pytest.mark.parametrize(("tries", "hours"), [(1, 1), (2, 6), (3, 24)])
def test_where_github_says_so_and_refuses_all_the_same_it_is_asked_more_rarely(tries, hours):
    soon = unmerged(at=ago(hours=hours) + timedelta(seconds=1), tries=tries)
    assert (soon.status, soon.due) == (Status.DONE, NOW + timedelta(seconds=1))
    assert unmerged(at=ago(hours=hours), tries=tries).status is Status.READY
    assert unmerged(at=ago(days=9), tries=4).status is Status.DONE


# pull requests that people close or review


def offered(status, pull=None, outcome=Outcome.PASSED, **fields):
    record = a_record(
        1,
        status,
        attempts=(an_attempt(1, outcome),),
        next_attempt=2,
        pull=70,
        head=HEAD,
        earlier="900/cf-1-1",
        **fields,
    )
    return a_task(1, status, record=record, pulls=(pull or a_pull(70),))


@pytest.mark.parametrize("status", [Status.DONE, Status.BLOCKED, Status.READY, Status.FAILED])
def test_agt_24_a_refused_pull_request_takes_the_task_to_the_backlog_once(status):
    refused = offered(status, a_pull(70, is_open=False))
    decision = decide(refused)

    assert (decision.status, decision.start) == (Status.BACKLOG, None)
    assert "Pull request #70 was closed without merge" in words_of(decision)
    record = decision.record
    assert (record.pull, record.head, record.earlier) == (0, "", "")
    after = decide(replace(refused, record=record, issue=replace(refused.issue, labels=("cf:backlog",))))
    assert (after.status, after.notices) == (Status.BACKLOG, ())


def test_agt_24_one_that_we_replaced_is_no_refusal():
    """Publishing on another branch closes the earlier one, before its report is read."""
    task = a_running(attempt=2, record_fields={"pull": 70}, pulls=(a_pull(70, is_open=False),))
    assert decide(task, runs=(a_run(900, "cf-1-2"),)).status is Status.IN_PROGRESS


@pytest.mark.parametrize(
    ("status", "outcome", "goes_on"),
    [
        (Status.DONE, Outcome.PASSED, True),
        (Status.BLOCKED, Outcome.UNVERIFIED, True),
        (Status.BLOCKED, Outcome.BLOCKED, False),
        (Status.FAILED, Outcome.FAILED, False),
    ],
)
def test_agt_24_changes_requested_by_a_writer_are_the_next_order(status, outcome, goes_on):
    asked = a_pull(70, changes_requested_at=ago(minutes=3))
    decision = decide(offered(status, asked, outcome))
    assert (decision.status is Status.READY) is goes_on
    if goes_on:
        assert decision.record.reviewed_at == ago(minutes=3)
        again = decide(offered(status, asked, outcome, reviewed_at=ago(minutes=3)))
        assert again.status is status
