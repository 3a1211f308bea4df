"""The supervisor: answers what is tactical, and leaves everything else to a person.

In this order, and whatever comes first decides: the deny list, a veto, a rule, what the model said about the same question
before, the model. The question and its options are all that is looked at.
"""

import re
from collections.abc import Iterable
from functools import cache

from msgspec import Struct

from bot.model.config import SupervisorRule
from bot.model.report import Question
from bot.model.snapshot import Classify, Snapshot
from bot.notation.phrases import Phrase, holds, parts_of, plain, read_phrase, words_of
from bot.notation.questions import question_fingerprint
from bot.plan.questions.rulebook import DENY, NEUTRAL, RULES

MODEL = "the model"
_MOST_JUDGED = 6_000  # characters; nobody asks a tactical question at such length
_MOST_ANSWER = 500
_SENTENCE_END = re.compile(r"(?<=[.!?])[\s\"')\]*_`]+|\n")


class Automatic(Struct, frozen=True):
    """An answer that needs nobody: by which rule, and why."""

    answer: str
    rule: str
    reason: str


class ForPerson(Struct, frozen=True):
    reason: str


def judge(question: Question, snapshot: Snapshot) -> Automatic | ForPerson | Classify:
    """What becomes of a question; `Classify` if the model must be asked first."""
    config = snapshot.config
    before = snapshot.judged.get(question)
    if before is not None:
        return (
            Automatic(before.answer, before.rule, before.reason) if before.rule else ForPerson(before.reason)
        )
    if config.supervisor == "off":
        return ForPerson("supervisor: off")
    denied = denial((question.text, *question.options))
    if denied:
        return ForPerson(denied)
    known = snapshot.remembered.get(question_fingerprint(question))
    if known is not None and known.vetoed:
        return ForPerson(known.reason)
    rule = matching(question, (*config.supervisor_rules, *RULES))
    if rule is not None:
        return Automatic(rule.answer, rule.name, rule.reason)
    if config.supervisor != "llm":
        return ForPerson("no rule knows it")
    verdict = known or snapshot.verdicts.get(question)
    if verdict is None:
        return Classify(question)
    answer = verdict.answer.strip()
    if not answer or len(answer) > _MOST_ANSWER:
        return ForPerson(verdict.reason or "the model leaves it to a person")
    denied = denial((answer,))
    if denied:
        return ForPerson(f"the model's answer is not taken: {denied}")
    return Automatic(answer, MODEL, verdict.reason or "it is tactical")


def fingerprint_of(question: Question, snapshot: Snapshot) -> str:
    """The question's fingerprint, also where its words were taken out."""
    before = snapshot.judged.get(question)
    return before.fingerprint if before is not None else question_fingerprint(question)


def denial(texts: Iterable[str]) -> str:
    """Why a person must answer, by the deny list; empty if it says nothing."""
    for text in texts:
        if len(text) > _MOST_JUDGED:
            return "it is too long to be judged"
        for words in (words_of(text), parts_of(text)):
            for subject, phrases in _denied().items():
                if any(holds(words, phrase) for phrase in phrases):
                    return f"it touches {subject}"
    return ""


def matching(question: Question, rules: Iterable[SupervisorRule]) -> SupervisorRule | None:
    """The first rule that knows the question.

    One of its phrases must be there, and every sentence that asks must either hold one as well or ask nothing of its own. So a
    rule never answers the second of two questions.
    """
    words = words_of(question.text)
    sentences = _SENTENCE_END.split(f"{plain(question.text)}\n")
    asking = [words_of(sentence) for sentence in sentences if sentence.endswith("?")]
    for rule in rules:
        phrases = _phrases(rule.match)
        if not any(holds(words, phrase) for phrase in phrases):
            continue
        if any(holds(words, phrase) for phrase in _phrases(rule.unless)):
            continue
        if rule.bare:
            if not question.options and set(words) <= NEUTRAL:
                return rule
        elif all(set(said) <= NEUTRAL or any(holds(said, phrase) for phrase in phrases) for said in asking):
            return rule
    return None


@cache
def _phrases(texts: tuple[str, ...]) -> tuple[Phrase, ...]:
    return tuple(map(read_phrase, texts))


@cache
def _denied() -> dict[str, tuple[Phrase, ...]]:
    return {subject: _phrases(phrases) for subject, phrases in DENY.items()}
