"""Redirects over real sockets: the token stays with the host it is for, and nobody but GitHub is believed."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bot.github.client import Client
from bot.github.credential import Credential
from bot.github.session import Session
from bot.github.wire import GithubkitWire
from bot.model.errors import CannotGoOn
from bot.model.issue import GHOST, Pull

pytestmark = pytest.mark.e2e


@contextmanager
def served(answer):
    """A server on loopback whose every answer is `answer(handler)`; yields its port and the requests that came."""
    came = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            came.append((self.command, self.path, self.headers.get("authorization")))
            answer(self)

        do_POST = do_PATCH = do_PUT = do_GET  # noqa: N815 - the name that http.server looks for

        def log_message(self, *_):
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1], came
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def gives(body):
    def answer(handler):
        handler.send_response(200)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


@contextmanager
def sent_on(status, body):
    """A client of a GitHub that sends every request on to another host; and what that host is told."""
    with served(gives(body)) as (other, told):

        def send_on(handler):
            handler.send_response(status)
            handler.send_header("location", f"http://localhost:{other}/elsewhere")
            handler.send_header("content-length", "0")
            handler.end_headers()

        with served(send_on) as (port, _):
            api = f"http://127.0.0.1:{port}"
            wire = GithubkitWire(Credential("t0ken"), api)
            session = Session(wire, "acme/shop", f"{api}/graphql", sleep=lambda _: None)
            with Client(session) as client:
                yield client, told


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_an_answer_from_another_host_is_not_believed(status):
    with sent_on(status, b'{"id": 1, "role_name": "admin", "workflow_run_id": 7}') as (client, told):
        pull = Pull(7, GHOST, True, False, True, "cf/1", "a" * 40, "", node_id="PR_1")
        for ask in (
            lambda: client.permission("stranger"),
            lambda: client.dispatch("cf-worker.yml", "main", {}),
            lambda: client.cancel(7),
            lambda: client.issues([1]),
            lambda: client.open_pull("cf/1", "main", "title", "body", draft=False),
            lambda: client.update_pull(7, "title", "body"),
            lambda: client.close_pull(7),
            lambda: client.ready_pull(pull),
            lambda: client.merge_pull(7, "a" * 40),
            lambda: client.merge_pull_later(pull, "a" * 40),
        ):
            with pytest.raises(CannotGoOn):
                ask()
    assert told
    # No write, no body and no token leave for a host that was not meant.
    assert {(method, authorization) for method, _, authorization in told} == {("GET", None)}


def test_a_download_is_taken_from_the_storage_without_the_token():
    with sent_on(302, b"the archive") as (client, told):
        assert client.download(1) == b"the archive"
    assert [authorization for _, _, authorization in told] == [None]
