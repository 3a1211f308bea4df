"""The client: it is the port, and is connected by what the environment says."""

import httpx
import pytest

from bot.github.client import connect
from bot.github.port import GitHub
from bot.model.errors import UsageError
from tests.github.hub import TOKEN, client


def test_the_client_is_the_port():
    with client() as real:
        port: GitHub = real
        assert all(callable(getattr(port, name)) for name in ("view", "write", "open_pull"))


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, "GITHUB_TOKEN is not set"),
        ({"GITHUB_TOKEN": "secret\nline", "GITHUB_REPOSITORY": "a/b"}, "GITHUB_TOKEN holds"),
        ({"GITHUB_TOKEN": "secret"}, "GITHUB_REPOSITORY must be OWNER/NAME"),
        ({"GITHUB_TOKEN": "secret", "GITHUB_REPOSITORY": "a/b/../c"}, "OWNER/NAME"),
        *(
            ({"GITHUB_TOKEN": "secret", "GITHUB_REPOSITORY": "a/b", "GITHUB_API_URL": url}, "GITHUB_API_URL")
            for url in ("ftp://x", "http://[::", "http://x:abc", "http://x:99999", "http://")
        ),
        (
            {"GITHUB_TOKEN": "secret", "GITHUB_REPOSITORY": "a/b", "GITHUB_GRAPHQL_URL": "x"},
            "GITHUB_GRAPHQL_URL",
        ),
    ],
)
def test_connecting_names_the_variable_that_is_wrong(environ, words):
    with pytest.raises(UsageError, match=words) as caught:
        connect(environ)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("more", "url"),
    [
        ({}, "https://api.github.com/graphql"),
        ({"GITHUB_API_URL": "https://ghe.test/api/v3"}, "https://ghe.test/api/graphql"),
        (
            {"GITHUB_API_URL": "http://127.0.0.1:1/", "GITHUB_GRAPHQL_URL": "http://127.0.0.1:1/gql"},
            "http://127.0.0.1:1/gql",
        ),
    ],
)
def test_graphql_is_found_beside_the_api(router, more, url):
    route = router.post(url).mock(return_value=httpx.Response(200, json={"data": {"nodes": []}}))
    with connect({"GITHUB_TOKEN": TOKEN, "GITHUB_REPOSITORY": "acme/shop", **more}) as github:
        assert github.comments_by_id(["IC_1"]) == {}
    (sent,) = (call.request for call in route.calls)
    assert sent.headers["x-github-api-version"] == "2026-03-10"
    assert sent.headers["authorization"] == f"token {TOKEN}"
    assert sent.extensions["timeout"]["read"] == 30
