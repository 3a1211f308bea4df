"""The page about commands says what the table in the code says."""

from pathlib import Path

from bot.model.command import COMMANDS, Scope
from bot.notation.commands import read_commands

PAGE = (Path(__file__).parents[2] / "docs/commands.md").read_text(encoding="utf-8")


def test_the_page_lists_every_command_of_the_table_at_its_place_and_no_other():
    sections = PAGE.split("\n## ")[1 : 1 + len(Scope)]
    for place, section in zip(Scope, sections, strict=True):
        listed = [line for line in section.splitlines() if line.startswith("| `")]
        assert listed == [f"| `{row.usage('cf')}` | {row.effect} |" for row in COMMANDS if row.place is place]


def test_the_page_holds_no_command_itself():
    assert read_commands(PAGE) == ()
