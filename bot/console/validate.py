"""`cf validate`: what the conductor would say about a configuration file, without asking GitHub; or the file's JSON Schema."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from bot.model.config import CONFIG_PATH
from bot.model.engine import RepositorySettings
from bot.model.errors import UsageError
from bot.notation.config import config_schema, read_config
from bot.plan.facts.engines import choose_engine
from bot.printing import say, say_json


def configure(parser: argparse.ArgumentParser) -> None:
    """The argument of `cf validate`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "  cf validate --schema >cf.schema.json\n"
        "  cf validate && git commit -m 'Configure cf' .github/cf.yml\n\n"
        "Needs no token and no network. exit code: 0 valid, 2 not, with file, line, key and what would be right"
    )
    parser.add_argument(
        "file", nargs="?", default=CONFIG_PATH, help=f"the file to check (default: {CONFIG_PATH})"
    )
    parser.add_argument(
        "--schema",
        action="store_true",
        help="print the JSON Schema of the file, which editors complete it by",
    )


def run(args: argparse.Namespace, environ: Mapping[str, str]) -> int:  # noqa: ARG001 - every command has this shape
    """0 if the file is valid. Raises UsageError with file, line and mend."""
    if args.schema:
        say_json(json.dumps(config_schema(), indent=1, ensure_ascii=False))
        return 0
    path = Path(args.file)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: cannot be read: it is not UTF-8") from error
    config = read_config(text, file=str(path))
    gates = ", ".join(gate.name for gate in config.gates) or "none: work will be unverified"
    say(f"{path} is valid. engine: {config.engine}; gates: {gates}; at most {config.max_parallel} at a time")
    for warning in config.warnings:
        say(warning)
    if problem := choose_engine(config, (), RepositorySettings()).problem:
        say(f"but nothing would start: {problem}")
    return 0
