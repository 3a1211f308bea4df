"""The judges themselves: what is right passes, and each kind of fault, put in on purpose, is found."""

import copy
import json
from typing import Any

import pytest
from pydantic import ValidationError

from scripts.slim_openapi import API_VERSION, OPERATIONS
from tests.oracles import API_VERSION as JUDGED_VERSION
from tests.oracles import DATA, check_document, graphql_schema, rest_oracle, typed

REPO = "/repos/octo/spoon"
USER: dict[str, Any] = {
    "login": "mona",
    "id": 7,
    "node_id": "U_7",
    "type": "User",
    "site_admin": False,
    **{
        name: f"https://api.github.com/users/mona/{name}"
        for name in (
            "avatar_url",
            "events_url",
            "followers_url",
            "following_url",
            "gists_url",
            "html_url",
            "organizations_url",
            "received_events_url",
            "repos_url",
            "starred_url",
            "subscriptions_url",
            "url",
        )
    },
    "gravatar_id": "",
}
COMMENT: dict[str, Any] = {
    "id": 11,
    "node_id": "IC_11",
    "url": "https://api.github.com/repos/octo/spoon/issues/comments/11",
    "html_url": "https://github.com/octo/spoon/issues/1#issuecomment-11",
    "issue_url": "https://api.github.com/repos/octo/spoon/issues/1",
    "body": "hello",
    "user": USER,
    "created_at": "2026-11-01T10:00:00Z",
    "updated_at": "2026-11-01T10:00:00Z",
    "author_association": "OWNER",
    "performed_via_github_app": None,
}
ISSUE: dict[str, Any] = {
    "id": 1,
    "node_id": "I_1",
    "number": 1,
    "title": "A spoon",
    "state": "open",
    "locked": False,
    "comments": 0,
    "labels": [],
    "user": None,
    "assignees": [],
    "milestone": None,
    "closed_at": None,
    "created_at": "2026-11-01T10:00:00Z",
    "updated_at": "2026-11-01T10:00:00Z",
    "author_association": "OWNER",
    "body": None,
    **{
        name: f"https://api.github.com/repos/octo/spoon/issues/1/{name}"
        for name in ("comments_url", "events_url", "html_url", "labels_url", "repository_url", "url")
    },
}
DISPATCH = f"{REPO}/actions/workflows/cf-worker.yml/dispatches"
DISPATCHED = {
    "workflow_run_id": 99,
    "run_url": "https://api.github.com/repos/octo/spoon/actions/runs/99",
    "html_url": "https://github.com/octo/spoon/actions/runs/99",
}


def changed(value: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return copy.deepcopy(value) | fields


class TestRequests:
    """The client's side."""

    @pytest.mark.parametrize(
        ("method", "path", "query", "body"),
        [
            ("GET", f"{REPO}/issues/comments", {"since": "2026-11-01T00:00:00Z", "per_page": 100}, None),
            ("POST", f"{REPO}/issues/1/labels", None, {"labels": ["cf:ready"]}),
            ("DELETE", f"{REPO}/issues/1/labels/cf%3Aready", None, None),
            ("PATCH", f"{REPO}/issues/1", None, {"state": "closed", "state_reason": "completed"}),
            ("POST", DISPATCH, None, {"ref": "main", "inputs": {"units": "[]"}}),
            ("POST", f"{REPO}/actions/runs/99/cancel", None, None),
            ("GET", f"{REPO}/git/ref/heads/cf/12", None, None),
            ("PUT", f"{REPO}/pulls/3/merge", None, {"sha": "a" * 40, "merge_method": "squash"}),
            ("POST", f"{REPO}/issues/1/dependencies/blocked_by", None, {"issue_id": 5}),
        ],
    )
    def test_a_described_request_passes(self, method, path, query, body):
        operation = rest_oracle().check_request(method, path, query, body)

        assert operation.method == method

    @pytest.mark.parametrize(
        ("method", "path", "query", "body", "reason"),
        [
            ("GET", f"{REPO}/isues/1", None, None, "is no operation"),
            ("PUT", f"{REPO}/issues/1", None, {}, "this path knows GET, PATCH"),
            ("GET", f"{REPO}/issues/one", None, None, "path parameter issue_number"),
            ("GET", f"{REPO}/issues", {"stat": "open"}, None, "no query parameter stat"),
            ("GET", f"{REPO}/issues", {"state": "opened"}, None, "query parameter state"),
            ("PATCH", f"{REPO}/issues/1", None, {"state": "done"}, "request body"),
            ("PATCH", f"{REPO}/issues/1", None, {"state_reson": "completed"}, "GitHub knows no state_reson"),
            ("POST", f"{REPO}/issues", None, {"body": "no title"}, '"title" is a required property'),
            ("POST", f"{REPO}/issues/1/comments", None, None, "sends no body"),
            ("POST", f"{REPO}/actions/runs/99/cancel", None, {"force": True}, "sends a body"),
            ("POST", DISPATCH, None, {"ref": "main", "inputs": {str(n): "" for n in range(26)}}, "inputs"),
            ("POST", DISPATCH, None, {"ref": "main", "return_run_details": True}, "return_run_details"),
        ],
    )
    def test_a_faulty_request_is_found(self, method, path, query, body, reason):
        with pytest.raises(AssertionError) as fault:
            rest_oracle().check_request(method, path, query, body)

        assert reason in str(fault.value)


class TestResponses:
    """The server's side."""

    @pytest.mark.parametrize(
        ("method", "path", "status", "body"),
        [
            ("GET", f"{REPO}/issues/1", 200, ISSUE),
            ("GET", f"{REPO}/issues/1", 200, changed(ISSUE, assignee=None)),
            ("GET", f"{REPO}/issues/1/comments", 200, [COMMENT]),
            ("POST", f"{REPO}/issues/1/comments", 201, COMMENT),
            ("POST", DISPATCH, 200, DISPATCHED),
            ("POST", f"{REPO}/actions/runs/99/cancel", 202, {}),
            ("GET", f"{REPO}/actions/artifacts/5/zip", 302, None),
            ("DELETE", f"{REPO}/issues/comments/11", 204, None),
            ("GET", f"{REPO}/issues/404", 404, {"message": "Not Found"}),
            ("GET", f"{REPO}/issues", 503, {"message": "busy"}),
        ],
    )
    def test_a_described_response_passes(self, method, path, status, body):
        rest_oracle().check_response(method, path, status, body)

    @pytest.mark.parametrize(
        ("method", "path", "status", "body", "reason"),
        [
            ("GET", f"{REPO}/issues/1", 200, {**ISSUE, "number": "1"}, "at number"),
            ("GET", f"{REPO}/issues/1", 200, {key: ISSUE[key] for key in ISSUE if key != "title"}, "title"),
            ("GET", f"{REPO}/issues/1", 200, {**ISSUE, "created_at": "yesterday"}, "date-time"),
            (
                "GET",
                f"{REPO}/issues/1/comments",
                200,
                [changed(COMMENT, user={"login": "mona"})],
                "at 0.user",
            ),
            ("GET", f"{REPO}/issues/1", 201, ISSUE, "GitHub describes only"),
            ("POST", DISPATCH, 204, None, "GitHub describes only 200"),
            ("DELETE", f"{REPO}/issues/comments/11", 204, {"ok": True}, "has a body"),
            ("GET", f"{REPO}/issues", 503, "busy", "503 response"),
        ],
    )
    def test_a_faulty_response_is_found(self, method, path, status, body, reason):
        with pytest.raises(AssertionError) as fault:
            rest_oracle().check_response(method, path, status, body)

        assert reason in str(fault.value)


class TestDescription:
    def test_it_holds_exactly_the_listed_operations(self):
        kept = {(operation.template, operation.method.lower()) for operation in rest_oracle().operations}

        assert kept == {(path, method) for path, methods in OPERATIONS.items() for method in methods}

    def test_it_is_of_the_version_the_script_makes(self):
        described = json.loads((DATA / "openapi-slim.json").read_text(encoding="utf-8"))

        assert described["info"]["version"].startswith(f"{API_VERSION} ")
        assert JUDGED_VERSION == API_VERSION

    @pytest.mark.parametrize(
        ("schema", "gone"),
        [
            ("issue", "assignee"),
            ("pull-request", "assignee"),
            ("pull-request", "merge_commit_sha"),
            ("pull-request-simple", "merge_commit_sha"),
            ("rate-limit-overview", "rate"),
        ],
    )
    def test_what_the_pinned_version_removed_is_not_asked_for(self, schema, gone):
        described = rest_oracle().description["components"]["schemas"][schema]

        assert gone not in described["required"]
        assert gone not in described["properties"]

    def test_every_reference_leads_somewhere_and_every_schema_compiles(self):
        oracle = rest_oracle()
        for operation in oracle.operations:
            schemas = [operation.body, *operation.path_parameters.values()]
            schemas += [parameter["schema"] for parameter in operation.query_parameters.values()]
            schemas += [oracle._response_schema(response) for response in operation.responses.values()]
            for schema in schemas:
                if schema is not None:
                    oracle._validator(schema)

    def test_a_literal_path_wins_over_a_pattern(self):
        assert (
            rest_oracle().operation("GET", f"{REPO}/issues/comments").name == "issues/list-comments-for-repo"
        )


class TestGraphql:
    def test_native_dependencies_are_known_through_the_overlay(self):
        check_document(
            """query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { issue(number: 1) {
                 blockedBy(first: 50) { nodes { number state repository { nameWithOwner } } }
                 blocking(first: 1) { totalCount }
                 issueDependenciesSummary { blockedBy totalBlockedBy } } } }"""
        )
        check_document(
            'mutation { addBlockedBy(input: {issueId: "a", blockingIssueId: "b"}) { issue { id } } }'
        )

    def test_the_published_schema_still_lacks_what_the_overlay_adds(self):
        """When a newer package brings it, the overlay has to go: extending twice would be an error."""
        issue = graphql_schema().type_map["Issue"]

        assert {"blockedBy", "subIssues", "closedByPullRequestsReferences"} <= set(issue.fields)  # type: ignore[attr-defined]
        assert [extension.name.value for extension in issue.extension_ast_nodes] == ["Issue"]

    @pytest.mark.parametrize(
        ("document", "reason"),
        [
            ("{ repository(owner: 1, name: 2) { id } }", "String cannot represent"),
            ('{ repository(owner: "a", name: "b") { isues { id } } }', "Cannot query field 'isues'"),
            ("mutation { addBlockedBy(input: {issueId: 3}) { issue { id } } }", "blockingIssueId"),
        ],
    )
    def test_a_faulty_document_is_found(self, document, reason):
        with pytest.raises(AssertionError) as fault:
            check_document(document)

        assert reason in str(fault.value)


class TestTyped:
    def test_an_answer_is_read_with_githubkits_models(self):
        issue = typed("issues/get", ISSUE)
        (comment,) = typed("issues/list-comments", [COMMENT])

        assert (issue.number, issue.title) == (1, "A spoon")
        assert comment.user.login == "mona"

    def test_operations_that_send_a_body_are_read_as_well(self):
        dispatched = typed("actions/create-workflow-dispatch", DISPATCHED)

        assert dispatched.workflow_run_id == 99

    def test_a_body_that_does_not_fit_is_found(self):
        with pytest.raises(ValidationError):
            typed("issues/get", changed(ISSUE, number="one"))

    def test_an_unknown_operation_is_said(self):
        with pytest.raises(KeyError):
            typed("issues/lock", {})
