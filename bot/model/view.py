"""What one look at the repository returned: facts only, before any rule has judged them."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct, field

from bot.model.issue import Account, Issue
from bot.model.run import Job


class Label(Struct, frozen=True):
    node_id: str
    name: str


class Repository(Struct, frozen=True):
    """`full_name` is `owner/name` in its stored spelling; `server` is the web address that links to it begin with."""

    full_name: str
    node_id: str
    default_branch: str
    private: bool = False
    archived: bool = False
    has_issues: bool = True
    server: str = "https://github.com"


class View(Struct, frozen=True):
    """One GraphQL snapshot, all pages. `issues` holds every tracked issue once, our dashboard included.

    `config_text` is None when the file is absent; `config_blob` is its git blob id. `viewer` is the account of the token.
    `at_work` are the jobs of the watched runs' latest attempts, by the runs' node ids, where this token may know them.
    `at` is GitHub's own clock (the `Date` header) where it was given, so that our clock may be wrong.
    """

    repository: Repository
    viewer: Account
    issues: tuple[Issue, ...]
    labels: tuple[Label, ...]
    config_text: str | None
    config_blob: str
    at: datetime
    at_work: Mapping[str, tuple[Job, ...]] = field(default_factory=dict)
