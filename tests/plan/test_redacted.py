"""A snapshot without anybody's words plans the same, survives JSON, and holds no word of theirs."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.model.advice import Proposal, Verdict
from bot.model.batch import Action, Batch, BatchRecord, Control, Happening, Order, Search
from bot.model.cause import Cause, Met, Unwritten
from bot.model.config import Config, EngineConfig
from bot.model.decision import Decision, Notice, Plan, Revision, Start, Verb
from bot.model.record import Answer, Blocker, Held
from bot.model.report import (
    Category,
    GateResult,
    GateStatus,
    Hold,
    HookResult,
    Measured,
    Outcome,
    Question,
    Step,
)
from bot.model.snapshot import Snapshot
from bot.model.status import Status
from bot.model.unit import Gate
from bot.notation.answers import NotAnAnswer, read_answer
from bot.notation.batches import control_comment, read_control
from bot.notation.commands import read_commands
from bot.notation.digests import named
from bot.notation.needs import looks_like_declaration
from bot.notation.ticks import read_snapshot, write_decisions, write_snapshot
from bot.plan import plan
from bot.plan.redacted import comparable, redacted
from tests.builders import (
    BOT,
    GREEN,
    a_comment,
    a_pull,
    a_record,
    a_report,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_artifact,
    an_attempt,
    an_issue,
    jobs,
    labelled,
)
from tests.filled import Filled
from tests.plan.test_properties import QUICK, snapshots

WORD = "Xylophone"
OPTIONS = ("keep it", "drop it")
LINES = st.sampled_from(
    [
        "A", "B.", "keep it", "drop it", "why?", "@tim look", "depends on #3", "/cf stop", "/cf answer B", "/cf answer maybe",
        "/cf run --engine x", "/cf approve except 3", "/cf frobnicate", "/cf run nonsense", "> quoted", "~~gone~~", "`/cf stop`",
        "", "plain words", "- /cf stop", "# A",
    ]
)  # fmt: skip


@pytest.mark.slow
@settings(QUICK, max_examples=25)
@given(snapshots())
def test_any_snapshot_plans_the_same_without_its_words_and_by_way_of_json(snapshot):
    small = redacted(snapshot)
    assert comparable(plan(small)) == comparable(plan(snapshot))
    back = read_snapshot(json.loads(json.dumps(write_snapshot(small))))
    assert back == small
    assert write_decisions(plan(back).decisions) == write_decisions(plan(small).decisions)


@given(st.lists(LINES, max_size=5).map("\n".join), st.booleans())
def test_any_comment_reads_the_same_to_every_rule(body, choice):
    options = OPTIONS if choice else ()
    blocker = Blocker("q", Question("Which?", options), ago(minutes=9))
    task = a_task(1, Status.BLOCKED, record=a_record(1, Status.BLOCKED, blocker=blocker))
    small = redacted(a_snapshot(task, comments={1: (a_comment(body),)}))
    said = small.comments[1][0].body
    kept_blocker = small.tasks[1].record.blocker
    assert kept_blocker is not None
    fewer = kept_blocker.question.options

    before, after = read_answer(body, options), read_answer(said, fewer)
    if isinstance(before, NotAnAnswer):
        assert after is before
    else:
        assert not isinstance(after, NotAnAnswer)
        assert (before.text in options) == (after.text in fewer)
        assert before.text not in options or fewer.index(after.text) == options.index(before.text)
    names = [(command.name, command.options, bool(command.problem)) for command in read_commands(body)]
    kept = [(command.name, command.options, bool(command.problem)) for command in read_commands(said)]
    assert len(kept) == len(names) or "answer" in dict.fromkeys(name for name, _, _ in names)
    assert {name for name, _, _ in kept} >= {name for name, _, _ in names} - {"frobnicate"}
    assert looks_like_declaration(said) == looks_like_declaration(body)


def full_of_words():
    """Every place where people, agents or command lines leave their words."""
    question = Question(f"{WORD}?", (f"{WORD} a", f"{WORD} b"), WORD)
    record = a_record(
        1,
        Status.BLOCKED,
        blocker=Blocker("question:cf-1-1", question, ago(minutes=9)),
        attempts=(an_attempt(1, Outcome.FAILED, reason=WORD),),
        answers=(Answer(WORD, WORD, "wendy", 4, ago(minutes=9)),),
        notices=(f"warning:line 3: {WORD}",),
        next_attempt=2,
    )
    comments = (a_comment(f"{WORD}\n/cf {WORD}\n/cf answer {WORD}"),)
    asked = a_task(
        1,
        Status.BLOCKED,
        WORD,
        record=record,
        title=WORD,
        body=f"{WORD}\nneeds: {WORD}",
        warnings=(f"line 3: {WORD}",),
        category=WORD,
        pulls=(a_pull(70, head_ref=f"cf/{WORD}", url=f"https://x/{WORD}"),),
        comments=comments,
    )
    report = a_report(
        Outcome.BLOCKED,
        "cf-2-1",
        reason=WORD,
        message=WORD,
        branch=WORD,
        session=WORD,
        question=question,
        gates=(GateResult(WORD, GateStatus.FAILED, tail=WORD),),
        hooks=(HookResult("before_task", False, tail=WORD),),
        steps=(Step(Category.SHELL, WORD),),
        protected=(WORD,),
        source=WORD,
        left_out=(WORD,),
        left_behind=(WORD,),
        baseline=Measured(WORD, (GateResult(WORD, GateStatus.FAILED, tail=WORD),)),
    )
    return a_snapshot(
        asked,
        a_running(2, title=WORD),
        config=Config(
            engines={"command": EngineConfig(args=WORD, env={"A": WORD})},
            setup=(WORD,),
            gates=(Gate(WORD.lower(), WORD),),
        ),
        runs=(replace(a_run(900, "cf-2-1", conclusion="success"), title=f"cf cf-2-1 {WORD}", url=WORD),),
        artifacts=(an_artifact("cf-2-1"),),
        reports={50: report},
        jobs={900: (*GREEN, replace(GREEN[0], name=f"#2 / agent ::{WORD}::"))},
        comments={1: comments},
    )


# What is no foreign text: each place that the record of a tick shows as it is. A new field that holds text is none of them yet.
ACCOUNTS = {
    "Account.login", "Answer.by", "Approval.by", "Control.by", "Happening.who", "Order.by", "Proposed.consent",
    "Record.consent", "Report.asked",
    "Snapshot.permissions{}",
}  # fmt: skip
OF_GITHUB = {
    "Comment.node_id", "Issue.node_id", "Job.conclusion", "Job.status", "Pull.head_sha", "Pull.node_id", "Pull.repository",
    "Ref.repository", "Repository.default_branch", "Repository.full_name", "Repository.node_id", "Repository.server",
    "Run.conclusion", "Run.event", "Run.node_id", "Run.status", "Unsaid.comment", "Snapshot.permissions",
}  # fmt: skip
KEYS_AND_DIGESTS = {
    "Answer.fingerprint", "Approval.digest", "Attempt.blob", "Attempt.digest", "Attempt.evidence", "Attempt.failure",
    "Attempt.head",
    "BatchRecord.config", "BatchRecord.facts", "BatchRecord.sums{}", "BatchRecord.was{}", "Blocker.fingerprint", "Config.blob",
    "ConfigChange.after", "ConfigChange.before", "Happening.action", "Happening.key", "Record.asked_in", "Record.automatic",
    "Record.blamed", "Record.earlier", "Record.head", "Record.notices", "Record.unshared", "Report.base", "Report.failure",
    "Report.head", "Report.key", "Search.base", "Search.heads", "SharedFix.failure", "Snapshot.fixed{}", "Snapshot.remembered{}",
    "Snapshot.spent{}", "Task.digest", "Unsaid.fingerprint", "Unwritten.blob",
}  # fmt: skip
CHOSEN_BY_NAME = {
    "Answer.rule", "Attempt.engine", "Attempt.model", "BatchOverrides.isolation", "BatchOverrides.merge",
    "BatchOverrides.stall_action", "EngineRequest.engine", "EngineRequest.model", "EngineRequest.provider",
    "Order.max_parallel_by_status{}", "Report.engine", "Report.model", "RepositorySettings.secrets{}",
    "RepositorySettings.variables", "RepositorySettings.variables{}",
}  # fmt: skip
CONFIGURED = {
    "Blockers.escalate_to", "Config.category_prefix", "Config.conductor", "Config.engine", "Config.engines{}",
    "Config.inference", "Config.isolation",
    "Config.max_parallel_by_label{}", "Config.merge", "Config.model", "Config.order", "Config.prefix", "Config.priority_prefix",
    "Config.runner", "Config.shared_fixes", "Config.start", "Config.supervisor", "Config.warnings", "Config.webhook_events",
    "Dependencies.keywords", "Dependencies.satisfied_by", "Dependencies.sync", "EngineConfig.base_url", "EngineConfig.model",
    "EngineConfig.provider", "EngineConfig.runner", "Gate.name", "Gate.os", "Models.planning", "Models.supervisor",
    "Publish.protected", "Search.failing", "Stall.action", "SupervisorRule.answer", "SupervisorRule.match",
    "SupervisorRule.name", "SupervisorRule.reason", "SupervisorRule.unless", "Trust.apps", "Trust.authors", "Trust.ignore",
    "Trust.permission",
}  # fmt: skip
QUOTED_ON_A_LINE = {"Batch.problem", "Snapshot.starts_blocked_by", "Task.record_problem"}  # our own sentences
SHOWN = ACCOUNTS | OF_GITHUB | KEYS_AND_DIGESTS | CHOSEN_BY_NAME | CONFIGURED | QUOTED_ON_A_LINE


def test_every_text_of_every_type_in_a_snapshot_is_reduced_or_known_to_be_nobodys_words():
    """The types are walked: a field that is added later and is not reduced has no place in these lists."""
    filled = Filled(WORD)
    snapshot = filled.value(Snapshot)
    assert filled.left_in(_written(snapshot)) == {*filled.places.values()}
    assert filled.left_in(_written(redacted(snapshot))) == SHOWN


def _written(snapshot):
    return json.dumps(write_snapshot(snapshot), ensure_ascii=False)


def test_no_word_of_theirs_and_no_command_line_is_left():
    snapshot = full_of_words()
    assert WORD in json.dumps(write_snapshot(snapshot))
    small = redacted(snapshot)
    text = json.dumps([write_snapshot(small), write_decisions(plan(small).decisions)])
    assert WORD not in text
    assert comparable(plan(small)) == comparable(plan(snapshot))


@pytest.mark.parametrize("text", ["", "x", "text-0123456789ab", "é\ud800"])
def test_a_name_stays_and_nothing_stays_nothing(text):
    assert named(named(text)) == named(text)
    assert bool(named(text)) == bool(text)


def test_the_text_that_an_approval_stands_for_is_kept_as_its_digest():
    snapshot = a_snapshot(a_task(1, title=WORD, body=WORD))
    before, after = plan(snapshot).decisions[0], plan(redacted(snapshot)).decisions[0]
    assert before.record.approval == after.record.approval
    assert after.record.approval is not None


def test_a_bulk_approval_by_label_is_decided_the_same_without_the_labels_name():
    dashboard = an_issue(50, "cf:dashboard", body=WORD)
    tasks = [a_task(1, Status.BACKLOG, WORD, record=a_record(1, Status.BACKLOG)), a_task(2, Status.BACKLOG)]
    order = a_comment(f'/cf approve label:"{WORD}"', issue=50)
    snapshot = a_snapshot(*tasks, others={50: dashboard}, comments={50: (order,)})
    small = redacted(snapshot)
    assert [decision.start is not None for decision in plan(small).decisions] == [True, False]
    assert comparable(plan(small)) == comparable(plan(snapshot))
    assert WORD not in json.dumps(write_snapshot(small))


def test_paths_that_hold_work_or_are_let_through_are_no_words_either():
    held = Held(Hold.PROTECTED, ago(minutes=3), 1, (WORD,))
    waits = a_task(1, Status.BLOCKED, record=a_record(1, Status.BLOCKED, held=held))
    let = a_task(2, record=a_record(2, Status.READY, republish=True, exceptions=(WORD,)))
    ending = a_running(3)
    report = a_report(Outcome.HELD, "cf-3-1", hold=Hold.PROTECTED, protected=(WORD,), head="b" * 40)
    snapshot = a_snapshot(
        waits,
        let,
        ending,
        runs=(a_run(900, "cf-3-1", conclusion="success"),),
        artifacts=(an_artifact("cf-3-1"),),
        reports={50: report},
        jobs={900: jobs("#3", agent="success", verify="success", publish="success")},
    )
    small = redacted(snapshot)
    assert any(decision.record.held for decision in plan(small).decisions if decision.task == 3)
    assert WORD not in json.dumps([write_snapshot(small), write_decisions(plan(small).decisions)])
    assert comparable(plan(small)) == comparable(plan(snapshot))


def test_no_word_about_a_batch_is_left_and_the_words_on_it_still_count():
    order = Order(77, "wendy", ago(hours=1), (1,), left_out=(WORD,))
    search = Search((1,), 0, "h", ago(), passed=False, guilty=1, reason=WORD, log=WORD)
    happening = Happening("k", ago(), "skipped", 1, WORD)
    record = BatchRecord(gate=search, happenings=(happening,), inference=(WORD,))
    stop = Control(Action.STOP, "wendy", ago(minutes=3), batch=9)
    said = (
        a_comment(control_comment(stop, WORD), by=BOT, issue=9),
        a_comment(f"{WORD}\n/cf status", 2, issue=9),
    )
    issue = an_issue(9, WORD, title=WORD, body=WORD)
    snapshot = a_snapshot(a_task(), batches=(Batch(issue, order, record, f"{WORD}", said),))
    (batch,) = redacted(replace(snapshot, batches=(replace(snapshot.batches[0], problem=""),))).batches
    assert WORD not in json.dumps(write_snapshot(redacted(replace(snapshot, batches=(batch,)))))
    assert (batch.record.gate, batch.record.inference) == (
        replace(search, reason=named(WORD), log=""),
        (),
    )
    assert batch.record.happenings == (replace(happening, reason=named(WORD)),)
    assert batch.order == replace(order, left_out=())
    assert [read_control(comment, {BOT.id}) for comment in batch.comments] == [stop, None]
    assert [comment.body for comment in batch.comments][1].endswith("/cf status")


def test_what_is_compared_holds_no_words():
    question = Question(f"{WORD}?", (WORD,), WORD)
    blocker = Blocker("q", question, ago(minutes=9), same_as=2)
    record = a_record(
        1,
        Status.BLOCKED,
        blocker=blocker,
        attempts=(an_attempt(1, Outcome.FAILED, reason=WORD, cancelled_for=WORD),),
        answers=(Answer(WORD, WORD, "wendy", 4, ago(minutes=9)),),
        notices=(f"warning:{WORD}", "question:cf-1-1"),
        exceptions=(WORD,),
        held=Held(Hold.PROTECTED, ago(), 1, (WORD,)),
    )
    notice = Notice(f"warning:{WORD}", WORD)
    decision = Decision(
        1,
        Verb.HOLD,
        WORD,
        Status.BLOCKED,
        record,
        start=Start(1, exceptions=(WORD,)),
        notices=(notice, Notice("unapproved", WORD)),
        revisions=(Revision("IC_1", Notice("question:cf-1-1", WORD)),),
    )
    bones = json.loads(json.dumps(comparable(Plan((decision,)))[1]))
    assert WORD not in json.dumps(bones)
    assert (bones["reason"], bones["status"], bones["verb"]) == ("", "blocked", "hold")
    assert bones["start"]["exceptions"] == [named(WORD)]
    assert [(one["fingerprint"], one["text"]) for one in bones["notices"]] == [
        (f"warning:{named(WORD)}", ""),
        ("unapproved", ""),
    ]
    assert bones["revisions"][0]["notice"]["text"] == ""
    kept = bones["record"]
    assert kept["blocker"]["question"] == {"text": ""}
    assert kept["blocker"]["same_as"] == 2
    assert (kept["attempts"][0].get("reason", ""), kept["attempts"][0].get("cancelled_for", "")) == ("", "")
    assert (kept["answers"][0]["question"], kept["answers"][0]["answer"]) == ("", "")
    assert kept["notices"] == [f"warning:{named(WORD)}", "question:cf-1-1"]
    assert (kept["exceptions"], kept["held"]["protected"]) == ([named(WORD)], [named(WORD)])


@pytest.mark.parametrize(
    ("label", "kept"),
    [("cf:ready", True), ("CF:Anything", True), ("GPU", True), ("gpu", True), ("api", False), ("cfx", False)],
)
def test_labels_of_ours_and_those_that_a_limit_names_are_kept(label, kept):
    task = a_task(1, Status.READY, label, events=(labelled(label),))
    small = redacted(a_snapshot(task, config=Config(max_parallel_by_label={"gpu": 1}))).tasks[1].issue
    expected = label if kept else named(label)
    assert (small.labels[1], small.events[0].label) == (expected, expected)


@pytest.mark.parametrize(
    ("name", "kept"),
    [("cf/12", "cf/12"), ("cf/12-3", "cf/12-3"), ("cf/secret", ""), ("main", ""), ("cf/12-x", "")],
)
def test_branches_are_words_but_for_those_of_attempts(name, kept):
    small = redacted(a_snapshot(a_task(pulls=(a_pull(70, head_ref=name),))))
    assert (small.tasks[1].issue.pulls[0].head_ref, small.tasks[1].issue.pulls[0].url) == (kept, "")


@pytest.mark.parametrize(
    ("job", "kept"),
    [
        ("#1 / agent", "#1 / agent"),
        ("#1 #2 / verify (ubuntu)", "#1 #2 / verify"),
        ("words #1 / agent", "#1 / agent"),
        ("#1 / AGENT", f"#1 / {named('AGENT')}"),
        ("words", ""),
    ],
)
def test_of_a_jobs_name_the_tasks_and_the_role_are_kept(job, kept):
    small = redacted(a_snapshot(jobs={900: (replace(GREEN[0], name=job),)}))
    assert small.jobs[900][0].name == kept


@pytest.mark.parametrize(
    "words", ["set-up failed: Xylophone", "set-up failed: could not resolve host: xylophone.example"]
)
def test_a_cause_is_read_from_words_before_they_go(words):
    """A registry that does not answer is told from a broken set-up by what was said; both hold the same tasks as before."""
    met = a_record(
        2,
        Status.READY,
        attempts=(an_attempt(1, Outcome.INFRA, cause=Met(Cause.SETUP, "f", words, guessed=True)),),
    )
    snapshot = a_snapshot(
        a_running(),
        a_task(2, Status.READY, record=met),
        a_task(3),
        a_task(4),
        runs=(a_run(conclusion="failure"),),
        artifacts=(an_artifact(),),
        reports={50: a_report(Outcome.INFRA, reason=words, failure="f")},
        jobs={900: jobs(agent="failure", verify="skipped", publish="success")},
        unwritten={4: Unwritten(ago(minutes=1), words=words)},
    )
    small = redacted(snapshot)
    assert comparable(plan(small)) == comparable(plan(snapshot))
    text = json.dumps(write_snapshot(small)).lower()
    assert WORD.lower() not in text
    assert read_snapshot(json.loads(json.dumps(write_snapshot(small)))) == small


def test_of_a_report_names_stand_for_its_texts():
    small = redacted(full_of_words()).reports[50]
    before = full_of_words().reports[50]
    assert small is not None
    assert before is not None
    assert (small.gates[0].tail, small.hooks[0].tail, small.steps[0].text) == ("", "", "")
    for field in ("reason", "message", "branch", "session", "source"):
        assert getattr(small, field) == named(getattr(before, field))
    assert (small.protected, small.left_out) == ((named(WORD),), (named(WORD),))
    assert redacted(a_snapshot(reports={50: None})).reports == {50: None}


@pytest.mark.parametrize("length", [10, 192, 193, 300])
def test_a_warning_that_was_told_is_known_again_by_its_name(length):
    warning = "w" * length
    waiting = a_task(1, needs=(2,), warnings=(warning,))
    (notice,) = plan(a_snapshot(waiting, a_task(2))).decisions[0].notices
    told = replace(waiting, record=a_record(1, Status.READY, notices=(notice.fingerprint,)))
    for snapshot in (a_snapshot(waiting, a_task(2)), a_snapshot(told, a_task(2))):
        assert comparable(plan(redacted(snapshot))) == comparable(plan(snapshot))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("/cf answer", "/cf answer"),
        ("/cf stop\n/cf answer", "/cf stop\n\n/cf answer"),
        (f"/cf answer {WORD}", f"/cf answer {named(WORD)}"),
        (f"{WORD}\n/cf run", f"{named(WORD)}\n\n/cf run"),
    ],
)
def test_of_a_comment_what_decides_is_kept(body, said):
    assert redacted(a_snapshot(a_task(), comments={1: (a_comment(body),)})).comments[1][0].body == said


def test_which_gates_were_red_before_decides_the_same_without_their_names():
    found = Measured("a" * 16, (GateResult(WORD, GateStatus.FAILED, tail=WORD),))
    report = a_report(Outcome.NO_CHANGES, "cf-3-1", baseline=found)
    snapshot = a_snapshot(
        a_running(3),
        runs=(a_run(900, "cf-3-1", conclusion="success"),),
        artifacts=(an_artifact("cf-3-1"),),
        reports={50: report},
        jobs={900: jobs("#3", agent="success", verify="skipped", publish="success")},
        baselines={"b" * 16: (WORD,)},
    )
    small = redacted(snapshot)

    assert comparable(plan(small)) == comparable(plan(snapshot))
    (decision,) = plan(snapshot).decisions
    assert f"baseline:{'a' * 16}" in [notice.fingerprint for notice in decision.notices]
    assert WORD not in json.dumps([write_snapshot(small), write_decisions(plan(small).decisions)])


def test_of_what_a_model_said_names_stand_for_the_words():
    asked = Question(WORD)
    small = redacted(
        a_snapshot(
            proposals={(1, 2): Proposal({2: (1,)}, WORD)},
            verdicts={asked: Verdict(WORD, WORD)},
            remembered={"f": Verdict(WORD, WORD, vetoed=True)},
        )
    )
    assert small.proposals == {(1, 2): Proposal({2: (1,)}, named(WORD))}
    assert list(small.verdicts.values()) == [Verdict(named(WORD), named(WORD))]
    assert small.remembered == {"f": Verdict(named(WORD), named(WORD), vetoed=True)}
    assert WORD not in json.dumps(write_snapshot(small))
