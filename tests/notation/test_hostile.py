"""Property: hostile texts, read by every reader and shown by every writer: nothing gets through that should not.

Each file of `tests/data/hostile` is one text that a stranger might leave in an issue, comment or log, or an agent in its words.
"""

import html
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace

from bot.model.decision import Notice
from bot.model.record import Answer, Blocker
from bot.model.report import Outcome, Question, Report
from bot.model.status import Status
from bot.notation.answers import Reply, read_answer
from bot.notation.batches import read_batch
from bot.notation.commands import read_commands
from bot.notation.comments import notice_comment, read_fingerprint, status_comment
from bot.notation.keys import Key
from bot.notation.marker import read_marker
from bot.notation.needs import read_needs
from bot.notation.questions import answered_text, automatic_text, pointer_text, question_text
from bot.notation.quoting import code_block, quote, quote_line
from bot.notation.records import read_record
from bot.notation.sanitise import sanitise
from bot.worker.prompt.prompt import Context, write_prompt
from tests.builders import BOT, NOW, a_comment, a_record, ago, an_attempt, an_issue

CORPUS = {
    path.stem: path.read_bytes().decode("utf-8")
    for path in sorted((Path(__file__).parents[1] / "data/hostile").glob("*.md"))
}
KEYWORDS = ("depends on", "blocked by", "requires", "needs")
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
# Names that GitHub would notify: not in code, and not with a letter right before.
MENTION = re.compile(r"(?<![A-Za-z0-9`])@(?=[A-Za-z0-9])")

each_text = pytest.mark.parametrize("text", CORPUS.values(), ids=list(CORPUS))
# Whole texts and their lines, in any order and glued together: what one of them hides must not help another.
_PIECES = [
    *CORPUS.values(),
    *(line for text in CORPUS.values() for line in text.splitlines(keepends=True)),
    "\n",
    "\n\n",
    "```\n",
    "> ",
]
grown = st.lists(st.sampled_from(_PIECES), min_size=1, max_size=6).map("".join)


@each_text
def test_it_holds_no_command(text):
    assert read_commands(text) == ()


@each_text
def test_it_holds_no_need(text):
    assert read_needs(text, "acme/shop", KEYWORDS).refs("acme/shop") == ()


@each_text
def test_it_chooses_no_option(text):
    assert not isinstance(read_answer(text, ("one", "two", "three")), Reply)


@each_text
def test_sec_07_it_is_no_state_of_ours(text):
    """Not even in a comment or issue of ours would it be the record of this task; in anybody else's it is nothing at all."""
    assert read_record(a_comment(text), 1, {BOT.id}) is None
    assert read_batch(an_issue(1, "cf:batch", body=text), {BOT.id}) is None


def texts_of_ours(text):
    """Everything that we write with such words in it."""
    question = Question(text, (text, text), text)
    record = a_record(
        1,
        Status.BLOCKED,
        attempts=(an_attempt(1, Outcome.FAILED, reason=text, cancelled_for=text, run=900),),
        answers=(Answer(text, text, text, 7, NOW),),
        blocker=Blocker("question:cf-1-1", question, ago(minutes=1)),
    )
    yield "quote", quote(text)
    yield "code block", code_block(text)
    yield "one line", f"- {quote_line(text)}"
    yield "row", f"| a | b |\n|---|---|\n| {quote_line(text)} | x |"
    yield "notice", notice_comment(Notice("mine:1", quote(text)))
    yield "status comment", status_comment(record, text, "cf")
    unsigned = replace(record, approval=None)  # a question is addressed to who ordered the work, by name
    yield "question", question_text(question, unsigned, "cf")
    yield "pointer", pointer_text(question, 2, "cf")
    yield "answered", answered_text(question, record.answers[0])
    yield "automatic", automatic_text(question, record.answers[0], text)


def judge(text):
    for name, ours in texts_of_ours(text):
        assert read_commands(ours) == (), name
        if name in ("quote", "code block", "notice"):
            assert read_needs(ours, "acme/shop", KEYWORDS).refs("acme/shop") == (), name
        for marker in ("state", "batch"):
            assert read_marker(marker, ours) is None, name
        visible = _without_code(html.unescape(re.sub(r"<!-- cf:.*? -->", "", ours)))
        assert not MENTION.search(visible), name
        if name == "notice":
            assert read_fingerprint(ours) == "mine:1"
        elif name != "status comment":
            assert read_fingerprint(ours) is None, name
    record = read_record(a_comment(dict(texts_of_ours(text))["status comment"], by=BOT), 1, {BOT.id})
    assert record is not None
    assert (record.next_attempt, record.status) == (1, Status.BLOCKED)


def _without_code(ours):
    """What is left to read beside code, where no name is notified."""
    return "".join(
        child.content
        for token in MARKDOWN.parse(ours)
        for child in (token.children or ([token] if token.type == "html_block" else []))
        if child.type in ("text", "html_inline", "html_block")
    )


@each_text
def test_in_our_own_texts_it_orders_notifies_hides_and_marks_nothing(text):
    judge(text)


@given(grown)
def test_nor_does_anything_that_is_made_of_such_texts(text):
    judge(text)


@given(grown)
def test_quoted_by_a_person_it_orders_nothing(text):
    """A person who quotes it in a reply says nothing of it."""
    quoted = "\n".join(f"> {line}" for line in re.split(r"\r\n|\r|\n", text))
    assert read_commands(f"{quoted}\n") == ()
    assert read_needs(quoted, "acme/shop", KEYWORDS).refs("acme/shop") == ()


@each_text
def test_sec_16_a_prompt_shows_it_as_people_see_it(text):
    """In every place that foreign words reach a prompt from: nothing hidden, nothing of ours."""
    words = sanitise(text)
    record = a_record(
        1, attempts=(an_attempt(1, Outcome.BLOCKED),), answers=(Answer(text, text, "wendy", 7, NOW),)
    )
    issue = an_issue(1, title=text.splitlines()[0], body=text)
    context = Context(
        Key(1, 2),
        issue,
        record,
        [a_comment(text, 8)],
        (),
        "the base",
        earlier=Report("cf-1-1", 1, Outcome.FAILED, text, text),
    )
    prompt = write_prompt(context).text
    for shown in (words, prompt):
        assert "<!--" not in shown
        assert not re.search("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\U000e0000-\U000e0fff\x00-\x08]", shown)
    assert read_marker("record", prompt) is None
