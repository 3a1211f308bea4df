"""What lies about and git cannot take decides nothing: it is left out and named, and the rest is published."""

import pytest

from bot.model.report import Outcome
from tests.worker.bench import config_text, git

IDENTITY = "-c user.name=a -c user.email=a@example.com"
COMMITTED = f"git init -q examples/demo; git -C examples/demo {IDENTITY} commit -q --allow-empty -m x"
ODD = {
    "a repository without a commit": ("git init -q examples/demo", "examples/demo (a repository of its own)"),
    "a repository with one": (COMMITTED, "examples/demo (a repository of its own)"),
    "a clone": ("git clone -q . vendor/lib", "vendor/lib (a repository of its own)"),
    "a work tree": ("git worktree add -q .worktrees/x", ".worktrees/x (a repository of its own)"),
    "a broken link to a repository": ("mkdir lib; echo x > lib/f; echo gitdir: /nowhere > lib/.git", "lib/.git (git's own folder)"),
    "a folder called .git": ("mkdir -p lib/.git; echo x > lib/f", "lib/.git (git's own folder)"),
    "a pipe": ("mkfifo run.pipe", "run.pipe (a pipe)"),
    "a socket": ('python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(chr(115))"', "s (a socket)"),
    "a name that git refuses": ("mkdir -p a/.GIT; echo x > a/.GIT/config", "a/.GIT/config (a name that git refuses)"),
    "another such name": ("mkdir git~1; echo x > git~1/f", "git~1/f (a name that git refuses)"),
    "a repository in a repository": (
        f"{COMMITTED}; git clone -q examples/demo examples/demo/in",
        "examples/demo (a repository of its own)",
    ),
    "a link to the commit of another": (
        f"git init -q m; git -C m {IDENTITY} commit -q --allow-empty -m x; git add m; git {IDENTITY} commit -qm link",
        "m (a repository of its own)",
    ),
}  # fmt: skip


def agent(line: str) -> str:
    return config_text("edit").replace("args: '", "args: '" + line.replace("'", "''") + "; ")


@pytest.mark.parametrize("name", ODD)
def test_good_work_beside_it_is_published_and_the_path_is_named(bench, name):
    line, named = ODD[name]
    setup = bench(config=agent(line))

    report = setup.through()

    assert report.outcome is Outcome.PASSED, report.reason
    assert report.left_behind == (named,)
    assert f"left out, because git cannot take it: {named}" in report.reason
    assert named.partition(" (")[0] in setup.world.pull(report.pull).issue.body
    assert "feature.py" in setup.files(report.head)
    assert setup.files(report.head) <= {"feature.py", "lib/f"}


def test_a_path_that_is_too_long_is_named_too(bench):
    deep = "import os\nd = os.open('.', 0)\n"
    deep += "for _ in range(25):\n os.mkdir('d' * 200, dir_fd=d)\n d = os.open('d' * 200, 0, dir_fd=d)\n"
    setup = bench(config=agent("python3 ../deep.py"))
    (setup.folder / "agent-cf-1-1").mkdir()
    environ = setup.environ

    def with_script(*args, **more):
        found = environ(*args, **more)
        (setup.folder / "agent-cf-1-1" / "deep.py").write_text(deep)
        return found

    setup.environ = with_script

    report = setup.through()

    assert report.outcome is Outcome.PASSED, report.reason
    assert "(a path that is too long)" in report.reason
    assert setup.files(report.head) == {"feature.py"}


def test_many_odd_things_at_once_are_all_named_and_a_sentence_stays_one(bench):
    line = "for n in $(seq 30); do git init -q demo$n; mkfifo pipe$n; done"
    report = (setup := bench(config=agent(line))).through()

    assert report.outcome is Outcome.PASSED
    assert len(report.left_behind) == 51
    assert report.left_behind[-1] == "and 10 more"
    assert report.reason.count("demo") + report.reason.count("pipe") == 10
    assert setup.files(report.head) == {"feature.py"}


def test_what_was_tracked_in_its_place_stays_as_it_was(bench):
    """A folder of the work replaced by a clone, and a file by a pipe."""
    line = "rm -rf lib; git clone -q . lib; rm note.txt; mkfifo note.txt"
    setup = bench(config=agent(line), files={"lib/a.py": "a\n", "lib/b/c.py": "c\n", "note.txt": "n\n"})

    report = setup.through()

    assert report.outcome is Outcome.PASSED, report.reason
    assert {one.partition(" (")[0] for one in report.left_behind} == {"lib", "note.txt"}
    assert setup.files(report.head) == {"feature.py"}


def test_a_submodule_stays_at_its_commit(bench):
    setup = bench(
        config=agent(f"rm -rf sub; git init -q sub; git -C sub {IDENTITY} commit -q --allow-empty -m x")
    )
    head = setup.git.head("main")
    git(setup.desk, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    git(setup.desk, "commit", "-qm", "a submodule")
    git(setup.desk, "push", "-q", "origin", "HEAD:refs/heads/main")

    report = setup.through()

    assert report.outcome is Outcome.PASSED, report.reason
    assert report.left_behind == ("sub (a repository of its own)",)
    assert setup.files(report.head) == {"feature.py"}


def test_nothing_but_odd_things_is_no_change_and_says_why(bench):
    report = bench(config=config_text().replace("args: '", "args: 'git init -q demo; true ")).through()

    assert report.outcome is Outcome.NO_CHANGES
    assert report.reason == "left out, because git cannot take it: demo (a repository of its own)"


def test_what_set_up_leaves_and_what_is_ignored_is_not_named(bench):
    text = agent("mkfifo build/pipe") + "setup: ['git init -q demo; mkfifo pipe; mkdir -p build']\n"
    setup = bench(config=text, files={".gitignore": "build/\n"})

    report = setup.through()

    assert (report.outcome, report.left_behind) == (Outcome.PASSED, ())


def test_a_question_and_corrections_survive_it_as_well(bench):
    text = config_text("ask", "edit").replace("args: '", "args: 'git init -q demo; ")
    report = bench(config=text).through()

    assert (report.outcome, report.left_behind) == (Outcome.BLOCKED, ("demo (a repository of its own)",))
    assert report.head
