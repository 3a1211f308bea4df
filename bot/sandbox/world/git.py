"""What the world asks of git, and a git made of dictionaries that is quick enough for property tests."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.model.issue import Account


class MergeConflict(Exception):
    """The two sides changed the same lines, or one of them does not exist."""


@dataclass(frozen=True, slots=True)
class Commit:
    sha: str
    message: str
    author: str = ""


class Git(Protocol):
    """The repository behind the issues. Branches are short names, files are text decoded as UTF-8 with replacement."""

    default_branch: str

    def head(self, branch: str) -> str | None:
        """The commit a branch points at."""
        ...

    def branches(self) -> Mapping[str, str]:
        """Every branch and its commit."""
        ...

    def listing(self, ref: str, folder: str) -> Mapping[str, str]:
        """Path -> blob id of the files directly in a folder at a branch or commit."""
        ...

    def blob(self, sha: str) -> bytes | None:
        """The content of a blob by its id."""
        ...

    def commits(self, base: str, head: str) -> Sequence[Commit]:
        """The commits that `head` has and `base` has not, newest first."""
        ...

    def is_ancestor(self, older: str, newer: str) -> bool: ...

    def mergeable(self, base: str, head: str) -> bool:
        """Whether the commit can be merged into the branch without conflict."""
        ...

    def merge(self, base: str, head: str, message: str, by: Account) -> str:
        """Merge commit `head` into branch `base`; the new commit. Raises MergeConflict."""
        ...

    def diff(self, base: str, head: str) -> str:
        """The change from the merge base of both to `head`, as a unified diff."""
        ...

    def delete_branch(self, branch: str) -> None: ...


@dataclass(slots=True)
class _Node:
    parents: tuple[str, ...]
    tree: dict[str, str]  # path -> blob id
    message: str
    author: str


@dataclass(slots=True)
class MemoryGit:
    """Commits as dictionaries; blob ids are git's own, commit ids are made up but unique."""

    default_branch: str = "main"
    _heads: dict[str, str] = field(default_factory=dict)
    _nodes: dict[str, _Node] = field(default_factory=dict)
    _blobs: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Mapping[str, str], default_branch: str = "main") -> "MemoryGit":
        """A repository whose default branch holds these files."""
        git = cls(default_branch)
        git.commit(default_branch, files, "first commit")
        return git

    def commit(
        self,
        branch: str,
        files: Mapping[str, str | None],
        message: str,
        author: str = "maintainer",
        start: str = "",
    ) -> str:
        """Put files (None deletes) on a branch, which begins at `start` or the default branch if it is new."""
        parent = self._heads.get(branch) or self._heads.get(start or self.default_branch)
        tree = dict(self._nodes[parent].tree) if parent else {}
        for path, text in files.items():
            if text is None:
                tree.pop(path, None)
            else:
                tree[path] = self._store(text.encode())
        return self._add(branch, (parent,) if parent else (), tree, message, author)

    def head(self, branch: str) -> str | None:
        return self._heads.get(branch)

    def branches(self) -> Mapping[str, str]:
        return dict(self._heads)

    def listing(self, ref: str, folder: str) -> Mapping[str, str]:
        node = self._nodes.get(self._heads.get(ref, ref))
        if node is None:
            return {}
        prefix = f"{folder}/" if folder else ""
        return {p: b for p, b in node.tree.items() if p.startswith(prefix) and "/" not in p[len(prefix) :]}

    def blob(self, sha: str) -> bytes | None:
        return self._blobs.get(sha)

    def commits(self, base: str, head: str) -> Sequence[Commit]:
        known = self._history(base)
        return tuple(
            Commit(sha, self._nodes[sha].message, self._nodes[sha].author)
            for sha in self._history(head)
            if sha not in known
        )

    def is_ancestor(self, older: str, newer: str) -> bool:
        return older in self._history(newer)

    def mergeable(self, base: str, head: str) -> bool:
        try:
            self._joined(self._heads[base], head)
        except (MergeConflict, KeyError):
            return False
        return True

    def merge(self, base: str, head: str, message: str, by: Account) -> str:
        ours = self._heads.get(base)
        if ours is None or head not in self._nodes:
            raise MergeConflict(f"{base} or {head} is not there")
        return self._add(base, (ours, head), self._joined(ours, head), message, by.login)

    def diff(self, base: str, head: str) -> str:
        before, after = self._nodes[self._merge_base(base, head)].tree, self._nodes[head].tree
        paths = sorted(p for p in {*before, *after} if before.get(p) != after.get(p))
        return "".join(f"diff --git a/{p} b/{p}\n" for p in paths)

    def delete_branch(self, branch: str) -> None:
        self._heads.pop(branch, None)

    def _store(self, data: bytes) -> str:
        sha = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        self._blobs[sha] = data
        return sha

    def _add(
        self, branch: str, parents: tuple[str, ...], tree: dict[str, str], message: str, author: str
    ) -> str:
        sha = hashlib.sha1(
            f"{len(self._nodes)} {parents} {message}".encode(), usedforsecurity=False
        ).hexdigest()
        self._nodes[sha] = _Node(parents, tree, message, author)
        self._heads[branch] = sha
        return sha

    def _history(self, sha: str) -> dict[str, None]:
        seen: dict[str, None] = {}
        waiting = [sha]
        while waiting:
            current = waiting.pop(0)
            if current in seen or current not in self._nodes:
                continue
            seen[current] = None
            waiting += self._nodes[current].parents
        return seen

    def _merge_base(self, one: str, other: str) -> str:
        known = self._history(one)
        return next((sha for sha in self._history(other) if sha in known), other)

    def _joined(self, ours: str, theirs: str) -> dict[str, str]:
        base = self._nodes[self._merge_base(ours, theirs)].tree
        left, right = self._nodes[ours].tree, self._nodes[theirs].tree
        tree = dict(left)
        for path in {*base, *right}:
            if right.get(path) == base.get(path) or left.get(path) == right.get(path):
                continue
            if left.get(path) != base.get(path):
                raise MergeConflict(path)
            if path in right:
                tree[path] = right[path]
            else:
                tree.pop(path, None)
        return tree
