"""SEC-12: an agent that looks everywhere finds no token, and what it tells the runner is not heard."""

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from bot.model.errors import UsageError
from bot.worker.programs.hide_secrets import guarding_commands, take_secrets
from tests.worker.bench import KEY

ROOT = Path(__file__).parents[3]


@pytest.mark.e2e
def test_sec_12_an_agent_that_searches_processes_files_and_git_finds_no_token(tmp_path):
    token = f"tok-{secrets.token_hex(16)}"
    environ = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    started = subprocess.run(
        [sys.executable, "-P", "-m", "tests.worker.launch", str(tmp_path), "edit", "spy"],
        cwd=ROOT,
        env={
            **environ,
            "PYTHONPATH": str(ROOT),
            "GITHUB_TOKEN": token,
            "CF_MODEL_KEY": KEY,
            "CF_STATE_KEY": token,
            "ACTIONS_RUNTIME_TOKEN": token,
            "SPARED": "the rest of the environment stays",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in started.stdout.splitlines() if line.startswith("[#1] spied ")]

    assert lines == ["[#1] spied nothing; the searcher itself works"], started.stdout + started.stderr


SEEN = """
import os, sys
from bot.worker.programs.hide_secrets import take_secrets
taken = take_secrets(os.environ)
shown = open("/proc/self/environ", "rb").read().decode()
print(taken["GITHUB_TOKEN"], "secret-a" in shown, "KEPT=yes" in shown, os.environ.get("GITHUB_TOKEN"), taken["CF_MODEL_KEY"])
"""


def test_sec_12_a_token_in_the_environment_is_blotted_out(tmp_path):
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "KEPT": "yes",
        "CF_MODEL_KEY": "secret-ab",
    }
    done = subprocess.run(
        [sys.executable, "-c", SEEN],
        env={**environ, "GITHUB_TOKEN": "secret-a"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split() == ["secret-a", "False", "True", "None", "secret-ab"]


def test_sec_12_a_token_that_comes_through_a_pipe_is_read_once(monkeypatch):
    monkeypatch.setattr("bot.worker.programs.hide_secrets._blot", lambda: None)
    monkeypatch.setattr("ctypes.CDLL", lambda name: None)
    source, sink = os.pipe()
    os.write(sink, b"tok-1")  # noqa: TID251 - a pipe of our own
    os.close(sink)

    taken = take_secrets({"CF_TOKEN_FD": str(source), "HOME": "/h"})

    assert taken == {"GITHUB_TOKEN": "tok-1", "HOME": "/h"}
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(source)


def test_what_a_program_writes_to_the_runners_command_files_is_undone(tmp_path):
    folder = tmp_path / "_runner_file_commands"
    folder.mkdir()
    names = ("set_env_1", "set_env_of_the_step_around", "add_path_1", "output_1", "state_1")
    for name in names:
        (folder / name).write_text("ours\n")
    (tmp_path / "elsewhere").write_text("not ours")
    environ = {
        "GITHUB_ENV": str(folder / "set_env_1"),
        "GITHUB_OUTPUT": str(folder / "output_1"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }

    with guarding_commands(environ):
        with (folder / "set_env_1").open("a") as file:
            file.write("LD_PRELOAD=/evil.so\n")
        (folder / "set_env_of_the_step_around").unlink()
        (folder / "add_path_1").unlink()
        (folder / "add_path_1").symlink_to(tmp_path / "elsewhere")
        (folder / "output_1").unlink()
        (folder / "output_1").mkdir()
        (tmp_path / "summary").write_text("# trust me")

    assert [(folder / name).read_text() for name in names] == ["ours\n"] * len(names)
    assert not (tmp_path / "summary").exists()
    assert (tmp_path / "elsewhere").read_text() == "not ours"


@pytest.mark.parametrize("pipe", ["x", "99999"])
def test_a_pipe_that_is_none_is_named(pipe):
    with pytest.raises(UsageError, match="CF_TOKEN_FD must name an open pipe"):
        take_secrets({"CF_TOKEN_FD": pipe})
