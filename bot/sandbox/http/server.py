"""The HTTP face as one application, and a server that runs it on loopback in a thread."""

import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route as WebRoute
from starlette.types import ASGIApp

from bot.sandbox.http.api import Api, unknown_reply
from bot.sandbox.http.git_http import GitHttp
from bot.sandbox.http.pages.pages import Pages
from bot.sandbox.http.storage import Storage
from bot.sandbox.world import World

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@dataclass(frozen=True, slots=True)
class Served:
    """Where a world is to be found: `url` for people and git, `api` and `graphql` for clients."""

    url: str

    @property
    def api(self) -> str:
        return self.url

    @property
    def graphql(self) -> str:
        return f"{self.url}/graphql"


def application(world: World, url: str, *, protected: bool = False) -> Starlette:
    """Everything the sandbox answers. What it does not know is refused with 501, and named."""
    api = Api(world, url, secrets.token_hex(16))
    routes = [
        *api.routes(),
        *Storage(api).routes(),
        *GitHttp(world, protected=protected).routes(),
        *Pages(world).routes(),
        WebRoute("/{path:path}", _unknown, methods=_METHODS),
    ]
    return Starlette(routes=routes)


async def _unknown(request: Request) -> Response:
    reply = unknown_reply(f"{request.method} {request.url.path}")
    return JSONResponse(reply.body, reply.status)


@contextmanager
def serve(
    world: World, port: int = 0, *, protected: bool = False, wrap: Callable[[ASGIApp], ASGIApp] | None = None
) -> Iterator[Served]:
    """Serve the world on 127.0.0.1 (port 0: any free one) until the block is left. `wrap` puts a layer around, for tests."""
    # asyncio switches Nagle's algorithm off only where the protocol is named: without it each answer takes 40 ms more.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError:
        listening.close()
        raise
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    before, world.web = world.web, url
    app: ASGIApp = application(world, url, protected=protected)
    config = uvicorn.Config(
        wrap(app) if wrap else app,
        log_level="critical",
        access_log=False,
        lifespan="off",
        # The date is the world's, so that its clock and its clients' agree.
        date_header=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    # The socket listens already: a client that comes before the thread is ready waits in its queue.
    listening.listen(128)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), name="sandbox-http", daemon=True)
    thread.start()
    try:
        yield Served(url)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
        world.web = before
