"""The action's own script under the signals of GitHub's runner, all sent to the step's entry process alone.

They are SIGINT, 7.5 s, SIGTERM, 2.5 s, kill (`ProcessInvoker.cs`). The script is taken out of action.yml and started as the
runner starts `shell: bash`, with the real uv.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bot.sandbox.actions import processes
from tests.actions.conftest import ROOT

pytestmark = pytest.mark.e2e

# The runner's pauses, ten times as fast.
PAUSES = (0.75, 0.25)
PROGRAM = """\
import os, signal, sys, time
def told(number, frame):
    print(signal.Signals(number).name, flush=True)
    if signal.Signals(number).name == sys.argv[2]:
        sys.exit(7)
signal.signal(signal.SIGINT, told)
signal.signal(signal.SIGTERM, told)
print("up", os.getpid(), flush=True)
deadline = time.monotonic() + 30
while time.monotonic() < deadline:
    time.sleep(0.05)
"""


def script():
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    (text,) = [step["run"] for step in steps if step.get("id") == "run"]
    return text


def real_uv():
    """The one on the path, else the one that `make setup` installs for the project."""
    found = shutil.which("uv", path=f"{os.environ['PATH']}{os.pathsep}{ROOT / '.venv-tools/bin'}")
    assert found, "run `make setup` first"
    return found


@pytest.fixture
def step(tmp_path):
    """Starts the script for a command; the process, whose first line of output has been read, and the bot's pid."""
    project, package = tmp_path / "action", tmp_path / "package" / "bot"
    project.mkdir()
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(PROGRAM)
    (project / "pyproject.toml").write_text(
        '[project]\nname = "x"\nversion = "0"\nrequires-python = ">=3.11"\n'
    )
    environment = {
        "PATH": f"{Path(real_uv()).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "UV_OFFLINE": "1",
        "UV_PYTHON": sys.executable,
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "PYENV_VERSION": os.environ.get("PYENV_VERSION", ""),
        "PYTHONPATH": str(package.parent),
    }
    subprocess.run([real_uv(), "lock", "--quiet"], cwd=project, env=environment, check=True)
    (tmp_path / "script.sh").write_text(script())
    started = []

    def start(command, ends_at):
        told = {
            "CF_ACTION_COMMAND": command,
            "CF_ACTION_ARGS": ends_at,
            "CF_ACTION_CONFIG": "",
            "CF_ACTION_DRY_RUN": "false",
        }
        process = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(tmp_path / "script.sh")],
            env=environment | told | {"GITHUB_ACTION_PATH": str(project)},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        assert process.stdout is not None
        word, pid = process.stdout.readline().split()
        assert word == "up"
        return process, int(pid)

    yield start
    for process in started:
        processes.kill_tree(process.pid)
        process.communicate()


@pytest.mark.parametrize("command", ["work", "verify", "publish"])
def test_the_bot_hears_the_first_signal_and_decides_the_exit_code(step, command):
    process, _ = step(command, "SIGINT")

    processes.end([process.pid], PAUSES)

    assert process.wait(5) == 7
    assert process.stdout.read() == "SIGINT\n"


def test_one_that_goes_on_hears_the_second(step):
    process, _ = step("work", "SIGTERM")

    processes.end([process.pid], PAUSES)

    assert process.wait(5) == 7
    assert process.stdout.read() == "SIGINT\nSIGTERM\n"


def test_one_that_ignores_both_is_killed_with_all_below_it(step):
    process, bot = step("work", "never")

    processes.end([process.pid], PAUSES)

    assert process.wait(5) == -signal.SIGKILL
    assert process.stdout.read() == "SIGINT\nSIGTERM\n"
    assert processes.environment(bot) == {}
