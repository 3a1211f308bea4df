"""The world's git as a real bare repository, through the git program."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.model.issue import Account
from bot.sandbox.world.git import Commit, MergeConflict
from bot.sandbox.world.push_rules import HOOK


class BareGit:
    """A bare repository on disk. What can be told from ids alone is remembered, so that looking again costs no process."""

    def __init__(self, path: Path, default_branch: str = "main") -> None:
        self.path = path
        self.default_branch = default_branch
        self._blobs: dict[str, bytes] = {}
        self._listings: dict[tuple[str, str], Mapping[str, str]] = {}
        self._mergeable: dict[tuple[str, str], bool] = {}

    @classmethod
    def create(cls, path: Path, default_branch: str = "main") -> "BareGit":
        """A new, empty repository."""
        _run("git", "init", "--quiet", "--bare", f"--initial-branch={default_branch}", str(path))
        git = cls(path, default_branch)
        git._configure()
        return git

    @classmethod
    def clone(cls, source: Path, path: Path) -> "BareGit":
        """A copy of a repository; its current branch becomes the default branch."""
        _run("git", "clone", "--quiet", "--bare", "--no-hardlinks", str(source), str(path))
        head = _run("git", "-C", str(path), "symbolic-ref", "--short", "HEAD").strip()
        git = cls(path, head)
        git._configure()
        return git

    def head(self, branch: str) -> str | None:
        return self.branches().get(branch)

    def branches(self) -> Mapping[str, str]:
        listed = self._git("for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads/")
        return {name: sha for sha, name in (line.split(" ", 1) for line in listed.splitlines())}

    def listing(self, ref: str, folder: str) -> Mapping[str, str]:
        commit = self.branches().get(ref, ref)
        if (commit, folder) not in self._listings:
            spec = [f"{folder}/"] if folder else []
            listed = self._try("ls-tree", "-z", "--full-tree", commit, "--", *spec)
            entries = (line.split("\t", 1) for line in (listed or "").split("\0") if line)
            self._listings[commit, folder] = {
                path: meta.split()[2] for meta, path in entries if meta.split()[1] == "blob"
            }
        return self._listings[commit, folder]

    def blob(self, sha: str) -> bytes | None:
        if sha not in self._blobs:
            found = subprocess.run(
                self._command("cat-file", "blob", sha), env=_environment(), capture_output=True, check=False
            )
            if found.returncode:
                return None
            self._blobs[sha] = found.stdout
        return self._blobs[sha]

    def commits(self, base: str, head: str) -> Sequence[Commit]:
        # The ids come from refs and requests: `--end-of-options` keeps an odd one from being read as an option.
        listed = self._try("log", "-z", "--format=%H%n%an%n%B", "--end-of-options", head, f"^{base}")
        parts = (entry.split("\n", 2) for entry in (listed or "").split("\0") if entry.strip())
        return tuple(Commit(sha, message, author) for sha, author, message in parts)

    def is_ancestor(self, older: str, newer: str) -> bool:
        return self._try("merge-base", "--is-ancestor", older, newer) is not None

    def mergeable(self, base: str, head: str) -> bool:
        ours = self.head(base)
        if ours is None:
            return False
        if (ours, head) not in self._mergeable:
            self._mergeable[ours, head] = self._try("merge-tree", "--write-tree", ours, head) is not None
        return self._mergeable[ours, head]

    def merge(self, base: str, head: str, message: str, by: Account) -> str:
        ours = self.head(base)
        merged = self._try("merge-tree", "--write-tree", ours, head) if ours else None
        if ours is None or merged is None:
            raise MergeConflict(f"{head} cannot be merged into {base}")
        tree = merged.split("\n", 1)[0]
        identity = {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (("NAME", by.login), ("EMAIL", f"{by.id}+{by.login}@users.noreply.github.com"))
        }
        commit = _run(
            *self._command("commit-tree", tree, "-p", ours, "-p", head, "-m", message), extra=identity
        ).strip()
        self._git("update-ref", f"refs/heads/{base}", commit, ours)
        return commit

    def diff(self, base: str, head: str) -> str:
        return self._try("diff", "--no-color", "--no-ext-diff", f"{base}...{head}") or ""

    def delete_branch(self, branch: str) -> None:
        self._try("update-ref", "-d", f"refs/heads/{branch}")

    def _configure(self) -> None:
        self._git("config", "http.receivepack", "true")
        self._git("config", "uploadpack.allowAnySHA1InWant", "true")
        self._git("config", "gc.auto", "0")
        hook = self.path / "hooks" / "update"
        hook.parent.mkdir(exist_ok=True)
        # The server says by the environment which rules hold.
        hook.write_text(HOOK, encoding="utf-8")
        hook.chmod(0o755)

    def _command(self, *arguments: str) -> list[str]:
        return ["git", "--git-dir", str(self.path), *arguments]

    def _git(self, *arguments: str) -> str:
        return _run(*self._command(*arguments))

    def _try(self, *arguments: str) -> str | None:
        """The output, or None where git says no."""
        done = subprocess.run(self._command(*arguments), env=_environment(), capture_output=True, check=False)
        return None if done.returncode else done.stdout.decode("utf-8", "replace")


def _run(*command: str, extra: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(command, env=_environment() | dict(extra or {}), capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(f"{' '.join(command[:4])} failed: {said}")
    return done.stdout.decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    """No configuration or repository of the user's leaks in."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
