"""Needs and comments: many in one request, each with its own fate."""

import httpx
import pytest

from bot.model.issue import NeedState
from bot.model.ref import Ref
from tests.github.hub import API, GRAPHQL, Hub, issue, rest, user
from tests.oracles import check_document


def pull(number, state, merged):
    return {"__typename": "PullRequest", "number": number, "state": state, "merged": merged}


def test_every_state_that_a_need_can_have(router, github):
    hub = Hub(
        [
            issue(1),
            issue(2, state="CLOSED", stateReason="COMPLETED"),
            issue(3, state="CLOSED", stateReason="NOT_PLANNED"),
            issue(4, state="CLOSED", stateReason="DUPLICATE"),
            issue(5, state="CLOSED"),
            pull(6, "OPEN", False),
            pull(7, "MERGED", True),
            pull(8, "CLOSED", False),
        ]
    ).mount(router)
    found = github.needs([Ref("acme/shop", n) for n in range(1, 9)])
    assert [found[Ref("acme/shop", n)] for n in range(1, 9)] == [
        NeedState.OPEN,
        NeedState.COMPLETED,
        NeedState.NOT_PLANNED,
        NeedState.DUPLICATE,
        NeedState.COMPLETED,
        NeedState.OPEN_PULL,
        NeedState.MERGED,
        NeedState.CLOSED_UNMERGED,
    ]
    assert len(hub.requests) == 1


def test_fifty_references_over_repositories_are_one_request(router, github):
    hub = Hub([issue(n) for n in range(1, 60)]).mount(router)
    refs = [Ref(f"acme/r{n % 7}", n) for n in range(1, 56)]
    assert set(github.needs(refs)) == set(refs)
    assert len(hub.requests) == 2
    assert "acme" not in hub.requests[0]["query"]


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (httpx.Response(404, json={"message": "Not Found"}), NeedState.UNREADABLE),
        (httpx.Response(410, json={"message": "This issue was deleted"}), NeedState.DELETED),
        (httpx.Response(200, json={"state": "closed", "state_reason": "completed"}), NeedState.COMPLETED),
        (httpx.Response(200, json={"state": "open", "state_reason": None}), NeedState.OPEN),
        (
            httpx.Response(403, json={"message": "Resource protected by organization SAML enforcement"}),
            NeedState.UNREADABLE,
        ),
        (
            httpx.Response(429, headers={"retry-after": "90"}, json={"message": "slow down"}),
            NeedState.UNKNOWN,
        ),
    ],
)
def test_what_graphql_does_not_find_is_asked_about_once_more(router, github, answer, state):
    error = {
        "type": "NOT_FOUND",
        "path": ["r0", "n9"],
        "message": "Could not resolve to an issue or pull request",
    }
    body = {"data": {"r0": {"n9": None}}, "errors": [error]}
    router.post(GRAPHQL).mock(return_value=httpx.Response(200, json=body))
    rest(router, lambda _: answer)
    assert github.needs([Ref("acme/shop", 9)]) == {Ref("acme/shop", 9): state}


def test_a_moved_issue_is_followed(router, github):
    body = {
        "data": {"r0": None},
        "errors": [{"type": "NOT_FOUND", "path": ["r0"], "message": "Could not resolve"}],
    }
    router.post(GRAPHQL).mock(return_value=httpx.Response(200, json=body))
    router.get(f"{API}/repositories/2/issues/3").mock(
        return_value=httpx.Response(200, json={"state": "open", "pull_request": {}})
    )
    rest(router, lambda _: httpx.Response(301, headers={"location": f"{API}/repositories/2/issues/3"}))
    assert github.needs([Ref("other/lib", 9)]) == {Ref("other/lib", 9): NeedState.OPEN_PULL}


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(502),
        httpx.Response(
            200, json={"data": {"r0": {"n9": None}}, "errors": [{"path": ["r0", "n9"], "message": "Oops"}]}
        ),
        httpx.Response(200, json={"data": None, "errors": [{"message": "Oops"}]}),
    ],
)
def test_trouble_of_the_moment_is_unknown(router, github, answer):
    router.post(GRAPHQL).mock(return_value=answer)
    assert github.needs([Ref("acme/shop", 9)]) == {Ref("acme/shop", 9): NeedState.UNKNOWN}


def test_no_needs_ask_nothing(router, github):
    assert github.needs([]) == {}
    assert not router.calls


def test_comments_by_id_in_hundreds_without_the_deleted(router, github):
    def comment(number):
        return {
            "__typename": "IssueComment",
            "id": f"IC_{number}",
            "fullDatabaseId": str(4_000_000_000 + number),
            "body": "b",
            "createdAt": "2026-11-01T00:00:00Z",
            "updatedAt": "2026-11-02T00:00:00Z",
            "author": user("ann", 7),
            "issue": {"number": 3},
            "pullRequest": None,
        }

    hub = Hub(extra={"comments": [comment(n) for n in range(1, 150)]}).mount(router)
    found = github.comments_by_id([f"IC_{n}" for n in range(1, 151)])
    assert len(found) == 149
    assert (found["IC_1"].id, found["IC_1"].issue, found["IC_1"].edited) == (4_000_000_001, 3, True)
    assert len(hub.requests) == 2


def test_many_issues_fresh_without_pull_requests_and_those_not_there(router, github):
    hub = Hub([*(issue(n, []) for n in range(1, 70)), {**issue(70), "__typename": "PullRequest"}]).mount(
        router
    )
    assert sorted(github.issues(range(1, 90))) == list(range(1, 70))
    assert len(hub.requests) == 2
    for body in hub.requests:
        check_document(body["query"])
