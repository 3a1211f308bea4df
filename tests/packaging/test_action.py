"""The action's one script, run as a runner would run it, with a stand-in for `uv` that says how it was started."""

import json
import os
import subprocess

import pytest

from tests.packaging.rules import ACTION, parse

pytestmark = pytest.mark.packaging

STAND_IN = """#!/usr/bin/env python3
import json, os, sys
seen = {"pid": os.getpid(), "arguments": sys.argv[1:], "environment": sorted(os.environ)}
with open(os.environ["SEEN"], "w") as out:
    json.dump(seen, out)
sys.exit(int(os.environ["EXIT"]))
"""


def the_script():
    (script,) = [
        step["run"]
        for _, step in parse("action.yml", ACTION.read_text(encoding="utf-8")).steps()
        if "-m bot" in step.get("run", "")
    ]
    return script


@pytest.fixture
def start(tmp_path):
    """Runs the script; gives back exit code, output and what the stand-in saw (None if it was not started)."""
    binary = tmp_path / "bin" / "uv"
    binary.parent.mkdir()
    binary.write_text(STAND_IN, encoding="utf-8")
    binary.chmod(0o755)
    script = tmp_path / "script.sh"
    script.write_text(the_script(), encoding="utf-8")
    seen = tmp_path / "seen.json"

    def start(command, args="", config="", dry_run="false", exit_code=0, app=""):
        process = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script],
            cwd=tmp_path,
            env={
                "PATH": f"{binary.parent}{os.pathsep}{os.environ['PATH']}",
                "GITHUB_ACTION_PATH": "/action",
                "GITHUB_OUTPUT": str(tmp_path / "output"),
                "CF_ACTION_COMMAND": command,
                "CF_ACTION_ARGS": args,
                "CF_ACTION_CONFIG": config,
                "CF_ACTION_DRY_RUN": dry_run,
                "CF_APP_ID": app,
                "GITHUB_TOKEN": "the-token",
                "CF_APP_PRIVATE_KEY": app and "the key",
                "SEEN": str(seen),
                "EXIT": str(exit_code),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        output, _ = process.communicate(timeout=30)
        told = json.loads(seen.read_text(encoding="utf-8")) if seen.exists() else None
        return process, output, told

    return start


@pytest.mark.parametrize("command", ["work", "verify", "publish"])
def test_what_must_see_a_cancellation_becomes_the_steps_own_process(command, start):
    """The runner signals the entry process alone: a shell that waits for its child would swallow a cancel."""
    process, _, told = start(command)

    assert told["pid"] == process.pid


@pytest.mark.parametrize("command", ["conduct", "work", "verify", "publish", "wake", "batch"])
def test_each_command_is_started_from_the_lock_and_not_from_the_work_tree(command, start):
    process, _, told = start(command)

    assert process.returncode == 0
    assert told["arguments"][:2] == ["run", "--frozen"]
    assert told["arguments"][told["arguments"].index("--project") + 1] == "/action"
    assert told["arguments"][-5:] == ["python", "-P", "-m", "bot", command]


@pytest.mark.parametrize("command", ["", "init", "conduct; touch pwned", "$(touch pwned)"])
def test_any_other_command_is_refused(command, start, tmp_path):
    process, output, told = start(command)

    assert process.returncode == 2
    assert "::error" in output
    assert told is None
    assert not (tmp_path / "pwned").exists()


def test_arguments_stay_words(start, tmp_path):
    """Nothing in them is expanded, run or quoted."""
    _, _, told = start("conduct", args='--a $(touch pwned)\n`touch pwned` * "x y" ; touch pwned')

    after = told["arguments"][told["arguments"].index("conduct") + 1 :]
    assert after == ["--a", "$(touch", "pwned)", "`touch", "pwned`", "*", '"x', 'y"', ";", "touch", "pwned"]
    assert not (tmp_path / "pwned").exists()


def test_configuration_and_dry_run_are_handed_on(start):
    _, _, told = start("conduct", config="a b.yml", dry_run="true")

    assert told["arguments"][-3:] == ["--config", "a b.yml", "--dry-run"]


@pytest.mark.parametrize("command", ["conduct", "publish", "wake", "batch"])
def test_an_apps_key_comes_with_what_signs_by_it(command, start):
    _, _, told = start(command, app="Iv23.abc")

    assert told["arguments"][:5] == ["run", "--frozen", "--no-dev", "--extra", "app"]
    assert {"CF_APP_ID", "CF_APP_PRIVATE_KEY"} <= set(told["environment"])


@pytest.mark.parametrize("command", ["work", "verify"])
def test_sec_02_an_apps_key_never_reaches_what_runs_an_agent_or_its_change(command, start):
    _, _, told = start(command, app="Iv23.abc")

    assert "--extra" not in told["arguments"]
    assert not {"CF_APP_ID", "CF_APP_PRIVATE_KEY", "GITHUB_TOKEN"} & set(told["environment"])
    assert "CF_TOKEN_FD" in told["environment"]


def test_the_inputs_do_not_reach_the_bots_environment(start):
    _, _, told = start("work")

    assert not [name for name in told["environment"] if name.startswith("CF_ACTION_")]


@pytest.mark.parametrize(("exit_code", "becomes"), [(0, 0), (1, 1), (2, 2), (75, 0)])
def test_come_back_later_ends_a_tick_neutral(exit_code, becomes, start):
    process, output, _ = start("conduct", exit_code=exit_code)

    assert process.returncode == becomes
    assert ("::notice" in output) == (exit_code == 75)
