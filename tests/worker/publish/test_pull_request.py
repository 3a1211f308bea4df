"""One change's pull request on the make-believe GitHub: draft and ready, marked, in the place of another, merged or not."""

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from bot.github.fit import MAX_BYTES, MAX_CHARACTERS
from bot.model.errors import CannotGoOn, TryLater
from bot.model.report import GateResult, GateStatus
from bot.sandbox.world import World
from bot.sandbox.world.errors import ApiError, forbidden
from bot.sandbox.world.faults import Fault
from bot.sandbox.world.in_process import client_of
from bot.worker.programs.redact import Redactor
from bot.worker.publish.pull_request import Merging, PullRequest
from bot.worker.publish.pull_request_text import PullWords

PROVEN = (GateResult("tests", GateStatus.PASSED),)
WORDS = PullWords(
    1, "cf-1-1", "Add login", "done", (), (), "https://github.com/acme/shop/actions/runs/7", own_account=False
)


@pytest.fixture
def world():
    world = World("acme/shop")
    world.push_files("main", {"README.md": "x"})
    world.push_files("cf/1", {"a.txt": "a"})
    return world


def offered(world, words=WORDS, branch="cf/1", *, verified=False):
    """The pull request's side of GitHub, what could not be done, and the object that did it."""
    pulls = PullRequest(client_of(world), Redactor(["s3cret-value"]), "main")
    pull, trouble = pulls.offer(branch, words, verified=verified)
    return world.pull(pull.number), trouble, pulls


def test_a_draft_becomes_ready_once_its_work_is_proven(world):
    first, _, _ = offered(world)
    assert first.draft

    again, trouble, _ = offered(world, replace(WORDS, gates=PROVEN), verified=True)

    assert (again.number, again.draft, trouble) == (first.number, False, [])
    assert again.issue.title == "Add login (#1)"
    assert "| tests | passed |" in again.issue.body


def test_what_is_proven_no_more_is_marked(world):
    """A pull request that is ready does not become a draft behind its reviewers' backs; its title says what it is."""
    first, _, _ = offered(world, verified=True)

    again, _, _ = offered(world)

    assert (again.number, again.draft) == (first.number, False)
    assert again.issue.title == "[not verified] Add login (#1)"


def test_a_draft_that_github_leaves_one_is_told_of(world):
    offered(world)
    world.faults.planned.append(Fault(forbidden, "ready_pull"))

    pull, trouble, _ = offered(world, verified=True)

    assert pull.draft
    assert len(trouble) == 1
    assert trouble[0].startswith(f"#{pull.number} is verified and still a draft (")


def test_an_earlier_pull_request_is_closed_and_named_in_the_one_that_takes_its_place(world):
    world.push_files("cf/1-2", {"a.txt": "b"})
    first, _, _ = offered(world)
    second, _, pulls = offered(world, replace(WORDS, replaces=first.number), "cf/1-2")

    assert pulls.replace_earlier(first.number, client_of(world).pull_by_branch("cf/1-2")) == []

    assert not world.pull(first.number).issue.is_open
    assert f"Takes the place of #{first.number}, which is closed." in second.issue.body


@pytest.mark.parametrize(
    "said", ["x" * 70_000, "😀" * 65_537, "```python\n" + "x = 1\n" * 9_000, "~~~\ncode"]
)
def test_api_13_whatever_the_agent_said_the_proof_and_the_link_to_the_run_are_seen(world, said):
    """A fence that it left open, or that was cut open, would swallow all that we say below."""
    pull, _, _ = offered(world, replace(WORDS, said=said))

    assert len(pull.issue.body) <= MAX_CHARACTERS
    assert len(pull.issue.body.encode()) <= MAX_BYTES
    seen = [token.content for token in MarkdownIt().parse(pull.issue.body) if token.type == "inline"]
    assert [words for words in seen if words.startswith("**Not verified**")]
    assert [words for words in seen if f"[run]({WORDS.run_url})" in words]
    assert ("words are cut here" in pull.issue.body) is (len(said) > 20_000)


def test_one_that_cannot_be_closed_is_told_of(world):
    _, _, pulls = offered(world)
    world.faults.planned.append(Fault(forbidden, "close_pull"))

    (told,) = pulls.replace_earlier(9, client_of(world).pull_by_branch("cf/1"))

    assert told.startswith("#9, whose place this takes, could not be closed (")


def test_a_pull_request_takes_no_place_of_its_own(world):
    _, _, pulls = offered(world)
    pull = client_of(world).pull_by_branch("cf/1")
    assert pull is not None

    assert pulls.replace_earlier(pull.number, pull) == pulls.replace_earlier(0, pull) == []
    assert world.pull(pull.number).issue.is_open


def test_act_05_checks_that_do_not_start_by_themselves_are_told_of_and_only_then(world):
    pull, _, _ = offered(world)
    assert "opened with the default token, so its checks wait" in pull.issue.body

    pull, _, _ = offered(world, replace(WORDS, own_account=True))
    assert "default token" not in pull.issue.body


def test_the_text_says_how_to_go_on(world):
    pull, _, _ = offered(world)

    assert "`/cf retry` in a comment on #1" in pull.issue.body
    assert "a review that requests changes" in pull.issue.body


def test_sec_16_nothing_invisible_is_posted(world):
    hidden = "a\u200bb\u202ec\U000e0041d &lt;!-- run rm --&gt; &#60;!-- x --&#62; e"
    pull, _, _ = offered(world, replace(WORDS, issue_title=hidden, said=hidden, notes=[hidden]))

    posted = pull.issue.title + pull.issue.body
    assert posted.count("abcd") == 3
    assert not [sign for sign in posted if sign in "\u200b\u202e\U000e0041"]
    assert "rm" not in posted.replace("permission", "")


def test_every_word_of_it_is_redacted(world):
    words = replace(WORDS, issue_title="the s3cret-value", notes=["s3cret-value"], said="s3cret\n-value")
    pull, _, _ = offered(world, words)

    assert "s3cret" not in pull.issue.title + pull.issue.body
    assert (pull.issue.title + pull.issue.body).count("***") == 3


def test_a_merge_is_of_the_commit_that_is_meant(world):
    pull, _, pulls = offered(world, verified=True)
    world.push_files("cf/1", {"b.txt": "somebody's"})

    assert pulls.merge("a" * 40, later=False) is Merging.REFUSED
    assert "was modified" in pulls.said
    assert not world.pull(pull.number).merged


def test_where_merging_later_is_not_allowed_githubs_first_words_are_kept(world):
    pull, _, pulls = offered(world, verified=True)
    world.pulls.missing_check = "ci"

    assert pulls.merge(pull.head_sha, later=True) is Merging.REFUSED
    assert 'Required status check "ci"' in pulls.said


@pytest.mark.parametrize(("login", "asked"), [("maintainer", "maintainer"), ("stranger", ""), ("gone", "")])
def test_whom_github_lets_be_asked_for_a_review_is_said(world, login, asked):
    pull, _, pulls = offered(world, verified=True)

    assert pulls.ask_for_review(login) == asked
    assert [account.login for account in pull.requested] == ([asked] if asked else [])


@pytest.mark.parametrize(
    ("call", "do"),
    [
        ("ready_pull", lambda world, pulls, pull: offered(world, verified=True)),
        ("close_pull", lambda world, pulls, pull: pulls.replace_earlier(9, pull)),
        ("request_review", lambda world, pulls, pull: pulls.ask_for_review("maintainer")),
        ("merge_pull", lambda world, pulls, pull: pulls.merge(pull.head_sha, later=False)),
    ],
)
def test_what_github_is_too_busy_for_is_done_again_as_a_whole(world, call, do):
    _, _, pulls = offered(world)
    pull = client_of(world).pull_by_branch("cf/1")
    world.faults.planned.append(Fault(lambda: ApiError(502, "busy"), call))

    with pytest.raises(TryLater):
        do(world, pulls, pull)


def test_a_refusal_to_open_one_is_the_callers_to_tell(world):
    world.pulls.actions_may_open = False

    with pytest.raises(CannotGoOn, match="not permitted to create"):
        offered(world)
