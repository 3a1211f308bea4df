"""Story: a real agent program, from a label to a merged pull request; `act` runs the shipped workflows, a stand-in is the model."""

import os
import subprocess
import sys

import pytest

from bot.worker.engines import engine
from tests.worker.engines.programs import KEY, PROVIDERS, folder, installed, stand_in

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

ISSUES = "- title: Write the file feature.txt\n  body: It says hello, and mended.txt says mended.\n"
# The first makes the agent work twice: what it says is fed back, and the stand-in knows that word.
GATES = [
    "tests=test -e mended.txt || { echo please ME''ND it; exit 1; }",
    "feature=grep -q hello feature.txt",
]


@pytest.mark.parametrize("name", ["claude-code", "codex", "mini-swe-agent"])
def test_from_a_label_to_a_merged_pull_request(tmp_path, name):
    assert installed("stand-in"), f"the agent programs are not in {folder()}: run `make engines`"
    repo = tmp_path / "mine"
    repo.mkdir()
    (repo / "README.md").write_text("# mine\n")
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*identity, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=repo, check=True)
    (tmp_path / "issues.yml").write_text(ISSUES)
    provider = PROVIDERS.get(name, "openai")
    with stand_in(tmp_path) as url:
        command = [sys.executable, "-P", "-m", "bot", "sandbox", "--repo", str(repo), "--engine", name]
        command += ["--issues", str(tmp_path / "issues.yml"), "--installed", "--model", f"{provider}/cf-edit"]
        command += ["--base-url", url + ("" if provider == "anthropic" else "/v1"), "--timeout", "8m"]
        command += [word for gate in GATES for word in ("--gate", gate)]
        environ = {
            **os.environ,
            "PATH": os.pathsep.join([str(folder() / name / "bin"), os.environ["PATH"]]),
            f"{provider.upper()}_API_KEY": KEY,
            "TMPDIR": str(tmp_path),
            "COLUMNS": "160",
        }
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=580)

    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert "merged" in told
    assert KEY not in told
    assert engine(name).version
