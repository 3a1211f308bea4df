"""git itself against the sandbox: clones, pushes, and who may."""

import base64
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.sandbox.http.server import Served, serve
from bot.sandbox.world import BOT, BareGit, World
from bot.sandbox.world.errors import ApiError
from bot.sandbox.world.push_rules import BRANCH_NAME, CREATION, PATH, SIGNATURES, PushRule

pytestmark = pytest.mark.e2e


@dataclass
class Place:
    world: World
    served: Served
    folder: Path
    protected: bool = False

    def git(self, *arguments: str, who: str = "maintainer", fails: bool = False) -> str:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        environment = clean | {
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_GLOBAL": os.devnull,
            **{
                f"GIT_{role}_{part}": "someone"
                for role in ("AUTHOR", "COMMITTER")
                for part in ("NAME", "EMAIL")
            },
        }
        if who:
            basic = base64.b64encode(f"x-access-token:{self.world.token(who).value}".encode()).decode()
            environment |= {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "http.extraHeader",
                "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
            }
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode != 0) is fails, done.stderr
        return done.stdout.strip() + done.stderr.strip()

    def clone(self, name: str, who: str = "maintainer") -> None:
        self.git("clone", "-q", f"{self.served.url}/acme/shop", name, who=who)

    def commit(self, name: str, branch: str, file: str, message: str = "work") -> None:
        self.git("-C", name, "checkout", "-q", "-B", branch)
        (self.folder / name / file).write_text(f"{file}\n")
        self.git("-C", name, "add", ".")
        self.git("-C", name, "commit", "-q", "-m", message)


@pytest.fixture(params=[False, True], ids=["open", "protected"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    world = World(git=BareGit.create(tmp_path / "shop.git"))
    with serve(world) as served:
        first = Place(world, served, tmp_path)
        first.git("init", "-q", "-b", "main", "seed")
        first.commit("seed", "main", "README.md")
        first.git("-C", "seed", "push", "-q", f"{served.url}/acme/shop.git", "main")
    with serve(world, protected=request.param) as served:
        yield Place(world, served, tmp_path, request.param)


def test_a_push_makes_and_moves_a_pull_request(place):
    place.clone("work")
    place.commit("work", "cf/1", "a.txt")
    place.git("-C", "work", "push", "-q", "origin", "cf/1", who=BOT.login)
    pull = place.world.open_pull("cf/1", "work", by=BOT)
    place.commit("work", "cf/1", "b.txt")

    place.git("-C", "work", "push", "-q", "origin", "cf/1", who=BOT.login)

    assert place.world.pull(pull).head_sha == place.git("-C", "work", "rev-parse", "HEAD")
    assert place.world.runs() == (), "what a default token pushes starts nothing"
    place.world.merge_pull(pull)
    place.git("-C", "work", "fetch", "-q", "origin")
    assert "Merge pull request" in place.git("-C", "work", "log", "-1", "--format=%B", "origin/main")


def test_a_token_without_contents_write_cannot_push(place):
    place.world.accounts.run_token(0, {"contents": "read"}, "reader")
    place.clone("work", who="run-0-reader")
    place.commit("work", "cf/1", "a.txt")

    said = place.git("-C", "work", "push", "-q", "origin", "cf/1", who="run-0-reader", fails=True)

    assert "403" in said
    assert place.world.git.head("cf/1") is None


def test_a_public_repository_is_cloned_without_a_token_and_not_pushed_to(place):
    place.clone("work", who="")
    place.commit("work", "cf/1", "a.txt")
    place.git("-C", "work", "push", "-q", "origin", "cf/1", who="", fails=True)
    assert place.world.git.head("cf/1") is None


def test_the_default_branch_may_be_protected(place):
    task = place.world.open_issue("task")
    place.clone("work")
    place.commit("work", "main", "a.txt", f"fixes #{task}")

    place.git("-C", "work", "push", "-q", "origin", "main", fails=place.protected)

    assert place.world.issue(task).is_open is place.protected


def test_the_depth_of_one_commit_by_its_id(place):
    head = place.world.git.head("main")
    place.git("init", "-q", "shallow")
    place.git("-C", "shallow", "fetch", "-q", "--depth", "1", f"{place.served.url}/acme/shop", head)
    assert place.git("-C", "shallow", "rev-parse", "FETCH_HEAD") == head


CHANGES = {
    "added on the branch": ("work", "cf/1", ".github/workflows/other.yml"),
    "added on main": ("desk", "main", ".github/workflows/other.yml"),
    "changed on main": ("desk", "main", ".github/workflows/ci.yml"),
    "nothing": ("work", "cf/1", "b.txt"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    ("who", "permissions"),
    [
        ("run-0", {"contents": "write"}),
        ("app-cf", {"contents": "write"}),
        ("app-cf", {"contents": "write", "workflows": "write"}),
        ("maintainer", None),
    ],
)
def test_workflow_files_are_those_of_the_default_branch_unless_the_token_may_write_them(
    tmp_path, who, permissions, change
):
    """Whatever the pushed commits touch: what counts is how the branch and the default branch differ at that moment."""
    world = World(git=BareGit.create(tmp_path / "shop.git"))
    if who == "run-0":
        world.accounts.run_token(0, permissions)
    elif permissions:
        world.accounts.app_token("cf", permissions)
    with serve(world) as served:
        place = Place(world, served, tmp_path)
        place.git("init", "-q", "-b", "main", "desk")
        place.git("-C", "desk", "remote", "add", "origin", f"{served.url}/acme/shop")
        (tmp_path / "desk/.github/workflows").mkdir(parents=True)
        place.commit("desk", "main", ".github/workflows/ci.yml")
        place.git("-C", "desk", "push", "-q", "origin", "main")
        place.git("clone", "-q", f"{served.url}/acme/shop", "work")
        place.commit("work", "cf/1", "a.txt")
        folder, branch, file = CHANGES[change]
        (tmp_path / folder / file).write_text("on: push\n")
        place.git("-C", folder, "checkout", "-q", "-B", branch)
        place.git("-C", folder, "add", ".")
        place.git("-C", folder, "commit", "-q", "-m", "a workflow")
        if folder == "desk":
            place.git("-C", "desk", "push", "-q", "origin", "main")
        free = who == "maintainer" or "workflows" in (permissions or {}) or change == "nothing"

        said = place.git("-C", "work", "push", "-q", "origin", "cf/1", who=who, fails=not free)

    assert ("refusing to allow a GitHub App to create or update workflow `.github/" in said) is not free
    assert (world.git.head("cf/1") is not None) is free


def test_a_person_presses_update_branch(place):
    place.clone("work")
    place.commit("work", "cf/1", "a.txt")
    place.git("-C", "work", "push", "-q", "origin", "cf/1")
    pull = place.world.open_pull("cf/1", "work")
    before = place.world.pull(pull).head_sha
    with pytest.raises(ApiError, match="no new commits"):
        place.world.update_branch(pull)
    place.git("-C", "work", "checkout", "-q", "--detach", "origin/main")
    place.commit("work", "side", "c.txt")
    place.git("-C", "work", "push", "-q", "origin", "side")
    base = place.world.git.merge("main", place.world.git.head("side"), "elsewhere", BOT)

    after = place.world.update_branch(pull)

    parents = place.git("-C", str(place.world.git.path), "rev-list", "--parents", "-1", after).split()[1:]
    assert parents == [before, base]
    assert place.world.pull(pull).head_sha == after == place.world.git.head("cf/1")


@pytest.mark.parametrize(
    ("rule", "sentence", "broken_by"),
    [
        (PushRule(SIGNATURES), "- Commits must have verified signatures.", "commit"),
        (
            PushRule(BRANCH_NAME, "^feature/"),
            "- Branch name must match a given regex pattern: ^feature/",
            "cf/1",
        ),
        (PushRule(PATH, "*.txt"), "- File path is restricted: *.txt", "a.txt"),
        (
            PushRule(CREATION, branches="cf/*"),
            "- Cannot create ref due to creations being restricted.",
            "cf/1",
        ),
    ],
    ids=["signatures", "names", "paths", "creation"],
)
def test_a_rule_refuses_a_push_in_githubs_words_until_it_is_lifted(place, rule, sentence, broken_by):
    place.world.push_rules.demand(rule)
    place.clone("work")
    place.commit("work", "cf/1", "a.txt")

    said = place.git("-C", "work", "push", "origin", "cf/1", fails=True)

    assert "remote: error: GH013: Repository rule violations found for refs/heads/cf/1." in said
    assert f"remote: {sentence}" in said
    head = place.git("-C", "work", "rev-parse", "HEAD")
    assert f"remote:   {head if broken_by == 'commit' else broken_by}" in said
    assert "[remote rejected]" in said
    assert place.world.git.head("cf/1") is None
    place.world.push_rules.lift()
    place.git("-C", "work", "push", "-q", "origin", "cf/1")
    assert place.world.git.head("cf/1") == head


def test_a_rule_holds_where_it_says_and_a_branch_may_go(place):
    place.world.push_rules.demand(PushRule(SIGNATURES, branches="release/*"))
    place.clone("work")
    place.commit("work", "cf/1", "a.txt")
    place.git("-C", "work", "push", "-q", "origin", "cf/1")
    place.world.push_rules.demand(PushRule(SIGNATURES))
    place.git("-C", "work", "push", "-q", "origin", "--delete", "cf/1")
    assert place.world.git.head("cf/1") is None
