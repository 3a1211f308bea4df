"""Which local folder stands for which action: act fetches nothing from the network."""

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from bot.sandbox.actions.workspace import OWN, REPLACED, STANDINS

_USES = re.compile(
    r"^[ \t]*(?:-[ \t]+)?uses:[ \t]*['\"]?(?P<action>[\w.-]+/[\w.-]+)(?P<path>(?:/[\w.-]+)*)@(?P<ref>[^\s'\"#]+)",
    re.MULTILINE,
)
# What the action needs of its own repository. act copies the whole folder for each use, so it is small.
_SHIPPED = ("action.yml", "pyproject.toml", "uv.lock")


def shipped_action(root: Path, folder: Path) -> Path:
    """A folder with our action as a repository would fetch it, without the package: the stand-in for uv runs the installed one."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _SHIPPED:
        if (root / name).is_file():
            shutil.copyfile(root / name, folder / name)
    return folder


def replacements(checkout: Path, own: Path) -> Iterator[str]:
    """`--local-repository` values for all that the workflows of a checkout and our action use, whatever version they pin."""
    files = [*sorted((checkout / ".github/workflows").glob("*.y*ml")), own / "action.yml"]
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file()]
    for action, ref in sorted(set(_used(texts))):
        if action == OWN:
            yield f"{action}@{ref}={own}"
        elif action in REPLACED:
            yield f"{action}@{ref}={STANDINS / REPLACED[action]}"


def _used(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        for match in _USES.finditer(text):
            yield match["action"], match["ref"]
