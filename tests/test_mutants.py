"""Mutants: which changes are made to what, that the same seed draws the same, and what is counted."""

import ast
import sys

import pytest

from scripts.mutants import ROOMS, ROOT, Suite, drawn, main, stages_of
from scripts.mutations import mutants_of

TINY = '''"""Ages."""

LIMIT = 18


def is_grown(age: int) -> bool:
    return age >= LIMIT
'''
CHECK = "from bot.tiny import is_grown; assert is_grown(30); assert not is_grown(3)"


def changes(*lines):
    source = "\n".join(["def f(a, b):", *(f"    {line}" for line in lines)])
    return [mutant.change for mutant in mutants_of(source, "f.py")]


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("a < b", ["a < b → pass", "a < b → a <= b"]),
        ("a = b is None", ["b is None → b is not None"]),
        ("c = 1 < a <= b", ["1 < a <= b → 1 <= a <= b", "1 < a <= b → 1 < a < b", "1 < a <= b → 2 < a <= b"]),
        ("b = a and not b", ["b = a and (not b) → pass", "a and (not b) → a or not b", "not b → b"]),
        ("a = b - 2", ["b - 2 → b + 2", "b - 2 → b - 3"]),
        ("a = True", ["True → False"]),
        ("a = 'word'", ["'word' → 'wordX'"]),
        ("a = 'words for people'", []),
        ("a = f'{b:>3} word'", []),
        ("a: 'int' = b", []),
        ("assert a == 1, 'never'", []),
        ("a = min(1, b)", ["min → max", "1 → 2"]),
        ("c = b(1, a, c=None)", ["b(1, a, c=None) → b(a, 1, c=None)", "b(1, a, c=None) → b(1, a)", "1 → 2"]),
        ("return a", ["return a → return None"]),
        ("return None", []),
        ("return ''", ["'' → 'X'"]),  # nothing is as false as nothing
        ("return True", ["return True → return None", "True → False"]),
        ("a.b = b", ["a.b = b → pass"]),
        ("a = a.c", ["a = a.c → pass"]),
        ("a = b.c", []),
        ("raise a", ["raise a → pass"]),
        ("if a: return", ["a → not a", "if a: → pass"]),
        ("if a == b: return", ["if a == b: → pass", "a == b → a != b"]),
        ("a = b if a else 0", ["a = b if a else 0 → pass", "a → not a", "0 → 1"]),
        ("a = [c for c in b if c]", ["for c in b if c → for c in b if not c"]),
    ],
)
def test_what_a_line_is_changed_to(line, made):
    assert sorted(changes(line)) == sorted(made)


def test_a_mutant_is_the_whole_module_with_the_one_change():
    before, mutants = ast.unparse(ast.parse(TINY)), list(mutants_of(TINY, "bot/tiny.py"))

    assert [(one.line, one.text, one.change) for one in mutants] == [
        (3, "LIMIT = 18", "18 → 19"),
        (7, "return age >= LIMIT", "return age >= LIMIT → return None"),
        (7, "return age >= LIMIT", "age >= LIMIT → age > LIMIT"),
    ]
    assert [one.source() for one in mutants] == [
        before.replace("18", "19"),
        before.replace("age >= LIMIT", "None"),
        before.replace(">=", ">"),
    ]


def test_of_a_long_line_what_is_around_the_difference_is_shown():
    call = f"a({'b' * 90}, c=1, d=a)"
    assert changes(f"{call}.c = a")[1:3] == [
        f"…{'b' * 31}, c=1, d=a) → …{'b' * 31}, d=a)",
        f"…{'b' * 28}, c=1, d=a) → …{'b' * 28}, c=1)",
    ]


def test_equal_changes_of_equal_lines_are_told_apart():
    twice = list(mutants_of("def f(a):\n    a(1)\n    a(1)", "f.py"))
    assert [(one.change, one.number) for one in twice if one.change == "1 → 2"] == [
        ("1 → 2", 1),
        ("1 → 2", 2),
    ]


@pytest.fixture(scope="module")
def mutants():
    return Suite().mutants()


def test_mutants_of_the_rooms_can_be_read_and_differ(mutants):
    for mutant in drawn(mutants, 30, 1):
        ast.parse(mutant.source())
        assert mutant.file.startswith(ROOMS)
        assert mutant.source() != ast.unparse(ast.parse((ROOT / mutant.file).read_text(encoding="utf-8")))


def test_the_same_seed_draws_the_same_and_another_seed_others(mutants):
    first = [mutant.name for mutant in drawn(mutants, 30, 1)]
    assert first == [mutant.name for mutant in drawn(mutants[::-1], 30, 1)]
    assert first == [mutant.name for mutant in drawn(mutants, 60, 1)][:30]
    assert first != [mutant.name for mutant in drawn(mutants, 30, 2)]


@pytest.mark.parametrize(
    ("file", "asked"),
    [
        ("bot/plan/people.py", ["tests/plan/test_people.py", "tests/plan", "tests/conductor"]),
        ("bot/plan/no_such_module.py", ["tests/plan", "tests/conductor"]),
        (
            "bot/notation/text.py",
            ["tests/notation/test_text.py", "tests/notation", "tests/plan", "tests/conductor"],
        ),
        ("bot/model", ["tests/model", "tests/notation", "tests/plan", "tests/conductor"]),
    ],
)
def test_the_nearest_tests_are_asked_first_and_those_below_never(file, asked):
    assert [command[-1] for _, command in stages_of(file)] == asked


@pytest.fixture
def tiny(tmp_path):
    """A package of which one mutant is noticed, and two are not."""
    (tmp_path / "bot").mkdir()
    (tmp_path / "scripts").mkdir()
    (tmp_path / "bot/__init__.py").touch()
    (tmp_path / "bot/tiny.py").write_text(TINY, encoding="utf-8")

    def suite(check=CHECK, **fields):
        return Suite(tmp_path, ("bot",), lambda _: [("check", (sys.executable, "-c", check))], **fields)

    return suite


def test_survivors_are_named_and_the_share_decides(tiny, capsys):
    assert main(["--count", "9"], tiny(ratchet=0.34)) == 1
    said = capsys.readouterr().out.splitlines()

    assert said[0] == "3 of 3 mutants, seed 1"
    assert sorted(line.split("] ")[1] for line in said[1:4]) == [
        "SURVIVED bot/tiny.py:3  18 → 19",
        "SURVIVED bot/tiny.py:7  age >= LIMIT → age > LIMIT",
        "killed (check) bot/tiny.py:7  return age >= LIMIT → return None",
    ]
    assert [line.split("] ")[0] for line in said[1:4]] == ["[1/3", "[2/3", "[3/3"]
    assert said[4:9] == [
        "",
        "survived: bot/tiny.py:3  18 → 19",
        "    LIMIT = 18",
        "survived: bot/tiny.py:7  age >= LIMIT → age > LIMIT",
        "    return age >= LIMIT",
    ]
    assert said[9].startswith("killed 1 of 3 in ")
    assert said[9].endswith(": 33.3%, and 34% is wanted")
    assert main(["--count", "9", "--jobs", "1"], tiny(ratchet=0.33)) == 0


def test_what_is_equivalent_does_not_count_and_what_is_gone_is_said(tiny, tmp_path, capsys):
    listed = '[[mutant]]\nfile = "bot/tiny.py"\ntext = "{}"\nchange = "{}"\nreason = "as a test"\n'
    (tmp_path / "scripts/equivalent_mutants.toml").write_text(
        listed.format("LIMIT = 18", "18 → 19") + listed.format("LIMIT = 21", "21 → 22"), encoding="utf-8"
    )

    assert main(["--count", "9"], tiny(ratchet=0.5)) == 0
    said = capsys.readouterr().out
    assert "lists what is not there any more: bot/tiny.py: 21 → 22, in `LIMIT = 21`\n2 of 2 mutants" in said
    assert "killed 1 of 2" in said


def test_a_part_alone_is_tried(tiny, tmp_path, capsys):
    (tmp_path / "bot/other.py").write_text("OTHER = 1", encoding="utf-8")
    main(["--only", "bot/other"], tiny())
    assert capsys.readouterr().out.startswith(
        "1 of 1 mutants, seed 1\n[1/1] SURVIVED bot/other.py:1  1 → 2\n"
    )


def test_nothing_is_left_changed(tiny, tmp_path):
    main([], tiny())
    assert (tmp_path / "bot/tiny.py").read_text(encoding="utf-8") == TINY


def test_without_tests_that_pass_nothing_is_tried(tiny):
    with pytest.raises(SystemExit, match=r"(?s)AssertionError: why.*these tests fail: check"):
        main([], tiny("assert False, 'why'"))


def test_a_mutant_that_never_comes_to_an_end_is_noticed(tiny, capsys):
    endless = f"{CHECK}\nwhile not is_grown(18): pass"
    assert main(["--jobs", "3"], tiny(endless, patience=3.0)) == 0
    assert "killed (check, too long) bot/tiny.py:3  18 → 19" in capsys.readouterr().out
