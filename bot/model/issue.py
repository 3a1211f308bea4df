"""What GitHub says about accounts, issues, comments and pull requests, as plain values."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from bot.model.ref import Ref


class Account(Struct, frozen=True):
    """Who did something. A deleted account is `GHOST`: nobody, trusted with nothing, and not a bot."""

    id: int
    login: str
    is_bot: bool = False


GHOST = Account(0, "ghost")


class StateReason(StrEnum):
    """Why an issue is closed, or open again."""

    COMPLETED = "completed"
    NOT_PLANNED = "not_planned"
    DUPLICATE = "duplicate"
    REOPENED = "reopened"
    OTHER = "other"  # one that GitHub has and this version does not know


EVENTS_SEEN = 40
"""How many of an issue's newest events, edits of its body aside, are read with it."""

EDITS_SEEN = 100
"""How many edits of its body are read with it, in no known order; the newest is always among them."""


class EventKind(StrEnum):
    LABELED = "labeled"
    UNLABELED = "unlabeled"
    CLOSED = "closed"
    REOPENED = "reopened"
    RENAMED = "renamed"
    EDITED = "edited"  # of the body; `actor` is the editor


class TimelineEvent(Struct, frozen=True):
    """One entry of an issue's history. `label` is set for label events; `by_merge` on a close that a merge or commit caused."""

    kind: EventKind
    actor: Account
    at: datetime
    label: str | None = None
    by_merge: bool = False


class Comment(Struct, frozen=True):
    """One issue comment. `id` is the database id that REST takes, `node_id` the one that GraphQL takes."""

    id: int
    node_id: str
    issue: int
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime
    on_pull: bool = False

    @property
    def edited(self) -> bool:
        return self.updated_at > self.created_at


class Pull(Struct, frozen=True):
    """A pull request that says it closes the issue, or that we opened for it."""

    number: int
    author: Account
    is_open: bool
    merged: bool
    draft: bool
    head_ref: str
    head_sha: str
    url: str
    repository: str = ""
    changes_requested_at: datetime | None = None
    mergeable: bool | None = None  # None: GitHub is still computing it
    can_merge: bool = False  # nothing hinders its merge: no conflict, no required check or review
    node_id: str = ""  # where it was read by REST


class Edge(Struct, frozen=True):
    """One native `blocked by` edge, or one sub-issue. `ref` is None for an issue that the token cannot see."""

    ref: Ref | None
    state: "NeedState"


class NeedState(StrEnum):
    """Whether a need is satisfied, and if not, why: each says so in its own words."""

    COMPLETED = "completed"
    MERGED = "merged"
    OPEN = "open"
    OPEN_PULL = "open pull request"
    CLOSED_UNMERGED = "closed without merge"
    NOT_PLANNED = "closed as not planned"
    DUPLICATE = "closed as duplicate"
    CLOSED_OTHERWISE = "closed for a reason that this version does not know"
    UNREADABLE = "unreadable"  # this token gets 404: it may exist or not
    DELETED = "deleted"  # 410
    UNKNOWN = "not looked up"  # the lookup failed for now

    @property
    def satisfied(self) -> bool:
        return self in (NeedState.COMPLETED, NeedState.MERGED)


FIRST_COMMENTS = 5
"""How many comments come with an issue: its status comment is usually among them, and most issues have no more."""


class Issue(Struct, frozen=True):
    """One issue of the repository as GitHub shows it. `labels` keep their stored spelling; `events` are oldest first."""

    number: int
    node_id: str
    title: str
    body: str
    author: Account
    is_open: bool
    state_reason: StateReason | None
    labels: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None
    events: tuple[TimelineEvent, ...] = ()
    edges: tuple[Edge, ...] = ()
    hidden_edges: int = 0  # open blockers that the summary counts and the list does not show to this token
    children: tuple[Edge, ...] = ()  # its sub-issues
    hidden_children: int = 0  # open ones, as with `hidden_edges`
    milestone: str = ""  # its title
    pulls: tuple[Pull, ...] = ()
    comments: tuple[Comment, ...] = ()  # the first few; the record is usually among them
    locked: bool = False
    is_pull: bool = False

    def has_label(self, name: str) -> bool:
        """Label names compare without case."""
        return any(label.casefold() == name.casefold() for label in self.labels)
