"""Our own repository beside the agent's: what the agent does to `.git` can neither trick nor lose anything of ours.

The agent may change its repository's configuration, hooks and objects, or delete it. So everything that matters is read
from here: where the work started, what the files are like at the end, and the one commit that is made of it.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from bot.worker.change.git import Git, GitFailed, Remote
from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.process import End

OWN_FOLDER = ".cf"  # our files inside the agent's workspace; never part of the work
MODULE = "160000"  # the mode of a link to another repository's commit
_LARGEST_LINK = 8_192  # bytes of a file that leads to a repository
_HFS_PASSES_OVER = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)


class Entry(Struct, frozen=True):
    """One file of a tree as git stores it."""

    mode: str
    blob: str
    path: str


def open_own_clone(
    workspace: Path, folder: Path, environ: Mapping[str, str], cancellation: Cancellation | None
) -> tuple[Git, Remote]:
    """Clone the workspace's repository (by hard links) and say where it came from. Raises GitFailed."""
    shutil.rmtree(folder, ignore_errors=True)
    source = Git(workspace / ".git", environ, tree=workspace, cancellation=cancellation)
    url = source.text("config", "--local", "--get", "remote.origin.url")
    source.call("clone", "--quiet", "--bare", "--local", str(workspace / ".git"), str(folder), here=False)
    clone = Git(folder, environ, tree=workspace, cancellation=cancellation)
    clone.call("config", "--local", "--unset-all", "remote.origin.url", check=False)
    # A clone takes branches only; what the checkout fetched beside them saves a download later.
    clone.call(
        "fetch", "--quiet", "--no-tags", str(workspace / ".git"), "+refs/remotes/origin/*:refs/cf/origin/*"
    )
    exclude = folder / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text(f"/{OWN_FOLDER}/\n", encoding="utf-8")
    return clone, Remote(url)


def entries(git: Git, tree: str) -> dict[str, Entry]:
    """Every file of a tree by path."""
    found = {}
    for line in git.fields("ls-tree", "-r", "-z", "--full-tree", tree):
        facts, _, path = line.partition("\t")
        mode, _, blob = facts.split(" ")
        found[path] = Entry(mode, blob, path)
    return found


class Taken(Struct, frozen=True):
    """The tree that the working files make; `complete` says that git could read them all.

    `repositories` are those found among them, which are no part of it.
    """

    tree: str
    complete: bool = True
    repositories: tuple[str, ...] = ()


def snapshot(clone: Git, start_tree: str) -> str:
    """The tree that the working files make now: whatever the agent committed, staged or left lying about."""
    return take(clone, start_tree).tree


def take(clone: Git, start_tree: str) -> Taken:
    """As `snapshot`. What git cannot take is left out; where something tracked stood in its place, that stays as it was."""
    clone.call("read-tree", start_tree)
    added = clone.call("add", "--all", "--ignore-errors", check=False)
    if added.how is not End.EXITED or added.code not in (0, 1):
        raise GitFailed(f"git add failed ({added.how}, exit {added.code}): {added.errors.strip()[-1000:]}")
    repositories = _put_back_repositories(clone, start_tree)
    if clone.fields("ls-files", "-z", "--", OWN_FOLDER):  # a .gitignore can let it in in spite of us
        clone.call("rm", "--quiet", "--cached", "-r", "--", OWN_FOLDER)
        if clone.holds("cat-file", "-e", f"{start_tree}:{OWN_FOLDER}"):
            clone.call("read-tree", f"--prefix={OWN_FOLDER}/", f"{start_tree}:{OWN_FOLDER}")
    return Taken(clone.text("write-tree"), added.ok, repositories)


def _put_back_repositories(clone: Git, start_tree: str) -> tuple[str, ...]:
    """Nested repositories are no part of the work, committed or not: what was there in their place stays."""
    raw = clone.fields("diff-index", "--cached", "--raw", "-z", "--no-renames", "--full-index", start_tree)
    changed = [(path, *facts[1:].split(" ")) for facts, path in zip(raw[::2], raw[1::2], strict=True)]
    found = {path for path, _, mode, *_ in changed if mode == MODULE}
    found |= _repositories_above(clone, [path for path, *_ in changed])
    if not found:
        return ()
    inside = tuple(f"{path}/" for path in found)
    below = [one for one in changed if one[0] in found or one[0].startswith(inside)]
    gone = [f"0 {'0' * 40}\t{path}\0" for path, _, mode, *_ in below if mode.strip("0")]
    before = [f"{mode} {blob}\t{path}\0" for path, mode, _, blob, *_ in below if mode.strip("0")]
    # What goes away first: a file cannot stand below a repository that is still in the index.
    for lines in filter(None, (gone, before)):
        given = "".join(lines).encode("utf-8", "surrogateescape")
        clone.call("update-index", "-z", "--index-info", given=given)
    return tuple(sorted(found))


def _repositories_above(clone: Git, paths: Sequence[str]) -> set[str]:
    """The folders of these paths that are repositories: git takes their files where it knew the folder before."""
    assert clone.tree is not None
    folders = {parent for path in paths for parent in _parents(path)}
    repositories = {folder for folder in folders if _is_repository(clone.tree / folder / ".git")}
    return {one for one in repositories if not any(parent in repositories for parent in _parents(one))}


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _is_repository(link: Path) -> bool:
    """Whether this `.git` is a repository, or a file that leads to one."""
    if (link / "HEAD").is_file():
        return True
    if not link.is_file() or link.stat().st_size > _LARGEST_LINK:
        return False
    where = link.read_bytes().decode("utf-8", "replace").removeprefix("gitdir:").strip()
    return bool(where) and (link.parent / where / "HEAD").is_file()


def is_git(name: str) -> bool:
    """Whether some file system takes this name for `.git`: HFS+ passes over characters, NTFS over endings, both over case."""
    plain = name.translate(_HFS_PASSES_OVER).casefold()
    return any(part.partition(":")[0].rstrip(" .") in (".git", "git~1") for part in plain.split("\\"))


def agents_own(clone: Git, tree: str, before: str, start: str) -> str:
    """The tree without what was there before the agent began: what set-up left and settings we replaced, unless it changed them."""
    if clone.text("rev-parse", f"{start}^{{tree}}") == before:
        return tree
    was, shown, now = entries(clone, start), entries(clone, before), entries(clone, tree)
    prepared = (path for path in sorted({*was, *shown}) if was.get(path) != shown.get(path))
    return with_entries(
        clone, tree, {path: was.get(path) for path in prepared if now.get(path) == shown.get(path)}
    )


def with_entries(clone: Git, tree: str, changes: Mapping[str, Entry | None]) -> str:
    """The tree with these paths replaced, or removed where the value is None."""
    if not changes:
        return tree
    clone.call("read-tree", tree)
    zero = "0" * 40
    lines = [
        f"{entry.mode} {entry.blob}\t{path}\0" if entry else f"0 {zero}\t{path}\0"
        for path, entry in changes.items()
    ]
    clone.call("update-index", "-z", "--index-info", given="".join(lines).encode("utf-8", "surrogateescape"))
    return clone.text("write-tree")
