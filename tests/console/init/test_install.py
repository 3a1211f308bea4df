"""`cf init`: workflows and a first configuration, and nobody's change overwritten."""

from pathlib import Path

import pytest

from bot.cli import main
from bot.model.config import CONFIG_PATH
from bot.notation.config import read_config

TEMPLATES = Path(__file__).parents[3] / "workflows-templates"


@pytest.fixture
def root(tmp_path):
    (tmp_path / ".git").mkdir()
    return tmp_path


def place(root, **contents):
    for name, text in contents.items():
        path = root / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_a_python_repository_gets_workflows_and_a_valid_configuration(root, capsys):
    place(root, pyproject__toml="[tool.pytest.ini_options]\n[tool.ruff]\n", uv__lock="")
    assert main(["init", str(root), "--agent", 'my-agent --say "it\'s"']) == 0

    for template in TEMPLATES.glob("*.yml"):
        assert (root / ".github/workflows" / template.name).read_text() == template.read_text()
    config = read_config((root / CONFIG_PATH).read_text())
    assert config.engines["command"].args == 'my-agent --say "it\'s"'
    assert config.setup == (
        "python3 -m venv .uv && .uv/bin/pip install uv",
        ".uv/bin/uv sync --frozen --all-extras",
    )
    assert [(gate.name, gate.run) for gate in config.gates] == [
        ("tests", ".uv/bin/uv run --frozen pytest -q"),
        ("ruff", ".uv/bin/uv run --frozen ruff check ."),
    ]
    assert "CF_MODEL_KEY" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--engine", "claude-code"], "the model's key as the secret ANTHROPIC_API_KEY"),
        (["--model", "openai/gpt-5"], "the model's key as the secret OPENAI_API_KEY"),
        ([], "the engine mini-swe-agent needs a model"),
        (["--engine", "command"], "set engines.command.args"),
    ],
)
def test_an_engine_by_name_is_written_down_and_what_it_needs_is_said(root, capsys, options, words):
    assert main(["init", str(root), *options]) == 0

    config = read_config((root / CONFIG_PATH).read_text())
    assert config.engine == (options[1] if "--engine" in options else "mini-swe-agent")
    assert [each.model for each in config.engines.values()] == (
        ["openai/gpt-5"] if "--model" in options else []
    )
    assert words in capsys.readouterr().out


def test_a_command_line_and_an_engine_by_name_exclude_each_other(root, capsys):
    assert main(["init", str(root), "--agent", "x", "--engine", "codex"]) == 2
    assert "leave out --engine and --model" in capsys.readouterr().err


def test_a_second_time_changes_nothing_and_somebodys_change_is_kept(root, capsys):
    place(root, go__mod="module x\n")
    main(["init", str(root)])
    conductor = root / ".github/workflows/cf-conductor.yml"
    conductor.write_text("# mine\n")
    (root / CONFIG_PATH).write_text("version: 1\n")
    capsys.readouterr()
    assert main(["init", str(root)]) == 0

    told = capsys.readouterr().out
    assert "cf-conductor.yml differs from ours; --force replaces it" in told
    assert conductor.read_text() == "# mine\n"
    assert (root / CONFIG_PATH).read_text() == "version: 1\n"
    assert main(["init", str(root), "--force"]) == 0
    assert conductor.read_text() == (TEMPLATES / "cf-conductor.yml").read_text()
    assert (root / CONFIG_PATH).read_text() == "version: 1\n"


def test_options_that_come_after_the_file_are_not_lost_in_silence(root, capsys):
    assert main(["init", str(root), "--engine", "codex"]) == 0
    capsys.readouterr()
    assert main(["init", str(root), "--engine", "gemini"]) == 0
    assert "change engine and model in it" in capsys.readouterr().out
    assert read_config((root / CONFIG_PATH).read_text()).engine == "codex"


def test_what_is_no_repository_is_refused_before_anything_is_written(tmp_path, capsys):
    assert main(["init", str(tmp_path)]) == 2
    assert "no .git" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_linked_workflow_is_not_written_through(root, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "file"
    elsewhere.write_text("x")
    folder = root / ".github/workflows"
    folder.mkdir(parents=True)
    (folder / "cf-batch.yml").symlink_to(elsewhere)
    assert main(["init", str(root), "--force"]) == 2
    assert elsewhere.read_text() == "x"
