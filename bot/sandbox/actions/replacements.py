"""Which local folder stands for which action: act fetches nothing from the network."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from bot.sandbox.actions.workspace import OWN, REPLACED, STANDINS


def shipped_action(source: Path, folder: Path) -> Path:
    """A folder with our action.yml alone: act copies it for each use, and the stand-in for uv runs the package installed here."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / "action.yml", folder / "action.yml")
    return folder


def replacements(checkout: Path, own: Path) -> Iterator[str]:
    """`--local-repository` values for all that the workflows of a checkout and our action use, whatever version they pin."""
    files = [*sorted((checkout / ".github/workflows").glob("*.y*ml")), own / "action.yml"]
    for used in sorted({used for file in files for used in _used(_read(file))}):
        action, _, ref = used.partition("@")
        name = "/".join(action.split("/")[:2])
        if name == OWN:
            yield f"{name}@{ref}={own}"
        elif name in REPLACED:
            yield f"{name}@{ref}={STANDINS / REPLACED[name]}"


def _read(file: Path) -> Any:
    try:
        return yaml.load(file.read_text(encoding="utf-8", errors="replace"), Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        # A broken workflow of somebody else's; ours are judged by act.
        return None


def _used(content: Any) -> Iterator[str]:
    """Every `uses:` of other repositories, wherever it stands."""
    if isinstance(content, dict):
        for key, value in content.items():
            if key == "uses" and isinstance(value, str) and not value.startswith("."):
                yield value
            else:
                yield from _used(value)
    elif isinstance(content, list):
        for item in content:
            yield from _used(item)
