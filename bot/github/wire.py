"""One request over githubkit: the only module that imports it, and only when a client is built.

Found about githubkit 0.16.1, and why it is used this way: its defaults wait for ever, re-send a POST after a 502, sleep out a
rate limit of an hour, and share one cache between all clients of the process. Raw requests carry no API version. Its own reader
of limits raises ValueError on a `retry-after` that is a date. So: explicit timeout, no retries, no cache, our header, and our
own judgement of the answer.
"""

import logging
import ssl
from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

from bot.github.faults import Answer, Lost, Unsent
from bot.model.errors import CannotGoOn

API_VERSION = "2026-03-10"


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates we trust; loading them takes 40 ms, so once for all clients of the process."""
    import httpx

    return httpx.create_ssl_context()


class Wire(Protocol):
    """Something that carries a request to GitHub and its answer back, whatever the answer is."""

    def send(
        self, method: str, url: str, *, params: Mapping[str, Any] | None = None, json: Any = None
    ) -> Answer:
        """Raises Unsent if the request never left, Lost if its answer did not come."""
        ...

    def close(self) -> None: ...


class GithubkitWire:
    """The real one. Its errors never show the token."""

    def __init__(self, token: str, api_url: str) -> None:
        import httpx
        from githubkit import GitHub as Kit
        from githubkit import TokenAuthStrategy

        # Signed download addresses would be in these lines.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._token = token
        self._kit: Any = Kit(
            TokenAuthStrategy(token),
            base_url=api_url,
            user_agent="cf-conductor",
            timeout=httpx.Timeout(30.0, connect=10.0),
            ssl_verify=_trusted(),
            http_cache=False,
            auto_retry=False,
        )
        self._kit._check_rate_limit = lambda _response: None  # noqa: SLF001  see the module's text
        self._kit.__enter__()  # one connection pool instead of one per request

    def send(
        self, method: str, url: str, *, params: Mapping[str, Any] | None = None, json: Any = None
    ) -> Answer:
        import httpx
        from githubkit.exception import RequestError, RequestFailed

        headers = {"X-GitHub-Api-Version": API_VERSION}
        try:
            response = self._kit.request(method, url, params=params, json=json, headers=headers).raw_response
        except RequestFailed as error:
            response = error.response.raw_response
        except RequestError as error:
            cause = error.exc
            said = self._scrub(f"{type(cause).__name__}: {cause}")
            if isinstance(cause, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)):
                raise Unsent(f"cannot connect to GitHub ({said})") from None
            if isinstance(cause, (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError)):
                raise CannotGoOn(f"the request to GitHub could not be made ({said})") from None
            if isinstance(cause, httpx.HTTPError):
                raise Lost(f"GitHub's answer did not come ({said})") from None
            raise cause from None
        if response.request.method != method:
            # httpx turns a POST into a GET when it follows a 301 or 302: nothing was changed, and this is no success.
            raise CannotGoOn("GitHub says that the repository has moved; use its new name")
        headers = {name.lower(): value for name, value in response.headers.items()}
        asked = response.history[0].url.netloc if response.history else response.url.netloc
        elsewhere = "" if response.url.netloc == asked else response.url.host
        return Answer(response.status_code, headers, response.content, elsewhere)

    def close(self) -> None:
        self._kit.__exit__()

    def _scrub(self, text: str) -> str:
        return text.replace(self._token, "***")
