"""A GitHub of a few dictionaries behind respx: GraphQL is executed against GitHub's own schema, REST is held to its description."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, parse_qsl

import httpx
import respx
from graphql import graphql_sync

from bot.github.client import Client
from bot.github.credential import Credential
from bot.github.session import Session
from bot.github.wire import GithubkitWire
from tests.oracles import check_document, graphql_schema, rest_oracle

API = "https://api.github.test"
GRAPHQL = f"{API}/graphql"
TOKEN = "ghs_TheTokenNobodyMaySee0123456789"
START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
WHEN = "2026-11-01T10:00:00Z"
_SECOND = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
_RANGE = re.compile(rf">={_SECOND}|{_SECOND}\.\.{_SECOND}")


@dataclass
class Clock:
    """Time that passes only by sleeping."""

    at: datetime = START
    slept: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += timedelta(seconds=seconds)


def client(clock: Clock | None = None, repository: str = "acme/shop") -> Client:
    """The real client with a clock of ours."""
    clock = clock or Clock()
    wire = GithubkitWire(Credential(TOKEN), API)
    return Client(Session(wire, repository, GRAPHQL, now=clock.now, sleep=clock.sleep))


def user(login: str, number: int) -> dict[str, Any]:
    return {"__typename": "User", "login": login, "databaseId": number}


def bot(login: str, number: int) -> dict[str, Any]:
    return {"__typename": "Bot", "login": login, "databaseId": number}


def issue(
    number: int, labels: Sequence[str] = ("cf:ready",), state: str = "OPEN", **more: Any
) -> dict[str, Any]:
    """One issue as the schema wants it; `more` overrides."""
    return {
        "__typename": "Issue",
        "id": f"I_{number}",
        "fullDatabaseId": str(5_000_000_000 + number),
        "number": number,
        "title": f"Issue {number}",
        "body": "",
        "state": state,
        "stateReason": None,
        "locked": False,
        "createdAt": WHEN,
        "updatedAt": WHEN,
        "closedAt": None,
        "lastEditedAt": None,
        "author": user("ann", 7),
        "editor": None,
        "labels": {"nodes": [{"name": name} for name in labels]},
        "timelineItems": {"nodes": []},
        "userContentEdits": {"nodes": []},
        "closedByPullRequestsReferences": {"nodes": []},
        "comments": {"nodes": []},
        "blockedBy": {"nodes": []},
        "issueDependenciesSummary": {"blockedBy": 0},
        "subIssues": {"nodes": []},
        "subIssuesSummary": {"total": 0, "completed": 0},
        "milestone": None,
        **more,
    }


@dataclass
class Hub:
    """Answers GraphQL for one repository. `break_at` may return an answer to give instead, before anything is executed."""

    issues: list[dict[str, Any]] = field(default_factory=list)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    labels: list[str] = field(default_factory=lambda: ["cf:ready", "cf:done"])
    config: dict[str, Any] | None = None
    break_at: Callable[[dict[str, Any]], httpx.Response | None] = lambda _body: None
    mutations: dict[str, Callable[..., Any]] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    def mount(self, router: respx.MockRouter) -> "Hub":
        router.post(GRAPHQL).mock(side_effect=self.answer)
        return self

    def answer(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        self.requests.append(body)
        check_document(body["query"])
        broken = self.break_at(body)
        if broken is not None:
            return broken
        root = {
            "viewer": user("github-actions[bot]", 41898282),
            "repository": self._repository,
            "nodes": self._nodes,
        }
        result = graphql_sync(
            graphql_schema(),
            body["query"],
            {**root, **self.mutations, **self.extra},
            variable_values=body["variables"],
        )
        found = {"data": result.data, "errors": [error.formatted for error in result.errors or ()]}
        headers = {"Date": "Sun, 29 Nov 2026 12:00:05 GMT"}
        return httpx.Response(200, json=found if found["errors"] else {"data": result.data}, headers=headers)

    def _nodes(self, _info: Any, ids: Sequence[str]) -> list[Any]:
        known = {one["id"]: one for one in self.extra.get("comments", ())}
        return [known.get(one) for one in ids]

    def _repository(self, _info: Any, owner: str, name: str, **_more: Any) -> dict[str, Any]:
        return {
            "__typename": "Repository",
            "id": "R_1",
            "nameWithOwner": f"{owner.title()}/{name}",
            "url": f"https://ghe.example/{owner.title()}/{name}",
            "isPrivate": False,
            "isArchived": False,
            "hasIssuesEnabled": True,
            "defaultBranchRef": {"name": "main"},
            "object": lambda _info, **_arguments: self.config,
            "label": self._label,
            "issues": self._issues,
            "pullRequests": self._pulls,
            "issueOrPullRequest": self._one,
        }

    def _label(self, _info: Any, name: str) -> dict[str, str] | None:
        found = [label for label in self.labels if label.casefold() == name.casefold()]
        return {"id": f"L_{found[0]}", "name": found[0]} if found else None

    def _one(self, _info: Any, number: int) -> dict[str, Any] | None:
        return next((one for one in self.issues if one["number"] == number), None)

    def _pulls(self, _info: Any, first: int, labels: Sequence[str], states: Sequence[str]) -> dict[str, Any]:
        carrying = [
            one
            for one in self.pulls
            if one["state"] in states and {label["name"] for label in one["labels"]["nodes"]} & set(labels)
        ]
        return {"nodes": carrying[:first]}

    def _issues(
        self,
        _info: Any,
        first: int,
        labels: Sequence[str],
        states: Sequence[str],
        orderBy: Mapping[str, Any],  # noqa: N803
        after: str | None = None,
        filterBy: Mapping[str, Any] | None = None,  # noqa: N803
    ) -> dict[str, Any]:
        assert orderBy == {"field": "CREATED_AT", "direction": "ASC"}
        since = (filterBy or {}).get("since", "")
        matching = [
            one
            for one in self.issues
            if one["state"] in states
            and {label["name"] for label in one["labels"]["nodes"]} & set(labels)
            and one["updatedAt"] >= since.replace("+00:00", "Z")
        ]
        start = int(after or 0)
        page = matching[start : start + first]
        more = start + first < len(matching)
        return {"pageInfo": {"hasNextPage": more, "endCursor": str(start + len(page))}, "nodes": page}


def rest(router: respx.MockRouter, answer: Callable[[httpx.Request], httpx.Response]) -> None:
    """Mount REST: every request must be one that GitHub describes, and carry version and token."""

    def checked(request: httpx.Request) -> httpx.Response:
        raw_path, _, query = request.url.raw_path.decode().partition("?")
        body = json.loads(request.content) if request.content else None
        asked = dict(parse_qsl(query))
        if _RANGE.fullmatch(asked.get("created", "")):
            # The description calls this a plain date-time; GitHub's documentation of it says search syntax.
            del asked["created"]
        rest_oracle().check_request(request.method, raw_path, asked, body)
        assert request.headers["x-github-api-version"] == "2026-03-10"
        assert request.headers["authorization"] == f"token {TOKEN}"
        return answer(request)

    router.route(url__startswith=f"{API}/repos/").mock(side_effect=checked)


def params(request: httpx.Request) -> dict[str, str]:
    """What a request asks for behind its `?`."""
    return {key: values[0] for key, values in parse_qs(request.url.query.decode()).items()}


def listed(request: httpx.Request, items: Sequence[Any], key: str = "") -> httpx.Response:
    """A page as GitHub gives it, with its Link."""
    asked = params(request)
    size, page = int(asked["per_page"]), int(asked["page"])
    part = items[(page - 1) * size : page * size]
    more = page * size < len(items)
    headers = {"link": '<https://api.github.test/next>; rel="next", <https://x>; rel="last"'} if more else {}
    return httpx.Response(200, json={"total_count": len(items), key: part} if key else part, headers=headers)
