"""Which engine works on a task: who is asked first, what belongs together, and what is missing before it can."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model.config import Config, EngineConfig
from bot.model.engine import (
    ALIASES,
    ENGINES,
    RENAMED,
    SECRETS,
    EngineChoice,
    EngineRequest,
    RepositorySettings,
)
from bot.model.status import Status
from bot.plan.facts.engines import choose_engine, engine_problem
from tests.builders import a_record, a_snapshot, a_task, decide

READY = Config(
    engine="codex",
    engines={
        "command": EngineConfig("./agent.sh"),
        "opencode": EngineConfig(model="anthropic/claude-sonnet-4-5"),
        "mini-swe-agent": EngineConfig(model="openai/gpt-5"),
    },
)


def choose(*labels, config=READY, engine_requests=(), secrets=None, **variables):
    settings = RepositorySettings({f"CF_{name}": value for name, value in variables.items()}, secrets or {})
    return choose_engine(config, labels, settings, engine_requests)


@pytest.mark.parametrize(
    ("asked", "engine", "because"),
    [
        ({}, "codex", ".github/cf.yml"),
        ({"ENGINE": "gemini"}, "gemini", "variable"),
        ({"ENGINE": "gemini", "labels": ["cf:engine/claude-code"]}, "claude-code", "label"),
        ({"labels": ["CF:Engine/Claude-Code"]}, "claude-code", "label"),
        ({"labels": ["cf:engine/built-in"]}, "mini-swe-agent", "label"),
        (
            {"labels": ["cf:engine/codex"], "engine_requests": [("batch #7", EngineRequest("opencode"))]},
            "opencode",
            "batch #7",
        ),
        (
            {
                "engine_requests": [
                    ("the command", EngineRequest("command")),
                    ("batch #7", EngineRequest("opencode")),
                ]
            },
            "command",
            "the command",
        ),
    ],
)
def test_the_first_that_names_an_engine_has_it(asked, engine, because):
    """Command, batch, label, variable, configuration, default."""
    labels, engine_requests = asked.pop("labels", []), asked.pop("engine_requests", [])
    choice = choose(*labels, engine_requests=engine_requests, **asked)

    assert (choice.engine, choice.problem) == (engine, "")
    assert choice.because.startswith(f"engine {engine} by {because}")


def test_without_a_word_it_is_the_default_and_it_needs_a_model():
    choice = choose(config=Config())

    assert choice.engine == "mini-swe-agent"
    assert "needs a model: set engines.mini-swe-agent.model" in choice.problem
    assert "CF_MODEL" in choice.problem


@pytest.mark.parametrize(
    ("asked", "model"),
    [
        ({}, ""),
        ({"MODEL": "gpt-5"}, "gpt-5"),
        ({"MODEL": "gpt-5", "labels": ["cf:model/GPT-5-Mini"]}, "GPT-5-Mini"),
        ({"MODEL": "gpt-5", "ENGINE": "gemini", "labels": ["cf:engine/codex"]}, ""),
        ({"config": Config(engine="codex", model="gpt-5")}, "gpt-5"),
        ({"config": Config(engine="codex", model="gpt-5"), "labels": ["cf:engine/gemini"]}, ""),
        (
            {"config": Config(engine="codex", model="a", engines={"codex": EngineConfig(model="b")})},
            "b",
        ),
        (
            {
                "engine_requests": [("batch #7", EngineRequest("gemini", model="pro"))],
                "labels": ["cf:engine/claude-code"],
            },
            "pro",
        ),
        (
            {
                "engine_requests": [
                    ("the command", EngineRequest("codex")),
                    ("batch #7", EngineRequest("gemini", model="pro")),
                ]
            },
            "",
        ),
    ],
)
def test_a_model_named_together_with_another_engine_is_not_taken_for_this_one(asked, model):
    labels, engine_requests = asked.pop("labels", []), asked.pop("engine_requests", [])
    choice = choose(*labels, engine_requests=engine_requests, config=asked.pop("config", READY), **asked)

    assert (choice.model, choice.problem) == (model, "")


@pytest.mark.parametrize(
    ("engine", "more", "provider", "secret"),
    [
        ("claude-code", {}, "anthropic", "ANTHROPIC_API_KEY"),
        (
            "claude-code",
            {"PROVIDER": "claude-subscription"},
            "claude-subscription",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ),
        ("codex", {}, "openai", "OPENAI_API_KEY"),
        ("gemini", {}, "google", "GEMINI_API_KEY"),
        ("copilot", {}, "github", "COPILOT_GITHUB_TOKEN"),
        ("copilot", {"PROVIDER": "openai", "MODEL": "gpt-5"}, "openai", "OPENAI_API_KEY"),
        ("opencode", {}, "anthropic", "ANTHROPIC_API_KEY"),
        ("aider", {"MODEL": "openrouter/x/y"}, "openrouter", "OPENROUTER_API_KEY"),
        ("aider", {"MODEL": "deepseek/chat"}, "deepseek", "CF_MODEL_KEY"),
        ("aider", {"MODEL": "chat", "PROVIDER": "deepseek"}, "deepseek", "CF_MODEL_KEY"),
        (
            "codex",
            {"PROVIDER": "own", "MODEL": "m", "BASE_URL": "https://m.example/v1"},
            "own",
            "CF_MODEL_KEY",
        ),
        ("command", {}, "", "CF_MODEL_KEY"),
    ],
)
def test_the_provider_says_which_secret_holds_the_key(engine, more, provider, secret):
    choice = choose(ENGINE=engine, **more)

    assert (choice.provider, choice.secret, choice.problem) == (provider, secret, "")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            {"ENGINE": "claude-code", "secrets": {"ANTHROPIC_API_KEY": False}},
            "set the secret ANTHROPIC_API_KEY",
        ),
        ({"ENGINE": "aider"}, "aider needs a model"),
        ({"ENGINE": "aider", "MODEL": "gpt-5"}, "write the model as provider/name"),
        ({"ENGINE": "command", "config": Config()}, "set engines.command.args"),
        ({"ENGINE": "gemini", "PROVIDER": "openai"}, "engines.gemini.base_url"),
        ({"ENGINE": "copilot", "PROVIDER": "openai"}, "copilot needs a model"),
        ({"labels": ["cf:engine/devin"]}, "there is no engine devin: it must be one of aider, "),
        ({"labels": ["cf:engine/react"]}, "use mini-swe-agent"),
        ({"ENGINE": "cloud"}, "use any engine, with `runner` labels"),
        ({"labels": ["cf:engine/codex", "cf:engine/gemini"]}, "only one can be meant"),
        ({"labels": ["cf:model/a", "cf:model/b"]}, "only one can be meant"),
        (
            {"labels": ["cf:model/a", "cf:engine/codex", "cf:model/b", "cf:engine/gemini"]},
            "only one can be meant: label cf:engine/codex and label cf:engine/gemini (label cf:engine/codex)",
        ),
        ({"labels": ["cf:model/--yolo"]}, "cannot be the name of a model"),
        ({"labels": ["cf:model/a b"]}, "cannot be the name of a model"),
        ({"PROVIDER": "$(x)"}, "cannot be the name of a provider"),
        ({"BASE_URL": "https://user:pass@x"}, "is no address of an API"),
        ({"BASE_URL": "file:///etc"}, "is no address of an API"),
    ],
)
def test_what_is_missing_is_named_with_the_place_to_set_it(asked, words):
    labels, config = asked.pop("labels", []), asked.pop("config", READY)
    choice = choose(*labels, config=config, secrets=asked.pop("secrets", None), **asked)

    assert words in choice.problem


def test_a_key_of_which_nothing_is_known_is_taken_to_be_there():
    """Outside of its own workflow the conductor cannot know."""
    assert choose(ENGINE="claude-code").problem == ""
    assert choose(ENGINE="claude-code", secrets={"OPENAI_API_KEY": False}).problem == ""


def test_no_label_and_no_command_names_an_address():
    """It is sent the key."""
    assert choose("cf:base_url/https://evil.example", "cf:provider/evil").base_url == ""
    assert "base_url" not in EngineRequest.__struct_fields__


def test_an_address_counts_for_the_engine_that_it_was_given_for():
    own = Config(engine="codex", engines={"codex": EngineConfig(base_url="https://own.example/v1")})

    assert choose(config=own).base_url == "https://own.example/v1"
    assert choose(config=own, BASE_URL="https://other.example").base_url == "https://other.example"
    assert choose("cf:engine/gemini", config=own).base_url == ""
    assert choose(config=own, ENGINE="gemini", BASE_URL="https://g.example").engine == "gemini"
    labelled = choose("cf:engine/codex", config=own, ENGINE="gemini", BASE_URL="https://g.example")
    assert labelled.base_url == "https://own.example/v1"


words = st.text(max_size=30) | st.sampled_from([*ENGINES, *ALIASES, *RENAMED])


@given(st.lists(words.map("cf:engine/{}".format) | words.map("cf:model/{}".format), max_size=3), words, words)
def test_any_words_make_a_choice_that_is_known_or_refused(labels, engine, model):
    choice = choose(*labels, ENGINE=engine, MODEL=model)

    assert choice.problem or (choice.engine in ENGINES and choice.secret in SECRETS)
    assert "\n" not in choice.problem


def test_the_tick_holds_what_cannot_start_and_hands_the_choice_to_the_attempt():
    lacking = RepositorySettings(secrets={"OPENAI_API_KEY": False})
    task = a_task(1)

    held = decide(task, config=READY, settings=lacking)
    started = decide(task, config=READY)

    assert (held.start, held.status) == (None, Status.READY)
    assert "OPENAI_API_KEY" in held.reason
    assert started.start is not None
    assert started.start.choice == EngineChoice(
        "codex", "openai", secret="OPENAI_API_KEY", because="engine codex by .github/cf.yml"
    )
    assert started.record.attempts[-1].engine == "codex"


def test_work_that_is_only_to_be_published_needs_no_engine():
    lacking = RepositorySettings(secrets={"OPENAI_API_KEY": False})
    task = a_task(1, record=a_record(1, Status.READY, republish=True, earlier="900/cf-1-1"))

    started = decide(task, config=READY, settings=lacking)

    assert started.start is not None
    assert started.start.choice == EngineChoice()
    assert a_snapshot(task, settings=lacking).settings is lacking


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("react", "engine 'react' is from an earlier product: use mini-swe-agent"),
        ("plan", "engine 'plan' is from an earlier product: use mini-swe-agent"),
        (
            "cloud",
            "engine 'cloud' is from an earlier product: use any engine, with `runner` labels of the machines you want",
        ),
        ("codex", ""),
        ("built-in", ""),
    ],
)
def test_engines_of_an_earlier_product_are_named_with_what_took_their_place(name, words):
    assert engine_problem(name) == words
