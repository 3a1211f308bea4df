"""The end of the agent's job: its files become one commit of ours, are judged, and are kept for the jobs that follow."""

from pathlib import Path

from msgspec import Struct

from bot.model.config import Publish
from bot.notation.keys import Key, branch_of
from bot.notation.reports import BUNDLE_FILE
from bot.worker.change.bundle import write_bundle
from bot.worker.change.git import Git, Remote
from bot.worker.change.judge import FileChange, Findings, change_base, judge_change, patch_of, write_patch
from bot.worker.change.own_clone import agents_own
from bot.worker.change.starting_point import Start, bring_up_to_date, message
from bot.worker.programs.redact import Redactor

PATCH_FILE = "work.patch"


class Change(Struct, frozen=True):
    """What the agent did: the commit, where it stands now, its files, and what about it needs a person."""

    commit: str
    start: Start
    files: tuple[FileChange, ...]
    findings: Findings


def squash(clone: Git, key: Key, start: Start, tree: str, before: str) -> str | None:
    """One commit of the agent's files, or None if there is nothing to publish. `before` is the tree as the agent found it."""
    tree = agents_own(clone, tree, before, start.point)
    trunk = clone.text("rev-parse", f"{start.trunk}^{{tree}}")
    begun = clone.text("rev-parse", f"{start.point}^{{tree}}")
    if tree == trunk or (tree == begun and not start.carries):
        return None
    return clone.commit(tree, start.parents, message(key))


def look_again(
    clone: Git, remote: Remote, key: Key, start: Start, commit: str, default_branch: str
) -> tuple[Start, str]:
    """Fetch the branches as they are by now and put the commit on top of them."""
    base_ref = f"+refs/heads/{default_branch}:refs/cf/base"
    clone.fetch(remote, base_ref)
    base = clone.text("rev-parse", "refs/cf/base^{commit}")
    head = fetch_branch(clone, remote, branch_of(key))
    return bring_up_to_date(clone, key, start, commit, base, head)


def fetch_branch(git: Git, remote: Remote, branch: str) -> str | None:
    """The branch's commit, taken into the repository; None if there is no such branch."""
    head = git.remote_head(remote, branch)
    if head is not None and not git.has(head):
        git.fetch(remote, f"+refs/heads/{branch}:refs/cf/branch")
    return head


def hand_over(
    clone: Git,
    start: Start,
    commit: str,
    limits: Publish,
    redactor: Redactor,
    exceptions: tuple[str, ...],
    out: Path,
) -> Change:
    """Judge the change and keep it: as a bundle, unless it holds a secret; then as a redacted patch only."""
    before = change_base(clone, commit)
    files, findings = judge_change(clone, before, commit, limits, redactor, exceptions)
    out.mkdir(parents=True, exist_ok=True)
    if findings.secret:
        (out / PATCH_FILE).write_text(redactor.text(patch_of(clone, before, commit)), encoding="utf-8")
    else:
        write_bundle(clone, commit, start.parents, out / BUNDLE_FILE)
        if findings:
            write_patch(clone, before, commit, out / PATCH_FILE)
    return Change(commit, start, files, findings)
