"""What the sandbox runs in place of `actions/upload-artifact`."""

import glob
import io
import json
import os
import re
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from urllib.parse import quote, urlencode

# What GitHub's artifact service refuses in a name.
FORBIDDEN = re.compile(r'["<>|*?:\r\n\\/]')


def main() -> int:
    name = os.environ["IN_NAME"]
    if not name or FORBIDDEN.search(name):
        print(f"::error::{name!r} cannot be the name of an artifact.")
        return 1
    files = _files(os.environ["IN_PATH"], os.environ["IN_INCLUDE_HIDDEN_FILES"].lower() == "true")
    if not files:
        return _none_found(os.environ["IN_IF_NO_FILES_FOUND"])
    archive = _zipped(files)
    query = urlencode(
        {"overwrite": os.environ["IN_OVERWRITE"].lower(), "retention_days": os.environ["IN_RETENTION_DAYS"]}
    )
    request = urllib.request.Request(  # noqa: S310 - the sandbox's own address
        f"{os.environ['CF_SANDBOX_URL']}/_sandbox/runs/{os.environ['GITHUB_RUN_ID']}/artifacts/{quote(name, safe='')}?{query}",
        data=archive,
        method="POST",
        headers={"Authorization": f"Bearer {os.environ['IN_TOKEN']}", "Content-Type": "application/zip"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - as above
            answer = json.load(response)
    except urllib.error.HTTPError as error:
        if error.code == 409:
            print(f"::error::An artifact with the name {name} already exists.")
        else:
            print(f"::error::Uploading {name}: {error.code} {error.read().decode(errors='replace')[:500]}")
        return 1
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as outputs:
        outputs.write(f"artifact-id={answer.get('id', '')}\n")
    print(f"{name}: {len(files)} files, {len(archive)} bytes")
    return 0


def _files(patterns: str, hidden: bool) -> dict[str, Path]:
    """Name in the archive -> file. Names are relative to the deepest folder that holds everything that was asked for."""
    lines = [line.strip() for line in patterns.splitlines() if line.strip()]
    excluded = {path for line in lines if line.startswith("!") for path in _expand(line[1:], hidden)}
    wanted = [line for line in lines if not line.startswith("!")]
    found = sorted({path for line in wanted for path in _expand(line, hidden)} - excluded)
    if not found:
        return {}
    roots = [Path(line) if Path(line).is_dir() else Path(line).parent for line in wanted if "*" not in line]
    root = (
        Path(os.path.commonpath(roots))
        if len(roots) == len(wanted)
        else Path(os.path.commonpath([p.parent for p in found]))
    )
    return {path.relative_to(root.resolve()).as_posix(): path for path in found}


def _expand(pattern: str, hidden: bool) -> set[Path]:
    starts = [Path(p).resolve() for p in glob.glob(pattern, recursive=True, include_hidden=hidden)]  # noqa: PTH207 - a whole path is the pattern
    return {
        path
        for start in starts
        for path in ([start] if start.is_file() else start.rglob("*"))
        if path.is_file() and (hidden or not _is_hidden(path, start))
    }


def _is_hidden(path: Path, start: Path) -> bool:
    names = path.relative_to(start).parts or (path.name,)
    return any(name.startswith(".") for name in names)


def _none_found(what_to_do: str) -> int:
    if what_to_do == "error":
        print("::error::No files were found with the provided path.")
        return 1
    if what_to_do == "warn":
        print("::warning::No files were found with the provided path. No artifacts will be uploaded.")
    return 0


def _zipped(files: dict[str, Path]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in files.items():
            archive.write(path, name)
    return buffer.getvalue()


if __name__ == "__main__":
    sys.exit(main())
