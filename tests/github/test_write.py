"""Changes as mutations: as GitHub's schema wants them, in few documents, one answer each."""

import json

import httpx
import pytest
from graphql import GraphQLError

from bot.github import sending as module
from bot.model.change import (
    AddLabel,
    Change,
    CloseIssue,
    CreateComment,
    CreateIssue,
    EditComment,
    EditIssue,
    React,
    RemoveLabel,
    Written,
)
from bot.model.errors import CannotGoOn, TryLater
from tests.github.hub import GRAPHQL, Hub
from tests.oracles import check_document

EVIL = 'x") { id } } #\n"""'


class Refusal(GraphQLError):
    """An error as GitHub words it."""

    def __init__(self, message, kind):
        super().__init__(message)
        self.kind = kind

    @property
    def formatted(self):
        return {**super().formatted, "type": self.kind}


def shop(router, **more) -> Hub:
    """A hub that carries mutations out, and keeps what was asked in `done`."""
    hub = Hub(**more)
    hub.extra["done"] = done = []
    gone = {"I_gone": Refusal("Could not resolve to a node with the global id of 'I_gone'", "NOT_FOUND")}

    def carry(name, answer):
        def resolve(_info, input):  # noqa: A002
            done.append((name, input))
            for value in input.values():
                if isinstance(value, str) and value in gone:
                    raise gone[value]
            return answer(input)

        return resolve

    def comment(node_id, body):
        return {"id": node_id, "fullDatabaseId": "4000000001", "body": body, "issue": {"number": 3}}

    def issue(node_id, body=""):
        return {
            "__typename": "Issue",
            "id": node_id,
            "fullDatabaseId": "4000000002",
            "number": 3,
            "body": body,
        }

    hub.mutations = {
        "addLabelsToLabelable": carry("add", lambda i: {"labelable": issue(i["labelableId"])}),
        "removeLabelsFromLabelable": carry("remove", lambda i: {"labelable": issue(i["labelableId"])}),
        "addComment": carry("comment", lambda i: {"commentEdge": {"node": comment("IC_1", i["body"])}}),
        "updateIssueComment": carry("edit", lambda i: {"issueComment": comment(i["id"], i["body"])}),
        "closeIssue": carry("close", lambda i: {"issue": issue(i["issueId"])}),
        "createIssue": carry("create", lambda i: {"issue": issue("I_new")}),
        "updateIssue": carry("text", lambda i: {"issue": issue(i["id"], i["body"])}),
        "addReaction": carry("react", lambda i: {"subject": {"__typename": "Issue", "id": i["subjectId"]}}),
    }
    return hub.mount(router)


def mutations(hub):
    return [body for body in hub.requests if body["query"].startswith("mutation")]


EVERYTHING: list[Change] = [
    AddLabel("I_1", "cf:Ready"),
    RemoveLabel("I_1", "cf:done"),
    CreateComment("I_1", EVIL),
    EditComment("IC_1", EVIL),
    CloseIssue("I_1"),
    CreateIssue(EVIL, EVIL, ("cf:ready",)),
    EditIssue("I_2", EVIL),
    React("IC_1", "EYES"),
]


def test_every_change_in_one_document_in_order(router, github):
    hub = shop(router)
    github.view("cf", None)
    answers = github.write(EVERYTHING)
    assert len(mutations(hub)) == 1
    assert EVIL[:4] not in mutations(hub)[0]["query"]
    assert [name for name, _ in hub.extra["done"]] == [
        "add",
        "remove",
        "comment",
        "edit",
        "close",
        "create",
        "text",
        "react",
    ]
    asked = dict(hub.extra["done"])
    assert asked["add"] == {"labelableId": "I_1", "labelIds": ["L_cf:ready"]}
    assert asked["create"]["labelIds"] == ["L_cf:ready"]
    assert asked["create"]["repositoryId"] == "R_1"
    assert asked["close"]["stateReason"] == "COMPLETED"
    assert all(one.ok for one in answers)
    assert answers[2] == Written(node_id="IC_1", id=4_000_000_001, number=3)
    assert answers[5] == Written(node_id="I_new", id=4_000_000_002, number=3)


def test_each_change_alone_is_a_valid_document():
    for change in EVERYTHING:
        check_document(module.document([change]))


def test_labels_not_seen_are_looked_up_once(router, github):
    hub = shop(router, labels=["CF:Ready"])
    answers = github.write([AddLabel("I_1", "cf:ready"), AddLabel("I_2", "nope"), RemoveLabel("I_2", "nope")])
    assert [one.error for one in answers] == ["", "acme/shop has no label nope", ""]
    assert hub.extra["done"] == [("add", {"labelableId": "I_1", "labelIds": ["L_CF:Ready"]})]
    github.write([RemoveLabel("I_1", "cf:READY")])
    assert len(hub.requests) == 3


def test_one_refused_change_stops_no_other(router, github):
    shop(router)
    answers = github.write([CreateComment("I_1", "a"), CreateComment("I_gone", "b"), CloseIssue("I_1")])
    assert [one.ok for one in answers] == [True, False, True]
    assert answers[1].error == "Could not resolve to a node with the global id of 'I_gone'"


def test_documents_are_bounded_and_a_second_apart(router, github, clock):
    hub = shop(router)
    assert len(github.write([CreateComment("I_1", str(n)) for n in range(95)])) == 95
    assert [body["query"].count("addComment") for body in mutations(hub)] == [40, 40, 15]
    assert clock.slept == [1.0, 1.0]
    assert [one["body"] for _, one in hub.extra["done"]] == [str(n) for n in range(95)]


def test_long_bodies_share_a_document_only_as_far_as_they_fit(router, github):
    hub = shop(router)
    github.write([CreateComment("I_1", "x" * 60_000)] * 13)
    assert [body["query"].count("addComment") for body in mutations(hub)] == [6, 6, 1]
    assert all(len(json.dumps(body)) < 500_000 for body in mutations(hub))


def test_nothing_to_write_asks_nothing(router, github):
    hub = shop(router)
    assert github.write([]) == ()
    assert hub.requests == []


def test_api_13_a_text_that_was_not_stored_is_an_error(router, github):
    hub = shop(router)
    hub.mutations["updateIssueComment"] = lambda _info, input: {  # noqa: A006
        "issueComment": {"id": input["id"], "fullDatabaseId": "1", "body": "old", "issue": {"number": 3}}
    }
    (answer,) = github.write([EditComment("IC_1", "new")])
    assert answer.error == "GitHub accepted the new text and did not store it"


def test_line_ends_are_no_difference(router, github):
    hub = shop(router)
    hub.mutations["updateIssueComment"] = lambda _info, input: {  # noqa: A006
        "issueComment": {"id": input["id"], "fullDatabaseId": "1", "body": "a\r\nb", "issue": {"number": 3}}
    }
    (answer,) = github.write([EditComment("IC_1", "a\nb\n")])
    assert answer.ok


def test_long_text_is_cut_to_fit(router, github):
    hub = shop(router)
    github.write([CreateComment("I_1", "x" * 70_000), CreateIssue("t" * 300, "y" * 70_000, ())])
    (_, comment), (_, issue) = hub.extra["done"]
    assert len(comment["body"]) <= 65_536
    assert len(issue["body"]) <= 65_536
    assert len(issue["title"]) == 256


def test_a_token_that_may_not_write_is_told_which_permission(router, github):
    error = {"type": "FORBIDDEN", "path": ["c0"], "message": "Resource not accessible by integration"}
    router.post(GRAPHQL).mock(
        return_value=httpx.Response(200, json={"data": {"c0": None}, "errors": [error]})
    )
    with pytest.raises(CannotGoOn, match="issues: write"):
        github.write([CreateComment("I_1", "x")])


def test_errors_without_data_answer_every_change(router, github):
    answer = httpx.Response(
        200, json={"data": None, "errors": [{"message": "Variable $c1 was provided invalid value"}]}
    )
    router.post(GRAPHQL).mock(return_value=answer)
    answers = github.write([CreateComment("I_1", "x"), React("I_1", "NOPE")])
    assert [one.error for one in answers] == ["Variable $c1 was provided invalid value"] * 2


def test_a_limit_inside_a_document_ends_the_writing_and_sends_nothing_twice(router, github, clock):
    error = {"type": "UNPROCESSABLE", "path": ["c1"], "message": "was submitted too quickly"}
    body = {"data": {"c0": {"commentEdge": None}, "c1": None}, "errors": [error]}
    route = router.post(GRAPHQL).mock(
        return_value=httpx.Response(200, json=body, headers={"retry-after": "1"})
    )
    with pytest.raises(TryLater):
        github.write([CreateComment("I_1", "a"), CreateComment("I_1", "b")])
    with pytest.raises(TryLater, match="not sent"):
        github.write([CreateComment("I_1", "a")])
    assert (route.call_count, sum(clock.slept)) == (1, 1.0)


def test_a_label_deleted_meanwhile_is_removed_already(router, github):
    hub = shop(router)
    github.view("cf", None)

    def refuse(_info, input):  # noqa: A002
        raise GraphQLError(f"Could not resolve to a node with the global id of '{input['labelIds'][0]}'")

    hub.mutations["removeLabelsFromLabelable"] = refuse
    (answer,) = github.write([RemoveLabel("I_1", "cf:ready")])
    assert answer.ok
