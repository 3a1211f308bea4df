"""`cf validate`: what the conductor would say about a configuration file, without asking GitHub."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from bot.model.config import CONFIG_PATH
from bot.model.errors import UsageError
from bot.notation.config import read_config


def configure(parser: argparse.ArgumentParser) -> None:
    """The argument of `cf validate`."""
    parser.add_argument(
        "file", nargs="?", default=CONFIG_PATH, help=f"the file to check (default: {CONFIG_PATH})"
    )


def run(args: argparse.Namespace, environ: Mapping[str, str]) -> int:  # noqa: ARG001 - every command has this shape
    """0 if the file is valid. Raises UsageError with file, line and mend."""
    path = Path(args.file)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    config = read_config(text)
    gates = ", ".join(gate.name for gate in config.gates) or "none: work will be unverified"
    print(
        f"{path} is valid. engine: {config.engine}; gates: {gates}; at most {config.max_parallel} at a time"
    )
    return 0
