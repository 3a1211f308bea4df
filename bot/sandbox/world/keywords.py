"""Which issues a text closes: GitHub's closing keywords in pull request bodies and commit messages.

Source: docs.github.com, "Linking a pull request to an issue": close, closes, closed, fix, fixes, fixed, resolve, resolves,
resolved, with an optional colon, one keyword per issue. That code and HTML comments are inert is our assumption.
"""

import re
from functools import lru_cache

_INERT = re.compile(r"<!--.*?-->|```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_CLOSES = re.compile(
    r"(?<![\w-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+"
    r"(?:https?://[^\s/]+/(?P<url>[\w.-]+/[\w.-]+)/issues/(?P<n1>\d+)|(?P<repo>[\w.-]+/[\w.-]+)?#(?P<n2>\d+))(?!\w)",
    re.IGNORECASE,
)


@lru_cache(maxsize=1_000)  # each issue asks about every pull request
def closed_by(text: str, repository: str) -> tuple[int, ...]:
    """The numbers of this repository's issues that the text closes, in order, each once."""
    numbers: dict[int, None] = {}
    for match in _CLOSES.finditer(_INERT.sub(" ", text)):
        named = match["url"] or match["repo"] or repository
        if named.lower() == repository.lower():
            numbers[int(match["n1"] or match["n2"])] = None
    return tuple(numbers)
