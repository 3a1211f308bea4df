"""What commands do to tasks, from every state, and what is said back."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.conductor.act.units import unit_of
from bot.model.change import React
from bot.model.command import COMMANDS, NAMES, STARTING, Scope
from bot.model.config import Config, EngineConfig
from bot.model.decision import CancelRun, Verb
from bot.model.engine import EngineRequest
from bot.model.issue import GHOST, Account, StateReason
from bot.model.record import Blocker, Held, Record
from bot.model.report import Hold, Outcome, Question
from bot.model.snapshot import Permission
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.commands import read_commands
from bot.plan import plan
from bot.plan.board import Board
from bot.plan.commands.obey import NOT_YET
from bot.plan.commands.replies import help_text
from tests.builders import (
    BOT,
    NOW,
    OTHER_BOT,
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

DONE = (React("IC_1", "EYES"), React("IC_1", "ROCKET"))
NOT_DONE = (React("IC_1", "EYES"), React("IC_1", "CONFUSED"))


def held(*protected):
    return a_record(
        1,
        Status.BLOCKED,
        attempts=(an_attempt(1, Outcome.HELD),),
        next_attempt=2,
        earlier="900/cf-1-1",
        held=Held(Hold.PROTECTED, ago(minutes=10), 1, protected),
    )


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


@pytest.mark.parametrize("name", [*NAMES, "frobnicate"])
@pytest.mark.parametrize("by", [BOT, OTHER_BOT, GHOST, Account(8, "robot")])
def test_cmd_01_bots_and_deleted_accounts_order_nothing_and_get_no_reply(name, by):
    config = Config(trust=replace(Config().trust, ignore=("robot",), apps=("helper",)))
    result = given(
        f"/cf {name} x",
        in_state(Status.READY),
        by=by,
        config=config,
        permissions={"robot": "admin", "wendy": "write"},
    )
    assert (result.responses, result.wants) == ((), frozenset())
    assert result.decisions[0].reactions == ()


@pytest.mark.parametrize("name", [*NAMES, "frobnicate"])
def test_cmd_06_a_strangers_command_gets_one_reaction_and_costs_nothing(name):
    for task in (in_state(Status.BACKLOG), a_running(), a_task(1, None)):
        result = given(f"/cf {name}\n/cf {name}", task, by=STRANGER)
        (response,) = result.responses
        assert (response.reactions, response.text) == ((React("IC_1", "CONFUSED"),), "")
        decision = result.decisions[0]
        assert (decision.start, decision.cancel, decision.notices) == (None, None, ())
        assert decision.record.acted == ()


def test_who_gave_a_command_is_asked_of_the_permission_api():
    result = given("/cf run", by=Account(9, "new"))
    assert result.wants == {Permission("new")}
    assert result.decisions[0].start is None


def test_comments_from_before_the_installation_order_nothing():
    result = given("/cf run\n/cf help", orders_after=ago(minutes=1))
    assert (result.decisions[0].start, result.responses) == (None, ())


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
    assert unit_of(decision, 7, a_snapshot(in_state(Status.BACKLOG), config=config), {}).timeout_minutes == 90
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


def test_approve_in_bulk_takes_the_backlog_but_what_is_left_out():
    backlog = [in_state_numbered(number, Status.BACKLOG) for number in (1, 2, 3)]
    backlog[2] = replace(backlog[2], issue=replace(backlog[2].issue, labels=("cf:backlog", "api")))
    failed = in_state_numbered(4, Status.FAILED)

    def approved(words):
        result = on_dashboard(f"/cf approve {words}", *backlog, failed)
        return {item.task for item in result.decisions if item.start}, result.responses[0]

    everything, reply = approved("")
    assert everything == {1, 2, 3}
    assert "Approved: 3. Left out: 0." in reply.text
    some, reply = approved("except 1 #2")
    assert some == {3}
    assert "Approved: 1. Left out: 2." in reply.text
    assert "approved: #3" in reply.text
    assert "left out: #1, #2" in reply.text
    assert approved("label:API")[0] == {3}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("except 4", "#4 is not in the backlog; nothing was approved"),
        ("except 4, 99", "#4, #99 are not in the backlog"),
        ("except", "there is none"),
        ("3", "`3` is not understood"),
        ("label:", "is not understood"),
        ("milestone:v1 milestone:v2", "`milestone:v2` is not understood"),
        ("except <b>", "is not understood"),
    ],
)
def test_a_number_or_word_that_does_not_fit_refuses_the_whole(words, why):
    tasks = in_state_numbered(1, Status.BACKLOG), in_state_numbered(4, Status.FAILED)
    result = on_dashboard(f"/cf approve {words}", *tasks)
    assert all(item.start is None for item in result.decisions)
    assert why in result.responses[0].text


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


def test_commands_in_the_wrong_place_say_where_they_belong():
    assert "`/cf resume` belongs on a batch" in said("/cf resume").text
    assert "`/cf retry` belongs on a task" in on_dashboard("/cf retry").responses[0].text
    spec = replace(in_state(Status.BACKLOG), issue=an_issue(1, "cf:backlog", "cf:spec"))
    assert "`/cf plan` is not there yet" in said("/cf plan", spec).text
    assert "belongs on a specification" in said("/cf plan").text


def test_on_a_batch_help_is_answered_and_what_belongs_elsewhere_is_refused():
    """What is left there (run, stop, resume, status) is handed over with the batch itself."""
    snapshot = a_snapshot(others={60: an_issue(60, "cf:batch", author=BOT)})

    def answered(body, by=WRITER):
        return plan(replace(snapshot, comments={60: (a_comment(body, issue=60, by=by),)}))

    assert "A batch knows 7 commands" in answered("/cf help").responses[0].text
    assert "belongs on a task or a dashboard" in answered("/cf approve").responses[0].text
    assert [one.text for one in answered("/cf stop --force").responses] == [""]  # it shows in the issue
    given = Board(
        replace(snapshot, comments={60: (a_comment("/cf stop --force", issue=60),)})
    ).comment_commands.given
    assert [(one.command.name, one.command.has("force"), one.author) for one in given[60]] == [
        ("stop", True, WRITER)
    ]
    assert answered("/cf stop", by=STRANGER).responses[0].text == ""


def test_a_comment_gets_one_reply_for_all_its_commands():
    response = said("/cf frobnicate\n/cf status\nwords\n/cf help")
    assert [line for line in response.text.splitlines() if line.startswith("> ")] == [
        "> /cf frobnicate",
        "> /cf status",
        "> /cf help",
    ]
    assert response.reactions == NOT_DONE


def test_status_quotes_what_it_answers_says_one_line_and_folds_the_rest():
    text = said("/cf status", in_state(Status.FAILED)).text
    first, second = text.split("\n\n")[:2]
    assert first == "> /cf status"
    assert second.startswith("**`cf:failed`** · failed: no reason is known")
    assert text.index("<details>") > text.index(second)
    everything = on_dashboard(
        "/cf status",
        a_running(),
        in_state_numbered(2, Status.READY),
        runs=(a_run(),),
        starts_blocked_by="paused by #9",
    )
    verdict, more = everything.responses[0].text.split("\n\n", 2)[1:]
    assert "paused by #9" in verdict
    assert "1 running" in more


def test_a_dry_run_changes_nothing_and_says_what_would_run():
    result = given("/cf run --dry-run")
    assert (result.decisions[0].start, result.decisions[0].record.acted) == (None, ())
    for words in ("engine `command`", "runner `ubuntu-latest`", "gates: none", "branch `cf/1`", "characters"):
        assert words in result.responses[0].text


def in_state_numbered(number, status):
    record = a_record(number, status) if status is not Status.READY else Record(number)
    return a_task(number, status, record=record)


def on_dashboard(body, *tasks, by=WRITER, **fields):
    issue = an_issue(50, "cf:dashboard", author=BOT)
    comments = {50: (a_comment(body, issue=50, by=by),)}
    return plan(a_snapshot(*tasks, others={50: issue}, comments=comments, **fields))


REPLIES = [
    *(help_text(place, "cf") for place in Scope),
    *(
        response.text
        for name in [*NAMES, "frobnicate", "run please", "run --dry-run", "stop --all", "approve except 9"]
        for status in (None, *Status)
        for response in (
            *given(f"/cf {name}", in_state(status)).responses,
            *on_dashboard(f"/cf {name}", in_state(status)).responses,
        )
    ),
]


def test_cmd_01_no_reply_of_ours_holds_a_command():
    assert len(REPLIES) > 100
    for text in REPLIES:
        assert read_commands(text) == (), text


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
