"""Story: API weather on the wire: what GitHub was seen to answer on bad days, and what a tick makes of it."""

import json
from contextlib import suppress

import httpx
import pytest

from bot.model.change import AddLabel, CreateComment
from bot.model.errors import BotError, CannotGoOn, TryLater
from bot.model.issue import GHOST
from tests.github.hub import API, GRAPHQL, START, Hub, issue, rest

SECONDARY = {
    "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
}


def labelled_pull(number, *labels):
    return {
        "__typename": "PullRequest",
        "id": f"PR_{number}",
        "fullDatabaseId": str(6_000_000_000 + number),
        "number": number,
        "title": f"Pull {number}",
        "body": "",
        "state": "OPEN",
        "locked": False,
        "createdAt": "2026-11-01T10:00:00Z",
        "updatedAt": "2026-11-01T10:00:00Z",
        "closedAt": None,
        "author": {"__typename": "User", "login": "ann", "databaseId": 7},
        "labels": {"nodes": [{"name": name} for name in labels]},
    }


def test_api_01_an_unnamed_limit_pauses_every_write_for_a_minute_and_then_longer(router, github, clock):
    """One comment is there in the end, and nothing at all was sent while the limit lasted."""
    created: list[str] = []

    def answer(request):
        sent = json.loads(request.content)
        if len(created) < 2:
            created.append("limited")
            return httpx.Response(403, json=SECONDARY)
        created.append(sent["variables"]["c0"]["body"])
        comment = {"id": "IC_1", "fullDatabaseId": "7", "body": "hello", "issue": {"number": 1}}
        return httpx.Response(200, json={"data": {"c0": {"commentEdge": {"node": comment}}}})

    route = router.post(GRAPHQL).mock(side_effect=answer)
    order = [CreateComment("I_1", "hello")]
    waits = []
    for _ in range(2):
        with pytest.raises(TryLater) as limited:
            github.write(order)
        waits.append((limited.value.not_before - clock.at).total_seconds())
        sent = route.call_count
        with pytest.raises(TryLater, match="not sent"):
            github.write([AddLabel("I_2", "cf:ready")])
        assert route.call_count == sent
        clock.sleep(waits[-1])
    (written,) = github.write(order)

    assert waits[0] >= 60
    assert waits[1] > waits[0]
    assert written.ok
    assert created == ["limited", "limited", "hello"]


def test_api_04_pages_shrink_on_502_and_no_size_is_asked_twice_after_it(router, github):
    asked = []

    def break_at(body):
        asked.append((body["variables"]["open_size"], body["variables"].get("open_after")))
        return httpx.Response(502) if asked[-1][0] > 25 else None

    Hub([issue(number) for number in range(1, 61)], break_at=break_at).mount(router)

    assert [one.number for one in github.view("cf", None).issues] == list(range(1, 61))
    assert [size for size, _ in asked] == [100, 50, 25, 25, 25]
    assert len(set(asked)) == len(asked) <= 6


def test_api_08_a_label_on_a_pull_request_is_seen_and_told_apart(router, github):
    Hub(
        [issue(1), issue(2), issue(3)], pulls=[labelled_pull(4, "cf:ready"), labelled_pull(5, "cf:ready")]
    ).mount(router)

    seen = github.view("cf", None).issues

    assert [(one.number, one.is_pull) for one in seen] == [
        (1, False),
        (2, False),
        (3, False),
        (4, True),
        (5, True),
    ]


def test_api_10_a_deleted_account_is_nobody_and_no_bot(router, github):
    comment = {
        "id": 9,
        "node_id": "IC_9",
        "body": "/cf run",
        "issue_url": f"{API}/repos/acme/shop/issues/3",
        "html_url": "https://github.test/acme/shop/issues/3#issuecomment-9",
        "created_at": "2026-11-29T10:00:00Z",
        "updated_at": "2026-11-29T10:00:00Z",
    }
    without_key = comment | {"id": 10}
    rest(router, lambda _: httpx.Response(200, json=[comment | {"user": None}, without_key]))
    Hub([issue(1, author=None)]).mount(router)

    assert [one.author for one in github.comments_since(START)] == [GHOST, GHOST]
    assert [one.author for one in github.view("cf", None).issues] == [GHOST]
    assert not GHOST.is_bot


@pytest.mark.parametrize("kind", ["FORBIDDEN", "NOT_FOUND", "INSUFFICIENT_SCOPES"])
def test_api_12_null_data_with_errors_is_one_clear_error_and_never_no_work(router, github, kind):
    said = {"type": kind, "path": ["repository"], "message": "Resource not accessible by integration"}
    router.post(GRAPHQL).mock(
        return_value=httpx.Response(200, json={"data": {"repository": None}, "errors": [said]})
    )

    with pytest.raises(CannotGoOn, match=r"cannot read repository of acme/shop: .*issues: read"):
        github.view("cf", None)


REST_READS = [
    ("run", (5,)),
    ("runs", ("cf-worker.yml",)),
    ("jobs", (5,)),
    ("artifacts", (5,)),
    ("comment", (5,)),
    ("permission", ("ann",)),
    ("file", ("a" * 40,)),
]
PUBLISHING = [
    ("pull_by_branch", ("cf/1",)),
    ("open_pull", ("cf/1", "main", "title", "body", False)),
    ("update_pull", (5, "title", "body")),
    ("close_pull", (5,)),
    ("merge_pull", (5, "a" * 40)),
]
ODD = [[], {}, "words", 7, None, {"jobs": None}, [None], [{"id": {}}], {"id": "x", "node_id": 5, "user": []}]


@pytest.mark.parametrize(("operation", "arguments"), [*REST_READS, *PUBLISHING], ids=str)
@pytest.mark.parametrize("body", ODD, ids=repr)
def test_a_well_formed_answer_of_another_shape_is_an_error_in_words(
    router, github, operation, arguments, body
):
    router.route(url__startswith=f"{API}/repos/").mock(return_value=httpx.Response(200, json=body))

    with suppress(BotError):  # anything else that is raised is a traceback in somebody's log
        getattr(github, operation)(*arguments)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"repository": {}},
        {"repository": []},
        {"repository": {"open": {}}},
        {"repository": {"open": {"pageInfo": {}, "nodes": [{}]}}},
        {"viewer": 5, "repository": {"id": 5}},
    ],
    ids=repr,
)
def test_a_view_of_another_shape_is_try_later_or_a_permission(router, github, data):
    router.post(GRAPHQL).mock(return_value=httpx.Response(200, json={"data": data}))

    with pytest.raises((TryLater, CannotGoOn)):
        github.view("cf", None)


LIMIT = {"message": "API rate limit exceeded"}
BAD_DAYS = {
    "500": httpx.Response(500),
    "502": httpx.Response(502),
    "503": httpx.Response(503),
    "504": httpx.Response(504),
    "408": httpx.Response(408),
    "403 without a header": httpx.Response(403, json=SECONDARY),
    "403 with a time": httpx.Response(403, json=SECONDARY, headers={"retry-after": "120"}),
    "403 with nothing left": httpx.Response(403, json=LIMIT, headers={"x-ratelimit-remaining": "0"}),
    "429": httpx.Response(429),
    "429 with a date": httpx.Response(429, headers={"retry-after": "Sun, 29 Nov 2026 12:10:00 GMT"}),
    "200 with a limit": httpx.Response(
        200, json={"data": None, "errors": [{"type": "RATE_LIMITED", "message": "limited"}]}
    ),
    "200 of a proxy": httpx.Response(200, text="<html>a proxy's page</html>"),
    "time-out": httpx.ReadTimeout("slow"),
    "no connection": httpx.ConnectError("down"),
    "half an answer": httpx.RemoteProtocolError("half an answer"),
}
READ = ("comments_by_id", ["IC_1"])
WRITE = ("write", [CreateComment("I_1", "hello")])


@pytest.mark.parametrize("answer", BAD_DAYS.values(), ids=BAD_DAYS)
@pytest.mark.parametrize(("operation", "argument"), [READ, WRITE], ids=["read", "write"])
def test_bad_days_are_try_later_for_reading_and_writing(router, github, answer, operation, argument):
    """Exit 75, neutral: nothing of it is taken for an answer, and a write is sent once unless it never left."""
    route = router.post(GRAPHQL).mock(side_effect=lambda _: _given(answer))

    with pytest.raises(TryLater) as raised:
        getattr(github, operation)(argument)

    assert raised.value.exit_code == 75
    if operation == "write" and not isinstance(answer, httpx.ConnectError):
        assert sum(b"mutation" in call.request.content for call in route.calls) == 1


def _given(answer):
    if isinstance(answer, Exception):
        raise answer
    return httpx.Response(answer.status_code, content=answer.content, headers=answer.headers)


def test_a_document_that_was_half_carried_out_tells_which_half(router, github):
    """Errors beside data: each change has its own answer, so the half that holds is not done again."""
    answer = {
        "data": {"c0": {"labelable": {"id": "I_1", "fullDatabaseId": "5", "number": 1}}, "c1": None},
        "errors": [{"path": ["c1"], "type": "UNPROCESSABLE", "message": "issue is locked"}],
    }
    router.post(GRAPHQL).mock(
        side_effect=[
            httpx.Response(
                200,
                json={"data": {"repository": {"id": "R_1", "label_0": {"id": "L_1", "name": "cf:ready"}}}},
            ),
            httpx.Response(200, json=answer),
        ]
    )

    first, second = github.write([AddLabel("I_1", "cf:ready"), CreateComment("I_2", "x")])

    assert first.ok
    assert second.error == "issue is locked"
