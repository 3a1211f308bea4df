"""A question in an agent's last words: the list of what is one, and of what is none."""

from pathlib import Path

import pytest
import yaml

from bot.worker.agent.last_words import last_question

DATA = yaml.safe_load((Path(__file__).parents[2] / "data/last_words.yml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", DATA["asked"])
def test_what_is_asked(text):
    question = last_question(text)

    assert question is not None
    assert question.text


@pytest.mark.parametrize("text", DATA["not"])
def test_what_is_not_asked(text):
    assert last_question(text) is None


def test_the_lists_are_long_enough_to_mean_something():
    assert min(len(set(DATA["asked"])), len(set(DATA["not"]))) >= 20


def test_what_stands_around_a_question_is_told_with_it_and_letters_are_options():
    question = last_question(
        "I looked.\n\nThere are two formats. Which one is wanted?\n\nA. ISO\nB. American\n"
    )

    assert question is not None
    assert question.text == "I looked.\n\nThere are two formats. Which one is wanted?"
    assert question.options == ("ISO", "American")


def test_a_long_talk_is_cut_to_its_end():
    question = last_question(
        "word " * 2_000 + "\n\n" + "Some context. " * 5 + "Which of the two files should I change?"
    )

    assert question is not None
    assert question.text.startswith("Some context.")
