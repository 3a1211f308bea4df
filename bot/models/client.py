"""One question to a model over HTTP: Anthropic Messages, or anything that speaks OpenAI's chat completions.

The answer is JSON of a given kind or an error. Nothing here prints, and no error holds the key: what a server sent back is
redacted before it becomes part of a message.
"""

import ssl
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec
from msgspec import Struct
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from bot.model.errors import BotError

T = TypeVar("T")

ATTEMPTS = 3
LONGEST_WAIT = 20.0  # seconds of a `retry-after` that a tick waits for
DEADLINE = 90.0  # seconds for one question, repetitions included
MOST_BYTES = 1_000_000
_TIMEOUT = httpx.Timeout(45.0, connect=10.0)
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_BACK_OFF = wait_exponential(multiplier=1, max=8)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class ModelError(BotError):
    """The model could not be asked, or said nothing usable. The text names the host, never the key."""


class _Again(ModelError):
    """Worth another try, after `wait` seconds if the server said so."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class Endpoint(Struct, frozen=True):
    """Where a model is asked. `provider` is `anthropic` or `openai`, the wire format; the key never shows."""

    provider: str
    base_url: str
    model: str
    key: str

    def __repr__(self) -> str:
        return f"Endpoint({self.provider!r}, {self.base_url!r}, {self.model!r}, key=***)"

    __str__ = __repr__


class Budget(Struct):
    """What one program run may spend on models: `calls` and `tokens` left."""

    calls: int = 20
    tokens: int = 200_000


class ModelClient:
    """Asks one endpoint within a budget. Raises ModelError for an address that is neither HTTPS nor loopback."""

    def __init__(
        self, endpoint: Endpoint, budget: Budget, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        try:
            address = urlsplit(endpoint.base_url)
        except ValueError:
            raise ModelError("the model's address is not readable") from None
        if address.scheme != "https" and not (address.scheme == "http" and address.hostname in _LOOPBACK):
            raise ModelError(f"the model's address must begin with https://, found {_host(endpoint)}")
        self._endpoint, self.budget, self._sleep = endpoint, budget, sleep

    def ask(self, system: str, user: str, kind: type[T], most_tokens: int = 1_000) -> T:
        """The model's answer, checked to be JSON of this kind. Raises ModelError."""
        text = self._text(system, user, most_tokens)
        try:
            return msgspec.json.decode(_unfenced(text), type=kind)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            said = self._redacted(str(error))
            raise ModelError(f"{self._endpoint.model} did not answer in the form asked for: {said}") from None

    def _text(self, system: str, user: str, most_tokens: int) -> str:
        end = time.monotonic() + DEADLINE
        with httpx.Client(timeout=_TIMEOUT, headers=self._headers(), verify=_authorities()) as http:
            for attempt in Retrying(
                retry=retry_if_exception_type(_Again),
                wait=_pause,
                stop=lambda state: stop_after_attempt(ATTEMPTS)(state) or _too_long(state, end),
                sleep=self._sleep,
                reraise=True,
            ):
                with attempt:
                    self._spend(most_tokens)
                    return self._read(self._send(http, self._body(system, user, most_tokens), end))
        raise AssertionError("tenacity ends by a return or a raise")

    def _spend(self, most_tokens: int) -> None:
        if self.budget.calls < 1 or self.budget.tokens < most_tokens:
            raise ModelError("this run's budget for asking models is spent")
        self.budget.calls -= 1

    def _headers(self) -> Mapping[str, str]:
        if self._endpoint.provider == "anthropic":
            return {"x-api-key": self._endpoint.key, "anthropic-version": "2023-06-01"}
        return {"authorization": f"Bearer {self._endpoint.key}"}

    def _body(self, system: str, user: str, most_tokens: int) -> Mapping[str, Any]:
        body: dict[str, Any] = {"model": self._endpoint.model}
        asked = [{"role": "user", "content": user}]
        if self._endpoint.provider == "anthropic":
            return body | {"max_tokens": most_tokens, "system": system, "messages": asked}
        # OpenAI's newer models refuse `max_tokens`; most others know nothing else.
        official = urlsplit(self._endpoint.base_url).hostname == "api.openai.com"
        limit = "max_completion_tokens" if official else "max_tokens"
        return body | {limit: most_tokens, "messages": [{"role": "system", "content": system}, *asked]}

    def _send(self, http: httpx.Client, body: Mapping[str, Any], end: float) -> Any:
        way = "/v1/messages" if self._endpoint.provider == "anthropic" else "/chat/completions"
        host = _host(self._endpoint)
        try:
            with http.stream("POST", self._endpoint.base_url.rstrip("/") + way, json=body) as response:
                content = bytearray()
                for piece in response.iter_bytes():
                    content += piece
                    if len(content) > MOST_BYTES or time.monotonic() > end:
                        raise ModelError(f"{host} answered too much or too slowly")
        except httpx.HTTPError as error:
            raise _Again(f"{host} could not be reached: {type(error).__name__}") from None
        except (httpx.InvalidURL, ValueError):
            raise ModelError(
                f"{host} is no address that can be asked, or the key holds odd characters"
            ) from None
        if response.status_code != 200:
            said = self._redacted(bytes(content[:2_000]).decode(errors="replace"))[:200]
            words = f"{host} answered {response.status_code}: {' '.join(said.split())}".rstrip(": ")
            if response.status_code in _AGAIN:
                raise _Again(words, _retry_after(response))
            raise ModelError(words)
        try:
            return msgspec.json.decode(bytes(content))
        except (msgspec.MsgspecError, RecursionError):
            raise ModelError(f"{host} did not answer with JSON") from None

    def _read(self, answer: Any) -> str:
        """The words of an answer of either format, its tokens booked."""
        try:
            used = answer.get("usage") or {}
            counted = ("input_tokens", "output_tokens", "prompt_tokens", "completion_tokens")
            self.budget.tokens -= sum(int(used.get(name) or 0) for name in counted)
            if self._endpoint.provider == "anthropic":
                return "".join(part["text"] for part in answer["content"] if part.get("type") == "text")
            return str(answer["choices"][0]["message"]["content"])
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            raise ModelError(f"{_host(self._endpoint)} answered in an unknown form") from None

    def _redacted(self, text: str) -> str:
        return text.replace(self._endpoint.key, "***") if self._endpoint.key else text


@cache
def _authorities() -> ssl.SSLContext:
    """Reading them takes a tenth of a second."""
    return httpx.create_ssl_context()


def _host(endpoint: Endpoint) -> str:
    """Without user name, password, path and query, which may hold what is nobody's business."""
    try:
        return urlsplit(endpoint.base_url).hostname or "the model's address"
    except ValueError:
        return "the model's address"


def _pause(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    wait = error.wait if isinstance(error, _Again) else None
    return wait if wait is not None else float(_BACK_OFF(state))


def _too_long(state: RetryCallState, end: float) -> bool:
    """Whether the server asks for more patience than a tick has."""
    pause = _pause(state)
    return pause > LONGEST_WAIT or time.monotonic() + pause > end


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds; a date, or what is no number, counts as not said."""
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def _unfenced(text: str) -> str:
    """The JSON inside a code fence, which some models cannot leave away."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        text = text[text.index("\n") : -3]
    return text
