"""Trouble, sorted by who can mend it. Anything else that is raised is a bug and ends the run red."""

from datetime import datetime


class BotError(Exception):
    """Base of every error we foresee; its text is a sentence a user can act on."""

    exit_code = 1


class UsageError(BotError):
    """The command line or the configuration is wrong; the text names the place, what was found and what would be right."""

    exit_code = 2


class CannotGoOn(BotError):
    """The conductor itself cannot work here (permission, missing workflow, archived repository)."""

    exit_code = 1


class NotPermitted(CannotGoOn):
    """The token lacks a permission for this. `needed` is which, in the words of a workflow file, where GitHub says so."""

    def __init__(self, message: str, needed: str = "") -> None:
        super().__init__(message)
        self.needed = needed


class TryLater(BotError):
    """GitHub is busy, limited or down; the next tick will probably succeed. `not_before` is when, if known."""

    exit_code = 75

    def __init__(self, message: str, not_before: datetime | None = None) -> None:
        super().__init__(message)
        self.not_before = not_before


class OverLimit(TryLater):
    """One of GitHub's limits is reached, and what was asked for was not carried out."""


class NotFound(BotError):
    """GitHub answered 404 or 410: what was asked for does not exist, or the token may not see it."""


class Refused(BotError):
    """GitHub understood and said no (403 without a limit, 409, 422). `status` is the HTTP status; GraphQL counts as 422."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


class WorkflowMissing(CannotGoOn):
    """A workflow file of ours is not on the default branch (404 on its run list or its dispatch)."""
