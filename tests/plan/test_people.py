"""What people do is obeyed: close, reopen, withdraw, move."""

from datetime import timedelta

import pytest

from bot.model.decision import CancelRun, Notice, Verb
from bot.model.issue import GHOST, Account, EventKind, NeedState, StateReason
from bot.model.ref import Ref
from bot.model.report import Outcome
from bot.model.snapshot import NeedOf, Permission
from bot.model.status import MOVES, Status
from tests.builders import (
    BOT,
    GREEN,
    NOW,
    OTHER_BOT,
    STRANGER,
    WRITER,
    a_pull,
    a_record,
    a_report,
    a_run,
    a_running,
    a_task,
    ago,
    an_artifact,
    an_attempt,
    closed_as,
    decide,
    happened,
    labelled,
    unlabelled,
    words_of,
)

DROPPED = (StateReason.NOT_PLANNED, StateReason.DUPLICATE, StateReason.OTHER)


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("reason", [*StateReason, None])
def test_a_close_is_obeyed_from_every_state(status, reason):
    task = a_task(1, status, record=a_record(1, status), **closed_as(reason))
    decision = decide(task)
    assert decision.status is (None if reason in DROPPED else Status.DONE)
    assert decision.record.status is decision.status
    assert (decision.start, decision.cancel) == (None, None)


def test_closed_by_a_merged_pull_request_is_merged_whoevers_it_was():
    for number in (70, 71):
        task = a_task(
            1,
            Status.DONE,
            record=a_record(1, Status.DONE, pull=70),
            pulls=(a_pull(number, merged=True, is_open=False),),
            **closed_as(StateReason.COMPLETED),
        )
        assert decide(task).status is Status.MERGED
    unmerged = a_task(
        1,
        Status.DONE,
        record=a_record(1, Status.DONE, pull=70),
        pulls=(a_pull(is_open=False),),
        **closed_as(StateReason.COMPLETED),
    )
    assert decide(unmerged).status is Status.DONE


@pytest.mark.parametrize(
    ("pull", "cancelled"),
    [
        ({"head_ref": "cf/1"}, False),
        ({"head_ref": "cf/1-1"}, False),
        ({"head_ref": "cf/2"}, True),
        ({"head_ref": "cf/1", "author": STRANGER}, True),
    ],
)
def test_3_what_the_attempt_merges_itself_is_its_success_before_its_report_is_there(pull, cancelled):
    """With `merge: auto` the merge closes the issue while the run that merged still has its report to write."""
    merged = a_pull(70, merged=True, is_open=False, **pull)
    task = a_running(pulls=(merged,), **closed_as(StateReason.COMPLETED))
    first = decide(task, runs=(a_run(),))
    assert (first.status, first.cancel is not None) == (Status.MERGED, cancelled)
    assert first.record.live is not None
    assert bool(first.record.live.cancelled_for) is cancelled


def test_a_close_while_running_cancels_the_run_and_keeps_the_slot_until_it_has_ended():
    closed = closed_as(StateReason.NOT_PLANNED)
    first = decide(a_running(**closed), runs=(a_run(),))
    assert (first.status, first.cancel) == (None, CancelRun(900))
    live = first.record.live
    assert live is not None
    assert (live.cancel_sent_at, live.cancelled_for) == (NOW, "closed as not planned")
    assert first.due == NOW + timedelta(minutes=5)

    asked = a_running(live={"cancel_sent_at": ago(minutes=4), "cancelled_for": "closed"}, **closed)
    waiting = decide(asked, runs=(a_run(),))
    assert (waiting.cancel, waiting.due) == (None, ago(minutes=-1))
    late = decide(
        a_running(live={"cancel_sent_at": ago(minutes=5), "cancelled_for": "closed"}, **closed),
        runs=(a_run(),),
    )
    assert late.cancel == CancelRun(900, force=True)
    assert late.due is None
    forced = a_running(
        live={"cancel_sent_at": ago(minutes=9), "cancelled_for": "closed", "force_sent_at": ago(minutes=4)},
        **closed,
    )
    assert decide(forced, runs=(a_run(),)).cancel is None
    ended = decide(asked, runs=(a_run(conclusion="cancelled"),))
    assert (ended.record.live, ended.record.attempts[-1].outcome, ended.record.strikes) == (
        None,
        Outcome.CANCELLED,
        0,
    )


def test_a_run_that_was_not_wanted_counts_as_cancelled_even_if_it_passed():
    decision = decide(
        a_running(**closed_as(StateReason.NOT_PLANNED)),
        runs=(a_run(conclusion="success"),),
        artifacts=(an_artifact(),),
        reports={50: a_report(Outcome.PASSED)},
        jobs={900: GREEN},
    )
    assert (decision.status, decision.record.attempts[-1].outcome) == (None, Outcome.CANCELLED)


def test_3_a_merge_by_its_own_run_is_a_success_and_the_run_is_left_to_finish():
    merged = {"pulls": (a_pull(merged=True, is_open=False),), **closed_as(StateReason.COMPLETED)}
    task = a_running(record_fields={"pull": 70}, **merged)
    waiting = decide(task, runs=(a_run(),))
    assert (waiting.status, waiting.cancel) == (Status.MERGED, None)
    done = decide(
        task,
        runs=(a_run(conclusion="success"),),
        artifacts=(an_artifact(),),
        reports={50: a_report(Outcome.PASSED, merged=True)},
        jobs={900: GREEN},
    )
    assert (done.status, done.record.attempts[-1].outcome, done.record.live) == (
        Status.MERGED,
        Outcome.PASSED,
        None,
    )


def test_a_claim_whose_run_never_came_is_given_up_after_the_grace():
    fresh = a_running(run=0, live={"claimed_at": ago(minutes=4)}, **closed_as(StateReason.COMPLETED))
    assert decide(fresh).record.live is not None
    old = a_running(run=0, live={"claimed_at": ago(minutes=6)}, **closed_as(StateReason.COMPLETED))
    assert decide(old).record.attempts[-1].outcome is Outcome.CANCELLED


# reopened


def reopened(by=WRITER, status=Status.DONE, at=None, events=(), **record):
    event = happened(EventKind.REOPENED, by, at or ago(minutes=5))
    kept = a_record(
        1, status, strikes=2, interruptions=1, pull=70, head="b" * 40, earlier="900/cf-1-1", **record
    )
    return a_task(1, status, record=kept, events=(*events, event))


@pytest.mark.parametrize("status", [Status.DONE, Status.MERGED])
def test_a_reopening_by_a_writer_is_a_fresh_start(status):
    decision = decide(reopened(status=status))
    record = decision.record
    assert decision.status is Status.READY
    assert (record.strikes, record.interruptions, record.pull, record.head, record.earlier) == (
        0,
        0,
        0,
        "",
        "",
    )
    assert record.reopened_at == ago(minutes=5)
    assert record.approval is not None
    assert record.approval.by == "wendy"


@pytest.mark.parametrize("by", [STRANGER, OTHER_BOT, GHOST])
def test_by_anybody_else_it_waits_in_the_backlog(by):
    assert decide(reopened(by)).status is Status.BACKLOG


def test_who_reopened_it_is_asked_for():
    newcomer = Account(9, "new")
    decision = decide(reopened(newcomer))
    assert decision.wants == {Permission("new")}
    assert decision.status is Status.DONE


def test_a_reopening_counts_once_and_an_older_one_not_at_all():
    assert (
        decide(reopened(reopened_at=ago(minutes=5)), needs={Ref("acme/shop", 70): NeedState.OPEN_PULL}).status
        is Status.DONE
    )
    done_again = (labelled("cf:done", BOT, ago(minutes=2)),)
    assert (
        decide(reopened(events=done_again), needs={Ref("acme/shop", 70): NeedState.OPEN_PULL}).status
        is Status.DONE
    )
    assert decide(reopened(by=BOT), needs={Ref("acme/shop", 70): NeedState.OPEN_PULL}).status is Status.DONE


def test_a_dropped_task_comes_back_also_if_it_never_ran():
    kept = a_record(1, None, status_at=ago(minutes=30))
    task = a_task(1, None, record=kept, events=(happened(EventKind.REOPENED, at=ago(minutes=5)),))
    assert decide(task).status is Status.READY


def test_a_withdrawn_task_is_not_brought_back_by_an_older_reopening():
    kept = a_record(
        1, None, status_at=ago(minutes=30), attempts=(an_attempt(1, Outcome.FAILED),), next_attempt=2
    )
    task = a_task(1, None, record=kept, events=(happened(EventKind.REOPENED, at=ago(hours=2)),))
    decision = decide(task)
    assert (decision.status, decision.verb) == (None, Verb.HOLD)


# pull requests


def test_an_open_issue_whose_own_pull_request_merged_is_closed():
    task = a_task(1, Status.DONE, record=a_record(1, Status.DONE, pull=70))
    decision = decide(task, needs={Ref("acme/shop", 70): NeedState.MERGED})
    assert (decision.status, decision.close) == (Status.MERGED, True)
    other = a_task(
        1,
        Status.DONE,
        record=a_record(1, Status.DONE, pull=70),
        pulls=(a_pull(71, merged=True, is_open=False), a_pull(70)),
    )
    assert not decide(other).close


def test_a_refused_pull_request_sends_the_task_to_the_backlog_once():
    task = a_task(
        1,
        Status.DONE,
        record=a_record(1, Status.DONE, pull=70, head="b", earlier="e"),
        pulls=(a_pull(is_open=False),),
    )
    decision = decide(task)
    assert decision.status is Status.BACKLOG
    assert (decision.record.pull, decision.record.head, decision.record.earlier) == (0, "", "")
    assert len(decision.notices) == 1


def test_a_review_that_asks_for_changes_counts_once_and_only_on_the_own_pull_request():
    asked = {"changes_requested_at": ago(minutes=3)}

    def reviewed(pull, **record):
        return decide(
            a_task(
                1,
                Status.DONE,
                record=a_record(1, Status.DONE, pull=70, **record),
                pulls=(pull, a_pull(70)) if pull.number != 70 else (pull,),
            )
        )

    assert reviewed(a_pull(70, **asked)).status is Status.READY
    assert reviewed(a_pull(70, **asked)).record.reviewed_at == ago(minutes=3)
    assert reviewed(a_pull(70, **asked), reviewed_at=ago(minutes=3)).status is Status.DONE
    assert reviewed(a_pull(71, **asked)).status is Status.DONE


def test_a_pull_request_that_github_does_not_link_is_looked_up():
    task = a_task(1, Status.DONE, record=a_record(1, Status.DONE, pull=70))
    assert decide(task).wants == {NeedOf(Ref("acme/shop", 70))}
    assert decide(task, needs={Ref("acme/shop", 70): NeedState.OPEN_PULL}).reason == "waits for review of #70"


# labels


def moved(before, after, by=WRITER, **fields):
    names = (f"cf:{before}", f"cf:{after}")
    task = a_task(
        1, None, *names, record=a_record(1, before), events=(labelled(names[1], by, ago(minutes=1)),)
    )
    return decide(task, **fields)


ONLY_OURS = (Status.MERGED, Status.IN_PROGRESS)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (before, after)
        for before in Status
        for after in Status
        if before is not after and before is not Status.IN_PROGRESS
    ],
)
def test_a_persons_legal_move_is_obeyed_and_another_is_put_back_with_one_comment(before, after):
    decision = moved(before, after)
    if after in MOVES[before] and after not in ONLY_OURS:
        assert (decision.status, decision.notices) == (after, ())
        return
    assert (decision.status, decision.record.status_at) == (before, NOW)
    assert len(decision.notices) == 1
    assert f"`cf:{before}`" in words_of(decision)
    assert all(f"`cf:{way}`" in words_of(decision) for way in MOVES[before] if way not in ONLY_OURS)


@pytest.mark.parametrize("by", [STRANGER, OTHER_BOT, GHOST])
def test_a_move_without_permission_is_put_back(by):
    assert moved(Status.BLOCKED, Status.READY, by).status is Status.BLOCKED


def test_who_moved_it_is_asked_for():
    assert moved(Status.BLOCKED, Status.READY, Account(9, "new")).wants == {Permission("new")}


def test_ready_by_a_person_clears_strikes_back_off_and_question():
    record = a_record(1, Status.FAILED, strikes=3, interruptions=2, not_before=ago(minutes=-30))
    task = a_task(
        1, None, "cf:failed", "cf:ready", record=record, events=(labelled("cf:ready", at=ago(minutes=1)),)
    )
    decision = decide(task)
    assert (
        decision.status,
        decision.record.strikes,
        decision.record.interruptions,
        decision.record.not_before,
    ) == (Status.READY, 0, 0, None)
    assert decision.record.approval is not None
    assert decision.record.approval.at == ago(minutes=1)


@pytest.mark.parametrize("after", [Status.BACKLOG, Status.FAILED, Status.BLOCKED, Status.DONE])
def test_a_move_away_from_running_stops_the_run(after):
    task = a_running()
    stopped = a_task(
        1,
        None,
        "cf:in-progress",
        f"cf:{after}",
        record=task.record,
        events=(labelled(f"cf:{after}", at=ago(minutes=1)),),
    )
    decision = decide(stopped, runs=(a_run(),))
    assert (decision.status, decision.cancel) == (after, CancelRun(900))


def test_a_removed_label_withdraws_and_a_vanished_one_is_rebuilt():
    record = a_record(1, Status.BLOCKED)
    removed = decide(a_task(1, None, record=record, events=(unlabelled("cf:blocked", at=ago(minutes=1)),)))
    assert (removed.verb, removed.status, removed.record.status) == (Verb.DROP, None, None)
    for events in (
        (),
        (unlabelled("cf:blocked", BOT, ago(minutes=1)),),
        (unlabelled("cf:blocked", OTHER_BOT, ago(minutes=1)),),
    ):
        assert decide(a_task(1, None, record=record, events=events)).status is Status.BLOCKED
    running = a_running()
    lost = a_task(1, None, record=running.record)
    assert decide(lost, runs=(a_run(),)).status is Status.IN_PROGRESS
    withdrawn = a_task(
        1, None, record=running.record, events=(unlabelled("cf:in-progress", at=ago(minutes=1)),)
    )
    assert decide(withdrawn, runs=(a_run(),)).cancel == CancelRun(900)


def test_in_progress_without_any_attempt_of_ours_is_no_state():
    assert decide(a_task(1, Status.IN_PROGRESS)).status is Status.BACKLOG


def test_an_edit_by_a_stranger_ends_the_run_and_asks_for_approval():
    edited = a_running(events=(labelled("cf:ready"), happened(EventKind.EDITED, STRANGER, ago(minutes=1))))
    decision = decide(edited, runs=(a_run(),))
    assert (decision.status, decision.cancel) == (Status.BACKLOG, CancelRun(900))
    assert "changed by stan" in words_of(decision)


@pytest.mark.parametrize(
    ("notices", "told"),
    [
        ((), True),
        (("put-back:20260302T110000", "put-back:20260302T113000"), True),
        (("put-back:20260302T110000", "put-back:20260302T113000", "put-back:20260302T115800"), False),
        (("put-back:20260302T105959", "put-back:20260302T113000", "put-back:20260302T115800"), True),
        (("put-back:20260302T105959", "put-back:20260302T105958", "put-back:20260302T105957"), True),
        (("question:cf-1-1", "question:cf-1-2", "question:cf-1-3"), True),
    ],
)
def test_a_label_that_is_put_back_for_the_fourth_time_within_an_hour_is_put_back_in_silence(notices, told):
    record = a_record(1, Status.DONE, notices=notices)
    task = a_task(1, None, "cf:failed", record=record, events=(labelled("cf:failed", at=ago(minutes=1)),))
    decision = decide(task)
    assert (decision.verb, decision.status, decision.record.status_at) == (Verb.MOVE, Status.DONE, NOW)
    ways = "from `done` a label may take it to `cf:ready`, `cf:backlog`"
    assert decision.reason == f"label put back: {ways}"
    text = f"The status label was put back to `cf:done`: {ways}."
    assert decision.notices == ((Notice("put-back:20260302T115900", text),) if told else ())


def test_from_merged_no_label_leads_away():
    assert moved(Status.MERGED, Status.DONE).reason.endswith("from `merged` a label may take it to nothing")


def test_what_was_withdrawn_while_it_ran_says_why_until_its_run_has_ended():
    def said(**live):
        attempts = (an_attempt(1, run=900, **live),)
        return decide(a_task(1, None, record=a_record(1, None, attempts=attempts)), runs=(a_run(),))

    assert said().reason == "withdrawn; run 900 is being cancelled"
    assert (
        said(cancelled_for="closed as a duplicate").reason
        == "closed as a duplicate; run 900 is being cancelled"
    )
    assert said().status is None


def test_a_withdrawn_member_is_left_alone_by_its_batch():
    record = a_record(1, Status.READY, batch=9)
    removed = a_task(1, None, record=record, events=(unlabelled("cf:ready", at=ago(minutes=1)),))
    assert (decide(removed).record.batch, decide(removed).reason) == (0, "withdrawn by wendy")
    parked = a_task(1, None, "cf:backlog", record=record, events=(labelled("cf:backlog", at=ago(minutes=1)),))
    assert (decide(parked).record.batch, decide(parked).reason) == (0, "set to backlog by wendy")
    other = a_task(1, None, "cf:done", record=record, events=(labelled("cf:done", at=ago(minutes=1)),))
    assert decide(other).record.batch == 9


def test_a_vanished_label_is_put_back():
    told = decide(a_task(1, None, record=a_record(1, Status.BLOCKED)))
    assert (told.verb, told.reason) == (Verb.MOVE, "its status label had vanished and was put back")
    assert decide(a_task(1, None)).reason == "not a task: it carries no status label"
