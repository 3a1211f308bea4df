"""What commands do to tasks, from every state."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.conductor.act.units import unit_of
from bot.model.command import COMMANDS, STARTING, Scope
from bot.model.config import Config, EngineConfig
from bot.model.decision import CancelRun, Verb
from bot.model.engine import EngineRequest
from bot.model.issue import Account, StateReason
from bot.model.record import Answer, Approval, Blocker, Held
from bot.model.report import Hold, Outcome, Question
from bot.model.snapshot import Permission
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.digests import text_digest
from bot.plan import plan
from bot.plan.commands.obey import NOT_YET
from tests.builders import (
    BOT,
    NOW,
    STRANGER,
    WRITER,
    a_comment,
    a_record,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_attempt,
    an_issue,
    closed_as,
    labelled,
)
from tests.plan.commands.giving import (
    DONE,
    NOT_DONE,
    decided,
    given,
    in_state,
    in_state_numbered,
    on_dashboard,
    said,
)


def held(*protected):
    return a_record(
        1,
        Status.BLOCKED,
        attempts=(an_attempt(1, Outcome.HELD),),
        next_attempt=2,
        earlier="900/cf-1-1",
        held=Held(Hold.PROTECTED, ago(minutes=10), 1, protected),
    )


ON_TASKS = [row for row in COMMANDS if row.place is Scope.TASK and row.states]


@pytest.mark.parametrize("row", ON_TASKS, ids=lambda row: row.name)
@pytest.mark.parametrize("status", [None, *Status])
def test_each_command_works_from_the_states_of_the_table_and_is_refused_from_the_others(row, status):
    task = in_state(status)
    if row.name == "publish" and status is Status.BLOCKED:
        task = a_task(1, Status.BLOCKED, record=held())
    body = f"/cf {row.name}"
    decision = decided(body, task)
    if status in row.states:
        assert decision.verb is Verb.START
        assert (decision.record.acted, decision.reactions) == ((1,), DONE)
        assert given(body, task).responses == ()
    else:
        (response,), decision = (
            given(body, task, starts_blocked_by="paused").responses,
            decided(body, task, starts_blocked_by="paused"),
        )
        assert response.reactions == NOT_DONE
        assert response.text.startswith(f"> {body}\n\nNot done: ")
        assert "{" not in response.text
        assert (decision.record.acted, decision.reactions) == ((), ())
        assert decision.status is status


def test_run_approves_the_text_and_starts_at_once_with_fresh_strikes():
    task = a_task(
        1, Status.FAILED, record=a_record(1, Status.FAILED, strikes=3, approval=None), title="Now this"
    )
    decision = decided("/cf run", task)
    assert (decision.verb, decision.record.strikes) == (Verb.START, 0)
    assert decision.record.approval is not None
    assert (decision.record.approval.by, decision.record.approval.at) == ("wendy", ago(minutes=2))


def test_run_on_what_runs_names_the_attempt():
    assert "already running as cf-1-1" in said("/cf run", a_running()).text


def test_an_edit_by_a_stranger_behind_the_command_takes_the_approval_away():
    from bot.model.issue import EventKind
    from tests.builders import happened

    task = in_state(Status.BACKLOG)
    edit = happened(EventKind.EDITED, STRANGER, ago(minutes=1))
    decision = decided("/cf run", replace(task, issue=replace(task.issue, events=(edit,))))
    assert (decision.start, decision.status) == (None, Status.BACKLOG)
    assert "changed by stan" in decision.reason


def test_what_holds_a_task_holds_it_after_the_command_too():
    decision = decided("/cf run", starts_blocked_by="paused")
    assert (decision.verb, decision.status, decision.reason) == (Verb.HOLD, Status.READY, "paused")
    assert decision.reactions == DONE


def test_stop_cancels_the_run_and_keeps_the_task_in_the_backlog():
    decision = decided("/cf stop because the schema is wrong", a_running())
    assert (decision.verb, decision.status, decision.cancel) == (Verb.CANCEL, Status.BACKLOG, CancelRun(900))
    assert "stopped by wendy" in decision.reason
    assert decision.reactions == DONE


def test_stop_with_force_does_not_wait():
    assert decided("/cf stop --force", a_running()).cancel == CancelRun(900, force=True)
    record = decided("/cf stop", a_running()).record
    ending = a_task(1, Status.BACKLOG, record=record)
    assert decided("/cf stop --force", ending, runs=(a_run(),)).cancel is None, "comment 1 was acted upon"
    forced = replace(ending, record=replace(record, acted=()))
    assert decided("/cf stop --force", forced, runs=(a_run(),)).cancel == CancelRun(900, force=True)


@pytest.mark.parametrize("status", [None, *Status])
def test_cmd_07_stop_works_in_every_state(status):
    decision = decided("/cf stop", in_state(status))
    waits = status in (Status.READY, Status.IN_PROGRESS, Status.BLOCKED)
    assert decision.status is (Status.BACKLOG if waits else status)
    assert decision.start is None
    assert decision.reactions == DONE


def test_of_stop_and_start_the_later_counts():
    stop, run = a_comment("/cf stop", 1, at=ago(minutes=3)), a_comment("/cf run", 2, at=ago(minutes=2))
    task = in_state(Status.READY)

    def after(*comments):
        return plan(a_snapshot(task, comments={1: comments})).decisions[0]

    assert after(stop, run).verb is Verb.START
    assert after(replace(run, created_at=ago(minutes=5)), stop).status is Status.BACKLOG
    assert after(a_comment("/cf stop\n/cf run")).verb is Verb.START


def test_a_label_that_is_newer_than_a_command_outweighs_it():
    record = a_record(1, Status.BACKLOG, status_at=ago(hours=1))
    relabelled = a_task(1, Status.DONE, record=record, events=(labelled("cf:done", WRITER, ago(minutes=1)),))
    assert decided("/cf run", relabelled).status is Status.DONE
    assert "the later word counts" in said("/cf run", relabelled).text
    ready = a_task(1, Status.READY, record=record, events=(labelled("cf:ready", WRITER, ago(minutes=1)),))
    assert decided("/cf stop", ready).verb is Verb.MOVE
    assert decided("/cf stop", ready).status is Status.READY
    by_triage = replace(
        relabelled,
        issue=replace(relabelled.issue, events=(labelled("cf:done", Account(5, "tim"), ago(minutes=1)),)),
    )
    assert decided("/cf run", by_triage).verb is Verb.START


def test_who_set_a_newer_label_is_asked_before_a_command_counts():
    events = (labelled("cf:done", Account(9, "new"), ago(minutes=1)),)
    task = a_task(1, Status.DONE, record=a_record(1, Status.BACKLOG), events=events)
    assert Permission("new") in given("/cf run", task).wants


@pytest.mark.parametrize("name", sorted(STARTING - NOT_YET - {"resume"}))
def test_cmd_04_an_edited_start_is_not_carried_out_and_its_author_is_told(name):
    result = given(f"/cf {name}", in_state(Status.FAILED), edited=True)
    assert result.decisions[0].start is None
    assert f"please write `/cf {name}` in a new one" in result.responses[0].text


def test_cmd_04_an_edited_stop_stops_and_an_edit_gets_no_second_reply():
    assert decided("/cf stop", a_running(), edited=True).status is Status.BACKLOG
    for body in ("/cf status", "/cf help", "/cf frobnicate"):
        assert given(body, edited=True).responses == ()


def test_cmd_04_each_comment_acts_once():
    task = in_state(Status.FAILED)
    again = replace(task, record=replace(task.record, acted=(1,)))
    result = given("/cf run", again)
    assert (result.decisions[0].status, result.responses) == (Status.FAILED, ())
    assert given("/cf help", acted=frozenset({1})).responses == ()
    hinted = replace(task, comment=a_comment("", 9, by=BOT))
    assert decided("/cf run", hinted, edited=True).record.acted == (1,)


def test_commands_on_a_closed_issue_are_refused_and_a_stop_is_not():
    closed = replace(in_state(Status.DONE), issue=an_issue(1, "cf:done", **closed_as(StateReason.COMPLETED)))
    assert "reopening it" in said("/cf retry", closed).text
    assert given("/cf stop", closed).responses == ()


def test_publish_lets_through_what_the_notice_lists_and_nothing_else():
    task = a_task(1, Status.BLOCKED, record=held(".github/workflows/ci.yml"))
    decision = decided("/cf publish", task)
    assert decision.start is not None
    assert (decision.start.kind, decision.start.exceptions) == (Kind.PUBLISH, (".github/workflows/ci.yml",))
    assert decision.start.earlier == "900/cf-1-1"
    again = decided("/cf retry", task)
    assert again.start is not None
    assert (again.start.kind, again.start.exceptions) == (Kind.CODE, ())


@pytest.mark.parametrize(
    ("why", "words"),
    [
        (Hold.SECRET, "holds a secret"),
        (Hold.EXPIRED, "has expired"),
        (Hold.UNFIT, "is not what may be published"),
    ],
)
def test_publish_lets_no_secret_through_and_nothing_that_is_gone(why, words):
    record = replace(held(), held=Held(why, ago(minutes=10), 1))
    assert words in said("/cf publish", a_task(1, Status.BLOCKED, record=record)).text


def test_run_with_options_asks_for_them_until_the_next_order():
    config = Config(engines={"command": EngineConfig(args="agent")}, engine="command")
    decision = decided("/cf run --engine command --model tiny --timeout 90m", config=config)
    assert (decision.record.engine_request, decision.record.timeout_minutes) == (
        EngineRequest(engine="command", model="tiny"),
        90,
    )
    assert decision.start is not None
    assert (decision.start.choice.engine, decision.start.choice.model) == ("command", "tiny")
    assert unit_of(decision, 7, a_snapshot(in_state(Status.BACKLOG), config=config)).timeout_minutes == 90
    failed = a_task(
        1, Status.FAILED, record=replace(decision.record, attempts=(), status=Status.FAILED, acted=())
    )
    assert decided("/cf retry", failed, config=config).record.engine_request.model == "tiny"
    assert decided("/cf run", failed, config=config).record.engine_request == EngineRequest()


def test_an_engine_that_nobody_knows_is_refused():
    assert "warp" in said("/cf run --engine warp").text


def test_publish_needs_held_work():
    assert "no work of this task is held" in said("/cf publish", in_state(Status.BLOCKED)).text


def test_ans_04_words_given_while_it_runs_are_kept_for_the_next_attempt():
    decision = decided("/cf answer use sqlite", a_running())
    assert decision.verb is Verb.RUNNING
    assert [(answer.answer, answer.by, answer.comment) for answer in decision.record.answers] == [
        ("use sqlite", "wendy", 1)
    ]


def test_an_answer_to_an_open_question_is_taken_once_with_the_other_replies():
    blocker = Blocker("question:cf-1-1", Question("Which?", ("a", "b")), ago(minutes=10))
    task = a_task(1, Status.BLOCKED, record=a_record(1, Status.BLOCKED, blocker=blocker))
    decision = decided("/cf answer b", task)
    assert (decision.status, [answer.answer for answer in decision.record.answers]) == (Status.READY, ["b"])


def test_bulk_approval_that_was_cut_short_goes_on_and_says_the_same():
    """A tick that died half way wrote some records; the next approves the rest, and its reply counts all."""
    first = in_state_numbered(1, Status.BACKLOG)
    done = replace(first, record=replace(first.record, acted=(1,), status=Status.READY))
    done = replace(done, issue=replace(done.issue, labels=("cf:ready",)))
    result = on_dashboard("/cf approve", done, in_state_numbered(2, Status.BACKLOG))
    assert {item.task for item in result.decisions if 1 in item.record.acted} == {1, 2}
    assert "Approved: 2." in result.responses[0].text


def test_stop_all_on_the_dashboard_ends_every_run_and_needs_the_flag():
    running = [a_running(1, run=901), a_running(2, run=902), in_state_numbered(3, Status.READY)]
    runs = (a_run(901, "cf-1-1"), a_run(902, "cf-2-1"))
    result = on_dashboard("/cf stop --all --force", *running, runs=runs, starts_blocked_by="paused")
    assert [item.cancel for item in result.decisions] == [CancelRun(901, True), CancelRun(902, True), None]
    assert "Stopped: #1, #2." in result.responses[0].text
    refused = on_dashboard("/cf stop", *running, runs=runs, starts_blocked_by="paused")
    assert "takes `--all`" in refused.responses[0].text
    assert not any(item.cancel for item in refused.decisions)


def test_a_command_that_was_carried_out_stays_carried_out_in_the_next_tick():
    """What the record says after the command is the same however often the comment is read."""
    task = in_state(Status.BACKLOG)
    decision = decided("/cf approve", task, starts_blocked_by="paused")
    after = replace(task, record=decision.record, issue=replace(task.issue, labels=("cf:ready",)))
    again = decided("/cf approve", after, starts_blocked_by="paused", now=NOW + timedelta(minutes=5))
    assert (again.record, again.reactions) == (decision.record, DONE), (
        "the tick may have died before it reacted"
    )
    seen_to = decided("/cf approve", after, starts_blocked_by="paused", acted=frozenset({1}))
    assert (seen_to.record, seen_to.reactions) == (decision.record, ())


@pytest.mark.parametrize(
    ("body", "task", "words"),
    [
        ("/cf resume", in_state(Status.BACKLOG), "`/cf resume` belongs on a batch"),
        ("/cf plan", in_state(Status.BACKLOG), "`/cf plan` belongs on a specification"),
        ("/cf plan", a_task(1, Status.BACKLOG, "cf:spec"), "`/cf plan` is not there yet"),
        ("/cf resume", a_task(1, Status.BACKLOG, "cf:spec"), "`/cf resume` belongs on a batch"),
        ("/cf run", a_task(1, Status.BACKLOG, record_problem="it cannot be read"), "it cannot be read"),
        ("/cf run", a_task(1, Status.BACKLOG, is_open=False), "this issue is closed; reopening it orders the work anew"),
        ("/cf run", in_state(Status.DONE), "its work is done and waits for review; "),
        ("/cf publish", in_state(Status.READY), "`/cf publish` works from `cf:blocked`, and this task is `cf:ready`"),
        ("/cf approve", in_state(Status.FAILED), "`/cf approve` works from `cf:backlog`, and this task is `cf:failed`"),
        ("/cf publish", in_state(Status.BLOCKED), "no work of this task is held"),
        ("/cf apply", in_state(Status.BACKLOG), "no needs wait here to be taken over; `/cf deps` proposes some"),
        ("/cf run --engine devin", in_state(Status.BACKLOG), "there is no engine devin: it must be one of aider,"),
    ],
)  # fmt: skip
def test_why_a_command_is_not_carried_out(body, task, words):
    assert f"\n\nNot done: {words}" in said(body, task).text


def test_an_engine_may_be_asked_for_by_an_old_name():
    assert decided("/cf run --engine BUILT-IN").record.engine_request == EngineRequest("built-in")


@pytest.mark.parametrize(("seconds", "carried_out"), [(0, True), (-1, True), (1, False)])
def test_a_label_of_the_same_second_does_not_outweigh_a_command(seconds, carried_out):
    record = a_record(1, Status.DONE, status_at=ago(hours=1))
    move = labelled("cf:backlog", WRITER, ago(minutes=2) + timedelta(seconds=seconds))
    task = a_task(1, Status.BACKLOG, record=record, events=(move,))
    assert (decided("/cf run", task).start is not None) is carried_out


@pytest.mark.parametrize(
    ("approved", "stopped"), [(ago(minutes=3), True), (ago(minutes=2), True), (ago(minutes=1), False)]
)
def test_a_start_that_was_ordered_since_outweighs_a_stop(approved, stopped):
    running = a_running()
    approval = Approval("wendy", approved, text_digest("Task 1", ""))
    task = replace(running, record=replace(running.record, approval=approval))
    assert (decided("/cf stop", task).status is Status.BACKLOG) is stopped


def test_only_a_newer_ready_outweighs_a_stop():
    record = replace(a_running().record, status_at=ago(hours=1))
    for label, status in (("cf:ready", Status.READY), ("cf:blocked", Status.BACKLOG)):
        move = labelled(label, WRITER, ago(minutes=1))
        labels = (label,)
        task = replace(
            a_running(), record=record, issue=replace(a_running().issue, labels=labels, events=(move,))
        )
        assert decided("/cf stop", task).status is status


@pytest.mark.parametrize(
    ("status", "after"),
    [
        (Status.READY, Status.BACKLOG),
        (Status.BLOCKED, Status.BACKLOG),
        (Status.FAILED, Status.FAILED),
        (Status.DONE, Status.DONE),
        (Status.MERGED, Status.MERGED),
        (Status.BACKLOG, Status.BACKLOG),
    ],
)
def test_a_stop_parks_what_would_go_on(status, after):
    decision = decided("/cf stop", in_state(status))
    assert (decision.status, decision.reason) == (after, "stopped by wendy")


def test_an_answer_without_a_question_is_kept_with_its_author():
    decision = decided("/cf answer Use\nboth", in_state(Status.BACKLOG))
    assert decision.record.answers == (Answer("", "Use\nboth", "wendy", 1, ago(minutes=2)),)


def test_publish_lets_through_what_was_held_with_fresh_strikes():
    record = replace(held("AGENTS.md"), strikes=2)
    start = decided("/cf publish", a_task(1, Status.BLOCKED, record=record))
    assert start.start is not None
    assert (start.start.exceptions, start.record.strikes, start.record.held) == (("AGENTS.md",), 0, None)
    assert (start.record.republish, start.start.kind) == (True, Kind.PUBLISH)
    plain = replace(record, held=None)
    assert decided("/cf publish", a_task(1, Status.BLOCKED, record=plain)).record.exceptions == ()
    other = replace(plain, attempts=(an_attempt(1, Outcome.UNVERIFIED),))
    assert "no work of this task is held" in said("/cf publish", a_task(1, Status.BLOCKED, record=other)).text
    gone = replace(record, earlier="")
    assert "no work of this task is held" in said("/cf publish", a_task(1, Status.BLOCKED, record=gone)).text


class TestForAll:
    def approved(self, body, *tasks, **fields):
        return {
            one.task for one in on_dashboard(body, *tasks, **fields).decisions if one.record.acted == (1,)
        }

    def test_bulk_approval_takes_open_tasks_of_the_backlog_once(self):
        tasks = [
            in_state_numbered(1, Status.BACKLOG),
            in_state_numbered(2, Status.FAILED),
            a_task(3, Status.BACKLOG, is_open=False),
            a_task(4, Status.BACKLOG, record_problem="unreadable"),
            a_task(5, Status.BACKLOG, record=a_record(5, Status.BACKLOG, acted=(1,), approval=None)),
            a_task(6, Status.BACKLOG),
        ]
        plan_ = on_dashboard("/cf approve", *tasks)
        assert {one.task for one in plan_.decisions if one.status is Status.IN_PROGRESS} == {1, 6}

    def test_a_newer_label_outweighs_it(self):
        record = a_record(1, Status.DONE, status_at=ago(hours=1))
        moved = a_task(
            1, Status.BACKLOG, record=record, events=(labelled("cf:backlog", WRITER, ago(minutes=1)),)
        )
        assert self.approved("/cf approve", moved, in_state_numbered(2, Status.BACKLOG)) == {2}

    def test_stop_all_ends_what_runs_and_nothing_else(self):
        tasks = (a_running(1), in_state_numbered(2, Status.READY))
        told = on_dashboard("/cf stop --all", *tasks, runs=(a_run(),))
        assert [one.verb for one in told.decisions] == [Verb.CANCEL, Verb.START]
        assert self.approved("/cf stop --all", *tasks, runs=(a_run(),)) == {1}

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            ("/cf stop", "here it takes `--all`, and stops every run; `/cf stop` on a task stops that one"),
            ("/cf run", "`/cf run` belongs on a task or a batch"),
            ("/cf plan", "`/cf plan` belongs on a specification"),
            ("/cf approve except 9", "#9 is not in the backlog; nothing was approved"),
            ("/cf approve except 3", "#3 is not in the backlog; nothing was approved"),
            ("/cf approve except 2 9", "#2, #9 are not in the backlog; nothing was approved"),
        ],
    )
    def test_what_is_refused_there(self, body, words):
        tasks = (
            in_state_numbered(1, Status.BACKLOG),
            in_state_numbered(2, Status.READY),
            a_task(3, Status.BACKLOG, is_open=False),
        )
        (response,) = on_dashboard(body, *tasks).responses
        assert response.text.endswith(f"Not done: {words}.")


def test_what_a_tick_that_died_had_carried_out_gets_its_reactions_again():
    task = a_task(1, Status.READY, record=a_record(1, Status.READY, acted=(1,)))
    assert decided("/cf run", task).reactions == DONE
    assert decided("/cf status", task).reactions == ()
    assert decided("/cf resume", task).reactions == ()
    assert "belongs on a batch" not in "".join(one.text for one in given("/cf resume", task).responses)


def test_two_commands_of_one_comment_are_carried_out_in_their_order():
    decision = decided("/cf run --engine codex\n/cf stop")
    assert (decision.status, decision.record.acted) == (Status.BACKLOG, (1,))
    assert decision.reactions == (*DONE, *DONE)
