"""The tables that are generated into docs/: as the model says them, and nothing beside them is touched."""

import shutil

import pytest

from bot.model.command import COMMANDS
from bot.model.event import EVENTS
from bot.notation.commands import read_commands
from scripts.docs_tables import PAGES, ROOT, main, page

pytestmark = pytest.mark.packaging


@pytest.fixture
def pages(tmp_path):
    """A folder with a copy of the pages, up to date."""
    (tmp_path / "docs").mkdir()
    for name in PAGES:
        shutil.copy(ROOT / name, tmp_path / name)
    main([], tmp_path)
    return tmp_path


def test_the_pages_are_up_to_date(capsys):
    assert main(["--check"]) == 0, "run: make tables"
    assert capsys.readouterr().out == ""


def test_every_command_and_every_event_is_on_its_page():
    commands, telling = ((ROOT / name).read_text(encoding="utf-8") for name in PAGES)

    assert all(f"| `{row.usage('cf')}` | {row.effect} |\n" in commands for row in COMMANDS)
    assert all(f"| `{name}` | {tells} |\n" in telling for name, tells in EVENTS.items())


@pytest.mark.parametrize("name", PAGES)
def test_a_table_that_was_edited_by_hand_is_found_and_made_again(pages, name, capsys):
    path = pages / name
    right = path.read_text(encoding="utf-8")
    capsys.readouterr()
    wrong = right.replace("the", "a", 1).replace("\n<!-- end -->", "\n| `more` | by hand |\n<!-- end -->", 1)
    path.write_text(wrong, encoding="utf-8")

    assert main(["--check"], pages) == 1
    assert capsys.readouterr().out.startswith(f"{name}: not up to date")
    assert path.read_text(encoding="utf-8") == wrong

    assert main([], pages) == 0
    assert path.read_text(encoding="utf-8") == right.replace("the", "a", 1)
    assert main(["--check"], pages) == 0


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("<!-- generated: events -->\n", ""),
        ("<!-- generated: events -->", "<!-- generated: event -->"),
        ("<!-- end -->\n", ""),
    ],
)
def test_a_page_whose_marks_are_broken_is_refused(right, wrong):
    text = (ROOT / "docs/telling.md").read_text(encoding="utf-8").replace(right, wrong)

    with pytest.raises(ValueError, match="should have"):
        page(text, PAGES["docs/telling.md"])


def test_the_page_about_commands_holds_no_command_itself():
    assert read_commands((ROOT / "docs/commands.md").read_text(encoding="utf-8")) == ()
