"""What the conductor asks a model, and what becomes of every kind of answer."""

import json

import pytest
import respx

from bot.model.advice import Brief, Proposal, Verdict
from bot.model.config import Config, EngineConfig, Models
from bot.model.report import Question
from bot.models.advisor import advisor_for, endpoint_of
from bot.models.client import Budget, Endpoint

KEYED = {"CF_ADVISOR_KEY": "sk-test-0123456789"}
CONFIG = Config(models=Models(supervisor="claude-x", planning="openai/gpt-x"))


def classified(answer):
    with respx.mock() as router:
        said = {"content": [{"type": "text", "text": answer}]}
        router.post("https://api.anthropic.com/v1/messages").respond(json=said)
        return advisor_for(CONFIG, KEYED, Budget()).classify(Question("Tabs?", ("yes", "no")))


def test_a_tactical_answer_is_taken():
    assert classified('{"kind": "TACTICAL", "answer": " spaces ", "reason": "house style"}') == Verdict(
        "spaces", "house style"
    )


@pytest.mark.parametrize(
    "answer",
    [
        '{"kind": "HUMAN"}',
        '{"kind": "HUMAN", "answer": "spaces"}',
        '{"kind": "TACTICAL"}',
        '{"kind": "TACTICAL", "answer": "   "}',
        json.dumps({"kind": "TACTICAL", "answer": "x" * 501}),
        '{"kind": "tactical", "answer": "spaces"}',
        '{"kind": "MAYBE", "answer": "spaces"}',
        '{"kind": "TACTICAL", "answer": ["spaces"]}',
        "TACTICAL: spaces",
        "",
        "[]",
        "null",
    ],
)
def test_everything_else_is_a_persons(answer):
    verdict = classified(answer)
    assert verdict.answer == ""
    assert verdict.reason


def test_a_model_that_cannot_be_reached_leaves_it_to_a_person():
    with respx.mock() as router:
        router.post().respond(401)
        verdict = advisor_for(CONFIG, KEYED, Budget()).classify(Question("Tabs?"))
    assert verdict == Verdict(reason="api.anthropic.com answered 401")


def test_needs_are_asked_with_number_title_and_text():
    tasks = [Brief(1, "Parser", "reads"), Brief(2, "Printer", "uses the parser")]
    with respx.mock() as router:
        said = {"choices": [{"message": {"content": '{"2": [1]}'}}]}
        route = router.post("https://api.openai.com/v1/chat/completions").respond(json=said)
        proposal = advisor_for(CONFIG, KEYED, Budget()).infer(tasks)
    assert proposal == Proposal({2: (1,)})
    sent = json.loads(json.loads(route.calls.last.request.content)["messages"][1]["content"])
    assert sent[1] == {"number": 2, "title": "Printer", "text": "uses the parser"}


@pytest.mark.parametrize("answer", ['{"two": [1]}', '{"2": 1}', "[[2, 1]]", "#2 needs #1", "{}}"])
def test_an_unreadable_proposal_is_none(answer):
    with respx.mock() as router:
        router.post().respond(json={"choices": [{"message": {"content": answer}}]})
        proposal = advisor_for(CONFIG, KEYED, Budget()).infer([Brief(1, "x", "")])
    assert proposal.needs == {}
    assert proposal.problem


@pytest.mark.parametrize(
    ("environ", "configured", "words"),
    [
        (KEYED, None, "no model is set: models.supervisor"),
        ({}, "claude-x", "the secret CF_ADVISOR_KEY is not set"),
        (KEYED | {"CF_PROVIDER": "acme"}, "x", "the provider must be anthropic or openai"),
    ],
)
def test_what_is_missing_is_said(environ, configured, words):
    assert words in str(endpoint_of("supervisor", configured, environ, EngineConfig()))


@pytest.mark.parametrize(
    ("environ", "configured", "provider", "model", "address"),
    [
        ({}, "claude-x", "anthropic", "claude-x", "https://api.anthropic.com"),
        ({}, "gpt-x", "openai", "gpt-x", "https://api.openai.com/v1"),
        ({}, "anthropic/other", "anthropic", "other", "https://api.anthropic.com"),
        ({"CF_MODELS_SUPERVISOR": "gpt-y"}, "claude-x", "openai", "gpt-y", "https://api.openai.com/v1"),
        ({"CF_BASE_URL": "https://m.example"}, "meta/llama", "openai", "meta/llama", "https://m.example"),
        ({"CF_PROVIDER": "anthropic"}, "big", "anthropic", "big", "https://api.anthropic.com"),
    ],
)
def test_a_variable_outweighs_the_configuration(environ, configured, provider, model, address):
    endpoint = endpoint_of("supervisor", configured, KEYED | environ, EngineConfig())
    assert endpoint == Endpoint(provider, address, model, KEYED["CF_ADVISOR_KEY"])


def test_provider_and_address_of_the_engine_in_use_hold_for_a_plain_name():
    own = EngineConfig(provider="openai", base_url="https://m.example/v1")
    assert endpoint_of("planning", "qwen", KEYED, own) == Endpoint(
        "openai", "https://m.example/v1", "qwen", KEYED["CF_ADVISOR_KEY"]
    )
    assert "api.anthropic.com" in str(endpoint_of("planning", "anthropic/x", KEYED, own))
