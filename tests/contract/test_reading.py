"""What the port promises about reading, kept by the world and by the real client alike."""

from contextlib import nullcontext
from datetime import timedelta

import pytest

from bot.model.branch_rule import BranchRule
from bot.model.errors import CannotGoOn, NotFound, TryLater, WorkflowMissing
from bot.model.issue import EventKind, NeedState, StateReason
from bot.model.ref import Ref
from bot.sandbox.world import BOT, ApiError, JobState, MemoryGit
from bot.sandbox.world.actions import KeptOver
from bot.sandbox.world.push_rules import BRANCH_NAME, SIGNATURES, PushRule

pytestmark = pytest.mark.contract
MINUTE = timedelta(minutes=1)


def test_a_view_holds_what_is_tracked_and_nothing_else(world, github):
    ready = world.open_issue("open and ready", labels=["cf:ready"])
    world.open_issue("no label of ours", labels=["bug"])
    running = world.open_issue("closed while it ran", labels=["cf:in-progress"])
    world.close(running)
    merged = world.open_issue("closed and settled", labels=["cf:merged"])
    world.close(merged)
    dashboard = world.open_issue("dashboard", labels=["CF:Dashboard"])
    named = world.open_issue("named")

    view = github.view("cf", None, [named, 999])

    assert [issue.number for issue in view.issues] == [ready, running, dashboard, named]


def test_a_finished_task_is_looked_at_again_only_when_it_changed(world, github):
    old = world.open_issue("old", labels=["cf:done"])
    world.close(old)
    world.wait(MINUTE)
    since = world.now
    new = world.open_issue("new", labels=["cf:done"])
    world.close(new)

    assert [issue.number for issue in github.view("cf", since).issues] == [new]
    assert [issue.number for issue in github.view("cf", None).issues] == [old, new]


def test_a_view_says_which_links_lead_here(world, github):
    """So that planner and claim check read the same needs, on an Enterprise Server too (DEP-17)."""
    assert github.view("cf", None).repository.server == world.web


def test_an_issue_shows_who_did_what_and_when(world, github):
    world.add_user("ann", "triage")
    number = world.open_issue("title", "body")
    world.wait(MINUTE)
    world.label(number, "cf:ready", by="ann")
    world.wait(MINUTE)
    world.edit_issue(number, body="other body", by="maintainer")
    world.wait(MINUTE)
    world.edit_issue(number, title="other title")
    world.wait(MINUTE)
    world.unlabel(number, "cf:ready", by=BOT)
    world.wait(MINUTE)
    world.close(number, "not_planned")
    world.wait(MINUTE)
    world.reopen(number)

    issue = github.issue(number)

    assert [(event.kind, event.actor.login) for event in issue.events] == [
        (EventKind.LABELED, "ann"),
        (EventKind.EDITED, "maintainer"),
        (EventKind.RENAMED, "maintainer"),
        (EventKind.UNLABELED, "github-actions[bot]"),
        (EventKind.CLOSED, "maintainer"),
        (EventKind.REOPENED, "maintainer"),
    ]
    assert issue.events[3].actor == BOT
    assert issue.state_reason is StateReason.REOPENED
    assert (issue.title, issue.body) == ("other title", "other body")
    assert issue == github.view("cf", None, [number]).issues[0]


def test_labels_compare_without_case_and_keep_their_spelling(world, github):
    world.open_issue("first", labels=["CF:Ready"])
    second = world.open_issue("second", labels=["cf:ready"])

    view = github.view("cf", None)

    assert view.issues[1].number == second
    assert view.issues[1].labels == ("CF:Ready",)
    assert [label.name for label in view.labels] == ["CF:Ready"]


def test_every_page_is_read(world, github):
    numbers = [world.open_issue(f"task {i}", labels=["cf:ready"]) for i in range(230)]

    assert [issue.number for issue in github.view("cf", None).issues] == numbers


def test_the_configuration_comes_with_the_view(face):
    face.world.push_files("main", {".github/cf.yml": "max_parallel: 2\n"})

    view = face.github().view("cf", None)

    assert view.config_text == "max_parallel: 2\n"
    assert face.github().file(view.config_blob) == "max_parallel: 2\n"
    assert (view.repository.full_name, view.repository.default_branch) == ("acme/shop", "main")
    assert view.viewer == BOT
    assert view.at == face.world.now


def test_native_edges_show_the_visible_and_count_the_hidden(world, github):
    blocker, done = world.open_issue("blocker"), world.open_issue("done")
    world.close(done)
    task = world.open_issue("task", labels=["cf:ready"])
    elsewhere, hidden = Ref("acme/api", 3), Ref("secret/place", 4)
    world.elsewhere(elsewhere, NeedState.OPEN)
    for on in (blocker, done, elsewhere, hidden):
        world.block(task, on)

    issue = github.issue(task)

    assert [(str(edge.ref), edge.state) for edge in issue.edges] == [
        (f"acme/shop#{blocker}", NeedState.OPEN),
        (f"acme/shop#{done}", NeedState.COMPLETED),
        ("acme/api#3", NeedState.OPEN),
    ]
    assert issue.hidden_edges == 1


def test_an_issue_shows_its_milestone_and_its_sub_issues(world, github):
    parent, child, done = (world.open_issue(title, labels=["cf:ready"]) for title in ("p", "c", "d"))
    world.close(done)
    for ref in (Ref("acme/shop", child), Ref("acme/shop", done), Ref("secret/place", 4)):
        world.adopt(parent, ref)
    world.plan_for(parent, "v1")

    issue = github.issue(parent)

    assert issue.milestone == "v1"
    assert [(edge.ref.number, edge.state) for edge in issue.children] == [
        (child, NeedState.OPEN),
        (done, NeedState.COMPLETED),
    ]
    assert issue.hidden_children == 1
    assert github.issue(child).milestone == ""


def test_every_kind_of_need_says_how_it_stands(world, github):
    here = world.repository
    numbers = {
        name: world.open_issue(name) for name in ("open", "completed", "not planned", "duplicate", "deleted")
    }
    world.close(numbers["completed"])
    world.close(numbers["not planned"], "not_planned")
    world.close(numbers["duplicate"], "duplicate")
    world.delete_issue(numbers["deleted"])
    pulls = []
    for branch in ("a", "b", "c"):
        world.push_files(branch, {f"{branch}.txt": branch})
        pulls.append(world.open_pull(branch, branch))
    world.merge_pull(pulls[1])
    world.close_pull(pulls[2])
    world.elsewhere(Ref("acme/api", 1), NeedState.COMPLETED)
    world.elsewhere(Ref("acme/api", 2), NeedState.MERGED)
    refs = [
        *(Ref(here, n) for n in (*numbers.values(), *pulls, 999)),
        Ref("acme/api", 1),
        Ref("acme/api", 2),
        Ref("no/body", 1),
    ]

    found = github.needs(refs)

    assert [found[ref] for ref in refs] == [
        NeedState.OPEN,
        NeedState.COMPLETED,
        NeedState.NOT_PLANNED,
        NeedState.DUPLICATE,
        NeedState.DELETED,
        NeedState.OPEN_PULL,
        NeedState.MERGED,
        NeedState.CLOSED_UNMERGED,
        NeedState.UNREADABLE,
        NeedState.COMPLETED,
        NeedState.MERGED,
        NeedState.UNREADABLE,
    ]


def test_comments_are_listed_from_a_time_on_with_edits_and_pull_requests_marked(world, github):
    number = world.open_issue("task")
    old = world.comment(number, "old")
    edited = world.comment(number, "first")
    world.wait(timedelta(hours=1))
    since = world.now
    world.edit_comment(edited, "second")
    world.push_files("branch", {"a": "b"})
    pull = world.open_pull("branch", "pull")
    world.wait(MINUTE)
    on_pull = world.comment(pull, "on a pull request", by="stranger")

    found = github.comments_since(since)

    assert [(comment.id, comment.body, comment.on_pull) for comment in found] == [
        (edited, "second", False),
        (on_pull, "on a pull request", True),
    ]
    assert found[0].edited
    assert found[0].issue == number
    assert old not in {comment.id for comment in found}


def test_two_hundred_comments_of_one_second_are_all_listed(world, github):
    world.limits.enforce = False
    number = world.open_issue("task")
    ids = [world.comment(number, f"{i}") for i in range(220)]

    assert sorted(comment.id for comment in github.comments_since(world.now)) == ids


def test_comments_by_node_id_leave_out_the_deleted(world, github):
    number = world.open_issue("task")
    kept, gone = world.comment(number, "kept"), world.comment(number, "gone")
    nodes = [world.issues.comment(comment).node_id for comment in (kept, gone)]
    world.delete_comment(gone)

    found = github.comments_by_id(nodes)

    assert {node: comment.body for node, comment in found.items()} == {nodes[0]: "kept"}
    assert github.comment(kept) == found[nodes[0]]
    with pytest.raises(NotFound):
        github.comment(gone)


def test_an_issue_that_is_not_there_is_not_found(world, github):
    deleted = world.open_issue("deleted")
    world.delete_issue(deleted)

    for number in (deleted, 77):
        with pytest.raises(NotFound):
            github.issue(number)


def test_permissions_are_roles(world, github, face):
    for role in ("admin", "maintain", "write", "triage"):
        world.add_user(f"user-{role}", role)

    found = {role: github.permission(f"user-{role}") for role in ("admin", "maintain", "write", "triage")}

    assert found == {role: role for role in found}
    assert github.permission("stranger") == "read"
    for role in ("read", "triage"):
        world.add_user(f"asks-{role}", role)
        with pytest.raises(CannotGoOn, match="Must have push access to view collaborator permission"):
            face.github(f"asks-{role}").permission("maintainer")
    assert face.github("user-write").permission("maintainer") == "admin"
    assert github.permission("nobody-at-all") == "none"


def test_runs_jobs_and_artifacts_are_listed(world, github):
    inputs = {"units": "[]", "keys": "cf-1-1"}
    first = world.dispatch("cf-worker.yml", inputs=inputs)
    world.wait(MINUTE)
    since = world.now
    second = world.dispatch("cf-worker.yml", inputs=inputs | {"keys": "cf-2-1 cf-3-1"})
    world.run_started(second)
    world.put_job(second, JobState("#2 / agent", "completed", "success"))
    world.put_job(second, JobState("#2 / publish", "in_progress"))
    archive = world.add_artifact(second, "cf-work-cf-2-1", b"PK\5\6" + b"\0" * 18)

    runs = github.runs("cf-worker.yml")

    assert [run.id for run in runs] == [second, first]
    assert [run.title for run in runs] == ["cf [cf-2-1 cf-3-1]", "cf [cf-1-1]"]
    assert (runs[0].status, runs[0].conclusion, runs[1].status) == ("in_progress", None, "queued")
    assert [run.id for run in github.runs("cf-worker.yml", since)] == [second]
    assert github.run(second) == runs[0]
    assert [(job.name, job.status, job.conclusion) for job in github.jobs(second)] == [
        ("#2 / agent", "completed", "success"),
        ("#2 / publish", "in_progress", None),
    ]
    assert [(kept.id, kept.name) for kept in github.artifacts(second)] == [(archive, "cf-work-cf-2-1")]
    assert [kept.run_id for kept in github.artifacts_since(since)] == [second]
    assert github.download(archive) == b"PK\5\6" + b"\0" * 18


def test_a_view_tells_the_jobs_of_the_runs_that_are_watched(world, github, face):
    run = world.dispatch("cf-worker.yml", inputs={"units": "[]", "keys": "cf-1-1"})
    other = world.dispatch("cf-worker.yml", inputs={"units": "[]", "keys": "cf-2-1"})
    world.put_job(run, JobState("#1 / agent", "completed", "success"))
    world.put_job(run, JobState("#1 / publish", "in_progress"))
    ids = [one.node_id for one in (github.run(run), github.run(other))]

    view = github.view("cf", None, (), [*ids, "WFR_kwLO1"])
    assert [(job.name, job.status, job.conclusion) for job in view.at_work[ids[0]]] == [
        ("#1 / agent", "completed", "success"),
        ("#1 / publish", "in_progress", None),
    ]
    assert view.at_work[ids[1]] == ()
    assert set(view.at_work) == {*ids}
    assert github.view("cf", None).at_work == {}
    reads = ("issues", "actions", "contents", "pull-requests")
    blind = world.run_token(8, dict.fromkeys(reads, "read"), "blind")
    assert face.github(blind).view("cf", None, (), ids).at_work == {}


@pytest.mark.parametrize(
    ("keeps", "shown"), [(KeptOver.BESIDE, ["a", "a"]), (KeptOver.ONCE, ["a"]), (KeptOver.GONE, ["a"])]
)
def test_a_run_that_was_run_again_shows_the_jobs_of_all_its_attempts(world, github, keeps, shown):
    world.actions.kept_over_attempts = keeps
    run = world.dispatch("cf-worker.yml", inputs={"units": "[]", "keys": "cf-1-1"})
    world.put_job(run, JobState("#1 / agent", "completed", "success"))
    world.add_artifact(run, "a", b"PK")
    world.run_ended(run, "success")
    world.rerun(run)
    world.put_job(run, JobState("#1 / agent", "completed", "failure"))
    with nullcontext() if keeps is not KeptOver.ONCE else pytest.raises(ApiError, match="already exists"):
        world.add_artifact(run, "a", b"PK")

    assert (github.run(run).attempt, github.run(run).status) == (2, "queued")
    assert [(job.attempt, job.conclusion) for job in github.jobs(run)] == [(1, "success"), (2, "failure")]
    assert [kept.name for kept in github.artifacts(run)] == shown
    assert [kept.name for kept in github.artifacts_since(world.now)] == shown


def test_what_is_gone_is_not_found(world, github):
    run = world.dispatch("cf-worker.yml", inputs={"units": "[]", "keys": "cf-1-1"})
    archive = world.add_artifact(run, "report", b"PK")
    world.expire_artifact(archive)
    assert github.artifacts(run)[0].expired

    with pytest.raises(NotFound):
        github.download(archive)
    world.run_ended(run, "success")
    world.delete_run(run)
    with pytest.raises(NotFound):
        github.run(run)


def test_a_workflow_that_is_not_there_is_missing(github):
    with pytest.raises(WorkflowMissing):
        github.runs("other.yml")


def test_many_issues_at_once(world, github):
    numbers = [world.open_issue(f"task {i}") for i in range(60)]
    world.push_files("branch", {"a": "b"})
    pull = world.open_pull("branch", "pull")

    found = github.issues([*numbers, pull, 999])

    assert sorted(found) == numbers


def test_a_token_that_may_not_read_issues_cannot_go_on(face):
    face.world.accounts.run_token(0, {"actions": "read", "contents": "read"}, "blind")

    with pytest.raises(CannotGoOn):
        face.github("run-0-blind").view("cf", None)


def test_a_limit_that_is_used_up_says_until_when(face):
    face.world.limits.account_limit = 1
    github = face.github("maintainer")
    github.permission("stranger")

    with pytest.raises(TryLater):
        github.permission("stranger")

    face.world.wait(timedelta(hours=1))
    assert github.permission("maintainer") == "admin"


def test_closing_pull_requests_are_shown_with_what_reviewers_ask(face):
    world, github = face.world, face.github()
    task = world.open_issue("task", labels=["cf:done"])
    world.push_files(f"cf/{task}", {"a": "b"}, by=BOT)
    pull = world.open_pull(f"cf/{task}", "work", f"Closes #{task}", by=BOT)
    world.wait(MINUTE)
    world.review(pull, "CHANGES_REQUESTED", "no")

    shown = github.issue(task).pulls

    assert [(p.number, p.is_open, p.merged, p.head_ref) for p in shown] == [(pull, True, False, f"cf/{task}")]
    assert shown[0].changes_requested_at == world.now
    assert shown[0].author == BOT
    assert isinstance(world.git, MemoryGit)
    assert shown[0].head_sha == world.git.head(f"cf/{task}")


def test_every_comment_of_a_long_conversation_is_read(face):
    world, github = face.world, face.github()
    task = world.open_issue("task")
    for number in range(103):
        world.comment(task, f"words {number}", by="stranger" if number % 2 else "maintainer")

    found = github.comments_on(task)

    assert [one.body for one in found] == [f"words {number}" for number in range(103)]
    assert found[1].author.login == "stranger"
    assert {one.issue for one in found} == {task}
    with pytest.raises(NotFound):
        github.comments_on(task + 1)


def test_reviews_come_with_their_remarks_on_lines(face):
    world, github = face.world, face.github()
    world.push_files("work", {"a.py": "b"}, by=BOT)
    pull = world.open_pull("work", "work", "", by=BOT)
    world.comment(pull, "one word beside", by="maintainer")
    world.wait(MINUTE)
    world.review(
        pull, "CHANGES_REQUESTED", "not yet", remarks=[("a.py", 1, "a name"), ("a.py", 3, "and this")]
    )
    world.review(pull, "COMMENTED", "hm", by="stranger")

    first, second = github.reviews(pull)

    assert (first.author.login, first.state, first.text) == ("maintainer", "changes_requested", "not yet")
    assert [(one.path, one.line, one.text) for one in first.remarks] == [
        ("a.py", 1, "a name"),
        ("a.py", 3, "and this"),
    ]
    assert (second.author.login, second.state, second.remarks, second.at) == (
        "stranger",
        "commented",
        (),
        world.now,
    )
    assert [one.body for one in github.comments_on(pull)] == ["one word beside"]
    assert github.comments_on(pull)[0].on_pull


def test_a_pull_request_in_short(face):
    world, github = face.world, face.github()
    world.push_files("work", {"a.py": "b", "docs/b c.md": "d"}, by=BOT)
    pull = world.open_pull("work", "a title", "", by=BOT)

    found = github.pull_summary(pull)

    assert (found.number, found.title, found.is_open, found.merged) == (pull, "a title", True, False)
    assert {"a.py", "docs/b c.md"} <= {one.path for one in found.files}
    world.merge_pull(pull)
    assert github.pull_summary(pull).merged
    with pytest.raises(NotFound):
        github.pull_summary(pull + 1)


def test_api_08_a_label_of_ours_on_a_pull_request_is_in_the_view_as_one(world, github):
    world.push_files("topic", {"a.txt": "a"}, "a", by="maintainer")
    pull = world.open_pull("topic", "A pull request")
    world.label(pull, "cf:ready")
    task = world.open_issue("A task", "", labels=("cf:ready",))

    assert {issue.number: issue.is_pull for issue in github.view("cf", None).issues} == {
        pull: True,
        task: False,
    }


def test_whether_nothing_hinders_a_merge_is_told_with_the_issue(world, github):
    task = world.open_issue("A task", "", labels=("cf:done",))
    world.push_files("topic", {"a.txt": "a"}, "a", by="maintainer")
    pull = world.open_pull("topic", "A pull request", f"Closes #{task}")

    def told():
        (found,) = github.issue(task).pulls
        return found.number, found.mergeable, found.can_merge

    assert told() == (pull, True, True)
    world.pulls.missing_check = "ci"
    assert told() == (pull, True, False)


def test_a_job_tells_who_cancelled_its_run(world, github):
    run = world.dispatch("cf-worker.yml", inputs={"units": "[]", "keys": "cf-1-1"})
    world.run_started(run)
    ended = world.put_job(run, JobState("#1 / agent", "completed", "success"))
    job = world.put_job(run, JobState("#1 / publish", "in_progress"))
    assert github.annotations(job) == ()
    world.cancel(run, by="maintainer")
    world.run_ended(run, "cancelled")

    assert github.annotations(job) == ("The run was canceled by @maintainer.",)
    assert github.annotations(ended) == ()
    with pytest.raises(NotFound):
        github.annotations(1)


def test_a_file_on_the_default_branch_is_read_by_its_path(world, github):
    assert (
        github.text_at("README.md")
        == world.git.blob(world.git.listing(world.git.default_branch, "")["README.md"]).decode()
    )
    assert github.text_at(".github/workflows/none.yml") is None


def test_whether_actions_may_open_pull_requests_is_for_administrators_to_know(world, github):
    assert github.actions_may_open_pulls() is None


def test_the_rules_on_a_branch_are_read_whether_it_exists_or_not(world, github):
    world.push_rules.demand(PushRule(SIGNATURES), PushRule(BRANCH_NAME, "^feature/", branches="cf/*"))
    assert github.rules_on("cf/1") == (
        BranchRule(SIGNATURES),
        BranchRule(BRANCH_NAME, "regex", "^feature/"),
    )
    assert github.rules_on("main") == (BranchRule(SIGNATURES),)


def test_an_issue_is_open_until_it_is_closed_and_the_newest_runs_come_first(world, github):
    number = world.open_issue("A task", "")
    runs = [world.dispatch("cf-worker.yml", inputs={"units": "[]", "keys": ""}) for _ in range(2)]

    assert github.is_open(number)
    world.close(number)
    assert not github.is_open(number)
    assert [run.id for run in github.newest_runs("cf-worker.yml")] == list(reversed(runs))
