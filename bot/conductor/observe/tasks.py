"""Tracked issues made into tasks: each with its record, its needs and the notices it was given."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from bot.github.port import Reader
from bot.model.batch import Batch
from bot.model.config import Config
from bot.model.issue import Comment, Issue, NeedState
from bot.model.record import Record
from bot.model.ref import Ref
from bot.model.task import Task
from bot.model.view import View
from bot.notation.codec import Unreadable
from bot.notation.comments import read_fingerprint, replied_to
from bot.notation.estimate import read_traits
from bot.notation.needs import read_needs
from bot.notation.records import read_record
from bot.notation.state import State
from bot.plan.facts.record_edits import said


def read_tasks(
    github: Reader,
    issues: Mapping[int, Issue],
    recent: Sequence[Comment],
    view: View,
    state: State | None,
    config: Config,
    accounts: frozenset[int],
) -> dict[int, Task]:
    """Each issue with its record: among its first comments, in the index, or so new that a tick died before indexing it."""
    held = {number: _record_among(issue.comments, number, accounts) for number, issue in issues.items()}
    index = {**state.finished, **state.records} if state else {}
    missing = {
        number: index[str(number)] for number in issues if held[number][0] is None and index.get(str(number))
    }
    fetched = github.comments_by_id(sorted(missing.values())) if missing else {}
    for number, node_id in missing.items():
        if node_id in fetched:
            held[number] = _record_among((fetched[node_id],), number, accounts)
    for number, comments in by_issue(recent).items():
        if number in issues and held[number][0] is None:
            held[number] = _record_among(comments, number, accounts)
    return {number: task_of(issue, *held[number], view, config) for number, issue in issues.items()}


def _record_among(
    comments: Sequence[Comment], task: int, accounts: frozenset[int]
) -> tuple[Comment | None, Record, str]:
    """The first of our comments that holds this task's record, the record, and what is wrong with it."""
    for comment in comments:
        try:
            record = read_record(comment, task, accounts)
        except Unreadable as error:
            return (
                comment,
                Record(task),
                f"its record cannot be read: {error}; delete that comment to start over",
            )
        if record is not None:
            return comment, record, ""
    return None, Record(task), ""


def task_of(
    issue: Issue, comment: Comment | None, record: Record, problem: str, view: View, config: Config
) -> Task:
    """The issue with what its text, labels and native edges say."""
    home = view.repository.full_name
    needs = read_needs(issue.body, home, config.dependencies.keywords, view.repository.server)
    native, hidden = config.dependencies.relations(issue)
    traits = read_traits(
        issue.labels,
        issue.body,
        config.prefix,
        priority_prefix=config.priority_prefix,
        default_priority=config.priority_default,
        category_prefix=config.category_prefix,
    )
    return Task(
        issue=replace(issue, hidden_edges=hidden),
        record=record,
        comment=comment,
        needs=tuple(
            dict.fromkeys((*needs.refs(home), *(edge.ref for edge in native if edge.ref is not None)))
        ),
        written=tuple(dict.fromkeys(needs.refs(home))),
        warnings=(*(str(warning) for warning in needs.warnings), *traits.warnings),
        priority=traits.priority,
        category=traits.category,
        estimate=traits.estimate,
        record_problem=problem,
    )


def native_needs(issues: Mapping[int, Issue]) -> dict[Ref, NeedState]:
    return {
        edge.ref: edge.state
        for issue in issues.values()
        for edge in (*issue.edges, *issue.children)
        if edge.ref is not None
    }


def with_own_needs(tasks: Mapping[int, Task], home: str, config: Config) -> dict[int, Task]:
    """The edges that we made ourselves (shared fixes, inference) beside those of text and GitHub.

    Where we write them as relations of GitHub's, too, such a relation is ours.
    """
    found = dict(tasks)
    for number, task in tasks.items():
        own = (Ref(home, need) for need in task.record.own_needs)
        others = task.written if config.dependencies.sync == "native" else task.needs
        if inferred := tuple(ref for ref in own if ref not in others):
            needs = tuple(dict.fromkeys((*task.needs, *inferred)))
            found[number] = replace(task, needs=needs, inferred=inferred)
    return found


def with_posted_notices(
    tasks: dict[int, Task], comments: Sequence[Comment], accounts: frozenset[int]
) -> dict[int, Task]:
    """Notices that were posted by a tick that died before it wrote the record, or whose record was deleted since."""
    shown = [comment for task in tasks.values() if task.comment is None for comment in task.issue.comments]
    for comment in (*shown, *comments):
        task = tasks.get(comment.issue)
        fingerprint = read_fingerprint(comment.body) if comment.author.id in accounts else None
        known = (
            fingerprint is None or replied_to(fingerprint) or (task and fingerprint in task.record.notices)
        )
        if task is not None and fingerprint is not None and not known:
            record = said(task.record, fingerprint)
            if fingerprint.startswith("question:"):
                record = replace(record, asked_in=comment.node_id)
            tasks[comment.issue] = replace(task, record=record, unsaved=True)
    return tasks


def with_inferred_needs(tasks: dict[int, Task], batches: Iterable[Batch], home: str) -> dict[int, Task]:
    """Needs that a model inferred hold for their batch only, and as long as it goes on."""
    for batch in batches:
        if batch.record.state.ended:
            continue
        for number, needs in batch.record.needs.items():
            if (task := tasks.get(number)) is not None:
                lent = tuple(ref for ref in (Ref(home, need) for need in needs) if ref not in task.needs)
                tasks[number] = replace(task, needs=(*task.needs, *lent), lent=lent)
    return tasks


def by_issue(comments: Sequence[Comment]) -> dict[int, tuple[Comment, ...]]:
    found: dict[int, tuple[Comment, ...]] = {}
    for comment in sorted(comments, key=lambda comment: (comment.created_at, comment.id)):
        if not comment.on_pull:
            found[comment.issue] = (*found.get(comment.issue, ()), comment)
    return found
