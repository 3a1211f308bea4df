"""The pull request of a change: opened or updated, draft or ready, in the place of an earlier one, and merged."""

from enum import Enum, auto

from bot.github.port import Publisher
from bot.model.errors import BotError, Refused, TryLater
from bot.model.issue import Pull
from bot.worker.programs.redact import Redactor
from bot.worker.publish.pull_request_text import PullWords


class Merging(Enum):
    """What became of asking for a merge; LATER means that GitHub does it once nothing required is missing."""

    MERGED = auto()
    LATER = auto()
    REFUSED = auto()


class PullRequest:
    """One change's pull request. `said` is why it was not merged, in words for people; `merges_later`: GitHub does it by itself."""

    def __init__(self, github: Publisher, redactor: Redactor, base: str) -> None:
        self._github = github
        self._redactor = redactor
        self._base = base
        self._pull: Pull | None = None
        self.said = ""
        self.merges_later = False

    def offer(self, branch: str, words: PullWords, *, verified: bool) -> tuple[Pull, list[str]]:
        """Open it, or bring the one that is there up to date; and what could not be done. Raises Refused, CannotGoOn or TryLater.

        What is not verified is a draft, or has a title that says so where there are no drafts.
        """
        title, body = self._redactor.text(words.title()), self._redactor.text(words.body())
        marked = title if verified else f"[not verified] {title}"
        trouble: list[str] = []
        there = self._github.pull_by_branch(branch)
        if there is not None:
            pull = self._github.update_pull(there.number, title if there.draft else marked, body)
            trouble = self._make_ready(pull) if verified and pull.draft else []
        else:
            pull = self._open(branch, title, marked, body, draft=not verified)
        self._pull = pull
        return pull, trouble

    def _open(self, branch: str, title: str, marked: str, body: str, *, draft: bool) -> Pull:
        try:
            return self._github.open_pull(branch, self._base, title, body, draft)
        except Refused as error:
            if not draft or "draft" not in str(error).lower():
                raise
        # Some plans have no drafts in private repositories.
        return self._github.open_pull(branch, self._base, marked, body, draft=False)

    def _make_ready(self, pull: Pull) -> list[str]:
        try:
            self._github.ready_pull(pull)
        except TryLater:
            raise
        except BotError as error:
            return [f"#{pull.number} is verified and still a draft ({error})"]
        return []

    def replace_earlier(self, earlier: int, pull: Pull) -> list[str]:
        """Close the pull request that this one takes the place of (0: none); what could not be done."""
        if earlier in (0, pull.number):
            return []
        try:
            self._github.close_pull(earlier)
        except TryLater:
            raise
        except BotError as error:
            return [f"#{earlier}, whose place this takes, could not be closed ({error})"]
        return []

    def ask_for_review(self, login: str) -> str:
        """Ask who ordered the work; whom GitHub now tells, or nobody where it refuses."""
        assert self._pull is not None
        try:
            self._github.request_review(self._pull.number, login)
        except TryLater:
            raise
        except BotError:
            return ""  # the conductor tells it in a comment instead
        return login

    def merge(self, head: str, *, later: bool) -> Merging:
        """Merge this very commit; where something required is missing and `later` allows it, have GitHub do it then."""
        assert self._pull is not None
        try:
            why_not = self._github.merge_pull(self._pull.number, head)
            if not why_not:
                return Merging.MERGED
            self.said = f"not merged: {why_not}"
            if later:
                self._github.merge_pull_later(self._pull, head)
                self.merges_later = True
                self.said = f"GitHub merges #{self._pull.number} once nothing required is missing"
                return Merging.LATER
        except TryLater:
            raise
        except BotError as error:
            self.said = self.said or f"not merged: {error}"
        return Merging.REFUSED
