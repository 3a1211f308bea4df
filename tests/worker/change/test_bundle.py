"""Hostile bundles: whatever the agent's machine kept, only one commit of ours, of harmless entries, gets into a repository."""

import os
import shutil
import subprocess
import zlib
from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path

import pytest

from bot.model.config import Publish
from bot.notation.keys import Key
from bot.worker.change import bundle
from bot.worker.change.bundle import Unfit, read_bundle, write_bundle
from bot.worker.change.git import IDENTITY, Git
from bot.worker.change.judge import judge_change, refusals
from bot.worker.change.starting_point import message
from bot.worker.programs.redact import Redactor

pytestmark = pytest.mark.e2e

FILE, FOLDER, LINK, MODULE = "100644", "40000", "120000", "160000"
Entry = tuple[str, str, str]  # mode, name, object


class Workshop:
    """A repository that everybody has (`here`), and one in which anything can be made (`there`)."""

    def __init__(self, folder: Path, base: str = "") -> None:
        environ = {"PATH": os.environ["PATH"]}
        self.here, self.there = (Git(folder / name, environ) for name in ("here", "there"))
        self.file = folder / "work.bundle"
        self.base = base
        self.text = "ce013625030ba8dba906f756967f9e9ca394464a"  # hello

    @classmethod
    def create(cls, folder: Path) -> "Workshop":
        for name in ("here", "there"):
            subprocess.run(["git", "init", "-q", "--bare", "--template=", name], cwd=folder, check=True)
        shop = cls(folder)
        assert shop.blob(b"hello\n") == shop.text
        shop.base = shop.commit(shop.tree((FILE, "README.md", shop.text)), [], words="base")
        shop.share("main", shop.base)
        return shop

    def share(self, branch: str, commit: str) -> None:
        """Everybody has it."""
        self.there.call("update-ref", f"refs/heads/{branch}", commit)
        self.here.call("fetch", "-q", str(self.there.folder), f"+refs/heads/{branch}:refs/heads/{branch}")

    def blob(self, data: bytes) -> str:
        return self.there.text("hash-object", "-w", "--stdin", given=data)

    def tree(self, *entries: Entry) -> str:
        """A tree with exactly these entries, however wrong: written as an object file, because git itself would refuse."""
        entries = tuple(sorted(entries, key=lambda entry: entry[1] + "/" * (entry[0] == FOLDER)))
        body = b"".join(
            f"{mode} {name}\0".encode("utf-8", "surrogateescape") + bytes.fromhex(blob)
            for mode, name, blob in entries
        )
        data = f"tree {len(body)}\0".encode() + body
        name = sha1(data, usedforsecurity=False).hexdigest()
        context = self.there.folder / "objects" / name[:2] / name[2:]
        context.parent.mkdir(exist_ok=True)
        if not context.exists():
            context.write_bytes(zlib.compress(data))
        return name

    def commit(
        self, tree: str, parents: Sequence[str], *, words: str = message(Key(1, 1)), who: str = ""
    ) -> str:
        flags = [part for parent in parents for part in ("-p", parent)]
        identity = {name: who or value for name, value in IDENTITY.items()}
        return self.there.call(
            "commit-tree", tree, *flags, "-F", "-", given=words.encode(), extra=identity
        ).output.strip()

    def work(self, *entries: Entry) -> str:
        """A commit of ours on the base with these entries beside the README."""
        return self.commit(self.tree((FILE, "README.md", self.text), *entries), [self.base])

    def bundle(self, commit: str) -> Path:
        write_bundle(self.there, commit, (self.base,), self.file)
        return self.file

    def refs(self) -> str:
        return self.here.text("for-each-ref", "--format=%(refname)")

    def refused(self) -> str:
        """Why the reader does not take the bundle; afterwards the repository must be as before."""
        with pytest.raises(Unfit) as caught:
            read_bundle(self.here, self.file, 1)
        assert self.refs() == "refs/heads/main"
        return str(caught.value)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    return Workshop.create(tmp_path_factory.mktemp("first"))


@pytest.fixture
def shop(first, tmp_path):
    for git in (first.here, first.there):
        shutil.copytree(git.folder, tmp_path / git.folder.name)
    return Workshop(tmp_path, first.base)


def test_what_our_hand_over_makes_is_taken(shop):
    commit = shop.work((FILE, "a file.txt", shop.text))

    assert read_bundle(shop.here, shop.bundle(commit), 1) == commit
    assert shop.here.text("rev-parse", "refs/cf/work") == commit
    assert read_bundle(shop.here, shop.file, 1) == commit


def test_a_commit_with_two_parents_is_taken(shop):
    other = shop.commit(shop.tree((FILE, "other", shop.text)), [], words="other")
    shop.share("other", other)
    commit = shop.commit(shop.tree((FILE, "new", shop.text)), [other, shop.base])
    write_bundle(shop.there, commit, (other, shop.base), shop.file)

    assert read_bundle(shop.here, shop.file, 1) == commit


def test_several_commits_are_refused(shop):
    first = shop.work((FILE, "one", shop.text))
    second = shop.commit(shop.tree((FILE, "two", shop.text)), [first])
    shop.bundle(second)

    assert "not one commit on top" in shop.refused()


def test_a_commit_without_any_parent_is_refused(shop):
    write_bundle(shop.there, shop.commit(shop.tree((FILE, "a", shop.text)), []), (), shop.file)

    assert "not one commit on top" in shop.refused()


@pytest.mark.parametrize("refs", [["refs/heads/main2"], ["refs/heads/work", "refs/tags/v1"], ["HEAD"]])
def test_other_branches_and_tags_are_refused(shop, refs):
    commit = shop.work((FILE, "a", shop.text))
    for ref in refs:
        if ref != "HEAD":
            shop.there.call("update-ref", ref, commit)
    shop.there.call("update-ref", "--no-deref", "HEAD", commit)
    shop.there.call("bundle", "create", "-q", str(shop.file), *refs, f"^{shop.base}")

    assert "other branches than its own" in shop.refused()


@pytest.mark.parametrize(
    "data", [b"", b"# v2 git bundle\n", b"# v3 git bundle\n\n", b"# v2 git bundle\n../../x\n\n", b"\0" * 999]
)
def test_what_is_no_bundle_is_refused(shop, data):
    shop.file.write_bytes(data)

    assert "no git bundle" in shop.refused()


def test_a_pack_cut_off_is_refused(shop):
    shop.bundle(shop.work((FILE, "a", shop.text)))
    shop.file.write_bytes(shop.file.read_bytes()[:-30])

    assert "git refuses the kept work" in shop.refused()


def test_a_bundle_that_names_a_commit_it_does_not_hold_is_refused(shop):
    shop.bundle(shop.work((FILE, "a", shop.text)))
    honest, lie = shop.there.text("rev-parse", "refs/heads/work"), "b" * 40
    shop.file.write_bytes(shop.file.read_bytes().replace(honest.encode(), lie.encode()))

    assert "git refuses the kept work" in shop.refused()


def test_commits_that_the_repository_does_not_have_are_named(shop):
    stranger = shop.commit(shop.tree((FILE, "x", shop.text)), [shop.base], words="stranger")
    commit = shop.commit(shop.tree((FILE, "y", shop.text)), [stranger])
    write_bundle(shop.there, commit, (stranger,), shop.file)

    assert shop.refused().endswith(f"does not have any more, {stranger}")


@pytest.mark.parametrize(
    "change", [{"who": "evil@example.com"}, {"words": "Closes #21"}, {"words": message(Key(2, 1))}]
)
def test_a_commit_that_is_not_of_our_making_is_refused(shop, change):
    shop.bundle(shop.commit(shop.tree((FILE, "a", shop.text)), [shop.base], **change))

    assert "not of our making" in shop.refused()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (".git", "hasDotgit"),
        (".GIT", "hasDotgit"),
        (".g\u200cit", "hasDotgit"),
        ("git~1", "hasDotgit"),
        (".git ", "hasDotgit"),
        ("..", "hasDotdot"),
        (".", "hasDot"),
        ("a/b", "fullPathname"),
        ("/etc", "fullPathname"),
    ],
)
def test_entries_that_reach_out_of_the_tree_are_refused_by_git(shop, name, words):
    """Absolute, upwards, or what some file system takes for `.git`."""
    shop.bundle(shop.work((FILE, name, shop.text)))

    assert words in shop.refused()


def test_such_folders_are_refused_at_any_depth(shop):
    hooks = shop.tree((FILE, "pre-commit", shop.text))
    inner = shop.tree((FOLDER, ".giT", hooks))
    shop.bundle(shop.work((FOLDER, "deep", inner)))

    assert "hasDotgit" in shop.refused()


def test_odd_modes_are_refused_by_git(shop):
    shop.bundle(shop.work(("0100644", "a", shop.text)))

    assert "zeroPaddedFilemode" in shop.refused()


def test_a_file_that_takes_more_memory_than_it_should_is_refused(shop, monkeypatch):
    """A delta of a few bytes can ask for gigabytes."""
    monkeypatch.setattr(bundle, "_MEMORY", "1m")
    shop.bundle(shop.work((FILE, "zeros", shop.blob(bytes(4_000_000)))))

    assert "git refuses the kept work" in shop.refused()


def test_a_bundle_that_is_too_large_is_not_even_read(shop, monkeypatch):
    monkeypatch.setattr(bundle, "LARGEST", 100)
    shop.bundle(shop.work((FILE, "a", shop.blob(os.urandom(200)))))

    assert shop.refused().endswith("and at most 100 are looked at")


# What git takes, and we do not.

LIMITS = Publish(max_files=3, max_bytes=1000)


@pytest.mark.parametrize(
    ("mode", "name", "content", "words"),
    [
        (MODULE, "inner", None, "a nested repository at inner"),
        (LINK, "up", b"../../etc/passwd", "a symbolic link that leaves the repository at up"),
        (LINK, "root", b"/etc/passwd", "a symbolic link that leaves"),
        (LINK, "hook", b".git/hooks/pre-commit", "a symbolic link that leaves"),
        (LINK, "hook", b"a/../.GIT::$INDEX_ALLOCATION/config", "a symbolic link that leaves"),
        (LINK, "hook", b"GIT~1/config", "a symbolic link that leaves"),
        (LINK, "windows", b"..\\..\\x", "a symbolic link that leaves"),
        (FILE, "a\\.git\\config", b"x", "a path into a repository's own folder"),
        (FILE, ".git::$INDEX_ALLOCATION", b"x", "a path into a repository's own folder"),
        (FILE, "zeros", bytes(1001), "1001 bytes in changed files, and publish.max_bytes is 1000"),
        (FOLDER, ".cf", b"x", "a file of ours at .cf/file"),
    ],
)
def test_what_git_takes_and_we_do_not(shop, mode, name, content, words):
    blob = "c" * 40 if content is None else shop.blob(content)
    entry = (FOLDER, name, shop.tree((FILE, "file", blob))) if mode == FOLDER else (mode, name, blob)
    commit = shop.work(entry)

    (refused,) = refusals(shop.there, shop.base, commit, LIMITS)
    assert words in refused
    _, findings = judge_change(shop.there, shop.base, commit, LIMITS, Redactor([]), exceptions=(name,))
    assert findings.refused == (refused,)
    assert findings.exceptions == ()


def test_too_many_files_are_counted(shop):
    many = [(FILE, f"f{number}", shop.text) for number in range(4)]

    (refused,) = refusals(shop.there, shop.base, shop.work(*many), LIMITS)
    assert refused == "4 files changed, and publish.max_files is 3"


def test_links_and_names_inside_the_tree_are_fine(shop):
    commit = shop.work(
        (LINK, "link", shop.blob(b"README.md")), (FILE, ".gitignore", shop.text), (FILE, "x.git", shop.text)
    )

    assert refusals(shop.there, shop.base, commit, LIMITS) == ()
    assert read_bundle(shop.here, shop.bundle(commit), 1) == commit


def test_an_exception_is_one_path_and_no_pattern(shop):
    """An order lets through what its notice lists, also where a name looks like a pattern."""
    folder = shop.tree((FILE, "*", shop.text), (FILE, "ci.yml", shop.text))
    workflows = shop.tree((FOLDER, "workflows", folder))
    commit = shop.work((FOLDER, ".github", workflows))

    _, all_of_it = judge_change(shop.there, shop.base, commit, Publish(), Redactor([]))
    _, one = judge_change(shop.there, shop.base, commit, Publish(), Redactor([]), (".github/workflows/*",))

    assert all_of_it.exceptions == (".github/workflows/*", ".github/workflows/ci.yml")
    assert one.protected == (".github/workflows/ci.yml",)
