"""One file out of one pinned npm package, and what the two oracle scripts share on their command line."""

import argparse
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Source:
    """A file inside an npm package: which, of which version, and the digest it must have."""

    package: str
    version: str
    member: str
    sha256: str

    def read(self, archive: Path | None = None) -> bytes:
        """The file's bytes, from an archive at hand or through `npm pack`. Raises SystemExit if it is not the file we know."""
        if archive is not None:
            return self._open(archive)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                ["npm", "pack", "--silent", "--ignore-scripts", f"{self.package}@{self.version}"],
                cwd=folder,
                check=True,
                stdout=subprocess.DEVNULL,
            )
            (packed,) = Path(folder).glob("*.tgz")
            return self._open(packed)

    def _open(self, archive: Path) -> bytes:
        with tarfile.open(archive) as tar:
            member = tar.extractfile(f"package/{self.member}")
            if member is None:
                raise SystemExit(f"{self.package}@{self.version} has no {self.member}")
            content = member.read()
        digest = hashlib.sha256(content).hexdigest()
        if digest != self.sha256:
            raise SystemExit(
                f"{self.package}@{self.version} {self.member} has sha256 {digest}, not {self.sha256}"
            )
        return content


def main(source: Source, target: Path, make: Callable[[bytes], bytes], about: str) -> int:
    """Write `make(source)` to the target, or with --check say whether it is there already (exit code 1 if not)."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if the file would change")
    parser.add_argument("--archive", type=Path, help="a .tgz of the package, instead of asking npm for it")
    options = parser.parse_args()

    made = make(source.read(options.archive))
    if target.exists() and target.read_bytes() == made:
        print(f"{target}: equals {source.package}@{source.version}")
        return 0
    if options.check:
        print(f"{target}: differs from what {source.package}@{source.version} gives", file=sys.stderr)
        return 1
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(made)
    print(f"{target}: written, {len(made):,} bytes")
    return 0
