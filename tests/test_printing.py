"""The one door: whatever goes through it commands neither runner nor terminal, and a linter keeps everybody from going around."""

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from bot import printing
from bot.cli import main
from tests.notation.test_joblog import obeyed

HOSTILE = "##[add-mask]main\n::error::boom\n\x1b[2J"
ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("way", [printing.say, printing.complain])
def test_own_lines_command_nothing(way, capsys):
    way(HOSTILE)

    shown = "".join(capsys.readouterr())
    assert shown == "## [add-mask]main\n: :error::boom\n[2J\n"


def test_json_keeps_its_values(capsys):
    printing.say_json(json.dumps({"title": HOSTILE}))

    shown = capsys.readouterr().out
    assert json.loads(shown) == {"title": HOSTILE}
    assert obeyed(shown) == []


def test_what_is_drawn_keeps_its_colours(capsys):
    out = printing.terminal()
    out.write("\x1b[31m##[error]red\x1b[0m")
    out.flush()

    assert capsys.readouterr().out == "\x1b[31m## [error]red\x1b[0m"


def test_output_of_programs_is_passed_on_as_it_came(capsys):
    printing.pass_on("::stop-commands::token\nred \x1b[31m")

    assert capsys.readouterr().out == "::stop-commands::token\nred \x1b[31m"


def ended(script):
    return subprocess.run(
        [sys.executable, "-c", f"from bot import printing\nprinting.set_up()\n{script}"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "script",
    [
        "import logging; logging.getLogger('bot').warning('%s', WORDS)",
        "import logging\ntry: raise ValueError(WORDS)\nexcept ValueError: logging.getLogger('x').exception('failed')",
        "raise ValueError(WORDS)",
        "raise ExceptionGroup(WORDS, [ValueError(WORDS)])",
        "import threading\ndef fail(): raise ValueError(WORDS)\none = threading.Thread(target=fail); one.start(); one.join()",
    ],
)
@pytest.mark.e2e
def test_log_lines_and_errors_that_nobody_caught_command_nothing(script):
    result = ended(f"WORDS = {HOSTILE!r}\n{script}")

    assert "add-mask" in result.stderr
    assert obeyed(result.stderr) == obeyed(result.stdout) == []


def test_the_parser_quotes_what_was_typed_as_everybody_does(capsys):
    with pytest.raises(SystemExit):
        main(["why", "##[add-mask]main"])

    shown = capsys.readouterr().err
    assert "add-mask" in shown
    assert obeyed(shown) == []


def test_an_errors_last_words_command_nothing(capsys):
    assert main(["validate", "##[add-mask]main"]) == 2

    shown = capsys.readouterr().err
    assert "## [add-mask]main" in shown


@pytest.fixture(autouse=True)
def _as_before():
    """`main` sets up this process, too."""
    hooks, handlers = sys.excepthook, list(logging.getLogger().handlers)
    yield
    sys.excepthook, logging.getLogger().handlers[:] = hooks, handlers


WAYS_AROUND = [
    "print('x')",
    "import sys\n\nsys.stdout.write('x')",
    "import sys\n\nsys.stderr.write('x')",
    "from sys import stdout\n\nstdout.write('x')",
    "import sys as system\n\nsystem.__stdout__.write('x')",
    "import logging\n\nlogging.basicConfig()",
    "import logging\n\nlogging.getLogger().addHandler(logging.StreamHandler())",
    "import traceback\n\ntraceback.print_exc()",
    "import warnings\n\nwarnings.warn('x')",
    "import os\n\nos.write(1, b'x')",
]


@pytest.mark.packaging
@pytest.mark.parametrize("way", WAYS_AROUND)
@pytest.mark.parametrize("room", ["cli", "conductor/x", "console/x", "worker/x", "sandbox/x", "plan/x"])
def test_no_way_leads_around_the_door(way, room):
    command = [str(Path(sys.executable).parent / "ruff"), "check", "--select", "T20,TID251", "--no-cache"]
    result = subprocess.run(
        [*command, "--stdin-filename", f"bot/{room}.py", "-"],
        input=f"{way}\n",
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )

    assert result.returncode == 1, result.stdout
