"""How batches are written: the task list and the options of an order, and the order inside the batch issue."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from bot.model.batch import Batch, Order, Result, Strategy
from bot.model.decision import Notice
from bot.model.errors import UsageError
from bot.model.issue import EventKind, Issue
from bot.notation.codec import Unreadable, dump, load
from bot.notation.comments import notice_comment
from bot.notation.marker import read_marker, write_marker
from bot.notation.quoting import quote_line

NAME = "batch"
MOST_TASKS = 500
"""Members of one batch. The batch issue's table must fit GitHub's 65,536 characters."""

_WORD = re.compile(r"""[\s,]*((?:[A-Za-z]+:(?:"[^"]*"|'[^']*'|[^\s,]*))|[^\s,]+)""")
_NUMBER = re.compile(r"#?([1-9][0-9]{0,9})", re.ASCII)
_RANGE = re.compile(r"#?([1-9][0-9]{0,9})-#?([1-9][0-9]{0,9})", re.ASCII)
_TITLE = 80
_TITLES_MOST = 150  # rows; longer tables go without titles, which GitHub shows beside a number anyhow
_NOTES_MOST = 50
_REASONS_MOST = 30_000  # characters, shared by the rows of a table of results
_REASON_LEAST = 40

OPTIONS = frozenset(
    {
        "max_parallel_by_status",
        "provider",
        "model",
        "stall_timeout",
        "stall_action",
        "timeout",
        "isolation",
        "merge",
        "reconcile",
        "blocked",
    }
)
"""Every option that an order may name beside its ten inputs."""

_DEFAULTS = {"blocked": "wait"}  # options that may be spelled out because they ask for what happens anyhow


# ---------------------------------------------------------------------- task lists


class Numbers(Struct, frozen=True):
    numbers: tuple[int, ...]


class Labelled(Struct, frozen=True):
    """Every open issue with this label."""

    label: str


class InMilestone(Struct, frozen=True):
    milestone: str


class AllReady(Struct, frozen=True):
    """Every approved task that is labelled ready when the order is written."""


Term = Numbers | Labelled | InMilestone | AllReady


def read_tasks(text: str) -> tuple[Term, ...]:
    """Read `12 14-18 #20`, `label:x`, `milestone:"two words"` and `ready`, parted by blanks or commas, in the order written.

    Raises UsageError naming every part that cannot be read, and when nothing is named or too much is.
    """
    terms: list[Term] = []
    problems: list[str] = []
    for word in _words(text):
        term = _term(word)
        if isinstance(term, str):
            problems.append(term)
        else:
            terms.append(term)
    if problems:
        raise UsageError(f"tasks: {'; '.join(problems)}. {_RIGHT_FORM}")
    if not terms:
        raise UsageError(f"tasks: the list is empty. {_RIGHT_FORM}")
    named = sum(len(term.numbers) for term in terms if isinstance(term, Numbers))
    if named > MOST_TASKS:
        raise UsageError(f"tasks: {named} numbers are named; one batch holds at most {MOST_TASKS}")
    return tuple(terms)


_RIGHT_FORM = "Write numbers and ranges like `12 14-18 #20`, `label:x`, or `ready`"


def _words(text: str) -> Iterator[str]:
    return (match[1] for match in _WORD.finditer(text) if match[1])


def _term(word: str) -> Term | str:
    """The term, or what is wrong with the word."""
    if number := _NUMBER.fullmatch(word):
        return Numbers((int(number[1]),))
    if span := _RANGE.fullmatch(word):
        first, last = int(span[1]), int(span[2])
        if first > last:
            return f"`{_shown(word)}` runs backwards; write {last}-{first}"
        if last - first >= MOST_TASKS:
            return f"`{_shown(word)}` names {last - first + 1} numbers; one batch holds at most {MOST_TASKS}"
        return Numbers(tuple(range(first, last + 1)))
    if word.casefold() == "ready":
        return AllReady()
    kind, colon, value = word.partition(":")
    name = value.strip("\"'").strip()
    if colon and kind.casefold() in ("label", "milestone"):
        if not name:
            return f"`{_shown(word)}` names no {kind.casefold()}"
        return Labelled(name) if kind.casefold() == "label" else InMilestone(name)
    return f"`{_shown(word)}` is neither a number nor a range"


# ---------------------------------------------------------------------- options


def read_options(text: str) -> Mapping[str, str]:
    """The options, one `key=value` a line; blank lines and `#` comments do not count.

    Raises UsageError naming every line that is malformed, unknown or given twice.
    """
    options: dict[str, str] = {}
    problems: list[str] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not key or not value:
            problems.append(f"line {number}, `{_shown(line)}`, is not key=value")
        elif key not in OPTIONS:
            problems.append(
                f"line {number}: there is no option `{_shown(key)}`; the options are {', '.join(sorted(OPTIONS))}"
            )
        elif key in options:
            problems.append(f"line {number}: `{key}` is given twice")
        else:
            options[key] = value
    if problems:
        raise UsageError(f"options: {'; '.join(problems)}")
    return options


def beyond_defaults(options: Mapping[str, str]) -> tuple[str, ...]:
    """The options that ask for something else than what happens anyhow, as `key=value`."""
    return tuple(f"{key}={_shown(value)}" for key, value in options.items() if _DEFAULTS.get(key) != value)


def _shown(text: str) -> str:
    """Foreign text inside one of our own sentences."""
    return quote_line(text, 60).replace("`", "'")


# ---------------------------------------------------------------------- the batch issue


class Row(Struct, frozen=True):
    """One line of the plan. `note` says what the member waits for or what becomes of it first."""

    task: int
    title: str
    status: str
    note: str = ""


def batch_title(order: Order) -> str:
    """`cf batch: #12, #14 and 3 more (serial)`."""
    shown = [f"#{number}" for number in order.tasks[:2]]
    more = len(order.tasks) - len(shown)
    names = ", ".join(shown) + (f" and {more} more" if more else "")
    return f"cf batch: {names} ({order.strategy})"


def batch_body(order: Order, rows: Sequence[Row], skipped: Sequence[str]) -> str:
    """The batch issue's text: who ordered what, the plan, how to stop it, and the hidden order."""
    where = f" in [run {order.run}](../actions/runs/{order.run})" if order.run else ""
    many = f"{len(order.tasks)} task{'s' if len(order.tasks) != 1 else ''}"
    how = (
        "one after the other, in this order; what a task needs comes before it"
        if order.strategy is Strategy.SERIAL
        else "in parallel, as needs and limits allow"
    )
    limit = f", at most {order.max_parallel} of them at once" if order.max_parallel is not None else ""
    parts = [
        f"{many}, ordered by {quote_line(order.by)}{where} at {order.at:%Y-%m-%d %H:%M:%S} UTC: {how}{limit}."
    ]
    parts.append("\n".join(["| place | task | now | |", "|---|---|---|---|", *_lines(rows)]))
    if skipped:
        shown = [f"- {quote_line(note, 120)}" for note in skipped[:_NOTES_MOST]]
        shown += [f"- and {len(skipped) - _NOTES_MOST} more"] if len(skipped) > _NOTES_MOST else []
        parts.append("\n".join(["Not part of the batch:", "", *shown]))
    parts.append(
        "Closing this issue stops the batch: nothing more starts, what runs finishes."
        " When the batch has ended, a table of results is posted here and the issue is closed."
    )
    parts.append(write_marker(NAME, dump(order)))
    return "\n\n".join(parts)


def _lines(rows: Sequence[Row]) -> Iterator[str]:
    most = min(120, 20_000 // max(len(rows), 1))
    for place, row in enumerate(rows, start=1):
        title = f" {quote_line(row.title, _TITLE)}" if len(rows) <= _TITLES_MOST else ""
        yield f"| {place} | #{row.task}{title} | {row.status} | {quote_line(row.note, most)} |"


def read_batch(issue: Issue, accounts: Collection[int]) -> Batch | None:
    """The batch in an issue that one of our accounts wrote; None in any other issue.

    GitHub lets people with write permission edit our text, so an order counts only as long as nobody else has.
    """
    if issue.author.id not in accounts:
        return None
    editors = [
        event.actor.login
        for event in issue.events
        if event.kind is EventKind.EDITED and event.actor.id not in accounts
    ]
    if editors:
        return Batch(
            issue, None, f"its text was edited by {editors[-1]}, so it is not known any more what was ordered"
        )
    try:
        payload = read_marker(NAME, issue.body)
        if payload is None:
            return Batch(issue, None, "its text holds no order")
        return Batch(issue, load(payload, Order))
    except Unreadable as error:
        return Batch(issue, None, f"its order cannot be read: {error}")


def results_text(results: Sequence[Result]) -> str:
    """The last words of a batch: a count and one row a member."""
    passed = sum(result.status in ("merged", "done") for result in results)
    head = f"**The batch has ended.** {passed} of {len(results)} came through."
    most = max(_REASON_LEAST, _REASONS_MOST // max(len(results), 1))
    rows = [
        f"| #{result.task} | {result.status} | {result.attempts or '–'} | {f'#{result.pull}' if result.pull else '–'}"
        f" | {quote_line(result.reason, most) or '–'} |"
        for result in results
    ]
    table = "\n".join(
        ["| task | status | attempts | pull request | why not |", "|---|---|---|---|---|", *rows]
    )
    return f"{head}\n\n{table}\n\nTo try the others again, order a new batch with their numbers."


def end_comment(fingerprint: str, text: str) -> str:
    """A batch's last comment, recognisable when a tick died right after posting it."""
    return notice_comment(Notice(fingerprint, text))
