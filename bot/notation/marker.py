"""Hidden JSON in our own comments and issues: `<!-- cf:NAME 1 {...} -->`.

Anybody can type a marker, so callers must look only into texts whose author is one of our accounts. Text of others that we
print goes through `defuse`, after which it can form no marker.
"""

import re

_MARKER = re.compile(r"<!-- cf:([a-z-]{1,20}) 1 (\{[^\n]*\}) -->")


def write_marker(name: str, payload: str) -> str:
    """Wrap JSON so that nothing inside it can end the HTML comment or be mistaken for Markdown."""
    safe = (
        payload.replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("--", "-\\u002d")
        .replace("@", "\\u0040")
    )
    return f"<!-- cf:{name} 1 {safe} -->"


def read_marker(name: str, text: str) -> str | None:
    """The JSON of the last marker of this name, or None. The caller has checked the text's author."""
    found = [payload for kind, payload in _MARKER.findall(text) if kind == name]
    return found[-1] if found else None


def defuse(text: str) -> str:
    """Foreign text that can neither form a marker nor hide what follows it."""
    return text.replace("<!--", "&lt;!--").replace("-->", "--&gt;")
