"""AGT-18 and AGT-21: work goes nowhere but where it should, and a machine that is used again shows no trace of it."""

import subprocess
import threading
from argparse import Namespace
from pathlib import Path

import pytest

import bot.github.client
import bot.worker.programs.hide_secrets
import bot.worker.programs.process
from bot.model.report import Outcome
from bot.worker import command
from bot.worker.change.git import Git, GitFailed
from bot.worker.job import isolation
from tests.worker.bench import GATE, Bench, config_text, git

APART = f"isolation: worktree\n{GATE}"


def test_agt_18_two_agents_side_by_side_on_one_checkout(tmp_path):
    benches = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        benches.append(Bench(tmp_path / name, config=config_text("who", more=APART)))
    checkout = tmp_path / "checkout"
    git(tmp_path, "clone", "-q", str(benches[0].origin), str(checkout))
    before = git(checkout, "config", "--local", "--list")
    threads = [
        threading.Thread(target=bench.work, kwargs={"GITHUB_WORKSPACE": str(checkout)}) for bench in benches
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for bench in benches:
        tree = bench.context.temp / "cf-tree-1"
        assert (tree / "who.txt").read_text() == str(tree)
        assert git(tree, "config", "--local", "user.name") == str(tree)
        assert bench.kept().outcome is Outcome.UNVERIFIED
        assert bench.kept().files_changed == 1
    assert git(checkout, "status", "--porcelain", "--ignored") == ""
    assert git(checkout, "config", "--local", "--list") == before
    assert git(checkout, "branch", "--list") == "* main"


@pytest.mark.parametrize("trouble", ["clone fails", "elsewhere"])
def test_agt_18_isolation_is_proved_or_the_run_fails(bench, monkeypatch, trouble):
    """There is no falling back to the shared folder."""
    setup = bench(config=config_text("edit", more=APART))
    if trouble == "clone fails":
        called = Git.call

        def call(self, *arguments, **more):
            if arguments[0] == "clone" and "--no-checkout" in arguments:
                raise GitFailed("git clone failed (exited, exit 128): disk full")
            return called(self, *arguments, **more)

        monkeypatch.setattr(Git, "call", call)
    else:
        monkeypatch.setattr(Git, "text", _lie_about_the_folder(Git.text))

    worked = setup.work()

    assert worked.report.outcome is Outcome.INFRA
    assert ("disk full" if trouble == "clone fails" else "not isolated") in worked.report.reason
    assert not list(setup.context.temp.rglob("feature.py"))


def _lie_about_the_folder(text):
    def lying(self, *arguments, **more):
        return "/somewhere" if "--show-toplevel" in arguments else text(self, *arguments, **more)

    return lying


def test_agt_18_work_apart_is_verified_and_published_like_any_other(bench):
    setup = bench(config=config_text("edit", more=APART))

    report = setup.through()

    assert report.outcome is Outcome.PASSED
    assert setup.files(report.head) == {"feature.py"}


def test_agt_21_a_dirty_machine_starts_clean(bench):
    setup = bench("edit")
    environ = setup.environ

    def dirty(job: str = "agent", **more: str):
        found = environ(job, **more)
        script = "echo stray > stray; mkdir ro __pycache__; touch ro/file __pycache__/x; chmod 555 ro; echo changed > README.md"
        subprocess.run(["bash", "-c", script], cwd=found["GITHUB_WORKSPACE"], check=True)
        return found

    setup.environ = dirty

    report = setup.through()

    assert report.outcome is Outcome.PASSED
    assert setup.files(report.head) == {"feature.py"}


def test_agt_18_without_a_repository_of_its_own_a_job_ends_red(bench):
    """There is no fallback to a shared folder."""
    setup = bench("edit")
    environ = setup.environ
    setup.environ = lambda job="agent", **more: _without_git(environ(job, **more))

    worked = setup.work()

    assert worked.report.outcome is Outcome.INFRA
    assert "git" in worked.report.reason


def _without_git(environ: dict[str, str]) -> dict[str, str]:
    subprocess.run(["rm", "-rf", ".git"], cwd=environ["GITHUB_WORKSPACE"], check=True)
    return environ


@pytest.mark.parametrize("more", [GATE, APART, f"{GATE}\nhooks: {{after_task_success: 'true'}}"])
def test_agt_21_a_machine_of_ones_own_is_left_clean(bench, monkeypatch, more):
    monkeypatch.setattr(bot.worker.programs.process, "adopt_orphans", lambda: True)
    monkeypatch.setattr(bot.worker.programs.hide_secrets, "take_secrets", dict)
    setup = bench(config=config_text("edit", "sabotage", more=more))
    monkeypatch.setattr(bot.github.client, "connect", lambda environ: setup.github)
    environ = setup.environ(RUNNER_ENVIRONMENT="self-hosted")
    before = {path.name for path in Path(environ["RUNNER_TEMP"]).iterdir()}

    assert command.run_work(Namespace(after=False), environ) == 0
    if "hooks" in more:
        assert command.run_work(Namespace(after=True), environ) == 0

    left = {path.name for path in Path(environ["RUNNER_TEMP"]).iterdir()}
    assert left - before == {"cf-work", "output"}
    assert list(Path(environ["GITHUB_WORKSPACE"]).iterdir()) == []


def test_wiping_follows_no_link_and_minds_no_protection(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(outside)
    (inside / "ro").mkdir()
    (inside / "ro" / "file").touch()
    (inside / "ro").chmod(0o555)

    isolation.wipe(inside)
    isolation.wipe(tmp_path / "absent")

    assert not inside.exists()
    assert (outside / "kept").exists()
