"""`cf init`: put the four workflows and a first configuration into a repository's work tree."""

import argparse
import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from bot.console.init.detect import Proposal
from bot.model.config import CONFIG_PATH, Config
from bot.model.engine import COMMAND, ENGINES, RepositorySettings
from bot.model.errors import UsageError
from bot.printing import say

_WORKFLOWS = ".github/workflows"
_SCHEMA = "https://raw.githubusercontent.com/cf-conductor/cf-conductor/main/docs/cf.schema.json"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `cf init`."""
    parser.add_argument(
        "folder", nargs="?", default=".", help="the repository's work tree (default: this folder)"
    )
    parser.add_argument(
        "--agent", default="", metavar="CMD", help="the agent's command line, run by bash in the checkout"
    )
    parser.add_argument(
        "--engine", choices=sorted(ENGINES), default=None, help="which agent works (default: mini-swe-agent)"
    )
    parser.add_argument(
        "--model", default="", metavar="NAME", help="its model, such as anthropic/claude-sonnet-4-5"
    )
    parser.add_argument(
        "--force", action="store_true", help="replace workflows of ours that were changed here"
    )


def run(args: argparse.Namespace, environ: Mapping[str, str]) -> int:  # noqa: ARG001 - every command has this shape
    """Write what is missing; a configuration that exists is never touched. Raises UsageError naming file and mend."""
    root = Path(args.folder)
    if not (root / ".git").exists():
        raise UsageError(
            f"{root}: not the top of a git repository (it has no .git); name the folder, or run git init"
        )
    if args.agent and (args.engine not in (None, COMMAND) or args.model):
        raise UsageError("--agent: is a command line for the engine command; leave out --engine and --model")
    engine = args.engine or (COMMAND if args.agent else Config().engine)
    own = {**({"args": args.agent} if args.agent else {}), **({"model": args.model} if args.model else {})}
    said = [*install_workflows(root, force=args.force), *install_config(root, engine, own)]
    say("\n".join([*said, *_next_steps(root)]))
    return 0


def install_workflows(root: Path, *, force: bool) -> Iterator[str]:
    """Copy the templates. A file that differs from ours is somebody's change and is kept, unless `force`."""
    folder = root / _WORKFLOWS
    templates = [
        entry for entry in files("bot").joinpath("templates").iterdir() if entry.name.endswith(".yml")
    ]
    for template in sorted(templates, key=lambda entry: entry.name):
        path, text = folder / template.name, template.read_text(encoding="utf-8")
        if path.is_symlink():
            raise UsageError(f"{path}: is a symbolic link; remove it first")
        before = path.read_text(encoding="utf-8") if path.is_file() else None
        if before == text:
            yield f"kept     {_WORKFLOWS}/{template.name}"
        elif before is not None and not force:
            yield f"KEPT     {_WORKFLOWS}/{template.name} differs from ours; --force replaces it"
        else:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            yield f"{'replaced' if before is not None else 'wrote   '} {_WORKFLOWS}/{template.name}"


def install_config(root: Path, engine: str, own: Mapping[str, str]) -> Iterator[str]:
    """Write a first configuration from what the repository's files suggest."""
    path = root / CONFIG_PATH
    if path.exists():
        yield f"kept     {CONFIG_PATH}"
        if engine != Config().engine or own:
            yield "         the options say nothing to a file that exists: change engine and model in it"
        return
    from bot.console.init.detect import detect
    from bot.notation.config import read_config

    setup, gates = detect(root)
    text = config_text(engine, own, setup, gates)
    read_config(text)  # what we write we can read
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    yield f"wrote    {CONFIG_PATH} with {len(gates)} gate{'' if len(gates) == 1 else 's'}"
    if not gates:
        yield "         no gates were recognised: work stays unverified until you add one"


def config_text(
    engine: str, own: Mapping[str, str], setup: tuple[str, ...], gates: tuple[Proposal, ...]
) -> str:
    """The file's text; `own` stands under the engine's name. JSON strings are YAML strings, so any text is written safely."""
    lines = [
        f"# yaml-language-server: $schema={_SCHEMA}",
        "# What every key means: docs/configuration.md of cf-conductor. `cf validate` checks this file.",
        "version: 1",
        f"engine: {engine}",
    ]
    if own:
        lines += ["engines:", f"  {engine}:"]
        lines += [f"    {key}: {json.dumps(value)}" for key, value in own.items()]
    lines += ["setup:" if setup else "setup: []", *(f"  - {json.dumps(command)}" for command in setup)]
    lines += ["gates:" if gates else "gates: []"]
    lines += [f"  - {{name: {json.dumps(gate.name)}, run: {json.dumps(gate.run)}}}" for gate in gates]
    return "\n".join(lines) + "\n"


def _next_steps(root: Path) -> Iterator[str]:
    from bot.notation.config import read_config
    from bot.plan.facts.engines import choose_engine

    choice = choose_engine(
        read_config((root / CONFIG_PATH).read_text(encoding="utf-8")), (), RepositorySettings()
    )
    yield ""
    yield "Next:"
    if choice.problem:
        yield f"  - {choice.problem}"
    yield "  - allow pull requests: Settings > Actions > General > Allow GitHub Actions to create and approve pull requests"
    wanted = (
        f"the model's key as the secret {choice.secret}" if choice.secret else "the model's key as a secret"
    )
    yield f"  - add {wanted}{', if it needs one' if choice.engine == COMMAND else ''} (docs/engines.md)"
    yield f"  - look over {CONFIG_PATH}: `cf validate` checks it"
    yield "  - commit, push to the default branch, and label an issue cf:ready; `cf doctor` says if something is missing"
