"""Path patterns of the configuration: `.github/workflows/**` from the root, `AGENTS.md` (no slash) at any depth."""

import re
from collections.abc import Iterable
from functools import lru_cache

# What coding agents and shells read as instructions or settings. A branch must not be able to set up its own reader.
AGENT_SETTINGS = (
    ".claude/**",
    ".mcp.json",
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    ".envrc",
    ".aider.conf.yml",
    ".agents/**",
    ".codex/**",
    ".cursor/**",
    ".cursorrules",
    ".gemini/**",
    ".opencode/**",
    "opencode.json",
    "opencode.jsonc",
    ".github/copilot-instructions.md",
    ".github/instructions/**",
    ".github/agents/**",
    ".vscode/**",
)


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path of the repository is one that the patterns name, or a link in its place would lead away from one.

    Case is ignored, as some file systems do.
    """
    below = f"{path}/".casefold()
    return any(
        _compiled(pattern).fullmatch(path) or pattern.lstrip("/").casefold().startswith(below)
        for pattern in patterns
    )


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> "re.Pattern[str]":
    anchored = pattern.lstrip("/")
    start = "" if "/" in pattern.rstrip("/") else "(?:.*/)?"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", anchored)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(known.get(part, re.escape(part)) for part in parts)
    return re.compile(start + body, re.IGNORECASE | re.DOTALL)
