"""What the machine lacks is said in a sentence, before anything is started."""

import shutil
import sys

import pytest

from bot.cli import main


@pytest.mark.parametrize("package", ["rich", "starlette", "uvicorn", "graphql", "jinja2"])
def test_a_missing_extra_is_named(package, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["sandbox", "demo"]) == 2
    told = capsys.readouterr().err.strip()
    assert told == f"cf: the sandbox needs {package}: install it with `pip install 'cf-conductor[sandbox]'`"


def test_another_system_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert main(["sandbox", "demo"]) == 2
    assert "the sandbox needs Linux" in capsys.readouterr().err


def test_a_missing_git_is_named(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main(["sandbox", "demo"]) == 2
    assert capsys.readouterr().err.strip() == "cf: the sandbox needs git, and there is none on the PATH"
