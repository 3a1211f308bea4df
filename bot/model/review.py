"""What a pull request changes, and what its reviewers say about it: for the prompts of those who work on or after it."""

from datetime import datetime

from msgspec import Struct

from bot.model.issue import Account


class ChangedFile(Struct, frozen=True):
    """`added` and `removed` count lines."""

    path: str
    added: int = 0
    removed: int = 0


class PullSummary(Struct, frozen=True):
    """A pull request in short. `files` are all that GitHub lists (at most 3,000)."""

    number: int
    title: str
    is_open: bool
    merged: bool
    files: tuple[ChangedFile, ...] = ()


class Remark(Struct, frozen=True):
    """A comment on a line of a file; 0 where that line is gone by now."""

    path: str
    line: int
    text: str


class Review(Struct, frozen=True):
    """`state` is GitHub's word in small letters: `approved`, `changes_requested`, `commented`, `dismissed`."""

    author: Account
    state: str
    text: str
    at: datetime
    remarks: tuple[Remark, ...] = ()
