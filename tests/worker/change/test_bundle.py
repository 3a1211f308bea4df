"""Hostile bundles: whatever the agent's machine kept, only one commit of ours, of harmless entries, gets into a repository."""

import os

import pytest

from bot.notation.keys import Key
from bot.worker.change import bundle
from bot.worker.change.bundle import read_bundle, write_bundle
from bot.worker.change.starting_point import message
from tests.worker.change.workshop import FILE, FOLDER


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
