"""Native `blocked by` edges and sub-issues, and how the issues they name stand, in this repository and in others."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from bot.model.issue import NeedState, StateReason
from bot.model.ref import Ref
from bot.sandbox.world.accounts import Token
from bot.sandbox.world.core import Core
from bot.sandbox.world.errors import ApiError, invalid, not_found
from bot.sandbox.world.issues import Issues
from bot.sandbox.world.pulls import Pulls
from bot.sandbox.world.state import IssueState

MAX_EDGES = 50

_CLOSED = {
    StateReason.NOT_PLANNED: NeedState.NOT_PLANNED,
    StateReason.DUPLICATE: NeedState.DUPLICATE,
    StateReason.OTHER: NeedState.CLOSED_OTHERWISE,
}


@dataclass(slots=True)
class Dependencies:
    """`elsewhere` says how things in other repositories stand; UNREADABLE ones exist but are hidden from our tokens."""

    core: Core
    issues: Issues
    pulls: Pulls
    elsewhere: dict[Ref, NeedState] = field(default_factory=dict)

    def add(self, issue: IssueState, on: Ref, by: Token) -> None:
        """Raises ApiError 422 for the issue itself, a repetition, or the fifty-first edge."""
        self.core.accounts.require(by, "write", "issues", role="triage")
        if on == Ref(self.core.repository, issue.number):
            raise invalid("Validation Failed: an issue cannot be blocked by itself")
        here = self.issues.by_number.get(on.number) if on.repository == self.core.repository.lower() else None
        if here is not None and here.is_pull:
            raise invalid("Validation Failed: only issues can be blockers")
        if on in issue.blocked_by:
            raise invalid("Validation Failed: the dependency exists already")
        if len(issue.blocked_by) >= MAX_EDGES:
            raise invalid(f"Validation Failed: an issue may have at most {MAX_EDGES} blockers")
        issue.blocked_by.append(on)
        issue.updated_at = self.core.now

    def remove(self, issue: IssueState, on: Ref, by: Token) -> None:
        """Raises ApiError 404 if there is no such edge."""
        self.core.accounts.require(by, "write", "issues", role="triage")
        if on not in issue.blocked_by:
            raise not_found()
        issue.blocked_by.remove(on)
        issue.updated_at = self.core.now

    def state(self, ref: Ref) -> NeedState:
        """How the issue or pull request stands, as a token of ours can see it."""
        if ref.repository != self.core.repository.lower():
            return self.elsewhere.get(ref, NeedState.UNREADABLE)
        try:
            issue = self.issues.get(ref.number)
        except ApiError as error:
            return NeedState.DELETED if error.status == 410 else NeedState.UNREADABLE
        if issue.is_pull:
            return self._pull_state(issue.number)
        if issue.is_open:
            return NeedState.OPEN
        return _CLOSED.get(issue.state_reason or StateReason.COMPLETED, NeedState.COMPLETED)

    def _pull_state(self, number: int) -> NeedState:
        pull = self.pulls.by_number[number]
        if pull.merged:
            return NeedState.MERGED
        return NeedState.OPEN_PULL if pull.issue.is_open else NeedState.CLOSED_UNMERGED

    def is_open(self, ref: Ref) -> bool:
        """Whether the summary counts it as still blocking; what is hidden counts as open."""
        return self.state(ref) in (
            NeedState.OPEN,
            NeedState.OPEN_PULL,
            NeedState.UNREADABLE,
            NeedState.UNKNOWN,
        )

    def visible(self, refs: Iterable[Ref]) -> tuple[Ref, ...]:
        """Those of these blockers or sub-issues that a list shows to our tokens."""
        shown = (ref for ref in refs if self.state(ref) not in (NeedState.UNREADABLE, NeedState.DELETED))
        return tuple(shown)

    def blocked_by_open(self, issue: IssueState) -> int:
        """What the summary says: open blockers, the hidden ones included."""
        return self.count_open(issue.blocked_by)

    def count_open(self, refs: Iterable[Ref]) -> int:
        """How many of them a summary counts as open, the hidden ones included."""
        return sum(self.is_open(ref) for ref in refs if self.state(ref) is not NeedState.DELETED)

    def blocking(self, issue: IssueState) -> tuple[IssueState, ...]:
        """The issues that this one blocks."""
        here = Ref(self.core.repository, issue.number)
        return tuple(other for other in self.issues.all() if here in other.blocked_by)
