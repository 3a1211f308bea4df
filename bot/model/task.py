"""A task: an issue, our record about it, and what its text says, side by side."""

from datetime import timedelta

from msgspec import Struct

from bot.model.issue import Comment, Issue
from bot.model.record import Record
from bot.model.ref import Ref


class Task(Struct, frozen=True):
    """`needs` is the union of the text's, the native and our own edges, sub-issues included where they count. `inferred` are those
    among them that are ours alone, and that fall away when the issue is closed in any way, `written` those that the text names,
    `lent` those that hold only as long as its batch goes on. `warnings` are declarations that could not be read, in plain words.

    `comment` is the status comment that holds the record, if there is one; `record` is empty (`Record(number)`) otherwise.
    `record_problem` says why a comment of ours could not be read; such a task is held, never guessed at.
    `digest` binds an approval to title and body where these are not at hand, as in the record of a tick; empty: of what is there.
    `unsaved`: the record says more than GitHub holds, because a tick died before it wrote it or the comment was deleted.
    """

    issue: Issue
    record: Record
    comment: Comment | None = None
    needs: tuple[Ref, ...] = ()
    inferred: tuple[Ref, ...] = ()
    written: tuple[Ref, ...] = ()
    lent: tuple[Ref, ...] = ()
    warnings: tuple[str, ...] = ()
    priority: int = 5
    category: str = ""
    estimate: timedelta | None = None
    record_problem: str = ""
    unsaved: bool = False
    digest: str = ""

    @property
    def number(self) -> int:
        return self.issue.number
