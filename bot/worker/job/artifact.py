"""Work and reports in files: how jobs of a run, and later runs, hand them to each other."""

import io
import zipfile
from pathlib import Path

from msgspec import Struct

from bot.github.archives import read_member
from bot.github.port import Reader
from bot.model.errors import BotError, NotFound
from bot.model.report import Report
from bot.model.run import Artifact
from bot.notation.codec import Unreadable
from bot.notation.keys import read_key
from bot.notation.reports import BUNDLE_FILE, REPORT_FILE, read_report, report_name, work_name, write_report

_LARGEST = 256 * 1024 * 1024
_LARGEST_REPORT = 4 * 1024 * 1024


class WorkGone(BotError):
    """Earlier work was named and cannot be had any more: expired, deleted, or never kept."""


def save_report(folder: Path, report: Report) -> None:
    """Write the report whole or not at all, whenever the job ends."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".{REPORT_FILE}"
    partial.write_text(write_report(report), encoding="utf-8")
    partial.replace(folder / REPORT_FILE)


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


def download_earlier(github: Reader, earlier: str, folder: Path) -> Kept:
    """Earlier work named as `<run id>/<key>`. Raises WorkGone."""
    run_id, _, key = earlier.partition("/")
    if not run_id.isdecimal() or read_key(key) is None:
        raise WorkGone(f"{earlier!r} does not name earlier work")
    try:
        kept = {artifact.name: artifact for artifact in github.artifacts(int(run_id)) if not artifact.expired}
        work = kept.get(work_name(key))
        if work is None:
            raise WorkGone(f"the work of {key} is not kept any more")
        unpack(github.download(work.id), folder / work_name(key))
        if report := kept.get(report_name(key)):
            unpack(github.download(report.id), folder / report_name(key))
    except NotFound as error:
        raise WorkGone(f"the work of {key} is not kept any more") from error
    return Kept(
        work,
        find_bundle(folder, key),
        _report_in(folder / work_name(key), key),
        _report_in(folder / report_name(key), key),
    )


def _report_in(folder: Path, key: str) -> Report | None:
    try:
        return find_report(folder, key)
    except Unreadable:
        return None


def unpack(archive: bytes, folder: Path) -> None:
    """The files we know of an artifact's zip archive. Names and sizes in it are foreign, so no other is written anywhere."""
    folder.mkdir(parents=True, exist_ok=True)
    if not zipfile.is_zipfile(io.BytesIO(archive)):
        raise WorkGone("the kept work is not a readable archive")
    for name in (REPORT_FILE, BUNDLE_FILE):
        if (content := read_member(archive, name, _LARGEST)) is not None:
            (folder / name).write_bytes(content)
