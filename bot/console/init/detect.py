"""What a repository's own files say about how it is set up and tested: proposals for `setup` and `gates`."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct


class Proposal(Struct, frozen=True):
    """A command line, and for a gate its name; `name` is empty for a set-up command."""

    run: str
    name: str = ""


def detect(root: Path) -> tuple[tuple[str, ...], tuple[Proposal, ...]]:
    """The set-up commands and the gates that the files in `root` suggest, in the order they would run. Reads only."""
    found = [proposal for look in _LOOKS for proposal in look(root)]
    setup = tuple(dict.fromkeys(proposal.run for proposal in found if not proposal.name))
    gates = {proposal.name: proposal for proposal in found if proposal.name}
    return setup, tuple(gates.values())


def _python(root: Path) -> Iterator[Proposal]:
    project = _text(root / "pyproject.toml")
    tools: list[tuple[str, str, str]] = []  # program, its arguments, the gate's name
    if "pytest" in project or (root / "pytest.ini").is_file() or (root / "tests").is_dir():
        tools.append(("pytest", " -q", "tests"))
    if "[tool.ruff" in project or (root / "ruff.toml").is_file():
        tools.append(("ruff", " check .", "ruff"))
    if "[tool.mypy" in project or (root / "mypy.ini").is_file():
        tools.append(("mypy", "", "mypy"))
    # The machine's own Python may be managed by its system (PEP 668), and need not have the tools.
    if (root / "uv.lock").is_file():
        yield Proposal("python3 -m venv .uv && .uv/bin/pip install uv")
        yield Proposal(".uv/bin/uv sync --frozen --all-extras")
        prefix = ".uv/bin/uv run --frozen "
    elif project or any((root / name).is_file() for name in ("requirements.txt", "setup.py")):
        what = "-r requirements.txt" if (root / "requirements.txt").is_file() else "-e ."
        yield Proposal("python3 -m venv .venv")
        yield Proposal(" ".join([".venv/bin/pip install", what, *(program for program, _, _ in tools)]))
        prefix = ".venv/bin/"
    else:
        return
    for program, arguments, name in tools:
        yield Proposal(f"{prefix}{program}{arguments}", name)


def _node(root: Path) -> Iterator[Proposal]:
    try:
        package = json.loads(_text(root / "package.json") or "null")
    except ValueError:
        return
    if not isinstance(package, dict):
        return
    yield Proposal("npm ci" if (root / "package-lock.json").is_file() else "npm install")
    scripts = package.get("scripts")
    for name in ("test", "lint", "build"):
        if isinstance(scripts, dict) and name in scripts:
            yield Proposal(f"npm run {name}", f"npm {name}")
    if (root / "tsconfig.json").is_file():
        yield Proposal("npx tsc --noEmit", "tsc")


def _cargo(root: Path) -> Iterator[Proposal]:
    if (root / "Cargo.toml").is_file():
        yield Proposal(
            "cargo test --locked" if (root / "Cargo.lock").is_file() else "cargo test", "cargo test"
        )


def _go(root: Path) -> Iterator[Proposal]:
    if (root / "go.mod").is_file():
        yield Proposal("go test ./...", "go test")
        yield Proposal("go vet ./...", "go vet")


def _make(root: Path) -> Iterator[Proposal]:
    """A Makefile's `test` is what its people run; it is offered where nothing else was recognised as tests."""
    lines = _text(root / "Makefile").splitlines()
    others = any(
        look(root) for look in (_gates_of(_python), _gates_of(_node), _gates_of(_cargo), _gates_of(_go))
    )
    if not others and any(line.startswith("test:") for line in lines):
        yield Proposal("make test", "tests")


_Look = Callable[[Path], Iterator[Proposal]]


def _gates_of(look: _Look) -> Callable[[Path], list[Proposal]]:
    return lambda root: [proposal for proposal in look(root) if proposal.name]


_LOOKS: tuple[_Look, ...] = (_python, _node, _cargo, _go, _make)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
