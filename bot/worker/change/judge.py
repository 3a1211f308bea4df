"""What a change must not be, wherever it came from: too large, out of its bounds, or holding a secret.

Used twice: before work is handed over (in the agent's job), and before it is published (on a clean machine, trusting nothing).
"""

import posixpath
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bot.model.config import CONFIG_PATH, Config, Publish
from bot.model.report import Hold
from bot.worker.change.git import Git
from bot.worker.change.merging import merge
from bot.worker.change.own_clone import MODULE, OWN_FOLDER, is_git
from bot.worker.change.patterns import AGENT_SETTINGS, matches
from bot.worker.programs.redact import Redactor

NAMED = 50  # protected paths that one order can let through
_LINK, _MODULE = "120000", MODULE
_SEARCHED = (
    32 * 1024 * 1024
)  # bytes of changed files that are searched for secrets; more is not handed on at all
_LOOKED_AT = 200  # files looked at one by one, to say which holds the secret

# With `merge: auto` nobody looks at these, and they decide what runs on everybody's machine.
LOCK_FILES = (
    "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock bun.lockb uv.lock poetry.lock pdm.lock Pipfile.lock"
    " Cargo.lock go.sum Gemfile.lock composer.lock gradle.lockfile flake.lock"
).split()


def limits_of(config: Config) -> Publish:
    """The bounds of a change: those of the configuration, which itself is never an agent's to change.

    Where nobody reviews, also lock files, settings of agents and all that GitHub reads from `.github`.
    """
    unseen = (*LOCK_FILES, *AGENT_SETTINGS, ".github/**") if config.merge == "auto" else ()
    return replace(config.publish, protected=(*config.publish.protected, CONFIG_PATH, *unseen))


class FileChange(Struct, frozen=True):
    """One path of a change. `mode` and `blob` are the new ones, empty for a deletion."""

    path: str
    mode: str
    blob: str
    size: int


class Findings(Struct, frozen=True):
    """Why a change needs a person. `secret` also forbids to keep or show it; an order can let `protected` paths through."""

    refused: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.refused or self.protected or self.secret)

    @property
    def exceptions(self) -> tuple[str, ...]:
        """The paths that an order could let through: where nothing else is wrong, and all of them are named to who gives it."""
        alone = not self.refused and not self.secret and len(self.protected) <= NAMED
        return self.protected if alone else ()

    @property
    def hold(self) -> Hold:
        """What kind of trouble decides what can help."""
        if self.secret:
            return Hold.SECRET
        return Hold.PROTECTED if self.exceptions else Hold.UNFIT

    def words(self) -> str:
        """One sentence for a person."""
        parts = list(self.refused)
        if self.secret:
            parts.append(f"a secret in {_listed(self.secret)}")
        if self.protected:
            parts.append(f"protected paths: {_listed(self.protected, NAMED)}")
        return "; ".join(parts)


def changes_between(git: Git, before: str, after: str) -> tuple[FileChange, ...]:
    """The files that differ, renames as deletion and addition."""
    fields = git.fields("diff-tree", "-r", "-z", "--no-renames", "--full-index", before, after)
    raw = list(zip(fields[::2], fields[1::2], strict=True))
    found = [(path, facts[1:].split(" ")) for facts, path in raw]
    blobs = [blob for _, (_, mode, _, blob, _) in found if mode not in ("000000", _MODULE)]
    sizes = _sizes(git, blobs)
    return tuple(
        FileChange(path, "", "", 0) if mode == "000000" else FileChange(path, mode, blob, sizes.get(blob, 0))
        for path, (_, mode, _, blob, _) in found
    )


def change_base(git: Git, commit: str) -> str:
    """What a commit of ours is to be compared with: its parent, or both parents' changes together. Raises GitFailed.

    Where these contradict each other that is git's tree with markers, so that how they were settled is part of the change.
    """
    parents = git.text("rev-list", "--parents", "--max-count=1", commit).split(" ")[1:]
    if len(parents) == 1:
        return parents[0]
    return (
        merge(git, *parents).tree if len(parents) == 2 else git.text("hash-object", "-t", "tree", "/dev/null")
    )


def taken_from_base(git: Git, commit: str) -> frozenset[tuple[str, str, str]]:
    """Path, mode and blob of each conflict that was settled by what the default branch has: no change of ours. Raises GitFailed."""
    parents = git.text("rev-list", "--parents", "--max-count=1", commit).split(" ")[1:]
    if len(parents) != 2 or not (paths := merge(git, *parents).paths):
        return frozenset()
    chosen = {change.path: change for change in changes_between(git, parents[0], parents[1])}
    return frozenset((path, chosen[path].mode, chosen[path].blob) for path in paths if path in chosen)


def patch_base(git: Git, commit: str) -> str:
    """What a patch for people is made against: as `change_base`, but never a tree with markers in it. Raises GitFailed."""
    parents = git.text("rev-list", "--parents", "--max-count=1", commit).split(" ")[1:]
    return parents[1] if len(parents) == 2 and merge(git, *parents).conflicts else change_base(git, commit)


def refusals(git: Git, before: str, after: str, limits: Publish) -> tuple[str, ...]:
    """Why a change may not even lie in a work tree: too large, or with entries that reach out of it."""
    return _refusals(git, _own_changes(git, before, after), limits)


def _own_changes(git: Git, before: str, after: str) -> tuple[FileChange, ...]:
    taken = taken_from_base(git, after)
    return tuple(
        one for one in changes_between(git, before, after) if (one.path, one.mode, one.blob) not in taken
    )


def judge_change(
    git: Git,
    before: str,
    after: str,
    limits: Publish,
    redactor: Redactor,
    exceptions: Sequence[str] = (),
) -> tuple[tuple[FileChange, ...], Findings]:
    """List a change and say what about it needs a person. `exceptions` are the protected paths that somebody allowed."""
    changes = _own_changes(git, before, after)
    protected = [
        change.path
        for change in changes
        if matches(change.path, limits.protected) and change.path not in exceptions
    ]
    return changes, Findings(
        _refusals(git, changes, limits), tuple(protected), _secrets_in(git, before, after, changes, redactor)
    )


def patch_of(git: Git, before: str, after: str) -> str:
    """The change as text for a person to read."""
    return git.call("diff", "--no-ext-diff", "--no-textconv", before, after).output


def write_patch(git: Git, before: str, after: str, file: Path) -> None:
    """The change as a file that `git apply` takes, byte for byte."""
    git.call(
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--binary",
        "--full-index",
        f"--output={file}",
        before,
        after,
    )


def _refusals(git: Git, changes: Sequence[FileChange], limits: Publish) -> tuple[str, ...]:
    return (*_size_trouble(changes, limits), *_odd_entries(git, changes))


def _size_trouble(changes: Sequence[FileChange], limits: Publish) -> list[str]:
    trouble = []
    if len(changes) > limits.max_files:
        trouble.append(f"{len(changes)} files changed, and publish.max_files is {limits.max_files}")
    total = sum(change.size for change in changes)
    if total > limits.max_bytes:
        trouble.append(f"{total} bytes in changed files, and publish.max_bytes is {limits.max_bytes}")
    return trouble


def _odd_entries(git: Git, changes: Sequence[FileChange]) -> list[str]:
    trouble = []
    for change in changes:
        if any(is_git(part) for part in change.path.split("/")):
            trouble.append(f"a path into a repository's own folder, {change.path}")
        elif change.mode == _MODULE:
            trouble.append(f"a nested repository at {change.path}")
        elif change.mode == _LINK and _leaves(change.path, git.call("cat-file", "blob", change.blob).output):
            trouble.append(f"a symbolic link that leaves the repository at {change.path}")
        if change.path.split("/")[0] == OWN_FOLDER and change.mode:
            trouble.append(f"a file of ours at {change.path}")
    return trouble


def _leaves(path: str, target: str) -> bool:
    """Whether a link points out of the tree, or into a `.git` folder."""
    if target.startswith("/") or "\\" in target:
        return True
    reached = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)).split("/")
    return reached[0] == ".." or any(is_git(part) for part in reached)


def _secrets_in(
    git: Git, before: str, after: str, changes: Sequence[FileChange], redactor: Redactor
) -> tuple[str, ...]:
    """Paths whose name or added lines hold a secret. A line that was there before is no news."""
    if sum(change.size for change in changes) > _SEARCHED:
        return ("(more than can be searched)",)
    named = {change.path for change in changes if redactor.finds(change.path)}
    if not named and not redactor.finds(_added(git, before, after)):
        return ()
    holding = {
        change.path
        for change in changes[:_LOOKED_AT]
        if change.mode not in ("", _MODULE)
        and redactor.finds(_added(git, before, after, f":(literal,top){change.path}"))
    }
    return tuple(sorted(redactor.text(path) for path in named | holding)) or ("the change",)


def _added(git: Git, before: str, after: str, *paths: str) -> str:
    shown = ("--no-ext-diff", "--no-textconv", "--text", "--no-renames", "--unified=0")
    difference = git.call("diff", *shown, before, after, "--", *paths).output
    return "\n".join(line[1:] for line in difference.split("\n") if line.startswith("+"))


def _sizes(git: Git, blobs: Sequence[str]) -> dict[str, int]:
    if not blobs:
        return {}
    answer = git.call(
        "cat-file", "--batch-check=%(objectname) %(objectsize)", given="\n".join(blobs).encode() + b"\n"
    )
    return {name: int(size) for name, size in (line.split(" ") for line in answer.output.splitlines())}


def _listed(names: Sequence[str], most: int = 10) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
