"""The console command `cf`: finds the command, reads environment and clock, turns errors into sentences and exit codes.

Start here. Each command lives in the room it belongs to and is imported only when it is used, so that `cf --help` is quick.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from bot import __version__, printing
from bot.model.errors import BotError
from bot.notation.joblog import plain

Configure = Callable[[argparse.ArgumentParser], None]
Run = Callable[[argparse.Namespace, Mapping[str, str]], int]


@dataclass(frozen=True, slots=True)
class Command:
    """`module` defines `configure<suffix>` and `run<suffix>`."""

    help: str
    module: str
    suffix: str = ""

    def load(self) -> tuple[Configure, Run]:
        module = import_module(self.module)
        return getattr(module, f"configure{self.suffix}"), getattr(module, f"run{self.suffix}")


COMMANDS: Mapping[str, Command] = {
    "conduct": Command(
        "one tick: look at the repository, decide, start, settle, tell", "bot.conductor.command", "_conduct"
    ),
    "plan": Command(
        "what the next tick would decide about every task, without doing it", "bot.console.command", "_plan"
    ),
    "why": Command(
        "all that bears on one task: why it runs, waits or does not start", "bot.console.command", "_why"
    ),
    "batch": Command(
        "order many tasks at once; list, show, stop and resume such batches",
        "bot.console.command",
        "_batch",
    ),
    "doctor": Command("what is missing or wrong in a repository, and how to mend it", "bot.console.doctor"),
    "runs": Command("attempts, newest first: of all tasks, or of one", "bot.console.runs"),
    "stats": Command(
        "what each engine and category came to: passed, failed, time, tokens, cost", "bot.console.stats"
    ),
    "replay": Command(
        "decide once more from the record of a tick, and say whether it comes out the same",
        "bot.console.replay",
    ),
    "adopt": Command(
        "sign the records that are older than the secret CF_STATE_KEY, once", "bot.console.adopt"
    ),
    "init": Command(
        "put the workflows and a first configuration into a repository", "bot.console.init.install"
    ),
    "validate": Command("check a configuration file and say what is wrong with it", "bot.console.validate"),
    "sandbox": Command(
        "run everything on this machine with a make-believe GitHub; no account needed", "bot.sandbox.command"
    ),
    "work": Command(
        "inside an agent job: check the claim, run the agent, hand its work over",
        "bot.worker.command",
        "_work",
    ),
    "verify": Command(
        "inside a verify job: run the gates of one leg on the handed-over work",
        "bot.worker.command",
        "_verify",
    ),
    "publish": Command(
        "inside a publish job: push proven work, open its pull request, report",
        "bot.worker.command",
        "_publish",
    ),
    "wake": Command("start the conductor's workflow", "bot.worker.command", "_wake"),
}

_EPILOG = """\
Start with:  cf sandbox demo           watch issues become merged pull requests on this machine
Then:        docs/install.md           put the four workflows into a repository of yours
Exit codes:  0 done or nothing to do, 1 a person must mend something, 2 usage or configuration, 75 try later
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    printing.set_up()
    parser = _parser(words)
    args = parser.parse_args(words)
    if args.command is None:
        parser.print_help()
        return 2
    try:
        code: int = args.run(args, os.environ)
        printing.flush()
    except BotError as error:
        return _failed(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _failed("interrupted", 128 + signal.SIGINT)
    except BrokenPipeError:
        # Whoever read our output has had enough, as `head` has. What is still in the buffer is not tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 128 + signal.SIGPIPE
    except OSError as error:
        return _failed(f"this machine refuses: {error}", 1)
    return code


class _Parser(argparse.ArgumentParser):
    """A parser whose messages go through the door as all others: they may quote what was typed."""

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(plain(message), file)


def _failed(sentence: str, code: int) -> int:
    printing.complain(f"cf: {sentence}")
    return code


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Only the command that is asked for is imported and configured; the others show their one line."""
    parser = _Parser(
        prog="cf",
        description="A GitHub-native conductor for coding agents: issues in, verified pull requests out.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"cf {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    asked = next((word for word in words if not word.startswith("-")), None)
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name, help=command.help, description=f"{command.help[0].upper()}{command.help[1:]}."
        )
        if name == asked:
            configure, run = command.load()
            configure(sub)
            sub.set_defaults(run=run)
    return parser
