"""Three linters by other people agree that what we ship is right, and each is seen to find the fault it is there for."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.rules import ACTION, ROOT, TEMPLATES, shipped

pytestmark = pytest.mark.packaging

BIN = Path(sys.executable).parent
PIN = "a" * 40
# Right in every linter's eyes; each fault below is one change to it.
GOOD = f"""\
name: good
on:
  workflow_dispatch:
permissions: {{}}
concurrency:
  group: good
  cancel-in-progress: false
jobs:
  first:
    name: first
    permissions:
      contents: read # to check out
    runs-on: ubuntu-latest
    timeout-minutes: 5
    steps:
      - name: Check out
        uses: actions/checkout@{PIN} # v6.0.1
        with:
          persist-credentials: false
      - name: Greet
        run: echo "$TITLE"
        env:
          TITLE: ${{{{ github.event.issue.title }}}}
  second:
    name: second
    permissions: {{}}
    needs: first
    runs-on: ubuntu-latest
    timeout-minutes: 5
    steps:
      - name: Greet
        run: echo "well done"
"""


def run(tool, *arguments, cwd):
    """A linter of this environment, with this environment's shellcheck and nobody's settings."""
    surroundings = {
        "PATH": f"{BIN}{os.pathsep}{os.defpath}",
        "HOME": str(cwd),
        "XDG_CACHE_HOME": str(cwd / ".cache"),
        "XDG_CONFIG_HOME": str(cwd / ".config"),
        "LANG": "C.UTF-8",
    }
    return subprocess.run(
        [BIN / tool, *arguments],
        cwd=cwd,
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def zizmor(*files, cwd):
    options = ["--offline", "--no-progress", "--strict-collection", "--persona=pedantic"]
    return run("zizmor", *options, "--config", ROOT / "zizmor.yml", *files, cwd=cwd)


def actionlint(*files, cwd):
    return run("actionlint", "-no-color", *files, cwd=cwd)


def act(file, *, cwd):
    """The schema first, then the graph of jobs, which only listing builds."""
    result = run("act", "--validate", "--strict", "-W", file, cwd=cwd)
    return run("act", "--list", "--strict", "-W", file, cwd=cwd) if result.returncode == 0 else result


def said(result):
    return result.stdout + result.stderr


@pytest.fixture
def installed(tmp_path):
    """A repository with our templates where `cf init` puts them, so that one workflow's call of another is seen."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    workflows = tmp_path / ".github" / "workflows"
    workflows.mkdir(parents=True)
    for template in TEMPLATES.glob("*.yml"):
        shutil.copy(template, workflows)
    return tmp_path


@pytest.fixture
def workflow(tmp_path):
    """Writes a workflow into a repository of its own and returns its path."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    place = tmp_path / ".github" / "workflows" / "w.yml"
    place.parent.mkdir(parents=True)

    def write(text):
        place.write_text(text, encoding="utf-8")
        return place

    return write


class TestShipped:
    def test_zizmor_has_nothing_to_say(self, tmp_path):
        result = zizmor(*shipped(), cwd=tmp_path)

        assert result.returncode == 0, said(result)

    def test_actionlint_has_nothing_to_say(self, installed):
        workflows = sorted((installed / ".github" / "workflows").glob("*.yml"))
        assert workflows
        result = actionlint(*workflows, cwd=installed)

        assert (result.returncode, said(result)) == (0, "")

    @pytest.mark.parametrize(
        "path", [path for path in shipped() if path != ACTION], ids=lambda path: path.name
    )
    def test_act_can_read_it(self, path, tmp_path):
        result = act(path, cwd=tmp_path)

        assert result.returncode == 0, said(result)

    @pytest.mark.parametrize(
        ("schema", "files"),
        [
            ("vendor.github-workflows", [path for path in shipped() if path != ACTION]),
            ("vendor.github-actions", [ACTION]),
        ],
    )
    def test_it_fits_the_published_schema(self, schema, files, tmp_path):
        result = run("check-jsonschema", "--builtin-schema", schema, *files, cwd=tmp_path)

        assert result.returncode == 0, said(result)

    def test_hadolint_has_nothing_to_say_about_the_image(self, tmp_path):
        result = run("hadolint", ROOT / "Dockerfile", cwd=tmp_path)

        assert (result.returncode, said(result)) == (0, "")


class TestFaults:
    def test_the_good_workflow_passes_everywhere(self, workflow, tmp_path):
        path = workflow(GOOD)

        results = [zizmor(path, cwd=tmp_path), actionlint(path, cwd=tmp_path), act(path, cwd=tmp_path)]

        assert [result.returncode for result in results] == [0, 0, 0], [said(result) for result in results]

    @pytest.mark.parametrize(
        ("right", "wrong", "audit"),
        [
            (f"checkout@{PIN} # v6.0.1", "checkout@v6", "unpinned-uses"),
            ('"$TITLE"', '"${{ github.event.issue.title }}"', "template-injection"),
            ("        with:\n          persist-credentials: false\n", "", "artipacked"),
            ("  workflow_dispatch:", "  pull_request_target:", "dangerous-triggers"),
            ("permissions: {}\nconcurrency", "permissions: write-all\nconcurrency", "excessive-permissions"),
        ],
    )
    def test_zizmor_finds_it(self, right, wrong, audit, workflow, tmp_path):
        assert right in GOOD

        result = zizmor(workflow(GOOD.replace(right, wrong)), cwd=tmp_path)

        assert result.returncode != 0
        assert audit in said(result)

    def test_zizmor_refuses_what_it_cannot_read(self, workflow, tmp_path):
        """Without --strict-collection a broken file would be a warning, and unchecked."""
        result = zizmor(workflow(GOOD.replace("runs-on:", "run-on:")), cwd=tmp_path)

        assert result.returncode != 0

    @pytest.mark.parametrize(
        ("right", "wrong", "message"),
        [
            ("needs: first", "needs: frist", "frist"),
            ('"$TITLE"', '"${{ github.event.issue.title }}"', "potentially untrusted"),
            ('echo "$TITLE"', "echo $TITLE", "SC2086"),
            ("timeout-minutes: 5", "timeout: 5", "timeout"),
        ],
    )
    def test_actionlint_finds_it(self, right, wrong, message, workflow, tmp_path):
        assert right in GOOD

        result = actionlint(workflow(GOOD.replace(right, wrong)), cwd=tmp_path)

        assert result.returncode == 1
        assert message in said(result)

    @pytest.mark.parametrize(
        ("right", "wrong"),
        [
            ("needs: first", "needs: frist"),
            ("timeout-minutes: 5", "timeout: 5"),
            ("    steps:", "    stepps:"),
        ],
    )
    def test_act_finds_it(self, right, wrong, workflow, tmp_path):
        assert right in GOOD

        result = act(workflow(GOOD.replace(right, wrong)), cwd=tmp_path)

        assert result.returncode != 0, said(result)

    def test_actionlint_sees_a_call_that_does_not_fit(self, installed):
        """The worker's call is checked against the task workflow it calls: a renamed input is found."""
        called = installed / ".github" / "workflows" / "cf-task.yml"
        text = called.read_text(encoding="utf-8")
        assert "      unit:" in text
        called.write_text(text.replace("      unit:", "      units:", 1), encoding="utf-8")

        result = actionlint(installed / ".github" / "workflows" / "cf-worker.yml", cwd=installed)

        assert result.returncode == 1
        assert "unit" in said(result)

    def test_hadolint_finds_it(self, tmp_path):
        (tmp_path / "Dockerfile").write_text('FROM python:latest\nENTRYPOINT ["cf"]\n', encoding="utf-8")

        result = run("hadolint", "Dockerfile", cwd=tmp_path)

        assert result.returncode != 0
        assert "DL3007" in said(result)
