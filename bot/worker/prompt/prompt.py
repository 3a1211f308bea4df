"""The prompt: what the agent is told, from authorised people's words only, with nothing hidden in them, in a budget of tokens.

`PARTS` is the contents page: in the order of worth, what is in a prompt, how much of it, and how it shrinks.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from bot.model.issue import Comment, Issue
from bot.model.record import Answer, Attempt, Record
from bot.model.report import Report
from bot.model.review import PullSummary, Review
from bot.model.unit import Gate
from bot.notation.commands import is_order
from bot.notation.keys import Key
from bot.notation.own_words import own_lines
from bot.notation.sanitise import sanitise
from bot.worker.change.merging import DEFAULT_BRANCH, NOTE
from bot.worker.prompt.filemap import file_map
from bot.worker.prompt.packing import Cut, Drop, Packer, Part, Piece, bounded, shown

BUDGET = 50_000
_END = 1_500  # tokens, kept free for the list of what was left out
_FEEDBACK = 13_000
_CONFLICTS = 40  # paths that are named


class Need(Struct, frozen=True):
    """A pull request that settled something this task needed. `by_us` says that its title is authorised people's."""

    need: int
    pull: PullSummary
    by_us: bool = True


class Context(Struct, frozen=True):
    """Everything a prompt is made of.

    `comments` and `closing` (the conversation on the task's own pull request) are those of authorised people, oldest first, and
    `reviews` writers' alone; `earlier` is the last report of the task, if there is one; `source` says what the files are, `notes`
    what could not be taken along, `conflicts` the paths in which sides contradict each other, `red` the gates that fail on the
    default branch as well, `missing` what could not be had at all. `instructions` are name and text of the repository's
    own, `files` the paths that the work starts with.
    """

    key: Key
    issue: Issue
    record: Record
    comments: Sequence[Comment]
    gates: Sequence[Gate]
    source: str
    notes: Sequence[str] = ()
    earlier: Report | None = None
    reviews: Sequence[Review] = ()
    closing: Sequence[Comment] = ()
    needs: Sequence[Need] = ()
    instructions: Sequence[tuple[str, str]] = ()
    files: Sequence[str] = ()
    missing: Sequence[str] = ()
    prefix: str = "cf"
    conflicts: Sequence[str] = ()
    red: Sequence[str] = ()


class Prompt(Struct, frozen=True):
    """The text, and what was left out of it, in a few words each."""

    text: str
    left_out: tuple[str, ...] = ()


def write_prompt(context: Context, template: str | None = None, budget: int = BUDGET) -> Prompt:
    """The prompt as Markdown, never over the budget. Raises UsageError if the repository's own template is wrong."""
    end = min(_END, budget // 4)
    packer = Packer(budget - end)
    packer.left_out.extend(context.missing)
    texts = {part.name: packer.add(part) for part in (build(context) for build in PARTS)}
    if context.files:
        listed, complete = file_map(context.files, min(packer.room - 60, _FILES))
        texts["files"] = packer.add(
            Part("files", "file map", [Piece(listed)] if listed else [], _FILES + 60, _FILES, heading="Files")
        )
        if not complete:
            packer.left_out.append("files of deep folders" if listed else "the file map")
    left_out = tuple(packer.left_out)
    told = _told(left_out, end - 1)
    if template is not None:
        from bot.worker.prompt.template import render

        values = {**texts, "number": str(context.issue.number), "key": str(context.key), "left_out": told}
        text, cut = bounded(render(template, values), budget)
        return Prompt(text, (*left_out, "the end of the template's text") if cut else left_out)
    parts = [texts.get(name, "") for name in _ORDER]
    return Prompt("\n\n".join(part for part in (*parts, told) if part) + "\n", left_out)


def write_feedback(failed: Iterable[tuple[str, str]]) -> str:
    """What is told to the agent after its gates failed: name and output of each."""
    told = [
        shown(Piece(sanitise(output), f"## {one_line(name)}", fenced=True), _FEEDBACK, Cut.BEGINNING)[0]
        for name, output in failed
    ]
    return "\n\n".join(
        ["# These checks failed on your change", "Mend the cause; never weaken a check.", *told, ""]
    )


def one_line(text: str, most: int = 256) -> str:
    """Foreign text as one harmless line."""
    return " ".join(sanitise(text).split())[:most]


def _told(left_out: Sequence[str], most: int) -> str:
    if not left_out:
        return ""
    lines = "\n".join(f"- {words}" for words in left_out)
    return bounded(f"## Left out for want of room or permission\n\n{lines}", most)[0]


# ---------------------------------------------------------------------- the parts, in the order of their worth

_FILES = 4_000


def _title(context: Context) -> Part:
    text = f"# Task #{context.issue.number}: {one_line(context.issue.title)}"
    return Part("title", "title", [Piece(text)], 600, 500)


def _rules(context: Context) -> Part:
    """How to work here, and the gates that will really run."""
    lines = [
        f"The files here are {context.source}. Change them so that the task is done; committing is not needed.",
        *(f"Note: {one_line(note)}." for note in context.notes),
        (
            "If you cannot go on without an answer, write `.cf/question.md` (the question; if there are alternatives, one a line as"
            " `A. ...`, `B. ...`; then `Tried:` and what you tried) and stop. Sum up what you did in `.cf/summary.md`."
        ),
    ]
    if context.conflicts:
        lines.append(_conflicts(context.conflicts))
    if context.gates:
        gates = "\n".join(f"- {gate.name}: `{one_line(gate.run, 500)}`" for gate in context.gates)
        lines.append(f"These checks will run on a clean machine, and all must pass:\n\n{gates}")
    if context.red:
        names = ", ".join(one_line(name, 100) for name in context.red)
        lines.append(
            f"Before any change, these checks fail on the default branch as well: {names}. What fails there is not of your making."
        )
    return Part("rules", "rules", [Piece(line) for line in lines], 6_000, 4_000, heading="How to work")


def _conflicts(paths: Sequence[str]) -> str:
    """What stands between this work and the branches, and how it is settled."""
    listed = "\n".join(f"- {one_line(path)}" for path in paths[:_CONFLICTS])
    more = f"\n- and {len(paths) - _CONFLICTS} more" if len(paths) > _CONFLICTS else ""
    return (
        "The files are a merge that git could not finish. Settle every conflict first, so that what both sides wanted holds, and"
        " leave no marker (`<<<<<<<`, `=======`, `>>>>>>>`) behind; one that is left fails the checks."
        f" `{NOTE}`, if it is there, says what markers cannot show; delete it when that is settled. The names in the markers are"
        " references, as in"
        f" `git show {DEFAULT_BRANCH}:PATH`. In conflict:\n\n{listed}{more}"
    )


def _body(context: Context) -> Part:
    text = sanitise(context.issue.body).strip() or "(The task has no description beyond its title.)"
    return Part("body", "description", [Piece(text)], 16_000, 15_900)


def _answers(context: Context) -> Part:
    told = [
        Piece(f"{_question(answer)}A ({one_line(answer.by)}): {sanitise(answer.answer).strip()}")
        for answer in context.record.answers
    ]
    heading = "Questions that were asked and answered"
    return Part("answers", "answers", told, 8_000, 3_000, Drop.OLDEST, heading=heading)


def _question(answer: Answer) -> str:
    """What was asked; nothing where somebody told us something unasked."""
    return f"Q: {sanitise(answer.question).strip()}\n\n" if answer.question else ""


def _review(context: Context) -> Part:
    told = [
        Piece(_remarks(review), f"{one_line(review.author.login)} ({review.state.replace('_', ' ')}):")
        for review in context.reviews
    ]
    heading = "Review of your pull request"
    return Part("review", "reviews", told, 8_000, 5_000, Drop.OLDEST, heading=heading)


def _remarks(review: Review) -> str:
    lines = [
        f"- {one_line(remark.path)}{f', line {remark.line}' if remark.line else ''}: {sanitise(remark.text).strip()}"
        for remark in review.remarks
    ]
    return "\n".join(part for part in (sanitise(review.text).strip(), *lines) if part)


def _closing(context: Context) -> Part:
    heading = "What people said on the pull request"
    return Part(
        "closing", "words on the pull request", _words(context, context.closing), 4_000, 2_000, Drop.OLDEST,
        heading=heading,
    )  # fmt: skip


def _earlier(context: Context) -> Part:
    """How earlier attempts ended, and the failing tail of the last one."""
    ended: list[Attempt] = [attempt for attempt in context.record.attempts if not attempt.live]
    lines = [
        f"- attempt {attempt.number}: {attempt.outcome}. {one_line(attempt.reason)}".rstrip()
        for attempt in ended[-5:]
    ]
    tails = [
        Piece(sanitise(gate.tail), f"{one_line(gate.name)}:", fenced=True)
        for gate in (context.earlier.gates if context.earlier else ())
        if gate.tail
    ]
    if feedback := context.record.feedback:
        words = "Joined with the other tasks of its batch, this work did not pass:"
        tails.append(Piece(sanitise(feedback), words, fenced=True))
    pieces = [Piece("\n".join(lines)), *tails] if lines else []
    return Part(
        "earlier", "failing logs", pieces, 9_000, 2_500, cut=Cut.BEGINNING, heading="Earlier attempts"
    )


def _comments(context: Context) -> Part:
    """Comments that were taken as answers stand there already; those that only give us orders say nothing to an agent."""
    answered = {answer.comment for answer in context.record.answers}
    told = _words(context, [one for one in context.comments if one.id not in answered])
    return Part("comments", "comments", told, 14_000, 2_700, Drop.OLDEST, heading="Comments")


def _words(context: Context, comments: Sequence[Comment]) -> list[Piece]:
    return [
        Piece(words, f"{one_line(comment.author.login)} wrote:")
        for comment in comments
        if (words := _own_words(comment.body, context.prefix))
    ]


def _own_words(body: str, prefix: str) -> str:
    """What the author says now, orders left out. What a mail program carried along may be anybody's."""
    lines = own_lines(sanitise(body))
    return "\n".join(line.raw for line in lines if not is_order(line.text, prefix)).strip()


def _needs(context: Context) -> Part:
    told = [Piece(_need(need)) for need in context.needs]
    return Part("needs", "pull requests", told, 4_000, 800, heading="What this builds on")


def _need(need: Need) -> str:
    pull = need.pull
    state = "merged" if pull.merged else "open" if pull.is_open else "closed"
    title = f" “{one_line(pull.title)}”" if need.by_us and pull.title else ""
    of = f" for #{need.need}" if need.need != pull.number else ""
    files = ", ".join(f"{one_line(file.path)} (+{file.added} -{file.removed})" for file in pull.files[:40])
    more = f" and {len(pull.files) - 40} more files" if len(pull.files) > 40 else ""
    return f"- pull request #{pull.number}{title}{of}, {state}" + (f": {files}{more}" if files else "")


def _instructions(context: Context) -> Part:
    told = [Piece(sanitise(text), f"From {name}:") for name, text in context.instructions]
    return Part(
        "instructions", "instructions", told, 8_000, 6_000, heading="The repository's own instructions"
    )


PARTS: Sequence[Callable[[Context], Part]] = (
    _title,
    _rules,
    _body,
    _answers,
    _review,
    _closing,
    _earlier,
    _comments,
    _needs,
    _instructions,
)  # and the file map, in what is left
_ORDER = (
    "title",
    "body",
    "answers",
    "review",
    "closing",
    "comments",
    "earlier",
    "needs",
    "instructions",
    "files",
    "rules",
)
VALUES: Mapping[str, str] = {
    "number": "number of the issue",
    "key": "the attempt's key",
    **dict.fromkeys(_ORDER, "this part as it would stand in our own prompt, with its heading"),
    "left_out": "the list of what was left out",
}
"""What a template of the repository's may use."""
