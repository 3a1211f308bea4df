"""Events told to a web address: signed, bounded, retried, and never in the way of a tick.

The address is the secret `CF_WEBHOOK`, so a wrong or hostile one must not make the runner talk to its own network: only HTTPS,
only addresses that are reachable from everywhere, and the connection goes to the very address that was checked. Redirects are
not followed.
"""

import hashlib
import hmac
import ipaddress
import json
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx
from msgspec import Struct
from tenacity import Retrying, retry_if_exception_type, wait_exponential

from bot.model.errors import UsageError
from bot.model.event import Event
from bot.model.view import Repository
from bot.notation.events import event_fields

ADDRESS, KEY = "CF_WEBHOOK", "CF_WEBHOOK_KEY"
SIGNATURE = "X-CF-Signature-256"
_TIMEOUT = 5.0  # seconds for one delivery
_ALTOGETHER = 20.0  # seconds for all of a tick
_ATTEMPTS = 3
_MOST = 50  # events of one tick; a storm is told by its beginning

Resolve = Callable[[str, int], Sequence[str]]


class _Failed(Exception):
    """Worth another try: no connection, no answer in time, or the other side is busy."""


def _addresses(host: str, port: int) -> Sequence[str]:
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class Webhook(Struct, frozen=True):
    """Where events go. `key` signs them, if there is one; `resolve`, `transport` and `wait` are the outside world."""

    url: str
    key: str = ""
    resolve: Resolve = _addresses
    transport: httpx.BaseTransport | None = None
    wait: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def deliver(self, bodies: Sequence[Mapping[str, Any]]) -> str:
        """Send each body by itself. Returns what went wrong, without the address, which is a secret; else nothing."""
        try:
            target = _target(self.url)
        except UsageError as error:
            return str(error)
        end = self.clock() + _ALTOGETHER
        sent = 0
        try:
            with self._client() as client:
                for body in bodies[:_MOST]:
                    if self.clock() >= end:
                        raise _Failed(f"{_ALTOGETHER:.0f} seconds were not enough")
                    self._send(client, target, body, end)
                    sent += 1
        except (_Failed, UsageError) as error:
            return f"{error}; {sent} of {len(bodies)} events were delivered"
        left = len(bodies) - sent
        return (
            f"{left} of {len(bodies)} events were left out: at most {_MOST} are sent in one tick"
            if left
            else ""
        )

    def _client(self) -> httpx.Client:
        # No proxy from the environment: it, and not the address that was checked, would decide where the request goes.
        return httpx.Client(
            transport=self.transport, timeout=_TIMEOUT, trust_env=False, follow_redirects=False
        )

    def _send(self, client: httpx.Client, target: httpx.URL, body: Mapping[str, Any], end: float) -> None:
        content = json.dumps(body, separators=(",", ":")).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "cf-conductor",
            "X-CF-Event": str(body.get("event", "")),
            # The same event delivered twice has the same name, so that a receiver can tell.
            "X-CF-Delivery": hashlib.sha256(content).hexdigest()[:32],
        }
        if self.key:
            headers[SIGNATURE] = sign(self.key, content)
        retrying = Retrying(
            retry=retry_if_exception_type(_Failed),
            stop=lambda state: state.attempt_number >= _ATTEMPTS or self.clock() >= end,
            wait=wait_exponential(multiplier=0.5, max=4),
            sleep=self.wait,
            reraise=True,
        )
        retrying(self._post, client, target, content, headers)

    def _post(
        self, client: httpx.Client, target: httpx.URL, content: bytes, headers: Mapping[str, str]
    ) -> None:
        address = self._checked(target)
        try:
            answer = client.post(
                target.copy_with(host=address),
                content=content,
                headers={**headers, "Host": target.netloc.decode("ascii")},
                extensions={"sni_hostname": target.host},  # the certificate is that of the name
            )
        except httpx.HTTPError as error:
            raise _Failed(f"no answer from the webhook ({type(error).__name__})") from error
        if answer.status_code in (408, 429) or answer.status_code >= 500:
            raise _Failed(f"the webhook answered {answer.status_code}")
        if not answer.is_success:
            raise UsageError(f"the webhook answered {answer.status_code}")

    def _checked(self, target: httpx.URL) -> str:
        """An address of the host to connect to. Raises UsageError if any of them is not for everybody."""
        try:
            found = self.resolve(target.host, target.port or 443)
        except OSError as error:
            raise _Failed("the webhook's host cannot be found") from error
        if not found:
            raise _Failed("the webhook's host cannot be found")
        if not all(map(is_public, found)):
            raise UsageError(
                f"{ADDRESS} must lead to a public address, and its host has a private, local or reserved one"
            )
        return found[0]


def _target(url: str) -> httpx.URL:
    """The address, if it is one that may be called. Raises UsageError, which never names the address."""
    try:
        target = httpx.URL(url.strip())
        _ = target.netloc.decode("ascii")
    except (httpx.InvalidURL, UnicodeError) as error:
        raise UsageError(f"{ADDRESS} is no address") from error
    if target.port is not None and not 0 < target.port < 65_536:
        raise UsageError(f"{ADDRESS} is no address")
    if target.scheme != "https" or not target.host:
        raise UsageError(f"{ADDRESS} must be an address that begins with https://")
    if target.userinfo:
        raise UsageError(f"{ADDRESS} must not hold a user name or password")
    return target


def is_public(address: str) -> bool:
    """Whether an IP address can be reached from everywhere: not private, loopback, link-local, multicast, or hiding such."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return is_public(str(found.ipv4_mapped))
        if found.sixtofour is not None or found.teredo is not None or found in _TRANSLATED:
            return False
    return found.is_global and not found.is_multicast


_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")  # NAT64: an IPv4 address inside


def sign(key: str, content: bytes) -> str:
    """The value of the signature's header: HMAC-SHA256 over the body, as `sha256=<hex>`."""
    return "sha256=" + hmac.new(key.encode(), content, hashlib.sha256).hexdigest()


def body_of(event: Event, repository: Repository, counts: Mapping[str, int]) -> dict[str, Any]:
    """What is sent: names, numbers and links of ours; no text that anybody wrote."""
    home = f"{repository.server}/{repository.full_name}"
    number = event.task or event.batch
    link = f"{home}/issues/{number}" if number else home
    return {**event_fields(event), "repository": repository.full_name, "counts": dict(counts), "link": link}
