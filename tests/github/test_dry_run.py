"""The dry run reads the real thing and changes nothing."""

from datetime import UTC, datetime
from unittest import mock

import pytest

from bot.github.client import Client
from bot.github.dry_run import DryRun
from bot.github.port import GitHub
from bot.model.change import (
    AddLabel,
    CloseIssue,
    CreateComment,
    CreateIssue,
    EditComment,
    EditIssue,
    React,
    RemoveLabel,
)
from bot.model.errors import NotFound
from bot.model.issue import Account, Comment, Issue
from bot.model.view import Repository, View

AT = datetime(2026, 11, 29, 12, tzinfo=UTC)
BOT = Account(41898282, "github-actions[bot]", is_bot=True)
COMMENT = Comment(5, "IC_5", 3, BOT, "old", AT, AT)
ISSUE = Issue(3, "I_3", "t", "b", BOT, True, None, (), AT, AT, comments=(COMMENT,))
READS = (
    "view", "comments_since", "runs", "run", "jobs", "artifacts", "artifacts_since", "download", "needs", "permission",
    "comments_by_id", "issue", "issues", "comment", "file", "pull_by_branch",
)  # fmt: skip


@pytest.fixture
def real():
    real = mock.create_autospec(Client, instance=True)
    real.view.return_value = View(Repository("acme/shop", "R", "main"), BOT, (ISSUE,), (), None, "", AT)
    real.comments_by_id.side_effect = lambda ids: {"IC_5": COMMENT} if "IC_5" in ids else {}
    real.comment.return_value = COMMENT
    yield real
    assert {name for name, _, _ in real.method_calls} <= set(READS)


@pytest.fixture
def dry(real):
    dry = DryRun(real)
    dry.view("cf", None)
    return dry


def test_it_is_the_port(dry):
    port: GitHub = dry
    assert all(callable(getattr(port, name)) for name in READS)


def test_every_write_is_a_sentence(dry):
    dry.write(
        [
            AddLabel("I_3", "cf:in-progress"),
            RemoveLabel("I_3", "cf:ready"),
            CreateComment("I_3", "hello\nworld"),
            EditComment("IC_5", "new"),
            CloseIssue("I_3"),
            CreateIssue("cf dashboard", "b", ("cf:dashboard",)),
            EditIssue("I_3", "x" * 100),
            React("IC_5", "EYES"),
        ]
    )
    dry.ensure_labels({"cf:done": ("ededed", "")})
    dry.dispatch("cf-worker.yml", "main", {"keys": "cf-3-1"})
    dry.cancel(7)
    dry.force_cancel(7)
    dry.open_pull("cf/3", "main", "Title", "body", draft=True)
    updated = dry.update_pull(8, "Title", "body")
    dry.close_pull(7)
    dry.ready_pull(updated)
    dry.request_review(8, "ada")
    dry.merge_pull(8, "a" * 40)
    dry.merge_pull_later(updated, "a" * 40)
    assert dry.would_have == [
        "would have added the label cf:in-progress to #3",
        "would have removed the label cf:ready from #3",
        "would have commented on #3: hello world",
        "would have edited a comment on #3: new",
        "would have closed #3 as completed",
        "would have opened the issue cf dashboard with cf:dashboard",
        f"would have edited the text of #3: {'x' * 79}…",
        "would have reacted with EYES to #3",
        "would have made sure that the labels cf:done exist",
        "would have started cf-worker.yml on main with keys=cf-3-1",
        "would have cancelled run 7",
        "would have cancelled run 7 by force",
        "would have opened a draft pull request from cf/3 to main: Title (4 characters)",
        "would have updated pull request #8: Title (4 characters)",
        "would have closed pull request #7",
        "would have made pull request #8 ready for review",
        "would have asked ada to review pull request #8",
        "would have merged pull request #8 at aaaaaaaaaaaa",
        "would have asked that pull request #8 is merged at aaaaaaaaaaaa once nothing is missing",
    ]


def test_what_was_written_is_read_again(dry, real):
    (made,) = dry.write([CreateComment("I_3", "one")])
    assert made.ok
    dry.write([EditComment(made.node_id, "two"), EditComment("IC_5", "new")])
    found = dry.comments_by_id([made.node_id, "IC_5"])
    assert {key: one.body for key, one in found.items()} == {made.node_id: "two", "IC_5": "new"}
    assert found[made.node_id].author == BOT
    assert real.comments_by_id.call_args.args == (["IC_5"],)
    assert (dry.comment(made.id).body, dry.comment(5).body) == ("two", "new")
    with pytest.raises(NotFound):
        dry.comment(made.id + 1)


def test_a_new_issue_may_be_written_to(dry):
    (made,) = dry.write([CreateIssue("batch", "b", ())])
    dry.write([AddLabel(made.node_id, "cf:batch")])
    assert made.number == made.id > 0
    assert dry.would_have[-1] == "would have added the label cf:batch to the new issue batch"


@pytest.mark.parametrize(
    "name", [name for name in READS if name not in ("view", "comments_by_id", "comment", "issue", "issues")]
)
def test_reads_pass_through(real, name):
    arguments: dict[str, tuple[object, ...]] = {
        "runs": ("cf-worker.yml", AT),
        "needs": ([],),
        "comments_since": (AT,),
        "artifacts_since": (AT,),
    }
    answer = () if name == "comments_since" else mock.sentinel.answer
    getattr(real, name).return_value = answer
    given = arguments.get(name, ("x",))
    assert getattr(DryRun(real), name)(*given) == answer
    getattr(real, name).assert_called_once_with(*given)
