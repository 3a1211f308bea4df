"""The prompt: what the agent is told, from authorised people's words only, with nothing hidden in them."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from bot.model.issue import Comment, Issue
from bot.model.record import Attempt, Record
from bot.model.report import Report
from bot.model.unit import Gate
from bot.notation.keys import Key
from bot.notation.sanitise import sanitise

_BODY, _COMMENT, _COMMENTS, _TAIL = 60_000, 8_000, 60_000, 6_000


class Context(Struct, frozen=True):
    """Everything a prompt is made of.

    `comments` are those of authorised people, oldest first; `earlier` the last report of the task, if there is one; `notes` say
    what could not be taken along.
    """

    key: Key
    issue: Issue
    record: Record
    comments: Sequence[Comment]
    gates: Sequence[Gate]
    source: str
    notes: Sequence[str] = ()
    earlier: Report | None = None


def write_prompt(context: Context) -> str:
    """The prompt as Markdown. Foreign text is sanitised and bounded; what was cut is said."""
    parts = [
        f"# Task #{context.issue.number}: {one_line(context.issue.title)}",
        _bounded(sanitise(context.issue.body).strip(), _BODY)
        or "(The task has no description beyond its title.)",
        _answers(context.record),
        _comments(context),
        _earlier(context),
        _rules(context),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def write_feedback(failed: Iterable[tuple[str, str]]) -> str:
    """What is told to the agent after its gates failed: name and output of each."""
    told = [f"## {name}\n\n{_fenced(_end(sanitise(output), 40_000))}" for name, output in failed]
    return (
        "# These checks failed on your change\n\nMend the cause; never weaken a check.\n\n"
        + "\n\n".join(told)
        + "\n"
    )


def one_line(text: str) -> str:
    """Foreign text as one harmless line."""
    return " ".join(sanitise(text).split())[:256]


def _answers(record: Record) -> str:
    if not record.answers:
        return ""
    told = [
        f"Q: {sanitise(answer.question).strip()}\n\nA ({one_line(answer.by)}): {sanitise(answer.answer).strip()}"
        for answer in record.answers
    ]
    return "## Questions that were asked and answered\n\n" + "\n\n".join(told)


def _comments(context: Context) -> str:
    """Comments that were taken as answers stand there already; those that only give us orders say nothing to an agent."""
    answered = {answer.comment for answer in context.record.answers}
    told = [
        f"{one_line(comment.author.login)} wrote:\n\n{_bounded(words, _COMMENT)}"
        for comment in context.comments
        if comment.id not in answered and (words := _without_orders(sanitise(comment.body)))
    ]
    if not told:
        return ""
    kept: list[str] = []
    for words in reversed(told):  # the newest matter most
        if sum(map(len, kept)) + len(words) > _COMMENTS:
            kept.append(f"({len(told) - len(kept)} earlier comments are left out)")
            break
        kept.append(words)
    return "## Comments\n\n" + "\n\n".join(reversed(kept))


def _without_orders(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("/cf")).strip()


def _earlier(context: Context) -> str:
    ended: list[Attempt] = [attempt for attempt in context.record.attempts if not attempt.live]
    if not ended:
        return ""
    lines = [
        f"- attempt {attempt.number}: {attempt.outcome}. {one_line(attempt.reason)}".rstrip()
        for attempt in ended[-5:]
    ]
    tails = [
        f"{one_line(gate.name)}:\n\n{_fenced(_end(sanitise(gate.tail), _TAIL))}"
        for gate in (context.earlier.gates if context.earlier else ())
        if gate.tail
    ]
    return "\n\n".join(["## Earlier attempts", "\n".join(lines), *tails])


def _rules(context: Context) -> str:
    gates = "\n".join(f"- {gate.name}: `{one_line(gate.run)}`" for gate in context.gates)
    rules = [
        "## How to work",
        f"The files here are {context.source}. Change them so that the task is done; committing is not needed.",
        *(f"Note: {note}." for note in context.notes),
        f"These checks will run on a clean machine, and all must pass:\n\n{gates}" if gates else "",
        (
            "If you cannot go on without an answer, write `.cf/question.md` (the question; if there are alternatives, one a line as"
            " `A. ...`, `B. ...`; then `Tried:` and what you tried) and stop. Sum up what you did in `.cf/summary.md`."
        ),
    ]
    return "\n\n".join(rule for rule in rules if rule)


def _bounded(text: str, most: int) -> str:
    return (
        text if len(text) <= most else f"{text[:most]}\n\n({len(text) - most} more characters are left out)"
    )


def _end(text: str, most: int) -> str:
    return text if len(text) <= most else f"(the beginning is left out)\n{text[-most:]}"


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text.strip()}\n{fence}"
