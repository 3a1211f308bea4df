"""Where the tests of a module are, and what a test file is about, can be told from its name and its first word."""

from pathlib import Path

import pytest

from tests.packaging.rules import ROOT

pytestmark = pytest.mark.packaging

# A file that is not about one module says in its first word what it is about instead.
KINDS = (
    "Story:",  # several rooms together, on the make-believe GitHub or with real programs
    "Property:",  # what holds for whatever is thrown at it: generated, hostile, in any order
    "Contract:",  # one promise that several implementations keep
    "Large:",  # how much, how many, at what cost
)
# Files that have a name of their own, and what they are about.
OF_THEIR_OWN = {
    "tests/notation/test_older_records.py": "everything that an older version wrote",
    "tests/plan/test_contents.py": "RULES in bot/plan/__init__.py, rule by rule",
}
# Modules without windows whose tests are not in a file of their name. One that gets such a file leaves the list.
ELSEWHERE = {
    "bot/notation/bounds.py": "tests/conductor/tell/test_summary_size.py",
    "bot/notation/readers.py": "tests/notation/test_schema.py",
    "bot/plan/attempts/baseline.py": "tests/conductor/test_up_to_date.py",
    "bot/plan/attempts/effect.py": "tests/plan/attempts/test_consequences.py",
    "bot/plan/attempts/stale.py": "tests/conductor/test_up_to_date.py",
    "bot/plan/board.py": "tests/plan/test_contents.py",
    "bot/plan/commands/consent.py": "tests/conductor/test_inference.py",
    "bot/plan/facts/baselines.py": "tests/conductor/test_up_to_date.py",
    "bot/plan/facts/causes.py": "tests/plan/starts/test_barriers.py",
    "bot/plan/facts/doubles.py": "tests/conductor/test_said_twice.py",
    "bot/plan/facts/ends.py": "tests/conductor/test_ends.py",
    "bot/plan/facts/pause.py": "tests/conductor/test_pause.py",
    "bot/plan/facts/put_back.py": "tests/conductor/test_put_back.py",
    "bot/plan/facts/unwritten.py": "tests/conductor/test_causes.py",
    "bot/plan/facts/who_conducts.py": "tests/conductor/test_two_accounts.py",
    "bot/plan/questions/rulebook.py": "tests/plan/questions/test_supervisor.py",
}


def module_of(test: Path, root: Path) -> Path:
    """The module, or package, that a test file is about by its place and name; it need not exist."""
    module = root / "bot" / test.relative_to(root / "tests").parent / test.stem.removeprefix("test_")
    return module / "__init__.py" if module.is_dir() else module.with_suffix(".py")


def test_of(module: Path, root: Path) -> Path:
    """The file in which the tests of a module belong."""
    return root / "tests" / module.relative_to(root / "bot").with_name(f"test_{module.name}")


test_of.__test__ = False  # type: ignore[attr-defined]  # a helper, whatever its name begins with


def lost(root: Path) -> list[str]:
    """Test files of a mirrored room that are about no module, and do not say what they are about."""
    rooms = [folder.name for folder in (root / "bot").iterdir() if folder.is_dir()]
    files = sorted(file for room in rooms for file in (root / "tests" / room).rglob("test_*.py"))
    return [
        file.relative_to(root).as_posix()
        for file in files
        if not module_of(file, root).exists()
        and not file.read_text(encoding="utf-8").removeprefix('"""').startswith(KINDS)
    ]


def untested(root: Path) -> list[str]:
    """Modules of the rules and the notation that have no test file of their name."""
    modules = sorted(file for room in ("plan", "notation") for file in (root / "bot" / room).rglob("*.py"))
    return [
        module.relative_to(root).as_posix()
        for module in modules
        if module.name != "__init__.py" and not test_of(module, root).exists()
    ]


def test_every_test_file_is_about_the_module_of_its_name_or_says_what_else():
    assert [file for file in lost(ROOT) if file not in OF_THEIR_OWN] == []


def test_every_rule_and_notation_is_tested_in_the_file_of_its_name_or_in_one_that_is_listed():
    assert [module for module in untested(ROOT) if module not in ELSEWHERE] == []


def test_what_is_listed_here_is_there():
    assert [file for file in OF_THEIR_OWN if file not in lost(ROOT)] == []
    assert [file for file in ELSEWHERE.values() if not (ROOT / file).exists()] == []


@pytest.fixture
def house(tmp_path):
    """A function that writes files, empty where nothing is said, and returns the folder that they are in."""

    def write(*names, **texts):
        for name, text in {**dict.fromkeys(names, ""), **texts}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tests/worker/test_git.py", '"""Git."""'),
        ("tests/worker/deep/test_git.py", '"""Git."""'),
        ("tests/worker/test_a_tale.py", '"""Story told without its mark."""'),
        ("tests/worker/test_a_tale.py", 'X = """Story: not in the first line."""'),
    ],
)
def test_a_file_that_nobody_would_look_for_is_found(house, name, text):
    root = house("bot/worker/change/git.py", **{name: text})
    assert lost(root) == [name]


def test_modules_packages_stories_and_what_mirrors_no_room_are_fine(house):
    root = house(
        "bot/worker/change/git.py",
        "bot/worker/engines/__init__.py",
        "tests/worker/change/test_git.py",
        "tests/worker/test_engines.py",
        "tests/scripts/test_it.py",
        **{"tests/worker/test_a_tale.py": '"""Story: one."""'},
    )
    assert lost(root) == []


def test_a_module_without_a_file_of_its_name_is_found(house):
    root = house("bot/plan/deep/turns.py", "bot/plan/deep/order.py", "tests/plan/deep/test_order.py")
    assert untested(root) == ["bot/plan/deep/turns.py"]
