"""The contents page of behaviour: each rule of `RULES`, in their order, with the smallest example in which exactly it decides.

An example is what a tick sees, and what is decided about its first task: `verb (status): reason`. What else a rule does is in the
tests of its module.
"""

from typing import Any, NamedTuple

import pytest

from bot.model.batch import Action, Batch, BatchRecord, Control, Order, Search
from bot.model.cause import Cause, Met, Unwritten
from bot.model.config import Budget, Config, EngineConfig, Spending
from bot.model.issue import EventKind, StateReason
from bot.model.record import Answer, Blocker, Held, Record, SharedFix, Spent
from bot.model.report import Hold, Outcome, Question
from bot.model.snapshot import Snapshot
from bot.model.status import Status
from bot.notation.comments import with_fingerprint
from bot.plan import RULES, Rule, plan
from bot.plan.attempts.pull_requests import await_review, publish_again
from bot.plan.attempts.running import follow_attempt
from bot.plan.batches.members import end_by_force, heed_gate, leave_ended_batch
from bot.plan.commands.obey import obey_stop
from bot.plan.people import (
    admit_reopened,
    close_what_merged,
    keep_current,
    obey_close,
    obey_move,
    withdraw_unlabelled,
)
from bot.plan.questions.answers import take_answers, wait_for_people
from bot.plan.questions.questions import heed_veto
from bot.plan.shared_fixes import await_fix, close_spare_fix, fix_mark, tell_failed_fix
from bot.plan.starts.barriers import hold_barred
from bot.plan.starts.budgets import hold_over_budget
from bot.plan.starts.starts import (
    hold_all_starts,
    hold_back_off,
    hold_cyclic,
    hold_for_needs,
    hold_paused,
    hold_unapproved,
    hold_unreadable,
    hold_until_called,
    hold_unwritten,
    hold_without_agent,
)
from tests.builders import (
    BOT,
    a_comment,
    a_pull,
    a_record,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_attempt,
    an_issue,
    by_number,
    closed_as,
    happened,
    labelled,
    unlabelled,
)

READY, IN_PROGRESS, BACKLOG = Status.READY, Status.IN_PROGRESS, Status.BACKLOG
BLOCKED, FAILED, DONE, MERGED = Status.BLOCKED, Status.FAILED, Status.DONE, Status.MERGED


class Seen(NamedTuple):
    task: int
    snapshot: Snapshot


def seen(*tasks: Any, **fields: Any) -> Seen:
    return Seen(tasks[0].number, a_snapshot(*tasks, **fields))


def a_batch(**record: Any) -> Batch:
    """Batch 9, with task 1 as its only member."""
    return Batch(an_issue(9), Order(77, "wendy", ago(hours=1), (1,)), BatchRecord(**record))


def a_fix(number: int, status: Status) -> Any:
    """An issue of ours that mends the failure `f`."""
    body = with_fingerprint("", fix_mark("f", 1))
    return a_task(number, status, "cf:shared-fix", author=BOT, body=body)


STOPPED = Control(Action.STOP, "ada", ago(minutes=1), force=True)
QUESTION = Blocker("q", Question("Which name?"), ago(minutes=10))
REFUSED = Held(Hold.SETTING, ago(hours=1), 1)
DOLLARS = Budget(task=Spending(usd=5))
AUTOMATIC = Answer("Which name?", "Bob", "supervisor", 0, ago(minutes=10), "q", rule="names")

EXAMPLES: dict[Rule, tuple[Seen, str]] = {
    hold_unreadable: (
        seen(a_task(record_problem="its record cannot be read")),
        "hold (ready): its record cannot be read",
    ),
    obey_close: (
        seen(a_task(**closed_as(StateReason.NOT_PLANNED))),
        "drop (no label): closed as not planned",
    ),
    obey_stop: (
        seen(a_task(), comments={1: (a_comment("/cf stop"),)}),
        "move (backlog): stopped by wendy",
    ),
    admit_reopened: (
        seen(a_task(1, DONE, events=(happened(EventKind.REOPENED),))),
        "move (ready): reopened by wendy",
    ),
    close_what_merged: (
        seen(a_task(1, DONE, record=Record(1, pull=70), pulls=(a_pull(merged=True),))),
        "move (merged): its pull request #70 was merged",
    ),
    withdraw_unlabelled: (
        seen(a_task(1, None, record=a_record(1, READY), events=(unlabelled("cf:ready", at=ago(minutes=5)),))),
        "drop (no label): withdrawn by wendy",
    ),
    obey_move: (
        seen(a_task(1, DONE, record=a_record(1, READY), events=(labelled("cf:done", at=ago(minutes=5)),))),
        "move (done): set to done by wendy",
    ),
    heed_veto: (
        seen(a_task(record=a_record(1, READY, answers=(AUTOMATIC,))), comments={1: (a_comment("Eve"),)}),
        "move (ready): its automatic answer was taken back by wendy",
    ),
    end_by_force: (
        seen(a_running(record_fields={"batch": 9}), runs=(a_run(),), batches=(a_batch(control=STOPPED),)),
        "cancel (backlog): batch #9 was stopped by force by ada; run 900 is being cancelled",
    ),
    follow_attempt: (
        seen(a_running(), runs=(a_run(),)),
        "running (in-progress): running as cf-1-1 (run 900)",
    ),
    keep_current: (
        seen(a_task(1, IN_PROGRESS)),
        "move (backlog): in-progress without any attempt of ours; set it to ready to start it",
    ),
    take_answers: (
        seen(a_task(1, BLOCKED, record=Record(1, blocker=QUESTION)), comments={1: (a_comment("Bob"),)}),
        "move (ready): answered by wendy",
    ),
    heed_gate: (
        seen(a_task(1, DONE), batches=(a_batch(gate=Search((1,), 0, "h", ago(), passed=False, guilty=1)),)),
        "move (ready): the gate of batch #9 does not pass with it",
    ),
    await_review: (
        seen(a_task(1, DONE, record=Record(1, pull=70), pulls=(a_pull(),))),
        "hold (done): waits for review of #70",
    ),
    publish_again: (
        seen(a_task(1, BLOCKED, record=Record(1, held=REFUSED, earlier="900/cf-1-1"))),
        "move (ready): publishing is tried again",
    ),
    leave_ended_batch: (
        seen(a_task(record=Record(1, batch=9))),
        "move (backlog): batch #9 has ended or was stopped; `cf:ready` starts it on its own",
    ),
    hold_cyclic: (
        seen(a_task(needs=(1,))),
        "hold (ready): part of the cycle 1→1",
    ),
    close_spare_fix: (
        seen(a_fix(2, READY), a_fix(1, READY)),
        "move (done): #1 mends the same",
    ),
    await_fix: (
        seen(a_task(record=Record(1, fix=SharedFix("f", 2))), a_task(2)),
        "hold (ready): the same failure is being mended by #2",
    ),
    tell_failed_fix: (
        seen(a_fix(1, FAILED)),
        "hold (failed): the shared fix failed: it is a person's now",
    ),
    wait_for_people: (
        seen(a_task(1, BACKLOG)),
        "hold (backlog): in the backlog; `cf:ready` starts it",
    ),
    hold_all_starts: (
        seen(a_task(), starts_blocked_by="there is no worker"),
        "hold (ready): there is no worker",
    ),
    hold_paused: (
        seen(a_task(1, READY, "cf:pause")),
        "hold (ready): paused by the label `cf:pause`",
    ),
    hold_without_agent: (
        seen(a_task(), config=Config(engine="command", engines={"command": EngineConfig()})),
        "hold (ready): no agent is configured: set engines.command.args in .github/cf.yml to its command line",
    ),
    hold_back_off: (
        seen(a_task(record=Record(1, not_before=ago(hours=-1)))),
        "hold (ready): backs off until 13:00:00 UTC",
    ),
    hold_over_budget: (
        seen(a_task(record=Record(1, before=Spent(usd=5))), config=Config(budget=DOLLARS)),
        "hold (ready): over its budget: 5 of 5 USD are used (budget.task)",
    ),
    hold_for_needs: (
        seen(a_task(needs=(2,)), a_task(2)),
        "hold (ready): waiting on #2",
    ),
    hold_unwritten: (
        seen(a_task(), unwritten={1: Unwritten(ago(minutes=10), words="issue is locked")}),
        "hold (ready): GitHub takes no comment of ours there (issue is locked); tried again at 2026-03-02 12:05 UTC",
    ),
    hold_barred: (
        seen(
            a_task(),
            a_task(
                2,
                READY,
                record=a_record(2, READY, attempts=(an_attempt(1, Outcome.INFRA, cause=Met(Cause.MINUTES)),)),
            ),
        ),
        "hold (ready): GitHub starts no job: payments or the spending limit; tried again at 2026-03-02 12:05 UTC",
    ),
    hold_unapproved: (
        seen(a_task(events=())),
        "hold (ready): not approved: nobody with permission has ordered it: no label event of an authorised person can be seen",
    ),
    hold_until_called: (
        seen(a_task(), config=Config(start="manual")),
        "hold (ready): approved only (start: manual); it starts by `/cf run` or a batch",
    ),
}


def test_every_rule_has_its_example_and_they_stand_in_the_order_of_the_rules():
    assert tuple(EXAMPLES) == RULES


@pytest.fixture(params=RULES, ids=lambda rule: rule.__name__)
def rule(request):
    return request.param


def said_about(seen):
    decision = by_number(plan(seen.snapshot))[seen.task]
    return f"{decision.verb} ({decision.status or 'no label'}): {decision.reason}"


def test_the_rule_is_the_first_that_speaks_and_its_decision_is_the_plans(rule, monkeypatch):
    seen, said = EXAMPLES[rule]
    spoke = []

    def heard(one):
        def ask(item, board):
            decision = one(item, board)
            if item.number == seen.task and decision is not None:
                spoke.append(one)
            return decision

        return ask

    monkeypatch.setattr("bot.plan.RULES", tuple(map(heard, RULES)))
    assert said_about(seen) == said
    assert spoke == [rule]


def test_without_the_rule_the_decision_is_another(rule, monkeypatch):
    seen, said = EXAMPLES[rule]
    monkeypatch.setattr("bot.plan.RULES", tuple(one for one in RULES if one is not rule))
    if (
        rule is hold_barred
    ):  # the same would be found among the tasks that could start, after their orders were looked up
        assert said_about(seen) == said
        return
    if rule is hold_unapproved:  # the start itself refuses what nobody ordered
        with pytest.raises(AssertionError, match="only approved tasks get here"):
            plan(seen.snapshot)
    else:
        assert said_about(seen) != said
