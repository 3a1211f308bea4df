"""`cf doctor`: each thing that a maintainer can mend is found, and named with how."""

import json
from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.cli import main
from bot.conductor.tell.webhook import Webhook
from bot.console import doctor
from bot.console.doctor import Finding, Health, examine, finding_lines, try_webhook
from bot.console.push_rules import refusing_all, refusing_some
from bot.model.branch_rule import BranchRule
from bot.model.engine import RepositorySettings
from bot.model.errors import CannotGoOn, TryLater
from bot.sandbox.world.git import MemoryGit
from bot.sandbox.world.in_process import InProcess
from bot.sandbox.world.push_rules import (
    BRANCH_NAME,
    CREATION,
    EXTENSION,
    MESSAGE,
    PULL_REQUEST,
    SIGNATURES,
    PushRule,
)
from tests.conductor.story import CONFIG, Story


def examined(story, by="maintainer"):
    return InProcess(story.world, story.world.token(by))


def looked(story, by="maintainer", **settings):
    """What is found, by what it is about; several of one kind stand in a list."""
    found: dict[str, list[object]] = {}
    for finding in examine(examined(story, by), story.world.now, RepositorySettings(**settings)):
        found.setdefault(finding.about, []).append(finding)
    return found


def only(found, about):
    (finding,) = found[about]
    return finding


@pytest.fixture
def running():
    """A repository in which the conductor has run."""
    story = Story()
    story.tick()
    story.world.dispatch("cf-conductor.yml")
    return story


def test_a_repository_that_works_has_no_problem(running):
    found = looked(running, secrets={"CF_MODEL_KEY": True})
    everything = [finding for findings in found.values() for finding in findings]
    assert {finding.health for finding in everything} == {Health.OK}
    assert [finding.words for finding in found["workflow"]] == [
        f".github/workflows/{name}.yml is current"
        for name in ("cf-batch", "cf-conductor", "cf-task", "cf-worker")
    ]
    assert only(found, "token").words == "reads acme/shop as maintainer"
    assert only(found, "permission").words == "maintainer has admin permission"
    assert only(found, "pull requests").words == "Actions may open them"
    assert only(found, "rules").words == "none refuses a push to branches like cf/1"


def test_what_a_jobs_token_cannot_know_is_unknown_and_no_problem(running):
    found = looked(running, by="github-actions[bot]")
    unknown = {about for about, findings in found.items() if findings[0].health is Health.UNKNOWN}
    assert unknown == {"permission", "pull requests", "agent"}
    assert "known only inside of Actions" in only(found, "agent").words


def test_a_missing_and_a_changed_workflow_are_told_apart():
    found = looked(Story(worker=False))
    by_health = {finding.health: finding for finding in found["workflow"]}
    assert (
        by_health[Health.PROBLEM].words
        == ".github/workflows/cf-worker.yml is missing from the default branch"
    )
    assert "cf init" in by_health[Health.PROBLEM].mend
    story = Story()
    assert isinstance(story.world.git, MemoryGit)
    story.world.git.commit("main", {".github/workflows/cf-task.yml": "name: other\n"}, "x")
    changed = [finding for finding in looked(story)["workflow"] if finding.health is Health.UNKNOWN]
    assert [finding.words.split()[0] for finding in changed] == [".github/workflows/cf-task.yml"]


@pytest.mark.parametrize(
    ("config", "about", "health", "words"),
    [
        ("order: fast\n", "configuration", Health.PROBLEM, "line 1: order: must be one of"),
        ("prefix: bot\nmerge: 5\n", "labels", Health.UNKNOWN, "bot:ready"),
        ("version: 1\n", "gates", Health.UNKNOWN, "all work stays unverified"),
        ("engine: command\n", "agent", Health.PROBLEM, "engines.command.args"),
    ],
)
def test_what_is_wrong_with_the_configuration_is_found(config, about, health, words):
    finding = only(looked(Story(config)), about)
    assert finding.health is health
    assert words in finding.words


def test_a_conductor_that_does_not_run_is_a_problem_and_one_that_is_late_is_worth_a_look(running):
    assert only(looked(Story()), "conductor").words == "it has not run within 7 days"
    running.world.wait(timedelta(hours=4))
    late = only(looked(running), "conductor")
    assert late.health is Health.UNKNOWN
    assert "enable it" in late.mend
    running.world.wait(timedelta(days=8))
    assert only(looked(running), "conductor").health is Health.PROBLEM


def test_labels_that_are_missing_are_named():
    story = Story()
    assert "cf:ready" in only(looked(story), "labels").words


def test_actions_that_may_not_open_pull_requests_are_a_problem_with_the_setting(running):
    running.world.pulls.actions_may_open = False
    finding = only(looked(running), "pull requests")
    assert finding.health is Health.PROBLEM
    assert "Allow GitHub Actions to create" in finding.mend


def test_who_conducts_is_told_and_what_only_looks_like_it(running):
    assert only(looked(running), "who conducts").words.startswith(
        "github-actions[bot] (id 41898282), and its dashboard is #"
    )
    false = running.world.open_issue("x", labels=("cf:dashboard",), by="maintainer")
    running.world.push_files(
        "main", {".github/cf.yml": f"{CONFIG}identity: {{conductor: octocat}}\n"}, "x", by="maintainer"
    )
    problem, ignored = looked(running)["who conducts"]
    assert (problem.health, "name its id 41898282 in identity.also" in problem.words) == (
        Health.PROBLEM,
        True,
    )
    assert f"#{false} is labelled cf:dashboard" in ignored.words


def test_nobody_conducts_yet():
    assert "nobody yet" in only(looked(Story()), "who conducts").words


def test_somebody_without_write_permission_cannot_conduct(running):
    running.world.add_user("reader", "read")
    finding = only(looked(running, by="reader"), "permission")
    assert (finding.health, finding.words) == (
        Health.PROBLEM,
        "reader has less than write permission",
    )


@pytest.mark.parametrize(
    ("change", "words"), [({"archived": True}, "archived"), ({"has_issues": False}, "switched off")]
)
def test_a_repository_that_takes_nothing_is_a_problem(running, change, words):
    github = examined(running)
    view = github.view("cf", None)
    github.view = lambda *_: replace(view, repository=replace(view.repository, **change))
    found = {finding.about: finding for finding in examine(github, running.world.now, RepositorySettings())}
    assert found["repository"].health is Health.PROBLEM
    assert words in found["repository"].words


class Broken:
    """A GitHub on which these calls fail."""

    def __init__(self, github, *calls, error):
        self._github, self._calls, self._error = github, calls, error

    def __getattr__(self, name):
        if name not in self._calls:
            return getattr(self._github, name)

        def fail(*_):
            raise self._error

        return fail


def test_without_any_answer_there_is_one_finding_and_with_some_the_rest_is_looked_at(running):
    github = examined(running)
    dead = Broken(github, "view", error=CannotGoOn("GitHub does not accept the token"))
    (finding,) = examine(dead, running.world.now, RepositorySettings())
    assert finding.health is Health.PROBLEM
    assert "does not accept" in finding.words
    partly = Broken(
        github, "text_at", "permission", "runs", "actions_may_open_pulls", error=TryLater("GitHub is busy")
    )
    found = [
        one
        for one in examine(partly, running.world.now, RepositorySettings())
        if "GitHub is busy" in one.words
    ]
    assert {one.about for one in found} == {"workflow", "permission", "conductor", "pull requests"}
    assert {one.health for one in found} == {Health.UNKNOWN}


def test_lines_say_health_first_and_the_mend_below(running):
    lines = list(
        finding_lines(list(examine(examined(Story(worker=False)), running.world.now, RepositorySettings())))
    )
    place = next(at for at, line in enumerate(lines) if "cf-worker.yml is missing" in line)
    assert lines[place].startswith("problem  workflow: ")
    assert lines[place + 1].strip() == "run `cf init`, commit and push"


def test_the_webhook_gets_an_event_test_if_that_is_asked_for(monkeypatch):
    sent: list[dict[str, object]] = []
    answers = iter(["", "no answer"])

    def deliver(_, bodies):
        sent.extend(bodies)
        return next(answers)

    monkeypatch.setattr(Webhook, "deliver", deliver)
    environ = {"CF_WEBHOOK": "https://x", "GITHUB_REPOSITORY": "acme/shop"}
    assert try_webhook(environ).health is Health.OK
    assert (sent[0]["event"], sent[0]["repository"]) == ("test", "acme/shop")
    assert try_webhook(environ).words == "no answer"
    assert try_webhook({}).health is Health.PROBLEM
    assert len(sent) == 2


def test_without_a_token_it_says_which_variable(monkeypatch, capsys):
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    assert main(["doctor"]) == 2
    assert "GITHUB_TOKEN is not set" in capsys.readouterr().err


def test_the_exit_code_and_json_are_for_machines(running, monkeypatch, capsys):
    monkeypatch.setattr("bot.github.client.connect", lambda _: None)
    found = list(examine(examined(running), running.world.now, RepositorySettings()))
    monkeypatch.setattr(doctor, "examine", lambda *_: found)
    assert main(["doctor", "--json"]) == 0
    assert [finding["health"] for finding in json.loads(capsys.readouterr().out)].count("problem") == 0
    found.append(Finding("labels", Health.PROBLEM, "##[error]x", "mend"))
    assert main(["doctor"]) == 1
    assert capsys.readouterr().out.endswith("problem  labels: ## [error]x\n         mend\n")


@pytest.mark.parametrize(
    ("rule", "health", "words"),
    [
        (PushRule(SIGNATURES), Health.PROBLEM, "commits must be signed"),
        (PushRule(CREATION), Health.PROBLEM, "new branches are restricted"),
        (PushRule(PULL_REQUEST, branches="cf/*"), Health.PROBLEM, "changes must come by a pull request"),
        (
            PushRule(BRANCH_NAME, "^feature/"),
            Health.PROBLEM,
            "branch names must match `^feature/`, and ours is like `cf/1`",
        ),
        (PushRule(BRANCH_NAME, "["), Health.UNKNOWN, "branch names must match `[`; see whether `cf/1` does"),
        (PushRule(BRANCH_NAME, "^cf/"), Health.OK, "none refuses a push"),
        (PushRule(MESSAGE, "^(a+)+$"), Health.UNKNOWN, "commit messages must match"),
        (PushRule(EXTENSION, ".exe"), Health.UNKNOWN, "some extensions may not be pushed"),
        (PushRule(SIGNATURES, branches="main"), Health.OK, "none refuses a push"),
    ],
)
def test_what_would_refuse_our_pushes_is_found_before_anything_is_paid(running, rule, health, words):
    running.world.push_rules.demand(rule)
    finding = only(looked(running), "rules")
    assert finding.health is health
    assert words in finding.words
    assert bool(finding.mend) is (health is Health.PROBLEM)


@pytest.mark.parametrize(
    ("operator", "pattern", "negate", "refuses"),
    [
        ("starts_with", "cf/", False, False),
        ("starts_with", "cf/", True, True),
        ("starts_with", "feature/", False, True),
        ("ends_with", "/1", False, False),
        ("contains", "f", True, True),
        ("regex", "^cf", True, True),
    ],
)
def test_a_pattern_is_read_as_its_rule_says(operator, pattern, negate, refuses):
    rule = BranchRule("branch_name_pattern", operator, pattern, negate)
    assert bool(list(refusing_all([rule]))) is refuses
    assert list(refusing_some([rule])) == []


def test_rules_that_cannot_be_read_are_no_problem(running):
    running.world.faults.answer(404, "rules_on")
    assert only(looked(running), "rules").health is Health.UNKNOWN
