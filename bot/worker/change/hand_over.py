"""The end of the agent's job: its files become one commit of ours, are judged, and are kept for the jobs that follow."""

from pathlib import Path

from msgspec import Struct

from bot.model.config import Publish
from bot.notation.keys import Key
from bot.notation.reports import BUNDLE_FILE
from bot.worker.change.bundle import write_bundle
from bot.worker.change.git import Git, Remote
from bot.worker.change.judge import (
    FileChange,
    Findings,
    change_base,
    judge_change,
    patch_base,
    patch_of,
    write_patch,
)
from bot.worker.change.merging import unsettled
from bot.worker.change.own_clone import agents_own
from bot.worker.change.starting_point import Start, bring_up_to_date, is_already_there, message
from bot.worker.programs.redact import Redactor

PATCH_FILE = "work.patch"
ALREADY_THERE = "already there: the default branch, or this task's, holds all of it by now"


class Change(Struct, frozen=True):
    """What the agent did: the commit, where it stands now, its files, and what about it needs a person.

    `unsettled` says which conflict of its start was not settled; empty if there is none.
    """

    commit: str
    start: Start
    files: tuple[FileChange, ...]
    findings: Findings
    unsettled: str = ""


def squash(clone: Git, key: Key, start: Start, tree: str, before: str) -> str | None:
    """One commit of the agent's files, or None if there is nothing to publish. `before` is the tree as the agent found it."""
    tree = agents_own(clone, tree, before, start.point)
    trunk = clone.text("rev-parse", f"{start.trunk}^{{tree}}")
    begun = clone.text("rev-parse", f"{start.point}^{{tree}}")
    settles = (
        bool(start.conflicts) and len(start.parents) > 1
    )  # also by dropping a side, which is judged later
    if (tree == trunk and not settles) or (tree == begun and not start.carries and not start.conflicts):
        return None
    return clone.commit(tree, start.parents, message(key))


def look_again(
    clone: Git, remote: Remote, key: Key, start: Start, commit: str, default_branch: str
) -> tuple[Start, str]:
    """Fetch the branches as they are by now and put the commit on top of them."""
    base_ref = f"+refs/heads/{default_branch}:refs/cf/base"
    clone.fetch(remote, base_ref)
    base = clone.text("rev-parse", "refs/cf/base^{commit}")
    head = fetch_branch(clone, remote, start.branch)
    return bring_up_to_date(clone, key, start, commit, base, head)


def has_nothing_of_its_own(clone: Git, start: Start, commit: str) -> bool:
    """Whether the default branch, or the branch that the commit continues, holds by now all that it would bring."""
    tree = clone.text("rev-parse", f"{commit}^{{tree}}")
    joined = clone.merged_tree(*start.parents) if len(start.parents) > 1 else f"{start.trunk}^{{tree}}"
    empty = joined is not None and clone.text("rev-parse", joined) == tree
    return empty or is_already_there(clone, commit, start.base)


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
            write_patch(clone, patch_base(clone, commit), commit, out / PATCH_FILE)
    return Change(commit, start, files, findings, unsettled(clone, commit, start.conflicts))
