"""Two sides joined where git cannot join them alone: a tree with the markers of each conflict, and whether any is left over.

What git says in the file itself stands there as its usual markers. What it cannot say there (deleted on one side and changed on the
other, renamed twice, binary, a submodule, a file where a folder stands) stands in a file of ours at the root, `NOTE`, which the
agent deletes once it has settled them. So every conflict can be seen in the tree, and so can one that nobody settled.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from bot.notation.sanitise import sanitise
from bot.worker.change.git import Git, GitFailed

NOTE = "CONFLICTS.cf.md"
CONFLICTS = "merge conflicts"  # a gate of ours: a conflict that is left over is red
DEFAULT_BRANCH, PULL_REQUEST, EARLIER_WORK = "cf/default-branch", "cf/pull-request", "cf/earlier-work"
"""What the sides are called in markers; references of these names lead to their commits."""

_SIDES = "|".join(name.partition("/")[2] for name in (DEFAULT_BRANCH, PULL_REQUEST, EARLIER_WORK))
_OURS = rf"^(<<<<<<<+|>>>>>>>+|[|]{{7,}}) cf/({_SIDES})([[:space:]:]|$)"  # POSIX, for git
_MARK = re.compile(rb"^(?:<{7,}|>{7,}|\|{7,}|={7,})(?: .*)?\r?$", re.MULTILINE)
_IN_FILE = ("CONFLICT (contents)", "CONFLICT (add/add)")
_LARGEST = 4 * 1024 * 1024  # bytes of a file in which marks are counted
_NAMED = 20


class Conflict(Struct, frozen=True):
    """One thing that git could not settle: its kind and sentence, and the paths it is about."""

    kind: str
    paths: tuple[str, ...]
    words: str


class Merged(Struct, frozen=True):
    """The tree of both sides together; where there are conflicts, with git's markers in it."""

    tree: str
    conflicts: tuple[Conflict, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path for conflict in self.conflicts for path in conflict.paths))


def merge(git: Git, ours: str, theirs: str) -> Merged:
    """Both sides together, by git's own rules (git-merge-tree(1), "OUTPUT"). Raises GitFailed."""
    ended = git.call("merge-tree", "--write-tree", "-z", "--messages", ours, theirs, check=False)
    if ended.how != "exited" or ended.code not in (0, 1):
        raise GitFailed(f"git merge-tree failed (exit {ended.code}): {ended.errors.strip()[-1000:]}")
    tree, _, rest = ended.output.partition("\0")
    if ended.code == 0:
        return Merged(tree.strip())
    stages, _, messages = f"\0{rest}".partition("\0\0")
    said = tuple(_conflicts(messages.split("\0")))
    told = {path for conflict in said for path in conflict.paths}
    silent = {entry.partition("\t")[2] for entry in stages.split("\0") if entry} - told
    unsaid = (Conflict("", (path,), f"CONFLICT: {path}") for path in sorted(silent))
    return Merged(tree.strip(), (*said, *unsaid))


def _conflicts(fields: Sequence[str]) -> Iterable[Conflict]:
    """Messages are: how many paths, the paths, a kind, a sentence."""
    at = 0
    while at < len(fields) and fields[at].strip().isdecimal():
        count = int(fields[at])
        paths, kind, words = fields[at + 1 : at + 1 + count], fields[at + 1 + count], fields[at + 2 + count]
        if kind.startswith("CONFLICT"):
            yield Conflict(kind, tuple(paths), words.strip())
        at += 3 + count


def merge_with_markers(git: Git, ours: tuple[str, str], theirs: tuple[str, str]) -> Merged:
    """As `merge`, of sides given as name and commit; what the markers cannot say is said in a file of the tree."""
    for name, commit in (ours, theirs):
        git.call("update-ref", f"refs/{name}", commit)
    merged = merge(git, ours[0], theirs[0])
    if not merged.conflicts:
        return merged
    marked = set(_marked(git, merged.tree, merged.paths))
    silent = [one for one in merged.conflicts if one.kind not in _IN_FILE or not marked & {*one.paths}]
    if not silent:
        return merged
    return Merged(_with_note(git, merged.tree, silent, ours[0], theirs[0]), merged.conflicts)


def _marked(git: Git, tree: str, paths: Sequence[str]) -> list[str]:
    """Which of these files hold markers of ours."""
    if not paths:
        return []
    where = [f":(literal,top){path}" for path in paths]
    found = git.call("grep", "-l", "-z", "-a", "-E", _OURS, tree, "--", *where, check=False)
    if found.code not in (0, 1):
        raise GitFailed(f"git grep failed (exit {found.code}): {found.errors.strip()[-1000:]}")
    return [entry.partition(":")[2] for entry in found.output.split("\0") if entry]


def _with_note(git: Git, tree: str, silent: Sequence[Conflict], ours: str, theirs: str) -> str:
    lines = "".join(f"- {' '.join(sanitise(one.words).split())}\n" for one in silent)
    text = (
        f"<<<<<<< {ours}\nThese conflicts cannot be shown inside the files. Settle each, then delete this file. Both versions are"
        f" in git:\n`git show {ours}:PATH` and `git show {theirs}:PATH`.\n\n{lines}>>>>>>> {theirs}\n"
    )
    blob = git.text("hash-object", "-w", "--stdin", given=text.encode("utf-8", "replace"))
    git.call("read-tree", tree)
    git.call("update-index", "--add", "--cacheinfo", f"100644,{blob},{NOTE}")
    return git.text("write-tree")


def left_over(git: Git, commit: str, conflicted: Iterable[str] = ()) -> tuple[str, ...]:
    """The paths of a commit in which a conflict was not settled.

    `conflicted` are paths that were in conflict when the work began; of a commit with two parents git says which they were. Markers
    count that no parent holds, so a file that shows some on purpose is no finding.
    """
    parents = git.text("rev-list", "--parents", "--max-count=1", commit).split(" ")[1:]
    suspects = [_changed(git, parent, commit) for parent in parents]
    found = set(_marked(git, commit, sorted(set.intersection(*suspects)))) if suspects else set()
    merged = merge(git, *parents) if len(parents) == 2 else Merged("")
    found |= {path for path in {*merged.paths, *conflicted} if _has_more_marks(git, commit, parents, path)}
    if NOTE in merged.paths or _blob(git, commit, NOTE) is not None:
        found.add(NOTE)
    return tuple(sorted(found))


def drops_all_of_the_base(git: Git, commit: str) -> bool:
    """Whether a commit that settled a conflict with its second parent has nothing of what that one changed."""
    parents = git.text("rev-list", "--parents", "--max-count=1", commit).split(" ")[1:]
    if len(parents) != 2 or not merge(git, *parents).conflicts:
        return False
    return git.text("rev-parse", f"{commit}^{{tree}}") == git.text("rev-parse", f"{parents[0]}^{{tree}}")


def is_plain_merge(git: Git, commit: str) -> bool:
    """Whether a commit joins its parents as git does, and nothing besides."""
    parents = git.text("rev-list", "--parents", "--max-count=1", commit).split(" ")[1:]
    return len(parents) == 2 and git.merged_tree(*parents) == git.text("rev-parse", f"{commit}^{{tree}}")


def unsettled(git: Git, commit: str, conflicted: Iterable[str] = ()) -> str:
    """Why a commit does not settle the conflict that it began with, in words for people; empty if it does."""
    if paths := left_over(git, commit, conflicted):
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        return f"conflicts are left unsettled in {', '.join(paths[:_NAMED])}{more}"
    if drops_all_of_the_base(git, commit):
        return "everything that the default branch changed is gone: the conflict was settled by dropping it"
    return ""


def _changed(git: Git, before: str, after: str) -> set[str]:
    """Files whose difference touches a marker of ours."""
    return {*git.fields("diff", "--no-ext-diff", "--no-textconv", "--text", "--no-renames", "--name-only", "-z",
                        f"-G{_OURS}", before, after)}  # fmt: skip


def _has_more_marks(git: Git, commit: str, parents: Sequence[str], path: str) -> bool:
    """Whether a file holds more lines that look like markers, of any kind, than all its parents together."""
    now = _marks(_blob(git, commit, path))
    before: Counter[bytes] = Counter()
    for parent in parents:
        before += _marks(_blob(git, parent, path))
    return bool(now - before)


def _marks(text: bytes | None) -> "Counter[bytes]":
    return Counter(found[0][:7] for found in _MARK.finditer(text or b""))


def _blob(git: Git, commit: str, path: str) -> bytes | None:
    """A file's content; None if there is none, or a larger one than is looked at."""
    size = git.call("cat-file", "-s", f"{commit}:{path}", check=False)
    if not size.ok or int(size.output) > _LARGEST:
        return None
    content = git.call("cat-file", "blob", f"{commit}:{path}", check=False)
    return content.output.encode("utf-8", "surrogateescape") if content.ok else None
