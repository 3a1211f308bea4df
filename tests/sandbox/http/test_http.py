"""Story: the HTTP face: every answer fits GitHub's description, and what it does not know is refused, never guessed."""

import json
import logging
import re
from collections.abc import Iterator
from datetime import timedelta
from email.utils import parsedate_to_datetime

import httpx
import pytest

from bot.sandbox.http.rest import actions, issues, repository
from bot.sandbox.http.rest.exchange import Route
from bot.sandbox.http.server import Served, serve
from bot.sandbox.world import BOT, JobState, World
from tests.oracles import rest_oracle, typed

HERE = "/repos/acme/shop"
# Its typed models know neither `closed` nor `reopened`, which GitHub sends; the description itself lets them pass.
UNTYPED = {"issues/list-events"}


@pytest.fixture
def served(world: World) -> Iterator[Served]:
    with serve(world) as served:
        yield served


@pytest.fixture
def client(world: World, served: Served) -> Iterator[httpx.Client]:
    headers = {
        "authorization": f"Bearer {world.token('maintainer').value}",
        "x-github-api-version": "2026-03-10",
    }
    with httpx.Client(base_url=served.url, headers=headers) as client:
        yield client


# ---------------------------------------------------------------------- every route, judged

# Method and path as the description writes it -> a request that works on the furnished world (query, body), in this order.
SWEEP = [
    ("GET", "/rate_limit", "", None),
    ("GET", "/user", "", None),
    ("GET", "/users/stranger", "", None),
    ("GET", HERE, "", None),
    ("GET", f"{HERE}/collaborators/stranger/permission", "", None),
    ("GET", f"{HERE}/labels", "per_page=1", None),
    ("POST", f"{HERE}/labels", "", {"name": "two words", "color": "ffffff", "description": "x"}),
    ("GET", f"{HERE}/labels/two%20words", "", None),
    ("GET", f"{HERE}/issues", "state=all&sort=updated&direction=asc&per_page=2&labels=cf:ready", None),
    ("POST", f"{HERE}/issues", "", {"title": "new", "body": "text", "labels": ["bug"]}),
    ("GET", f"{HERE}/issues/1", "", None),
    ("PATCH", f"{HERE}/issues/1", "", {"title": "renamed", "state": "closed", "state_reason": "not_planned"}),
    ("GET", f"{HERE}/issues/1/labels", "", None),
    ("POST", f"{HERE}/issues/1/labels", "", {"labels": ["more"]}),
    ("DELETE", f"{HERE}/issues/1/labels/more", "", None),
    ("GET", f"{HERE}/issues/1/comments", "since=2020-01-01T00:00:00Z", None),
    ("POST", f"{HERE}/issues/1/comments", "", {"body": "hello"}),
    ("GET", f"{HERE}/issues/comments", "sort=updated&direction=desc", None),
    ("GET", f"{HERE}/issues/comments/2000001", "", None),
    ("PATCH", f"{HERE}/issues/comments/2000001", "", {"body": "edited"}),
    ("POST", f"{HERE}/issues/comments/2000001/reactions", "", {"content": "eyes"}),
    ("POST", f"{HERE}/issues/1/reactions", "", {"content": "+1"}),
    ("GET", f"{HERE}/issues/1/events", "", None),
    ("GET", f"{HERE}/issues/1/timeline", "", None),
    ("GET", f"{HERE}/issues/1/dependencies/blocked_by", "", None),
    ("POST", f"{HERE}/issues/1/dependencies/blocked_by", "", {"issue_id": 1_000_004}),
    ("DELETE", f"{HERE}/issues/1/dependencies/blocked_by/1000004", "", None),
    ("GET", f"{HERE}/issues/2/dependencies/blocking", "", None),
    ("DELETE", f"{HERE}/issues/comments/2000001", "", None),
    ("DELETE", f"{HERE}/labels/two%20words", "", None),
    ("GET", f"{HERE}/actions/workflows", "", None),
    ("GET", f"{HERE}/actions/workflows/cf-worker.yml", "", None),
    (
        "POST",
        f"{HERE}/actions/workflows/cf-worker.yml/dispatches",
        "",
        {"ref": "main", "inputs": {"units": "[]", "keys": "cf-1-1"}},
    ),
    ("GET", f"{HERE}/actions/workflows/cf-worker.yml/runs", "event=workflow_dispatch&branch=main", None),
    ("GET", f"{HERE}/actions/runs", "status=queued", None),
    ("GET", f"{HERE}/actions/runs/9000000001", "", None),
    ("GET", f"{HERE}/actions/runs/9000000001/jobs", "filter=latest", None),
    ("GET", f"{HERE}/actions/runs/9000000001/artifacts", "name=report", None),
    ("GET", f"{HERE}/actions/jobs/8000000001", "", None),
    ("GET", f"{HERE}/actions/jobs/8000000001/logs", "", None),
    ("GET", f"{HERE}/check-runs/8000000001/annotations", "", None),
    ("GET", f"{HERE}/actions/artifacts", "", None),
    ("GET", f"{HERE}/actions/artifacts/7000000001", "", None),
    ("GET", f"{HERE}/actions/artifacts/7000000001/zip", "", None),
    ("POST", f"{HERE}/actions/runs/9000000001/cancel", "", None),
    ("POST", f"{HERE}/actions/runs/9000000002/force-cancel", "", None),
    ("GET", f"{HERE}/git/ref/heads/work", "", None),
    ("GET", f"{HERE}/git/blobs/{{blob}}", "", None),
    ("GET", f"{HERE}/contents/docs/a.txt", "ref=work", None),
    ("GET", f"{HERE}/actions/permissions/workflow", "", None),
    ("GET", f"{HERE}/pulls", "state=open&head=acme:work&sort=created&direction=desc", None),
    ("GET", f"{HERE}/pulls/3", "", None),
    ("PATCH", f"{HERE}/pulls/3", "", {"title": "better", "body": "text"}),
    ("POST", f"{HERE}/pulls/3/reviews", "", {"event": "REQUEST_CHANGES", "body": "no"}),
    ("GET", f"{HERE}/pulls/3/comments", "", None),
    ("GET", f"{HERE}/pulls/3/files", "", None),
    ("GET", f"{HERE}/pulls/3/reviews", "", None),
    ("PUT", f"{HERE}/pulls/3/merge", "", {"merge_method": "merge"}),
    (
        "POST",
        f"{HERE}/pulls",
        "",
        {"title": "t", "head": "second", "base": "main", "body": "b", "draft": True},
    ),
]


def furnished(world: World) -> None:
    task = world.open_issue("task", "Depends on #2", labels=["cf:ready"])
    world.block(task, world.open_issue("blocker"))
    world.comment(task, "words", by="stranger")
    world.edit_issue(task, title="a new title", body="a new text")
    world.close(task)
    world.reopen(task)
    world.push_files("work", {"docs/a.txt": "hello\n"}, by=BOT)
    assert world.open_pull("work", "pull", "Closes #1", by=BOT) == 3
    world.open_issue("four")
    world.push_files("second", {"b.txt": "b"})
    run = world.dispatch("cf-worker.yml", inputs={"units": "[]", "keys": "cf-1-1"})
    world.run_started(run)
    world.put_job(
        run, JobState("agent", "completed", "success", steps=(("work", "completed", "success"),), log="log\n")
    )
    world.add_artifact(run, "report", b"PK")


def test_every_route_answers_as_github_describes(world, client):
    furnished(world)
    blob = world.git.listing("work", "docs")["docs/a.txt"]
    oracle = rest_oracle()
    for method, template, query, body in SWEEP:
        path = template.replace("{blob}", blob)
        answer = client.request(method, path, params=query, json=body)
        assert answer.status_code < 400, (method, path, answer.text)
        found = answer.json() if answer.content else None
        oracle.check_request(method, path, dict(httpx.QueryParams(query)), body)
        operation = oracle.check_response(method, path, answer.status_code, found)
        if answer.status_code in (200, 201) and operation.name not in UNTYPED:
            typed(operation.name, found, answer.status_code)


def test_the_sweep_leaves_no_route_out():
    tables = (issues.ROUTES, actions.ROUTES, repository.ROUTES)
    routes = [(r, HERE + r.template) for table in tables for r in table]
    routes += [(r, r.template) for r in repository.GLOBAL_ROUTES]
    swept = {(method, _pattern_of(routes, method, path)) for method, path, _, _ in SWEEP}

    assert swept == {(route.method, template) for route, template in routes}


def _pattern_of(routes: list[tuple[Route, str]], method: str, path: str) -> str:
    for route, template in routes:
        pattern = re.sub(r"\{\w+:path\}", ".+", template)
        pattern = re.sub(r"\{blob\}|\{\w+\}", "[^/]+", pattern)
        if route.method == method and re.fullmatch(pattern, path):
            return template
    raise AssertionError(f"no route for {method} {path}")


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", f"{HERE}/issues/99", None, 404),
        ("POST", f"{HERE}/issues", {"title": ""}, 422),
        ("POST", f"{HERE}/issues", {}, 422),
        ("POST", f"{HERE}/labels", {"name": "Bug"}, 422),
        ("POST", f"{HERE}/actions/workflows/none.yml/dispatches", {"ref": "main"}, 404),
        ("POST", f"{HERE}/actions/runs/1/cancel", None, 404),
        ("PUT", f"{HERE}/pulls/99/merge", {}, 404),
        ("GET", "/repos/no/body/issues/1", None, 404),
    ],
)
def test_refusals_look_like_githubs(world, client, method, path, body, status):
    world.open_issue("has a label", labels=["bug"])

    answer = client.request(method, path, json=body)

    assert answer.status_code == status
    rest_oracle().check_response(method, path, status, answer.json())
    assert answer.json()["message"]


# ---------------------------------------------------------------------- what it does not know


@pytest.mark.parametrize(
    ("method", "path", "status", "named"),
    [
        ("GET", f"{HERE}/milestones", 501, f"GET {HERE}/milestones"),
        ("PUT", f"{HERE}/issues/1/labels", 501, f"PUT {HERE}/issues/1/labels"),
        ("GET", "/search/issues?q=x", 501, "GET /search/issues"),
        ("GET", f"{HERE}/issues?assignee=x", 400, "query parameter assignee"),
        ("PATCH", f"{HERE}/issues/1", 400, "field labels, milestone"),
    ],
)
def test_the_unknown_is_refused_loudly(client, caplog, method, path, status, named):
    body = {"labels": [], "milestone": 1} if method in ("PATCH", "PUT") else None
    with caplog.at_level(logging.WARNING):
        answer = client.request(method, path, json=body)

    assert answer.status_code == status
    assert named in answer.json()["message"]
    assert "The sandbox does not know" in answer.json()["message"]
    assert "refused what the sandbox does not know" in caplog.text


def test_another_api_version_is_refused(client):
    answer = client.get("/rate_limit", headers={"x-github-api-version": "2022-11-28"})
    assert answer.status_code == 400
    assert "2022-11-28" in answer.json()["message"]


def test_an_unknown_graphql_field_is_refused_loudly(client):
    answer = client.post("/graphql", json={"query": "{ viewer { starredRepositories { totalCount } } }"})
    assert answer.status_code == 400
    assert "starredRepositories" in answer.json()["message"]


# ---------------------------------------------------------------------- tokens, limits, headers


@pytest.mark.parametrize("header", ["", "Bearer wrong", "Basic abc", "token"])
def test_a_token_is_needed(served, header):
    answer = httpx.get(f"{served.url}{HERE}/issues", headers={"authorization": header} if header else {})
    assert answer.status_code == 401


def test_every_answer_carries_limits_and_the_worlds_date(world, client):
    world.wait(timedelta(days=3))

    first, second = client.get(f"{HERE}/issues"), client.get(f"{HERE}/issues/9")

    assert parsedate_to_datetime(first.headers["date"]) == world.now
    assert first.headers["x-ratelimit-resource"] == "core"
    assert int(first.headers["x-ratelimit-remaining"]) - int(second.headers["x-ratelimit-remaining"]) == 1
    assert int(first.headers["x-ratelimit-reset"]) > world.now.timestamp()


def test_the_same_again_costs_nothing(world, client):
    world.open_issue("task")
    first = client.get(f"{HERE}/issues/1")

    again = client.get(f"{HERE}/issues/1", headers={"if-none-match": first.headers["etag"]})

    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["x-ratelimit-remaining"] == first.headers["x-ratelimit-remaining"]
    world.label(1, "x")
    assert client.get(f"{HERE}/issues/1", headers={"if-none-match": first.headers["etag"]}).status_code == 200


def test_a_used_up_limit_is_told_in_githubs_words(world, client):
    world.limits.account_limit = 1
    client.get(f"{HERE}/issues")

    rest, graphql = (
        client.get(f"{HERE}/issues"),
        client.post("/graphql", json={"query": "{ viewer { login } }"}),
    )
    more = client.post("/graphql", json={"query": "{ viewer { login } }"})

    assert (rest.status_code, rest.headers["x-ratelimit-remaining"]) == (403, "0")
    assert "API rate limit exceeded" in rest.json()["message"]
    assert graphql.json()["data"]["viewer"]["login"] == "maintainer"
    assert (more.status_code, more.json()["errors"][0]["type"]) == (200, "RATE_LIMITED")
    assert client.get("/rate_limit").status_code == 200, "asking how much is left is free"


def test_lists_have_links(world, client):
    for i in range(5):
        world.open_issue(f"{i}")

    page = client.get(f"{HERE}/issues", params={"per_page": 2, "page": 2})

    assert [issue["number"] for issue in page.json()] == [3, 2]
    assert set(page.links) == {"prev", "first", "next", "last"}
    last = client.get(page.links["last"]["url"])
    assert [issue["number"] for issue in last.json()] == [1]
    assert "next" not in last.links


def test_downloads_are_redirects_whose_address_is_the_key(world, served, client):
    furnished(world)
    for path, content in (("artifacts/7000000001/zip", b"PK"), ("jobs/8000000001/logs", b"log\n")):
        answer = client.get(f"{HERE}/actions/{path}")
        assert answer.status_code == 302
        place = answer.headers["location"]
        assert httpx.get(place).content == content
        assert httpx.get(place[:-1] + ("0" if place[-1] != "0" else "1")).status_code == 403


def test_faults_reach_the_wire(world, client):
    world.faults.answer(502, "GET /repos")
    world.faults.limit("POST /repos")
    assert client.get(f"{HERE}/issues").status_code == 502
    assert client.post(f"{HERE}/issues", json={"title": "x"}).headers["retry-after"] == "60"
    world.faults.fail_write(1)
    with pytest.raises(httpx.RemoteProtocolError):
        client.post(f"{HERE}/issues", json={"title": "x"})
    assert list(world.issues.all()) == []


def test_a_list_may_lag(world, client):
    client.get(f"{HERE}/issues")
    world.open_issue("task")
    world.faults.lag(1)
    assert client.get(f"{HERE}/issues").json() == []
    assert len(client.get(f"{HERE}/issues").json()) == 1


# ---------------------------------------------------------------------- what stand-in actions use


def test_a_run_hands_in_and_fetches_artifacts(world, served):
    run, other = (
        world.dispatch("cf-worker.yml", inputs={"units": "[]", "keys": k}) for k in ("cf-1-1", "cf-2-1")
    )
    place = f"{served.url}/_sandbox/runs/{run}/artifacts"
    mine = {"authorization": f"Bearer {world.run(run).token.value}"}
    theirs = {"authorization": f"Bearer {world.run(other).token.value}"}

    made = httpx.post(f"{place}/cf-report%20x", content=b"PK", headers=mine)

    assert made.status_code == 201
    assert httpx.get(place, headers=mine).json() == {
        "artifacts": [{"id": made.json()["id"], "name": "cf-report x"}]
    }
    assert httpx.get(f"{place}/cf-report%20x", headers=mine).content == b"PK"
    assert httpx.post(f"{place}/cf-report%20x", content=b"PK", headers=mine).status_code == 409
    assert (
        httpx.post(f"{place}/cf-report%20x?overwrite=true", content=b"PK2", headers=mine).status_code == 201
    )
    assert httpx.get(f"{place}/cf-report%20x", headers=mine).content == b"PK2"
    assert httpx.post(f"{place}/forged", content=b"PK", headers=theirs).status_code == 403
    assert httpx.get(f"{place}/none", headers=mine).status_code == 404
    assert httpx.get(place).status_code == 401


# ---------------------------------------------------------------------- GraphQL in GitHub's shape


def ask(client: httpx.Client, query: str, **variables: object) -> dict:
    answer: dict = client.post("/graphql", json={"query": query, "variables": variables}).json()
    return answer


def test_what_is_not_there_is_an_error_beside_the_data(world, client):
    world.open_issue("task")

    answer = ask(
        client,
        '{ repository(owner: "acme", name: "shop") { a: issue(number: 1) { number } b: issue(number: 9) { number } } }',
    )

    assert answer["data"]["repository"] == {"a": {"number": 1}, "b": None}
    (error,) = answer["errors"]
    assert (error["type"], error["path"]) == ("NOT_FOUND", ["repository", "b"])


def test_a_missing_permission_is_forbidden(world, client):
    task = world.issue(world.open_issue("task"))
    reader = world.accounts.run_token(0, {"issues": "read"}, "reader")
    query = "mutation($i: AddCommentInput!) { addComment(input: $i) { clientMutationId } }"

    answer = client.post(
        "/graphql",
        json={"query": query, "variables": {"i": {"subjectId": task.node_id, "body": "x"}}},
        headers={"authorization": f"Bearer {reader.value}"},
    ).json()

    assert answer["errors"][0]["type"] == "FORBIDDEN"
    assert answer["data"] == {"addComment": None}


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ("", "MISSING_PAGINATION_BOUNDARIES"),
        ("(first: 101)", "EXCESSIVE_PAGINATION"),
        ("(first: 0)", "EXCESSIVE_PAGINATION"),
    ],
)
def test_connections_have_bounds(client, arguments, kind):
    answer = ask(
        client, f'{{ repository(owner: "acme", name: "shop") {{ issues{arguments} {{ totalCount }} }} }}'
    )
    assert answer["errors"][0]["type"] == kind
    assert "data" not in answer


def test_a_query_may_not_ask_for_everything(client):
    inner = "issues(first: 100) { nodes { comments(first: 100) { nodes { issue { comments(first: 100) { totalCount } } } } } }"
    answer = ask(client, f'{{ repository(owner: "acme", name: "shop") {{ {inner} }} }}')
    assert answer["errors"][0]["type"] == "MAX_NODE_LIMIT_EXCEEDED"


def test_a_query_costs_what_its_connections_take(world, client):
    query = """{ rateLimit { cost remaining } repository(owner: "acme", name: "shop") {
        issues(first: 100) { nodes { labels(first: 10) { nodes { name } } comments(first: 5) { totalCount } } } } }"""
    before = ask(client, "{ rateLimit { remaining } }")["data"]["rateLimit"]["remaining"]

    limit = ask(client, query)["data"]["rateLimit"]

    assert limit["cost"] == 2
    assert before - limit["remaining"] == 2


def test_cursors_name_items_not_places(world, client):
    for i in range(4):
        world.open_issue(f"{i}", labels=["a"])
    query = """query($after: String) { repository(owner: "acme", name: "shop") { issues(first: 2, after: $after, labels: ["A"]) {
        nodes { number } totalCount pageInfo { hasNextPage endCursor } } } }"""

    first = ask(client, query)["data"]["repository"]["issues"]
    world.unlabel(1, "a")
    second = ask(client, query, after=first["pageInfo"]["endCursor"])["data"]["repository"]["issues"]

    assert [node["number"] for node in first["nodes"]] == [1, 2]
    assert [node["number"] for node in second["nodes"]] == [3, 4], (
        "nothing is skipped although an earlier one left the list"
    )
    assert not second["pageInfo"]["hasNextPage"]
    assert ask(client, query, after="bm9uZQ==")["errors"][0]["type"] == "INVALID_CURSOR_ARGUMENTS"


def test_bots_are_called_otherwise_in_graphql(world, client):
    world.open_issue("by the bot", by=BOT)
    answer = ask(
        client,
        '{ repository(owner: "acme", name: "shop") { issue(number: 1) { author { __typename login } } } }',
    )
    assert answer["data"]["repository"]["issue"]["author"] == {"__typename": "Bot", "login": "github-actions"}
    assert json.loads(client.get(f"{HERE}/issues/1").content)["user"]["login"] == "github-actions[bot]"
