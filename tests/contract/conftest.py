"""One suite, two answers: the world itself, and the real client talking HTTP to the sandbox, every exchange judged."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import pytest

from bot.github.client import Client
from bot.github.credential import Credential
from bot.github.port import GitHub
from bot.github.session import Session
from bot.github.wire import GithubkitWire
from bot.sandbox.http.server import Served, serve
from bot.sandbox.world import BOT, World
from bot.sandbox.world.in_process import client_of
from tests.oracles import check_document, rest_oracle, typed

_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
_RANGE = re.compile(rf">={_TIME}|{_TIME}\.\.{_TIME}")


@dataclass
class Exchange:
    method: str
    path: str
    query: str
    sent: bytes
    status: int = 0
    received: bytes = b""


@dataclass
class Judge:
    """An ASGI layer that notes every exchange; `verdict` holds each to GitHub's own descriptions."""

    app: Any = None
    exchanges: list[Exchange] = field(default_factory=list)

    def around(self, app):
        self.app = app
        return self

    async def __call__(self, scope, receive, send):
        exchange = Exchange(scope["method"], scope["path"], scope["query_string"].decode(), b"")

        async def listened():
            message = await receive()
            exchange.sent += message.get("body", b"")
            return message

        async def noted(message):
            exchange.status = message.get("status", exchange.status)
            exchange.received += message.get("body", b"")
            await send(message)

        await self.app(scope, listened, noted)
        self.exchanges.append(exchange)

    def verdict(self) -> None:
        for exchange in self.exchanges:
            if exchange.path == "/graphql":
                _known_document(json.loads(exchange.sent)["query"])
                continue
            if not exchange.path.startswith("/repos/"):
                continue
            body = json.loads(exchange.sent) if exchange.sent else None
            answer = json.loads(exchange.received) if exchange.received else None
            oracle = rest_oracle()
            query = dict(parse_qsl(exchange.query))
            if (created := query.get("created")) is not None:
                # Described as a date-time, and documented as a range in the search syntax: the words count.
                assert _RANGE.fullmatch(query.pop("created")), created
            oracle.check_request(exchange.method, exchange.path, query, body)
            operation = oracle.check_response(exchange.method, exchange.path, exchange.status, answer)
            if exchange.status in (200, 201):
                typed(operation.name, answer, exchange.status)


@cache
def _known_document(text: str) -> None:
    check_document(text)


@dataclass
class Face:
    """A world, and what hands out clients for it."""

    world: World
    served: Served | None = None
    clients: list[Client] = field(default_factory=list)

    def github(self, who: str = BOT.login) -> GitHub:
        if self.served is None:
            return client_of(self.world, who)
        wire = GithubkitWire(Credential(self.world.token(who).value), self.served.api)
        # The world's time stands still, so the pause between writes passes at once.
        client = Client(
            Session(
                wire,
                self.world.repository,
                self.served.graphql,
                now=lambda: self.world.now,
                sleep=lambda _seconds: None,
            )
        )
        self.clients.append(client)
        return client


@pytest.fixture(params=["in process", "over HTTP"])
def face(request: pytest.FixtureRequest) -> Iterator[Face]:
    world = World()
    if request.param == "in process":
        yield Face(world)
        return
    judge = Judge()
    with serve(world, wrap=judge.around) as served:
        face = Face(world, served)
        yield face
        for client in face.clients:
            client.close()
    judge.verdict()


@pytest.fixture
def world(face: Face) -> World:
    return face.world


@pytest.fixture
def github(face: Face) -> GitHub:
    return face.github()
