"""Asked again, what has not changed costs nothing: the ETag goes along, and a 304 is answered from what is at hand."""

import httpx
import pytest

from bot.model.errors import NotFound, TryLater
from tests.github.hub import API

ISSUE = f"{API}/repos/acme/shop/issues/5"


def test_a_304_is_answered_by_what_was_read_before(router, github):
    first = httpx.Response(200, json={"state": "open"}, headers={"etag": 'W/"a"'})
    route = router.get(ISSUE).mock(side_effect=[first, httpx.Response(304), httpx.Response(304)])

    assert [github.is_open(5) for _ in range(3)] == [True] * 3
    assert [call.request.headers.get("if-none-match") for call in route.calls] == [None, 'W/"a"', 'W/"a"']


def test_what_changed_is_read_and_becomes_what_is_at_hand(router, github):
    answers = [
        httpx.Response(200, json={"state": "open"}, headers={"etag": 'W/"a"'}),
        httpx.Response(200, json={"state": "closed"}, headers={"etag": 'W/"b"'}),
        httpx.Response(304),
    ]
    route = router.get(ISSUE).mock(side_effect=answers)

    assert [github.is_open(5) for _ in range(3)] == [True, False, False]
    assert route.calls[-1].request.headers["if-none-match"] == 'W/"b"'


@pytest.mark.parametrize(("status", "error"), [(404, NotFound), (503, TryLater)])
def test_an_error_is_one_although_something_is_at_hand(router, github, status, error):
    first = httpx.Response(200, json={"state": "open"}, headers={"etag": 'W/"a"'})
    router.get(ISSUE).mock(side_effect=[first, *[httpx.Response(status)] * 9])
    github.is_open(5)

    with pytest.raises(error):
        github.is_open(5)


def test_a_server_without_etags_is_simply_asked(router, github):
    route = router.get(ISSUE).mock(return_value=httpx.Response(200, json={"state": "open"}))

    assert [github.is_open(5), github.is_open(5)] == [True, True]
    assert all("if-none-match" not in call.request.headers for call in route.calls)
