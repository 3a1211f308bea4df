"""What the files of a repository suggest for its configuration."""

import json

import pytest

from bot.console.init.detect import detect


def place(root, **contents):
    for name, text in contents.items():
        path = root / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("contents", "setup", "gates"),
    [
        ({}, (), []),
        (
            {"requirements__txt": "", "tests/x__py": ""},
            ("python3 -m venv .venv", ".venv/bin/pip install -r requirements.txt pytest"),
            [".venv/bin/pytest -q"],
        ),
        (
            {"setup__py": "", "mypy__ini": ""},
            ("python3 -m venv .venv", ".venv/bin/pip install -e . mypy"),
            [".venv/bin/mypy"],
        ),
        (
            {
                "package__json": json.dumps({"scripts": {"test": "x", "build": "y"}}),
                "package-lock__json": "{}",
            },
            ("npm ci",),
            ["npm run test", "npm run build"],
        ),
        ({"package__json": "{}", "tsconfig__json": "{}"}, ("npm install",), ["npx tsc --noEmit"]),
        ({"package__json": "not json"}, (), []),
        ({"package__json": "[1]"}, (), []),
        ({"Cargo__toml": "", "Cargo__lock": ""}, (), ["cargo test --locked"]),
        ({"go__mod": ""}, (), ["go test ./...", "go vet ./..."]),
        ({"Makefile": "test: x\n\ttrue\n"}, (), ["make test"]),
        ({"Makefile": "test: x\n\ttrue\n", "go__mod": ""}, (), ["go test ./...", "go vet ./..."]),
    ],
)
def test_what_the_files_suggest(tmp_path, contents, setup, gates):
    place(tmp_path, **contents)
    found, proposed = detect(tmp_path)
    assert found == setup
    assert [gate.run for gate in proposed] == gates
