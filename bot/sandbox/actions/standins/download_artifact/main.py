"""What the sandbox runs in place of `actions/download-artifact`."""

import fnmatch
import io
import json
import os
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from urllib.parse import quote


def main() -> int:
    name, pattern = os.environ["IN_NAME"], os.environ["IN_PATTERN"]
    folder = Path(os.environ["IN_PATH"] or os.environ["GITHUB_WORKSPACE"])
    names = [name] if name else _matching(pattern)
    merge = os.environ["IN_MERGE_MULTIPLE"].lower() == "true"
    for wanted in names:
        data = _get(f"/{quote(wanted, safe='')}")
        if data is None:
            print(f"::error::Unable to download artifact(s): Artifact not found for name: {wanted}")
            return 1
        # One artifact asked for by name comes as it is; of a pattern's each gets its own folder.
        target = folder if name or merge else folder / wanted
        _unzip(data, target)
        print(f"{wanted}: {len(data)} bytes to {target}")
    if not names:
        print("No artifacts matched.")
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as outputs:
        outputs.write(f"download-path={folder}\n")
    return 0


def _matching(pattern: str) -> list[str]:
    listing = json.loads(_get("") or b'{"artifacts": []}')
    names = sorted({artifact["name"] for artifact in listing["artifacts"]})
    return [name for name in names if not pattern or fnmatch.fnmatchcase(name, pattern)]


def _get(path: str) -> bytes | None:
    request = urllib.request.Request(  # noqa: S310 - the sandbox's own address
        f"{os.environ['CF_SANDBOX_URL']}/_sandbox/runs/{os.environ['IN_RUN_ID']}/artifacts{path}",
        headers={"Authorization": f"Bearer {os.environ['IN_TOKEN']}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - as above
            data: bytes = response.read()
            return data
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise


def _unzip(data: bytes, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)


if __name__ == "__main__":
    sys.exit(main())
