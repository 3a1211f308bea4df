"""The workflows and the action that we ship, read as files: who starts them, what they may do, and the rules they all keep."""

import json
import re

import pytest

from bot.conductor.tell.summary import outputs
from bot.model.engine import SECRETS, VARIABLES
from bot.sandbox.world.expressions import value_of
from tests.builders import a_snapshot, a_task, a_tick
from tests.packaging.rules import ACTION, EVERYWHERE, PINNED, ROOT, TEMPLATES, parse, shipped

pytestmark = pytest.mark.packaging

NAMES = {"cf-conductor", "cf-batch", "cf-worker", "cf-task"}


def load(path):
    return parse(path.name, path.read_text(encoding="utf-8"))


def template(name):
    return load(TEMPLATES / f"{name}.yml")


def text_of(job):
    return json.dumps(job)


@pytest.mark.parametrize("rule", EVERYWHERE, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.name)
def test_every_shipped_file_keeps_every_rule(path, rule):
    assert list(rule(load(path))) == []


def test_the_shipped_templates_are_the_ones_we_document():
    assert {path.stem for path in TEMPLATES.glob("*.yml")} == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_template_has_its_properties(name):
    """GitHub shows a template by NAME.properties.json beside NAME.yml."""
    properties = json.loads((TEMPLATES / f"{name}.properties.json").read_text(encoding="utf-8"))

    assert {"name", "description", "iconName", "categories"} <= set(properties)
    assert properties["name"]
    assert properties["description"]


class TestConductor:
    def test_it_wakes_on_what_people_do_and_on_what_we_send(self):
        on = template("cf-conductor").content["on"]

        assert set(on) == {"issues", "issue_comment", "push", "workflow_dispatch", "schedule"}
        assert set(on["issues"]["types"]) == {
            "opened", "edited", "closed", "reopened", "labeled", "unlabeled", "transferred", "deleted",
        }  # fmt: skip
        assert set(on["issue_comment"]["types"]) == {"created", "edited"}

    def test_it_sweeps_at_an_odd_minute(self):
        """GitHub drops scheduled runs when everybody's are due, at the full hour above all."""
        for entry in template("cf-conductor").content["on"]["schedule"]:
            first = re.match(r"(\d+)", entry["cron"])
            assert first is not None
            assert int(first[1]) % 5 != 0, entry

    def test_a_tick_is_never_cancelled_and_a_dropped_event_evicts_nobody(self):
        """The group stands on the job, so that a run whose job is skipped by `if` does not join it."""
        workflow = template("cf-conductor")
        (job,) = workflow.jobs.values()

        assert "concurrency" not in workflow.content
        assert job["concurrency"].get("cancel-in-progress", False) is False
        assert "cf-conductor" in job["concurrency"]["group"]
        assert "github.run_id" in job["concurrency"]["group"]

    def test_it_has_no_more_than_it_needs(self):
        (job,) = template("cf-conductor").jobs.values()

        assert job["permissions"] == {
            "actions": "write",
            "issues": "write",
            "contents": "read",
            "pull-requests": "read",
            "checks": "read",
        }


class TestBatch:
    def test_it_has_the_ten_inputs(self):
        inputs = template("cf-batch").content["on"]["workflow_dispatch"]["inputs"]

        assert set(inputs) == {
            "action", "target", "tasks", "strategy", "max_parallel",
            "on_failure", "max_retries", "engine", "dry_run", "options",
        }  # fmt: skip

    def test_it_starts_only_by_hand(self):
        assert set(template("cf-batch").content["on"]) == {"workflow_dispatch"}

    def test_it_learns_whether_a_models_key_is_there(self):
        """And the repository variables by which an engine is chosen."""
        told: dict[str, str] = {}
        for step in template("cf-conductor").jobs["tick"]["steps"]:
            told |= step.get("env", {})
        has = {name: value for name, value in told.items() if name.startswith("CF_HAS_")}
        assert has == {f"CF_HAS_{name}": f"${{{{ secrets.{name} != '' }}}}" for name in SECRETS}
        assert told["CF_ADVISOR_KEY"] == "${{ secrets.CF_ADVISOR_KEY }}"
        assert [told[name] for name in VARIABLES] == [f"${{{{ vars.{name} }}}}" for name in VARIABLES]


class TestWorker:
    def test_it_is_dispatched_with_units_and_keys_and_shows_the_keys(self):
        """A run's name is the only echo of its inputs that the API gives back."""
        workflow = template("cf-worker")

        assert set(workflow.content["on"]) == {"workflow_dispatch"}
        assert set(workflow.content["on"]["workflow_dispatch"]["inputs"]) == {"units", "keys"}
        assert "inputs.keys" in workflow.content["run-name"]

    def test_every_leg_calls_the_task_workflow_and_stands_in_its_tasks_group(self):
        (job,) = template("cf-worker").jobs.values()

        assert job["uses"] == "./.github/workflows/cf-task.yml"
        assert "matrix" in job["strategy"]
        assert "matrix.unit.lead" in job["concurrency"]["group"]
        assert job["concurrency"].get("cancel-in-progress", False) is False

    def test_it_grants_no_less_than_what_the_tasks_jobs_ask_for(self):
        """Permissions can only shrink on the way down: what the caller does not grant fails the run at once."""
        rank = {"none": 0, "read": 1, "write": 2}
        (caller,) = template("cf-worker").jobs.values()
        granted = caller["permissions"]

        for name, job in template("cf-task").jobs.items():
            for key, level in job["permissions"].items():
                assert rank[granted.get(key, "none")] >= rank[level], (name, key)

    def test_it_grants_nothing_that_no_job_asks_for(self):
        asked = {
            (key, level)
            for job in template("cf-task").jobs.values()
            for key, level in job["permissions"].items()
        }
        (caller,) = template("cf-worker").jobs.values()

        assert set(caller["permissions"].items()) <= asked

    @pytest.mark.parametrize("name", SECRETS)
    def test_sec_02_a_unit_gets_the_one_key_that_it_names(self, name):
        (caller,) = template("cf-worker").jobs.values()
        keys = {secret: f"the {secret}" for secret in (*SECRETS, "CF_APP_PRIVATE_KEY", "CF_STATE_KEY")}

        def given(secret, present):
            contexts = {"matrix": {"unit": {"secret": secret}}, "secrets": present}
            return value_of(caller["secrets"]["model_key"], contexts)

        assert given(name, keys) == f"the {name}"
        assert given(name, {**keys, name: ""}) == ""
        for other in ("", "CF_APP_PRIVATE_KEY", "CF_STATE_KEY", "GITHUB_TOKEN"):
            assert given(other, keys) == ""


class TestTask:
    def test_it_is_called_with_a_unit_and_named_secrets(self):
        on = template("cf-task").content["on"]

        assert set(on) == {"workflow_call"}
        assert set(on["workflow_call"]["inputs"]) == {"unit"}

    def test_sec_02_the_agent_can_only_read(self):
        """SEC-02: no write scope, and no secret besides the one model key."""
        agent = template("cf-task").jobs["agent"]

        assert set(agent["permissions"].values()) <= {"read", "none"}
        assert set(re.findall(r"secrets\.(\w+)", text_of(agent))) <= {"model_key"}

    def test_sec_02_gates_run_without_any_secret(self):
        verify = template("cf-task").jobs["verify"]

        assert set(verify["permissions"].values()) <= {"read", "none"}
        assert re.findall(r"secrets\b", text_of(verify)) == []

    def test_act_01_no_gate_means_no_verify_job_rather_than_an_empty_success(self):
        """An empty matrix fails a run, and an emptied list of gates must never pass."""
        assert "join(" in str(template("cf-task").jobs["verify"]["if"])

    def test_act_10_publish_always_reports_and_always_wakes_the_conductor(self):
        jobs = template("cf-task").jobs
        publish = jobs["publish"]

        assert set(publish["needs"]) == {"agent", "verify"}
        assert "always()" in publish["if"]
        assert "always()" in publish["steps"][-1]["if"]
        assert publish["permissions"]["actions"] == "write"

    def test_what_is_published_is_bound_to_what_the_gates_saw(self):
        """The agent's job names its commit in an output, which nobody can change any more, and both jobs after it are told."""
        jobs = template("cf-task").jobs

        assert jobs["agent"]["outputs"]["commit"] == "${{ steps.work.outputs.commit }}"
        for job, command in (("verify", "verify"), ("publish", "publish")):
            (step,) = [step for step in jobs[job]["steps"] if step.get("with", {}).get("command") == command]
            assert step["env"]["CF_COMMIT"] == "${{ needs.agent.outputs.commit }}"

    def test_sec_02_an_apps_key_reaches_the_publish_step_only(self):
        """And no job's default token that can write meets anything of the change: publish checks out the default branch."""
        jobs = template("cf-task").jobs
        holders = [
            (job, step["with"]["command"])
            for job, content in jobs.items()
            for step in content["steps"]
            if "app_private_key" in text_of(step)
        ]

        assert holders == [("publish", "publish")]
        assert not any("run" in step for step in jobs["publish"]["steps"])

    def test_publish_has_no_model_key(self):
        assert "model_key" not in text_of(template("cf-task").jobs["publish"])

    @pytest.mark.parametrize("job", ["agent", "verify"])
    def test_jobs_that_run_foreign_code_never_run_the_action_from_the_work_tree(self, job):
        for step in template("cf-task").jobs[job]["steps"]:
            assert not str(step.get("uses", "")).startswith("./")


class TestAction:
    def test_it_is_composite_and_has_what_a_listing_needs(self):
        action = load(ACTION).content

        assert action["runs"]["using"] == "composite"
        assert action["name"]
        assert action["description"]
        assert {"icon", "color"} <= set(action["branding"])

    def test_it_takes_the_documented_inputs_and_gives_the_documented_outputs(self):
        words = (ROOT / "docs" / "action.md").read_text(encoding="utf-8")
        inputs, given = words.split("## Inputs")[1].split("## Outputs")
        action = load(ACTION).content

        assert _first_cells(inputs) == list(action["inputs"])
        assert [*_first_cells(given), "verify", "commit"] == list(action["outputs"])

    def test_a_tick_writes_every_output_but_that_of_work(self):
        told = outputs(a_tick(a_snapshot(a_task(1))))
        given = {name: each["value"] for name, each in load(ACTION).content["outputs"].items()}

        assert given == {name: f"${{{{ steps.run.outputs.{name} }}}}" for name in (*told, "verify", "commit")}


def _first_cells(table):
    """What stands in backticks in the first column."""
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_sec_05_examples_in_the_documentation_are_pinned_as_well():
    """SEC-05: people copy what they read."""
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert documents
    for document in documents:
        for action in re.findall(
            r"^\s*(?:-\s+)?uses:\s*(\S+)", document.read_text(encoding="utf-8"), re.MULTILINE
        ):
            assert action.startswith("./") or PINNED.fullmatch(action), f"{document.name}: {action}"
