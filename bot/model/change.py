"""Orders to GitHub, as values with a key: the same order is recognised when it is given twice."""

from msgspec import Struct


class AddLabel(Struct, frozen=True):
    issue: str  # node id
    label: str  # name, in its stored spelling


class RemoveLabel(Struct, frozen=True):
    """Removing a label that is not there is no error."""

    issue: str
    label: str


class CreateComment(Struct, frozen=True):
    issue: str
    body: str


class EditComment(Struct, frozen=True):
    comment: str  # node id
    body: str


class CloseIssue(Struct, frozen=True):
    """Close as completed."""

    issue: str


class ReopenIssue(Struct, frozen=True):
    """Open an issue of our own again (a batch that goes on)."""

    issue: str


class CreateIssue(Struct, frozen=True):
    title: str
    body: str
    labels: tuple[str, ...]


class EditIssue(Struct, frozen=True):
    """Replace the body of an issue of our own (dashboard, batch); never of a person's."""

    issue: str
    body: str


EYES, ROCKET, CONFUSED = "EYES", "ROCKET", "CONFUSED"
"""Reactions, as GraphQL's ReactionContent names them: seen, done, not done."""


class React(Struct, frozen=True):
    """`content` is one of the reactions above; the same one twice is one."""

    subject: str
    content: str


Change = (
    AddLabel
    | RemoveLabel
    | CreateComment
    | EditComment
    | CloseIssue
    | ReopenIssue
    | CreateIssue
    | EditIssue
    | React
)


class Written(Struct, frozen=True):
    """What became of one change, in the order given. `node_id`, `id` and `number` name what was created or edited.

    `error` is GitHub's own sentence when this one change was refused; the others of the same document may hold all the same.
    """

    error: str = ""
    node_id: str = ""
    id: int = 0
    number: int = 0

    @property
    def ok(self) -> bool:
        return not self.error
