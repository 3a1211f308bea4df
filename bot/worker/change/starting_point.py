"""Where work starts, and how one commit of it stands on the branches as they are by then."""

import re

from msgspec import Struct
from msgspec.structs import replace

from bot.model.issue import Issue
from bot.model.record import Record
from bot.notation.keys import Key, branch_of
from bot.worker.change.git import EMAIL, Git
from bot.worker.change.merging import (
    DEFAULT_BRANCH,
    EARLIER_WORK,
    PULL_REQUEST,
    left_over,
    merge_with_markers,
)


class Start(Struct, frozen=True):
    """`point` is the commit whose files the agent gets, `trunk` the one that the work goes on top of.

    `parents` are those of the commit to come: the trunk, and the base as well where a continued branch is brought up to date.
    `source` says in words what the work continues from; `notes` what could not be taken along. `conflicts` are the paths that the
    agent has to settle: git's markers stand in the point. `contradicts` is set where other people's commits came meanwhile and do
    not fit: then nothing can be published, and the next attempt starts from both.
    """

    point: str
    trunk: str
    parents: tuple[str, ...]
    base: str
    branch: str
    continued: bool
    source: str
    carries: bool = False  # earlier work that is not published yet is in it
    notes: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    contradicts: str = ""


def message(key: Key) -> str:
    """Our own words: an agent's could close issues or pretend to be somebody."""
    return f"Work on #{key.task}\n\nAttempt {key}.\n"


def own_branch(key: Key, record: Record, issue: Issue) -> str:
    """The branch that holds the task's published work: that of its open pull request, else the one named after the task."""
    heads = [pull.head_ref for pull in issue.pulls if pull.number == record.pull and pull.is_open]
    ours = [head for head in heads if re.fullmatch(rf"cf/{key.task}(?:-[1-9][0-9]*)?", head, re.ASCII)]
    return ours[0] if ours else branch_of(key)


def is_ours(git: Git, head: str, base: str, record: Record, issue: Issue, branch: str) -> bool:
    """Whether a published branch is continued: what we published last is still in it, and no pull request of it is over.

    What people have added since is kept, and theirs. Only a branch that they have rewritten is left to them.
    """
    if is_over(issue, branch) or git.is_ancestor(head, base):
        return False
    known = {record.head, *(attempt.head for attempt in record.attempts)} - {""}
    if head in known:
        return True
    if published := [attempt.head for attempt in record.attempts if attempt.pull and attempt.head]:
        return stands_on(git, head, published[-1])
    if any(stands_on(git, head, one) for one in known):
        return True
    people = git.text("log", "--format=%ae%n%ce", head, "--not", base).split()
    return bool(people) and set(people) == {EMAIL}


def stands_on(git: Git, head: str, commit: str) -> bool:
    """Whether a commit is there and part of the other's history."""
    return git.has(commit) and git.is_ancestor(commit, head)


def is_over(issue: Issue, branch: str) -> bool:
    """Whether the newest pull request of this branch was refused or merged: what comes next is another change."""
    pulls = [pull for pull in issue.pulls if pull.head_ref == branch]
    return bool(pulls) and not max(pulls, key=lambda pull: pull.number).is_open


def choose_start(
    git: Git, key: Key, base: str, head: str | None, *, ours: bool, earlier: str | None, branch: str = ""
) -> Start:
    """Continue earlier work, else the head of our published branch, else begin at the base. `head` is that of `branch`, or None.

    Where the sides contradict each other the point is their merge, with markers, and the commit to come has the parents of one.
    """
    own = branch or branch_of(key)
    continued = head is not None and ours
    trunk = head if head is not None and ours else base
    notes = []
    if head is not None and not ours:
        notes.append(f"{own} is somebody else's to move now, so this goes to {branch_of(key, fresh=True)}")
    joined = _join(git, _Joined(trunk, trunk, (trunk,)), base, earlier)
    commit = joined.tip
    if joined.tree:
        commit = git.commit(joined.tree, joined.parents, message(key))
    elif joined.tip != trunk:  # the kept work as it is, on what it stands on
        commit = git.commit(git.text("rev-parse", f"{joined.tip}^{{tree}}"), joined.parents, message(key))
    source = "the kept work of an earlier attempt" if joined.carries else ""
    return Start(
        commit,
        trunk,
        joined.parents,
        base,
        branch_of(key, fresh=True) if head is not None and not ours else own,
        continued,
        source or (f"the head of {own}" if continued else "the default branch"),
        joined.carries,
        (*notes, *joined.notes),
        left_over(git, commit, joined.conflicts) if joined.conflicts or joined.carries else (),
    )


class _Joined(Struct, frozen=True):
    """What was joined so far: `tip` is a commit with all of its history, of which `tree` are the files where they are others.

    `parents` are what everybody has of it.
    """

    trunk: str
    tip: str
    parents: tuple[str, ...]
    tree: str = ""
    carries: bool = False
    conflicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _join(git: Git, joined: _Joined, base: str, earlier: str | None) -> _Joined:
    """Trunk, base and kept work together. At most one of the two merges may contradict: markers are never merged again."""
    trunk = joined.trunk
    name = DEFAULT_BRANCH if trunk == base else PULL_REQUEST
    if earlier is None or git.is_ancestor(earlier, trunk):
        return _with_base(git, joined, base, name)
    if git.is_ancestor(trunk, earlier):
        known = git.is_ancestor(base, earlier) and not git.is_ancestor(base, trunk)
        parents = (trunk, base) if known else (trunk,)
        kept = replace(joined, tip=earlier, parents=parents, carries=True)
        return _with_base(git, kept, base, EARLIER_WORK)
    first = merge_with_markers(git, (name, trunk), (EARLIER_WORK, earlier))
    if not first.conflicts:
        tip = git.commit(first.tree, (trunk, earlier), "joined")
        kept = replace(joined, tip=tip, tree=first.tree, carries=True)
        return _with_base(git, kept, base, EARLIER_WORK)
    updated = _with_base(git, joined, base, name)
    if updated.conflicts:
        words = "the default branch contradicts this work as well and is not in it yet"
        return replace(joined, tree=first.tree, carries=True, conflicts=first.paths, notes=(words,))
    merged = (
        first if updated is joined else merge_with_markers(git, (name, updated.tip), (EARLIER_WORK, earlier))
    )
    return replace(updated, tree=merged.tree, carries=True, conflicts=merged.paths)


def _with_base(git: Git, joined: _Joined, base: str, name: str) -> _Joined:
    if git.is_ancestor(base, joined.tip):
        return joined
    merged = merge_with_markers(git, (name, joined.tip), (DEFAULT_BRANCH, base))
    tip = joined.tip if merged.conflicts else git.commit(merged.tree, (joined.tip, base), "joined")
    return replace(joined, tip=tip, tree=merged.tree, parents=(joined.trunk, base), conflicts=merged.paths)


def bring_up_to_date(
    git: Git, key: Key, start: Start, commit: str, base: str, head: str | None
) -> tuple[Start, str]:
    """The commit as it should be verified and published, seeing base and branch as they are now, and the start that it now has.

    Somebody's commit on the branch is kept below ours if the two agree; if not, nothing goes out. Where the branch was rewritten,
    ours goes to a branch of its own. A base that moved is taken in if it fits; if not, the pull request will show the conflict.
    """
    if head != (start.trunk if start.continued else None) and not _is_fresh(start, key):
        start, commit = _onto_moved_branch(git, key, start, commit, head)
    if start.contradicts:
        return start, commit
    if base != start.base and (tree := git.merged_tree(commit, base)):
        parents = (start.trunk, base) if start.continued else (base,)
        start = replace(start, base=base, parents=parents, trunk=start.trunk if start.continued else base)
        commit = git.commit(tree, parents, message(key))
    elif base != start.base:
        start = replace(start, notes=(*start.notes, "the default branch has moved and contradicts this work"))
    return start, commit


def is_already_there(git: Git, commit: str, base: str) -> bool:
    """Whether the base holds all of a commit's change: merging the one into the other would change no file."""
    return git.merged_tree(base, commit) == git.text("rev-parse", f"{base}^{{tree}}")


def _is_fresh(start: Start, key: Key) -> bool:
    return start.branch == branch_of(key, fresh=True)


def _onto_moved_branch(git: Git, key: Key, start: Start, commit: str, head: str | None) -> tuple[Start, str]:
    if head is None:  # the branch was deleted meanwhile; ours brings it back
        return start, commit
    if start.continued and git.is_ancestor(start.trunk, head):
        tree = git.merged_tree(head, commit)
        if tree is None:
            words = f"{start.branch} got other commits meanwhile, and this work contradicts them"
            return replace(start, contradicts=words), commit
        moved = replace(
            start,
            trunk=head,
            parents=(head, *start.parents[1:]),
            notes=(*start.notes, f"{start.branch} got other commits meanwhile"),
        )
        return moved, git.commit(tree, moved.parents, message(key))
    branch = branch_of(key, fresh=True)
    return replace(
        start, branch=branch, notes=(*start.notes, f"{start.branch} has moved, so this goes to {branch}")
    ), commit
