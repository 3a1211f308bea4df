"""Our folder `.cf` in the agent's workspace. What the agent leaves there is foreign: links, pipes and giants are not read."""

import os
import shutil
import stat
from pathlib import Path

from bot.worker.change.own_clone import OWN_FOLDER

_LARGEST = 256 * 1024


class OwnFiles:
    """Paths of the files that worker and agent hand to each other."""

    def __init__(self, workspace: Path) -> None:
        self.folder = workspace / OWN_FOLDER
        self.prompt = self.folder / "prompt.md"
        self.feedback = self.folder / "feedback.md"
        self.question = self.folder / "question.md"
        self.summary = self.folder / "summary.md"
        self.earlier = self.folder / "earlier.patch"

    def prepare(self) -> None:
        """An empty folder of ours, whatever stood there."""
        if self.folder.is_symlink() or self.folder.is_file():
            self.folder.unlink()
        self.folder.mkdir(exist_ok=True)

    def prepare_round(self) -> None:
        """Nothing of an earlier start may be taken for an answer of this one. Raises OSError."""
        for file in (self.question, self.summary):
            remove(file)


def empty(folder: Path) -> Path:
    """The folder with nothing in it, whatever stood there. Raises OSError."""
    remove(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def remove(path: Path) -> None:
    """Whatever stands there, itself: what a link names is left alone."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def read_foreign(file: Path) -> str:
    """The beginning of a small text file; empty if it is not there or is anything but a plain file."""
    if file.parent.is_symlink():
        return ""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return ""
    with os.fdopen(handle, "rb") as content:
        return content.read(_LARGEST).decode("utf-8", "replace")
