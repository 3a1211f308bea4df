"""The pages that say where things are: every path on them exists, and so does every name that is said to be in one."""

import ast
import re
import tomllib

import pytest

from tests.packaging.rules import ROOT

pytestmark = pytest.mark.packaging

PAGES = ("docs/words.md", "docs/architecture.md", "CONTRIBUTING.md")
# A module, a folder, or whatever else is said to be below one of these.
PATH = re.compile(
    r"(?<![\w./-])((?:[\w.-]+/)*\w+\.py|(?:[\w.-]+/)+(?=[\s`,;:)])|(?:bot|docs|scripts|tests|workflows-templates)/[\w./-]*\w)"
)
NAMES = re.compile(r"((?:`\w+`(?:, | and )?)+) in `(bot/[\w/]+\.py)`")


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def paths_in(text):
    return set(PATH.findall(text))


def names_in(text):
    """The names that are said to be in a module, with its path."""
    return [(name, path) for names, path in NAMES.findall(text) for name in re.findall(r"`(\w+)`", names)]


def defined_in(path):
    names = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        match node:
            case ast.ClassDef(name) | ast.FunctionDef(name):
                names.add(name)
            case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
                names.add(name)
    return names


@pytest.mark.parametrize("page", PAGES)
def test_every_path_on_the_page_exists(page):
    paths = paths_in(text_of(page))
    assert len(paths) > 20
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []


def test_every_path_from_the_root_that_any_page_names_exists():
    pages = {
        path: paths_in(path.read_text(encoding="utf-8"))
        for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))
    }
    missing = [
        (page.name, path)
        for page, paths in pages.items()
        for path in paths
        if path.partition("/")[0] in ("bot", "docs", "scripts", "tests", "workflows-templates")
        and not (ROOT / path).exists()
    ]
    assert missing == []


def test_every_name_is_in_the_module_that_is_named_behind_it():
    names = [pair for page in PAGES for pair in names_in(text_of(page))]
    assert len(names) > 50
    assert [(name, path) for name, path in names if name not in defined_in(path)] == []


def test_the_order_of_the_rooms_is_that_of_the_contracts():
    settings = tomllib.loads(text_of("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    orders = [" -> ".join(contract["layers"]) for contract in settings if contract["type"] == "layers"]
    assert len(orders) > 1
    assert [order for order in orders if order not in text_of("docs/architecture.md")] == []
    assert orders[0] in text_of("CONTRIBUTING.md")


def test_what_counts_as_a_path_and_what_does_not():
    text = "`bot/plan/` and `bot/cli.py`, `act.py`; cf/1, `cf/<task>`, and/or, https://x.org/a/b, tests/x-y.yml, `a/b/c.md`."
    assert paths_in(text) == {"bot/plan/", "bot/cli.py", "act.py", "tests/x-y.yml"}
