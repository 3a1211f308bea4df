"""What the port promises about writing, dispatching and publishing, kept by the world and by the real client alike."""

from datetime import timedelta

import pytest

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
from bot.model.errors import CannotGoOn, NotFound, Refused, TryLater, UsageError, WorkflowMissing
from bot.model.ref import Ref
from bot.sandbox.world import BOT

pytestmark = pytest.mark.contract
WORK = {"units": "[]", "keys": "cf-1-1"}


def test_changes_are_carried_out_in_order(world, github):
    world.open_issue("brings the labels", labels=["cf:ready", "cf:in-progress"])
    task = world.open_issue("task", labels=["cf:ready"])
    node = world.issue(task).node_id

    written = github.write(
        [
            AddLabel(node, "cf:in-progress"),
            RemoveLabel(node, "cf:ready"),
            RemoveLabel(node, "cf:ready"),
            CreateComment(node, "status"),
            React(node, "EYES"),
            CloseIssue(node),
        ]
    )

    assert all(one.ok for one in written)
    assert world.labels_of(task) == ("cf:in-progress",)
    (comment,) = world.comments_of(task)
    assert (comment.body, comment.author) == ("status", BOT)
    assert (written[3].id, written[3].node_id) == (comment.id, comment.node_id)
    assert not world.issue(task).is_open
    assert world.issue(task).reactions == [("EYES", BOT)]


def test_a_refused_change_does_not_stop_the_others(world, github):
    task = world.open_issue("task")
    node = world.issue(task).node_id

    written = github.write(
        [EditComment("IC_nothing", "x"), AddLabel(node, "no such label"), CreateComment(node, "still said")]
    )

    assert [one.ok for one in written] == [False, False, True]
    assert [comment.body for comment in world.comments_of(task)] == ["still said"]


def test_comments_and_issues_of_ours_are_edited_in_place(world, github):
    task = world.open_issue("task")
    (made,) = github.write([CreateComment(world.issue(task).node_id, "first")])
    (edited,) = github.write([EditComment(made.node_id, "second")])
    world.issues.create_label("cf:dashboard", "ededed", "", world.token("maintainer"))
    (board,) = github.write([CreateIssue("Dashboard", "empty", ("cf:dashboard",))])
    github.write([EditIssue(board.node_id, "full")])

    assert (edited.id, edited.ok) == (made.id, True)
    assert [comment.body for comment in world.comments_of(task)] == ["second"]
    issue = world.issue(board.number)
    assert (issue.title, issue.body, world.labels_of(board.number)) == (
        "Dashboard",
        "full",
        ("cf:dashboard",),
    )


def test_missing_labels_are_made_once(world, github):
    world.open_issue("has one", labels=["CF:ready"])
    wanted = {"cf:ready": ("0e8a16", "may start"), "cf:blocked": ("d93f0b", "waits for an answer")}
    github.view("cf", None)

    github.ensure_labels(wanted)
    github.ensure_labels(wanted)

    assert sorted(label.name for label in world.issues.labels.values()) == ["CF:ready", "cf:blocked"]
    assert world.issues.label("cf:blocked").color == "d93f0b"


def test_a_token_that_may_not_write_cannot_go_on(face):
    task = face.world.open_issue("task")
    face.world.accounts.run_token(0, {"issues": "read"}, "reader")
    github = face.github("run-0-reader")

    with pytest.raises(CannotGoOn):
        github.write([CreateComment(face.world.issue(task).node_id, "hello")])
    with pytest.raises(CannotGoOn, match=r"the label cf:ready could not be created.*issues: write"):
        github.ensure_labels({"cf:ready": ("ededed", "")})
    with pytest.raises(CannotGoOn):
        github.dispatch("cf-worker.yml", "main", WORK)
    assert face.world.comments_of(task) == ()


def test_a_dispatch_starts_a_run_and_tells_its_id(world, github):
    run = github.dispatch("cf-worker.yml", "main", WORK)

    assert world.run(run).inputs == WORK
    assert world.run(run).actor == BOT
    assert world.run(run).title == "cf [cf-1-1]"


@pytest.mark.parametrize(
    ("ref", "inputs", "said"),
    [
        ("main", {**WORK, "other": "1"}, 'Unexpected inputs provided: ["other"]'),
        ("main", {"units": "[]"}, "Required input 'keys' not provided"),
        ("nowhere", WORK, "No ref found for: nowhere"),
    ],
)
def test_a_dispatch_that_github_refuses_says_why(github, ref, inputs, said):
    with pytest.raises(Refused, match=said.replace("[", r"\[").replace("]", r"\]")) as refusal:
        github.dispatch("cf-worker.yml", ref, inputs)
    assert refusal.value.status == 422


def test_a_dispatch_of_what_is_not_there(github):
    with pytest.raises(WorkflowMissing):
        github.dispatch("other.yml", "main", {})


@pytest.mark.parametrize("inputs", [{f"i{n}": "" for n in range(26)}, {"units": "x" * 65_536, "keys": "k"}])
def test_a_dispatch_over_githubs_limits_is_not_even_sent(world, github, inputs):
    with pytest.raises(UsageError):
        github.dispatch("cf-worker.yml", "main", inputs)
    assert world.runs() == ()


def test_an_issue_is_said_to_be_blocked_by_another(world, github):
    blocker, task = world.open_issue("blocker"), world.open_issue("task")

    github.block(task, Ref("acme/shop", blocker))

    assert [edge.ref for edge in github.issue(task).edges] == [Ref("acme/shop", blocker)]
    with pytest.raises(Refused):
        github.block(task, Ref("acme/shop", blocker))
    with pytest.raises(NotFound):
        github.block(task, Ref("acme/shop", 99))


def test_a_run_is_cancelled_once(world, github):
    run = github.dispatch("cf-worker.yml", "main", WORK)

    assert github.cancel(run)
    assert world.run(run).conclusion == "cancelled"
    assert not github.cancel(run)
    assert not github.force_cancel(run)


def test_a_stubborn_run_is_forced(world, github):
    world.engine.obeys = False
    run = github.dispatch("cf-worker.yml", "main", WORK)
    world.run_started(run)

    assert github.cancel(run)
    assert not world.run(run).ended
    assert github.force_cancel(run)
    assert world.run(run).conclusion == "cancelled"


def test_a_pull_request_is_opened_updated_and_merged(world, github):
    task = world.open_issue("task")
    head = world.push_files("cf/1", {"a.txt": "a"}, by=BOT)
    assert github.pull_by_branch("cf/1") is None

    opened = github.open_pull("cf/1", "main", "Work", f"Closes #{task}", draft=False)

    assert (opened.head_sha, opened.is_open, opened.draft, opened.author) == (head, True, False, BOT)
    found = github.pull_by_branch("cf/1")
    assert found is not None
    assert found.number == opened.number
    assert github.update_pull(opened.number, "Better", f"Closes #{task}.").number == opened.number
    assert world.issue(opened.number).title == "Better"
    assert github.merge_pull(opened.number, head) == ""
    assert world.pull(opened.number).merged
    assert not world.issue(task).is_open
    assert github.issue(task).events[-1].by_merge
    assert github.pull_by_branch("cf/1") is None


def test_nothing_is_merged_that_moved_or_is_a_draft_or_conflicts(world, github):
    head = world.push_files("moved", {"a.txt": "1"})
    moved = github.open_pull("moved", "main", "moved", "", draft=False)
    world.push_files("moved", {"a.txt": "2"})
    world.push_files("draft", {"b.txt": "1"})
    draft = github.open_pull("draft", "main", "draft", "", draft=True)
    world.push_files("clash", {"README.md": "one\n"})
    clash = github.open_pull("clash", "main", "clash", "", draft=False)
    world.push_files("main", {"README.md": "other\n"})

    assert "was modified" in github.merge_pull(moved.number, head)
    assert "still a draft" in github.merge_pull(draft.number, draft.head_sha)
    assert "not mergeable" in github.merge_pull(clash.number, clash.head_sha)


def test_a_draft_becomes_ready_and_a_pull_request_can_be_closed(world, github):
    world.push_files("cf/1", {"a.txt": "a"})
    draft = github.open_pull("cf/1", "main", "one", "", draft=True)

    github.ready_pull(draft)
    assert world.pull(draft.number).draft is False

    github.close_pull(draft.number)
    github.close_pull(draft.number)
    assert github.pull_by_branch("cf/1") is None
    assert not world.pull(draft.number).merged


def test_a_review_is_asked_of_collaborators_but_not_of_the_author(world, github):
    world.add_user("ada", "write")
    world.push_files("cf/1", {"a.txt": "a"})
    pull = github.open_pull("cf/1", "main", "one", "", draft=False)

    github.request_review(pull.number, "ada")
    github.request_review(pull.number, "ADA")
    assert [account.login for account in world.pull(pull.number).requested] == ["ada"]
    for login, words in (
        ("stranger", "not a collaborator"),
        ("nobody-at-all", "not a collaborator"),
        (world.pull(pull.number).issue.author.login, "author"),
    ):
        with pytest.raises(Refused, match=words):
            github.request_review(pull.number, login)


def test_a_merge_can_wait_for_what_is_required(world, github):
    head = world.push_files("cf/1", {"a.txt": "a"})
    pull = github.open_pull("cf/1", "main", "one", "", draft=False)
    world.pulls.missing_check = "ci"

    assert 'Required status check "ci" is expected' in github.merge_pull(pull.number, head)
    with pytest.raises(Refused, match="not allowed for this repository"):
        github.merge_pull_later(pull, head)
    world.pulls.auto_merge_allowed = True
    github.merge_pull_later(pull, head)
    assert not world.pull(pull.number).merged
    world.pulls.check_reports()
    assert world.pull(pull.number).merged


def test_a_second_pull_request_for_a_branch_is_refused(world, github):
    world.push_files("cf/1", {"a.txt": "a"})
    github.open_pull("cf/1", "main", "one", "", draft=False)

    with pytest.raises(Refused):
        github.open_pull("cf/1", "main", "two", "", draft=False)


def test_a_setting_that_keeps_actions_from_opening_pull_requests(world, github):
    world.pulls.actions_may_open = False
    world.push_files("cf/1", {"a.txt": "a"})

    with pytest.raises(CannotGoOn, match="not permitted to create"):
        github.open_pull("cf/1", "main", "one", "", draft=False)


def test_a_connection_that_dies_in_a_write_leaves_the_rest_undone(world, github):
    task = world.open_issue("task")
    node = world.issue(task).node_id
    github.view("cf", None)
    world.faults.fail_write(2)

    with pytest.raises(TryLater):
        github.write([CreateComment(node, "one"), CreateComment(node, "two"), CreateComment(node, "three")])

    assert [comment.body for comment in world.comments_of(task)] == ["one"]


def test_a_write_may_hold_although_its_answer_was_lost(world, github):
    task = world.open_issue("task")
    node = world.issue(task).node_id
    world.faults.fail_write(1, after=True)

    with pytest.raises(TryLater):
        github.write([CreateComment(node, "one")])

    assert [comment.body for comment in world.comments_of(task)] == ["one"]


def test_an_answer_that_was_lost_is_not_asked_for_again_when_it_started_something(world, github):
    world.faults.answer(502, "dispatch", after=True)

    with pytest.raises(TryLater):
        github.dispatch("cf-worker.yml", "main", WORK)

    assert len(world.runs()) == 1


def test_content_is_limited_by_the_minute(world, github):
    task = world.open_issue("task")
    node = world.issue(task).node_id
    github.write([CreateComment(node, f"{i}") for i in range(80)])

    with pytest.raises(TryLater):
        github.write([CreateComment(node, "one too many")])

    assert len(world.comments_of(task)) == 80
    world.wait(timedelta(minutes=2))
    assert github.write([CreateComment(node, "later")])[0].ok
