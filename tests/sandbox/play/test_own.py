"""Story: `cf sandbox --repo ...` as a user calls it: a process of its own, with a repository, issues and an agent of theirs."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

AGENT = """
case "$(head -1 "$CF_PROMPT_FILE")" in
  *"Write a line") echo "key: ${CF_MODEL_KEY:-none}"; echo line >> notes.txt ;;
  *"Never ready") exit 3 ;;
  *"Sleep") echo asleep >"${0%/*}/asleep"; sleep 600 ;;
esac
"""


class Place:
    """A repository with one commit, an issue list, and the command."""

    def __init__(self, folder):
        self.folder, self.repo, self.temp = folder, folder / "mine", folder / "temp"
        self.repo.mkdir()
        self.temp.mkdir()
        (self.repo / "notes.txt").write_text("first\n")
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "first")
        (folder / "agent.sh").write_text(AGENT)

    def git(self, *arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=self.repo, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def start(self, issues, *words, **environ):
        (self.folder / "issues.yml").write_text(issues)
        command = [
            sys.executable,
            "-P",
            "-m",
            "bot",
            "sandbox",
            "--repo",
            str(self.repo),
            "--engine",
            "command",
        ]
        command += [
            "--issues",
            str(self.folder / "issues.yml"),
            "--run",
            f"bash {self.folder}/agent.sh",
            *words,
        ]
        return subprocess.Popen(
            command,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "TMPDIR": str(self.temp), **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, issues, *words, **environ):
        process = self.start(issues, *words, **environ)
        out, error = process.communicate(timeout=250)
        return process.returncode, out, error

    def left(self):
        """What is still on disk and still running."""
        marked = str(self.temp).encode()
        alive = []
        for entry in os.scandir("/proc"):
            try:
                alive += [entry.name] if marked in Path(entry.path, "environ").read_bytes() else []
            except OSError:
                continue
        return [each.name for each in self.temp.iterdir() if each.name.startswith("cf-")], alive


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_an_issue_becomes_a_merged_pull_request_and_the_repository_is_not_touched(place):
    before = place.git("rev-parse", "HEAD"), place.git("for-each-ref"), place.git("status", "--porcelain")
    code, out, error = place.run(
        "- title: Write a line\n",
        "--gate",
        "notes=grep -q line notes.txt",
        "--keep",
        CF_MODEL_KEY="s3cret-model-key",
    )
    assert code == 0, out + error
    assert "#1 done → merged" in out
    assert "1: passed" in out
    assert (
        place.git("rev-parse", "HEAD"),
        place.git("for-each-ref"),
        place.git("status", "--porcelain"),
    ) == before
    (kept,) = [line.removeprefix("kept: ") for line in out.splitlines() if line.startswith("kept: ")]
    bare = f"{kept}/sandbox/mine.git"
    shown = subprocess.run(
        ["git", "--git-dir", bare, "show", "main:notes.txt"], capture_output=True, text=True, check=True
    )
    assert shown.stdout == "first\nline\n"
    logs = "".join(path.read_text() for path in (place.temp / kept / "logs").rglob("*.log"))
    assert "[#1] key: " in logs
    assert "s3cret-model-key" not in logs + out + error


def test_act_01_without_a_gate_no_verify_job_runs_and_nothing_has_passed(place):
    code, out, error = place.run("- title: Write a line\n", "--merge", "none")
    assert code == 1, out + error
    assert "#1 / agent: success" in out
    assert "#1 / publish: success" in out
    assert "#1 / verify" not in out
    assert "ended: success" in out
    assert "1: unverified" in out
    assert "#1 in-progress → blocked (unverified: no gate has proven it: review draft #3)" in out
    assert "passed" not in out


def test_what_does_not_end_well_is_accounted_for(place):
    place.git("commit", "--quiet", "--allow-empty", "--message", "second")
    (place.repo / ".github").mkdir()
    (place.repo / ".github/cf.yml").write_text("retry: {max_attempts: 1}\ngates: [{name: ok, run: 'true'}]\n")
    place.git("add", ".")
    place.git("commit", "--quiet", "--message", "configuration")
    code, out, error = place.run("- title: Never ready\n- title: Behind it\n  needs: [1]\n")
    assert code == 1
    assert "Not as it should be:" in error
    assert "- #1 Never ready: failed; " in error
    assert "- #2 Behind it: ready; waits for #1" in error
    assert "t1 --> t2" in out
    assert place.left() == ([], [])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_request_to_end_ends_everything_that_was_started(place, number):
    os.mkfifo(place.folder / "asleep")
    process = place.start("- title: Sleep\n")
    # Opening it waits for the agent to open it, too.
    assert (place.folder / "asleep").read_text() == "asleep\n"
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130, out + error
    assert "began: #1" in out
    assert "ended on request" in error
    assert place.left() == ([], [])
