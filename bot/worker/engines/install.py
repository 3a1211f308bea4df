"""An engine's program put onto the machine: a pinned version, in a folder of this job, by commands of ours or the configuration."""

import os
import shlex
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from bot.model.config import EngineConfig
from bot.worker.engines import Engine
from bot.worker.programs.gates import GateRunner, Trouble, trouble_of

INSTALL_TIMEOUT = timedelta(minutes=10)
_TAIL = 3_000


def install(engine: Engine, config: EngineConfig, prefix: Path, runner: GateRunner) -> Trouble | None:
    """Run the engine's own step, or the configuration's in its place; the first failure, or None.

    The commands see no token and no key, and run in that folder: a checkout may hold settings of npm or uv. Both are told by
    their variables to put everything below it.
    """
    own = [shlex.join(command) for command in engine.install]
    places = {
        "CF_ENGINE_PREFIX": str(prefix),
        "NPM_CONFIG_PREFIX": str(prefix),
        "NPM_CONFIG_CACHE": str(prefix / "cache"),
        "UV_TOOL_DIR": str(prefix / "tools"),
        "UV_TOOL_BIN_DIR": str(prefix / "bin"),
    }
    room = replace(runner, folder=prefix, environment={**runner.environment, **places})
    for command in own if config.install is None else config.install:
        ended = room.bash(command, INSTALL_TIMEOUT)
        if not ended.ok:
            return trouble_of("the engine cannot be installed", command, ended, runner, _TAIL)
    return None


def with_tools(path: str, prefix: Path) -> str:
    """The search path on which the installed program is found first."""
    return os.pathsep.join([str(prefix / "bin"), path])


def write_settings(home: Path, settings: Mapping[str, str]) -> None:
    """Files of a fresh home folder. Raises OSError."""
    for name, text in settings.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
