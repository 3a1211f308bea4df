"""The real agent programs, each by its engine's own pinned step, and the stand-in for a model: into `.engines` (or CF_ENGINES).

What is there already stays. Run `python -m scripts.install_engines`, or `make engines`, which then asks the programs.
"""

import os
import sys
from pathlib import Path

from bot.model.config import EngineConfig
from bot.model.engine import COMMAND, ENGINES
from bot.worker.engines import engine
from bot.worker.engines.install import install
from bot.worker.programs.environment import gate_environment
from bot.worker.programs.gates import GateRunner
from bot.worker.programs.redact import Redactor
from tests.worker.engines.programs import MOCK, folder


def main() -> int:
    """0 if all of them are there."""
    trouble = ""
    for name in sorted(set(ENGINES) - {COMMAND}):
        trouble = trouble or put(name, EngineConfig())
    trouble = trouble or put(
        "stand-in", EngineConfig(install=(f"npm install --global --no-audit --no-fund {MOCK}",))
    )
    if trouble:
        print(trouble, file=sys.stderr)
    return 1 if trouble else 0


def put(name: str, config: EngineConfig) -> str:
    """Install one; the words of a failure, or nothing."""
    prefix = folder() / name
    if (prefix / "bin").is_dir():
        return ""
    prefix.mkdir(parents=True)
    shop = GateRunner(Path.cwd(), gate_environment(os.environ), Redactor([]), sys.stderr.write, f"[{name}] ")
    trouble = install(engine(COMMAND if name == "stand-in" else name), config, prefix, shop)
    return trouble.words if trouble else ""


if __name__ == "__main__":
    sys.exit(main())
