"""What an agent's output says, gathered line by line while it works: counts, session, steps, questions, limits."""

import codecs
import re
import time
from collections.abc import Callable
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from bot.model.report import Category, Question, Step
from bot.worker.engines.limits import is_limit

_FIRST, _LAST = 100, 200  # steps kept of a long timeline
_TEXT = 300
_WORDS = 3_000
_LONGEST = 4 * 1024 * 1024  # characters of one line; what is longer is no event that we know


class Facts(Struct, frozen=True):
    """What is known so far. `tokens` and `usd` count every round of the attempt, `settled` those of rounds that have ended.

    `said` are the agent's last words, `closing` their end, `error` the last trouble that its program told. `capacity` says why the
    model's provider takes no work just now (empty again once it did); it asks to wait for `retry_after`, or until `retry_at` (a
    Unix time). `refused` says why it never will. `counted` is the message whose tokens are
    counted already, `count` the number of all steps, of which `steps` holds the first and the last.
    """

    session: str = ""
    model: str = ""
    version: str = ""
    tokens: int = 0
    usd: float = 0.0
    settled: tuple[int, float] = (0, 0.0)
    counted: str = ""
    said: str = ""
    closing: str = ""
    question: Question | None = None
    error: str = ""
    capacity: str = ""
    retry_after: timedelta | None = None
    retry_at: float = 0.0
    refused: str = ""
    count: int = 0
    steps: tuple[Step, ...] = ()

    def step(self, category: Category, text: str) -> "Facts":
        """With one more step. A question stands only as long as the agent did not go on working."""
        one = Step(category, " ".join(text.split())[:_TEXT])
        steps = (*self.steps, one)
        if len(steps) > _FIRST + _LAST:
            steps = (*steps[:_FIRST], *steps[_FIRST + 1 :])
        worked = category in (Category.FILE, Category.SHELL)
        return replace(self, steps=steps, count=self.count + 1, question=None if worked else self.question)

    def words(self, text: str) -> "Facts":
        """The agent said something, so its provider works."""
        text = text.strip()
        if not text:
            return self
        told = self.step(Category.MODEL, text)
        return replace(
            told,
            said=text[:_WORDS],
            closing=text[-_WORDS:],
            capacity="",
            retry_after=None,
            retry_at=0.0,
            refused="",
        )

    def more_words(self, text: str) -> "Facts":
        """The next piece of what the agent says: only a first one is a step."""
        last = self.steps[-1].category if self.steps else None
        if last is not Category.MODEL or not self.said:
            return self.words(text)
        return replace(self, said=(self.said + text)[:_WORDS], closing=(self.closing + text)[-_WORDS:])

    def fresh(self) -> "Facts":
        """For the next round: counts, session and steps stay."""
        return replace(
            self,
            settled=(self.tokens, self.usd),
            said="",
            closing="",
            question=None,
            error="",
            capacity="",
            retry_after=None,
            retry_at=0.0,
            refused="",
        )


class Listener:
    """Folds a program's output into facts as it comes, and shows people what they can read of it.

    `show` gets bytes: all of the output, or, of a structured stream, one line for each step and what is no JSON.
    """

    def __init__(self, read: Callable[[Facts, str], Facts], *, structured: bool) -> None:
        self.facts = Facts()
        self._read = read
        self._structured = structured
        self._began = time.monotonic()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._partial = ""

    def feed(self, data: bytes, show: Callable[[bytes], object]) -> None:
        """More output. Called from one thread at a time."""
        if not self._structured:
            show(data)
        self._take(self._decoder.decode(data), show)

    def note(self, category: Category, text: str) -> None:
        """A step of ours in the timeline."""
        self.facts = self._stamped(self.facts, self.facts.step(category, text))

    def end(self, show: Callable[[bytes], object]) -> None:
        """The program has ended: what stands there is its last line."""
        last = self._decoder.decode(b"", final=True)
        if self._partial or last:
            self._take(f"{last}\n", show)
        self._decoder.reset()

    def _take(self, text: str, show: Callable[[bytes], object]) -> None:
        *lines, self._partial = (self._partial + text).split("\n")
        self._partial = self._partial[-_LONGEST:]
        for line in lines:
            before = self.facts
            after = self._read(before, line.rstrip("\r"))
            self.facts = self._stamped(before, after)
            if self._structured:
                self._show(line, after.count - before.count, show)

    def _stamped(self, before: Facts, after: Facts) -> Facts:
        new = min(after.count - before.count, len(after.steps))
        if not new:
            return after
        at = round(time.monotonic() - self._began, 1)
        stamped = tuple(replace(step, at=at) for step in after.steps[-new:])
        return replace(after, steps=(*after.steps[:-new], *stamped))

    def _show(self, line: str, new: int, show: Callable[[bytes], object]) -> None:
        if not line.startswith("{"):
            show(f"{line}\n".encode())
        for step in self.facts.steps[-new:] if new else ():
            show(f"{step.category}: {step.text}\n".encode())


_CAPACITY = re.compile(
    r"\b(?:429|529|503)\b|rate.?limit|too many requests|overloaded|quota|usage limit|hit your (?:usage )?limit"
    r"|RESOURCE_EXHAUSTED|insufficient.?(?:quota|credits?|funds)|credit balance|billing|temporarily unavailable",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"\b(?:401|403)\b|invalid.{0,20}api.?key|incorrect api key|authenticat|unauthori[sz]ed|permission.?denied"
    r"|model.{0,40}(?:not found|does not exist|not supported)|model_not_found",
    re.IGNORECASE,
)
_WAIT = re.compile(
    r"(?:retry|try again|resets?|wait)[^.\n]{0,40}?\b(?:in|after|for)[:\s]{1,3}(\d{1,6}(?:\.\d{1,6})?)\s?"
    r"(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b",
    re.IGNORECASE,
)
_UNITS = {"ms": 0.001, "mi": 60.0, "m": 60.0, "s": 1.0, "h": 3600.0}
_LONGEST_WAIT = timedelta(days=7)


def trouble(facts: Facts, text: str, retry_after: float | None = None) -> Facts:
    """An error that a program told about its model's provider, sorted into busy, refusing, and anything else.

    `retry_after` is in seconds. Only for what the program itself says, never for words of the model or output of its tools.
    """
    text = " ".join(text.split())[:_TEXT] or "an error without words"
    told = replace(facts.step(Category.ERROR, text), error=text)
    if _CAPACITY.search(text) is not None or is_limit(text):
        wait = timedelta(seconds=retry_after) if retry_after is not None else wait_in(text)
        return replace(told, capacity=text, retry_after=wait or told.retry_after)
    return replace(told, refused=text) if _REFUSED.search(text) is not None else told


def wait_in(text: str) -> timedelta | None:
    """How long an error asks to wait, if it says so."""
    found = _WAIT.search(text)
    if found is None:
        return None
    unit = found[2].lower()
    if unit.startswith("milli"):
        unit = "ms"
    factor = _UNITS[unit] if unit in _UNITS else _UNITS[unit[:2] if unit.startswith("mi") else unit[0]]
    return min(timedelta(seconds=float(found[1]) * factor), _LONGEST_WAIT)
