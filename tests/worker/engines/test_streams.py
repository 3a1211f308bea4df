"""Streams of agents read as facts: whatever stands in them, wherever they are cut, and what is made of errors and questions."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.model.engine import COMMAND, ENGINES
from bot.model.errors import UsageError
from bot.model.report import Category, Outcome, Question
from bot.worker.engines import AgentInput, engine
from bot.worker.engines.facts import Facts, Listener, trouble, wait_in
from bot.worker.engines.verdicts import judge_end
from bot.worker.programs.process import End, Ended
from tests.worker.engines.test_contract import NAMES, RECORDED

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


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10)
@given(size=st.integers(1, 4000))
def test_it_does_not_matter_where_output_is_cut(name, size):
    data = (RECORDED / name / "again.txt").read_bytes()
    whole, pieces = (Listener(engine(name).read, structured=engine(name).structured) for _ in range(2))
    whole.feed(data, lambda _: None)
    for at in range(0, len(data), size):
        pieces.feed(data[at : at + size], lambda _: None)
    for listener in (whole, pieces):
        listener.end(lambda _: None)

    assert [step.text for step in whole.facts.steps] == [step.text for step in pieces.facts.steps]
    assert replace(whole.facts, steps=()) == replace(pieces.facts, steps=())


def test_people_are_shown_steps_instead_of_json_and_all_that_is_none():
    shown: list[bytes] = []
    listener = Listener(engine("codex").read, structured=True)
    listener.feed(b'a warning\n{"type":"thread.started","thread_id":"t1"}\n', shown.append)
    item = {"type": "command_execution", "command": "make test\n"}
    listener.feed(json.dumps({"type": "item.started", "item": item}).encode() + b"\n", shown.append)
    listener.end(shown.append)

    assert b"".join(shown) == b"a warning\nshell: make test\n"
    assert listener.facts.session == "t1"


def test_a_long_timeline_keeps_its_begin_and_its_end():
    facts = Facts()
    for number in range(1000):
        facts = facts.step(Category.SHELL, f"step {number}")

    assert facts.count == 1000
    assert [facts.steps[0].text, facts.steps[99].text, facts.steps[-1].text] == [
        "step 0",
        "step 99",
        "step 999",
    ]
    assert len(facts.steps) == 300


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Rate limit reached, please try again in 20s", 20),
        ("Please retry in 36.5 seconds.", 36.5),
        ("retry after 250 ms", 0.25),
        ("Your limit resets in 2 hours", 7200),
        ("try again in 5 minutes", 300),
        ("wait for 3m", 180),
        ("try again in 99999 hours", 7 * 24 * 3600),
        ("try again later", None),
        ("in 20s", None),
    ],
)
def test_how_long_an_error_asks_to_wait(words, seconds):
    assert wait_in(words) == (None if seconds is None else timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("429 Too Many Requests", Outcome.CAPACITY),
        ("API Error: 529 Overloaded", Outcome.CAPACITY),
        ("RESOURCE_EXHAUSTED", Outcome.CAPACITY),
        ("You exceeded your current quota, please check your plan", Outcome.CAPACITY),
        ("You've hit your usage limit", Outcome.CAPACITY),
        ("Your credit balance is too low", Outcome.CAPACITY),
        ("401 invalid x-api-key", Outcome.INFRA),
        ("Incorrect API key provided", Outcome.INFRA),
        ("The model gpt-9 does not exist", Outcome.INFRA),
        ("this request is no good", Outcome.FAILED),
        ("", Outcome.FAILED),
    ],
)
def test_errors_are_busy_refusing_or_failures(words, outcome):
    assert judge_end(Ended(End.EXITED, 1, ""), trouble(Facts(), words)).outcome is outcome


def test_a_provider_that_answers_again_was_only_busy_for_a_while():
    facts = trouble(Facts(), "429 rate limit, try again in 20s").words("Here it is.")

    assert (facts.capacity, facts.retry_after) == ("", None)
    assert judge_end(Ended(End.EXITED, 1, ""), facts).outcome is Outcome.FAILED


def test_an_end_by_signal_is_a_crash_and_0_decides_nothing():
    assert (
        judge_end(Ended(End.EXITED, -9, ""), Facts()).reason == "the agent died of SIGKILL (exit status -9)"
    )
    assert judge_end(Ended(End.EXITED, 139, ""), Facts()).outcome is Outcome.CRASHED
    assert judge_end(Ended(End.EXITED, 144, ""), trouble(Facts(), "no")).outcome is Outcome.FAILED
    assert judge_end(Ended(End.EXITED, 0, ""), Facts()).outcome is None


def test_a_usage_limit_says_when_it_ends():
    info = {"status": "rejected", "resetsAt": 4_000_000_000}
    line = json.dumps({"type": "rate_limit_event", "rate_limit_info": info})
    verdict = judge_end(Ended(End.EXITED, 1, ""), engine("claude-code").read(Facts(), line))

    assert (verdict.outcome, verdict.retry_after) == (Outcome.CAPACITY, timedelta(days=7))


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


def test_aider_tells_tokens_and_cost_in_words():
    line = "Tokens: 12k sent, 2.5k cache hit, 1.2k received. Cost: $0.04 message, $1.10 session."
    facts = engine("aider").read(engine("aider").read(Facts(), line), line)

    assert (facts.tokens, round(facts.usd, 2)) == (2 * 13_200, 0.08)


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


def test_the_command_needs_a_command_line(tmp_path):
    with pytest.raises(UsageError, match=r"engines\.command\.args is empty"):
        engine(COMMAND).call(replace(brief(tmp_path, COMMAND), args=" "))


def test_the_command_says_by_75_that_it_should_be_tried_later():
    assert engine(COMMAND).verdict(Ended(End.EXITED, 75, ""), Facts()).outcome is Outcome.CAPACITY


@pytest.mark.parametrize("name", ["react", "plan", "cloud", "devin"])
def test_there_is_no_such_engine(name):
    with pytest.raises(UsageError, match="engine"):
        engine(name)
