"""The agents we can run, by name. Each is one module that describes a program, its start and its stream; it starts nothing."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from bot.model.engine import ALIASES
from bot.model.errors import UsageError
from bot.model.report import Outcome
from bot.plan.facts.engines import engine_problem
from bot.worker.engines.facts import Facts
from bot.worker.programs.process import Ended


class AgentInput(Struct, frozen=True):
    """What one start of an agent is given.

    `home` is the agent's home folder, fresh for each attempt. `model`, `provider` and `base_url` are empty where the engine's own
    defaults hold; `args` and `env` are the configuration's. `feedback` is a file with what failed before, from the second round
    on; `session` is then what the program called the conversation that it is to go on with, if it said so.
    """

    workspace: Path
    home: Path
    prompt: Path
    question: Path
    summary: Path
    key: str
    task: int
    attempt: int
    model_key: str = ""
    model: str = ""
    provider: str = ""
    base_url: str = ""
    args: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    feedback: Path | None = None
    session: str = ""


class Call(Struct, frozen=True):
    """One start of a program: its command line, the variables it sees besides path, home, language and terminal, and its input.

    `settings` are files of its home (path in it -> text), written before its first start. Nothing of a task stands in any of
    these but in `given`, and in the files that they name.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    given: bytes | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


class Verdict(Struct, frozen=True):
    """How the agent's program ended: None when it simply finished, else an outcome and why. It never says that work is good.

    `retry_after` is how long the model's provider asks to wait (outcome `capacity`); None where it did not say. `provider` says
    that it is the provider who will not work.
    """

    outcome: Outcome | None
    reason: str = ""
    retry_after: timedelta | None = None
    provider: bool = False


class Engine(Protocol):
    """One agent. Everything it says or prints is untrusted; gates decide about its work."""

    version: (
        str  # of the program that is installed where the configuration names no other; empty where nothing is
    )
    install: Sequence[
        Sequence[str]
    ]  # commands that put it into the folder CF_ENGINE_PREFIX, its programs into `bin` there
    structured: bool  # whether its output is a stream of JSON, of which people are shown the steps only
    litter: Sequence[str]  # what it leaves in the workspace for itself, removed after each round
    can_continue: bool  # whether another start can take up where the last one ended

    def call(self, agent_input: AgentInput) -> Call:
        """The start. Raises UsageError if the configuration does not say enough, OSError if a file of the brief is gone."""
        ...

    def read(self, facts: Facts, line: str) -> Facts:
        """What is known after this line of output, a pure function. No line makes it raise."""
        ...

    def verdict(self, ended: Ended, facts: Facts) -> Verdict:
        """What a program that ended by itself says by how it ended and what it told."""
        ...


def engine(name: str) -> Engine:
    """The engine of this name. Raises UsageError naming those there are."""
    if problem := engine_problem(name):
        raise UsageError(problem)
    known = ALIASES.get(name, name).replace("-", "_")
    found: Engine = import_module(f"bot.worker.engines.{known}").ENGINE
    return found
