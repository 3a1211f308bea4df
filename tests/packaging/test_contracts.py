"""The import contracts hold, and each is seen to find the import it forbids."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.rules import ROOT

pytestmark = pytest.mark.packaging

SEEDS = [
    ("bot/plan/__init__.py", "import bot.conductor", "Imports point down"),
    ("bot/conductor/__init__.py", "import bot.worker", "Imports point down"),
    ("bot/github/__init__.py", "import bot.plan", "Imports point down"),
    ("bot/extra/__init__.py", "", "Imports point down"),
    ("bot/plan/__init__.py", "import os", "Rooms without windows"),
    ("bot/notation/__init__.py", "import httpx", "Rooms without windows"),
    ("bot/model/__init__.py", "import time", "Rooms without windows"),
    ("bot/plan/__init__.py", "import logging", "Rooms without windows"),
    ("bot/worker/__init__.py", "import githubkit", "Only bot.github"),
    ("bot/conductor/__init__.py", "import subprocess", "Conductor and console start no programs"),
    ("bot/console/doctor.py", "import subprocess", "Conductor and console start no programs"),
    ("bot/conductor/tick.py", "import bot.console", "Imports point down"),
    ("bot/notation/marker.py", "import bot.printing", "Imports point down"),
    ("bot/plan/graph/order.py", "import bot.plan.board", "Inside the rules"),
    ("bot/plan/facts/trust.py", "import bot.plan.starts.starts", "Inside the rules"),
    ("bot/plan/extra.py", "", "Inside the rules"),
    ("bot/worker/programs/gates.py", "import bot.worker.change.git", "Inside the worker"),
    ("bot/conductor/observe/runs.py", "import bot.conductor.act", "Inside the tick"),
    ("bot/worker/publish/proof.py", "import bot.worker.engines", "Publish and verify never load"),
    ("bot/worker/verify.py", "import bot.worker.prompt.gather", "Publish and verify never load"),
    ("bot/worker/job/claim.py", "import bot.worker.prompt.packing", "Publish and verify never load"),
    ("bot/sandbox/http/graphql/cost.py", "import bot.sandbox.http.api", "No circle anywhere"),
]


@pytest.fixture
def checked(tmp_path):
    """Checks a copy of the package, so that a seed hurts nobody."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "bot", tmp_path / "bot", ignore=shutil.ignore_patterns("__pycache__"))

    def checked():
        return subprocess.run(
            [Path(sys.executable).parent / "lint-imports", "--no-cache"],
            cwd=tmp_path,
            env={"PATH": os.defpath, "PYTHONPATH": str(tmp_path), "COLUMNS": "200", "LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return checked


def test_every_contract_is_kept(checked):
    result = checked()

    assert result.returncode == 0, result.stdout
    assert "0 broken" in result.stdout


@pytest.mark.parametrize(("file", "line", "contract"), SEEDS)
def test_a_forbidden_import_is_found(file, line, contract, checked, tmp_path):
    seeded = tmp_path / file
    seeded.parent.mkdir(exist_ok=True)
    before = seeded.read_text(encoding="utf-8") if seeded.exists() else ""
    seeded.write_text(f"{before}\n{line}\n", encoding="utf-8")

    result = checked()

    assert result.returncode == 1
    assert any(line.startswith(contract) and "BROKEN" in line for line in result.stdout.splitlines()), (
        result.stdout
    )


def test_every_module_says_in_one_sentence_what_it_is():
    """Architecture: no module that a newcomer could not describe in one sentence, and no two with the same one."""
    sentences = {}
    for path in sorted((ROOT / "bot").rglob("*.py")):
        if ROOT / "bot/sandbox/demo/project" in path.parents:
            continue  # somebody else's repository
        words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        sentences[str(path.relative_to(ROOT))] = words.split("\n\n")[0].split(". ")[0]

    assert [path for path, sentence in sentences.items() if len(sentence.split()) < 4] == []
    assert len(set(sentences.values())) == len(sentences)


@pytest.mark.parametrize(
    ("room", "most"), [("plan", 14), ("conductor", 10), ("console", 14), ("worker", 10), ("sandbox", 6)]
)
def test_a_room_has_few_doors(room, most):
    """Whoever opens a room sees what is in it at one look: modules and rooms at its top."""
    inside = [
        path
        for path in (ROOT / "bot" / room).iterdir()
        if (path.suffix == ".py" and path.name != "__init__.py") or (path / "__init__.py").exists()
    ]

    assert 0 < len(inside) <= most, sorted(path.name for path in inside)
