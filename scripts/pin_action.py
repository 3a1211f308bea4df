"""Set the commit of our own action wherever a file that we ship names it.

    python -m scripts.pin_action <40 hex digits> [--version v0.1.0]   set it
    python -m scripts.pin_action --check                              say whether all name the same commit

The templates name the action by the commit of a release, so a release is two commits: the code, then the templates that
point at it.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SHIPPED = ("workflows-templates/*.yml", "docs/**/*.md", "README.md")
OWN = re.compile(
    r"(?P<name>cf-conductor/cf-conductor)@(?P<commit>[0-9a-f]{40}) # (?P<version>v\d+\.\d+\.\d+)"
)


def files(root: Path) -> Iterator[Path]:
    """Every file that may name the action."""
    for pattern in SHIPPED:
        yield from sorted(root.glob(pattern))


def pins(root: Path) -> set[tuple[str, str]]:
    """The commits and versions that are named."""
    return {
        (match["commit"], match["version"])
        for file in files(root)
        for match in OWN.finditer(file.read_text(encoding="utf-8"))
    }


def pin(root: Path, commit: str, version: str) -> int:
    """Name this commit and version everywhere; how many files have changed."""
    changed = 0
    for file in files(root):
        before = file.read_text(encoding="utf-8")
        after = OWN.sub(lambda match: f"{match['name']}@{commit} # {version or match['version']}", before)
        if after != before:
            file.write_text(after, encoding="utf-8")
            changed += 1
    return changed


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Set the commit of our own action wherever we name it.")
    parser.add_argument("commit", nargs="?", default="")
    parser.add_argument("--version", default="")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(arguments)
    if given.check:
        found = pins(ROOT)
        for commit, version in sorted(found):
            print(f"{commit} {version}")
        return 0 if len(found) == 1 else 1
    if not re.fullmatch(r"[0-9a-f]{40}", given.commit):
        print("pin_action: give the commit as 40 hexadecimal digits", file=sys.stderr)
        return 2
    if given.version and not re.fullmatch(r"v\d+\.\d+\.\d+", given.version):
        print("pin_action: give the version like v0.1.0", file=sys.stderr)
        return 2
    print(f"{pin(ROOT, given.commit, given.version)} files changed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
