"""Questions: the fingerprint by which the same one is known again, and how each is shown in its one comment."""

import hashlib

from bot.model.record import Answer, Blocker, Record
from bot.model.report import Question
from bot.notation.keys import Key
from bot.notation.phrases import words_of
from bot.notation.quoting import quote, quote_line

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def question_fingerprint(question: Question) -> str:
    """16 hex digits: the same for two questions that differ in case, spacing, punctuation and hidden characters only."""
    said = [" ".join(words_of(text)) for text in (question.text, *question.options)]
    return hashlib.sha256("\n".join(said).encode("utf-8", "replace")).hexdigest()[:16]


def question_key(record: Record) -> str:
    """The fingerprint of the comment in which the newest attempt asks: one for each attempt, so that no answer is used twice."""
    return f"question:{Key(record.task, record.attempts[-1].number if record.attempts else 0)}"


def question_text(question: Question, record: Record, ways: str) -> str:
    """An open question: whom it is for, what was tried, the options, and in `ways` what can be done about it."""
    asked = f"@{record.approval.by}: t" if record.approval else "T"
    first = f"**Question.** {asked}he agent cannot go on without an answer."
    return "\n\n".join([first, *_asked(question), ways])


def pointer_text(question: Question, task: int, prefix: str) -> str:
    """One line instead of a question that is open on another task."""
    return (
        f"**Question**, the same as on #{task}: {quote_line(question.text, 120)} An answer there answers it here;"
        f" `/{prefix} answer ...` here counts for this task alone."
    )


def answered_text(question: Question, answer: Answer) -> str:
    """What a question's comment becomes once it was answered."""
    return "\n\n".join(
        [
            f"**Question, answered** by {quote_line(answer.by)}.",
            *_asked(question),
            "Answer:",
            quote(answer.answer),
        ]
    )


def automatic_text(question: Question, answer: Answer, reason: str) -> str:
    """A question that nobody needs to answer: which rule did, why, and how to take that back."""
    return "\n\n".join(
        [
            f"**Question, answered automatically** by `{quote_line(answer.rule)}`: {quote_line(reason)}",
            *_asked(question),
            "Answer:",
            quote(answer.answer),
            (
                "If that is wrong, reply with the right answer until the next attempt has ended: your reply takes its place,"
                " and an attempt that began with the other one is ended and starts again."
            ),
        ]
    )


def withdrawn_text(question: Question, automatic: Answer, answer: Answer) -> str:
    """An automatic answer that somebody took back."""
    return "\n\n".join(
        [
            (
                f"**Question, answered** by {quote_line(answer.by)}, who took back the automatic answer by"
                f" `{quote_line(automatic.rule)}`."
            ),
            *_asked(question),
            "Answer:",
            quote(answer.answer),
        ]
    )


def reminder_text(blocker: Blocker, to: tuple[str, ...], *, escalated: bool) -> str:
    """Said once while a question waits; `to` are logins or teams."""
    whom = " ".join(f"@{name}" for name in to)
    asked = quote_line(blocker.question.text, 200)
    words = (
        "This question is still open, and the task waits"
        if escalated
        else "A reminder: this question is open"
    )
    return f"{whom + ': ' if whom else ''}{words[0].lower() if whom else words[0]}{words[1:]}. {asked}"


def _asked(question: Question) -> list[str]:
    parts = [quote(question.text)]
    if question.tried:
        parts += ["What it tried:", quote(question.tried)]
    if question.options:
        lines = [
            f"- **{letter}** {quote_line(option)}"
            for letter, option in zip(_LETTERS, question.options, strict=False)
        ]
        parts.append("\n".join(lines))
    return parts
