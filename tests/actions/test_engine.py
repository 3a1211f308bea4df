"""Runs as the world and its API see them, executed by act."""

import os
import threading
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

HEAD = "on: {workflow_dispatch: {inputs: {units: {default: '[]'}}}}\nname: W\n"
CALLER = (
    HEAD
    + """
jobs:
  unit:
    name: ${{ matrix.unit.name }}
    strategy: {fail-fast: false, matrix: {unit: "${{ fromJSON(inputs.units) }}"}}
    uses: ./.github/workflows/task.yml
    with: {unit: "${{ toJSON(matrix.unit) }}"}
"""
)
TASK = """
name: task
on: {workflow_call: {inputs: {unit: {type: string, required: true}}}}
jobs:
  agent:
    if: fromJSON(inputs.unit).kind != 'publish'
    runs-on: ubuntu-latest
    steps: [{run: 'true'}]
  verify:
    name: verify (${{ matrix.leg.name }})
    needs: agent
    if: join(fromJSON(inputs.unit).verify.*.name, '') != ''
    strategy: {matrix: {leg: "${{ fromJSON(inputs.unit).verify }}"}}
    runs-on: ubuntu-latest
    steps: [{run: 'true'}]
  publish:
    needs: [agent, verify]
    if: always()
    runs-on: ubuntu-latest
    steps: [{run: 'echo "agent: ${{ needs.agent.result }}, verify: ${{ needs.verify.result }}"'}]
"""


def results(run):
    return {job.name: job.conclusion for job in run.jobs.values()}


class Seen:
    """Lets a test wait until a run has written this line to its log."""

    def __init__(self, world, word):
        self.happened = threading.Event()
        self.append = world.append_log
        self.word = word
        world.append_log = self.hear

    def hear(self, run_id, job, text):
        self.append(run_id, job, text)
        if self.word in text.splitlines():
            self.happened.set()


def test_a_run_has_jobs_with_steps_times_and_log(lab):
    run = lab(
        HEAD
        + """
jobs:
  one:
    name: first
    runs-on: ubuntu-latest
    steps:
      - name: Speak
        run: echo hello
      - run: exit 3
      - name: Never
        run: echo never
  two:
    needs: one
    runs-on: ubuntu-latest
    steps: [{run: 'true'}]
"""
    ).run()

    assert (run.status, run.conclusion) == ("completed", "failure")
    assert results(run) == {"first": "failure", "two": "skipped"}
    job = run.jobs["first"]
    assert job.started_at is not None
    assert job.completed_at is not None
    assert job.steps[:2] == (("Speak", "completed", "success"), ("exit 3", "completed", "failure"))
    assert "hello\n" in job.log
    assert "never\n" not in job.log


def test_the_jobs_of_a_called_workflow_are_named_after_the_leg(lab):
    units = (
        '[{"name": "#12", "kind": "code", "verify": [{"name": "a"}, {"name": "b-1"}]},'
        ' {"name": "#13-4", "kind": "code", "verify": []}, {"name": "#14", "kind": "publish", "verify": []}]'
    )
    run = lab({".github/workflows/w.yml": CALLER, ".github/workflows/task.yml": TASK}).run(
        inputs={"units": units}
    )

    assert run.conclusion == "success"
    assert results(run) == {
        "#12 / agent": "success",
        "#12 / verify (a)": "success",
        "#12 / verify (b-1)": "success",
        "#12 / publish": "success",
        "#13-4 / agent": "success",
        "#13-4 / verify": "skipped",
        "#13-4 / publish": "success",
        "#14 / agent": "skipped",
        "#14 / verify": "skipped",
        "#14 / publish": "success",
    }
    assert "agent: skipped, verify: skipped" in run.jobs["#14 / publish"].log


def test_a_single_leg_is_named_alike(lab):
    units = '[{"name": "#12-3", "kind": "code", "verify": []}]'
    run = lab({".github/workflows/w.yml": CALLER, ".github/workflows/task.yml": TASK}).run(
        inputs={"units": units}
    )

    assert results(run) == {
        "#12-3 / agent": "success",
        "#12-3 / verify": "skipped",
        "#12-3 / publish": "success",
    }


def test_steps_see_the_run_and_nothing_of_this_machine(lab, monkeypatch):
    monkeypatch.setenv("MY_OWN_SECRET", "hunter2")
    here = lab(
        HEAD
        + """
jobs:
  one:
    runs-on: ubuntu-latest
    env: {TOKEN: "${{ github.token }}", KEY: "${{ secrets.KEY }}", VAR: "${{ vars.COLOUR }}", SHA: "${{ github.sha }}"}
    steps:
      - run: |
          echo "$GITHUB_REPOSITORY $GITHUB_RUN_ID $GITHUB_RUN_ATTEMPT $GITHUB_ACTOR $GITHUB_REF_NAME $VAR"
          [ "$SHA" = "$GITHUB_SHA" ] && echo "sha $SHA"
          echo "lengths ${#TOKEN} ${#KEY}"
          echo "leak: ${MY_OWN_SECRET:-none}"
          [ "$HOME" != "${{ inputs.units }}" ] && ls -A "$HOME" | wc -l
""",
        secrets={"KEY": 'a"b $c\nd'},
    )
    here.world.actions.variables["COLOUR"] = "green"
    run = here.run(inputs={"units": os.environ["HOME"]})

    log = run.jobs["one"].log
    assert f"acme/shop {run.id} 1 maintainer main green" in log
    assert f"sha {run.head_sha}" in log
    assert f"lengths {len(run.token.value)} 8" in log
    assert "leak: none" in log
    assert run.conclusion == "success"


def test_a_cancelled_run_lets_the_step_and_what_is_always_finish(lab):
    here = lab(
        HEAD
        + """
jobs:
  one:
    runs-on: ubuntu-latest
    steps:
      - run: |
          exec python3 -u -c "
          import signal, sys, time
          signal.signal(signal.SIGINT, lambda *_: (print('told to end'), sys.exit(4)))
          print('working')
          time.sleep(60)"
      - run: echo unreached
      - if: always()
        run: echo tidied
  two:
    needs: one
    runs-on: ubuntu-latest
    steps: [{run: 'true'}]
  last:
    needs: [one, two]
    if: always()
    runs-on: ubuntu-latest
    steps: [{run: echo reported}]
"""
    )
    seen = Seen(here.world, "working")
    run = here.start()
    assert seen.happened.wait(30)
    here.world.cancel(run.id)
    assert here.engine.wait_idle(30)

    assert run.conclusion == "cancelled"
    assert results(run) == {"one": "cancelled", "two": "cancelled", "last": "success"}
    log = run.jobs["one"].log
    assert "told to end" in log
    assert "tidied\n" in log
    assert "unreached\n" not in log
    assert "reported\n" in run.jobs["last"].log


def test_a_step_that_ignores_signals_is_killed_with_all_below_it(lab, tmp_path):
    pids = tmp_path / "pids"
    here = lab(
        HEAD
        + f"""
jobs:
  one:
    runs-on: ubuntu-latest
    steps:
      - run: |
          trap '' INT TERM
          setsid sleep 300 &
          echo $! $$ > {pids}
          echo working
          wait
"""
    )
    seen = Seen(here.world, "working")
    run = here.start()
    assert seen.happened.wait(30)
    here.world.cancel(run.id)
    assert here.engine.wait_idle(30)

    assert results(run) == {"one": "cancelled"}
    assert not any(alive(int(pid)) for pid in pids.read_text().split())


def test_a_forced_cancel_waits_for_nothing(lab, tmp_path):
    here = lab(
        HEAD
        + """
jobs:
  one:
    runs-on: ubuntu-latest
    steps:
      - run: trap '' INT TERM; echo working; sleep 300
      - if: always()
        run: echo tidied
  last:
    needs: one
    if: always()
    runs-on: ubuntu-latest
    steps: [{run: echo reported}]
"""
    )
    seen = Seen(here.world, "working")
    run = here.start()
    assert seen.happened.wait(30)
    here.world.cancel(run.id, force=True)
    assert here.engine.wait_idle(30)

    assert run.conclusion == "cancelled"
    assert results(run) == {"one": "cancelled", "last": "cancelled"}
    assert "tidied\n" not in run.jobs["one"].log


def test_a_run_cancelled_before_it_began_never_begins(lab):
    here = lab(HEAD + "\njobs: {one: {runs-on: ubuntu-latest, steps: [{run: 'sleep 1'}]}}\n", max_runs=1)
    first, second = here.start(), here.start()
    here.world.cancel(second.id)
    assert here.engine.wait_idle(30)

    assert (first.conclusion, second.conclusion) == ("success", "cancelled")
    assert second.jobs == {}


def test_a_job_that_is_out_of_time_is_cancelled_and_its_always_steps_run(lab):
    run = lab(
        HEAD
        + """
jobs:
  one:
    runs-on: ubuntu-latest
    timeout-minutes: ${{ fromJSON(inputs.units)[0] }}
    steps:
      - run: sleep 60
      - if: always()
        run: echo tidied
""",
        minute=0.2,
    ).run(inputs={"units": "[2]"})

    assert run.conclusion == "cancelled"
    assert results(run) == {"one": "cancelled"}
    assert "exceeded the maximum execution time of 2 minutes" in run.jobs["one"].log
    assert "tidied\n" in run.jobs["one"].log


def test_what_cannot_begin_is_a_startup_failure(lab):
    run = lab(HEAD + "\njobs: {one: {runs-on: ubuntu-latest, steps: [{uses: somebody/unknown@v1}]}}\n").run()

    assert run.status == "completed"
    assert run.conclusion in ("failure", "startup_failure")


def test_runs_go_on_side_by_side_up_to_the_bound(lab, tmp_path):
    """Each waits for the other: with one at a time neither would end."""
    here = lab(
        HEAD
        + f"""
jobs:
  one:
    runs-on: ubuntu-latest
    timeout-minutes: 1
    steps: [{{run: 'touch {tmp_path}/$GITHUB_RUN_ID; while [ $(ls {tmp_path} | grep -c ^9) -lt 2 ]; do sleep 0.05; done'}}]
""",
        max_runs=2,
    )
    runs = [here.start(), here.start()]
    assert here.engine.wait_idle(40)

    assert [run.conclusion for run in runs] == ["success", "success"]


def test_a_machine_that_is_not_there_fails_the_job_loudly(lab):
    run = lab(HEAD + "\njobs: {one: {runs-on: windows-latest, steps: [{run: 'true'}]}}\n").run()

    assert results(run) == {"one": "failure"}
    assert "Skipping unsupported platform" in run.jobs["one"].log


def test_closing_ends_every_process(lab, tmp_path):
    here = lab(
        HEAD
        + f"""
jobs:
  one:
    runs-on: ubuntu-latest
    steps: [{{run: 'echo $$ > {tmp_path}/pid; echo up; setsid sleep 300'}}]
"""
    )
    seen = Seen(here.world, "up")
    run = here.start()
    assert seen.happened.wait(30)
    here.engine.close()

    assert run.conclusion == "cancelled"
    assert not alive(int((tmp_path / "pid").read_text()))


def alive(pid):
    """Whether the process is there and is no mere entry that waits for its parent; an end may take a moment to show."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        if state == "Z":
            return False
    return True
