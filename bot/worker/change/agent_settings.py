"""Agent settings come from the default branch: a work branch must not configure the agent that continues it."""

import shutil
import stat
from pathlib import Path

from bot.worker.change.git import Git
from bot.worker.change.own_clone import entries, with_entries
from bot.worker.change.patterns import AGENT_SETTINGS, matches

_UNWANTED = (
    r"^(http\..*extraheader|http\.extraheader|credential\..*|url\..*|include.*"
    r"|core\.(hookspath|fsmonitor|sshcommand|askpass|pager|editor))$"
)


def restore_settings(clone: Git, start_tree: str, base: str, workspace: Path) -> None:
    """Put the default branch's version of every settings file into the workspace; what it does not have is removed."""
    ours = {
        path: entry for path, entry in entries(clone, start_tree).items() if matches(path, AGENT_SETTINGS)
    }
    theirs = {path: entry for path, entry in entries(clone, base).items() if matches(path, AGENT_SETTINGS)}
    changed = [path for path in sorted({*ours, *theirs}) if ours.get(path) != theirs.get(path)]
    gone = [path for path in changed if path not in theirs]
    for path in gone:
        _remove(workspace, path)
    tree = with_entries(clone, start_tree, {path: theirs.get(path) for path in changed})
    if restored := [path for path in changed if path in theirs]:
        clone.call("read-tree", tree)
        clone.call("checkout-index", "--force", "--", *restored)


def clean_repository(git: Git) -> None:
    """Before an agent starts: no hooks, credentials or programs in the repository's own configuration."""
    shutil.rmtree(git.folder / "hooks", ignore_errors=True)
    names = git.call(
        "config", "--local", "--name-only", "--get-regexp", _UNWANTED, check=False
    ).output.split()
    for name in dict.fromkeys(names):
        git.call("config", "--local", "--unset-all", name, check=False)


def clean_workspace(git: Git, commit: str) -> None:
    """The workspace exactly as the commit has it: no stray, ignored or changed file is left, read-only or not."""
    assert git.tree is not None
    for folder in git.tree.rglob("*"):
        if folder.is_dir() and not folder.is_symlink() and not folder.stat().st_mode & stat.S_IWUSR:
            folder.chmod(folder.stat().st_mode | stat.S_IRWXU)
    git.call("checkout", "--quiet", "--force", "--detach", commit)
    git.call("clean", "--quiet", "-ffdx")


def _remove(workspace: Path, path: str) -> None:
    """Unlink one file without following a link that stands in its way."""
    context = workspace / path
    if context.parent.resolve().is_relative_to(workspace.resolve()):
        context.unlink(missing_ok=True)
