"""Streams of agents read as facts: wherever they are cut, and what errors say."""

import json
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.model.report import Category, Outcome
from bot.worker.engines import engine
from bot.worker.engines.facts import Facts, Listener, trouble, wait_in
from bot.worker.engines.verdicts import judge_end
from bot.worker.programs.process import End, Ended
from tests.worker.engines.test_contract import NAMES, RECORDED


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


def test_a_provider_that_answers_again_was_only_busy_for_a_while():
    facts = trouble(Facts(), "429 rate limit, try again in 20s").words("Here it is.")

    assert (facts.capacity, facts.retry_after) == ("", None)
    assert judge_end(Ended(End.EXITED, 1, ""), facts).outcome is Outcome.FAILED
