"""What a task's labels mean when people, we and old events disagree."""

from itertools import combinations

import pytest
from msgspec.structs import replace

from bot.model.issue import EventKind
from bot.model.status import PRECEDENCE, Status
from bot.plan.facts.labels import meant_status, set_by, statuses_of
from tests.builders import (
    BOT,
    OTHER_BOT,
    STRANGER,
    a_record,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_attempt,
    an_issue,
    happened,
    labelled,
    unlabelled,
)

SINCE = ago(minutes=30)  # when `a_record` says that the status was written


def meant(*labels, record=None, events=()):
    task = a_task(1, None, *labels, events=events, **({"record": record} if record else {}))
    return meant_status(task, a_snapshot())


@pytest.mark.parametrize(("one", "two"), list(combinations(PRECEDENCE, 2)))
def test_without_better_evidence_the_first_of_the_precedence_counts(one, two):
    assert meant(f"cf:{two}", f"cf:{one}").status is one


@pytest.mark.parametrize("status", Status)
def test_one_label_is_what_it_says_in_any_case(status):
    assert meant(f"CF:{status.upper()}", "bug", "cf:p1").status is status
    assert meant(f"CF:{status.upper()}", events=(labelled(f"cf:{status}"),)).move is None


def test_no_label_is_no_status():
    assert meant("bug", "cf:p1", "other:ready").status is None


def test_labels_of_another_prefix_are_not_ours():
    task = a_task(1, None, "cf:ready", "bot:ready")
    assert statuses_of(task, a_snapshot()) == (Status.READY,)


def test_the_record_outweighs_labels_that_were_not_swapped_yet():
    assert meant("cf:in-progress", "cf:blocked", record=a_record(1, Status.BLOCKED)).status is Status.BLOCKED
    assert meant("cf:in-progress", record=a_record(1, Status.BLOCKED)).status is Status.BLOCKED


def test_a_persons_newer_label_outweighs_the_record():
    record = a_record(1, Status.BLOCKED)
    newer = labelled("cf:ready", at=ago(minutes=29))
    assert meant("cf:ready", "cf:blocked", record=record, events=(newer,)).move == newer
    same_second = labelled("cf:ready", at=SINCE)
    assert meant("cf:ready", "cf:blocked", record=record, events=(same_second,)).status is Status.READY


@pytest.mark.parametrize(
    "event",
    [
        labelled("cf:ready", at=ago(minutes=31)),
        labelled("cf:ready", BOT, ago(minutes=1)),
        labelled("bug", at=ago(minutes=1)),
        labelled("cf:backlog", at=ago(minutes=1)),  # not there any more
        unlabelled("cf:ready", at=ago(minutes=1)),
        happened(EventKind.EDITED, at=ago(minutes=1)),
    ],
)
def test_older_or_other_events_do_not(event):
    found = meant("cf:ready", "cf:blocked", record=a_record(1, Status.BLOCKED), events=(event,))
    assert (found.status, found.move) == (Status.BLOCKED, None)


def test_of_two_moves_the_newest_counts():
    events = (labelled("cf:backlog", at=ago(minutes=2)), labelled("cf:ready", STRANGER, ago(minutes=1)))
    found = meant("cf:backlog", "cf:ready", "cf:blocked", record=a_record(1, Status.BLOCKED), events=events)
    assert (found.status, found.move) == (Status.READY, events[1])


def test_a_live_attempt_means_in_progress_and_ready_beside_it_is_an_echo():
    live = a_running().record
    echo = (labelled("cf:ready", at=ago(minutes=1)),)
    assert meant("cf:ready", record=live).status is Status.IN_PROGRESS
    assert meant("cf:ready", "cf:in-progress", record=live, events=echo).status is Status.IN_PROGRESS
    assert meant("cf:ready", record=live, events=echo).status is Status.READY
    stop = (labelled("cf:backlog", at=ago(minutes=1)),)
    assert meant("cf:backlog", "cf:in-progress", record=live, events=stop).status is Status.BACKLOG


def test_an_attempt_that_is_on_its_way_out_owns_nothing():
    record = a_record(1, Status.BACKLOG, attempts=(an_attempt(cancelled_for="stopped"),))
    assert meant("cf:backlog", record=record).status is Status.BACKLOG


def test_who_removed_the_label_is_known_if_a_person_did():
    record = a_record(1, Status.READY)
    removed = unlabelled("cf:ready", at=ago(minutes=1))
    assert meant(record=record, events=(removed,)).move == removed
    for other in (
        unlabelled("cf:ready", BOT, ago(minutes=1)),
        unlabelled("cf:ready", OTHER_BOT, ago(minutes=1)),
        unlabelled("cf:ready", at=ago(minutes=31)),
        unlabelled("bug", at=ago(minutes=1)),
    ):
        assert meant(record=record, events=(other,)).move is None


def test_ready_in_the_second_of_a_claim_is_an_echo_until_our_label_follows_it():
    live = replace(a_running().record, status_at=SINCE)
    ready = labelled("cf:ready", at=SINCE)
    assert meant("cf:ready", record=live, events=(ready,)).status is Status.IN_PROGRESS
    removed = unlabelled("cf:in-progress", BOT, SINCE)
    assert meant("cf:ready", record=live, events=(ready, removed)).status is Status.IN_PROGRESS
    early = labelled("cf:in-progress", BOT, ago(minutes=31))
    assert meant("cf:ready", record=live, events=(ready, early)).status is Status.IN_PROGRESS
    ours = labelled("cf:in-progress", BOT, SINCE)
    assert meant("cf:ready", record=live, events=(ready, ours)).status is Status.READY


@pytest.mark.parametrize(
    ("events", "remembered", "words"),
    [
        ((), "", ""),
        ((labelled("bug"),), "", ""),
        ((unlabelled("cf:pause"),), "", ""),
        ((labelled("CF:Pause"),), "", ", set by wendy on 2026-03-02 11:00 UTC"),
        (
            (labelled("cf:pause", STRANGER), labelled("cf:pause")),
            "",
            ", set by wendy on 2026-03-02 11:00 UTC",
        ),
        ((labelled("cf:pause", BOT),), "tim", ", set by tim on 2026-03-02 11:00 UTC"),
        ((labelled("cf:pause", BOT),), "", ", set by github-actions[bot] on 2026-03-02 11:00 UTC"),
        ((labelled("cf:pause"),), "tim", ", set by wendy on 2026-03-02 11:00 UTC"),
    ],
)
def test_who_set_a_label_is_said_where_it_can_be_seen(events, remembered, words):
    assert set_by(an_issue(1, events=events), "cf:pause", {BOT.id}, remembered) == words
