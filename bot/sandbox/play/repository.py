"""The bare repository that a sandbox begins with: somebody's files, the shipped workflows, and a configuration."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from shutil import copytree, ignore_patterns, rmtree

import yaml

from bot.model.config import CONFIG_PATH, Config
from bot.model.errors import UsageError
from bot.notation.config import read_config
from bot.sandbox.world import BareGit

WORKFLOWS = ("cf-batch.yml", "cf-conductor.yml", "cf-task.yml", "cf-worker.yml")
_FOLDER = ".github/workflows"
# A sandbox has one person waiting before it: it lingers only for what is due at once, and tries again soon.
_IMPATIENT: Mapping[str, object] = {"linger": "8s", "retry": {"backoff": "2s"}}


@dataclass(frozen=True, slots=True)
class Prepared:
    """`foreign` are workflow files of the repository's own, which the sandbox leaves alone."""

    git: BareGit
    config: Config
    foreign: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line says about the configuration. `gates` are (name, command).

    `engine` is what stands under the engine's name in the configuration: `args`, `model`, `base_url` and the like.
    """

    name: str
    engine: Mapping[str, object]
    gates: tuple[tuple[str, str], ...] = ()
    max_parallel: int | None = None


def from_folder(source: Path, place: Path, scratch: Path) -> Prepared:
    """A new repository with the files of a folder and the shipped workflows. `place` is the bare repository to be."""
    git = BareGit.create(place)
    copytree(source, scratch, ignore=ignore_patterns("__pycache__"))
    _git(scratch, "init", "--quiet", "--initial-branch", "main")
    _git(scratch, "remote", "add", "origin", str(place))
    config = read_config((scratch / CONFIG_PATH).read_text(encoding="utf-8"))
    _install(scratch)
    _commit(scratch, "The shop, and what conducts its agents", "main")
    return Prepared(git, config)


def from_repository(source: Path, place: Path, scratch: Path, wishes: Wishes) -> Prepared:
    """A copy of the committed state of a repository, plus one commit with workflows and configuration.

    The repository itself is only read. Raises UsageError if it is none, is empty, or its configuration cannot be used.
    """
    head = _head(source)
    branch = _try(source, "symbolic-ref", "--quiet", "--short", "HEAD") or "main"
    git = BareGit.create(place, branch)
    _git(source, "push", "--quiet", "--no-verify", str(place), f"{head}:refs/heads/{branch}")
    _git(place, "clone", "--quiet", str(place), str(scratch))
    installed = sorted(path.name for path in (scratch / _FOLDER).glob("*.y*ml"))
    foreign = tuple(name for name in installed if name not in WORKFLOWS)
    text = _configuration(scratch / CONFIG_PATH, wishes)
    config = read_config(text)
    _check_systems(config)
    _install(scratch)
    (scratch / CONFIG_PATH).write_text(text, encoding="utf-8")
    _commit(scratch, "cf sandbox: workflows and configuration", branch)
    return Prepared(git, config, foreign)


def _head(source: Path) -> str:
    if not source.is_dir():
        raise UsageError(f"--repo {source}: there is no such folder")
    if _try(source, "rev-parse", "--git-dir") is None:
        raise UsageError(f"--repo {source}: is not a git repository; make it one with `git init`, and commit")
    head = _try(source, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if head is None:
        raise UsageError(f"--repo {source}: has no commit yet; the sandbox takes the committed state of HEAD")
    if _try(source, "rev-parse", "--is-shallow-repository") == "true":
        raise UsageError(f"--repo {source}: is a shallow clone; complete it with `git fetch --unshallow`")
    return head


def _configuration(path: Path, wishes: Wishes) -> str:
    """The repository's own configuration, if it has one, with what the command line says on top."""
    text = path.read_text(encoding="utf-8") if path.is_file() else "version: 1\n"
    read_config(text)  # said with its lines, before anything is changed in it
    found = yaml.safe_load(text) or {}
    found["engine"] = wishes.name
    engines = found.get("engines") or {}
    found["engines"] = {**engines, wishes.name: {**(engines.get(wishes.name) or {}), **wishes.engine}}
    if wishes.gates:
        found["gates"] = [{"name": name, "run": command} for name, command in wishes.gates]
    if wishes.max_parallel is not None:
        found["max_parallel"] = wishes.max_parallel
    found["linger"] = _IMPATIENT["linger"]
    found.setdefault("retry", _IMPATIENT["retry"])
    return str(yaml.safe_dump(found, sort_keys=False, allow_unicode=True))


def _check_systems(config: Config) -> None:
    from bot.sandbox.actions.workspace import SYSTEMS

    named = [*config.runner, *(label for engine in config.engines.values() for label in engine.runner)]
    for name in [*named, *(system for gate in config.gates for system in gate.os)]:
        if name not in SYSTEMS:
            raise UsageError(
                f"{CONFIG_PATH}: the sandbox has no system {name!r}, only {', '.join(SYSTEMS)};"
                " give gates with --gate NAME=COMMAND, or change `runner`"
            )


def _install(folder: Path) -> None:
    """The workflows as every repository installs them, unmodified."""
    target = folder / _FOLDER
    target.mkdir(parents=True, exist_ok=True)
    templates = files("bot") / "templates"
    for name in WORKFLOWS:
        (target / name).write_bytes((templates / name).read_bytes())


def _commit(folder: Path, message: str, branch: str) -> None:
    _git(folder, "add", "--all", "--force", _FOLDER, CONFIG_PATH)
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--no-verify", "--allow-empty", "--message", message)
    _git(folder, "push", "--quiet", "--no-verify", "origin", f"HEAD:refs/heads/{branch}")
    rmtree(folder)


def _git(folder: Path, *arguments: str) -> str:
    done = _call(folder, arguments)
    if done.returncode:
        raise UsageError(f"git {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()


def _try(folder: Path, *arguments: str) -> str | None:
    done = _call(folder, arguments)
    return None if done.returncode else done.stdout.strip()


def _call(folder: Path, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    identity = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", "maintainer"), ("EMAIL", "maintainer@users.noreply.github.com"))
    }
    environment = {
        **kept,
        **identity,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    return subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
