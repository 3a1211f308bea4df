"""An agent's question: what it asks, the options, and what it tried."""

import pytest

from bot.model.report import Question
from bot.worker.agent.question import read_question


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Which one?\n\nA. red\nB. blue\n", Question("Which one?", ("red", "blue"))),
        (
            "# Question\nWhich?\n- A) red\n- **B:** blue\n## What I tried\nboth\n",
            Question("Which?", ("red", "blue"), "both"),
        ),
        ("Just a question", Question("Just a question")),
        ("A. only one option", Question("only one option")),
        ("Which?\nA. red\nC. green", Question("Which?\nC. green\nred")),
        ("a. red\nb. blue\nTried: red", Question("Which of these?", ("red", "blue"), "red")),
        ("  \n", None),
        ("<!-- nothing -->\n\u200b", None),
    ],
)
def test_questions(text, question):
    assert read_question(text) == question
