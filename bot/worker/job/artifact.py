"""Work and reports in files: how jobs of a run, and later runs, hand them to each other."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bot.github.archives import read_member
from bot.github.port import Reader
from bot.model.errors import BotError, NotFound
from bot.model.report import Outcome, Report
from bot.model.run import Artifact
from bot.notation.codec import Unreadable
from bot.notation.keys import read_key
from bot.notation.reports import (
    BUNDLE_FILE,
    REPORT_FILE,
    kept_as,
    read_report,
    report_name,
    work_name,
    write_report,
)
from bot.worker.job.context import JobContext

_LARGEST = 256 * 1024 * 1024
_LARGEST_REPORT = 4 * 1024 * 1024
_MOST = 5  # artifacts of one name that are looked into


class WorkGone(BotError):
    """Earlier work was named and cannot be had any more: expired, deleted, or never kept."""


def save_report(folder: Path, report: Report) -> None:
    """Write the report whole or not at all, whenever the job ends."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".{REPORT_FILE}"
    partial.write_text(write_report(report), encoding="utf-8")
    partial.replace(folder / REPORT_FILE)


def keep_report(context: JobContext, folder: Path, report: Report) -> None:
    """The same, but nothing where the agent's job was run again and refused: it could hide what the first one kept.

    GitHub keeps artifacts for each attempt of a run, and takes the newest of a name (actions/toolkit, get-artifact.ts).
    """
    refused = context.run_again or (context.run_attempt > 1 and report.outcome is Outcome.REFUSED)
    if not refused:
        save_report(folder, report)


def find_report(folder: Path, key: str) -> Report | None:
    """The report of a downloaded artifact, in the folder itself or in one named after the artifact. Raises Unreadable."""
    for place in (folder, folder / work_name(key), folder / report_name(key)):
        if (file := place / REPORT_FILE).is_file() and not file.is_symlink():
            report = read_report(read_small(file))
            if report.key != key:
                raise Unreadable(f"{REPORT_FILE} is about {report.key!r}, not about {key}")
            return report
    return None


def read_small(file: Path) -> bytes:
    """A file of a folder that others have filled. Raises Unreadable if it is larger than anything of ours."""
    if file.stat().st_size > _LARGEST_REPORT:
        raise Unreadable(f"{file.name} is {file.stat().st_size} bytes, more than any report of ours")
    return file.read_bytes()


def find_bundle(folder: Path, key: str) -> Path | None:
    for place in (folder, folder / work_name(key)):
        if (file := place / BUNDLE_FILE).is_file() and not file.is_symlink():
            return file
    return None


class Kept(Struct, frozen=True):
    """Earlier work: the artifact that holds it, its bundle, and what the agent's job and the publish job told of it."""

    artifact: Artifact
    bundle: Path | None
    worked: Report | None
    published: Report | None


def earlier_works(github: Reader, earlier: str, folder: Path) -> tuple[Kept, ...]:
    """Earlier work named as `<run id>/<key>`, newest first: what holds a bundle, else what tells at least why there is none.

    More than one if the run was run again. Raises WorkGone if there is nothing.
    """
    run_id, _, key = earlier.partition("/")
    if not run_id.isdecimal() or read_key(key) is None:
        raise WorkGone(f"{earlier!r} does not name earlier work")
    artifacts = _artifacts(github, int(run_id))
    found = [_unpacked(github, one, folder, key) for one in kept_as(work_name(key), artifacts)[:_MOST]]
    works = [one for one in found if one is not None]
    whole = [one for one in works if one.bundle is not None]
    told = [one for one in whole if one.worked is not None]
    if not works:
        raise WorkGone(_gone(github, int(run_id), key))
    published = _published(github, kept_as(report_name(key), artifacts)[:_MOST], folder, key)
    return tuple(replace(one, published=published) for one in told or whole or works)


def download_earlier(github: Reader, earlier: str, folder: Path) -> Kept:
    """The newest earlier work that holds something. Raises WorkGone."""
    return earlier_works(github, earlier, folder)[0]


def _artifacts(github: Reader, run_id: int) -> tuple[Artifact, ...]:
    try:
        return github.artifacts(run_id)
    except NotFound:
        return ()


def _unpacked(github: Reader, artifact: Artifact, folder: Path, key: str) -> Kept | None:
    """None for one that cannot be had or is no archive."""
    room = folder / str(artifact.id)
    try:
        unpack(github.download(artifact.id), room)
    except (NotFound, WorkGone):
        return None
    return Kept(artifact, find_bundle(room, key), _report_in(room, key), None)


def _report_in(folder: Path, key: str) -> Report | None:
    try:
        return find_report(folder, key)
    except Unreadable:
        return None


def _published(github: Reader, reports: Sequence[Artifact], folder: Path, key: str) -> Report | None:
    """The newest report that says more than that a job was refused."""
    found = (_unpacked(github, artifact, folder, key) for artifact in reports)
    told = [one.worked for one in found if one is not None and one.worked is not None]
    return next((report for report in told if report.outcome is not Outcome.REFUSED), next(iter(told), None))


def _gone(github: Reader, run_id: int, key: str) -> str:
    """What is true of work that is not there."""
    try:
        again = github.run(run_id).attempt > 1
    except NotFound:
        again = False
    words = f"the work of {key} is not kept any more"
    return (
        f"{words}: all jobs of run {run_id} were run again, and GitHub shows no longer what the first ones kept"
        if again
        else words
    )


def unpack(archive: bytes, folder: Path) -> None:
    """The files we know of an artifact's zip archive. Names and sizes in it are foreign, so no other is written anywhere."""
    folder.mkdir(parents=True, exist_ok=True)
    if not zipfile.is_zipfile(io.BytesIO(archive)):
        raise WorkGone("the kept work is not a readable archive")
    for name in (REPORT_FILE, BUNDLE_FILE):
        if (content := read_member(archive, name, _LARGEST)) is not None:
            (folder / name).write_bytes(content)
