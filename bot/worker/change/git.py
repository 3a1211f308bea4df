"""Git, with nothing inherited: no hooks, no user's or machine's settings, no credentials but for the one call that needs them."""

import base64
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from bot.model.errors import BotError
from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.environment import git_environment
from bot.worker.programs.process import End, Ended, Limits, run

_SAFE = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.quotePath": "false",
    "core.pager": "cat",
    "core.symlinks": "true",
    "commit.gpgSign": "false",
    "credential.helper": "",
    "diff.external": "",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "push.gpgSign": "false",
    "push.followTags": "false",
    "push.recurseSubmodules": "no",
    "protocol.ext.allow": "never",
    "safe.directory": "*",
    "submodule.recurse": "false",
    "user.useConfigOnly": "true",
}
# A server's 401 makes git ask for a name or password, which it cannot: or it says so itself.
_NO_ENTRY = re.compile(
    r"Authentication failed|could not read (?:Username|Password)|returned error: 401|Invalid username or"
)
_SENTENCE = re.compile(
    r"remote: (?:(?:- |error: )(?P<rule>\S.{0,300})|(?P<account>Permission to \S+ denied to .{0,100}))"
)
_LIMITS = Limits(wall=timedelta(minutes=15), head=48 * 1024 * 1024, tail=64 * 1024)


class GitFailed(BotError):
    """A git command did not do what we need; the text is git's own."""


class PushRefused(GitFailed):
    """The remote forbids what was pushed: a workflow file, a protected branch, a secret that it found, or pushing at all.

    `sentences` are the rules that it names, each whole; what they were broken by (paths, commits) is not among them.
    """

    def __init__(self, words: str, sentences: Sequence[str] = ()) -> None:
        super().__init__(words)
        self.sentences = tuple(sentences)


class Unauthorised(GitFailed):
    """The remote does not take our token (any more)."""


class GitCancelled(BotError):
    """A git command was ended because the job is being cancelled."""


class Remote(Struct, frozen=True):
    """Where to fetch from and push to. `token` is used for that one call only, and never for a path on disk."""

    url: str
    token: str = ""

    def environment(self) -> dict[str, str]:
        """Authentication that lives in one process's environment and nowhere else."""
        parts = urlsplit(self.url)
        if not self.token or parts.scheme not in ("http", "https"):
            return {}
        host = parts.netloc.rpartition("@")[2]
        basic = base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
        return {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{parts.scheme}://{host}/.extraheader",
            "GIT_CONFIG_VALUE_0": f"AUTHORIZATION: basic {basic}",
        }


class Git:
    """One repository: its git directory and, where files are touched, its working tree."""

    def __init__(
        self,
        folder: Path,
        environ: Mapping[str, str],
        *,
        tree: Path | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        self.folder = folder
        self.tree = tree
        self._environ = git_environment(environ)
        self._cancellation = cancellation

    def call(
        self,
        *arguments: str,
        given: bytes | None = None,
        extra: Mapping[str, str] | None = None,
        check: bool = True,
        here: bool = True,
    ) -> Ended:
        """Run one git command, in this repository unless `here` is false. With `check`, raises GitFailed unless it exits 0."""
        context = [f"--git-dir={self.folder}"] if here else []
        if here and self.tree is not None:
            context.append(f"--work-tree={self.tree}")
        settings = [part for name, value in _SAFE.items() for part in ("-c", f"{name}={value}")]
        ended = run(
            ["git", *settings, *context, *arguments],
            folder=self.tree or self.folder,
            environment={**self._environ, **(extra or {})},
            limits=_LIMITS,
            cancellation=self._cancellation,
            given=given,
            errors_apart=True,
        )
        if ended.how is End.CANCELLED:
            raise GitCancelled("cancelled while git was at work")
        if check and not ended.ok:
            raise _failure(arguments[0], ended)
        if ended.omitted:
            raise GitFailed(f"git {arguments[0]} answered more than can be read")
        return ended

    def text(self, *arguments: str, given: bytes | None = None) -> str:
        """The command's output without the white space around it."""
        return self.call(*arguments, given=given).output.strip()

    def fields(self, *arguments: str) -> list[str]:
        """Output that is separated by NUL bytes."""
        return [field for field in self.call(*arguments).output.split("\0") if field]

    def holds(self, *arguments: str) -> bool:
        """Whether the command exits 0: for questions such as `merge-base --is-ancestor`."""
        return self.call(*arguments, check=False).ok

    def has(self, commit: str) -> bool:
        return self.holds("cat-file", "-e", f"{commit}^{{commit}}")

    def is_ancestor(self, older: str, newer: str) -> bool:
        return self.holds("merge-base", "--is-ancestor", older, newer)

    def merged_tree(self, ours: str, theirs: str) -> str | None:
        """The tree of both commits' changes together, or None if they contradict each other."""
        ended = self.call("merge-tree", "--write-tree", "--no-messages", ours, theirs, check=False)
        if ended.ok:
            return ended.output.strip()
        if ended.code == 1:
            return None
        raise GitFailed(f"git merge-tree failed (exit {ended.code}): {ended.errors.strip()[-1000:]}")

    def commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        """A commit object by our identity; no branch moves."""
        flags = [part for parent in parents for part in ("-p", parent)]
        ended = self.call("commit-tree", tree, *flags, "-F", "-", given=message.encode(), extra=IDENTITY)
        return ended.output.strip()

    def fetch(self, remote: Remote, *refspecs: str) -> None:
        self.call("fetch", "--no-tags", "--quiet", remote.url, *refspecs, extra=remote.environment())

    def remote_head(self, remote: Remote, branch: str) -> str | None:
        """The commit that a branch of the remote is at now, or None if there is none of that name."""
        ref = f"refs/heads/{branch}"
        listed = self.call("ls-remote", remote.url, ref, extra=remote.environment()).output
        found = [line.split("\t")[0] for line in listed.splitlines() if line.endswith("\t" + ref)]
        return found[0] if found else None

    def push(self, remote: Remote, commit: str, branch: str) -> bool:
        """Publish a commit on a branch; False if the branch has moved on, which is never overwritten. Raises GitFailed."""
        ended = self.call(
            "push",
            "--porcelain",
            remote.url,
            f"{commit}:refs/heads/{branch}",
            check=False,
            extra=remote.environment(),
        )
        if ended.ok:
            return True
        if any(line.startswith("!") and _has_moved(line) for line in ended.output.splitlines()):
            return False
        rejected = any(
            line.startswith("!") and "[remote rejected]" in line for line in ended.output.splitlines()
        )
        if rejected or "returned error: 403" in ended.errors:
            raise PushRefused(_remotes_words(ended), _sentences(ended))
        raise _failure("push", ended)


def _failure(command: str, ended: Ended) -> GitFailed:
    kind = Unauthorised if _NO_ENTRY.search(ended.errors) else GitFailed
    return kind(f"git {command} failed ({ended.how}, exit {ended.code}): {ended.errors.strip()[-1000:]}")


def _remotes_words(ended: Ended) -> str:
    """Why a remote rejects a push: its reason beside the branch, and what it says before."""
    said = [
        line.removeprefix("remote:").strip()
        for line in ended.errors.splitlines()
        if line.startswith("remote:")
    ]
    reason = [line.rpartition("\t")[2] for line in ended.output.splitlines() if line.startswith("!")]
    return "; ".join(word for word in (*reason, *said) if word)[:1000]


def _sentences(ended: Ended) -> list[str]:
    """What the remote begins with `- ` or `error: ` at the very edge, or says of the account that pushed.

    Names of files, which are the change's own words, stand further in.
    """
    found = (_SENTENCE.match(line) for line in ended.errors.splitlines())
    return [(one["rule"] or one["account"]).strip() for one in found if one is not None]


def _has_moved(line: str) -> bool:
    return any(
        word in line
        for word in ("non-fast-forward", "fetch first", "stale info", "already exists", "cannot lock ref")
    )


EMAIL = "41898282+github-actions[bot]@users.noreply.github.com"
_NAME = "cf-conductor"
IDENTITY = {
    "GIT_AUTHOR_NAME": _NAME,
    "GIT_AUTHOR_EMAIL": EMAIL,
    "GIT_COMMITTER_NAME": _NAME,
    "GIT_COMMITTER_EMAIL": EMAIL,
}
