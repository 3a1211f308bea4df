"""What is installed: the wheel, the locks, and the few names by which a machine uses this folder."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.packaging.rules import ACTION, ROOT, TEMPLATES

pytestmark = pytest.mark.packaging

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
NODE = ROOT / "tests" / "node"


def names(requirements):
    return {
        re.split(r"[\s\[<>=!~;]", requirement, maxsplit=1)[0].lower().replace("_", "-")
        for requirement in requirements
    }


def locked(name):
    (package,) = [package for package in LOCK["package"] if package["name"] == name]
    return package


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel, built by the pinned backend from a copy of what git would carry, without the network."""
    place = tmp_path_factory.mktemp("wheel")
    code = "import sys, uv_build; print(uv_build.build_wheel(sys.argv[1]))"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"
    built = subprocess.run(
        [sys.executable, "-c", code, place],
        cwd=ROOT,
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(place / built.stdout.strip().splitlines()[-1]) as archive:
        yield archive


class TestWheel:
    def test_it_holds_every_file_of_the_package(self, wheel):
        ours = {
            path.relative_to(ROOT).as_posix()
            for path in (ROOT / "bot").rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        packed = {name for name in wheel.namelist() if name.startswith("bot/") and not name.endswith("/")}

        assert packed == ours

    def test_it_holds_what_a_repository_installs(self, wheel):
        """The templates live at the root, where people look, and travel as files of the package."""
        for template in TEMPLATES.iterdir():
            assert wheel.read(f"bot/templates/{template.name}") == template.read_bytes()

    def test_it_is_typed_and_licensed(self, wheel):
        assert "bot/py.typed" in wheel.namelist()
        assert [name for name in wheel.namelist() if name.endswith("licenses/LICENSE")]

    def test_it_holds_nothing_else(self, wheel):
        assert {name.partition("/")[0] for name in wheel.namelist()} == {
            "bot",
            f"cf_conductor-{PROJECT['project']['version']}.dist-info",
        }

    def test_its_command_is_cf(self, wheel):
        (entry,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]

        assert "cf = bot.cli:main" in wheel.read(entry).decode()


class TestLinks:
    def test_each_template_is_linked_into_the_package_once(self):
        """One text in two places: the link makes that impossible to get wrong."""
        links = ROOT / "bot" / "templates"

        assert {link.name for link in links.iterdir()} == {template.name for template in TEMPLATES.iterdir()}
        for link in links.iterdir():
            assert link.is_symlink()
            assert link.resolve() == (TEMPLATES / link.name).resolve()


class TestLock:
    def test_it_is_of_this_project(self):
        """Name by name what pyproject asks for is what the lock was made for; `make setup` refuses any other difference."""
        asked = PROJECT["project"]
        (ours,) = [package for package in LOCK["package"] if package.get("source") == {"editable": "."}]
        meta = ours["metadata"]
        extras = {extra for extra, requirements in asked["optional-dependencies"].items() if requirements}

        assert ours["version"] == asked["version"]
        assert LOCK["requires-python"] == asked["requires-python"]
        assert set(meta["provides-extras"]) == extras
        assert {each["name"] for each in meta["requires-dist"]} == names(asked["dependencies"]).union(
            *(names(asked["optional-dependencies"][extra]) for extra in extras)
        )
        assert {each["name"] for each in meta["requires-dev"]["dev"]} == names(
            PROJECT["dependency-groups"]["dev"]
        )

    def test_everything_comes_from_the_ordinary_index_with_a_hash(self):
        for package in LOCK["package"]:
            if package["source"] == {"editable": "."}:
                continue
            assert package["source"] == {"registry": "https://pypi.org/simple"}, package["name"]
            files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
            for file in files:
                assert urlsplit(file["url"]).hostname == "files.pythonhosted.org"
                assert file["hash"].startswith("sha256:")

    def test_the_client_library_can_be_imported_at_all(self):
        """githubkit allows a hishel with which it cannot be imported."""
        assert locked("githubkit")["version"] == "0.16.1"
        assert locked("hishel")["version"].startswith("1.")

    def test_a_tick_does_not_install_the_sandbox(self):
        sandbox = names(PROJECT["project"]["optional-dependencies"]["sandbox"])

        assert names(PROJECT["project"]["dependencies"]).isdisjoint(sandbox)

    def test_the_version_is_said_once(self):
        import bot

        assert bot.__version__ == PROJECT["project"]["version"]


class TestNode:
    def test_the_lock_names_no_registry(self):
        """Whoever installs it uses their own registry; the hashes say that it is the same package."""
        lock = json.loads((NODE / "package-lock.json").read_text(encoding="utf-8"))
        packages = {path: package for path, package in lock["packages"].items() if path}

        assert packages
        for path, package in packages.items():
            assert "resolved" not in package, path
            assert package["integrity"].startswith("sha512-"), path

    def test_versions_are_exact(self):
        wanted = json.loads((NODE / "package.json").read_text(encoding="utf-8"))["dependencies"]

        assert wanted
        for name, version in wanted.items():
            assert re.fullmatch(r"\d+\.\d+\.\d+", version), name


class TestCommands:
    def test_make_help_names_what_the_documents_use(self):
        listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        targets = {line.split()[0] for line in listed.splitlines()}
        used = set()
        for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
            used |= set(
                re.findall(r"^(?:.*`)?make ([a-z-]+)", document.read_text(encoding="utf-8"), re.MULTILINE)
            )

        assert {"setup", "demo", "test", "check"} <= used <= targets

    def test_everything_is_decided_by_one_script(self):
        script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

        assert os.access(ROOT / ".ci" / "run", os.X_OK)
        assert script.startswith("#!/usr/bin/env bash\n")
        assert "set -euo pipefail" in script
        assert re.findall(r"^make (\w+)$", script, re.MULTILINE) == ["setup", "check", "test", "stories"]

    def test_the_same_uv_everywhere(self):
        """The Makefile, the image and the action install one version, so that one lock means one thing."""
        made = re.search(
            r"^UV_VERSION := (\S+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
        )
        image = re.search(r"uv==(\S+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
        action = re.search(r"^\s+version: [\"']?([\d.]+)", ACTION.read_text(encoding="utf-8"), re.MULTILINE)

        assert made is not None
        assert image is not None
        assert action is not None
        assert made[1] == image[1] == action[1]
