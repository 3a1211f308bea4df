"""The command line: help that teaches, exit codes, errors in plain words, and commands against a served world."""

import json
import os
import subprocess
import sys

import pytest

from bot.cli import COMMANDS, main
from bot.sandbox.http.server import serve
from tests.conductor.story import Story


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_says_what_it_is_for(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: cf {name}")


def test_help_lists_every_command_and_the_exit_codes(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    told = capsys.readouterr().out
    assert all(f"\n    {name} " in told for name in COMMANDS)
    assert "75 try later" in told


def test_no_command_is_usage(capsys):
    assert main([]) == 2
    assert "usage: cf" in capsys.readouterr().out


def test_an_unknown_command_is_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["condukt"])
    assert ended.value.code == 2
    assert "conduct" in capsys.readouterr().err


@pytest.mark.parametrize("days", ["0", "-1", "99999999999"])
def test_days_that_are_none_are_refused_before_anything_is_asked(capsys, days):
    assert main(["stats", "--days", days]) == 2
    assert capsys.readouterr().err.startswith("cf: --days: must be from 1 to 36500, found")


def test_a_missing_token_is_named(monkeypatch, capsys):
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    assert main(["conduct"]) == 2
    assert capsys.readouterr().err.startswith("cf: GITHUB_TOKEN is not set")


def test_a_bad_configuration_is_named_with_file_line_and_mend(tmp_path, capsys):
    path = tmp_path / "cf.yml"
    path.write_text("version: 1\nmax_paralel: 3\n", encoding="utf-8")
    assert main(["validate", str(path)]) == 2
    told = capsys.readouterr().err
    assert "line 2" in told
    assert "did you mean 'max_parallel'?" in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("engine: claude-code\n", ""),
        ("engine: command\nengines: {command: {args: ./agent.sh}}\n", ""),
        ("engine: command\n", "but nothing would start: no agent is configured: set engines.command.args"),
        ("version: 1\n", "but nothing would start: the engine mini-swe-agent needs a model"),
    ],
)
def test_what_a_valid_configuration_lacks_before_an_agent_can_start_is_said(tmp_path, capsys, text, said):
    path = tmp_path / "cf.yml"
    path.write_text(text, encoding="utf-8")
    assert main(["validate", str(path)]) == 0
    _, *more = capsys.readouterr().out.splitlines()
    assert len(more) == bool(said)
    assert all(line.startswith(said) for line in more)


def test_an_error_names_the_file_that_was_checked(tmp_path, capsys):
    path = tmp_path / "other.yml"
    path.write_text("version: 2\n", encoding="utf-8")
    assert main(["validate", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"cf: {path}, line 1: version")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "cf: interrupted\n"),
        (OSError(28, "No space left on device"), 1, "cf: this machine refuses: [Errno 28] No space left"),
    ],
)
def test_what_ends_a_command_from_outside_is_a_sentence(monkeypatch, capsys, error, code, words):
    monkeypatch.setattr("bot.console.validate.run", lambda *_: (_ for _ in ()).throw(error))
    assert main(["validate"]) == code
    assert capsys.readouterr().err.startswith(words)


def test_a_reader_who_has_had_enough_is_no_trouble():
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-P", "-m", "bot", "validate", "--schema"]
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.fixture
def served(monkeypatch):
    """A story whose world is served on loopback, and the environment that a job would have."""
    story = Story()
    with serve(story.world) as place:
        monkeypatch.setenv("GITHUB_TOKEN", story.world.token("github-actions[bot]").value)
        monkeypatch.setenv("GITHUB_REPOSITORY", story.world.repository)
        monkeypatch.setenv("GITHUB_API_URL", place.api)
        monkeypatch.setenv("GITHUB_GRAPHQL_URL", place.graphql)
        yield story


@pytest.mark.e2e
def test_plan_and_why_read_and_conduct_acts(served, capsys, monkeypatch, tmp_path):
    task = served.ready(title="Do it")
    assert main(["plan", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["reason"] == f"starts as cf-{task}-1"
    assert main(["why", str(task)]) == 0
    assert f"because: starts as cf-{task}-1" in capsys.readouterr().out
    assert main(["conduct", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "would have started cf-worker.yml on main with units=" in told
    assert "would would" not in told
    assert served.starts() == []

    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    assert main(["conduct", "--no-linger"]) == 0
    assert served.starts() == [f"cf-{task}-1"]
    assert "can_start<<" in (tmp_path / "outputs").read_text(encoding="utf-8")
    assert "1 started" in (tmp_path / "summary").read_text(encoding="utf-8")


@pytest.mark.e2e
def test_why_of_no_task_is_usage(served, capsys):
    assert main(["why", "999"]) == 2
    assert "#999 is no task" in capsys.readouterr().err
