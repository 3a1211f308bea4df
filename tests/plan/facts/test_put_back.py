"""What outweighs a record that is older than our own deeds."""

import pytest
from msgspec.structs import replace

from bot.model.config import Config
from bot.model.report import Outcome
from bot.model.status import Status
from bot.plan.facts.put_back import (
    free_number,
    heed_own_label,
    heed_own_run,
    spent_by,
    starts_seen,
    with_free_key,
)
from tests.builders import BOT, a_record, a_run, a_running, a_task, ago, an_attempt, labelled, unlabelled

OURS = {BOT.id}
CONFIG = Config()
LABEL = {status: CONFIG.label(status) for status in Status}


def of_us(name, minutes):
    return labelled(name, by=BOT, at=ago(minutes=minutes))


def put_back(status, *events, said=Status.READY, at=30, live=False):
    """A task whose record is of half an hour ago, and which carries this status label."""
    attempts = (an_attempt(1, None if live else Outcome.FAILED),)
    record = a_record(1, said, status_at=ago(minutes=at), attempts=attempts, next_attempt=2)
    return a_task(1, status, record=record, events=events)


@pytest.mark.parametrize("status", [Status.BACKLOG, Status.BLOCKED, Status.FAILED, Status.DONE])
@pytest.mark.parametrize("live", [False, True])
def test_a_newer_label_of_ours_that_ends_the_task_outweighs_its_record(status, live):
    said = Status.IN_PROGRESS if live else Status.READY
    task = heed_own_label(put_back(status, of_us(LABEL[status], 5), said=said, live=live), CONFIG, OURS)
    assert (task.record.status, task.record.status_at, task.unsaved) == (status, ago(minutes=5), True)
    if live:
        assert task.record.live is not None
        assert "put back" in task.record.live.cancelled_for


@pytest.mark.parametrize(
    "task",
    [
        put_back(Status.BACKLOG, of_us(LABEL[Status.BACKLOG], 40)),  # the record was written after it
        put_back(Status.READY, of_us(LABEL[Status.READY], 5), said=Status.IN_PROGRESS),  # ends nothing
        put_back(Status.BACKLOG, of_us(LABEL[Status.BACKLOG], 5), said=Status.BACKLOG),  # the two agree
        put_back(
            Status.BACKLOG, labelled(LABEL[Status.BACKLOG], at=ago(minutes=5))
        ),  # a person's, judged elsewhere
        put_back(Status.BACKLOG, of_us("bug", 5)),
        put_back(Status.BACKLOG),
        put_back(Status.FAILED, of_us(LABEL[Status.FAILED], 5), said=Status.BLOCKED),  # stands still anyway
    ],
)
def test_every_other_record_stays_as_it_is(task):
    assert heed_own_label(task, CONFIG, OURS) is task


def test_a_persons_label_that_we_heeded_outweighs_it_too():
    events = (
        of_us(LABEL[Status.IN_PROGRESS], 20),
        labelled(LABEL[Status.FAILED], at=ago(minutes=10)),
        unlabelled(LABEL[Status.IN_PROGRESS], by=BOT, at=ago(minutes=9)),
    )
    assert heed_own_label(put_back(Status.FAILED, *events), CONFIG, OURS).record.status is Status.FAILED


def test_a_live_run_that_the_record_does_not_know_is_there_to_be_ended():
    task = put_back(Status.READY)
    runs = (a_run(900, "cf-1-1"), a_run(903, "cf-1-4"), a_run(902, "cf-1-3"), a_run(904, "cf-2-9"))
    live = heed_own_run(task, runs).record.live
    assert live is not None
    assert (live.number, live.run) == (3, 902)
    assert "does not know this run" in live.cancelled_for
    ended = tuple(replace(run, status="completed", conclusion="success") for run in runs)
    assert heed_own_run(task, ended) is task
    assert heed_own_run(task, (a_run(900, "cf-1-1"),)) is task
    running = a_running(1)
    assert heed_own_run(running, runs) is running


def test_keys_that_runs_carry_are_spent_and_the_highest_says_nothing():
    runs = (a_run(1, "cf-1-2", "cf-2-3"), a_run(2, "cf-1-3"), a_run(3, "cf-1-999999"))
    assert spent_by(1, runs) == {2, 3, 999_999}
    assert free_number(2, spent_by(1, runs)) == 4
    assert free_number(1, spent_by(1, runs)) == 1
    assert with_free_key(put_back(Status.READY).record, runs).next_attempt == 4
    record = put_back(Status.READY).record
    assert with_free_key(record, ()) is record


def test_starts_are_counted_by_our_labels_but_for_those_that_others_took_away():
    progress = LABEL[Status.IN_PROGRESS]
    events = [
        of_us(progress, 50),
        unlabelled(progress, by=BOT, at=ago(minutes=45)),
        of_us(progress.upper(), 40),
        unlabelled(progress, at=ago(minutes=35)),
        of_us(progress, 34),
        labelled(progress, at=ago(minutes=33)),
    ]
    task = put_back(Status.IN_PROGRESS, *events)
    assert starts_seen(task, CONFIG, OURS) == 2
