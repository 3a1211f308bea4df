"""A command is given on one task or on the dashboard, and what comes of it."""

from msgspec.structs import replace

from bot.model.change import React
from bot.model.record import Record
from bot.model.status import Status
from bot.plan import plan
from tests.builders import (
    BOT,
    NOW,
    WRITER,
    a_comment,
    a_record,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_issue,
    labelled,
)

DONE = (React("IC_1", "EYES"), React("IC_1", "ROCKET"))
NOT_DONE = (React("IC_1", "EYES"), React("IC_1", "CONFUSED"))


def in_state(status):
    """A task as it is in this state; None: no task yet."""
    if status is Status.IN_PROGRESS:
        return a_running()
    if status is None:
        return a_task(1, None)
    return a_task(
        1, status, record=a_record(1, status), events=(labelled(f"cf:{status}", BOT, ago(minutes=30)),)
    )


def given(body, task=None, *more, by=WRITER, edited=False, **fields):
    """The plan for a task on which one command was given."""
    task = task or in_state(Status.BACKLOG)
    comment = a_comment(body, by=by, issue=task.number)
    if edited:
        comment = replace(comment, updated_at=NOW)
    fields.setdefault("runs", (a_run(),) if task.record.live else ())
    return plan(a_snapshot(task, *more, comments={task.number: (comment,)}, **fields))


def decided(body, task=None, **fields):
    number = task.number if task else 1
    return next(item for item in given(body, task, **fields).decisions if item.task == number)


def said(body, task=None, **fields):
    (response,) = given(body, task, **fields).responses
    return response


def in_state_numbered(number, status):
    record = a_record(number, status) if status is not Status.READY else Record(number)
    return a_task(number, status, record=record)


def on_dashboard(body, *tasks, by=WRITER, **fields):
    issue = an_issue(50, "cf:dashboard", author=BOT)
    comments = {50: (a_comment(body, issue=50, by=by),)}
    return plan(a_snapshot(*tasks, others={50: issue}, comments=comments, **fields))
