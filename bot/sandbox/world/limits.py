"""GitHub's rate limits as counters: requests, GraphQL points, content creation.

Source: docs.github.com, "Rate limits for the REST API" and "Rate limits and query limits for the GraphQL API" (2026): a
repository's default tokens share 1,000 requests and 1,000 points an hour, accounts and Apps have 5,000; about 80
content-creating requests a minute and 500 an hour.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.sandbox.world.accounts import Token
from bot.sandbox.world.errors import ApiError

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


@dataclass(slots=True)
class Window:
    """One hour of one resource: what was used of it since `since`."""

    limit: int
    since: datetime
    used: int = 0

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)

    @property
    def reset(self) -> datetime:
        return self.since + HOUR


def _none(_place: int) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What becomes of documents with more than `most` mutations: GitHub does not finish them, however often they are sent.

    `carries` says of each place in such a document whether its mutation is carried out all the same. `answer`: `errors` names those
    that were not, by path; `silent` names all of them; `void` has no data and no path; `502` has no body; `lost` never comes.
    Measured by others, not published: Skydio/revup #225 and #271 (RESOURCE_LIMITS_EXCEEDED, partly carried out), githubv4 #17.
    """

    most: int
    carries: Callable[[int], bool] = _none
    answer: str = "errors"


@dataclass(slots=True)
class Limits:
    """`enforce = False` counts without refusing. `requests` counts every call by its name, for benchmarks and tests."""

    clock: Callable[[], datetime]
    enforce: bool = True
    run_limit: int = 1_000
    account_limit: int = 5_000
    per_minute: int = 80
    per_hour: int = 500
    unfinished: Unfinished | None = None
    requests: Counter[str] = field(default_factory=Counter)
    windows: dict[tuple[str, str], Window] = field(default_factory=dict)
    created: defaultdict[str, deque[datetime]] = field(default_factory=lambda: defaultdict(deque))

    def window(self, token: Token, resource: str) -> Window:
        """The current hour of `core` or `graphql` for the token's bucket."""
        bucket = "run" if token.kind == "run" else token.account.login
        now = self.clock()
        known = self.windows.get((bucket, resource))
        if known is None or now >= known.reset:
            limit = self.run_limit if token.kind == "run" else self.account_limit
            known = self.windows[bucket, resource] = Window(limit, now)
        return known

    def charge(self, token: Token, resource: str, name: str, points: int = 1) -> None:
        """Count one request. Raises ApiError 403 (GraphQL: kind RATE_LIMITED) when the hour is used up."""
        self.requests[name] += 1
        window = self.window(token, resource)
        if self.enforce and window.remaining < points:
            message = f"API rate limit exceeded for {token.account.login}."
            raise ApiError(403, message, "RATE_LIMITED")
        window.used += points

    def charge_content(self, token: Token, pieces: int = 1) -> None:
        """Count content that is created. Raises ApiError 403 with `retry-after` over GitHub's pace."""
        made = self.created["run" if token.kind == "run" else token.account.login]
        now = self.clock()
        while made and made[0] <= now - HOUR:
            made.popleft()
        minute = sum(at > now - MINUTE for at in made)
        if self.enforce and (minute + pieces > self.per_minute or len(made) + pieces > self.per_hour):
            message = (
                "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
            )
            raise ApiError(403, message, "RATE_LIMITED", {"retry-after": "60"})
        made.extend([now] * pieces)
