"""A job's secrets and the runner's command files, kept from the programs that run in the job under the same user.

Linux shows every program of a user the environment and, with a debugger, the memory of the user's others. So before anything of
the repository runs, the token is in this process's memory alone: the action hands it over through a pipe (`CF_TOKEN_FD`), it
is blotted out where the kernel still shows the environment we were started with, and this process is marked as not to be looked
into (prctl(2), PR_SET_DUMPABLE). Who is root, as with sudo on GitHub's own machines, can still look; that token can only read.
"""

import contextlib
import ctypes
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from bot.model.errors import UsageError

TOKEN_PIPE = "CF_TOKEN_FD"  # noqa: S105 - the name of a variable
_COMMAND_FILES = ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
_RUNNERS_FOLDER = "_runner_file_commands"  # holds those of the steps around ours as well
_SET_DUMPABLE = 4  # prctl(2)
_ENV_START, _ENV_END = 50, 51  # fields of /proc/self/stat, counted from 1: proc_pid_stat(5)


def take_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """The job's environment as a copy, token included, while nobody else finds a secret in ours any more."""
    taken = dict(environ)
    if pipe := taken.pop(TOKEN_PIPE, ""):
        try:
            with os.fdopen(int(pipe), "rb") as source:
                taken["GITHUB_TOKEN"] = source.read().decode()
        except (ValueError, OSError):
            raise UsageError(f"{TOKEN_PIPE} must name an open pipe and is {pipe!r}") from None
    for name in [name for name in os.environ if _is_secret(name)]:
        del os.environ[name]
    _blot()
    with contextlib.suppress(
        OSError, AttributeError
    ):  # a system without prctl does not show environments either
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    return taken


def _is_secret(name: str) -> bool:
    return name.endswith(("_TOKEN", "_KEY")) and name.startswith(("GITHUB_", "GH_", "ACTIONS_", "CF_"))


def _blot() -> None:
    """Overwrite secret values where the kernel keeps the environment that this process was started with."""
    try:
        shown = Path("/proc/self/environ").read_bytes()
        # The name in brackets, field 2, may hold blanks and brackets; what follows its last bracket is regular.
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        start, end = (int(fields[number - 3]) for number in (_ENV_START, _ENV_END))
    except (OSError, IndexError, ValueError):
        return
    if not start or end - start != len(shown):
        return
    at = 0
    for entry in shown.split(b"\0"):
        name, found, value = entry.partition(b"=")
        if found and _is_secret(name.decode("utf-8", "replace")):
            ctypes.memset(start + at + len(name) + 1, ord("*"), len(value))
        at += len(entry) + 1


@contextlib.contextmanager
def guarding_commands(environ: Mapping[str, str]) -> Iterator[None]:
    """Undo what anybody but us writes to the files that command the runner: they would set variables for the steps after ours."""
    named = [Path(environ[name]) for name in _COMMAND_FILES if environ.get(name)]
    around = [file for one in named if one.parent.name == _RUNNERS_FOLDER for file in _files(one.parent)]
    before = {file: _content(file) for file in (*named, *around)}
    try:
        yield
    finally:
        for file, content in before.items():
            if file.is_symlink() or _content(file) != content:
                _put_back(file, content)


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.iterdir() if file.is_file() and not file.is_symlink()]


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def _put_back(file: Path, content: bytes | None) -> None:
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    else:
        file.unlink(missing_ok=True)
    if content is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
