"""Pull requests on both gits: the one of dictionaries and a real bare repository."""

import os
import subprocess
from pathlib import Path

import pytest

from bot.sandbox.world import ApiError, BareGit, MemoryGit, World


def git(*arguments: str, cwd: Path) -> str:
    identity = {
        "GIT_AUTHOR_NAME": "m",
        "GIT_AUTHOR_EMAIL": "m@x",
        "GIT_COMMITTER_NAME": "m",
        "GIT_COMMITTER_EMAIL": "m@x",
    }
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(
        ["git", *arguments], cwd=cwd, env=clean | identity, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


class Repository:
    """The same few steps on either git."""

    def __init__(self, real: bool, folder: Path) -> None:
        self.work = folder / "work"
        if real:
            self.git: MemoryGit | BareGit = BareGit.create(folder / "bare.git")
            git("init", "-q", "-b", "main", str(self.work), cwd=folder)
            git("remote", "add", "origin", str(folder / "bare.git"), cwd=self.work)
            (self.work / "README.md").write_text("one\n")
            git("add", ".", cwd=self.work)
            git("commit", "-q", "-m", "first", cwd=self.work)
            git("push", "-q", "origin", "main", cwd=self.work)
        else:
            self.git = MemoryGit.of({"README.md": "one\n"})
        self.world = World(git=self.git)

    def push(self, branch: str, name: str, text: str, message: str = "work") -> str:
        if isinstance(self.git, MemoryGit):
            return self.world.push_files(branch, {name: text}, message)
        before = self.git.head(branch) or ""
        start = before or self.git.head("main") or ""
        git("fetch", "-q", "origin", cwd=self.work)
        git("checkout", "-q", "-B", branch, start, cwd=self.work)
        (self.work / name).write_text(text)
        git("add", ".", cwd=self.work)
        git("commit", "-q", "-m", message, cwd=self.work)
        git("push", "-q", "origin", branch, cwd=self.work)
        after = self.git.head(branch) or ""
        self.world.pushed(branch, before, after, "maintainer")
        return after


@pytest.fixture(params=[False, True], ids=["memory", "real"])
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> Repository:
    return Repository(request.param, tmp_path)


def test_files_are_read_by_branch_and_blob(repository):
    commit = repository.push("other", "notes.txt", "hello\n")

    for ref in ("other", commit):
        listing = repository.git.listing(ref, "")
        assert sorted(listing) == ["README.md", "notes.txt"]
        assert repository.git.blob(listing["notes.txt"]) == b"hello\n"
    assert repository.git.listing("nowhere", "") == {}
    assert repository.git.blob("0" * 40) is None
    assert repository.git.branches()["other"] == commit


def test_a_merge_closes_what_body_and_commits_name(repository):
    world = repository.world
    named, mentioned, by_commit = (world.open_issue(title) for title in ("named", "mentioned", "by commit"))
    repository.push("work", "a.txt", "a\n", f"Work\n\nFixes #{by_commit}")
    pull = world.open_pull("work", "work", f"Closes #{named}. See #{mentioned}.")

    merged = world.merge_pull(pull)

    assert repository.git.head("main") == merged
    assert repository.git.blob(repository.git.listing("main", "")["a.txt"]) == b"a\n"
    assert [world.issue(n).is_open for n in (named, mentioned, by_commit)] == [False, True, False]
    assert world.issue(named).events[-1].by_merge
    assert world.pull(pull).merged


def test_only_the_default_branch_closes(repository):
    world = repository.world
    named = world.open_issue("named")
    repository.push("release", "r.txt", "r\n")
    repository.push("work", "a.txt", "a\n", f"fixes #{named}")
    world.merge_pull(world.open_pull("work", "work", f"Closes #{named}", base="release"))

    assert world.issue(named).is_open


def test_a_conflict_cannot_be_merged(repository):
    world = repository.world
    repository.push("one", "README.md", "two\n")
    repository.push("main", "README.md", "three\n")
    pull = world.open_pull("one", "work")

    assert world.pulls.mergeable(world.pull(pull)) is False
    with pytest.raises(ApiError, check=lambda error: error.status == 405):
        world.merge_pull(pull)


def test_a_pull_request_follows_its_branch(repository):
    world = repository.world
    repository.push("work", "a.txt", "1\n")
    pull = world.open_pull("work", "work")

    second = repository.push("work", "a.txt", "2\n")

    assert world.pull(pull).head_sha == second
    assert "a.txt" in repository.git.diff(world.pull(pull).base_sha, second)
    with pytest.raises(ApiError, check=lambda error: error.status == 409):
        world.pulls.merge(world.pull(pull), world.token("maintainer"), head_sha="0" * 40)


def test_a_push_to_the_default_branch_merges_and_closes(repository):
    world = repository.world
    task, direct = world.open_issue("task"), world.open_issue("direct")
    head = repository.push("work", "a.txt", "1\n")
    pull = world.open_pull("work", "work", f"resolves #{task}")
    before = repository.git.head("main")
    repository.git.merge("main", head, f"by hand, closes #{direct}", world.accounts.get("maintainer"))
    world.pushed("main", before, repository.git.head("main"), "maintainer")

    assert world.pull(pull).merged
    assert not world.issue(task).is_open
    assert not world.issue(direct).is_open


def test_nothing_new_makes_no_pull_request(repository):
    with pytest.raises(ApiError, check=lambda error: error.status == 422):
        repository.world.open_pull("main", "nothing")


def test_a_branch_that_goes_closes_its_pull_request(repository):
    head = repository.push("work", "a.txt", "1\n")
    pull = repository.world.open_pull("work", "work")
    repository.git.delete_branch("work")
    repository.world.pushed("work", head, "", "maintainer")

    assert not repository.world.pull(pull).issue.is_open
    with pytest.raises(ApiError, check=lambda error: error.status == 422):
        repository.world.pulls.reopen(repository.world.pull(pull), repository.world.token("maintainer"))


def test_a_review_counts_until_its_author_takes_it_back(repository):
    world = repository.world
    repository.push("work", "a.txt", "1\n")
    number = world.open_pull("work", "work", by="github-actions[bot]")
    pull = world.pull(number)

    world.review(number, "CHANGES_REQUESTED", "no", by="stranger")
    assert world.pulls.changes_requested(pull) is None, "not a writer"
    world.review(number, "CHANGES_REQUESTED", "no")
    world.review(number, "COMMENTED", "and another thing")
    assert world.pulls.changes_requested(pull) is not None
    world.review(number, "APPROVED")
    assert world.pulls.changes_requested(pull) is None
