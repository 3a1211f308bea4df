"""Requests by our rules: judged, repeated where that is safe, spaced where they write, and silent while GitHub limits us."""

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote

from msgspec import Struct

from bot.github.faults import Answer, Busy, Limited, Lost, clean, fault, forbidden, graphql_fault
from bot.github.retry import SHORT_WAIT, Repeat, policy
from bot.github.wire import Wire
from bot.model.errors import BotError, CannotGoOn, TryLater

_FIRST_PAUSE = timedelta(seconds=60)  # GitHub: at least a minute where no time is named, and longer each time
_LONGEST_PAUSE = timedelta(minutes=15)
_CLOCKS = timedelta(minutes=15)  # how far our clock and GitHub's may be apart
_WRITE_GAP = timedelta(seconds=1)  # GitHub: at least a second between requests that change something
_T = TypeVar("_T")


def utc_now() -> datetime:
    return datetime.now(UTC)


class Reply(Struct, frozen=True):
    """A GraphQL answer that is not void as a whole: data and the errors beside it."""

    data: Mapping[str, Any]
    errors: tuple[Mapping[str, Any], ...]
    at: datetime


class Session:
    """What every call goes through. `repository` is `owner/name`."""

    def __init__(
        self,
        wire: Wire,
        repository: str,
        graphql_url: str,
        *,
        now: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.wire = wire
        self.repository = repository
        self.owner, _, self.name = repository.partition("/")
        self._graphql_url = graphql_url
        self._now = now
        self._sleep = sleep
        self._paused: dict[str, datetime] = {}
        self._unnamed_limits = 0
        self._last_write: datetime | None = None
        self._heard_at: datetime | None = None
        self._known: dict[tuple[str, tuple[tuple[str, Any], ...]], Answer] = {}

    def path(self, *segments: str | int) -> str:
        """A path below our repository."""
        return path("repos", self.owner, self.name, *segments)

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Read JSON; an answer that was cut off is asked for again. Raises NotFound, Refused, CannotGoOn, TryLater."""
        return self._call("GET", path, Repeat.READ, _expect_json, params=params)

    def look_again(self, path: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Read what was read before and has seldom changed: GitHub does not count a request that it answers by 304.

        Source: docs.github.com, "Best practices for using the REST API", on conditional requests. Raises as `get` does.
        """
        key = (path, tuple(sorted((params or {}).items())))
        known = self._known.get(key)
        tag = known.headers.get("etag", "") if known is not None else ""
        answer = self._call("GET", path, Repeat.READ, _take_any, params=params, tag=tag)
        if answer.status == 304 and known is not None:
            return known
        self._known[key] = _expect_json(answer)
        return answer

    def get_bytes(self, path: str) -> bytes:
        """Read what is no JSON. Raises as `get` does."""
        return self._call("GET", path, Repeat.READ, _take_any).body

    def change(self, method: str, path: str, body: Any = None) -> Answer:
        """Change something: spaced, and never sent twice after it may have arrived. Raises as `get` does."""
        self._space()
        return self._call(method, path, Repeat.WRITE, _from_github, json=body)

    def pages(self, path: str, params: Mapping[str, Any], key: str = "") -> Iterator[list[dict[str, Any]]]:
        """All pages of a list, by GitHub's `Link`. `key` names the list inside its envelope."""
        page, before = 1, None
        while True:
            answer = self.get(path, {**params, "per_page": 100, "page": page})
            found = answer.json()
            listed = check_list(found[key] if key else found)
            check_progress(listed != before)
            yield listed
            if not has_next(answer):
                return
            page, before = page + 1, listed

    def query(self, document: str, variables: Mapping[str, Any], what: str, *, large: bool = False) -> Reply:
        """Read by GraphQL. Raises Busy at once if the query is `large` and GitHub could not finish it."""
        return self._graphql(document, variables, what, Repeat.LARGE_READ if large else Repeat.READ)

    def mutate(self, document: str, variables: Mapping[str, Any], what: str, *, parts: bool = False) -> Reply:
        """Change by GraphQL: spaced, and never sent twice after it may have arrived.

        With `parts` a document that GitHub gave up comes back with what its answer tells; else Busy is raised for it.
        """
        self._space()
        return self._graphql(document, variables, what, Repeat.WRITE, parts=parts)

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        self._sleep(seconds)

    @property
    def heard_at(self) -> datetime:
        """GitHub's time in the newest of its answers; before the first a time that is no later than it."""
        return self._heard_at or self._now() - _CLOCKS

    def _graphql(
        self, document: str, variables: Mapping[str, Any], what: str, repeat: Repeat, *, parts: bool = False
    ) -> Reply:
        def once() -> Reply:
            body = {"query": document, "variables": dict(variables)}
            answer = self._once("POST", self._graphql_url, what, "graphql", json=body)
            found = answer.json()
            found = found if isinstance(found, dict) else {}
            errors = tuple(error for error in found.get("errors") or () if isinstance(error, dict))
            void = graphql_fault(answer, errors, what, self._now())
            if isinstance(void, Limited) and repeat is Repeat.WRITE:
                # Some of the document may have been carried out, so this one must not be waited for and sent again.
                void.wait = max(void.wait or 0.0, _FIRST_PAUSE.total_seconds())
            if void is not None and not (parts and isinstance(void, Busy)):
                self._refuse(void, "graphql")
            return Reply(found.get("data") or {}, errors, _date(answer) or self._now())

        return self._repeated(once, repeat)

    def _call(
        self, method: str, path: str, repeat: Repeat, check: Callable[[Answer], Answer], **parts: Any
    ) -> Answer:
        what = f"{method} {path}"
        return self._repeated(lambda: check(self._once(method, path, what, "core", **parts)), repeat)

    def _repeated(self, once: Callable[[], _T], repeat: Repeat) -> _T:
        result = policy(repeat, self._sleep)(once)
        self._unnamed_limits = 0
        return result

    def _once(self, method: str, url: str, what: str, bucket: str, **parts: Any) -> Answer:
        until = self._paused.get(bucket)
        if until is not None and self._now() < until:
            raise TryLater(
                f"{what}: not sent, because GitHub's rate limit lasts until {until:%H:%M:%S} UTC", until
            )
        answer = self.wire.send(method, url, **parts)
        self._heard_at = _date(answer) or self._heard_at
        error = fault(answer, what, self._now())
        if error is not None:
            self._refuse(error, bucket)
        return answer

    def _refuse(self, error: BotError, bucket: str) -> NoReturn:
        """Raise; a limit also keeps everything else it covers from being sent before its time."""
        if isinstance(error, Limited):
            if error.wait is None:
                pause = min(_FIRST_PAUSE * 2**self._unnamed_limits, _LONGEST_PAUSE)
                self._unnamed_limits += 1
            else:
                pause = timedelta(seconds=error.wait)
            error.not_before = self._now() + pause
            if error.wait is None or error.wait > SHORT_WAIT:
                for name in ("core", "graphql") if error.secondary else (bucket,):
                    self._paused[name] = error.not_before
        raise error

    def _space(self) -> None:
        if self._last_write is not None:
            gap = (self._last_write + _WRITE_GAP - self._now()).total_seconds()
            if gap > 0:
                self._sleep(gap)
        self._last_write = self._now()


def path(*segments: str | int) -> str:
    """Every segment encoded: branch, label and user names may hold anything, and `.` or `..` would walk."""
    return "/".join(
        quote(str(part), safe="").replace(".", "%2E")
        if str(part) in (".", "..")
        else quote(str(part), safe="")
        for part in segments
    )


def has_next(answer: Answer) -> bool:
    """Whether a list goes on. The links themselves are not followed: a proxy in between may have named itself in them."""
    return 'rel="next"' in answer.headers.get("link", "")


def check_list(found: Any) -> list[Any]:
    """Raises Lost where something else came in the place of a list: it must never look like an empty one."""
    if not isinstance(found, list):
        raise Lost("GitHub's answer is no list")
    return found


def check_progress(goes_on: bool) -> None:
    """Raises TryLater where the next page of a list is the one before once more: asked on, such a list would never end."""
    if not goes_on:
        raise TryLater("GitHub's list does not go on: its next page is the one before; try again later")


def whole(reply: Reply, what: str) -> Reply:
    """The reply, if nothing is missing in it: no list may look shorter than it is.

    Raises TryLater where GitHub left out a part, CannotGoOn where the token may not read it.
    """
    for error in reply.errors:
        said = clean(error.get("message")) or "no words"
        if forbidden(error):
            raise CannotGoOn(f"cannot read {what}: {said}; it needs issues: read")
        raise TryLater(f"cannot read all of {what} now: {said}")
    return reply


def _expect_json(answer: Answer) -> Answer:
    if answer.json() is None:
        raise Lost("GitHub's answer came empty")
    return answer


def _from_github(answer: Answer) -> Answer:
    answer.check_host()
    return answer


def _take_any(answer: Answer) -> Answer:
    return answer


def _date(answer: Answer) -> datetime | None:
    try:
        at = parsedate_to_datetime(answer.headers.get("date", ""))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
