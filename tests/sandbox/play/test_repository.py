"""The repository a sandbox begins with: the user's own is only read, and the workflows are those that are shipped."""

import subprocess

import pytest
import yaml

from bot.model.errors import UsageError
from bot.sandbox.play.repository import WORKFLOWS, Wishes, from_repository
from tests.packaging.rules import ROOT

pytestmark = pytest.mark.e2e

COMMAND = {"args": "./agent.sh"}
WISHES = Wishes("command", COMMAND, (("tests", "make test"),))
OURS = tuple(f".github/workflows/{name}" for name in WORKFLOWS)


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "trunk")
    return folder


def commit(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", "work")


def prepare(tmp_path, source, wishes=WISHES):
    return from_repository(source, tmp_path / "bare.git", tmp_path / "scratch", wishes)


def test_the_committed_state_is_taken_and_the_repository_stays_as_it_was(tmp_path, source):
    commit(source, {"a": "committed\n"})
    (source / "a").write_text("not committed\n")
    (source / "new").write_text("not known\n")
    before = (
        git(source, "rev-parse", "HEAD"),
        git(source, "status", "--porcelain"),
        git(source, "for-each-ref"),
    )
    prepared = prepare(tmp_path, source)
    assert (
        git(source, "rev-parse", "HEAD"),
        git(source, "status", "--porcelain"),
        git(source, "for-each-ref"),
    ) == before
    listing = prepared.git.listing("trunk", "")
    assert prepared.git.default_branch == "trunk"
    assert prepared.git.blob(listing["a"]) == b"committed\n"
    assert "new" not in listing
    assert not (tmp_path / "scratch").exists()


def test_the_workflows_are_the_shipped_ones_to_the_byte(tmp_path, source):
    commit(source, {"a": "a"})
    prepared = prepare(tmp_path, source)
    listing = prepared.git.listing("trunk", ".github/workflows")
    assert sorted(listing) == sorted(OURS)
    for path, blob in listing.items():
        assert prepared.git.blob(blob) == (ROOT / "workflows-templates" / path.rsplit("/", 1)[1]).read_bytes()


def test_its_own_workflows_are_named_and_its_ignored_files_do_not_hide_ours(tmp_path, source):
    commit(source, {".github/workflows/ci.yml": "on: push\njobs: {}\n", ".gitignore": ".github\n"})
    prepared = prepare(tmp_path, source)
    assert prepared.foreign == ("ci.yml",)
    assert set(OURS) < set(prepared.git.listing("trunk", ".github/workflows"))


def test_its_own_configuration_stays_but_for_what_is_asked(tmp_path, source):
    own = "version: 1\nmax_parallel: 2\ngates: [{name: lint, run: make lint}]\nengines: {command: {args: other, env: {A: b}}}\n"
    commit(source, {".github/cf.yml": own})
    config = prepare(tmp_path, source, Wishes("command", COMMAND)).config
    assert config.max_parallel == 2
    assert [gate.name for gate in config.gates] == ["lint"]
    assert (config.engines["command"].args, dict(config.engines["command"].env)) == ("./agent.sh", {"A": "b"})


def test_gates_of_the_command_line_take_the_place_of_its_own(tmp_path, source):
    commit(source, {".github/cf.yml": "gates: [{name: lint, run: make lint}]\n"})
    prepared = prepare(tmp_path, source, Wishes("command", COMMAND, (("one", "true"), ("two", "false")), 3))
    assert [(gate.name, gate.run) for gate in prepared.config.gates] == [("one", "true"), ("two", "false")]
    assert prepared.config.max_parallel == 3
    listing = prepared.git.listing("trunk", ".github")
    stored = yaml.safe_load(prepared.git.blob(listing[".github/cf.yml"]) or b"")
    assert stored["gates"] == [{"name": "one", "run": "true"}, {"name": "two", "run": "false"}]


def test_a_detached_head_gets_a_branch(tmp_path, source):
    commit(source, {"a": "one"})
    git(source, "checkout", "--quiet", "--detach")
    assert prepare(tmp_path, source).git.default_branch == "main"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gats: []\n", r"^\.github/cf\.yml, line 1: unknown key 'gats'; did you mean 'gates'\?$"),
        (
            "gates: [{name: t, run: x, os: [windows-latest]}]\n",
            r"^\.github/cf\.yml: the sandbox has no system 'windows-latest', only ubuntu-latest, ",
        ),
        ("runner: [macos-latest]\n", r"the sandbox has no system 'macos-latest'"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_named(tmp_path, source, text, message):
    commit(source, {".github/cf.yml": text})
    with pytest.raises(UsageError, match=message):
        prepare(tmp_path, source, Wishes("command", COMMAND))


def test_what_is_no_repository_is_said(tmp_path, source):
    with pytest.raises(
        UsageError, match=r"mine: has no commit yet; the sandbox takes the committed state of HEAD$"
    ):
        prepare(tmp_path, source)
    with pytest.raises(UsageError, match=r"none: there is no such folder$"):
        prepare(tmp_path, tmp_path / "none")
    (tmp_path / "plain").mkdir()
    with pytest.raises(
        UsageError, match=r"plain: is not a git repository; make it one with `git init`, and commit$"
    ):
        prepare(tmp_path, tmp_path / "plain")


def test_a_shallow_clone_is_refused(tmp_path, source):
    commit(source, {"a": "one"})
    commit(source, {"a": "two"})
    git(tmp_path, "clone", "--quiet", "--depth", "1", source.as_uri(), "shallow")
    with pytest.raises(UsageError, match="is a shallow clone"):
        prepare(tmp_path, tmp_path / "shallow")
