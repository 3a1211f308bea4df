"""The agents we can run, by name. Each is one module that describes a command and reads its outcome; it starts nothing."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from bot.model.config import EngineConfig
from bot.model.errors import UsageError
from bot.model.report import Outcome
from bot.worker.process import Ended

_MODULES = {"command": "bot.worker.engines.command"}
_RENAMED = {
    "react": "mini-swe-agent",
    "plan": "mini-swe-agent",
    "cloud": "any engine, with `runner` labels of the machines you want",
}


class Brief(Struct, frozen=True):
    """What one start of an agent is given. `feedback` is a file with what failed before, from the second round on."""

    workspace: Path
    prompt: Path
    question: Path
    summary: Path
    key: str
    task: int
    attempt: int
    model_key: str = ""
    feedback: Path | None = None


class Verdict(Struct, frozen=True):
    """How the agent's program ended: None when it simply finished, else an outcome and why."""

    outcome: Outcome | None
    reason: str = ""


class Engine(Protocol):
    """One agent."""

    can_continue: bool  # whether another start can take up where the last one ended

    def command(self, brief: Brief, config: EngineConfig) -> Sequence[str]:
        """The program and its arguments. Raises UsageError if the configuration does not say enough."""
        ...

    def environment(self, brief: Brief, config: EngineConfig) -> Mapping[str, str]:
        """The variables this agent may see besides path, home, language and terminal."""
        ...

    def verdict(self, ended: Ended) -> Verdict:
        """What a program that ended by itself says by how it ended."""
        ...


def engine(name: str) -> Engine:
    """The engine of this name. Raises UsageError naming those there are."""
    if name in _RENAMED:
        raise UsageError(f"engine {name!r} is from an earlier product: use {_RENAMED[name]}")
    if name not in _MODULES:
        raise UsageError(f"unknown engine {name!r}: it must be one of {', '.join(sorted(_MODULES))}")
    found: Engine = import_module(_MODULES[name]).ENGINE
    return found
