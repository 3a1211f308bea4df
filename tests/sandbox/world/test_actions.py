"""What starts a run, what keeps it waiting, and how it ends."""

from collections.abc import Mapping

import pytest

from bot.sandbox.world import BOT, ApiError, ManualEngine, MemoryGit, World

WAKE = """
name: wake
on:
  workflow_dispatch: {}
  issues: {types: [labeled, closed]}
  issue_comment: {types: [created]}
  push: {branches: [main]}
  schedule: [{cron: "7 * * * *"}]
jobs:
  wake:
    runs-on: ubuntu-latest
    if: github.event_name != 'issue_comment' || !github.event.issue.pull_request
    concurrency:
      group: ${{ (github.event_name != 'issues' || github.event.action == 'closed') && 'wake' || github.run_id }}
"""
WORK = """
name: work
run-name: "work [${{ inputs.keys }}]"
on:
  workflow_dispatch:
    inputs:
      keys: {required: true}
      mode: {type: choice, options: [fast, slow], default: fast}
      dry: {type: boolean, default: false}
      units: {default: "[]"}
permissions: {contents: read}
jobs:
  unit:
    strategy: {matrix: {unit: "${{ fromJSON(inputs.units) }}"}}
    concurrency: {group: "task-${{ matrix.unit.lead }}"}
    permissions: {actions: write}
"""
CHECK = """
on: {pull_request: {}}
jobs: {check: {runs-on: x}}
"""


def a_world(**files: str) -> World:
    tree = {f".github/workflows/{name}.yml": text for name, text in files.items()}
    return World(git=MemoryGit.of({"README.md": "x", **tree}))


@pytest.fixture
def world() -> World:
    return a_world(wake=WAKE, work=WORK, check=CHECK)


def engine_of(world: World) -> ManualEngine:
    assert isinstance(world.engine, ManualEngine)
    return world.engine


def statuses(world: World, workflow: str = "wake.yml") -> list[str]:
    return [run.conclusion or run.status for run in world.runs(workflow)]


def work(world: World, key: str, inputs: Mapping[str, str] | None = None) -> int:
    return world.dispatch("work.yml", inputs={"keys": key, **(inputs or {})})


# ---------------------------------------------------------------------- what starts a run


def test_people_start_what_listens(world):
    number = world.open_issue("task")
    assert world.runs() == (), "opened is not listened to"

    world.label(number, "cf:ready")
    world.comment(number, "words")
    world.close(number)

    assert [(run.event, run.payload["action"]) for run in world.runs()] == [
        ("issues", "labeled"),
        ("issue_comment", "created"),
        ("issues", "closed"),
    ]
    assert world.runs()[0].payload["label"]["name"] == "cf:ready"
    assert world.runs()[0].payload["sender"]["login"] == "maintainer"


def test_a_default_token_starts_nothing_but_dispatches(world):
    number = world.open_issue("task", by=BOT)
    world.label(number, "cf:ready", by=BOT)
    world.comment(number, "words", by=BOT)
    world.close(number, by=BOT)
    world.push_files("main", {"a": "b"}, by=BOT)
    assert world.runs() == ()

    world.dispatch("wake.yml", token=BOT)

    assert [(run.event, run.actor) for run in world.runs()] == [("workflow_dispatch", BOT)]


def test_an_app_starts_runs_as_people_do(world):
    app = world.accounts.app_token("helper", {"issues": "write"})
    number = world.open_issue("task", by=app)

    world.label(number, "cf:ready", by=app)

    assert [run.actor.login for run in world.runs()] == ["helper[bot]"]


def test_a_pull_request_of_a_default_token_waits_for_approval(world):
    world.push_files("work", {"a": "b"}, by=BOT)
    world.open_pull("work", "work", by=BOT)
    assert statuses(world, "check.yml") == ["action_required"]

    world.push_files("other", {"c": "d"})
    world.open_pull("other", "other")
    assert statuses(world, "check.yml") == ["action_required", "queued"]


def test_pushes_are_filtered_by_branch(world):
    world.push_files("side", {"a": "b"})
    assert world.runs() == ()
    world.push_files("main", {"a": "b"})
    assert [run.event for run in world.runs()] == ["push"]


def test_the_schedule_starts_what_has_one(world):
    (run,) = world.tick_schedule()
    assert (world.run(run).workflow, world.run(run).event) == ("wake.yml", "schedule")


def test_an_event_that_every_job_drops_is_skipped(world):
    world.push_files("work", {"a": "b"}, by=BOT)
    pull = world.open_pull("work", "work", by=BOT)

    world.comment(pull, "words")

    assert statuses(world) == ["skipped"]


# ---------------------------------------------------------------------- dispatch


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({}, "Required input 'keys' not provided"),
        ({"keys": "k", "other": "x", "more": "y"}, 'Unexpected inputs provided: ["other", "more"]'),
        (
            {"keys": "k", "mode": "medium"},
            "Provided value 'medium' for input 'mode' not in the list of allowed values",
        ),
        ({"keys": "k", "dry": "perhaps"}, "Provided value 'perhaps' for input 'dry' is not a boolean"),
        ({"keys": "k" * 65_536}, "inputs are too large."),
        ({f"i{n}": "" for n in range(26)}, "Invalid input: more than 25 properties were supplied."),
    ],
)
def test_inputs_are_checked(world, inputs, said):
    with pytest.raises(ApiError) as refusal:
        world.dispatch("work.yml", inputs=inputs)
    assert (refusal.value.status, refusal.value.message) == (422, said)
    assert world.runs() == ()


def test_defaults_are_filled_in_and_the_name_echoes(world):
    run = world.run(work(world, "cf-1-1"))
    assert run.inputs == {"keys": "cf-1-1", "mode": "fast", "dry": "false", "units": "[]"}
    assert run.title == "work [cf-1-1]"


@pytest.mark.parametrize(
    ("workflow", "ref", "status"),
    [("none.yml", "main", 404), ("check.yml", "main", 422), ("work.yml", "no", 422)],
)
def test_what_cannot_be_dispatched(world, workflow, ref, status):
    with pytest.raises(ApiError, check=lambda error: error.status == status):
        world.dispatch(workflow, ref, {"keys": "k"} if workflow == "work.yml" else {})


def test_a_workflow_on_a_side_branch_only_is_unknown(world):
    world.push_files("side", {".github/workflows/new.yml": WORK})
    with pytest.raises(ApiError, check=lambda error: error.status == 404):
        world.dispatch("new.yml", "side", {"keys": "k"})


def test_a_run_token_may_what_the_jobs_may(world):
    token = world.run(work(world, "cf-1-1")).token
    assert token.permissions == {"actions": "write"}
    assert token.account == BOT


def test_a_broken_file_is_a_failed_start():
    world = a_world(bad="on: {issues: {}}\njobs: {a: {concurrency: '${{ secrets.X }}'}}")
    world.open_issue("task")
    assert statuses(world, "bad.yml") == ["startup_failure"]
    assert "secrets" in world.runs()[0].problem


# ---------------------------------------------------------------------- concurrency


def test_one_runs_one_waits_and_a_newcomer_takes_the_waiting_place(world):
    first, second, third = (world.dispatch("wake.yml") for _ in range(3))

    assert statuses(world) == ["queued", "cancelled", "pending"]
    assert engine_of(world).started == [first]
    world.run_ended(first, "success")
    assert engine_of(world).started == [first, third]
    assert statuses(world) == ["success", "cancelled", "queued"]
    assert world.run(second).conclusion == "cancelled"


def test_a_dropped_event_evicts_nobody(world):
    """Its group is its own run's id: a waiting wake-up survives it."""
    number = world.open_issue("task")
    world.dispatch("wake.yml")
    world.dispatch("wake.yml")

    world.label(number, "cf:ready")

    assert statuses(world) == ["queued", "pending", "queued"]


def test_groups_of_matrix_legs_count(world):
    units = '[{"lead": 1}, {"lead": 2}]'
    both = work(world, "cf-1-1 cf-2-1", {"units": units})
    other = work(world, "cf-3-1", {"units": '[{"lead": 3}]'})
    again = work(world, "cf-2-2", {"units": '[{"lead": 2}]'})

    assert engine_of(world).started == [both, other]
    assert world.run(again).status == "pending"
    world.run_ended(both, "failure")
    assert engine_of(world).started == [both, other, again]


def test_a_waiting_run_that_is_cancelled_never_starts(world):
    first, second = world.dispatch("wake.yml"), world.dispatch("wake.yml")

    world.cancel(second)
    world.run_ended(first, "success")

    assert statuses(world) == ["success", "cancelled"]
    assert engine_of(world).started == [first]


def test_cancel_in_progress_asks_the_holder_to_end():
    text = WAKE.replace("concurrency:\n", "concurrency:\n      cancel-in-progress: true\n")
    world = a_world(wake=text)
    first, second = world.dispatch("wake.yml"), world.dispatch("wake.yml")

    assert engine_of(world).cancelled == [(first, False)]
    assert statuses(world) == ["cancelled", "queued"]
    assert engine_of(world).started == [first, second]


def test_a_long_queue_keeps_everybody():
    world = a_world(wake=WAKE.replace("concurrency:\n", "concurrency:\n      queue: max\n"))
    runs = [world.dispatch("wake.yml") for _ in range(4)]
    for run in runs:
        world.run_ended(run, "success")
    assert engine_of(world).started == runs


def test_group_names_compare_without_case():
    world = a_world(
        a="on: {workflow_dispatch: }\nconcurrency: Shared\njobs: {a: {}}",
        b="on: {workflow_dispatch: }\nconcurrency: shared\njobs: {b: {}}",
    )
    world.dispatch("a.yml")
    assert world.run(world.dispatch("b.yml")).status == "pending"


# ---------------------------------------------------------------------- ends


def test_an_end_is_reported_once(world):
    run = work(world, "cf-1-1")
    world.run_started(run)
    world.append_log(run, "unit", "hello\n")
    world.run_ended(run, "failure")
    world.run_ended(run, "success")

    assert world.run(run).conclusion == "failure"
    job = world.run(run).jobs["unit"]
    assert (job.status, job.conclusion, job.log) == ("completed", "failure", "hello\n")
    with pytest.raises(ApiError, check=lambda error: error.status == 409):
        world.cancel(run)


def test_an_artifact_name_is_used_once(world):
    run = work(world, "cf-1-1")
    world.add_artifact(run, "report", b"PK")
    with pytest.raises(ApiError, check=lambda error: error.status == 409):
        world.add_artifact(run, "report", b"PK")


def test_workflow_run_is_silent_for_what_a_default_token_started():
    after = "on: {workflow_run: {types: [completed]}}\njobs: {a: {}}"
    world = a_world(work=WORK, after=after)
    by_token = world.dispatch("work.yml", inputs={"keys": "k"}, token=BOT)
    by_hand = world.dispatch("work.yml", inputs={"keys": "k"}, token="maintainer")

    world.run_ended(by_token, "success")
    assert world.runs("after.yml") == ()
    world.run_ended(by_hand, "success")
    assert len(world.runs("after.yml")) == 1
