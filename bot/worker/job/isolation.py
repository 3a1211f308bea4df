"""A folder of its own for an attempt's work, proved before anything runs in it, and a machine left as if nothing had been."""

import shutil
import stat
from pathlib import Path

from msgspec.structs import replace

from bot.worker.change.git import Git, GitFailed
from bot.worker.job.context import JobContext
from bot.worker.programs.cancellation import Cancellation

OWN_FOLDERS = ("cf-home", "cf-clone.git", "cf-earlier", "cf-engine")
"""What the agent's job keeps beside the work, in the runner's temporary folder."""


def tree_of(context: JobContext, isolation: str) -> Path:
    """Where the agent works: the checkout itself, or beside it, where agents can work side by side on one checkout."""
    return context.temp / f"cf-tree-{context.key.task}" if isolation == "worktree" else context.workspace


def isolated(context: JobContext, isolation: str, cancellation: Cancellation) -> JobContext:
    """The place with a working tree of its own, where the configuration asks for one.

    It is a repository by itself (objects are hard links), so that no agent's git settings, branches or index reach another's.
    Raises GitFailed or OSError if it cannot be made, or is not what it should be: there is no falling back to the checkout.
    """
    folder = tree_of(context, isolation)
    if folder == context.workspace:
        return context
    wipe(folder)
    checkout = Git(
        context.workspace / ".git", context.environ, tree=context.workspace, cancellation=cancellation
    )
    url = checkout.text("config", "--local", "--get", "remote.origin.url")
    checkout.call(
        "clone", "--quiet", "--local", "--no-checkout", str(checkout.folder), str(folder), here=False
    )
    tree = Git(folder / ".git", context.environ, tree=folder, cancellation=cancellation)
    tree.call("config", "--local", "remote.origin.url", url)
    tree.call(
        "fetch", "--quiet", "--no-tags", str(checkout.folder), "+refs/remotes/origin/*:refs/remotes/origin/*"
    )
    tree.call("checkout", "--quiet", "--detach", checkout.text("rev-parse", "HEAD^{commit}"))
    _prove(tree, folder, context.workspace)
    return replace(context, workspace=folder)


def _prove(tree: Git, folder: Path, checkout: Path) -> None:
    top, store = (
        Path(tree.text("rev-parse", "--path-format=absolute", name)).resolve()
        for name in ("--show-toplevel", "--git-common-dir")
    )
    if top != folder.resolve() or store != (folder / ".git").resolve() or top.is_relative_to(checkout):
        raise GitFailed(f"the work is not isolated: it would go to {top} and {store}")


def leave_clean(context: JobContext) -> None:
    """Remove all that a job made, but for what it hands on.

    For machines that are used again; GitHub's own are thrown away. The checkout goes, too: what an agent wrote into its
    repository's settings would be run by whoever uses it next.
    """
    for name in OWN_FOLDERS:
        wipe(context.temp / name)
    wipe(tree_of(context, "worktree"))
    for child in context.workspace.iterdir():
        wipe(child)


def wipe(context: Path) -> None:
    """Remove a file or folder, read-only or not, without following a link."""
    if context.is_symlink() or context.is_file():
        context.unlink()
        return
    if not context.exists():
        return
    for folder in (context, *context.rglob("*")):
        if folder.is_dir() and not folder.is_symlink():
            folder.chmod(folder.stat().st_mode | stat.S_IRWXU)
    shutil.rmtree(context, ignore_errors=True)
