"""The command line of `cf sandbox`: what is wrong with it, or what the machine lacks, is said before anything is started."""

import shutil
import socket
import subprocess
import sys

import pytest

from bot.cli import main

WRONG = [
    (
        [],
        "cf: nothing to do: say `cf sandbox demo`, or give --repo, --issues and --run or --engine; see `cf sandbox --help`",
    ),
    (
        ["--repo", "."],
        "cf: --issues is missing: a repository of your own needs --repo, --issues and --run or --engine",
    ),
    (
        ["--repo", ".", "--issues", "x"],
        "cf: --run is missing: a repository of your own needs --repo, --issues and --run or --engine",
    ),
    (["--repo", ".", "--issues", "x", "--run", " "], "cf: --run: must be a command line, found an empty one"),
    (
        ["--repo", ".", "--issues", "/no/such.yml", "--run", "true"],
        "cf: /no/such.yml: cannot be read: No such file or directory",
    ),
    (["demo", "--repo", "."], "cf: --repo: is for a repository of your own; leave out either it or `demo`"),
    (["demo", "--gate", "a=b"], "cf: --gate: is for a repository of your own; leave out either it or `demo`"),
    (
        ["demo", "--timeout", "5"],
        "cf: --timeout: '5' has no unit; write a duration with units, such as 90s, 30m, 1h30m or 2d",
    ),
    (["demo", "--timeout", "0"], "cf: --timeout: must be longer than 0"),
    (["demo", "--port", "70000"], "cf: --port: must be from 0 to 65535, found 70000"),
    (["demo", "--max-parallel", "0"], "cf: --max-parallel: must be from 1 to 64, found 0"),
]


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_a_wrong_one_is_refused(words, message, capsys):
    assert main(["sandbox", *words]) == 2
    assert capsys.readouterr().err.strip() == message


@pytest.mark.parametrize("gate", ["tests", "=make test", "tests=", " = "])
def test_a_gate_needs_a_name_and_a_command(gate, tmp_path, capsys):
    issues = tmp_path / "issues.yml"
    issues.write_text("- title: x\n")
    words = ["sandbox", "--repo", ".", "--issues", str(issues), "--run", "true", "--gate", gate]
    assert main(words) == 2
    assert (
        capsys.readouterr().err.strip()
        == f"cf: --gate: must be NAME=COMMAND, such as 'tests=make test', found {gate!r}"
    )


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        (
            "claude-code",
            "cf: the engine claude-code needs its key: set ANTHROPIC_API_KEY in your environment",
        ),
        ("aider", "cf: the engine aider needs a model: set engines.aider.model in .github/cf.yml"),
    ],
)
def test_an_agent_that_lacks_key_or_model_is_refused_at_once(engine, message, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    issues, repo = tmp_path / "issues.yml", tmp_path / "repo"
    issues.write_text("- title: x\n")
    repo.mkdir()
    for words in (["init"], ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "--allow-empty", "-mx"]):
        subprocess.run(["git", *words], cwd=repo, check=True, capture_output=True)
    assert main(["sandbox", "--repo", str(repo), "--issues", str(issues), "--engine", engine]) == 2
    assert capsys.readouterr().err.startswith(message)


def test_a_bad_issues_file_ends_it_with_file_and_line(tmp_path, capsys):
    issues = tmp_path / "issues.yml"
    issues.write_text("- title: x\n  need: [1]\n")
    assert main(["sandbox", "--repo", str(tmp_path), "--issues", str(issues), "--run", "true"]) == 2
    assert (
        capsys.readouterr().err.strip()
        == f"cf: {issues}, line 2: unknown key 'issue 1.need'; did you mean 'needs'?"
    )


def test_the_help_shows_the_format_of_the_issues_file(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["sandbox", "--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    for key in ("title:", "needs:", "blocked_by:", "answer:", "close_after:", "cf sandbox demo"):
        assert key in told


@pytest.mark.parametrize("package", ["rich", "starlette", "uvicorn", "graphql"])
def test_a_missing_extra_is_named(package, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["sandbox", "demo"]) == 2
    told = capsys.readouterr().err.strip()
    assert told == f"cf: the sandbox needs {package}: install it with `pip install 'cf-conductor[sandbox]'`"


def test_another_system_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert main(["sandbox", "demo"]) == 2
    assert "the sandbox needs Linux" in capsys.readouterr().err


def test_a_missing_git_is_named(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main(["sandbox", "demo"]) == 2
    assert capsys.readouterr().err.strip() == "cf: the sandbox needs git, and there is none on the PATH"


@pytest.mark.e2e
def test_a_port_that_is_taken_is_named(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["sandbox", "demo", "--port", str(port)]) == 2
    assert capsys.readouterr().err.strip() == f"cf: --port {port}: cannot be used: Address already in use"
