"""Requests by our rules: what is repeated, what is not, what a limit does, what an error says, and what asking again costs."""

import logging
import traceback
from datetime import timedelta

import httpx
import pytest

from bot.model.change import CreateComment
from bot.model.errors import CannotGoOn, NotFound, Refused, TryLater
from tests.github.hub import API, GRAPHQL, START, TOKEN

RUN = {
    "id": 5,
    "display_title": "cf [cf-1-1]",
    "status": "completed",
    "conclusion": "success",
    "created_at": "2026-11-29T10:00:00Z",
    "updated_at": "2026-11-29T10:05:00Z",
    "run_attempt": 2,
    "html_url": "https://github.test/r/5",
    "event": "workflow_dispatch",
}
PULL = {"number": 8, "state": "open", "user": None, "draft": False, "head": {"ref": "cf/1", "sha": "b" * 40}}
LIMITED = {
    "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
}


def run_route(router, *answers):
    return router.get(f"{API}/repos/acme/shop/actions/runs/5").mock(side_effect=list(answers))


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.Response(502),
        httpx.Response(503),
        httpx.Response(504, text="<html>"),
        httpx.ConnectError("refused"),
        httpx.ReadError("reset"),
        httpx.ReadTimeout("slow"),
        httpx.Response(200, text='{"id": 5, "displ'),
    ],
)
def test_reads_are_repeated_with_growing_pauses(router, github, clock, trouble):
    route = run_route(router, trouble, trouble, httpx.Response(200, json=RUN))
    assert github.run(5).attempt == 2
    assert route.call_count == 3
    assert clock.slept == sorted(clock.slept)
    assert 0 < sum(clock.slept) < 10


def test_reads_end_in_try_later(router, github, clock):
    route = run_route(router, *[httpx.Response(502)] * 9)
    with pytest.raises(TryLater, match="502"):
        github.run(5)
    assert route.call_count == 4
    assert sum(clock.slept) < 15


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.Response(502),
        httpx.Response(503),
        httpx.Response(504),
        httpx.ReadError("x"),
        httpx.ReadTimeout("x"),
    ],
)
def test_what_may_have_arrived_is_never_sent_again(router, github, trouble):
    posted = router.post(f"{API}/repos/acme/shop/actions/workflows/cf-worker.yml/dispatches").mock(
        side_effect=[trouble]
    )
    asked = router.post(GRAPHQL).mock(side_effect=[trouble] * 9)
    with pytest.raises(TryLater):
        github.dispatch("cf-worker.yml", "main", {})
    with pytest.raises(TryLater):
        github.write([CreateComment("I_1", "hello")])
    mutated = [call for call in asked.calls if b"mutation" in call.request.content]
    assert (posted.call_count, len(mutated)) == (1, 1)  # then it is asked what became of it


def test_what_never_left_is_sent_again(router, github):
    route = router.post(f"{API}/repos/acme/shop/pulls").mock(
        side_effect=[httpx.ConnectError("no"), httpx.ConnectTimeout("no"), httpx.Response(201, json=PULL)]
    )
    assert github.open_pull("cf/1", "main", "t", "b", draft=False).number == 8
    assert route.call_count == 3


def test_a_short_limit_is_waited_for_once(router, github, clock):
    short = httpx.Response(429, json=LIMITED, headers={"retry-after": "3"})
    route = run_route(router, short, httpx.Response(200, json=RUN))
    github.run(5)
    assert clock.slept == [3.0]
    route = run_route(router, short, short)
    with pytest.raises(TryLater):
        github.run(5)
    assert route.call_count == 4


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (httpx.Response(403, json=LIMITED, headers={"retry-after": "120"}), 120),
        (httpx.Response(403, json=LIMITED, headers={"retry-after": "Sun, 29 Nov 2026 12:02:00 GMT"}), 120),
        (httpx.Response(429, json={"message": "Too many"}), 60),
        (httpx.Response(403, json=LIMITED), 60),
        (
            httpx.Response(
                403,
                json={"message": "API rate limit exceeded for installation."},
                headers={
                    "x-ratelimit-remaining": "0",
                    "x-ratelimit-reset": str(int(START.timestamp()) + 3000),
                },
            ),
            3000,
        ),
    ],
)
def test_a_long_limit_is_never_slept_out(router, github, clock, answer, seconds):
    route = run_route(router, answer)
    with pytest.raises(TryLater) as caught:
        github.run(5)
    assert caught.value.not_before == START + timedelta(seconds=seconds)
    assert (route.call_count, clock.slept) == (1, [])


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(403, json=LIMITED, headers={"retry-after": "9" * 5000}),
        httpx.Response(403, json={}, headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 40}),
    ],
)
def test_a_limit_is_never_believed_to_last_longer_than_a_day(router, github, answer):
    run_route(router, answer)
    with pytest.raises(TryLater) as caught:
        github.run(5)
    assert caught.value.not_before == START + timedelta(days=1)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text='{"id": 1e400}'),
        httpx.Response(503, text='{"message": ' + "[" * 50_000),
        httpx.Response(200, json={}),
        httpx.Response(200, json="x"),
    ],
)
def test_answers_of_any_shape_end_in_try_later(router, github, answer):
    router.get(url__startswith=API).mock(return_value=answer)
    for ask in (lambda: github.run(5), lambda: github.comments_on(3), lambda: github.comments_since(START)):
        with pytest.raises(TryLater):
            ask()


def test_while_limited_nothing_is_sent_and_waits_grow(router, github, clock):
    mutated = router.post(GRAPHQL).mock(side_effect=[httpx.Response(403, json=LIMITED)] * 9)
    waits = []
    for _ in range(3):
        with pytest.raises(TryLater) as caught:
            github.write([CreateComment("I_1", "hello")])
        waits.append((caught.value.not_before - clock.at).total_seconds())
        with pytest.raises(TryLater, match="not sent"):
            github.cancel(5)
        clock.at = caught.value.not_before
    assert waits == [60, 120, 240]
    assert mutated.call_count == 3


def test_a_primary_limit_of_graphql_leaves_rest_alone(router, github):
    body = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}
    router.post(GRAPHQL).mock(return_value=httpx.Response(200, json=body))
    run_route(router, httpx.Response(200, json=RUN))
    with pytest.raises(TryLater):
        github.comments_by_id(["IC_1"])
    assert github.run(5).id == 5


@pytest.mark.parametrize(
    ("status", "said", "error", "words"),
    [
        (401, "Bad credentials", CannotGoOn, "does not accept the token"),
        (403, "Resource not accessible by integration", CannotGoOn, "permission actions: read"),
        (403, "Repository was archived so is read-only.", CannotGoOn, "archived"),
        (403, "Must have admin rights to Repository.", CannotGoOn, "may not do this"),
        (403, "Something else", Refused, "403"),
        (404, "Not Found", NotFound, "404"),
        (410, "This was deleted", NotFound, "410"),
        (422, "Validation Failed", Refused, "422"),
    ],
)
def test_every_refusal_has_its_error_and_a_sentence(router, github, status, said, error, words):
    headers = {
        "x-accepted-github-permissions": "actions=read",
        "x-ratelimit-remaining": "0" if status == 401 else "9",
    }
    route = run_route(router, httpx.Response(status, json={"message": said}, headers=headers))
    with pytest.raises(error, match=words) as caught:
        github.run(5)
    assert said in str(caught.value)
    assert "GET repos/acme/shop/actions/runs/5" in str(caught.value)
    assert route.call_count == 1


def test_a_refusal_with_nothing_left_is_no_limit_if_it_speaks_of_permission(router, github):
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}
    run_route(
        router,
        httpx.Response(403, json={"message": "Resource not accessible by integration"}, headers=headers),
    )
    with pytest.raises(CannotGoOn):
        github.run(5)


def test_details_of_a_refusal_are_told_on_one_line(router, github):
    errors = [
        {"resource": "PullRequest", "field": "head", "code": "invalid"},
        {"message": "a\n::error::b"},
        "c",
    ]
    body = {"message": "Validation Failed", "errors": errors}
    router.post(f"{API}/repos/acme/shop/pulls").mock(return_value=httpx.Response(422, json=body))
    with pytest.raises(Refused) as caught:
        github.open_pull("cf/1", "main", "t", "b", draft=True)
    assert str(caught.value).endswith("422: Validation Failed; PullRequest head invalid; a ::error::b; c")
    assert caught.value.status == 422


def test_a_moved_repository_is_followed_when_reading_and_refused_when_writing(router, github):
    moved = httpx.Response(301, headers={"location": f"{API}/repositories/9/x"}, json={"message": "Moved"})
    run_route(router, moved)
    router.get(f"{API}/repositories/9/x").mock(return_value=httpx.Response(200, json=RUN))
    assert github.run(5).id == 5
    router.post(f"{API}/repos/acme/shop/pulls").mock(return_value=moved)
    with pytest.raises(CannotGoOn, match="moved"):
        github.open_pull("cf/1", "main", "t", "b", draft=False)


def test_writes_are_a_second_apart(router, github, clock):
    router.post(url__startswith=f"{API}/repos/acme/shop/actions/runs/").mock(
        return_value=httpx.Response(202, json={})
    )
    for _ in range(3):
        github.cancel(5)
    assert clock.slept == [1.0, 1.0]


def test_the_token_is_in_no_error_and_no_log(router, github, caplog):
    caplog.set_level(logging.DEBUG)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    trouble = httpx.ConnectError(f"Illegal header value b'token {TOKEN}'")
    run_route(router, trouble, trouble, trouble, trouble)
    with pytest.raises(TryLater) as caught:
        github.run(5)
    assert "***" in str(caught.value)
    told = "".join(traceback.format_exception(caught.value))
    assert TOKEN not in told + caplog.text


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
