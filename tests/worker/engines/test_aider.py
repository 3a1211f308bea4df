"""Aider tells what it used in words."""

from bot.worker.engines import engine
from bot.worker.engines.facts import Facts


def test_aider_tells_tokens_and_cost_in_words():
    line = "Tokens: 12k sent, 2.5k cache hit, 1.2k received. Cost: $0.04 message, $1.10 session."
    facts = engine("aider").read(engine("aider").read(Facts(), line), line)

    assert (facts.tokens, round(facts.usd, 2)) == (2 * 13_200, 0.08)
