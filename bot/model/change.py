"""Orders to GitHub, as values with a key: the same order is recognised when it is given twice."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AddLabel:
    issue: str  # node id
    label: str  # name, in its stored spelling


@dataclass(frozen=True, slots=True)
class RemoveLabel:
    """Removing a label that is not there is no error."""

    issue: str
    label: str


@dataclass(frozen=True, slots=True)
class CreateComment:
    issue: str
    body: str


@dataclass(frozen=True, slots=True)
class EditComment:
    comment: str  # node id
    body: str


@dataclass(frozen=True, slots=True)
class CloseIssue:
    """Close as completed."""

    issue: str


@dataclass(frozen=True, slots=True)
class CreateIssue:
    title: str
    body: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EditIssue:
    """Replace the body of an issue of our own (dashboard, batch); never of a person's."""

    issue: str
    body: str


@dataclass(frozen=True, slots=True)
class React:
    """`content` is GraphQL's ReactionContent: EYES, ROCKET, CONFUSED."""

    subject: str
    content: str


Change = AddLabel | RemoveLabel | CreateComment | EditComment | CloseIssue | CreateIssue | EditIssue | React


@dataclass(frozen=True, slots=True)
class Written:
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
