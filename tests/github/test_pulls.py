"""Pull requests by REST: found by branch, opened, and merged only as meant."""

import json

import httpx
import pytest

from bot.model.errors import Refused
from tests.github.hub import listed, params, rest


def test_the_newest_open_pull_request_of_a_branch(router, github):
    def pull(number, home):
        return {
            "number": number,
            "state": "open",
            "user": {"id": 41898282, "login": "github-actions[bot]", "type": "Bot"},
            "draft": True,
            "merged_at": None,
            "head": {"ref": "cf/1", "sha": "a" * 40, "repo": home and {"full_name": home}},
            "base": {"repo": {"full_name": "acme/shop"}},
            "html_url": "https://github.test/p",
        }

    def answer(request):
        assert params(request)["head"] == "acme:cf/1"
        return listed(
            request, [pull(9, "acme/fork"), pull(7, None), pull(8, "Acme/Shop"), pull(2, "acme/shop")]
        )

    rest(router, answer)
    found = github.pull_by_branch("cf/1")
    assert found is not None
    assert (found.number, found.draft, found.merged, found.author.is_bot) == (8, True, False, True)


def test_no_pull_request_is_none(router, github):
    rest(router, lambda request: listed(request, []))
    assert github.pull_by_branch("cf/1") is None


@pytest.mark.parametrize(
    ("answers", "merged", "asked"),
    [
        ([(200, {"merged": True, "sha": "a", "message": "ok"})], "", ["merge"]),
        (
            [
                (405, {"message": "Merge commits are not allowed on this repository."}),
                (200, {"merged": True}),
            ],
            "",
            ["merge", "squash"],
        ),
        ([(405, {"message": "Pull Request is not mergeable"})], "is not mergeable", ["merge"]),
        (
            [(409, {"message": "Head branch was modified. Review and try the merge again."})],
            "was modified",
            ["merge"],
        ),
    ],
)
def test_merging_only_the_commit_that_is_meant(router, github, answers, merged, asked):
    seen = []

    def answer(request):

        body = json.loads(request.content)
        assert body["sha"] == "a" * 40
        seen.append(body["merge_method"])
        status, said = answers[len(seen) - 1]
        return httpx.Response(status, json=said)

    rest(router, answer)
    said = github.merge_pull(8, "a" * 40)
    assert merged in said if merged else said == ""
    assert seen == asked


def test_a_draft_that_the_plan_does_not_allow_is_refused_in_words(router, github):
    body = {
        "message": "Validation Failed",
        "errors": [{"message": "Draft pull requests are not supported in this repository."}],
    }
    rest(router, lambda _: httpx.Response(422, json=body))
    with pytest.raises(Refused, match="Draft pull requests are not supported"):
        github.open_pull("cf/1", "main", "t" * 300, "b" * 70_000, draft=True)
