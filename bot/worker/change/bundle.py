"""Work in a git bundle: how the hand-over makes one, and a reader that believes nothing about it.

The agent's machine made the file, and an agent may have made the machine lie. So what is not exactly one commit of ours on top of
commits that the repository has, or holds an object that git's own strict checks refuse, is not taken in at all.
"""

import re
from pathlib import Path

from msgspec import Struct

from bot.model.errors import BotError
from bot.notation.keys import read_key
from bot.worker.change.git import EMAIL, Git, GitFailed
from bot.worker.change.starting_point import message

WORK_REF = "refs/heads/work"
LARGEST = (
    64 * 1024 * 1024
)  # bytes of a bundle that are looked at; what they unpack to is bounded by time and memory
_HEADER = 64 * 1024
_MEMORY = "512m"  # a few bytes can ask for gigabytes: no single object may take more than this
_LINE = re.compile(r"(-?)([0-9a-f]{40}|[0-9a-f]{64})(?: (.*))?")


class Unfit(BotError):
    """Kept work is not what a hand-over makes; the text says what is wrong with it."""


class Header(Struct, frozen=True):
    """What a bundle says of itself: its one commit, the commits that it stands on, and where its pack begins."""

    commit: str
    stands_on: tuple[str, ...]
    begin: int


def write_bundle(git: Git, commit: str, known: tuple[str, ...], file: Path) -> None:
    """One commit with what it needs, on top of commits that everybody has."""
    git.call("update-ref", WORK_REF, commit)
    git.call(
        "bundle", "create", "--quiet", "--version=2", str(file), WORK_REF, *(f"^{parent}" for parent in known)
    )


def read_header(file: Path) -> Header:
    """The lines before the pack. Raises Unfit."""
    if (size := file.stat().st_size) > LARGEST:
        raise Unfit(f"the kept work is {size} bytes, and at most {LARGEST} are looked at")
    with file.open("rb") as content:
        lines, end, _ = content.read(_HEADER).partition(b"\n\n")
    first, *others = lines.decode("utf-8", "replace").split("\n")
    named = [match.groups() for line in others if (match := _LINE.fullmatch(line))]
    refs = [(commit, ref) for minus, commit, ref in named if not minus]
    if first != "# v2 git bundle" or not end or len(named) != len(others):
        raise Unfit("the kept work is no git bundle")
    if [ref for _, ref in refs] != [WORK_REF]:
        raise Unfit("the kept work holds other branches than its own")
    return Header(refs[0][0], tuple(commit for minus, commit, _ in named if minus), len(lines) + len(end))


def read_bundle(git: Git, file: Path, task: int) -> str:
    """Take a bundle's commit into the repository and name it.

    Raises Unfit unless it is one commit of ours about this task, on commits that the repository has.
    """
    header = read_header(file)
    if missing := [parent for parent in header.stands_on if not git.has(parent)]:
        raise Unfit(
            f"the kept work stands on a commit that the repository does not have any more, {missing[0]}"
        )
    pack = file.read_bytes()[header.begin :]
    try:
        git.call(
            *("index-pack", "--stdin", "--fix-thin", "--strict", f"--max-input-size={LARGEST}"),
            given=pack,
            extra={"GIT_ALLOC_LIMIT": _MEMORY},
        )
        facts = git.call("show", "--no-patch", "--format=%P%n%ae %ce%n%B", header.commit).output
    except GitFailed as error:
        raise Unfit(f"git refuses the kept work: {error}") from None
    parents, emails, words = facts.split("\n", 2)
    if not parents or sorted(parents.split(" ")) != sorted(header.stands_on):
        raise Unfit("the kept work is not one commit on top of what it says that it stands on")
    if emails != f"{EMAIL} {EMAIL}" or not is_our_message(words, task):
        raise Unfit("the kept work's commit is not of our making")
    git.call("update-ref", "refs/cf/work", header.commit)
    return header.commit


def is_our_message(text: str, task: int) -> bool:
    """Whether a commit's message is the one that we write, word for word, for an attempt of this task."""
    key = read_key(text.strip().rpartition("Attempt ")[2].rstrip("."))
    return key is not None and key.task == task and text.strip() == message(key).strip()
