"""A question in an agent's last words: read only where the agent changed nothing, and only where it is surely one.

Agents end with politeness as a rule ("Anything else?"), so a question mark alone is not enough. The lists of what counts and what
does not are tests/data/last_words.yml.
"""

import re
from collections.abc import Sequence

from bot.model.report import Question
from bot.notation.sanitise import sanitise
from bot.worker.agent.question import read_question

_END = re.compile(r"(?<=[.!?…。？])[)\]\"'”’*_`]*\s+|\n+")
_ITEM = re.compile(r"\s{0,6}(?:[-*+•]|\(?[A-Za-z0-9]{1,2}[.):])\s+\S")
_FENCE = re.compile(r"^\s*(?:```|~~~).*?^\s*(?:```|~~~)\s*$", re.MULTILINE | re.DOTALL)
_ASKING = re.compile(r"[?？][)\]\"'”’*_`]*$")
_MARKS = " \t*_`\"'“”‘’>#-"

# Offers and courtesies: they ask for nothing that the work waits for.
_POLITE = re.compile(
    r"\b(?:anything|something|what) else\b|\belse (?:i|you)\b|\bwhat(?:'s| is) next\b|\bneed (?:any|more)\b|\bready to\b"
    r"|\b(?:any|more|further|other) (?:questions?|concerns?|feedback|changes?|thoughts|requests?)\b|\bget started\b"
    r"|\bhow can i (?:help|assist)\b|\b(?:help|assist) you (?:with|further|today)\b|\blet me know if\b|\bhappy (?:with|to)\b"
    r"|\bwhat (?:would you like|do you want)(?: me)? to (?:do|work on|tackle)\b|\bmakes? sense\b"
    r"|\b(?:why|who) (?:not|cares|knows)\b"
    r"|\b(?:does|did) (?:that|this|it) (?:help|make sense|work|answer)|\b(?:look|sound)s? (?:good|right|ok(?:ay)?)\b"
    r"|\bright\W*$|\bisn't (?:it|that)\b|\bok(?:ay)?\W*$",
    re.IGNORECASE,
)
# What an agent cannot decide for itself: a choice, a leave, a fact.
_CUE = re.compile(
    r"(?:^|[,;:—–-]\s*|\b(?:and|but|so|or|then|now|first|before i \w+) )(?:"
    r"(?:should|shall|may|can|could|must|ought|do|would|am) (?:i|we)\b(?! (?:help|assist))"
    r"|(?:do|would|did|could|can|will) you (?:\w+ ){0,2}(?:want|like|prefer|rather|mean|intend|expect|need|confirm|clarify|specify"
    r"|tell|provide|share|give|point|explain|describe|choose|decide|say|have|know)\b"
    r"|(?:do you )?want me to\b"
    r"|(?:which|what|where|who|whose|when|how)\b.{0,200}\b(?:i|we|you|your|should|shall|must|is|are|does|do|will|would|can|wins?"
    r"|applies|counts?)\b"
    r"|(?:is|are|was|were|does|do|did|has|have|will) (?:it|this|that|there|the|these|those|a|an|any)\b.{3,}"
    r"|\w.{0,200}\bor\b.{1,120})",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^(?:so |then |before i \w+(?: \w+){0,4}, )?(?:please|kindly|could you|can you)(?: also)? (?:tell me|let me know|confirm"
    r"|clarify|specify|choose|decide|advise|say|indicate|provide|share|point me)\b(?! if (?:you|there|i can|anything))"
    r"|^(?:let me know|tell me) (?:which|what|where|who|when|how|whether)\b"
    r"|^i (?:need|have) to know (?:which|what|where|who|when|how|whether)\b"
    r"|^i need you to (?:tell|confirm|clarify|specify|choose|decide|provide)\b",
    re.IGNORECASE,
)
# What may stand behind a question without taking it back.
_AFTER = re.compile(
    r"^(?:please |kindly )?(?:let me know|tell me|advise|confirm|reply|answer)\b(?! if (?:you (?:have|need|want)|there)).{0,80}$"
    r"|^(?:thanks|thank you)\b.{0,30}$|^i (?:will|'ll|can|could)? ?(?:wait|stop|pause|hold off|proceed|continue)\b.{0,100}$"
    r"|^i (?:have|'ve)? ?(?:not changed|changed nothing|made no changes|stopped)\b.{0,80}$",
    re.IGNORECASE,
)
_FEWEST = 4  # words of a question
_LONGEST = 500  # characters of a sentence
_CONTEXT = 1_500


def last_question(text: str) -> Question | None:
    """The question with which these words end, with what stands around it; None if they do not end with one."""
    plain = _FENCE.sub("\n", sanitise(text)).strip()
    body, items = _without_list(plain.splitlines())
    sentences = [one for raw in _END.split(body) if raw and (one := raw.strip(_MARKS))]
    behind = 0
    while sentences and behind < 2 and _AFTER.match(sentences[-1]):
        if _REQUEST.match(sentences[-1]):
            break
        sentences.pop()
        behind += 1
    if not sentences or not _is_question(sentences[-1], listed=bool(items)):
        return None
    return read_question("\n".join([_paragraphs(body), *items]))


def _is_question(sentence: str, *, listed: bool) -> bool:
    if len(sentence) > _LONGEST or len(sentence.split()) < _FEWEST or _POLITE.search(sentence):
        return False
    if _REQUEST.match(sentence):
        return True
    asking = _ASKING.search(sentence) is not None or (listed and sentence.endswith(":"))
    return asking and _CUE.search(sentence) is not None


def _without_list(lines: Sequence[str]) -> tuple[str, list[str]]:
    """The text, and the list that it ends with: alternatives that are asked about."""
    kept = [line.rstrip() for line in lines]
    items: list[str] = []
    while kept and (not kept[-1].strip() or _ITEM.match(kept[-1])):
        line = kept.pop()
        if line.strip():
            items.insert(0, line)
    return ("\n".join(kept), items) if kept else ("\n".join(lines), [])


def _paragraphs(body: str) -> str:
    """The last paragraph, and those before it that fit."""
    told: list[str] = []
    for paragraph in reversed(re.split(r"\n\s*\n", body.strip())):
        if told and sum(map(len, told)) + len(paragraph) > _CONTEXT:
            break
        told.insert(0, paragraph)
    return "\n\n".join(told)
