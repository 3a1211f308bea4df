"""The tables of comment commands and of events in docs/, generated from the model.

Run `make tables` after a change to `bot/model/command.py` or `bot/model/event.py`.
With `--check` it only compares. Whatever stands between `<!-- generated: NAME -->` and `<!-- end -->` is replaced.
"""

import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from bot.model.command import COMMANDS, Scope
from bot.model.event import EVENTS
from bot.plan.commands.replies import command_table

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"(?<=<!-- generated: )([^>]+)( -->\n)(.*?)(?=<!-- end -->)", re.DOTALL)


def commands_of(place: Scope) -> str:
    """The commands that may stand on this kind of issue."""
    return "\n".join(command_table([row for row in COMMANDS if row.place is place], "cf")) + "\n"


def events() -> str:
    """Every event with what it tells."""
    rows = (f"| `{name}` | {tells} |\n" for name, tells in EVENTS.items())
    return "".join(("| event | what it tells |\n|---|---|\n", *rows))


PAGES: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "docs/commands.md": {f"commands on a {place}": partial(commands_of, place) for place in Scope},
    "docs/telling.md": {"events": events},
}


def page(text: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """The page with each of its tables as the model says it. Raises ValueError unless the page has exactly these tables."""
    found = sorted(name for name, _, _ in BLOCK.findall(text))
    if found != sorted(tables):
        raise ValueError(f"has the tables {found}, and should have {sorted(tables)}")
    return BLOCK.sub(lambda block: f"{block[1]}{block[2]}{tables[block[1]]()}", text)


def main(arguments: list[str], root: Path = ROOT) -> int:
    stale = []
    for name, tables in PAGES.items():
        path = root / name
        text = path.read_text(encoding="utf-8")
        if (made := page(text, tables)) != text:
            stale.append(name)
            if "--check" not in arguments:
                path.write_text(made, encoding="utf-8")
    if stale:
        said = "not up to date, run: make tables" if "--check" in arguments else "rewritten"
        print(f"{', '.join(stale)}: {said}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
