"""Asking a model: both wire formats, an answer that is checked, patience with bounds, a budget, and a key that never shows."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import httpx
import pytest
import respx

from bot.models.client import Budget, Endpoint, ModelClient, ModelError

KEY = "sk-test-0123456789abcdef"
CLAUDE = Endpoint("anthropic", "https://api.anthropic.com", "claude-x", KEY)
OPENAI = Endpoint("openai", "https://api.openai.com/v1", "gpt-x", KEY)
LOCAL = Endpoint("openai", "http://127.0.0.1:9/v1", "llama", KEY)


def said_by_claude(text, tokens=10):
    return {
        "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": tokens, "output_tokens": 5},
    }


def said_by_openai(text):
    return {
        "choices": [{"message": {"content": text}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    }


class Asking:
    """A client whose pauses are written down instead of slept."""

    def __init__(self, endpoint=CLAUDE, budget=None):
        self.pauses: list[float] = []
        self.budget = budget or Budget()
        self.client = ModelClient(endpoint, self.budget, self.pauses.append)

    def ask(self, kind=dict[str, int]):
        return self.client.ask("be brief", "how many?", kind)


@pytest.fixture
def web():
    with respx.mock() as router:
        yield router


def test_anthropic_messages(web):
    route = web.post("https://api.anthropic.com/v1/messages").respond(json=said_by_claude('{"n": 3}'))
    asking = Asking()

    assert asking.ask() == {"n": 3}
    sent = route.calls.last.request
    assert sent.headers["x-api-key"] == KEY
    assert sent.headers["anthropic-version"] == "2023-06-01"
    body = json.loads(sent.content)
    assert (body["model"], body["system"]) == ("claude-x", "be brief")
    assert body["messages"] == [{"role": "user", "content": "how many?"}]
    assert asking.budget == Budget(calls=19, tokens=200_000 - 15)


@pytest.mark.parametrize(
    ("endpoint", "limit"), [(OPENAI, "max_completion_tokens"), (LOCAL, "max_tokens")], ids=["own", "others"]
)
def test_openai_chat_completions(web, endpoint, limit):
    route = web.post(f"{endpoint.base_url}/chat/completions").respond(json=said_by_openai('{"n": 3}'))

    assert Asking(endpoint).ask() == {"n": 3}
    sent = route.calls.last.request
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(sent.content)[limit] == 1_000


def test_a_fence_around_the_answer_is_taken_off(web):
    web.post().respond(json=said_by_claude('```json\n{"n": 3}\n```'))
    assert Asking().ask() == {"n": 3}


@pytest.mark.parametrize(
    "answer",
    [
        said_by_claude("three"),
        said_by_claude('{"n": "three"}'),
        said_by_claude('{"n": 3} and more'),
        said_by_claude(""),
        {"content": None},
        {"content": [{"type": "text"}]},
        {},
        [],
        None,
        "text",
    ],
)
def test_what_is_not_the_json_asked_for_is_an_error(web, answer):
    web.post().respond(json=answer)
    with pytest.raises(ModelError):
        Asking().ask()


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_a_busy_server_is_asked_again_three_times_in_all(web, status):
    route = web.post().respond(status, text="busy")
    asking = Asking()
    with pytest.raises(ModelError, match=f"api.anthropic.com answered {status}: busy"):
        asking.ask()
    assert route.call_count == 3
    assert asking.pauses == [1, 2]
    assert asking.budget.calls == 17


def test_a_retry_after_of_seconds_is_waited_for(web):
    answers = [
        httpx.Response(429, headers={"retry-after": "7"}),
        httpx.Response(200, json=said_by_claude('{"n": 3}')),
    ]
    web.post().mock(side_effect=answers)
    asking = Asking()
    assert asking.ask() == {"n": 3}
    assert asking.pauses == [7]


def test_a_retry_after_of_minutes_ends_it_at_once(web):
    route = web.post().respond(429, headers={"retry-after": "600"})
    asking = Asking()
    with pytest.raises(ModelError, match="429"):
        asking.ask()
    assert (route.call_count, asking.pauses) == (1, [])


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 422])
def test_a_refusal_is_not_asked_again(web, status):
    route = web.post().respond(status, json={"error": "no"}, headers={"location": "https://evil.example/"})
    with pytest.raises(ModelError, match=str(status)):
        Asking().ask()
    assert route.call_count == 1


@pytest.mark.parametrize("trouble", [httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError])
def test_a_lost_connection_is_tried_again(web, trouble):
    web.post().mock(side_effect=[trouble("gone"), httpx.Response(200, json=said_by_claude('{"n": 3}'))])
    assert Asking().ask() == {"n": 3}


def test_the_budget_bounds_calls_and_tokens(web):
    route = web.post().respond(json=said_by_claude('{"n": 3}', tokens=5_000))
    few = Asking(budget=Budget(calls=1))
    few.ask()
    with pytest.raises(ModelError, match="budget"):
        few.ask()
    cheap = Asking(budget=Budget(tokens=4_000))
    cheap.ask()
    with pytest.raises(ModelError, match="budget"):
        cheap.ask()
    assert route.call_count == 2


def test_an_endless_answer_is_cut_off(web):
    web.post().respond(text="x" * 1_100_000)
    with pytest.raises(ModelError, match="too much"):
        Asking().ask()


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(401, text=f"the key {KEY} is wrong"),
        httpx.Response(200, text=f"the key {KEY} is no JSON"),
        httpx.Response(200, json=said_by_claude(f'{{"{KEY}": "{KEY}"}}')),
        httpx.ConnectError(f"with {KEY}"),
    ],
)
def test_the_key_is_in_no_error_and_no_log(web, answer, caplog):
    web.post().mock(side_effect=[answer] * 3)
    caplog.set_level("DEBUG")
    with pytest.raises(ModelError) as caught:
        Asking().ask()
    shown = (
        f"{caught.value!r} {caught.value.__cause__!r} {caught.getrepr()} {CLAUDE!r} {CLAUDE} {caplog.text}"
    )
    # The traceback shows the test's own source and this text, not the value.
    assert KEY not in shown.replace(f'KEY = "{KEY}"', "")


def test_a_key_with_a_line_end_is_an_error_without_the_key():
    with pytest.raises(ModelError) as caught:
        Asking(Endpoint("anthropic", "https://api.anthropic.com", "x", f"{KEY}\r\nx: y")).ask()
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["http://models.example/v1", "ftp://x", "models.example", "https://[", ""]
)
def test_only_https_and_loopback_are_asked(address):
    with pytest.raises(ModelError, match="address"):
        Asking(Endpoint("openai", address, "x", KEY))


class _StandIn(BaseHTTPRequestHandler):
    """A server that is overloaded once, then answers in both formats."""

    asked: ClassVar[list[str]] = []

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.asked.append(self.path)
        if len(self.asked) == 1:
            self.send_response(529)
            self.send_header("retry-after", "1")
            self.end_headers()
            return
        answer = said_by_claude if self.path.endswith("/messages") else said_by_openai
        content = json.dumps(answer('{"n": 3}')).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_args):
        pass


@pytest.mark.parametrize(
    ("provider", "path"), [("anthropic", "/v1/messages"), ("openai", "/chat/completions")]
)
def test_over_real_http(provider, path):
    _StandIn.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _StandIn) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            asking = Asking(Endpoint(provider, f"http://127.0.0.1:{server.server_port}", "m", KEY))
            assert asking.ask() == {"n": 3}
        finally:
            server.shutdown()
            thread.join()
    assert _StandIn.asked == [path, path]
    assert asking.pauses == [1]
