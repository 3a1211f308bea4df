"""Lists, runs, artifacts and pull requests by REST, each request held to GitHub's description."""

import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from bot.model.errors import CannotGoOn, NotFound, TryLater, UsageError, WorkflowMissing
from bot.model.issue import GHOST
from tests.github.hub import API, Hub, listed, params, rest
from tests.oracles import typed

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def iso(at):
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def read(text):
    return datetime.fromisoformat(text)


def comment(number, at, user=True, **more):
    author = {"id": 7, "login": "ann", "type": "User"} if user else None
    return {
        "id": number,
        "node_id": f"IC_{number}",
        "body": "hi",
        "user": author,
        "created_at": "2026-11-01T00:00:00Z",
        "updated_at": iso(at),
        "issue_url": f"{API}/repos/acme/shop/issues/3",
        "html_url": f"https://github.test/acme/shop/issues/3#issuecomment-{number}",
        **more,
    }


def run(number, at):
    return {
        "id": number,
        "display_title": f"cf [cf-{number}-1]",
        "status": "queued",
        "conclusion": None,
        "created_at": iso(at),
        "updated_at": iso(at),
        "run_attempt": 1,
        "html_url": "",
        "event": "workflow_dispatch",
    }


@pytest.mark.parametrize("inclusive", [True, False])
def test_comments_are_complete_although_edits_move_them(router, github, inclusive):
    shop = [comment(n, NOON + timedelta(seconds=n // 3)) for n in range(1, 251)]
    edited_at = NOON + timedelta(hours=1)

    def answer(request):
        since = read(params(request)["since"])
        found = [
            c for c in shop if read(c["updated_at"]) > since or (inclusive and read(c["updated_at"]) == since)
        ]
        page = listed(request, sorted(found, key=lambda c: (c["updated_at"], c["id"])))
        for one in shop[10:14]:  # people edit what we have read: everything behind moves forward
            one["updated_at"] = iso(edited_at)
        return page

    rest(router, answer)
    found = github.comments_since(NOON - timedelta(hours=1))
    assert sorted(one.id for one in found) == list(range(1, 251))
    assert [one.updated_at for one in found] == sorted(one.updated_at for one in found)
    assert {one.id for one in found if one.updated_at == edited_at} == {11, 12, 13, 14}


def test_more_comments_in_one_second_than_fit_a_page(router, github):
    shop = [comment(n, NOON) for n in range(1, 321)]
    rest(router, lambda request: listed(request, shop))
    assert len(github.comments_since(NOON)) == 320


def test_a_list_that_never_goes_on_ends_in_try_later(router, github):
    more = {"link": '<https://api.github.test/next>; rel="next"'}
    shop = [comment(n, NOON) for n in range(1, 101)]
    rest(router, lambda _: httpx.Response(200, json=shop, headers=more))
    with pytest.raises(TryLater, match="does not go on"):
        github.comments_since(NOON)
    with pytest.raises(TryLater, match="does not go on"):
        github.comments_on(3)


def test_a_comment_of_nobody_and_one_on_a_pull_request(router, github):
    nobody = comment(1, NOON, user=False, body=None)
    missing = comment(2, NOON, html_url="https://github.test/acme/shop/pull/3#issuecomment-2")
    del missing["user"]
    rest(router, lambda request: listed(request, [nobody, missing]))
    first, second = github.comments_since(NOON)
    assert (first.author, first.body, first.on_pull, first.issue) == (GHOST, "", False, 3)
    assert (second.author, second.author.is_bot, second.on_pull) == (GHOST, False, True)


def test_runs_are_complete_beyond_the_thousand_that_a_filter_lists(router, github):
    shop = [run(n, NOON + timedelta(minutes=n)) for n in range(1, 1301)]

    def answer(request):
        low, _, high = params(request)["created"].removeprefix(">=").partition("..")
        found = [r for r in shop if r["created_at"] >= low and (not high or r["created_at"] <= high)]
        return listed(request, found[::-1][:1000], "workflow_runs")

    rest(router, answer)
    found = github.runs("cf-worker.yml", NOON)
    assert [one.id for one in found] == list(range(1300, 0, -1))
    assert found[0].title == "cf [cf-1300-1]"


def test_a_missing_workflow_is_named(router, github):
    rest(router, lambda _: httpx.Response(404, json={"message": "Not Found"}))
    with pytest.raises(
        WorkflowMissing, match=r"\.github/workflows/cf-worker\.yml is not on the default branch of acme/shop"
    ):
        github.runs("cf-worker.yml")
    with pytest.raises(WorkflowMissing):
        github.dispatch("cf-worker.yml", "main", {"units": "[]"})
    with pytest.raises(NotFound):
        github.run(4)


def test_jobs_and_artifacts_of_a_run_over_pages(router, github):
    jobs = [
        {"id": n, "run_id": 5, "name": f"leg {n} / agent", "status": "completed", "conclusion": "success",
         "started_at": iso(NOON), "completed_at": None, "run_attempt": 1}
        for n in range(1, 131)
    ]  # fmt: skip
    kept = [
        {
            "id": n,
            "name": f"cf-report-cf-{n}-1",
            "created_at": iso(NOON),
            "expired": n == 2,
            "size_in_bytes": n,
        }
        for n in range(1, 104)
    ]

    def answer(request):
        if request.url.path.endswith("/jobs"):
            assert params(request)["filter"] == "all"
            return listed(request, jobs, "jobs")
        return listed(request, kept, "artifacts")

    rest(router, answer)
    assert [one.id for one in github.jobs(5)] == list(range(1, 131))
    found = github.artifacts(5)
    assert (len(found), found[1].expired, found[1].run_id) == (103, True, 5)


def test_artifacts_since_a_time_end_at_the_first_older_page(router, github):
    kept = [
        {"id": n, "name": "a", "created_at": iso(NOON + timedelta(minutes=n)), "workflow_run": {"id": 9}}
        for n in range(1000, 0, -1)
    ]
    asked = []

    def answer(request):
        asked.append(params(request)["page"])
        return listed(request, kept, "artifacts")

    rest(router, answer)
    found = github.artifacts_since(NOON + timedelta(minutes=850))
    assert ([one.id for one in found], found[0].run_id) == (list(range(1000, 849, -1)), 9)
    assert asked == ["1", "2", "3"]


def test_a_download_leaves_the_token_behind(router, github):
    storage = router.get("https://storage.test/zip").mock(
        return_value=httpx.Response(200, content=b"PK\x03\x04")
    )
    rest(router, lambda _: httpx.Response(302, headers={"location": "https://storage.test/zip?sig=1"}))
    assert github.download(11) == b"PK\x03\x04"
    assert "authorization" not in storage.calls[0].request.headers


def test_an_expired_artifact_is_not_found(router, github):
    rest(router, lambda _: httpx.Response(410, json={"message": "Artifact has expired"}))
    with pytest.raises(NotFound, match="expired"):
        github.download(11)


def test_dispatch_tells_the_run_and_only_asks_what_this_version_knows(router, github):
    asked = []

    def answer(request):
        asked.append(request)
        return httpx.Response(
            200, json={"workflow_run_id": 77, "run_url": f"{API}/r", "html_url": "https://github.test/r"}
        )

    rest(router, answer)
    assert github.dispatch("cf-worker.yml", "feature/1 x", {"units": "[]", "keys": "cf-1-1"}) == 77
    assert asked[0].url.raw_path == b"/repos/acme/shop/actions/workflows/cf-worker.yml/dispatches"


def test_an_older_server_does_not_tell_the_run(router, github):
    rest(router, lambda _: httpx.Response(204))
    assert github.dispatch("cf-worker.yml", "main", {}) == 0


@pytest.mark.parametrize("inputs", [{f"i{n}": "" for n in range(26)}, {"units": "x" * 65_536}])
def test_too_much_input_is_refused_before_the_call(router, github, inputs):
    rest(router, lambda _: httpx.Response(200, json={}))
    with pytest.raises(UsageError, match=r"cf-worker\.yml"):
        github.dispatch("cf-worker.yml", "main", inputs)
    assert not router.calls


def test_cancelling_twice_says_that_it_had_ended(router, github):
    answers = [
        httpx.Response(202, json={}),
        httpx.Response(409, json={"message": "Cannot cancel a workflow run"}),
    ] * 2
    seen = []

    def answer(request):
        seen.append(request.url.path.rsplit("/", 1)[1])
        return answers.pop(0)

    rest(router, answer)
    assert (github.cancel(5), github.cancel(5), github.force_cancel(5), github.force_cancel(5)) == (
        True,
        False,
        True,
        False,
    )
    assert seen == ["cancel", "cancel", "force-cancel", "force-cancel"]


@pytest.mark.parametrize(
    ("answer", "role"),
    [
        ({"permission": "write", "role_name": "maintain"}, "maintain"),
        ({"permission": "read", "role_name": "triage"}, "triage"),
        ({"permission": "write", "role_name": "release captain"}, "write"),
        (None, "none"),
    ],
)
def test_the_role_is_the_finer_word(router, github, answer, role):
    rest(
        router,
        lambda _: httpx.Response(200, json=answer) if answer else httpx.Response(404, json={"message": "x"}),
    )
    assert github.permission("ann") == role


def test_every_part_of_a_path_is_encoded(router, github):
    rest(router, lambda _: httpx.Response(404, json={"message": "Not Found"}))
    assert github.permission("a/../b?x#[bot]") == "none"
    assert (
        router.calls[0].request.url.raw_path
        == b"/repos/acme/shop/collaborators/a%2F..%2Fb%3Fx%23%5Bbot%5D/permission"
    )
    assert github.permission("..") == "none"
    assert router.calls[1].request.url.raw_path == b"/repos/acme/shop/collaborators/%2E%2E/permission"
    assert github.permission("") == "none"
    assert len(router.calls) == 2


def test_a_blob_is_text(router, github):
    rest(router, lambda _: httpx.Response(200, json={"content": "w6TDtsO8\n", "encoding": "base64"}))
    assert github.file("b10b") == "äöü"


def test_missing_labels_are_made_and_the_first_refused_is_named(router, github):
    made = []

    def answer(request):

        made.append(json.loads(request.content)["name"])
        if made[-1] == "cf:failed":
            error = {"resource": "Label", "code": "already_exists", "field": "name"}
            return httpx.Response(422, json={"message": "Validation Failed", "errors": [error]})
        if made[-1] == "cf:merged":
            return httpx.Response(403, json={"message": "Resource not accessible by integration"})
        return httpx.Response(201, json={"node_id": "L_9", "name": made[-1]})

    Hub(labels=["CF:Ready"]).mount(router)
    rest(router, answer)
    one = ("ededed", "what it means")
    github.ensure_labels({"cf:ready": one, "cf:done": one, "cf:failed": one})
    with pytest.raises(CannotGoOn, match=r"the label cf:merged could not be created.*issues: write"):
        github.ensure_labels({"cf:done": one, "cf:merged": one, "cf:backlog": one})
    assert made == ["cf:done", "cf:failed", "cf:merged"]


def test_a_comment_that_is_gone(router, github):
    rest(router, lambda _: httpx.Response(404, json={"message": "Not Found"}))
    with pytest.raises(NotFound):
        github.comment(9)


def test_githubs_own_models_read_what_we_read():
    run_details = typed(
        "actions/create-workflow-dispatch",
        {"workflow_run_id": 1, "run_url": "https://x/r", "html_url": "https://x"},
    )
    assert run_details.workflow_run_id == 1
