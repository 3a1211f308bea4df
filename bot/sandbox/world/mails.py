"""Whom GitHub tells of what, one mail each: who takes part in an issue or pull request, is named in it, or is asked to review.

Nobody here watches the whole repository, and nobody has changed the settings. Source: docs.github.com, "About notifications"
(participating, @mentions, review requests) and "Configuring notifications" (comments, reviews, pushes and state changes mail).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from bot.model.issue import Account
from bot.sandbox.world.accounts import Accounts
from bot.sandbox.world.core import Happening
from bot.sandbox.world.state import CommentState, IssueState

_MENTION = re.compile(r"(?<![A-Za-z0-9_`/])@([A-Za-z0-9][A-Za-z0-9-]{0,38})(?![A-Za-z0-9/-])")

# Fenced code, code spans and HTML comments; a quote mentions as any other text.
_UNREAD = re.compile(
    r"^(`{3,}|~{3,}).*?^\1`*~*[ ]*$|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)|<!--.*?-->", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Mail:
    """One notification: to whom (a login), about which issue or pull request, and for what."""

    to: str
    number: int
    why: str


@dataclass(slots=True)
class Mails:
    """All mails so far, and who takes part in what. Labels and edits mail nobody, and make nobody take part."""

    accounts: Accounts
    sent: list[Mail] = field(default_factory=list)
    takes_part: dict[int, set[str]] = field(default_factory=dict)

    def to(self, login: str) -> list[Mail]:
        """What an account got, oldest first."""
        return [mail for mail in self.sent if mail.to == login]

    def hear(self, happening: Happening) -> None:
        """A listener of the world's core."""
        tell = _RULES.get((happening.event, happening.action))
        issue = happening.parts.get("issue")
        if tell is not None and isinstance(issue, IssueState):
            tell(self, issue, happening)

    def opened(self, issue: IssueState, happening: Happening) -> None:
        self._join(issue, [happening.by.account])
        self._mail(issue, self._named(issue.body), happening, "mention")

    def commented(self, issue: IssueState, happening: Happening) -> None:
        comment = happening.parts["comment"]
        assert isinstance(comment, CommentState)
        named = self._named(comment.body)
        self._mail(issue, named, happening, "mention")
        others = self.takes_part.get(issue.number, set()) - {account.login for account in named}
        self._mail(issue, self._accounts(others), happening, "comment")
        self._join(issue, [happening.by.account])

    def moved(self, issue: IssueState, happening: Happening) -> None:
        """Closed, reopened, merged, pushed to."""
        others = self.takes_part.get(issue.number, set())
        self._mail(issue, self._accounts(others), happening, happening.action)

    def asked(self, issue: IssueState, happening: Happening) -> None:
        self._mail(issue, [happening.parts["asked"]], happening, "review requested")

    def reviewed(self, issue: IssueState, happening: Happening) -> None:
        self.moved(issue, happening)
        self._join(issue, [happening.by.account])

    def _named(self, text: str) -> list[Account]:
        named = _MENTION.findall(_UNREAD.sub(" ", text))
        return self._accounts(dict.fromkeys(name.lower() for name in named))

    def _accounts(self, logins: Iterable[str]) -> list[Account]:
        found = (self.accounts.by_login.get(login.lower()) for login in sorted(logins))
        return [account for account in found if account is not None]

    def _mail(self, issue: IssueState, to: Iterable[Account], happening: Happening, why: str) -> None:
        """One to each, but not of what they did themselves; who gets one takes part from then on."""
        told = [account for account in to if account != happening.by.account]
        self.sent += [Mail(account.login, issue.number, why) for account in told if not account.is_bot]
        self._join(issue, told)

    def _join(self, issue: IssueState, accounts: Iterable[Account]) -> None:
        people = {account.login for account in accounts if not account.is_bot}
        self.takes_part.setdefault(issue.number, set()).update(people)


_Rule = Callable[[Mails, IssueState, Happening], None]
_RULES: dict[tuple[str, str], _Rule] = {
    ("issues", "opened"): Mails.opened,
    ("issues", "closed"): Mails.moved,
    ("issues", "reopened"): Mails.moved,
    ("issue_comment", "created"): Mails.commented,
    ("pull_request", "opened"): Mails.opened,
    ("pull_request", "closed"): Mails.moved,
    ("pull_request", "reopened"): Mails.moved,
    ("pull_request", "synchronize"): Mails.moved,
    ("pull_request", "review_requested"): Mails.asked,
    ("pull_request_review", "submitted"): Mails.reviewed,
}
