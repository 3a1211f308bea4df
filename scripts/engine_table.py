"""What was seen of the real agent programs, as a table in docs/engines.md: made from the recorded transcripts.

Run `python -m scripts.engine_table` after `make engines`, with `--check` to compare only.
"""

import json
import sys
from pathlib import Path

from bot.worker.engines import engine

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/engines.md"
RECORDED = ROOT / "tests/data/engines"
BEGIN, END = "<!-- what was seen: scripts/engine_table.py -->\n", "<!-- end of what was seen -->\n"
SCENES = {
    "edit": "a change",
    "fail": "400",
    "limit": "429",
    "refuse": "401",
    "cancel": "cancelled",
    "again": "two rounds",
}


def table() -> str:
    """Exit status and seconds of each scene, by engine."""
    lines = ["| engine | version | " + " | ".join(SCENES.values()) + " |", "|---" * (len(SCENES) + 2) + "|"]
    for place in sorted(RECORDED.iterdir()):
        cells = [_cell(place / f"{scene}.txt") for scene in SCENES]
        lines.append(f"| `{place.name}` | {engine(place.name).version} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(file: Path) -> str:
    heads = [
        json.loads(line)
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith('{"how"')
    ]
    seconds = sum(head.get("seconds", 0) for head in heads)
    return f"{heads[-1]['code']}, {seconds:.0f} s"


def page(text: str) -> str:
    """The page with the table in its place."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{table()}{END}{after}"


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    if "--check" in sys.argv[1:]:
        return 0 if page(text) == text else 1
    PAGE.write_text(page(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
