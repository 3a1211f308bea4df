"""Small readers and writers: questions, patterns, artifacts."""

import os
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from bot.model.config import Config, Publish
from bot.model.errors import UsageError
from bot.model.report import GateResult, GateStatus, Outcome, Question, Report
from bot.notation.codec import Unreadable
from bot.worker.agent.ownfiles import read_foreign
from bot.worker.agent.question import read_question
from bot.worker.change.judge import limits_of
from bot.worker.change.patterns import AGENT_SETTINGS, matches
from bot.worker.engines import engine
from bot.worker.job.artifact import WorkGone, find_report, save_report, unpack
from bot.worker.programs.environment import gate_environment
from bot.worker.programs.gates import all_passed

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Which one?\n\nA. red\nB. blue\n", Question("Which one?", ("red", "blue"))),
        (
            "# Question\nWhich?\n- A) red\n- **B:** blue\n## What I tried\nboth\n",
            Question("Which?", ("red", "blue"), "both"),
        ),
        ("Just a question", Question("Just a question")),
        ("A. only one option", Question("only one option")),
        ("Which?\nA. red\nC. green", Question("Which?\nC. green\nred")),
        ("a. red\nb. blue\nTried: red", Question("Which of these?", ("red", "blue"), "red")),
        ("  \n", None),
        ("<!-- nothing -->\n\u200b", None),
    ],
)
def test_questions(text, question):
    assert read_question(text) == question


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        (".github/workflows/ci.yml", ".github/workflows/**", True),
        (".github/workflows/a/b.yml", ".github/workflows/**", True),
        ("x/.github/workflows/ci.yml", ".github/workflows/**", False),
        (".GITHUB/Workflows/ci.yml", ".github/workflows/**", True),
        ("AGENTS.md", "AGENTS.md", True),
        ("deep/down/agents.md", "AGENTS.md", True),
        ("MYAGENTS.md", "AGENTS.md", False),
        ("a/b/c.py", "a/*/c.py", True),
        ("a/b/x/c.py", "a/*/c.py", False),
        ("a/c.py", "a/**/c.py", True),
        ("a+b.py", "a+b.py", True),
    ],
)
def test_patterns(path, pattern, expected):
    assert matches(path, [pattern]) is expected


def test_agent_settings_are_known():
    for path in (
        ".claude/settings.json",
        ".mcp.json",
        "AGENTS.md",
        "sub/CLAUDE.md",
        ".envrc",
        ".cursor/rules/x.mdc",
    ):
        assert matches(path, AGENT_SETTINGS)
    assert not matches("src/agents.py", AGENT_SETTINGS)


@pytest.mark.parametrize("path", [".claude", ".CLAUDE", ".github"])
def test_a_link_in_the_place_of_a_protected_folder_is_protected(path):
    assert matches(path, [".claude/**", "/.github/workflows/**"])
    assert not matches(f"{path}x", [".claude/**", "/.github/workflows/**"])


def test_an_agent_never_changes_what_it_may_do():
    nothing = Config(publish=Publish(protected=()))
    assert matches(".github/cf.yml", limits_of(nothing).protected)
    unreviewed = limits_of(replace(nothing, merge="auto")).protected
    for path in (".github/actions/build/action.yml", ".github/CODEOWNERS", "GEMINI.md", ".vscode/tasks.json"):
        assert matches(path, unreviewed)
        assert not matches(path, limits_of(nothing).protected)


def test_lock_files_need_a_person_where_nobody_reviews():
    assert "uv.lock" not in limits_of(Config()).protected
    assert {"uv.lock", "package-lock.json"} <= set(limits_of(Config(merge="auto")).protected)


def test_no_gate_is_no_proof():
    assert not all_passed(())
    assert not all_passed((GateResult("a", GateStatus.PASSED), GateResult("b", GateStatus.SKIPPED)))
    assert all_passed((GateResult("a", GateStatus.PASSED),))


@pytest.mark.parametrize(
    ("name", "words"), [("react", "mini-swe-agent"), ("cloud", "runner"), ("nope", "must be one of aider")]
)
def test_engines_that_are_not_here(name, words):
    with pytest.raises(UsageError, match=words):
        engine(name)


def test_gates_keep_the_machines_variables_but_nothing_secret():
    environ = {
        "JAVA_HOME": "/java",
        "PATH": "/bin",
        "GITHUB_TOKEN": "x",
        "NPM_TOKEN": "x",
        "GIT_DIR": "x",
        "MY_API_KEY": "x",
    }

    assert gate_environment(environ) == {"JAVA_HOME": "/java", "PATH": "/bin", "CI": "true"}


def test_files_an_agent_leaves_are_read_only_if_they_are_files(tmp_path):
    folder = tmp_path / ".cf"
    folder.mkdir()
    (folder / "plain").write_bytes(b"ok \xff")
    (folder / "link").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe")
    (tmp_path / "alias").symlink_to(folder)

    found = [read_foreign(folder / name) for name in ("plain", "link", "pipe", "none")]

    assert found == ["ok \ufffd", "", "", ""]
    assert read_foreign(tmp_path / "alias" / "plain") == ""


def test_reports_are_found_wherever_the_download_put_them(tmp_path):
    report = Report("cf-12-1", 12, Outcome.BLOCKED)
    save_report(tmp_path / "cf-work-cf-12-1", report)

    assert find_report(tmp_path, "cf-12-1") == report
    assert find_report(tmp_path / "cf-work-cf-12-1", "cf-12-1") == report
    assert find_report(tmp_path, "cf-12-2") is None
    with pytest.raises(Unreadable, match="is about 'cf-12-1'"):
        find_report(tmp_path / "cf-work-cf-12-1", "cf-12-2")


def test_an_archive_that_is_none_is_gone(tmp_path):
    with pytest.raises(WorkGone, match="not a readable archive"):
        unpack(b"no zip", tmp_path)
