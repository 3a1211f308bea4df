"""One look at the repository: how many requests, how pages shrink, what counts as an answer."""

import json
from datetime import UTC, datetime

import httpx
import pytest

from bot.model.errors import CannotGoOn, NotFound, TryLater
from bot.model.issue import GHOST, Account, EventKind, NeedState, StateReason
from bot.model.ref import Ref
from tests.github.hub import API, GRAPHQL, START, WHEN, Clock, Hub, bot, client, issue, rest, user


def hub(router, *issues, **more) -> Hub:
    return Hub(list(issues), **more).mount(router)


def failing(status, **body):
    return httpx.Response(status, json=body)


def numbers(view):
    return [one.number for one in view.issues]


def test_a_hundred_tracked_issues_cost_one_request(router):
    open_ones = [issue(n) for n in range(1, 82)]
    closed = [issue(n, ["cf:failed"], "CLOSED") for n in range(82, 92)]
    done = [issue(n, ["cf:done"], "CLOSED") for n in range(92, 101)]
    fake = hub(router, *open_ones, *closed, *done, issue(500, ["bug"]))
    with client() as github:
        assert numbers(github.view("cf", None)) == list(range(1, 101))
    assert len(fake.requests) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("open_ones", "closed", "done"), [(1000, 0, 0), (400, 300, 300), (0, 1000, 0)])
def test_a_thousand_tracked_issues_cost_at_most_twelve(router, open_ones, closed, done):
    kinds = (
        [("cf:ready", "OPEN")] * open_ones
        + [("cf:blocked", "CLOSED")] * closed
        + [("cf:done", "CLOSED")] * done
    )
    fake = hub(router, *(issue(n, [label], state) for n, (label, state) in enumerate(kinds, 1)))
    with client() as github:
        assert numbers(github.view("cf", None)) == list(range(1, 1001))
    assert len(fake.requests) <= 12


@pytest.mark.slow
def test_five_thousand_open_issues_cost_what_the_three_hundred_tracked_ones_do(router):
    fake = hub(router, *(issue(n, ["cf:ready"] if n % 16 == 0 else ["bug"]) for n in range(1, 5_001)))
    with client() as github:
        assert numbers(github.view("cf", None)) == list(range(16, 5_001, 16))
    assert len(fake.requests) == 4  # 312 issues, by the hundred


def test_a_list_whose_cursor_stands_still_ends_in_try_later(router):
    page = {"pageInfo": {"hasNextPage": True, "endCursor": "same"}, "nodes": []}
    answer = httpx.Response(200, json={"data": {"repository": {"open": page}}})
    router.post(GRAPHQL).mock(return_value=answer)
    with client() as github, pytest.raises(TryLater, match="does not go on"):
        github.labelled("cf:ready")


def test_pages_shrink_after_502_and_stay_small(router):
    asked = []

    def break_at(body):
        asked.append(body["variables"]["open_size"])
        return failing(502) if asked[-1] > 25 else None

    hub(router, *(issue(n) for n in range(1, 61)), break_at=break_at)
    with client() as github:
        assert len(github.view("cf", None).issues) == 60
        assert asked == [100, 50, 25, 25, 25]
        github.view("cf", None)
    assert asked[5:] == [25, 25, 25]


@pytest.mark.parametrize(
    "answer",
    [
        failing(504),
        failing(200, data=None, errors=[{"message": "Something went wrong while executing your query."}]),
        failing(
            200, data={}, errors=[{"type": "RESOURCE_LIMITS_EXCEEDED", "message": "Resource limits exceeded"}]
        ),
    ],
)
def test_whatever_says_too_large_shrinks_the_page(router, answer):
    hub(router, issue(1), break_at=lambda body: answer if body["variables"]["open_size"] > 50 else None)
    with client() as github:
        assert numbers(github.view("cf", None)) == [1]


def test_a_server_that_is_down_ends_in_try_later(router):
    fake = hub(router, break_at=lambda _: failing(502))
    with client() as github, pytest.raises(TryLater):
        github.view("cf", None)
    assert [body["variables"]["open_size"] for body in fake.requests] == [100, 50, 25, 10]


def test_done_ones_are_bounded_by_time_and_others_come_by_number(router):
    old = issue(1, ["cf:done"], "CLOSED", updatedAt="2026-01-01T00:00:00Z")
    new = issue(2, ["cf:done"], "CLOSED", updatedAt="2026-11-02T00:00:00Z")
    fake = hub(router, old, new, issue(3, []))
    with client() as github:
        view = github.view("cf", datetime(2026, 11, 1, tzinfo=UTC), also=[3, 3, 0])
    assert numbers(view) == [2, 3]
    assert len(fake.requests) == 1


def test_a_number_that_no_issue_can_have_is_not_asked_for(router):
    hub(router, issue(1, []))
    with client() as github:
        assert list(github.issues([1, 0, -1, 2**31, 10**30])) == [1]
        with pytest.raises(NotFound):
            github.issue(2**31)
        ref = Ref("acme/shop", 2**31)
        assert github.needs([ref]) == {ref: NeedState.UNREADABLE}


def test_many_by_number_are_spread_over_documents(router):
    fake = hub(router, *(issue(n, []) for n in range(1, 121)))
    with client() as github:
        assert len(github.view("cf", None, also=range(1, 121)).issues) == 120
    assert len(fake.requests) == 3


def test_asking_by_number_shrinks_as_well(router):
    counts = []

    def break_at(body):
        counts.append(body["query"].count("issueOrPullRequest("))
        return failing(502) if counts[-1] > 25 else None

    hub(router, *(issue(n, []) for n in range(1, 61)), break_at=break_at)
    with client() as github:
        assert len(github.issues(range(1, 61))) == 60
    assert counts == [50, 50, 25, 25, 10]


def test_a_number_that_is_gone_is_left_out(router):
    def answer(request):
        body = Hub([issue(1)]).answer(request).json()
        body["data"]["repository"]["n9"] = None
        error = {"type": "NOT_FOUND", "path": ["repository", "n9"], "message": "Could not resolve"}
        return httpx.Response(200, json={**body, "errors": [error]})

    router.post(f"{API}/graphql").mock(side_effect=answer)
    with client() as github:
        assert numbers(github.view("cf", None, also=[9])) == [1]
        with pytest.raises(NotFound, match="issue 9"):
            github.issue(9)


def test_facts_of_the_repository(router):
    config = {
        "__typename": "Blob",
        "oid": "b10b",
        "text": "limits: {total: 3}",
        "isBinary": False,
        "isTruncated": False,
    }
    hub(router, config=config, labels=["CF:Ready", "cf:pause", "bug"])
    with client() as github:
        view = github.view("cf", None)
    assert (view.config_text, view.config_blob) == ("limits: {total: 3}", "b10b")
    assert (view.repository.full_name, view.repository.default_branch) == ("Acme/shop", "main")
    assert [label.name for label in view.labels] == ["CF:Ready", "cf:pause"]
    assert view.viewer == Account(41898282, "github-actions[bot]", is_bot=True)
    assert view.at == datetime(2026, 11, 29, 12, 0, 5, tzinfo=UTC)


def test_no_configuration_is_none(router):
    hub(router)
    with client() as github:
        view = github.view("cf", None)
    assert (view.config_text, view.config_blob) == (None, "")


def test_a_configuration_that_graphql_cuts_is_read_as_a_blob(router):
    hub(
        router,
        config={"__typename": "Blob", "oid": "b10b", "text": "lim", "isBinary": False, "isTruncated": True},
    )
    rest(
        router, lambda _: httpx.Response(200, json={"content": "bGltaXRz\nOiB7fQ==\n", "encoding": "base64"})
    )
    with client() as github:
        assert github.view("cf", None).config_text == "limits: {}"


def test_an_issue_with_its_history(router):
    ann = user("ann", 7)
    one = issue(
        1,
        ["cf:ready", "Bug"],
        "CLOSED",
        stateReason="DUPLICATE",
        closedAt="2026-11-03T00:00:00Z",
        body="text",
        author=None,
        editor=user("eve", 9),
        lastEditedAt="2026-11-02T00:00:03Z",
        timelineItems={
            "nodes": [
                {
                    "__typename": "LabeledEvent",
                    "createdAt": "2026-11-01T11:00:00Z",
                    "actor": ann,
                    "label": {"name": "cf:ready"},
                },
                {"__typename": "RenamedTitleEvent", "createdAt": "2026-11-01T13:00:00Z", "actor": None},
                {
                    "__typename": "ClosedEvent",
                    "createdAt": "2026-11-03T00:00:00Z",
                    "actor": bot("dependabot", 49699333),
                    "closer": {"__typename": "PullRequest"},
                },
            ]
        },
        userContentEdits={
            "nodes": [
                {"editedAt": "2026-11-02T00:00:03Z", "editor": user("eve", 9)},
                {"editedAt": "2026-11-01T12:00:00Z", "editor": None},
                {"editedAt": WHEN, "editor": ann},
            ]
        },
        blockedBy={
            "nodes": [
                {
                    "number": 2,
                    "state": "OPEN",
                    "stateReason": None,
                    "repository": {"nameWithOwner": "Acme/Shop"},
                },
                {
                    "number": 3,
                    "state": "CLOSED",
                    "stateReason": "NOT_PLANNED",
                    "repository": {"nameWithOwner": "acme/x"},
                },
                None,
            ]
        },
        issueDependenciesSummary={"blockedBy": 2},
    )
    hub(router, one)
    with client() as github:
        (found,) = github.view("cf", None, also=[1]).issues
    assert [(event.kind, event.actor.login, event.by_merge) for event in found.events] == [
        (EventKind.LABELED, "ann", False),
        (EventKind.EDITED, "ghost", False),
        (EventKind.RENAMED, "ghost", False),
        (EventKind.EDITED, "eve", False),
        (EventKind.CLOSED, "dependabot[bot]", True),
    ]
    assert [(edge.ref, edge.state) for edge in found.edges] == [
        (Ref("acme/shop", 2), NeedState.OPEN),
        (Ref("acme/x", 3), NeedState.NOT_PLANNED),
    ]
    assert found.hidden_edges == 1
    assert found.author == GHOST
    assert found.state_reason is StateReason.DUPLICATE


def test_within_a_second_the_timelines_own_order_counts(router):
    def event(kind, label):
        return {
            "__typename": kind,
            "createdAt": "2026-11-01T11:00:00Z",
            "actor": user("ann", 7),
            "label": {"name": label},
        }

    timeline = [
        event("UnlabeledEvent", "cf:ready"),
        event("LabeledEvent", "cf:ready"),
        event("LabeledEvent", "cf:a"),
    ]
    hub(router, issue(1, timelineItems={"nodes": timeline}))
    with client() as github:
        events = github.issue(1).events
    assert [(one.kind, one.label) for one in events] == [
        (EventKind.UNLABELED, "cf:ready"),
        (EventKind.LABELED, "cf:ready"),
        (EventKind.LABELED, "cf:a"),
    ]


def test_pulls_and_the_latest_wish_for_changes(router):
    pull = {
        "number": 8,
        "state": "OPEN",
        "isDraft": True,
        "merged": False,
        "mergeable": "CONFLICTING",
        "mergeStateStatus": "UNSTABLE",
        "headRefName": "cf/1",
        "headRefOid": "a" * 40,
        "url": "https://github.test/acme/shop/pull/8",
        "author": bot("github-actions", 41898282),
        "repository": {"nameWithOwner": "acme/shop"},
        "latestOpinionatedReviews": {
            "nodes": [
                {"state": "CHANGES_REQUESTED", "submittedAt": "2026-11-04T00:00:00Z"},
                {"state": "APPROVED", "submittedAt": "2026-11-05T00:00:00Z"},
            ]
        },
    }
    hub(router, issue(1, closedByPullRequestsReferences={"nodes": [pull]}))
    with client() as github:
        (found,) = github.issue(1).pulls
    assert found.changes_requested_at == datetime(2026, 11, 4, tzinfo=UTC)
    assert (found.author.id, found.author.login) == (41898282, "github-actions[bot]")
    assert (found.draft, found.mergeable, found.head_ref) == (True, False, "cf/1")
    assert found.can_merge


def test_null_data_names_path_and_permission(router):
    error = {"type": "FORBIDDEN", "path": ["repository"], "message": "Resource not accessible by integration"}
    hub(router, break_at=lambda _: failing(200, data={"repository": None}, errors=[error]))
    with (
        client() as github,
        pytest.raises(CannotGoOn, match=r"cannot read repository of acme/shop: .*issues: read"),
    ):
        github.view("cf", None)


def test_a_forbidden_part_is_never_an_empty_list(router):
    def answer(request):
        body = Hub([issue(1)]).answer(request).json()
        body["data"]["repository"]["open"] = None
        error = {
            "type": "FORBIDDEN",
            "path": ["repository", "open"],
            "message": "Resource not accessible by integration",
        }
        return httpx.Response(200, json={**body, "errors": [error]})

    router.post(f"{API}/graphql").mock(side_effect=answer)
    with client() as github, pytest.raises(CannotGoOn, match=r"repository\.open"):
        github.view("cf", None)


def test_an_old_server_is_asked_once_without_native_edges(router):
    def break_at(body):
        if "blockedBy(first" not in body["query"]:
            return None
        error = {
            "path": ["fragment Task", "blockedBy"],
            "extensions": {"code": "undefinedField", "typeName": "Issue", "fieldName": "blockedBy"},
            "message": "Field 'blockedBy' doesn't exist on type 'Issue'",
        }
        return failing(200, errors=[error])

    fake = hub(router, issue(1), break_at=break_at)
    with client() as github:
        assert numbers(github.view("cf", None)) == [1]
        github.view("cf", None)
    assert len(fake.requests) == 3


def test_a_limit_inside_a_200_is_try_later_with_its_time(router):
    reset = int(START.timestamp()) + 1800
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)}
    body = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for installation ID 1."}]}
    clock = Clock()
    fake = hub(router, break_at=lambda _: httpx.Response(200, json=body, headers=headers))
    with client(clock) as github:
        for _ in range(2):
            with pytest.raises(TryLater) as caught:
                github.view("cf", None)
            assert caught.value.not_before == datetime.fromtimestamp(reset, UTC)
    assert len(fake.requests) == 1
    assert clock.slept == []


def test_text_goes_by_variables_only(router):
    fake = hub(router, issue(1))
    with client(repository='acme/shop") { id } #') as github:
        github.view('cf"){', None)
    assert all('cf"' not in body["query"] and "shop" not in body["query"] for body in fake.requests)
    assert json.dumps(fake.requests[0]["variables"]).count("cf") > 5
