"""One request over githubkit: the only module that imports it, and only when a client is built.

Found about githubkit 0.16.1, and why it is used this way: its defaults wait for ever, re-send a POST after a 502, sleep out a
rate limit of an hour, and share one cache between all clients of the process. Raw requests carry no API version. Its own reader
of limits raises ValueError on a `retry-after` that is a date. So: explicit timeout, no retries, no cache, our header, and our
own judgement of the answer.
"""

import logging
import ssl
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol
from urllib.parse import urlsplit

from bot.github.credential import Credential
from bot.github.faults import Answer, Lost, Unsent
from bot.model.errors import CannotGoOn, UsageError

API_VERSION = "2026-03-10"


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates we trust; loading them takes 40 ms, so once for all clients of the process."""
    import httpx

    return httpx.create_ssl_context()


class Wire(Protocol):
    """Something that carries a request to GitHub and its answer back, whatever the answer is."""

    def send(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        tag: str = "",
    ) -> Answer:
        """`tag` is the ETag of an answer that is still at hand: 304 says that it holds.

        Raises Unsent if the request never left, Lost if its answer did not come.
        """
        ...

    def close(self) -> None: ...


class _Kit:
    """githubkit, set up as above."""

    def __init__(self, auth: Any, api_url: str) -> None:
        import httpx
        from githubkit import GitHub as Kit
        from githubkit.cache import MemCacheStrategy

        # Signed download addresses would be in these lines.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._kit: Any = Kit(
            auth,
            base_url=api_url,
            user_agent="cf-conductor",
            timeout=httpx.Timeout(30.0, connect=10.0),
            ssl_verify=_trusted(),
            http_cache=False,
            cache_strategy=MemCacheStrategy(),
            auto_retry=False,
            event_hooks={"request": [self._guard]},
        )
        self._kit._check_rate_limit = lambda _response: None  # noqa: SLF001  see the module's text
        self._kit.__enter__()  # one connection pool instead of one per request
        self._hosts = {urlsplit(api_url).netloc.rpartition("@")[2]}  # whom we mean to tell something

    def send(self, method: str, url: str, secrets: Sequence[str], *, tag: str, **parts: Any) -> Answer:
        """See `Wire.send`. None of the `secrets` is in an error's words."""
        import httpx
        from githubkit.exception import RequestError, RequestFailed

        headers = {"X-GitHub-Api-Version": API_VERSION} | ({"If-None-Match": tag} if tag else {})
        if "://" in url:
            self._hosts.add(urlsplit(url).netloc)
        try:
            response = self._kit.request(method, url, headers=headers, **parts).raw_response
        except RequestFailed as error:
            response = error.response.raw_response
        except RequestError as error:
            cause = error.exc
            said = f"{type(cause).__name__}: {cause}"
            for secret in secrets:
                said = said.replace(secret, "***")
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

    def _guard(self, request: Any) -> None:
        """Called before each request, also before the ones that follow a redirect: what we write goes to no other host."""
        if request.method not in ("GET", "HEAD") and request.url.netloc.decode() not in self._hosts:
            raise CannotGoOn(
                f"GitHub's API sent us on to another host ({request.url.host}), which gets nothing of ours"
            )

    def close(self) -> None:
        self._kit.__exit__()


class GithubkitWire:
    """The real one. Its errors never show the token, and a token that is not taken any more is renewed once."""

    def __init__(self, credential: Credential, api_url: str) -> None:
        self._credential = credential
        self._api_url = api_url
        self._token = credential.token
        self._kit = self._connect()

    def _connect(self) -> _Kit:
        from githubkit import TokenAuthStrategy

        return _Kit(TokenAuthStrategy(self._token), self._api_url)

    def send(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        tag: str = "",
    ) -> Answer:
        answer = self._kit.send(method, url, (self._token,), params=params, json=json, tag=tag)
        if answer.status != 401 or not self._credential.renew(self._token):
            return answer
        # 401: nothing was carried out, so it can be sent again whatever it is.
        self._kit.close()
        self._token = self._credential.token
        self._kit = self._connect()
        return self._kit.send(method, url, (self._token,), params=params, json=json, tag=tag)

    def close(self) -> None:
        self._kit.close()


class AppWire:
    """For the two requests that a GitHub App makes as itself: where it is installed, and a token for there."""

    def __init__(self, app: str, key: str, api_url: str) -> None:
        from githubkit import AppAuthStrategy

        self._key = key
        self._kit = _Kit(AppAuthStrategy(app, key), api_url)

    def send(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        tag: str = "",
    ) -> Answer:
        try:
            from jwt import InvalidKeyError
        except ImportError:
            raise CannotGoOn("acting as a GitHub App needs the extra `app`: cf-conductor[app]") from None
        try:
            return self._kit.send(method, url, (self._key,), params=params, json=json, tag=tag)
        except (InvalidKeyError, ValueError):
            # What is said about a key may quote it.
            raise UsageError("CF_APP_PRIVATE_KEY is not a private key that can be read") from None

    def close(self) -> None:
        self._kit.close()
