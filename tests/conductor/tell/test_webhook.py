"""Webhooks: which events, what is sent, where it may go, and that nothing of it stops a tick."""

import json

import httpx
import pytest
from msgspec.structs import replace

from bot.conductor.conduct import _tell
from bot.conductor.tell.webhook import ADDRESS, SIGNATURE, Webhook, body_of, is_public, sign
from bot.model.config import Config
from bot.model.event import Event
from tests.builders import NOW, REPOSITORY, a_snapshot, a_task, a_tick

BODY = {"event": "run.started", "task": 12}
PUBLIC = "93.184.216.34"


class Hook:
    """The other side: notes what it gets, and answers in turn."""

    def __init__(self, *answers, found=(PUBLIC,)):
        self.answers, self.found = list(answers) or [200], found
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []
        self.now = 0.0

    def handle(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer, headers={"Location": "https://10.0.0.1/"})

    def wait(self, seconds):
        self.waits.append(seconds)
        self.now += seconds

    def deliver(self, *bodies, url="https://hooks.example:8443/x?y=1", key="", resolve=None):
        return Webhook(
            url,
            key,
            resolve or (lambda host, port: list(self.found)),
            httpx.MockTransport(self.handle),
            self.wait,
            lambda: self.now,
        ).deliver(bodies or (BODY,))


def test_it_goes_to_the_address_that_was_checked_under_the_name_that_was_given():
    hook = Hook()
    asked = []

    def resolve(*place):
        asked.append(place)
        return [PUBLIC]

    assert hook.deliver(resolve=resolve) == ""
    (request,) = hook.requests
    assert asked == [("hooks.example", 8443)]
    assert str(request.url) == f"https://{PUBLIC}:8443/x?y=1"
    assert request.headers["Host"] == "hooks.example:8443"
    assert request.extensions["sni_hostname"] == "hooks.example"
    assert request.extensions["timeout"] == dict.fromkeys(("connect", "read", "write", "pool"), 5.0)
    assert json.loads(request.content) == BODY
    assert request.headers["X-CF-Event"] == "run.started"


def test_it_is_signed_if_there_is_a_key():
    hook = Hook()
    hook.deliver(key="secret")
    (request,) = hook.requests
    assert request.headers[SIGNATURE] == sign("secret", request.content)
    assert sign("key", b"The quick brown fox jumps over the lazy dog").endswith(
        "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"
    )
    unsigned = Hook()
    unsigned.deliver()
    assert SIGNATURE not in unsigned.requests[0].headers


@pytest.mark.parametrize("trouble", [500, 503, 429, 408, httpx.ConnectTimeout("x"), httpx.ReadError("x")])
def test_passing_trouble_is_tried_again_and_the_same_event_keeps_its_name(trouble):
    hook = Hook(trouble, 200)
    assert hook.deliver() == ""
    assert len({request.headers["X-CF-Delivery"] for request in hook.requests}) == 1
    assert len(hook.requests) == 2
    assert len(hook.waits) == 1


def test_trouble_that_stays_is_one_sentence_without_the_address():
    hook = Hook(500)
    assert hook.deliver(BODY, BODY) == "the webhook answered 500; 0 of 2 events were delivered"
    assert len(hook.requests) == 3
    assert sum(hook.waits) < 10


@pytest.mark.parametrize("answer", [301, 400, 404])
def test_a_refusal_is_not_repeated_and_a_redirect_not_followed(answer):
    hook = Hook(200, answer)
    assert hook.deliver(BODY, BODY, BODY) == f"the webhook answered {answer}; 1 of 3 events were delivered"
    assert len(hook.requests) == 2


def test_a_storm_of_events_and_a_slow_receiver_are_bounded():
    hook = Hook()
    assert "10 of 60 events were left out" in hook.deliver(*[BODY] * 60)
    slow = Hook()

    def late(host, port):
        slow.now += 7
        return [PUBLIC]

    assert (
        slow.deliver(*[BODY] * 9, resolve=late) == "20 seconds were not enough; 3 of 9 events were delivered"
    )


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://hooks.example/", "begins with https://"),
        ("ftp://hooks.example/", "begins with https://"),
        ("https://", "begins with https://"),
        ("hooks.example", "begins with https://"),
        ("https://user:word@hooks.example/", "user name or password"),
        ("https://hooks.example:99999/", "no address"),
        ("https://a\x00b/", "no address"),
    ],
)
def test_an_address_that_may_not_be_called_is_named_by_its_secret(url, words):
    hook = Hook()
    said = hook.deliver(url=url)
    assert said.startswith(ADDRESS)
    assert words in said
    assert "example" not in said
    assert hook.requests == []


NOT_PUBLIC = (
    "127.0.0.1 10.1.2.3 172.16.0.1 192.168.0.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.1.1 240.0.0.1 255.255.255.255 ::1 ::"
    " fe80::1%eth0"
    " fc00::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 2002:7f00:1:: 2001:0:1:: 64:ff9b::7f00:1 2001:db8::1 nonsense"
).split()


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_of_ones_own_network_is_never_called(address):
    assert not is_public(address)
    hook = Hook(found=(PUBLIC, address))
    assert "must lead to a public address" in hook.deliver()
    assert hook.requests == []


@pytest.mark.parametrize("address", [PUBLIC, "2606:2800:220:1:248:1893:25c8:1946", "::ffff:8.8.8.8"])
def test_a_public_address_is(address):
    assert is_public(address)


def test_a_host_that_cannot_be_found_is_said():
    def nowhere(host, port):
        raise OSError("no such host")

    assert Hook().deliver(resolve=nowhere).startswith("the webhook's host cannot be found")
    assert Hook(found=()).deliver().startswith("the webhook's host cannot be found")


def test_a_body_holds_numbers_and_links_of_ours():
    event = Event("run.started", NOW, 12, key="cf-12-1", run=901)
    assert body_of(event, REPOSITORY, {"running": 1}) == {
        "event": "run.started",
        "at": "2026-03-02T12:00:00Z",
        "task": 12,
        "key": "cf-12-1",
        "run": 901,
        "repository": "acme/shop",
        "counts": {"running": 1},
        "link": "https://github.com/acme/shop/issues/12",
    }
    assert body_of(Event("config.reloaded", NOW), REPOSITORY, {})["link"] == "https://github.com/acme/shop"


@pytest.fixture
def sent(monkeypatch):
    """What a tick would have sent."""
    found: list[dict[str, object]] = []

    def deliver(_, bodies):
        found.extend(bodies)
        return "no answer"

    monkeypatch.setattr(Webhook, "deliver", deliver)
    return found


def told(patterns, environ, capsys):
    config = replace(Config(), webhook_events=patterns)
    tick = a_tick(a_snapshot(a_task(1), config=config))
    tick.effects.started[1] = 901
    tick.effects.refused.append("x")
    _tell(tick, environ)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (("run.*",), ["run.started"]),
        (("*",), ["reconcile.started", "reconcile.error", "run.started"]),
        (("reconcile.error", "task.*"), ["reconcile.error"]),
        (("batch.*",), []),
        ((), []),
    ],
)
def test_the_patterns_pick_the_events_and_trouble_is_only_told(patterns, names, sent, capsys, tmp_path):
    summary = tmp_path / "summary"
    out = told(patterns, {ADDRESS: "https://x", "GITHUB_STEP_SUMMARY": str(summary)}, capsys)
    assert [body["event"] for body in sent] == names
    assert ("cf: webhook: no answer" in out) == bool(names)
    assert ("- webhook: no answer" in summary.read_text(encoding="utf-8")) == bool(names)


def test_without_the_secret_nothing_is_sent_and_that_is_said(sent, capsys):
    assert "the secret CF_WEBHOOK is not" in told(("*",), {}, capsys)
    assert sent == []
