"""What an answer of GitHub's means: nothing wrong, or which error. No network, no clock: status, headers and body in, error out.

The rules follow GitHub's "Rate limits for the REST API" and "Best practices": `retry-after` first, then `x-ratelimit-reset`
when nothing remains, then the words of a secondary limit, which also comes without any header.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from msgspec import Struct, field

from bot.model.errors import BotError, CannotGoOn, NotFound, NotPermitted, OverLimit, Refused, TryLater

_LIMIT_WORDS = re.compile(
    r"secondary rate|abuse detection|rate limit (?:already )?exceeded|submitted too quickly|too many requests",
    re.IGNORECASE,
)
_PERMISSION_WORDS = re.compile(
    r"not accessible by|must have (?:admin|push|pull|write|read|triage)|not permitted to|SAML|IP allow list",
    re.IGNORECASE,
)
_ARCHIVED_WORDS = re.compile(r"archived", re.IGNORECASE)
_LOCKED_WORDS = re.compile(r"\b(?:is|been) locked\b", re.IGNORECASE)
_BROKE_DOWN_WORDS = re.compile(
    r"something went wrong while executing|timed? ?out|couldn't respond to your request in time",
    re.IGNORECASE,
)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_TOO_LARGE = ("RESOURCE_LIMITS_EXCEEDED", "MAX_NODE_LIMIT_EXCEEDED")


class Answer(Struct, frozen=True):
    """One HTTP answer. Header names are lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    elsewhere: str = ""  # the host that answered after a redirect, if it is another one than was asked

    def check_host(self) -> None:
        """Raises CannotGoOn if another host than the one that was asked gave the answer."""
        if self.elsewhere:
            raise CannotGoOn(
                f"GitHub's API sent us on to another host ({self.elsewhere}), which is not believed"
            )

    def json(self) -> Any:
        """The body as JSON, or None where there is none. Raises TryLater if it is not JSON: a proxy's page, or cut off.

        Raises CannotGoOn if another host gave it: only files are stored elsewhere, and nobody but GitHub is believed.
        """
        self.check_host()
        if not self.body.strip():
            return None
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise Lost("GitHub's answer was cut off or is not JSON") from None


class Gone(NotFound):
    """410: it was there and was deleted."""


class Unsent(TryLater):
    """The request never left: repeating it is always safe."""


class Lost(TryLater):
    """The request may have arrived, and the answer did not."""


class Busy(TryLater):
    """GitHub could not answer (5xx, or a query that took too long). `status` is the HTTP status, 502 for a slow query."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Limited(OverLimit):
    """A rate limit; the request was not carried out. `wait` is None where GitHub named no time."""

    def __init__(self, message: str, wait: float | None, *, secondary: bool) -> None:
        super().__init__(message)
        self.wait = wait
        self.secondary = secondary


def fault(answer: Answer, what: str, now: datetime) -> BotError | None:
    """The error that an HTTP answer stands for, or None. `what` names the request in the error's sentence."""
    status = answer.status
    if status < 300 or status == 304:
        return None
    said = _said(answer)
    limit = _limit(answer, said, now) if status in (403, 429) else None
    if limit is not None:
        return Limited(
            f"{what}: GitHub's rate limit is reached ({said})", limit.wait, secondary=limit.secondary
        )
    if status == 401:
        return CannotGoOn(
            f"{what}: GitHub does not accept the token (401: {said}); it may have expired or been revoked"
        )
    if status == 403 and _ARCHIVED_WORDS.search(said):
        return CannotGoOn(f"{what}: the repository is archived, so it is read-only ({said})")
    if status == 403 and _PERMISSION_WORDS.search(said):
        needed = _needed(answer)
        words = f"{what}: the token may not do this ({said})"
        return NotPermitted(f"{words}; it needs the permission {needed}" if needed else words, needed)
    if status == 404:
        return NotFound(f"{what}: 404 {said}")
    if status == 410:
        return Gone(f"{what}: 410 {said}")
    if status >= 500 or status == 408:
        return Busy(f"{what}: GitHub answered {status}", status)
    return Refused(f"{what}: GitHub answered {status}: {said}", status)


def graphql_fault(
    answer: Answer, errors: Sequence[Mapping[str, Any]], what: str, now: datetime
) -> BotError | None:
    """The error that makes a whole GraphQL answer void although its status is 200: a limit, or a query too heavy to finish."""
    for error in errors:
        kind, said = str(error.get("type") or ""), clean(error.get("message"))
        if kind in ("RATE_LIMIT", "RATE_LIMITED") or _LIMIT_WORDS.search(said):
            secondary = not kind.startswith("RATE_LIMIT")
            limit = _limit(answer, said, now) or _Limit(None, secondary)
            return Limited(
                f"{what}: GitHub's rate limit is reached ({said})", limit.wait, secondary=limit.secondary
            )
        if unfinished(error):
            return Busy(f"{what}: GitHub could not finish the query ({said})", 502)
    return None


def unfinished(error: Mapping[str, Any]) -> bool:
    """Whether a GraphQL error says that GitHub gave up the document, or this part of it, before its end."""
    kind = str(error.get("type") or "")
    return kind in _TOO_LARGE or (
        not kind and bool(_BROKE_DOWN_WORDS.search(str(error.get("message") or "")))
    )


def forbidden(error: Mapping[str, Any]) -> bool:
    """Whether a GraphQL error says that the token lacks a permission. A locked issue refuses the token that others accept."""
    if _LOCKED_WORDS.search(str(error.get("message") or "")):
        return False
    return error.get("type") in ("FORBIDDEN", "INSUFFICIENT_SCOPES") or bool(
        _PERMISSION_WORDS.search(str(error.get("message") or ""))
    )


def where(error: Mapping[str, Any]) -> tuple[str | int, ...]:
    """The path of a GraphQL error, which may be absent."""
    path = error.get("path")
    return tuple(path) if isinstance(path, list) else ()


def clean(text: object, limit: int = 300) -> str:
    """GitHub's words on one line, without control characters, cut to a sentence's length."""
    line = _UNPRINTABLE.sub(" ", str(text or "")).strip()
    return line if len(line) <= limit else line[: limit - 1] + "…"


class _Limit(Struct, frozen=True):
    wait: float | None
    secondary: bool


def _limit(answer: Answer, said: str, now: datetime) -> _Limit | None:
    headers = answer.headers
    spoken = bool(_LIMIT_WORDS.search(said))
    secondary = "api rate limit" not in said.lower()
    after = _retry_after(headers.get("retry-after", ""), now)
    if after is not None:
        return _Limit(after, secondary)
    if headers.get("x-ratelimit-remaining") == "0" and not _PERMISSION_WORDS.search(said):
        reset = headers.get("x-ratelimit-reset", "")
        wait = _bounded(float(reset) - now.timestamp()) if reset.isdecimal() else None
        return _Limit(wait, secondary and spoken)
    if spoken or answer.status == 429:
        return _Limit(None, secondary)
    return None


def _retry_after(header: str, now: datetime) -> float | None:
    """Seconds to wait. HTTP allows a date as well, which githubkit's own reader does not survive."""
    if header.isdecimal():
        return _bounded(float(header))
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    return _bounded(((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds())


def _bounded(seconds: float) -> float:
    """A wait between now and a day: GitHub's limits are over within the hour, whatever a proxy in between says."""
    return min(max(0.0, seconds), 86_400.0)


def _said(answer: Answer) -> str:
    """GitHub's own sentence with its details."""
    try:
        body = json.loads(answer.body or b"null")
    except (ValueError, RecursionError):
        return "no words"
    if not isinstance(body, dict):
        return "no words"
    details = body.get("errors")
    parts = [clean(body.get("message") or "no words")]
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict):
            named = " ".join(str(detail[key]) for key in ("resource", "field", "code") if detail.get(key))
            parts.append(clean(detail.get("message") or named))
        else:
            parts.append(clean(detail))
    return "; ".join(part for part in parts if part)


def _needed(answer: Answer) -> str:
    """The permission that GitHub says it wants, in the words of a workflow file; empty where it says nothing."""
    return clean(answer.headers.get("x-accepted-github-permissions")).replace("=", ": ")
