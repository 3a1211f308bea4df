"""The table of ends: how an attempt can leave its task, who is told, what can be done, and which replies count.

The comment that tells an end, its reminders, the hint below a plain reply, `cf why`, the dashboard's lines and the table of
docs/questions.md (`scripts/docs_tables.py`) are all made from it.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from bot.model.config import Config
from bot.model.end import End
from bot.model.record import Attempt, Parked, Record
from bot.model.report import INTERRUPTIONS, STRIKES, Hold, Outcome
from bot.model.status import Status
from bot.notation.keys import Key
from bot.notation.quoting import quote_line


class Asks(StrEnum):
    """How an end reaches who ordered the work: one notification, or none."""

    MENTION = "a mention"
    REVIEW = "the request for a review"
    NOBODY = "nothing: a person did it"


class Batch(StrEnum):
    """What of that is left for a member of a batch, which tells its own end. Only what is the same is said again in time."""

    SAME = "the same"
    BARE = "a comment without a mention"
    NOTHING = "nothing"


class Way(Struct, frozen=True):
    """One thing that can be done: by what, and what it does. `goes_on` says whether work on the task goes on by it."""

    by: str
    does: str
    goes_on: bool = True


class Row(Struct, frozen=True):
    """One end. `{key}`, `{count}`, `{pull}`, `{ready}` and `{cf}` stand for attempt, how many failed or were lost in a row,
    pull request, the ready label and the command prefix.

    `happened` begins its comment, `why` the reason while the task waits. With `waits` it waits for a person, and is said again
    after `blockers.remind` and `blockers.escalate`. `reply`: a plain reply goes on; else it gets one hint. `answer`: so does
    `/cf answer WORDS`.
    """

    status: Status
    happened: str
    why: str
    ways: tuple[Way, ...]
    asks: Asks = Asks.MENTION
    batch: Batch = Batch.SAME
    waits: bool = True
    reply: bool = False
    answer: bool = True


_ANSWER = Way("`/{cf} answer WORDS`", "tells the next attempt these words, and starts it")
_RETRY = Way("`/{cf} retry` or the label `{ready}`", "starts another attempt")
_FRESH = Way("`/{cf} retry` or the label `{ready}`", "starts another attempt with fresh strikes")
_MORE = Way(
    "`/{cf} retry` or the label `{ready}`", "grants one more attempt; better, change what is asked first"
)
_CLOSE = Way(
    "closing this issue",
    "ends the task: closed as completed it is done, in any other way it is dropped",
    goes_on=False,
)
_PUBLISH = Way("`/{cf} publish`", "tries to publish it again; no agent runs for that")

ENDS: Mapping[End, Row] = {
    End.QUESTION: Row(
        Status.BLOCKED,
        "the agent cannot go on without an answer",
        "its question is open",
        (
            Way(
                "a reply in a comment",
                "answers it; all that people with permission reply until the next look",
            ),
            Way("`/{cf} answer ...`", "answers it with whatever follows"),
            _CLOSE,
        ),
        reply=True,
    ),
    End.CHOICE: Row(
        Status.BLOCKED,
        "the agent cannot go on without an answer",
        "its question is open",
        (
            Way("a reply with a letter on its first line", "chooses that option"),
            Way("`/{cf} answer ...`", "answers it with whatever follows"),
            _CLOSE,
        ),
        reply=True,
    ),
    End.STALLED: Row(
        Status.BLOCKED,
        "attempt `{key}` stood still and was ended",
        "{key} stood still",
        (
            Way("a reply in a comment", "is told to the next attempt, and starts it"),
            _ANSWER,
            _RETRY,
            _CLOSE,
        ),
        reply=True,
    ),
    End.NO_CHANGES: Row(
        Status.BLOCKED,
        "attempt `{key}` ended without changing anything",
        "{key} changed nothing",
        (_ANSWER, _RETRY, _CLOSE),
    ),
    End.UNVERIFIED: Row(
        Status.BLOCKED,
        "no gate is configured, so nothing proves attempt `{key}`. Its work is draft #{pull}",
        "review draft #{pull}",
        (
            Way(
                "a review of draft #{pull} that asks for changes",
                "starts another attempt, which is told of it",
            ),
            _ANSWER,
            _RETRY,
            Way("merging #{pull}", "completes this issue", goes_on=False),
            _CLOSE,
        ),
    ),
    End.FAILED: Row(
        Status.FAILED,
        "**Failed** after {count}; the last one was `{key}`",
        "failed",
        (_ANSWER, _FRESH, _CLOSE),
        batch=Batch.BARE,
    ),
    End.BRAKE: Row(
        Status.FAILED,
        "**Stopped by a brake** after attempt `{key}`",
        "stopped by a brake",
        (_ANSWER, _MORE, _CLOSE),
        batch=Batch.BARE,
    ),
    End.INTERRUPTED: Row(
        Status.BLOCKED,
        "**Stopped** after {count} in a row; the last one ended `{key}`. No attempt was counted",
        "interrupted too often",
        (
            Way("`/{cf} retry` or the label `{ready}`", "goes on, once the cause is mended"),
            _ANSWER,
            _CLOSE,
        ),
    ),
    End.PROTECTED: Row(
        Status.BLOCKED,
        "the work of attempt `{key}` is kept, but was not published",
        "held",
        (
            Way("`/{cf} publish`", "publishes it all the same, and lets exactly these paths through"),
            _RETRY,
            _ANSWER,
            _CLOSE,
        ),
    ),
    End.SETTING: Row(
        Status.BLOCKED,
        "the work of attempt `{key}` is kept, but was not published. It is tried again after 1 hour, 6 hours and 24 hours",
        "held",
        (
            Way("`/{cf} publish`", "tries it at once; no agent runs for that"),
            _RETRY,
            _ANSWER,
            _CLOSE,
        ),
    ),
    End.LOST: Row(
        Status.BLOCKED,
        "the work of attempt `{key}` was not published. Only a new attempt can help",
        "held",
        (_RETRY, _ANSWER, _CLOSE),
    ),
    End.HELD: Row(
        Status.BLOCKED,
        "the work of attempt `{key}` is kept, but was not published",
        "held",
        (_PUBLISH, _RETRY, _ANSWER, _CLOSE),
    ),
    End.PASSED: Row(
        Status.DONE,
        "attempt `{key}` passed every gate. Pull request #{pull} is ready for review",
        "waits for review of #{pull}",
        (
            Way("merging #{pull}", "completes this issue", goes_on=False),
            Way("a review that asks for changes", "starts another attempt, which is told of it"),
            Way("`/{cf} retry`", "starts another attempt"),
            Way("closing #{pull} unmerged", "puts the task back into the backlog", goes_on=False),
        ),
        asks=Asks.REVIEW,
        waits=False,
        answer=False,
    ),
    End.MERGED: Row(
        Status.DONE,
        "attempt `{key}` passed every gate, and pull request #{pull} is merged",
        "merged by #{pull}",
        (Way("reopening this issue", "orders the work anew"),),
        batch=Batch.NOTHING,
        waits=False,
        answer=False,
    ),
    End.CANCELLED: Row(
        Status.BACKLOG,
        "attempt `{key}` was cancelled in the Actions tab",
        "in the backlog",
        (Way("`/{cf} retry` or the label `{ready}`", "goes on from the work that is kept"),),
        asks=Asks.NOBODY,
        batch=Batch.NOTHING,
        waits=False,
        answer=False,
    ),
}
"""Every end with what follows from it."""


class Words(Struct, frozen=True):
    """What the places in a row's words stand for."""

    key: Key
    count: str
    pull: int
    config: Config

    def fill(self, text: str) -> str:
        """The text with its places filled."""
        ready = self.config.label(Status.READY)
        return text.format(key=self.key, count=self.count, pull=self.pull, ready=ready, cf=self.config.prefix)


def words_for(record: Record, config: Config) -> Words:
    """The words of a record's newest attempt."""
    last = record.attempts[-1] if record.attempts else None
    return Words(
        Key(record.task, last.number if last else 0),
        _counted(record),
        record.pull or (last.pull if last else 0),
        config,
    )


def _counted(record: Record) -> str:
    lost, failed = record.interruptions, record.strikes
    number, what = (lost, "interruption") if lost else (failed, "attempt")
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


# ---------------------------------------------------------------------- which end a task is at


def held_end(why: Hold | None) -> End:
    """The end of finished work that was not published for this reason."""
    known = {Hold.PROTECTED: End.PROTECTED, Hold.SETTING: End.SETTING}
    return known.get(why, End.LOST) if why is not None else End.HELD


def end_of(record: Record) -> Parked | None:
    """The end that left the task to a person and is still what it is at; None where there is none, or a person moved it since."""
    if record.blocker is not None and record.status is Status.BLOCKED:
        choice = End.CHOICE if record.blocker.question.options else End.QUESTION
        number = record.attempts[-1].number if record.attempts else 0
        return Parked(choice, record.blocker.asked_at, number)
    return record.parked or _without_note(record)


def _without_note(record: Record) -> Parked | None:
    """The end of a task whose record does not name it: its status was written when its newest attempt ended."""
    last = record.attempts[-1] if record.attempts else None
    if last is None or last.ended_at is None or last.ended_at != record.status_at:
        return None
    end = _end_by_outcome(record, last)
    if end is None or ENDS[end].status is not record.status:
        return None
    return Parked(end, last.ended_at.replace(microsecond=0), last.number, last.reason)


def _end_by_outcome(record: Record, last: Attempt) -> End | None:
    plain = {
        Outcome.STALLED: End.STALLED,
        Outcome.NO_CHANGES: End.NO_CHANGES,
        Outcome.UNVERIFIED: End.UNVERIFIED,
    }
    if record.status is Status.FAILED:
        return End.FAILED if last.outcome in STRIKES | {Outcome.STALLED} else End.BRAKE
    if last.outcome is Outcome.HELD:
        return held_end(record.held.why if record.held else None)
    if last.outcome in INTERRUPTIONS:
        return End.INTERRUPTED
    return plain.get(last.outcome) if last.outcome else None


# ---------------------------------------------------------------------- in words


def end_text(end: End, words: Words, to: str, evidence: Iterable[str]) -> str:
    """The comment that tells an end: whom it is for (a login, or nobody), what happened, the evidence, what can be done."""
    happened = _sentence(words.fill(ENDS[end].happened))
    return "\n\n".join([f"@{to}: {happened}" if to else happened, *evidence, ways_text(end, words)])


def ways_text(end: End, words: Words) -> str:
    """What can be done, a line for each way."""
    lines = [f"- {words.fill(way.by)} {words.fill(way.does)}" for way in ENDS[end].ways]
    return "\n".join(["What can be done:", "", *lines])


def why_text(parked: Parked, words: Words) -> str:
    """Why the task waits and what makes it go on, on one line, for `cf why` and the dashboard."""
    row = ENDS[parked.end]
    about = parked.words or words.fill(row.why)
    return f"{about}; {_goes_on_by(row, words)}" if row.waits else about


def end_reminder(parked: Parked, words: Words, to: Sequence[str], *, escalated: bool) -> str:
    """Said while the task waits; `to` are logins or teams."""
    about = quote_line(parked.words or words.fill(ENDS[parked.end].why), 200)
    whom = f"{' '.join(f'@{name}' for name in to)}: " if to else ""
    begin = "this task still waits for somebody" if escalated else "a reminder, this task waits for somebody"
    return f"{whom}{begin if whom else _capital(begin)}: {about}.\n\n{ways_text(parked.end, words)}"


def hint_text(parked: Parked, words: Words) -> str:
    """Below a plain reply that starts nothing."""
    return f"A plain reply starts nothing here, so that a word of thanks pays no agent.\n\n{ways_text(parked.end, words)}"


def _goes_on_by(row: Row, words: Words) -> str:
    ways = [words.fill(way.by) for way in row.ways if way.goes_on]
    return f"goes on by {', '.join(ways[:-1])}{' or ' if ways[1:] else ''}{ways[-1]}"


def _sentence(text: str) -> str:
    return f"{_capital(text)}."


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def ends_table(prefix: str = "cf") -> list[str]:
    """The lines of a Markdown table of all ends, as docs/questions.md shows it."""
    words = {"key": "cf-12-1", "pull": 31, "ready": f"{prefix}:ready", "cf": prefix}
    head = [
        "| end | status | told by | of a member of a batch by | what can be done | a plain reply | `/cf answer` |",
        "|---|---|---|---|---|---|---|",
    ]
    return head + [_table_line(end, row, words) for end, row in ENDS.items()]


def _table_line(end: End, row: Row, named: Mapping[str, object]) -> str:
    words = {**named, "count": "3 interruptions" if end is End.INTERRUPTED else "3 attempts"}
    ways = "; ".join(way.by.format(**words) for way in row.ways)
    reply = "goes on" if row.reply else "one hint" if row.waits else "–"
    answer = "goes on" if row.answer else "kept for the next attempt"
    happened = row.happened.format(**words).replace("**", "")
    return (
        f"| `{end}`: {happened} | `{row.status}` | {row.asks} | {row.batch} | {ways} | {reply} | {answer} |"
    )
