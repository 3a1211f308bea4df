"""Issues, labels, comments and reactions: what they hold, and who may change them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bot.model.issue import Account, StateReason
from bot.sandbox.world.accounts import Token
from bot.sandbox.world.core import Core, Happening
from bot.sandbox.world.errors import forbidden, gone, invalid, not_found
from bot.sandbox.world.state import CommentState, EditState, EventState, IssueState, LabelState

MAX_BODY = 65_536
MAX_TITLE = 256
MAX_LABELS = 100
REACTIONS = ("THUMBS_UP", "THUMBS_DOWN", "LAUGH", "HOORAY", "CONFUSED", "HEART", "ROCKET", "EYES")


@dataclass(slots=True)
class Issues:
    """The issue tracker. Every change takes the token it is made with and raises ApiError if that may not."""

    core: Core
    by_number: dict[int, IssueState] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)
    labels: dict[str, LabelState] = field(default_factory=dict)  # by casefolded name
    comments: dict[int, CommentState] = field(default_factory=dict)
    nodes: dict[str, object] = field(default_factory=dict)

    # ------------------------------------------------------------------ reading

    def get(self, number: int) -> IssueState:
        """Raises ApiError 410 for a deleted issue, 404 for one that never was."""
        if number in self.deleted:
            raise gone("This issue was deleted")
        try:
            return self.by_number[number]
        except KeyError:
            raise not_found() from None

    def comment(self, comment_id: int) -> CommentState:
        """Raises ApiError 404."""
        try:
            return self.comments[comment_id]
        except KeyError:
            raise not_found() from None

    def label(self, name: str) -> LabelState:
        """By name, without case. Raises ApiError 404."""
        try:
            return self.labels[name.casefold()]
        except KeyError:
            raise not_found() from None

    def node(self, node_id: str) -> object:
        """Anything with a node id. Raises ApiError 404 in GraphQL's words."""
        try:
            return self.nodes[node_id]
        except KeyError:
            raise not_found(f"Could not resolve to a node with the global id of '{node_id}'.") from None

    def all(self) -> Iterator[IssueState]:
        """By number."""
        return iter(self.by_number.values())

    # ------------------------------------------------------------------ labels of the repository

    def create_label(self, name: str, color: str, description: str, by: Token) -> LabelState:
        self.core.accounts.require(by, "write", "issues", "pull-requests", role="write")
        if not name.strip() or len(name) > 50:
            raise invalid("Validation Failed: name is missing or too long (maximum is 50 characters)")
        if len(description) > 100:
            raise invalid("Validation Failed: description is too long (maximum is 100 characters)")
        if name.casefold() in self.labels:
            raise invalid("Validation Failed: already_exists")
        return self._new_label(name, color, description)

    def delete_label(self, name: str, by: Token) -> None:
        self.core.accounts.require(by, "write", "issues", "pull-requests", role="write")
        label = self.label(name)
        del self.labels[name.casefold()], self.nodes[label.node_id]
        for issue in self.by_number.values():
            if label in issue.labels:
                issue.labels.remove(label)

    # ------------------------------------------------------------------ issues

    def create(
        self, title: str, body: str, labels: Sequence[str], by: Token, *, is_pull: bool = False
    ) -> IssueState:
        """A new issue. Labels by an account that may not set them are dropped without a word, as GitHub does."""
        if not is_pull:
            self.core.accounts.require(by, "write", "issues", role="read")
        self._check_text(title, body)
        number = max([0, *self.by_number, *self.deleted]) + 1
        issue_id = self.core.next_id("issue")
        now = self.core.now
        issue = IssueState(
            issue_id,
            self.core.node_id("issue", issue_id),
            number,
            title,
            body,
            by.account,
            now,
            now,
            is_pull=is_pull,
        )
        self.by_number[number] = issue
        self.nodes[issue.node_id] = issue
        if not is_pull:
            self._tell("opened", issue, by)
        if labels and self.core.accounts.allows(by, "write", ("issues", "pull-requests"), "triage"):
            for name in labels:
                self.add_label(issue, name, by, create=True)
        return issue

    def edit(
        self, issue: IssueState, by: Token, *, title: str | None = None, body: str | None = None
    ) -> None:
        """New title or body; the same text again is no edit."""
        self._may_change(issue, by, "write")
        self._check_text(issue.title if title is None else title, issue.body if body is None else body)
        if title is not None and title != issue.title:
            self._event(issue, "renamed", by.account, before=issue.title, after=title)
            issue.title = title
            self._edited(issue, by)
        if body is not None and body != issue.body:
            if not issue.edits:
                issue.edits.append(EditState(issue.author, issue.created_at))
            issue.edits.append(EditState(by.account, self.core.now))
            issue.body = body
            self._edited(issue, by)

    def close(
        self,
        issue: IssueState,
        reason: StateReason,
        by: Token,
        *,
        by_merge: bool = False,
        pull: int = 0,
    ) -> None:
        """Close, or change the reason of a closed issue."""
        if not by_merge:
            self._may_change(issue, by, "triage")
        if not issue.is_open and issue.state_reason is reason:
            return
        issue.is_open = False
        issue.state_reason = None if issue.is_pull else reason
        issue.closed_at = self.core.now
        issue.closed_by = by.account
        self._event(issue, "closed", by.account, by_merge=by_merge, reason=issue.state_reason, pull=pull)
        if not issue.is_pull:
            self._tell("closed", issue, by)

    def reopen(self, issue: IssueState, by: Token) -> None:
        self._may_change(issue, by, "triage")
        if issue.is_open:
            return
        issue.is_open = True
        issue.state_reason = None if issue.is_pull else StateReason.REOPENED
        issue.closed_at = issue.closed_by = None
        self._event(issue, "reopened", by.account, reason=issue.state_reason)
        if not issue.is_pull:
            self._tell("reopened", issue, by)

    def lock(self, issue: IssueState, by: Token) -> None:
        """Only those who may write can comment from now on."""
        self.core.accounts.require(by, "write", "issues", role="write")
        issue.locked = True

    def delete(self, issue: IssueState, by: Token) -> None:
        self.core.accounts.require(by, "write", "issues", role="admin")
        if by.kind == "run":
            raise forbidden()
        self._take_out(issue)
        self._tell("deleted", issue, by)

    def transfer(self, issue: IssueState, by: Token) -> None:
        """Move it to another repository, or make a discussion of it: here it is gone, and so are its comments.

        Source: docs.github.com, "Transferring an issue to another repository" and "Moderating discussions"; whoever may write can.
        """
        self.core.accounts.require(by, "write", "issues", role="write")
        self._take_out(issue)
        self._tell("transferred", issue, by)

    def _take_out(self, issue: IssueState) -> None:
        del self.by_number[issue.number], self.nodes[issue.node_id]
        self.deleted.add(issue.number)
        for comment in issue.comments:
            del self.comments[comment.id], self.nodes[comment.node_id]

    # ------------------------------------------------------------------ labels of an issue

    def add_label(self, issue: IssueState, name: str, by: Token, *, create: bool = False) -> None:
        """Add a label; having it already is no change and no event. `create`: REST makes unknown labels on the way."""
        self.core.accounts.require(by, "write", "issues", "pull-requests", role="triage")
        label = self.labels.get(name.casefold())
        if label is None:
            if not create:
                raise not_found(f"Could not resolve to a Label with the name '{name}'.")
            label = self._new_label(name, "ededed", "")
        if label in issue.labels:
            return
        if len(issue.labels) >= MAX_LABELS:
            raise invalid(f"Validation Failed: an issue may have at most {MAX_LABELS} labels")
        issue.labels.append(label)
        self._event(issue, "labeled", by.account, label=label)
        self._tell_labels("labeled", issue, by, label)

    def remove_label(self, issue: IssueState, name: str, by: Token) -> bool:
        """Whether the label was there."""
        self.core.accounts.require(by, "write", "issues", "pull-requests", role="triage")
        label = self.labels.get(name.casefold())
        if label is None or label not in issue.labels:
            return False
        issue.labels.remove(label)
        self._event(issue, "unlabeled", by.account, label=label)
        self._tell_labels("unlabeled", issue, by, label)
        return True

    # ------------------------------------------------------------------ comments and reactions

    def add_comment(self, issue: IssueState, body: str, by: Token) -> CommentState:
        self.core.accounts.require(by, "write", "issues", "pull-requests", role="read")
        self._check_unlocked(issue, by)
        self._check_body(body)
        if not body.strip():
            raise invalid("Validation Failed: body cannot be blank")
        comment_id = self.core.next_id("comment")
        now = self.core.now
        node_id = self.core.node_id("comment", comment_id)
        comment = CommentState(comment_id, node_id, issue.number, by.account, body, now, now)
        issue.comments.append(comment)
        issue.updated_at = now
        self.comments[comment_id] = comment
        self.nodes[node_id] = comment
        self._tell_comment("created", comment, by)
        return comment

    def set_locked(self, issue: IssueState, by: Token, *, locked: bool) -> None:
        """Lock or unlock the conversation."""
        self.core.accounts.require(by, "write", "issues", "pull-requests", role="triage")
        issue.locked = locked
        issue.updated_at = self.core.now

    def edit_comment(self, comment: CommentState, body: str, by: Token) -> None:
        self._may_change_comment(comment, by)
        self._check_body(body)
        if body == comment.body:
            return
        comment.body = body
        comment.updated_at = self.by_number[comment.issue].updated_at = self.core.now
        self._tell_comment("edited", comment, by)

    def delete_comment(self, comment: CommentState, by: Token) -> None:
        self._may_change_comment(comment, by)
        del self.comments[comment.id], self.nodes[comment.node_id]
        self.by_number[comment.issue].comments.remove(comment)
        self._tell_comment("deleted", comment, by)

    def react(self, subject: IssueState | CommentState, content: str, by: Token) -> None:
        """React once; the same again is no change."""
        self.core.accounts.require(by, "write", "issues", "pull-requests", role="read")
        if content not in REACTIONS:
            raise invalid(f"{content} is not a reaction")
        if (content, by.account) not in subject.reactions:
            subject.reactions.append((content, by.account))

    # ------------------------------------------------------------------ inside

    def _new_label(self, name: str, color: str, description: str) -> LabelState:
        label_id = self.core.next_id("label")
        label = LabelState(label_id, self.core.node_id("label", label_id), name, color, description)
        self.labels[name.casefold()] = label
        self.nodes[label.node_id] = label
        return label

    def _event(
        self,
        issue: IssueState,
        kind: str,
        actor: Account,
        *,
        label: LabelState | None = None,
        by_merge: bool = False,
        before: str = "",
        after: str = "",
        reason: StateReason | None = None,
        pull: int = 0,
    ) -> None:
        now = self.core.now
        event = EventState(
            self.core.next_id("event"), kind, actor, now, label, by_merge, before, after, reason, pull
        )
        issue.events.append(event)
        issue.updated_at = now

    def _edited(self, issue: IssueState, by: Token) -> None:
        issue.updated_at = self.core.now
        self._tell("edited", issue, by)

    def _tell(self, action: str, issue: IssueState, by: Token) -> None:
        event = "pull_request" if issue.is_pull else "issues"
        self.core.tell(Happening(event, action, by, {"issue": issue}))

    def _tell_labels(self, action: str, issue: IssueState, by: Token, label: LabelState) -> None:
        event = "pull_request" if issue.is_pull else "issues"
        self.core.tell(Happening(event, action, by, {"issue": issue, "label": label}))

    def _tell_comment(self, action: str, comment: CommentState, by: Token) -> None:
        issue = self.by_number[comment.issue]
        self.core.tell(Happening("issue_comment", action, by, {"issue": issue, "comment": comment}))

    def _may_change(self, issue: IssueState, by: Token, role: str) -> None:
        own = issue.author == by.account
        scopes = ("pull-requests",) if issue.is_pull else ("issues",)
        self.core.accounts.require(by, "write", *scopes, role="read" if own else role)

    def _check_unlocked(self, issue: IssueState, by: Token) -> None:
        """A locked conversation takes comments of people with write permission only; bots are refused whatever their token may."""
        person = not by.account.is_bot and self.core.accounts.allows(
            by, "write", ("issues", "pull-requests"), "write"
        )
        if issue.locked and not person:
            raise forbidden("Unable to create comment because issue is locked.")

    def _may_change_comment(self, comment: CommentState, by: Token) -> None:
        own = comment.author == by.account
        self.core.accounts.require(by, "write", "issues", "pull-requests", role="read" if own else "write")

    def _check_text(self, title: str, body: str) -> None:
        if not title.strip():
            raise invalid("Validation Failed: title can't be blank")
        if len(title) > MAX_TITLE:
            raise invalid(f"Validation Failed: title is too long (maximum is {MAX_TITLE} characters)")
        self._check_body(body)

    def _check_body(self, body: str) -> None:
        if len(body) > MAX_BODY:
            raise invalid(f"Validation Failed: body is too long (maximum is {MAX_BODY} characters)")
