"""Contract: every engine alike: what it reads of a stream, how its program is started, and what never stands in a command line."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.model.engine import COMMAND, ENGINES
from bot.model.errors import UsageError
from bot.model.report import Category, Question
from bot.worker.engines import AgentInput, engine
from bot.worker.engines.facts import Facts
from tests.worker.engines.test_contract import RECORDED

KEY = "sk-test-0123456789abcdef"
TYPES = sorted(
    {
        found
        for file in RECORDED.rglob("*.txt")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith('{"') and (found := json.loads(line).get("type") or json.loads(line).get("cf"))
    }
)
WORDS = st.sampled_from([*TYPES, "error", "usage", "message", "rate_limit_event"]) | st.text(max_size=5)
NAMES_OF_FIELDS = st.sampled_from(
    "type subtype data item part message content usage cost tokens state input error text tool questions cf actions".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES_OF_FIELDS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ENGINES))
@settings(max_examples=60)
@given(lines=st.lists(JSON.map(json.dumps) | st.text(max_size=80), max_size=6))
def test_no_line_makes_a_reader_raise(name, lines):
    facts = Facts()
    for line in lines:
        facts = engine(name).read(facts, line)

    assert facts.tokens >= 0
    assert facts.usd >= 0
    assert len(facts.steps) == facts.count


ASKED = {"question": "Which one?", "options": [{"label": "this"}, {"label": "that"}]}
TOOL = {"type": "tool_use", "name": "AskUserQuestion", "input": {"questions": [ASKED]}}
STREAMS = {
    "claude-code": {"type": "assistant", "message": {"id": "m1", "content": [TOOL]}},
    "opencode": {
        "type": "tool_use",
        "part": {"tool": "question", "state": {"input": {"questions": [ASKED]}}},
    },
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_question_in_the_stream_stands_unless_the_agent_went_on_working(name):
    facts = engine(name).read(Facts(), json.dumps(STREAMS[name]))

    assert facts.question == Question("Which one?", ("this", "that"))
    assert facts.steps[-1].category is Category.QUESTION
    assert facts.words("I wait.").question is not None
    assert facts.step(Category.SHELL, "make").question is None


# ---------------------------------------------------------------- how they are started


def brief(tmp_path: Path, name: str = "codex", **fields: object) -> AgentInput:
    for file in ("prompt.md", "feedback.md"):
        (tmp_path / file).write_text(f"words of {file}; $(touch owned) --yolo", encoding="utf-8")
    provider = ENGINES[name].provider or "openai"
    common = AgentInput(
        workspace=tmp_path,
        home=tmp_path / "home",
        prompt=tmp_path / "prompt.md",
        question=tmp_path / "question.md",
        summary=tmp_path / "summary.md",
        key="cf-7-1",
        task=7,
        attempt=1,
        model_key=KEY,
        model=f"{provider}/some-model",
        provider=provider,
        args="./agent.sh" if name == COMMAND else "--extra 'two words'",
        env={"LEVEL": "high"},
    )
    return replace(common, **fields)


@pytest.mark.parametrize("name", sorted(ENGINES))
@pytest.mark.parametrize("again", [False, True])
def test_neither_the_task_nor_the_key_stands_on_a_command_line(tmp_path, name, again):
    """The task goes in by standard input or a file, the key by one variable of a known name."""
    given = brief(tmp_path, name)
    if again:
        given = replace(given, feedback=tmp_path / "feedback.md", session="0a1b")
    call = engine(name).call(given)

    line = "\0".join(call.command)
    assert "words of" not in line
    assert KEY not in line
    assert KEY not in json.dumps(call.settings)
    assert [value for value in call.environment.values() if value == KEY] == [KEY]
    assert call.environment["LEVEL"] == "high"
    if call.given is not None:
        assert call.given.decode().startswith(f"words of {'feedback' if again else 'prompt'}.md")
    if name != COMMAND:
        assert call.command[-3:].count("two words") + call.command.count("two words") >= 1
        assert "some-model" in line


@pytest.mark.parametrize("name", sorted(set(ENGINES) - {COMMAND, "aider"}))
def test_without_a_session_a_further_round_is_told_the_whole_task_again(tmp_path, name):
    call = engine(name).call(replace(brief(tmp_path, name), feedback=tmp_path / "feedback.md"))

    assert call.given is not None
    assert call.given.decode().index("words of prompt.md") < call.given.decode().index("words of feedback.md")


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_an_address_of_ones_own_reaches_the_program(tmp_path, name):
    call = engine(name).call(
        replace(brief(tmp_path, name), base_url="https://own.example/v1", provider="openai")
    )

    assert "https://own.example/v1" in json.dumps([*call.command, *call.environment.values()])


@pytest.mark.parametrize("name", ["aider", "mini-swe-agent"])
@pytest.mark.parametrize(
    ("fields", "model", "names"),
    [
        ({"provider": "google", "model": "pro"}, "gemini/pro", {"GEMINI_API_KEY"}),
        ({"provider": "deepseek", "model": "deepseek/chat"}, "deepseek/chat", {"DEEPSEEK_API_KEY"}),
        (
            {"provider": "own", "model": "own/m", "base_url": "https://own.example/v1"},
            "openai/m",
            {"OPENAI_API_KEY", "OPENAI_API_BASE"},
        ),
    ],
)
def test_the_library_inside_finds_model_key_and_address(tmp_path, name, fields, model, names):
    call = engine(name).call(replace(brief(tmp_path, name), **fields))

    assert model in call.command
    assert names <= call.environment.keys()


@pytest.mark.parametrize("name", sorted(set(ENGINES) - {COMMAND}))
def test_the_program_is_pinned(name):
    found = engine(name)
    (command,) = found.install

    assert found.version in command[-1]
    assert command[0] in ("npm", "uv")


@pytest.mark.parametrize("name", ["react", "plan", "cloud", "devin"])
def test_there_is_no_such_engine(name):
    with pytest.raises(UsageError, match="engine"):
        engine(name)


@pytest.mark.parametrize(
    ("name", "words"), [("react", "mini-swe-agent"), ("cloud", "runner"), ("nope", "must be one of aider")]
)
def test_engines_that_are_not_here(name, words):
    with pytest.raises(UsageError, match=words):
        engine(name)
