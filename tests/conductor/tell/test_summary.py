"""What a tick tells: nothing in it is anything but text."""

import contextlib
import io
import json
import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import force_setattr

from bot.conductor.act.outbox import Effects
from bot.conductor.conduct import _output, _tell
from bot.conductor.tell.summary import events, markdown, outputs, overview
from bot.model.decision import Decision, Plan, Verb
from bot.model.record import Record
from bot.model.report import Category, Outcome, Step
from bot.model.status import Status
from tests.builders import (
    NOW,
    a_record,
    a_report,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    a_tick,
    an_artifact,
    an_attempt,
    an_issue,
    jobs,
)
from tests.notation.test_joblog import obeyed
from tests.plan.telling.test_overview import many

HOSTILE = st.lists(
    st.sampled_from(
        [
            "|",
            "\n",
            "\r",
            "::error::x",
            "##[error]x",
            "```",
            "mermaid",
            "<!--",
            "-->",
            "@wendy",
            "<img src=x>",
            "]",
            '"',
            "\\",
            "x",
            "%0A",
            "\u2028",
        ]
    ),
    max_size=10,
).map("".join)
TABLES = MarkdownIt("commonmark").enable("table")


def told(title="t", reason="why", **snapshot):
    """A tick over one task with this title whose decision gives this reason."""
    seen = a_snapshot(a_task(1, Status.FAILED, title=title), **snapshot)
    return a_tick(seen, decided=Plan((Decision(1, Verb.HOLD, reason or "x", Status.FAILED, Record(1)),)))


@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_title_or_reason_breaks_out_of_its_cell(title, reason, refused):
    tick = told(title, reason)
    tick.effects.refused.append(refused)
    tick.effects.skipped[2] = reason
    text = markdown(tick, None)
    tokens = TABLES.parse(text)

    assert sum(token.type == "td_open" for token in tokens) == 4
    assert not any(token.type in ("fence", "html_block") for token in tokens)
    assert "<!--" not in text
    assert "@wendy" not in text
    assert "<img" not in text


@given(HOSTILE)
def test_every_output_is_one_line_whatever_a_configuration_says(words):
    tick = told(starts_blocked_by=f"nothing can start: {words}")
    assert all(len(value.splitlines()) <= 1 for value in outputs(tick).values())
    assert len(overview(tick).reason.splitlines()) == 1
    assert markdown(tick, None).startswith("### cf: nothing can start:")


@given(HOSTILE)
def test_no_line_of_the_log_is_a_workflow_command(words):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        _tell(told(words, f"\n{words}", starts_blocked_by=words), {})
    assert obeyed(out.getvalue()) == []


def test_an_output_has_a_delimiter_that_nobody_can_guess():
    first, second = (_output("reason", "x\ncf-0<<y").splitlines()[0] for _ in range(2))
    assert first != second
    assert re.fullmatch(r"reason<<cf-[0-9a-f]{32}", first)


def test_outputs_say_whether_anything_can_start():
    found = outputs(a_tick(many(), Effects(started={1: 901})))
    assert (found["can_start"], found["has-work"], found["reason"]) == ("true", "true", "1 started")
    assert json.loads(found["events"]) == [
        {
            "event": "run.started",
            "at": "2026-03-02T12:00:00Z",
            "task": 1,
            "key": "cf-1-1",
            "run": 901,
            "kind": "code",
        }
    ]
    idle = outputs(a_tick(a_snapshot()))
    assert (idle["can_start"], idle["has-work"], idle["events"]) == ("false", "false", "[]")
    assert idle["reason"] == "nothing can start: 0 running, no task is ready"


def test_what_was_left_to_the_next_tick_did_not_happen():
    found = outputs(a_tick(a_snapshot(a_task(1)), Effects(skipped={1: "changed since snapshot"})))
    assert found["events"] == "[]"


def test_what_became_ready_in_this_tick_can_start_unless_everything_stands_still():
    ready = Plan((Decision(1, Verb.MOVE, "answered", Status.READY, Record(1)),))
    for starts_blocked_by, can_start in (("", "true"), ("paused by the label `cf:pause` on #9", "false")):
        found = outputs(a_tick(a_snapshot(a_task(1), starts_blocked_by=starts_blocked_by), decided=ready))
        assert found["can_start"] == can_start
        assert found["reason"] == (starts_blocked_by or "1 can start at the next tick")


def test_the_summary_names_cycles_pull_requests_skips_and_when_it_goes_on():
    seen = a_snapshot(a_task(1, needs=(2,)), a_task(2, needs=(1,)), a_task(3, needs=(1,)), a_task(4))
    tick = a_tick(seen, Effects(skipped={4: "changed since snapshot"}, refused=["CreateComment: locked"]))
    issues = (*tick.seen.view.issues, an_issue(9, "cf:ready", is_pull=True))
    force_setattr(tick.seen.view, "issues", issues)
    text = markdown(tick, NOW)

    assert "Cycle members: 2. Held behind cycles: 1." in text
    assert "label on a pull request ignored: #9" in text
    assert "| #4 Task 4 | in-progress | start | changed since snapshot |" in text
    assert "GitHub refused a write: CreateComment: locked" in text
    assert "Something is due at 12:00:00 UTC." in text


def test_a_gantt_chart_shows_what_ran_once_there_are_two_bars():
    past = [an_attempt(number, Outcome.PASSED, minutes=5.0, run=800 + number) for number in (1, 2)]
    done = a_task(7, Status.DONE, record=a_record(7, Status.DONE, attempts=tuple(past), next_attempt=3))
    assert "gantt" not in markdown(a_tick(a_snapshot(a_task(1))), None)
    lines = markdown(
        a_tick(a_snapshot(a_running(3, run=903), done, runs=(a_run(903, "cf-3-1"),))), None
    ).splitlines()
    assert "  cf-3-1 running :active, 2026-03-02T11:40:00, 2026-03-02T12:00:00" in lines
    assert "  cf-7-2 passed :done, 2026-03-02T11:45:00, 2026-03-02T11:50:00" in lines


def test_an_agents_steps_are_no_part_of_outputs_and_summary():
    report = a_report(Outcome.FAILED, "cf-3-1", steps=(Step(Category.SHELL, "words"),))
    seen = a_snapshot(
        a_running(3, run=900),
        runs=(a_run(900, "cf-3-1", conclusion="success"),),
        artifacts=(an_artifact("cf-3-1"),),
        reports={50: report},
        jobs={900: jobs("#3", agent="failure", verify="skipped", publish="success")},
    )
    tick = a_tick(seen)
    assert [event.event for event in events(tick)] == [
        "agent.step_started",
        "agent.step_completed",
        "run.failed",
    ]
    assert [event["event"] for event in json.loads(outputs(tick)["events"])] == ["run.failed"]
    assert "agent." not in markdown(tick, None)
