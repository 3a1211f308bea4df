"""Work that the world has overtaken is brought up to date and proven again without an agent; what was red before is known."""

import json
from datetime import timedelta
from typing import Any

import pytest

from bot.model.report import GateResult, GateStatus, Hold, Measured, Outcome
from bot.notation.config import read_config
from bot.notation.digests import commands_digest
from bot.notation.state import read_state
from bot.sandbox.world.accounts import BOT
from tests.conductor.story import CONFIG, Story

HEAD = "c" * 40


def units(story: Story) -> list[dict[str, Any]]:
    """What every worker run was told, in order."""
    return [unit for run in story.worker_runs() for unit in json.loads(run.inputs["units"])]


def stale(story: Story, task: int, number: int, **more: object) -> None:
    report: dict[str, Any] = {
        "hold": Hold.STALE,
        "head": HEAD,
        "reason": "the workflow files of main have changed since",
        **more,
    }
    story.finish(f"cf-{task}-{number}", Outcome.HELD, **report)
    story.settle()


def overtaken(config: str = CONFIG) -> tuple[Story, int]:
    story = Story(config)
    task = story.ready()
    story.settle()
    stale(story, task, 1)
    return story, task


def test_it_is_brought_up_to_date_at_once_by_a_unit_that_proves_it_and_pays_no_agent():
    story, task = overtaken()

    first, second = units(story)
    assert (first["kind"], second["kind"]) == ("code", "update")
    assert second["earlier"] == f"{story.run_of('cf-1-1').id}/cf-1-1"
    assert second["verify"] == first["verify"] != []
    assert (second["engine"], second["secret"], second["measure"]) == ("", "", False)
    assert story.status(task) == ("in-progress",)

    story.finish("cf-1-2", Outcome.PASSED)
    story.settle()

    assert story.status(task) == ("done",)
    assert story.record(task).held is None
    assert story.record(task).spent.attempts == 1
    assert story.record(task).strikes == 0


@pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.INFRA])
def test_an_update_that_is_interrupted_is_repeated(outcome):
    story, task = overtaken()
    story.finish("cf-1-2", outcome)
    story.settle()

    assert [unit["kind"] for unit in units(story)] == ["code", "update", "update"]
    assert units(story)[-1]["earlier"] == units(story)[1]["earlier"]
    assert story.record(task).strikes == 0


def test_what_contradicts_is_handed_to_an_agent_that_begins_with_the_same_work_without_a_strike():
    story, task = overtaken()
    story.finish(
        "cf-1-2", Outcome.INFRA, conflict=True, reason="the kept work contradicts what is there by now"
    )
    story.settle()

    last = units(story)[-1]
    assert (last["kind"], last["earlier"]) == ("code", units(story)[1]["earlier"])
    assert story.record(task).strikes == 0
    assert story.record(task).held is None


def test_red_gates_are_a_strike_and_the_next_agent_begins_with_the_updated_work():
    story, task = overtaken(CONFIG + "retry: {backoff: 1s}\n")
    story.finish("cf-1-2", Outcome.FAILED, verify="failure", head="d" * 40, reason="the gates did not pass")
    story.settle()
    story.world.wait(timedelta(seconds=5))
    story.settle()

    last = units(story)[-1]
    assert (last["kind"], last["earlier"]) == ("code", f"{story.run_of('cf-1-2').id}/cf-1-2")
    assert story.record(task).strikes == 1


def test_nothing_of_its_own_left_is_told_and_ends_it():
    story, task = overtaken()
    story.finish(
        "cf-1-2", Outcome.NO_CHANGES, reason="already there: the default branch holds all of it by now"
    )
    story.settle()

    assert story.status(task) == ("blocked",)
    assert "already there" in story.world.issue(task).comments[-1].body


def test_a_branch_that_moves_too_often_is_looked_at_by_a_person_and_publish_goes_on():
    story, task = overtaken()
    for number in (2, 3, 4):
        stale(story, task, number)

    assert story.status(task) == ("blocked",)
    assert [unit["kind"] for unit in units(story)] == ["code", "update", "update", "update"]
    assert "`/cf publish` brings it up to date" in story.world.issue(task).comments[-1].body

    story.world.comment(task, "/cf publish")
    story.settle()
    assert units(story)[-1]["kind"] == "update"


def test_what_a_person_let_through_stays_let_through():
    story = Story()
    task = story.ready()
    story.settle()
    story.finish("cf-1-1", Outcome.HELD, hold=Hold.PROTECTED, protected=("AGENTS.md",), head=HEAD)
    story.settle()
    story.world.comment(task, "/cf publish")
    story.settle()
    stale(story, task, 2, protected=("AGENTS.md",))

    kinds = [(unit["kind"], unit["exceptions"]) for unit in units(story)]
    assert kinds == [("code", []), ("publish", ["AGENTS.md"]), ("update", ["AGENTS.md"])]


@pytest.mark.parametrize("how", ["label", "retry"])
def test_a_persons_order_meanwhile_does_not_push_the_refused_commit_again(how):
    story, task = overtaken()
    story.finish("cf-1-2", Outcome.INFRA)
    story.world.comment(task, "/cf retry") if how == "retry" else story.world.label(task, "cf:ready")
    story.settle()

    assert "publish" not in {unit["kind"] for unit in units(story)}


# ---------------------------------------------------------------------- the gates on the untouched default branch

RED = (GateResult("tests", GateStatus.FAILED, tail="2 tests failed"),)


def digest(story: Story) -> str:
    view = story.github.view("cf", None)
    config = read_config(view.config_text)
    return commands_digest(config, config.runner)


def measured(story: Story, *gates: GateResult) -> dict[str, Any]:
    return {"baseline": Measured(digest(story), gates)}


def told(story: Story) -> list[int]:
    """The issues on which it was said that a gate is red without any change."""
    return [
        number
        for number in sorted(story.world.issues.by_number)
        if any("fails on `main` as well" in comment.body for comment in story.world.issue(number).comments)
    ]


def test_fifty_tasks_on_fifty_base_commits_pay_for_one_baseline():
    story = Story(CONFIG + "max_parallel: 1\nbrakes: {attempts: 100}\n")
    tasks = [story.ready() for _ in range(50)]
    for number, task in enumerate(tasks):
        story.settle()
        story.world.push_files("main", {f"moved-{number}.txt": "x\n"})
        found = measured(story, *RED) if units(story)[-1]["measure"] else {}
        story.finish(f"cf-{task}-1", Outcome.NO_CHANGES, **found)
    story.settle()

    assert [unit["measure"] for unit in units(story)] == [True] + [False] * 49
    assert [unit["red"] for unit in units(story)] == [[]] + [["tests"]] * 49
    assert told(story) == [tasks[0]]
    assert "2 tests failed" in "".join(one.body for one in story.world.issue(tasks[0]).comments)


def test_two_first_attempts_at_once_may_both_pay_and_it_is_said_once():
    story = Story(CONFIG + "max_parallel: 2\n")
    tasks = [story.ready(), story.ready(), story.ready()]
    story.settle()
    for task in tasks[:2]:
        story.finish(f"cf-{task}-1", Outcome.NO_CHANGES, **measured(story, *RED))
    story.settle()

    assert [unit["measure"] for unit in units(story)] == [True, True, False]
    assert told(story) == [tasks[0]]


@pytest.mark.parametrize(
    "change",
    ["setup: [make deps]\n", "runner: self-hosted\n", "engines: {command: {args: x, runner: big}}\n"],
)
def test_another_set_up_gate_or_runner_is_measured_anew(change):
    story = Story()
    first = story.ready()
    story.settle()
    story.finish(f"cf-{first}-1", Outcome.NO_CHANGES, **measured(story))
    story.settle()
    text = (
        CONFIG.replace('engines: {command: {args: "python agent.py"}}\n', "")
        if change.startswith("engines")
        else CONFIG
    )
    story.world.push_files("main", {".github/cf.yml": text + change})
    second = story.ready()
    story.settle()

    assert [unit["measure"] for unit in units(story) if unit["lead"] in (first, second)] == [True, True]


@pytest.mark.parametrize("config", ["baseline: off\n", "gates: []\n"])
def test_without_it_or_without_gates_nothing_is_measured(config):
    story = Story(CONFIG.replace("gates: [{name: tests, run: make test}]\n", "") + config)
    story.ready()
    story.settle()

    assert [unit["measure"] for unit in units(story)] == [False]


def test_what_was_found_outlives_the_issues_in_the_dashboards_state():
    story = Story(CONFIG + "max_parallel: 1\n")
    first = story.ready()
    story.settle()
    story.finish(f"cf-{first}-1", Outcome.NO_CHANGES, **measured(story, *RED))
    story.settle()
    story.world.close(first)
    story.settle()
    story.world.wait(timedelta(hours=3))
    story.settle()
    dashboard = next(issue for issue in story.github.labelled("cf:dashboard"))
    state = read_state(dashboard, {BOT.id})
    assert state is not None
    assert state.baselines == {digest(story): ("tests",)}

    story.ready()
    story.settle()
    assert (units(story)[-1]["measure"], units(story)[-1]["red"]) == (False, ["tests"])
