"""Pull requests: opening, reviewing, merging, and the issues that a merge closes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bot.model.issue import StateReason
from bot.sandbox.world.accounts import Token
from bot.sandbox.world.core import Core, Happening
from bot.sandbox.world.errors import ApiError, conflict, forbidden, invalid, not_found
from bot.sandbox.world.git import Git, MergeConflict
from bot.sandbox.world.issues import Issues
from bot.sandbox.world.keywords import closed_by
from bot.sandbox.world.state import IssueState, PullState, RemarkState, ReviewState

REVIEWS = ("APPROVED", "CHANGES_REQUESTED", "COMMENTED")


@dataclass(slots=True)
class Pulls:
    """`actions_may_open` is the repository's setting "Allow GitHub Actions to create and approve pull requests".

    `missing_check` names a required status check that has not reported yet.
    """

    core: Core
    issues: Issues
    git: Git
    by_number: dict[int, PullState] = field(default_factory=dict)
    actions_may_open: bool = True
    drafts_allowed: bool = True
    auto_merge_allowed: bool = False
    missing_check: str = ""

    def get(self, number: int) -> PullState:
        """Raises ApiError 404."""
        try:
            return self.by_number[number]
        except KeyError:
            raise not_found() from None

    def from_branch(self, branch: str) -> tuple[PullState, ...]:
        """Newest first."""
        return tuple(p for p in reversed(self.by_number.values()) if p.head_ref == branch)

    def closing(self, issue: IssueState) -> Iterator[PullState]:
        """The pull requests to the default branch whose text says that they close the issue."""
        for pull in self.by_number.values():
            numbers = closed_by(pull.issue.body, self.core.repository)
            if pull.base_ref == self.git.default_branch and issue.number in numbers:
                yield pull

    def open(
        self, head: str, base: str, title: str, body: str, by: Token, *, draft: bool = False
    ) -> PullState:
        self.core.accounts.require(by, "write", "pull-requests", role="write")
        if by.kind == "run" and not self.actions_may_open:
            raise forbidden("GitHub Actions is not permitted to create or approve pull requests.")
        if draft and not self.drafts_allowed:
            raise invalid("Draft pull requests are not supported in this repository.")
        head_sha, base_sha = self.git.head(head), self.git.head(base)
        if head_sha is None:
            raise invalid("Validation Failed: head is invalid")
        if base_sha is None:
            raise invalid("Validation Failed: base is invalid")
        if any(p.issue.is_open and p.base_ref == base for p in self.from_branch(head)):
            owner = self.core.repository.split("/")[0]
            raise invalid(f"Validation Failed: A pull request already exists for {owner}:{head}.")
        if self.git.is_ancestor(head_sha, base_sha):
            raise invalid(f"Validation Failed: No commits between {base} and {head}")
        issue = self.issues.create(title, body, (), by, is_pull=True)
        pull_id = self.core.next_id("pull")
        pull = PullState(
            pull_id, self.core.node_id("pull", pull_id), issue, head, head_sha, base, base_sha, draft
        )
        self.by_number[issue.number] = pull
        self.issues.nodes[pull.node_id] = pull
        self._tell("opened", pull, by)
        return pull

    def mergeable(self, pull: PullState) -> bool | None:
        """None for what is closed: GitHub stops computing it."""
        if not pull.issue.is_open:
            return None
        return self.git.mergeable(pull.base_ref, pull.head_sha)

    def merge_state(self, pull: PullState) -> str:
        """GitHub's one word on whether a merge would go through now; what is closed is not computed."""
        fits = self.mergeable(pull)
        if fits is None:
            return "UNKNOWN"
        if not fits:
            return "DIRTY"
        return "BLOCKED" if pull.draft or self.missing_check else "CLEAN"

    def set_draft(self, pull: PullState, by: Token, *, draft: bool) -> None:
        self.core.accounts.require(by, "write", "pull-requests", role="write")
        pull.draft = draft
        pull.issue.updated_at = self.core.now

    def close(self, pull: PullState, by: Token) -> None:
        """Without merging."""
        if pull.issue.is_open:
            self.issues.close(pull.issue, StateReason.COMPLETED, by)
            self._tell("closed", pull, by)

    def reopen(self, pull: PullState, by: Token) -> None:
        if pull.merged:
            raise invalid("Validation Failed: state cannot be changed. The pull request is merged.")
        if self.git.head(pull.head_ref) is None:
            raise invalid(
                f"Validation Failed: state cannot be changed. The {pull.head_ref} branch was deleted."
            )
        self.issues.reopen(pull.issue, by)
        self._tell("reopened", pull, by)

    def merge(self, pull: PullState, by: Token, *, head_sha: str = "") -> str:
        """The merge commit. Raises ApiError 405 where it cannot be merged, 409 where the head has moved."""
        self.core.accounts.require(by, "write", "contents", role="write")
        if head_sha and head_sha != pull.head_sha:
            raise conflict("Head branch was modified. Review and try the merge again.")
        if pull.draft:
            raise ApiError(405, "Pull Request is still a draft")
        if not pull.issue.is_open or not self.git.mergeable(pull.base_ref, pull.head_sha):
            raise ApiError(405, "Pull Request is not mergeable")
        if self.missing_check:
            raise ApiError(405, f'Required status check "{self.missing_check}" is expected.')
        base_sha = self.git.head(pull.base_ref) or ""
        messages = [commit.message for commit in self.git.commits(base_sha, pull.head_sha)]
        owner = self.core.repository.split("/")[0]
        message = f"Merge pull request #{pull.number} from {owner}/{pull.head_ref}\n\n{pull.issue.title}"
        try:
            merged = self.git.merge(pull.base_ref, pull.head_sha, message, by.account)
        except MergeConflict:
            raise ApiError(405, "Pull Request is not mergeable") from None
        self._merged(pull, by)
        self.close_named([pull.issue.body, *messages], pull.base_ref, by, pull=pull.number)
        self.core.tell(
            Happening("push", "", by, {"branch": pull.base_ref, "before": base_sha, "after": merged})
        )
        return merged

    def merge_later(self, pull: PullState, by: Token, *, head_sha: str = "") -> None:
        """Raises ApiError where the repository does not allow it, or where it could be merged at once."""
        self.core.accounts.require(by, "write", "pull-requests", role="write")
        if not self.auto_merge_allowed:
            raise invalid("Auto merge is not allowed for this repository")
        if head_sha and head_sha != pull.head_sha:
            raise invalid("Head branch was modified. Review and try the merge again.")
        if not self.missing_check:
            raise invalid("Pull request Pull request is in clean status")
        pull.merges_later = by

    def check_reports(self) -> None:
        """The missing check succeeds: what waited for it is merged."""
        self.missing_check = ""
        for pull in self.by_number.values():
            if pull.merges_later is not None and pull.issue.is_open:
                self.merge(pull, pull.merges_later)

    def review(
        self, pull: PullState, state: str, body: str, by: Token, remarks: Sequence[tuple[str, int, str]] = ()
    ) -> ReviewState:
        """`remarks` are path, line and words of comments on lines."""
        self.core.accounts.require(by, "write", "pull-requests", role="read")
        if state not in REVIEWS:
            raise invalid(f"{state} is not a review state")
        if state != "COMMENTED" and pull.issue.author == by.account:
            raise invalid("Validation Failed: Can not approve or request changes on your own pull request")
        review_id = self.core.next_id("review")
        node_id = self.core.node_id("review", review_id)
        review = ReviewState(
            review_id,
            node_id,
            by.account,
            state,
            body,
            self.core.now,
            pull.head_sha,
            tuple(self._remark(*each) for each in remarks),
        )
        pull.reviews.append(review)
        pull.requested = [account for account in pull.requested if account != by.account]
        pull.issue.updated_at = self.core.now
        self.core.tell(Happening("pull_request_review", "submitted", by, {"pull": pull, "issue": pull.issue}))
        return review

    def request_review(self, pull: PullState, logins: Sequence[str], by: Token) -> None:
        """Ask for reviews; somebody who is asked already is not asked twice. Raises ApiError 422 if one of them cannot be."""
        self.core.accounts.require(by, "write", "pull-requests", role="write")
        asked = [self.core.accounts.by_login.get(login.lower()) for login in logins]
        if pull.issue.author in asked:
            raise invalid("Validation Failed: Review cannot be requested from pull request author.")
        for account in asked:
            role = self.core.accounts.roles.get(account.login.lower(), "none") if account else "none"
            if account is None or account.is_bot or role == "none":
                raise invalid(
                    "Validation Failed: Reviews may only be requested from collaborators. One or more of the users or teams you"
                    f" specified is not a collaborator of the {self.core.repository} repository."
                )
            if account not in pull.requested:
                pull.requested.append(account)
                pull.issue.updated_at = self.core.now
                parts = {"pull": pull, "issue": pull.issue, "asked": account}
                self.core.tell(Happening("pull_request", "review_requested", by, parts))

    def _remark(self, path: str, line: int, body: str) -> RemarkState:
        remark_id = self.core.next_id("remark")
        return RemarkState(remark_id, self.core.node_id("remark", remark_id), path, line, body)

    def changed_files(self, pull: PullState) -> Iterator[tuple[str, int, int]]:
        """Path, lines added and lines removed of each file."""
        diff = self.git.diff(pull.base_sha, pull.head_sha)
        for part in re.split(r"^diff --git a/", diff, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            path = lines[0].rpartition(" b/")[2]
            body = [line for line in lines[1:] if not line.startswith(("+++", "---"))]
            yield path, sum(line[:1] == "+" for line in body), sum(line[:1] == "-" for line in body)

    def changes_requested(self, pull: PullState) -> ReviewState | None:
        """The newest request for changes by an account with write access that its author has not taken back since."""
        latest: dict[int, ReviewState] = {}
        for review in pull.reviews:
            writer = self.core.accounts.role(review.author.login) in ("write", "maintain", "admin")
            if review.state != "COMMENTED" and writer:
                latest[review.author.id] = review
        asked = [review for review in latest.values() if review.state == "CHANGES_REQUESTED"]
        return max(asked, key=lambda review: review.at, default=None)

    def pushed(self, branch: str, before: str, after: str, by: Token) -> None:
        """A branch moved (`before` empty: is new; `after` empty: was deleted): pull requests follow, keywords count."""
        for pull in self.from_branch(branch):
            if pull.issue.is_open and after and after != pull.head_sha:
                pull.head_sha = after
                pull.issue.updated_at = self.core.now
                self._tell("synchronize", pull, by)
            elif pull.issue.is_open and not after:
                self.close(pull, by)
        if branch == self.git.default_branch and before and after:
            for pull in list(self.by_number.values()):
                if (
                    pull.issue.is_open
                    and pull.base_ref == branch
                    and self.git.is_ancestor(pull.head_sha, after)
                ):
                    self._merged(pull, by)
                    self.close_named([pull.issue.body], branch, by, pull=pull.number)
            self.close_named([c.message for c in self.git.commits(before, after)], branch, by)
        if after:
            self.core.tell(Happening("push", "", by, {"branch": branch, "before": before, "after": after}))

    def close_named(self, texts: list[str], base: str, by: Token, *, pull: int = 0) -> None:
        """Close what the texts say they close, if they reach the default branch."""
        if base != self.git.default_branch:
            return
        for number in dict.fromkeys(n for text in texts for n in closed_by(text, self.core.repository)):
            issue = self.issues.by_number.get(number)
            if issue is not None and issue.is_open and not issue.is_pull:
                self.issues.close(issue, StateReason.COMPLETED, by, by_merge=True, pull=pull)

    def _merged(self, pull: PullState, by: Token) -> None:
        pull.merged_at = self.core.now
        pull.merged_by = by.account
        self.issues.close(pull.issue, StateReason.COMPLETED, by, by_merge=True, pull=pull.number)
        self._tell("closed", pull, by)

    def _tell(self, action: str, pull: PullState, by: Token) -> None:
        self.core.tell(Happening("pull_request", action, by, {"pull": pull, "issue": pull.issue}))
