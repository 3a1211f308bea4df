"""The things of an issue tracker, as the world stores them."""

from dataclasses import dataclass, field
from datetime import datetime

from bot.model.issue import Account, StateReason
from bot.model.ref import Ref
from bot.sandbox.world.accounts import Token


@dataclass(slots=True, eq=False)
class LabelState:
    id: int
    node_id: str
    name: str
    color: str = "ededed"
    description: str = ""


@dataclass(slots=True, eq=False)
class EventState:
    """`kind` is GitHub's name of the timeline event. `before` and `after` are titles; `commit` the commit or merge that closed."""

    id: int
    kind: str
    actor: Account
    at: datetime
    label: LabelState | None = None
    by_merge: bool = False
    before: str = ""
    after: str = ""
    reason: StateReason | None = None
    pull: int = 0


@dataclass(slots=True, eq=False)
class CommentState:
    id: int
    node_id: str
    issue: int
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime
    reactions: list[tuple[str, Account]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class EditState:
    """One edit of an issue's body."""

    editor: Account
    at: datetime


@dataclass(slots=True, eq=False)
class IssueState:
    """An issue, or the issue side of a pull request."""

    id: int
    node_id: str
    number: int
    title: str
    body: str
    author: Account
    created_at: datetime
    updated_at: datetime
    is_open: bool = True
    state_reason: StateReason | None = None
    closed_at: datetime | None = None
    closed_by: Account | None = None
    locked: bool = False
    is_pull: bool = False
    labels: list[LabelState] = field(default_factory=list)
    events: list[EventState] = field(default_factory=list)
    edits: list[EditState] = field(default_factory=list)
    comments: list[CommentState] = field(default_factory=list)
    blocked_by: list[Ref] = field(default_factory=list)
    reactions: list[tuple[str, Account]] = field(default_factory=list)
    milestone: str = ""  # its title
    children: list[Ref] = field(default_factory=list)  # its sub-issues

    def has_label(self, name: str) -> bool:
        return any(label.name.casefold() == name.casefold() for label in self.labels)


@dataclass(slots=True, eq=False)
class RemarkState:
    """A reviewer's comment on a line of a file."""

    id: int
    node_id: str
    path: str
    line: int
    body: str


@dataclass(slots=True, eq=False)
class ReviewState:
    id: int
    node_id: str
    author: Account
    state: str  # APPROVED, CHANGES_REQUESTED, COMMENTED
    body: str
    at: datetime
    commit: str
    remarks: tuple[RemarkState, ...] = ()


@dataclass(slots=True, eq=False)
class PullState:
    """The pull request side; `issue` holds number, text, labels and comments."""

    id: int
    node_id: str
    issue: IssueState
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    draft: bool = False
    merged_at: datetime | None = None
    merged_by: Account | None = None
    reviews: list[ReviewState] = field(default_factory=list)
    requested: list[Account] = field(
        default_factory=list
    )  # who was asked for a review and has not given one since
    merges_later: Token | None = None  # who asked that it is merged once nothing required is missing

    @property
    def number(self) -> int:
        return self.issue.number

    @property
    def merged(self) -> bool:
        return self.merged_at is not None


@dataclass(slots=True, eq=False)
class JobState:
    """`name` is unique in a run's attempt. `steps` are (name, status, conclusion)."""

    name: str
    status: str = "queued"
    conclusion: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    steps: tuple[tuple[str, str, str | None], ...] = ()
    id: int = 0
    run_id: int = 0
    attempt: int = 1
    created_at: datetime | None = None
    annotations: tuple[str, ...] = ()
    log: str = ""


@dataclass(slots=True, eq=False)
class ArtifactState:
    id: int
    run_id: int
    name: str
    data: bytes
    created_at: datetime
    expires_at: datetime
    expired: bool = False
