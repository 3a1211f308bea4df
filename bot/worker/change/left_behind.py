"""What lies in the work tree and git cannot take: named, so that nothing of it decides over the rest.

A repository of its own (a clone, a work tree, one without a commit), a pipe, a socket, a device, a file that cannot be read, a name
that git refuses, a path that is too long: each is left out of the work.
"""

import errno
import os
import stat
from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct

from bot.worker.change.git import Git
from bot.worker.change.own_clone import OWN_FOLDER, Taken, is_git

_LOOKED_AT = 500_000  # entries of a work tree
_DEEPEST = 3_500  # bytes of a path; the system takes 4,096 with the folder it stands in
_KEPT = 50  # paths that a report names
_NAMED = 10  # paths that a sentence names
_REPOSITORY = "a repository of its own"
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class _Untaken(Struct, frozen=True):
    path: str
    why: str


def left_behind(clone: Git, taken: Taken) -> Mapping[str, str]:
    """Path -> why, of what was not taken. To be called directly after `take`: the index is read as that left it."""
    assert clone.tree is not None
    found = dict.fromkeys(taken.repositories, _REPOSITORY)
    inside = tuple(f"{path}/" for path in taken.repositories)
    for path in clone.fields("ls-files", "-z", "--others", "--exclude-standard"):
        if not path.startswith(inside):
            found.setdefault(path.rstrip("/"), _why(path))
    for path in [] if taken.complete else _not_as_the_index_says(clone):
        if not path.startswith(inside):
            found.setdefault(path, "cannot be read")
    ignored = {path.rstrip("/") for path in _ignored(clone)}
    special = list(_special(os.fspath(clone.tree), found, ignored))
    hidden = _hidden(clone, [one.path for one in special])
    return found | {one.path: one.why for one in special if one.path not in hidden}


def told_left(found: Mapping[str, str], before: Collection[str]) -> tuple[str, ...]:
    """What a report says of it: `path (why)`, in order, without what was there `before` the agent."""
    new = [f"{path[:500]} ({why})" for path, why in sorted(found.items()) if path not in before]
    return tuple(new[:_KEPT]) + ((f"and {len(new) - _KEPT} more",) if len(new) > _KEPT else ())


def in_words(left: Collection[str]) -> str:
    """One clause for people; empty if there is nothing to say."""
    shown = list(left)[:_NAMED]
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    return f"left out, because git cannot take it: {', '.join(shown)}{more}" if shown else ""


def _not_as_the_index_says(clone: Git) -> list[str]:
    """Tracked files that could not be read, or have become something that is no file."""
    return clone.fields("diff", "--no-ext-diff", "--no-textconv", "--name-only", "-z")


def _ignored(clone: Git) -> list[str]:
    return clone.fields("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")


def _why(path: str) -> str:
    if path.endswith("/"):
        return _REPOSITORY
    if any(is_git(part) for part in path.split("/")):
        return "a name that git refuses"
    return "cannot be read"


def _special(root: str, known: Collection[str], ignored: Collection[str]) -> Iterator[_Untaken]:
    """What is neither a file, a link nor a folder that can be read, found by looking at the tree itself."""
    waiting, seen = [""], 0
    while waiting and seen < _LOOKED_AT:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(f"{root}/{folder}"))
        except OSError as error:
            yield _Untaken(folder.rstrip("/"), _refused(error))
            continue
        seen += len(entries)
        for entry in entries:
            path = f"{folder}{entry.name}"
            if path in (".git", OWN_FOLDER) or path in known or path in ignored:
                continue
            if entry.name == ".git":
                yield _Untaken(path, "git's own folder")
            elif entry.is_dir(follow_symlinks=False):
                if len(os.fsencode(path)) > _DEEPEST:
                    yield _Untaken(path, "a path that is too long")
                else:
                    waiting.append(f"{path}/")
            elif not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
                yield _Untaken(path, _kind(entry))


def _kind(entry: "os.DirEntry[str]") -> str:
    try:
        return _KINDS.get(stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode), "no ordinary file")
    except OSError:
        return "no ordinary file"


def _refused(error: OSError) -> str:
    return "a path that is too long" if error.errno == errno.ENAMETOOLONG else "cannot be read"


def _hidden(clone: Git, paths: list[str]) -> frozenset[str]:
    """Which of these git is told to ignore."""
    if not paths:
        return frozenset()
    given = "\0".join(paths).encode("utf-8", "surrogateescape")
    answer = clone.call("check-ignore", "-z", "--no-index", "--stdin", given=given, check=False)
    return frozenset(path for path in answer.output.split("\0") if path)
