"""What of a change is refused, protected or too much."""

import pytest
from msgspec.structs import replace

from bot.model.config import Config, Publish
from bot.worker.change.bundle import read_bundle
from bot.worker.change.judge import judge_change, limits_of, refusals
from bot.worker.change.patterns import matches
from bot.worker.programs.redact import Redactor
from tests.worker.change.workshop import FILE, FOLDER, LINK, MODULE


def test_an_agent_never_changes_what_it_may_do():
    nothing = Config(publish=Publish(protected=()))
    assert matches(".github/cf.yml", limits_of(nothing).protected)
    unreviewed = limits_of(replace(nothing, merge="auto")).protected
    for path in (".github/actions/build/action.yml", ".github/CODEOWNERS", "GEMINI.md", ".vscode/tasks.json"):
        assert matches(path, unreviewed)
        assert not matches(path, limits_of(nothing).protected)


def test_lock_files_need_a_person_where_nobody_reviews():
    assert "uv.lock" not in limits_of(Config()).protected
    assert {"uv.lock", "package-lock.json"} <= set(limits_of(Config(merge="auto")).protected)


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
