"""A snapshot without anybody's words plans the same, survives JSON, and holds no word of theirs."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.model.config import Config, EngineConfig
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
from bot.model.status import Status
from bot.model.unit import Gate
from bot.notation.answers import NotAnAnswer, read_answer
from bot.notation.commands import read_commands
from bot.notation.digests import named
from bot.notation.needs import looks_like_declaration
from bot.notation.ticks import read_snapshot, write_decisions, write_snapshot
from bot.plan import plan
from bot.plan.redacted import comparable, redacted
from tests.builders import (
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
)
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
        left_behind=(WORD,),
        baseline=Measured(WORD, (GateResult(WORD, GateStatus.FAILED, tail=WORD),)),
        hooks=(HookResult("before_task", False, tail=WORD),),
        steps=(Step(Category.SHELL, WORD),),
        protected=(WORD,),
        source=WORD,
        left_out=(WORD,),
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
