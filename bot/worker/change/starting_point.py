"""Where work starts, and how one commit of it stands on the branches as they are by then."""

from msgspec import Struct
from msgspec.structs import replace

from bot.model.issue import Issue
from bot.model.record import Record
from bot.notation.keys import Key, branch_of
from bot.worker.change.git import EMAIL, Git


class Start(Struct, frozen=True):
    """`point` is the commit whose files the agent gets, `trunk` the one that the work goes on top of.

    `parents` are those of the commit to come: the trunk, and the base as well where a continued branch is brought up to date.
    `source` says in words what the work continues from; `notes` what could not be taken along.
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


def message(key: Key) -> str:
    """Our own words: an agent's could close issues or pretend to be somebody."""
    return f"Work on #{key.task}\n\nAttempt {key}.\n"


def is_ours(git: Git, head: str, base: str, record: Record, issue: Issue, branch: str) -> bool:
    """Whether a published branch may be continued: it holds only our commits, and no pull request of it was refused or merged."""
    if is_over(issue, branch) or git.is_ancestor(head, base):
        return False
    if head in {record.head, *(attempt.head for attempt in record.attempts)} - {""}:
        return True
    people = git.text("log", "--format=%ae%n%ce", head, "--not", base).split()
    return bool(people) and set(people) == {EMAIL}


def is_over(issue: Issue, branch: str) -> bool:
    """Whether the newest pull request of this branch was refused or merged: what comes next is another change."""
    pulls = [pull for pull in issue.pulls if pull.head_ref == branch]
    return bool(pulls) and not max(pulls, key=lambda pull: pull.number).is_open


def choose_start(
    git: Git, key: Key, base: str, head: str | None, *, ours: bool, earlier: str | None
) -> Start:
    """Continue earlier work, else the head of our published branch, else begin at the base. `head` is the branch's, or None."""
    continued = head is not None and ours
    branch = branch_of(key, fresh=head is not None and not ours)
    trunk = head if head is not None and ours else base
    parents: tuple[str, ...] = (trunk,)
    point, notes = trunk, []
    source = f"the head of {branch}" if continued else "the default branch"
    carries = False
    if head is not None and not ours:
        notes.append(f"{branch_of(key)} is somebody else's to move now, so this goes to {branch}")
    if continued and not git.is_ancestor(base, trunk):
        if tree := git.merged_tree(trunk, base):
            parents = (trunk, base)
            point = git.commit(tree, parents, message(key))
        else:
            notes.append(f"{branch} and the default branch contradict each other")
    if earlier is not None and not git.is_ancestor(earlier, point):
        if tree := git.merged_tree(point, earlier):
            point = git.commit(tree, parents, message(key))
            source, carries = "the kept work of an earlier attempt", True
        else:
            notes.append("the kept work of an earlier attempt no longer fits and was left out")
    return Start(point, trunk, parents, base, branch, continued, source, carries, tuple(notes))


def bring_up_to_date(
    git: Git, key: Key, start: Start, commit: str, base: str, head: str | None
) -> tuple[Start, str]:
    """The commit as it should be verified and published, seeing base and branch as they are now, and the start that it now has.

    Somebody's commit on the branch is kept below ours if the two agree; else ours goes to a branch of its own. A base that
    moved is taken in if it fits; if not, the pull request will show the conflict.
    """
    if head != (start.trunk if start.continued else None) and not _is_fresh(start, key):
        start, commit = _onto_moved_branch(git, key, start, commit, head)
    if base != start.base and (tree := git.merged_tree(commit, base)):
        parents = (start.trunk, base) if start.continued else (base,)
        start = replace(start, base=base, parents=parents, trunk=start.trunk if start.continued else base)
        commit = git.commit(tree, parents, message(key))
    elif base != start.base:
        start = replace(start, notes=(*start.notes, "the default branch has moved and contradicts this work"))
    return start, commit


def _is_fresh(start: Start, key: Key) -> bool:
    return start.branch == branch_of(key, fresh=True)


def _onto_moved_branch(git: Git, key: Key, start: Start, commit: str, head: str | None) -> tuple[Start, str]:
    if head is not None and start.continued and (tree := git.merged_tree(head, commit)):
        parents = (head, *start.parents[1:])
        moved = replace(
            start,
            trunk=head,
            parents=parents,
            notes=(*start.notes, f"{start.branch} got other commits meanwhile"),
        )
        return moved, git.commit(tree, parents, message(key))
    if head is None:  # the branch was deleted meanwhile; ours brings it back
        return start, commit
    branch = branch_of(key, fresh=True)
    return replace(
        start, branch=branch, notes=(*start.notes, f"{start.branch} has moved, so this goes to {branch}")
    ), commit
