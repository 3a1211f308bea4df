"""Acting as a GitHub App: its token is made by its key, for no more than is needed, and once more when it is not taken any more."""

import base64
import os
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.github.app import CONDUCTING, PUBLISHING, WAKING
from bot.github.client import connect
from bot.github.credential import Credential
from bot.model.errors import CannotGoOn, UsageError
from bot.sandbox.http.server import serve
from bot.sandbox.world import World
from bot.sandbox.world.bare_git import BareGit
from bot.worker.change.git import Git, Remote, Unauthorised
from bot.worker.command import _publisher
from tests.oracles import rest_oracle

pytestmark = pytest.mark.e2e

ALL = {name: level for asked in (CONDUCTING, WAKING, PUBLISHING) for name, level in asked.items()} | {
    "issues": "write",
    "actions": "write",
}


@pytest.fixture(scope="module")
def keys():
    """A private key and its public half, as PEM."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private.decode(), public.decode()


class Shop:
    """A GitHub on loopback with one App installed."""

    def __init__(self, world, served, keys, permissions):
        self.world, self.served = world, served
        self.app = world.apps.install("conductor", keys[1], permissions)
        self.environ = {
            "GITHUB_TOKEN": "the-jobs-own",
            "GITHUB_REPOSITORY": "acme/shop",
            "GITHUB_API_URL": served.api,
            "GITHUB_GRAPHQL_URL": served.graphql,
            "CF_APP_ID": str(self.app.id),
            "CF_APP_PRIVATE_KEY": keys[0],
        }


@pytest.fixture
def shop(keys):
    world = World("acme/shop")
    with serve(world) as served:
        yield Shop(world, served, keys, ALL)


def test_the_client_acts_as_the_app_and_asks_for_no_more_than_it_needs(shop):
    shop.world.push_files("main", {"README.md": "x"})
    shop.world.push_files("cf/1", {"a.txt": "x"})
    with connect(shop.environ, PUBLISHING) as github:
        pull = github.open_pull("cf/1", "main", "title", "body", draft=False)

    assert pull.author.login == "conductor[bot]"
    (token,) = shop.world.apps.minted
    assert token.permissions == {name.replace("_", "-"): level for name, level in PUBLISHING.items()}
    assert token.permissions["issues"] == "read"


def test_the_sandbox_answers_an_app_as_github_describes(shop, keys):
    import httpx
    from githubkit import AppAuthStrategy, GitHub

    kit = GitHub(AppAuthStrategy(str(shop.app.id), keys[0]), base_url=shop.served.api, http_cache=False)
    oracle = rest_oracle()
    path = "/repos/acme/shop/installation"
    found = kit.request("GET", path).json()
    oracle.check_response("GET", path, 200, found)
    path = f"/app/installations/{found['id']}/access_tokens"
    body = {"repositories": ["shop"], "permissions": WAKING}
    oracle.check_request("POST", path, {}, body)
    made = kit.request("POST", path, json=body).json()
    oracle.check_response("POST", path, 201, made)
    refused = httpx.get(
        f"{shop.served.api}/repos/acme/shop/installation", headers={"authorization": "Bearer a.b.c"}
    )
    assert refused.status_code == 401


def test_api_17_a_token_that_is_not_taken_any_more_is_made_anew_exactly_once(shop):
    """The second end of it is an error like any other; nothing is sent twice that was carried out."""
    task = shop.world.open_issue("task")
    with connect(shop.environ, CONDUCTING) as github:
        assert github.issue(task).number == task
        shop.world.wait(timedelta(minutes=75))
        shop.world.apps.expire(shop.world.apps.minted[0])
        run = github.dispatch("cf-worker.yml", "main", {"units": "[]", "keys": "cf-1-1"})
        assert len(shop.world.apps.minted) == 2
        assert [known.id for known in shop.world.runs("cf-worker.yml")] == [run]

        shop.world.apps.expire(shop.world.apps.minted[1])
        with pytest.raises(CannotGoOn, match="does not accept the token"):
            github.issue(task)
        assert len(shop.world.apps.minted) == 2


def test_api_17_git_shares_the_token_and_its_renewal(keys, tmp_path):
    world = World("acme/shop", git=BareGit.create(tmp_path / "origin.git"))
    git = Git(tmp_path / "origin.git", {"PATH": os.environ["PATH"]})
    head = git.commit(git.text("mktree", given=b""), (), "work")
    with serve(world) as served, connect(Shop(world, served, keys, ALL).environ, PUBLISHING) as github:
        remote = f"{served.url}/acme/shop"
        stale = github.credential.token
        world.apps.expire(world.apps.minted[0])

        with pytest.raises(Unauthorised):
            git.push(Remote(remote, stale), head, "cf/1")
        assert github.credential.renew(stale)
        assert git.push(Remote(remote, github.credential.token), head, "cf/1")
        # The client's own next request uses the new token at once, and does not make a third.
        assert github.pull_by_branch("cf/1") is None
    assert len(world.apps.minted) == 2
    assert world.git.head("cf/1") == head


@pytest.mark.parametrize("granted", [True, False])
def test_leave_to_push_workflow_files_is_asked_for_on_order_only(keys, granted):
    world = World("acme/shop")
    with serve(world) as served:
        more = {"workflows": "write"} if granted else {}
        environ = Shop(world, served, keys, ALL | more).environ
        for exceptions in ((), ("AGENTS.md",), (".github/workflows/ci.yml",)):
            _publisher(environ, exceptions).close()

    asked = ["workflows" in (token.permissions or {}) for token in world.apps.minted]
    assert asked == [False, False, granted]


def test_a_default_token_is_never_renewed():
    credential = Credential("t")

    assert not credential.of_app
    assert not credential.renew("t")
    assert credential.renew("an older one")
    assert credential.token == "t"


def other_key():
    body = base64.b64encode(b"no key at all").decode()
    return f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"CF_APP_ID": ""}, UsageError, "CF_APP_ID is not set"),
        ({"CF_APP_PRIVATE_KEY": ""}, UsageError, "CF_APP_PRIVATE_KEY is not set"),
        ({"CF_APP_ID": "../x"}, UsageError, "id or client id"),
        ({"CF_APP_PRIVATE_KEY": "MIIEvQ"}, UsageError, "the whole key"),
        ({"CF_APP_PRIVATE_KEY": other_key()}, UsageError, "not a private key that can be read"),
        ({"CF_APP_ID": "99"}, CannotGoOn, "the GitHub App 99 is not accepted"),
        ({"GITHUB_REPOSITORY": "acme/elsewhere"}, CannotGoOn, "is not installed on acme/elsewhere"),
    ],
)
def test_what_is_wrong_with_an_app_is_said_and_its_key_is_not(shop, change, error, words):
    with pytest.raises(error, match=words) as caught:
        connect({**shop.environ, **change})
    for line in shop.environ["CF_APP_PRIVATE_KEY"].splitlines():
        assert line not in str(caught.value)


def test_an_app_that_was_granted_less_than_is_needed_is_told_so(keys):
    world = World("acme/shop")
    with serve(world) as served:
        shop = Shop(world, served, keys, {"actions": "write"})
        with pytest.raises(CannotGoOn, match="look over its permissions"):
            connect(shop.environ, PUBLISHING)
        with connect(shop.environ, WAKING) as github:
            assert github.dispatch("cf-conductor.yml", "main", {})
