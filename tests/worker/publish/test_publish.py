"""Verify and publish: exactly the verified commit goes out, and nobody's work is overwritten.

Every outcome is the platform's word.
"""

import base64
import json
from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.github.credential import Credential
from bot.model.errors import UsageError
from bot.model.report import GateResult, GateStatus, Hold, Outcome, Report
from bot.model.unit import Kind, VerifyLeg
from bot.notation.fingerprints import failure_fingerprint
from bot.notation.reports import write_report
from bot.sandbox.world.errors import ApiError
from bot.sandbox.world.faults import Fault
from bot.worker.change.bundle import Unfit
from bot.worker.change.git import Git, Unauthorised
from bot.worker.job.artifact import save_report
from bot.worker.programs.gates import SET_UP
from bot.worker.publish.outcome import Judgement, Results, judge_results
from bot.worker.publish.publish import SETTING
from tests.worker.bench import GATE, TOKEN, config_text, git

WORK = Report("cf-1-1", 1, Outcome.UNVERIFIED, head="a" * 40)


def results(**changes: object) -> Results:
    return replace(Results("success", "success", legs=True, work=WORK, change=True), **changes)


@pytest.mark.parametrize(
    ("changes", "judgement"),
    [
        ({}, Judgement(None, verified=True)),
        ({"verify": "skipped", "legs": False}, Judgement(None)),
        ({"verify": "success", "legs": False}, Outcome.INFRA),
        ({"verify": "skipped"}, Outcome.INFRA),
        ({"verify": ""}, Outcome.INFRA),
        ({"verify": "cancelled"}, Outcome.INFRA),
        ({"verify": "failure"}, Outcome.FAILED),
        ({"work": None}, Outcome.INFRA),
        ({"change": False}, Outcome.INFRA),
        ({"agent": "cancelled"}, Outcome.CANCELLED),
        ({"agent": "failure", "work": None}, Outcome.INFRA),
        ({"agent": "failure"}, Outcome.INFRA),
        ({"agent": ""}, Outcome.INFRA),
        ({"agent": "failure", "work": replace(WORK, outcome=Outcome.PASSED)}, Outcome.INFRA),
        ({"agent": "failure", "work": replace(WORK, outcome=Outcome.TIMEOUT)}, Outcome.TIMEOUT),
        ({"agent": "failure", "work": replace(WORK, outcome=Outcome.REFUSED)}, Outcome.REFUSED),
        ({"work": replace(WORK, outcome=Outcome.BLOCKED), "verify": "skipped"}, Outcome.BLOCKED),
        ({"work": replace(WORK, outcome=Outcome.NO_CHANGES), "verify": "skipped"}, Outcome.NO_CHANGES),
        ({"work": replace(WORK, outcome=Outcome.HELD), "verify": "skipped"}, Outcome.HELD),
        ({"work": replace(WORK, outcome=Outcome.HELD), "change": False}, Outcome.HELD),
        ({"work": replace(WORK, outcome=Outcome.HELD)}, Judgement(None, verified=True)),
        ({"work": replace(WORK, outcome=Outcome.HELD), "verify": "failure"}, Outcome.FAILED),
        ({"work": replace(WORK, outcome=Outcome.PASSED), "verify": "failure"}, Outcome.FAILED),
        (
            {"work": replace(WORK, outcome=Outcome.PASSED), "verify": "skipped", "legs": False},
            Judgement(None),
        ),
    ],
)
def test_nothing_the_agents_job_says_can_make_a_pass(changes, judgement):
    found = judge_results(results(**changes))

    assert (found if isinstance(judgement, Judgement) else found.outcome) == judgement


def test_agt_20_the_pull_request_closes_its_own_issue_only(bench):
    """Closing words for others, mentions and markers of the agent are inert, and that is said."""
    setup = bench("edit", "say")
    setup.world.wait(timedelta(minutes=1))
    setup.world.edit_issue(setup.task, title="@octocat fixes #21 <!-- x -->")
    report = setup.through()

    issue = setup.world.pull(report.pull).issue
    assert issue.body.startswith("Closes #1\n")
    assert "loses #21" in issue.body
    assert "loses acme/other#4" not in issue.body
    assert "Closes #21" not in issue.body
    assert "`#21`, `acme/other#4`" in issue.body
    assert "@octocat" not in issue.body + issue.title
    assert "cf:record" not in issue.body
    assert issue.title.endswith("(#1)")
    other = setup.world.open_issue("Another")
    setup.world.merge_pull(report.pull)
    assert not setup.world.issue(setup.task).is_open
    assert setup.world.issue(other).is_open


def test_exactly_the_verified_commit_is_published(bench):
    setup = bench("edit")
    worked = setup.work()
    verified = setup.verify()

    report = setup.publish()

    assert worked.report.head == verified.head == report.head == setup.git.head("cf/1")
    assert report.outcome is Outcome.PASSED
    assert [(gate.name, gate.status) for gate in report.gates] == [("tests", GateStatus.PASSED)]
    assert setup.world.pull(report.pull).draft is False


def test_a_red_gate_fails_with_its_tail_and_publishes_nothing(bench):
    setup = bench("bad")

    report = setup.through()

    assert report.outcome is Outcome.FAILED
    assert "expected feature" in report.gates[0].tail
    assert setup.git.head("cf/1") is None
    assert report.head


def test_a_set_up_that_fails_before_the_gates_is_nobodys_failure(bench):
    """The machine was not ready for any gate: no strike, the end of the output, and the same fingerprint for all that meet it."""
    setup = bench(
        config=config_text("edit") + "setup: ['test ! -e feature.py || { echo no disk; exit 4; }']\n"
    )

    report = setup.through()

    assert (report.outcome, report.head != "") == (Outcome.INFRA, True)
    assert report.reason.startswith("set-up failed (exit status 4): ")
    assert report.reason.endswith("\nno disk\n")
    assert report.failure == failure_fingerprint([(SET_UP, report.reason)])
    assert setup.git.head("cf/1") is None


@pytest.mark.parametrize("by", ["the agent", "a person after the start"])
def test_an_emptied_list_of_gates_never_passes(bench, by):
    """Invariant 15: what the claim names is judged, by the configuration as it was then."""
    empty = "version: 1\ngates: []\n"
    agent = 'mkdir -p .github; echo "gates: []" > .github/cf.yml; echo x > broken.py'
    setup = bench(
        config=f"version: 1\nengine: command\ncorrections: 0\nengines: {{command: {{args: '{agent}'}}}}\n{GATE}\n"
    )
    if by != "the agent":
        setup.commit("main", {".github/cf.yml": empty})

    report = setup.through()

    assert report.outcome is Outcome.FAILED
    assert [(gate.name, gate.status) for gate in report.gates] == [("tests", GateStatus.FAILED)]
    assert setup.git.head("cf/1") is None


def test_no_gates_is_unverified_and_a_draft_that_says_so(bench):
    setup = bench(config=config_text("edit", more="gates: []"))

    report = setup.through()

    pull = setup.world.pull(report.pull)
    assert report.outcome is Outcome.UNVERIFIED
    assert report.reason == f"no gate has proven it: review draft #{report.pull}"
    assert pull.draft
    assert "**Not verified**" in pull.issue.body


def test_where_drafts_are_refused_the_title_says_it(bench):
    setup = bench(config=config_text("edit", more="gates: []"))
    setup.world.pulls.drafts_allowed = False

    report = setup.through()

    pull = setup.world.pull(report.pull)
    assert report.outcome is Outcome.UNVERIFIED
    assert not pull.draft
    assert pull.issue.title.startswith("[not verified] ")


def test_a_leg_without_gates_never_passes(bench):
    setup = bench("edit")
    setup.work()
    setup.unit = replace(setup.unit, verify=(VerifyLeg("ubuntu-latest", "ubuntu-latest", ()),))

    with pytest.raises(Exception, match="names no gate of the configuration: none at all"):
        setup.verify()


@pytest.mark.parametrize("status", [403, 422])
def test_act_07_a_forbidden_pull_request_is_held_with_the_settings_name(bench, status):
    setup = bench("edit")
    refusal = ApiError(
        status, "GitHub Actions is not permitted to create or approve pull requests.", "FORBIDDEN"
    )
    setup.world.faults.planned.append(Fault(lambda: refusal, "open_pull"))

    report = setup.through()

    assert (report.outcome, report.hold) == (Outcome.HELD, Hold.SETTING)
    assert SETTING in report.reason
    assert "https://github.com/acme/shop/compare/main...cf/1?expand=1" in report.reason
    assert setup.git.head("cf/1") == report.head

    earlier = setup.end(report)
    setup.claim(2, Kind.PUBLISH, earlier=earlier)
    again = setup.publish("skipped", "skipped")

    assert again.outcome is Outcome.PASSED
    assert again.head == report.head
    assert again.key == "cf-1-2"
    assert setup.world.pull(again.pull).draft is False


def test_agt_11_a_change_to_a_workflow_file_is_held_with_its_patch(bench):
    setup = bench("workflow")

    report = setup.through()

    assert report.outcome is Outcome.HELD
    assert report.reason.startswith(
        "protected paths: .github/workflows/ci.yml. The patch is in the artifact `cf-report-cf-1-1` of "
    )
    assert (
        f"/actions/runs/{setup.run_id}#artifacts; to take it by hand: `git apply work.patch`."
        in report.reason
    )
    assert report.reason.endswith("`/cf publish` on the issue lets exactly these paths through.")
    assert report.protected == (".github/workflows/ci.yml",)
    git(setup.desk, "checkout", "-q", "-B", "by-hand", "origin/main")
    git(setup.desk, "apply", str(setup.published.report_out / "work.patch"))
    assert (setup.desk / ".github/workflows/ci.yml").read_text() == "on: push\n"
    assert setup.git.head("cf/1") is None

    earlier = setup.end(report)
    setup.claim(2, Kind.PUBLISH, earlier=earlier, exceptions=report.protected)
    setup.grant_workflows()
    again = setup.publish("skipped", "skipped")

    assert again.outcome is Outcome.PASSED
    assert setup.files(again.head) == {"feature.py", ".github/workflows/ci.yml"}


def test_agt_11_a_workflow_change_of_the_base_is_not_the_agents(bench):
    setup = bench("edit")
    before = setup.environ

    def moving(job: str = "agent", **more: str):
        found = before(job, **more)
        if job == "agent":
            setup.commit("main", {".github/workflows/other.yml": "on: push\n"})
        return found

    setup.environ = moving

    report = setup.through()

    assert report.outcome is Outcome.PASSED
    assert setup.files(report.head) == {"feature.py"}
    assert git(setup.origin, "rev-parse", f"{report.head}^") == setup.git.head("main")


def test_what_leaves_the_tree_is_held(bench):
    setup = bench("edit", "link")

    report = setup.through()

    assert report.outcome is Outcome.HELD
    assert "a symbolic link that leaves" in report.reason
    assert setup.git.head("cf/1") is None


@pytest.mark.parametrize(
    ("limit", "words"), [("max_files: 1", "2 files changed"), ("max_bytes: 10", "bytes in changed files")]
)
def test_what_is_too_large_is_held(bench, limit, words):
    setup = bench(config=config_text("edit", "bad") + f"publish: {{{limit}}}\n")

    report = setup.through()

    assert report.outcome is Outcome.HELD
    assert words in report.reason


def second_attempt(setup, *modes: str, config: str = ""):
    """The first attempt passed and is published; the second one is claimed and changes something else."""
    first = setup.through()
    assert first.outcome is Outcome.PASSED
    setup.end(first)
    setup.commit("main", {".github/cf.yml": config or config_text(*modes)})
    setup.claim(2)
    return first


def test_api_15_our_branch_is_continued_by_one_commit_with_two_parents(bench):
    setup = bench("edit")
    first = second_attempt(setup, "bad")

    second = setup.through()

    assert second.outcome is Outcome.PASSED
    assert (second.branch, second.pull) == ("cf/1", first.pull)
    parents = git(setup.origin, "rev-list", "--parents", "-1", second.head).split()[1:]
    assert parents == [first.head, setup.git.head("main")]
    assert setup.text(second.head, "feature.py") == "attempt = 1"
    assert len(setup.world.pulls.by_number) == 1


@pytest.mark.parametrize("how", ["refused", "merged and reopened"])
def test_agt_24_after_a_refusal_or_a_merge_the_next_attempt_begins_at_the_base_on_a_branch_of_its_own(
    bench, how
):
    setup = bench("edit")
    first = setup.through()
    setup.end(first)
    setup.world.comment(first.pull, "closing, this goes the wrong way")
    if how == "refused":
        setup.world.close_pull(first.pull)
    else:
        setup.world.merge_pull(first.pull)
        setup.world.reopen(setup.task)
    setup.write(replace(setup.record, pull=0, head="", earlier=""))  # as the conductor does
    setup.commit("main", {".github/cf.yml": config_text("bad", more=GATE.replace("feature.py", "state.txt"))})
    base = setup.git.head("main")
    setup.claim(2)

    second = setup.through()

    assert (second.outcome, second.source, second.branch) == (Outcome.PASSED, "the default branch", "cf/1-2")
    assert git(setup.origin, "rev-parse", f"{second.head}^") == base
    assert setup.files(second.head) == {"state.txt"}
    assert (setup.git.head("cf/1"), second.pull == first.pull) == (first.head, False)


def test_api_15_somebody_elses_branch_is_left_alone(bench):
    setup = bench("edit")
    theirs = setup.commit("cf/1", {"mine.txt": "a person's\n"})

    report = setup.through()

    assert report.outcome is Outcome.PASSED
    assert report.branch == "cf/1-1"
    assert setup.git.head("cf/1") == theirs
    assert setup.files(report.head) == {"feature.py"}


def rewrite(setup, branch: str, files: dict[str, str]) -> str:
    """A person throws away what a branch held, and pushes something else by force."""
    git(setup.desk, "fetch", "-q", "origin")
    git(setup.desk, "checkout", "-q", "-B", branch, "origin/main")
    for name, text in files.items():
        (setup.desk / name).write_text(text, encoding="utf-8")
    git(setup.desk, "add", "-A")
    git(setup.desk, "commit", "-qm", "my own way")
    git(setup.desk, "push", "-q", "--force", "origin", f"HEAD:refs/heads/{branch}")
    return git(setup.desk, "rev-parse", "HEAD")


def moving_agent(setup, files: dict[str, str]) -> str:
    """An agent's command line during which a person pushes to cf/1."""
    desk = setup.desk
    script = setup.folder / "push.sh"
    writes = "".join(f"echo '{text}' > {path}\n" for path, text in files.items())
    script.write_text(
        f"set -e\ncd {desk}\ngit fetch -q origin\ngit checkout -q -B cf/1 origin/cf/1\n{writes}"
        "git add -A\ngit -c user.name=Pat -c user.email=pat@example.com commit -qm person\ngit push -q origin HEAD:cf/1\n"
    )
    return f"bash {script}"


def test_agt_10_a_a_commit_that_fits_and_arrives_during_the_attempt(bench):
    """Ours goes on top of it."""
    setup = bench("edit")
    moving = moving_agent(setup, {"person.txt": "x"})
    second_attempt(setup, config=config_text("bad").replace("args: '", f"args: '{moving}; "))

    report = setup.through()

    person = git(setup.origin, "rev-parse", "cf/1^1")
    assert report.outcome is Outcome.PASSED
    assert (report.branch, setup.git.head("cf/1")) == ("cf/1", report.head)
    assert git(setup.origin, "log", "-1", "--format=%s", person) == "person"
    assert setup.text("cf/1", "person.txt") == "x"
    assert setup.text(report.head, "state.txt") == "bad"


def test_a_fresh_branch_takes_the_place_of_the_earlier_pull_request(bench):
    """Only where somebody has rewritten the branch that held our work."""
    setup = bench("edit")
    first = second_attempt(setup, "bad")
    setup.work()
    setup.verify()
    rewrite(setup, "cf/1", {"person.txt": "x\n"})

    report = setup.publish()

    earlier, pull = setup.world.pull(first.pull), setup.world.pull(report.pull)
    assert report.branch == "cf/1-2"
    assert (earlier.issue.is_open, earlier.merged, pull.issue.is_open) == (False, False, True)
    assert f"Takes the place of #{first.pull}" in pull.issue.body
    again = setup.publish(GITHUB_RUN_ATTEMPT="2")
    assert again.pull == report.pull


def test_agt_10_no_push_is_ever_forced(bench, monkeypatch):
    calls: list[tuple[str, ...]] = []
    real = Git.call

    def spy(self, *arguments: str, **more):
        calls.append(arguments)
        return real(self, *arguments, **more)

    monkeypatch.setattr(Git, "call", spy)
    setup = bench("edit")
    setup.through()

    pushes = [call for call in calls if call[0] == "push"]
    assert len(pushes) == 1
    assert not any("force" in part or part.startswith("+") or ":+" in part for part in pushes[0])


@pytest.mark.parametrize("moment", ["closed", "superseded", "cancelled"])
def test_agt_23_what_is_not_wanted_any_more_is_only_reported(bench, moment):
    setup = bench("edit")
    setup.work()
    setup.verify()
    live = setup.record.attempts[-1]
    if moment == "closed":
        setup.world.close(setup.task)
    elif moment == "superseded":
        setup.write(
            replace(setup.record, attempts=(replace(live, outcome=Outcome.INFRA), replace(live, number=2)))
        )
    else:
        setup.write(replace(setup.record, attempts=(replace(live, cancelled_for="stopped by maintainer"),)))

    report = setup.publish()

    assert report.outcome is Outcome.CANCELLED
    assert (
        report.reason
        == {
            "closed": "#1 is closed",
            "superseded": "cf-1-1 is not the current attempt of #1: that is cf-1-2",
            "cancelled": "cf-1-1 was cancelled: stopped by maintainer",
        }[moment]
    )
    assert setup.git.head("cf/1") is None
    assert not setup.world.pulls.by_number


@pytest.mark.parametrize(("number", "pushed"), [(1, False), (2, False), (3, True), (4, True)])
def test_people_are_asked_again_before_each_step(bench, number, pushed):
    """Before the push, the pull request and the merge: a stop in between ends it there."""
    setup = bench(config=config_text("edit") + "merge: auto\n")
    setup.work()
    setup.verify()
    asked, real = [], setup.github.issue

    def issue(task):
        asked.append(task)
        if len(asked) == number:
            setup.world.close(setup.task)
        return real(task)

    setup.github.issue = issue

    report = setup.publish()

    assert "#1 is closed" in report.reason
    assert (setup.git.head("cf/1") is not None) is pushed
    assert bool(setup.world.pulls.by_number) is (number == 4)
    assert not report.merged
    assert report.outcome is (Outcome.PASSED if number == 4 else Outcome.CANCELLED)


def test_api_17_a_token_that_ran_out_meanwhile_is_made_anew_for_git(bench, monkeypatch):
    setup = bench("edit")
    setup.work()
    setup.verify()
    setup.credential = Credential("stale", lambda: "fresh")
    used, real = [], Git.fetch

    def fetch(self, remote, *refspecs):
        used.append(remote.token)
        if remote.token == "stale":
            raise Unauthorised("git fetch failed: 401")
        return real(self, remote, *refspecs)

    monkeypatch.setattr(Git, "fetch", fetch)

    assert setup.publish().outcome is Outcome.PASSED
    assert used == ["stale", "fresh"]


@pytest.mark.parametrize("lost", ["taken back", "an outsider's edit"])
def test_nothing_is_published_without_the_approval(bench, lost):
    setup = bench("edit")
    setup.work()
    setup.verify()
    if lost == "taken back":
        setup.write(replace(setup.record, approval=None))
    else:
        setup.world.wait(timedelta(minutes=1))
        setup.world.accounts.add("helper", "write")
        setup.world.edit_issue(setup.task, body="Do something else.", by="helper")
        setup.world.accounts.add("helper", "triage")

    report = setup.publish()

    assert report.outcome is Outcome.CANCELLED
    assert "approved" in report.reason
    assert setup.git.head("cf/1") is None


def test_an_edit_by_somebody_who_may_order_stops_nothing(bench):
    setup = bench("edit")
    setup.work()
    setup.verify()
    setup.world.wait(timedelta(minutes=1))
    setup.world.edit_issue(setup.task, body="Please, soon.")

    assert setup.publish().outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("commit", "outcome", "words"),
    [
        ("", Outcome.INFRA, "did not say which commit it made"),
        ("b" * 40, Outcome.HELD, "not what the agent's job made and the gates saw"),
    ],
)
def test_only_the_commit_that_the_agents_job_named_is_published(bench, commit, outcome, words):
    """A job's output is fixed once the job has ended; an artifact could be replaced by whoever finds a token for it."""
    setup = bench("edit")
    setup.work()
    setup.verify()
    setup.commits[setup.key] = commit

    report = setup.publish()

    assert report.outcome is outcome
    assert words in report.reason
    assert setup.git.head("cf/1") is None


def test_a_workflow_that_is_older_than_the_action_is_named(bench):
    setup = bench("edit")
    setup.work()
    environ = setup.environ

    def older(job="agent", **more):
        return {name: value for name, value in environ(job, **more).items() if name != "CF_COMMIT"}

    setup.environ = older

    with pytest.raises(UsageError, match="run `cf init`"):
        setup.verify()
    report = setup.publish()
    assert report.outcome is Outcome.INFRA
    assert "run `cf init`" in report.reason


def test_the_gates_see_only_the_commit_that_the_agents_job_named(bench):
    setup = bench("edit")
    setup.work()
    setup.commits[setup.key] = "b" * 40

    with pytest.raises(Unfit, match="the agent's job named bbbb"):
        setup.verify()


def forbidding(setup):
    """A remote that takes no push; the hook that says so."""
    hook = setup.origin / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho refusing to allow it without workflows permission >&2\nexit 1\n")
    hook.chmod(0o755)
    return hook


def test_what_the_remote_forbids_is_held_with_its_words_and_the_patch(bench):
    """As GitHub does for a workflow file with the default token, a protected branch, or a secret that it finds."""
    setup = bench("edit")
    hook = forbidding(setup)

    report = setup.through()

    assert (report.outcome, report.hold) == (Outcome.HELD, Hold.SETTING)
    assert "refusing to allow it without workflows permission" in report.reason
    assert "`git apply work.patch`" in report.reason
    assert "feature.py" in (setup.published.report_out / "work.patch").read_text()

    earlier = setup.end(report)
    hook.unlink()
    setup.claim(2, Kind.PUBLISH, earlier=earlier)
    assert setup.publish("skipped", "skipped").outcome is Outcome.PASSED


def test_agt_11_what_an_order_lets_through_and_github_does_not_stays_a_persons(bench):
    """A workflow file with the default token: held with the words and the patch; a further order finds the same work."""
    setup = bench("workflow")
    report = setup.through()
    earlier = setup.end(report)
    hook = forbidding(setup)
    setup.claim(2, Kind.PUBLISH, earlier=earlier, exceptions=report.protected)
    held = setup.publish("skipped", "skipped")
    assert (held.outcome, held.hold, held.protected) == (Outcome.HELD, Hold.PROTECTED, report.protected)
    assert "refusing to allow it without workflows permission" in held.reason
    setup.end(held)
    hook.unlink()
    setup.grant_workflows()
    setup.claim(3, Kind.PUBLISH, earlier=earlier, exceptions=held.protected)

    assert setup.publish("skipped", "skipped").outcome is Outcome.PASSED


def test_sec_11_whatever_is_posted_or_reported_is_redacted(bench, monkeypatch):
    """The token of the publish job itself, also as base64 and in pieces, wherever somebody managed to put it."""
    setup = bench("edit")
    encoded = base64.b64encode(TOKEN.encode()).decode()
    setup.world.wait(timedelta(minutes=1))
    setup.world.edit_issue(setup.task, title=f"Add {TOKEN}")
    worked = setup.work()
    spoilt = replace(worked.report, message=f"used {TOKEN[:9]}\n{TOKEN[9:]} and {encoded}", left_out=(TOKEN,))
    save_report(setup.context.out, spoilt)
    setup.world.actions.run(setup.run_id).artifacts.clear()
    setup._keep("cf-work-cf-1-1", setup.context.out)
    setup.verify()

    report = setup.publish()

    issue = setup.world.pull(report.pull).issue
    posted = issue.title + issue.body + write_report(report)
    assert "***" in issue.title
    assert "***" in issue.body
    for form in (TOKEN, TOKEN[9:], encoded):
        assert form not in posted


def test_act_12_publishing_again_changes_nothing_twice(bench):
    setup = bench("edit")
    first = setup.through()

    again = setup.publish("success", "success", GITHUB_RUN_ATTEMPT="2")
    assert setup.verify().passed
    third = setup.publish("success", "success", GITHUB_RUN_ATTEMPT="3")

    assert again == replace(first, run_attempt=2)
    assert replace(third, gates=()) == replace(first, gates=(), run_attempt=3)
    assert len(setup.world.pulls.by_number) == 1


def test_merge_auto_merges_what_is_verified_only(bench):
    setup = bench(config=config_text("edit") + "merge: auto\n")

    report = setup.through()

    assert report.merged
    assert setup.world.pull(report.pull).merged
    assert setup.text("main", "feature.py") == "attempt = 1"


@pytest.mark.parametrize("app", [True, False])
def test_merge_auto_waits_for_a_required_check_where_an_app_may(bench, app):
    setup = bench(config=config_text("edit") + "merge: auto\n")
    setup.credential = Credential("t", lambda: "t2") if app else setup.credential
    setup.world.pulls.missing_check = "ci"
    setup.world.pulls.auto_merge_allowed = True

    report = setup.through()

    assert report.outcome is Outcome.PASSED
    assert (report.merged, report.conflict, report.unmerged) == (False, False, not app)
    if not app:
        assert 'Required status check "ci" is expected' in report.reason
        assert setup.world.pull(report.pull).merges_later is None
        return
    assert report.reason == f"GitHub merges #{report.pull} once nothing required is missing"
    setup.world.pulls.check_reports()
    assert setup.world.pull(report.pull).merged


def test_merge_auto_is_tried_again_from_the_kept_work(bench):
    """A publish unit, once nothing is missing any more: the same commit, the same pull request, no agent, no push."""
    setup = bench(config=config_text("edit") + "merge: auto\n")
    setup.world.pulls.missing_check = "ci"
    first = setup.through()
    earlier = setup.end(first)
    setup.world.pulls.missing_check = ""
    setup.claim(2, Kind.PUBLISH, earlier=earlier)

    report = setup.publish("skipped", "skipped")

    assert (report.outcome, report.merged, report.unmerged) == (Outcome.PASSED, True, False)
    assert (report.pull, report.head) == (first.pull, first.head)


def test_merge_auto_says_where_the_base_contradicts_it(bench):
    setup = bench(config=config_text("edit") + "merge: auto\n")
    setup.work()
    setup.verify()
    setup.commit("main", {"feature.py": "somebody's own\n"})

    report = setup.publish()

    assert report.outcome is Outcome.PASSED
    assert (report.merged, report.conflict) == (False, True)
    assert report.reason == f"not merged: #{report.pull} contradicts the default branch as it is now"


def test_a_lock_file_is_protected_where_nobody_looks(bench):
    config = config_text("edit").replace("args: '", "args: 'echo x > uv.lock; ")
    setup = bench(config=config + "merge: auto\n")

    report = setup.through()

    assert (report.outcome, report.hold, report.protected) == (Outcome.HELD, Hold.PROTECTED, ("uv.lock",))


def test_merge_auto_leaves_what_nothing_has_proven(bench):
    setup = bench(config=config_text("edit", more="gates: []") + "merge: auto\n")

    report = setup.through()

    assert report.outcome is Outcome.UNVERIFIED
    assert not report.merged


def test_an_artifact_that_was_tampered_with_is_held(bench):
    """A commit that is not of our making does not go out, whatever the agent's job kept."""
    setup = bench("edit")
    setup.work()
    setup.commit("evil", {"x.txt": "Closes #21\n"}, message="Closes #21")
    bundle = setup.context.out / "work.bundle"
    git(setup.desk, "update-ref", "refs/heads/work", "HEAD")
    git(setup.desk, "bundle", "create", "-q", str(bundle), "refs/heads/work", "^origin/main")
    setup.world.actions.run(setup.run_id).artifacts.clear()
    setup._keep("cf-work-cf-1-1", setup.context.out)

    report = setup.publish()

    assert report.outcome is Outcome.HELD
    assert report.reason == "the kept work's commit is not of our making: only a new attempt can help"
    assert setup.git.head("cf/1") is None


@pytest.mark.parametrize("lie", ["another artifact", "another run", "a red leg", "no verify job"])
def test_earlier_work_is_proven_only_by_jobs_that_ran_on_it(bench, lie):
    """A report's word is not enough: what the platform does not vouch for becomes a draft at most."""
    setup = bench("workflow")
    report = setup.through()
    earlier = setup.end(report)
    run = setup.world.actions.run(setup.run_id)
    if lie == "another artifact":  # put in its place after the gates began
        run.artifacts.clear()
        setup._keep("cf-work-cf-1-1", setup.context.out)
    elif lie == "another run":
        run.title = "cf [cf-1-9]"
    elif lie == "a red leg":
        setup._ran("verify (macos-latest)", "failure")
    else:
        del run.jobs["#1 / verify (ubuntu-latest)"]
    setup.claim(2, Kind.PUBLISH, earlier=earlier, exceptions=report.protected)
    setup.grant_workflows()

    again = setup.publish("skipped", "skipped")

    assert again.outcome is Outcome.UNVERIFIED
    assert setup.world.pull(again.pull).draft


def test_kept_work_that_expired_is_held_and_says_so(bench):
    setup = bench("edit")
    earlier = setup.end(setup.work().report)
    for artifact in setup.github.artifacts(setup.run_id):
        setup.world.expire_artifact(artifact.id)
    setup.world.wait(timedelta(days=31))
    setup.claim(2, Kind.PUBLISH, earlier=earlier)

    report = setup.publish("skipped", "skipped")

    assert report.outcome is Outcome.HELD
    assert report.reason == "the work of cf-1-1 is not kept any more: only a new attempt can help"


def test_results_of_legs_travel_as_json(bench):
    setup = bench("bad")
    setup.work()

    result = setup.verify()

    kept = json.loads((setup.folder / "results-cf-1-1" / "verify.json").read_text())
    assert kept["leg"] == "ubuntu-latest"
    assert result.gates == (
        GateResult("tests", GateStatus.FAILED, result.gates[0].seconds, result.gates[0].tail),
    )
    assert "expected feature" in (setup.folder / "results-cf-1-1" / "gate-1.log").read_text()
