"""Which paths a pattern means."""

import pytest

from bot.worker.change.patterns import AGENT_SETTINGS, matches


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
