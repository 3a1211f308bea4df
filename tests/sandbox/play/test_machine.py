"""What the machine lacks is said in a sentence, before anything is started."""

import shutil
import socket
import sys

import pytest

from bot.cli import main


@pytest.mark.parametrize("package", ["rich", "starlette", "uvicorn", "graphql"])
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


@pytest.mark.e2e
def test_a_port_that_is_taken_is_named(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["sandbox", "demo", "--port", str(port)]) == 2
    assert capsys.readouterr().err.strip() == f"cf: --port {port}: cannot be used: Address already in use"
