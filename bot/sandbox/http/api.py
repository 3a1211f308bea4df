"""GitHub's API for one world: who asks, what a route does with it, and the headers that every answer carries."""

import hashlib
import hmac
import json
import logging
from collections.abc import Callable, Mapping
from email.utils import format_datetime
from itertools import count
from typing import Any
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as WebRoute
from starlette.types import Receive, Scope, Send

from bot.sandbox.http.graphql import execute
from bot.sandbox.http.rest import actions, apps, issues, repository
from bot.sandbox.http.rest.bodies import Render
from bot.sandbox.http.rest.exchange import Call, Reply, Route
from bot.sandbox.world import ApiError, Disconnected, Token, UnknownToTheSandbox, World

API_VERSION = "2026-03-10"
DOCS = "https://docs.github.com/rest"
_log = logging.getLogger(__name__)
_VALIDATION = "Validation Failed: "


class Api:
    """The REST and GraphQL routes. Calls are carried out one at a time, as the world's lock demands."""

    def __init__(self, world: World, api: str, secret: str) -> None:
        self.world = world
        self.render = Render(world, api)
        self._secret = secret.encode()
        self._last: dict[tuple[str, str], Reply] = {}
        self._numbers = count(1)

    def sign(self, path: str) -> str:
        """The signature that makes an address a key to what is stored there."""
        return hmac.new(self._secret, path.encode(), hashlib.sha256).hexdigest()

    def signed(self, path: str, signature: str) -> bool:
        return hmac.compare_digest(self.sign(path), signature)

    def authenticate(self, header: str) -> Token:
        """Raises ApiError 401."""
        kind, _, value = header.partition(" ")
        if kind.lower() not in ("bearer", "token") or not value:
            raise ApiError(401, "Requires authentication", "UNAUTHORIZED")
        value = value.strip()
        return (
            apps.signed(self.world, value)
            if value.count(".") == 2
            else self.world.accounts.authenticate(value)
        )

    def routes(self) -> list[WebRoute]:
        """For Starlette, the more exact ones first."""
        here = "/repos/{owner}/{repo}"
        everywhere = (*repository.GLOBAL_ROUTES, *apps.GLOBAL_ROUTES)
        found = [self._web(route, route.template) for route in everywhere]
        tables = (issues.ROUTES, actions.ROUTES, repository.ROUTES, apps.ROUTES)
        found += [self._web(route, here + route.template) for table in tables for route in table]
        found.append(WebRoute("/graphql", self._graphql, methods=["POST"]))
        return found

    # ------------------------------------------------------------------ REST

    def _web(self, route: Route, template: str) -> WebRoute:
        async def endpoint(request: Request) -> Response:
            body = await request.body()
            return await run_in_threadpool(self._rest, route, request, body)

        endpoint.__name__ = route.handler.__name__
        return WebRoute(template, endpoint, methods=[route.method])

    def _rest(self, route: Route, request: Request, raw: bytes) -> Response:
        write = request.method not in ("GET", "HEAD")
        path = request.url.path

        def carry_out(token: Token) -> Reply:
            query = dict(parse_qsl(request.url.query, keep_blank_values=True))
            body = _json(raw) if write else {}
            _known_names("query parameter", request, query, route.query)
            _known_names("field", request, body, route.fields)
            call = Call(self.world, self.render, token, path, request.path_params, query, body, self.sign)
            if self._elsewhere(request.path_params):
                if route.handler is issues.get_issue:
                    return issues.foreign_issue(call)
                raise ApiError(404, "Not Found", "NOT_FOUND")
            if route.content:
                self.world.limits.charge_content(token)
            return self._fresh(route.stale, (token.value, path), lambda: route.handler(call))

        return self._exchange(
            request, "core", f"{request.method} {path}", carry_out, write=write, needs=route.needs
        )

    def _elsewhere(self, params: Mapping[str, str]) -> bool:
        if "repo" not in params:
            return False
        return f"{params['owner']}/{params['repo']}".lower() != self.world.repository.lower()

    # ------------------------------------------------------------------ GraphQL

    async def _graphql(self, request: Request) -> Response:
        body = await request.body()
        return await run_in_threadpool(self._graphql_answer, request, body)

    def _graphql_answer(self, request: Request, raw: bytes) -> Response:
        def carry_out(token: Token) -> Reply:
            asked = execute.read(_json(raw))
            # The first point was charged as every request's is.
            self.world.limits.charge(token, "graphql", "points", max(0, asked.cost.points - 1))
            key = (token.value, hashlib.sha256(raw).hexdigest())
            return self._fresh(not asked.writes, key, lambda: Reply(execute.answer(self.world, token, asked)))

        return self._exchange(request, "graphql", "POST /graphql", carry_out, write=False)

    # ------------------------------------------------------------------ both

    def _exchange(
        self,
        request: Request,
        resource: str,
        name: str,
        carry_out: Callable[[Token], Reply],
        *,
        write: bool,
        needs: str = "",
    ) -> Response:
        world = self.world
        token: Token | None = None
        with world.lock:
            try:
                version = request.headers.get("x-github-api-version", API_VERSION)
                if version != API_VERSION:
                    raise UnknownToTheSandbox(f"API version {version}; it speaks {API_VERSION}")
                token = self.authenticate(request.headers.get("authorization", ""))
                free = request.url.path == "/rate_limit"
                world.limits.charge(token, resource, name, 0 if free else 1)
                world.faults.strike(name, write=write, after=False)
                reply = carry_out(token)
                world.faults.strike(name, write=write, after=True)
            except Disconnected:
                return _Broken()
            except UnknownToTheSandbox as unknown:
                reply = unknown_reply(str(unknown), 400)
            except ApiError as error:
                reply = self._refusal(error, resource)
            return self._finish(request, reply, token, resource, needs)

    def _refusal(self, error: ApiError, resource: str) -> Reply:
        if resource == "graphql" and error.status not in (400, 401) and error.status < 500:
            # GraphQL says no with status 200, but for the secondary limit.
            status = error.status if "retry-after" in error.headers else 200
            body = {"errors": [{"type": error.kind, "message": error.message}], "message": error.message}
            return Reply(body, status, error.headers)
        # A gateway that gave up says nothing at all.
        return Reply(_error_body(error) if error.message else None, error.status, error.headers)

    def _finish(
        self, request: Request, reply: Reply, token: Token | None, resource: str, needs: str
    ) -> Response:
        headers = {**self._headers(token, resource), **reply.headers}
        if needs:
            headers["x-accepted-github-permissions"] = needs
        if reply.body is None:
            return Response(status_code=reply.status, headers=headers)
        content = json.dumps(reply.body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        headers["content-type"] = "application/json; charset=utf-8"
        if request.method == "GET" and reply.status == 200:
            etag = f'W/"{hashlib.sha256(content).hexdigest()}"'
            headers["etag"] = etag
            if request.headers.get("if-none-match") == etag:
                if token is not None:
                    # A 304 does not count against the primary limit.
                    self.world.limits.window(token, resource).used -= 1
                return Response(status_code=304, headers={**headers, **self._headers(token, resource)})
        return Response(content, reply.status, headers)

    def _headers(self, token: Token | None, resource: str) -> dict[str, str]:
        headers = {
            "date": format_datetime(self.world.core.now, usegmt=True),
            "x-github-media-type": "github.v3; format=json",
            "x-github-api-version-selected": API_VERSION,
            "x-github-request-id": f"SAND:{next(self._numbers):08X}",
            "cache-control": "private, max-age=60, s-maxage=60",
            "vary": "Accept, Authorization, Cookie, X-GitHub-OTP",
        }
        if token is not None:
            window = self.world.limits.window(token, resource)
            headers |= {
                "x-ratelimit-limit": str(window.limit),
                "x-ratelimit-remaining": str(window.remaining),
                "x-ratelimit-used": str(window.used),
                "x-ratelimit-reset": str(int(window.reset.timestamp())),
                "x-ratelimit-resource": resource,
            }
        return headers

    def _fresh(self, may_be_stale: bool, key: tuple[str, str], read: Callable[[], Reply]) -> Reply:
        """The answer, or the last one again where a test ordered lag."""
        if may_be_stale and key in self._last and self.world.faults.take_stale():
            return self._last[key]
        reply = read()
        if may_be_stale:
            self._last[key] = reply
        return reply


def unknown_reply(what: str, status: int = 501) -> Reply:
    """The loud answer to what the sandbox does not offer."""
    message = f"The sandbox does not know {what}. What it knows is in docs/sandbox.md."
    _log.warning("refused what the sandbox does not know: %s", what)
    return Reply({"message": message, "documentation_url": DOCS, "status": str(status)}, status)


class _Broken(Response):
    """A connection that dies before the answer is whole."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _error_body(error: ApiError) -> dict[str, Any]:
    body: dict[str, Any] = {"message": error.message, "documentation_url": DOCS, "status": str(error.status)}
    if error.message.startswith(_VALIDATION):
        reason = error.message.removeprefix(_VALIDATION)
        code = {"code": reason} if reason == "already_exists" else {"code": "custom", "message": reason}
        body |= {"message": "Validation Failed", "errors": [{"resource": "Sandbox", **code}]}
    return body


def _json(raw: bytes) -> dict[str, Any]:
    if not raw.strip():
        return {}
    try:
        body = json.loads(raw)
    except ValueError:
        raise ApiError(400, "Problems parsing JSON") from None
    if not isinstance(body, dict):
        raise ApiError(400, "Body should be a JSON object")
    return body


def _known_names(kind: str, request: Request, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    if unknown := sorted(set(given) - set(known)):
        raise UnknownToTheSandbox(f"the {kind} {', '.join(unknown)} of {request.method} {request.url.path}")
