"""Commands that people write in comments, `/cf run`, `/cf stop` and so on: the one table of them, and one as it was read."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from msgspec import Struct, field

from bot.model.issue import Account
from bot.model.status import Status


class Command(Struct, frozen=True):
    """One command line as it was read. `name` is lower-case and one of the table's, or unknown, then `nearest` is a name like it.

    `arguments` are the words after the name as written, options left out; `options` are `--name value` pairs, a flag has an
    empty value. `text` is the rest of the line as written, and for `answer` all lines that follow, too.
    `problem` says in plain words why it cannot be carried out as written; empty if it can.
    """

    name: str
    arguments: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    text: str = ""
    problem: str = ""
    nearest: str = ""

    def has(self, option: str) -> bool:
        """Whether the option was given, with or without a value."""
        return any(name == option for name, _ in self.options)

    def value(self, option: str) -> str:
        """The value of an option; empty if it was not given."""
        return next((value for name, value in self.options if name == option), "")


class Ordered(Struct, frozen=True):
    """A command as somebody gave it. `comment` is the comment's database id, negative for a ticked box, `node` its node id."""

    command: Command
    author: Account
    at: datetime
    comment: int
    node: str
    edited: bool = False


class Scope(StrEnum):
    """The kinds of issue that a command may stand on."""

    TASK = "task"
    BATCH = "batch"
    SPEC = "specification"
    DASHBOARD = "dashboard"


class Row(Struct, frozen=True):
    """One command at one place.

    `options` are names with what stands for their value, a flag with nothing. `words` stands for what may follow the name: empty
    if nothing may. `states` are those of the task that it works from (None among them: an issue that is no task yet), empty
    where they do not matter. `refusals` are the words for some of the other states, each the end of "Not done: ...".
    """

    name: str
    place: Scope
    effect: str
    options: Mapping[str, str] = field(default_factory=dict)
    words: str = ""
    states: tuple[Status | None, ...] = ()
    refusals: Mapping[Status | None, str] = field(default_factory=dict)

    def usage(self, prefix: str) -> str:
        """How it is written: `/cf run [--engine NAME]`."""
        options = (f"[--{name} {value}]" if value else f"[--{name}]" for name, value in self.options.items())
        return " ".join(filter(None, [f"/{prefix} {self.name}", *options, self.words]))


_S = Status
_FORCE = {"force": ""}
_RUN = {"engine": "NAME", "model": "NAME", "timeout": "30m", "dry-run": ""}
_MERGED = "this task is merged; reopen the issue to do more"
_DONE = "its work is done and waits for review; `{prefix} retry` continues it"

COMMANDS: tuple[Row, ...] = (
    Row(
        "run",
        Scope.TASK,
        "approve the text as it stands and start as soon as needs and limits allow",
        _RUN,
        states=(None, _S.BACKLOG, _S.READY, _S.FAILED, _S.BLOCKED),
        refusals={_S.IN_PROGRESS: "already running as {key}", _S.DONE: _DONE, _S.MERGED: _MERGED},
    ),
    Row("run", Scope.BATCH, "start a batch that was ordered with dry_run"),
    Row(
        "stop",
        Scope.TASK,
        "cancel the run and put the task into the backlog; work and answers are kept",
        _FORCE,
        "whatever follows",
    ),
    Row(
        "stop",
        Scope.BATCH,
        "start no more members; with --force cancel their runs",
        _FORCE,
        "whatever follows",
    ),
    Row(
        "stop",
        Scope.DASHBOARD,
        "with --all cancel every run and put their tasks into the backlog",
        {"all": "", "force": ""},
        "whatever follows",
    ),
    Row(
        "retry",
        Scope.TASK,
        "put the task back to ready with its strikes cleared; on a ready one, try at once what holds many tasks",
        states=(_S.FAILED, _S.BLOCKED, _S.DONE, _S.BACKLOG),
        refusals={
            None: "this issue is not a task yet; `{prefix} run` makes it one",
            _S.READY: "it is ready already, and starts as soon as it may",
            _S.IN_PROGRESS: "already running as {key}",
            _S.MERGED: _MERGED,
        },
    ),
    Row(
        "publish",
        Scope.TASK,
        "publish held work in spite of what its notice lists",
        states=(_S.BLOCKED,),
        refusals={_S.IN_PROGRESS: "already running as {key}", _S.MERGED: _MERGED},
    ),
    Row(
        "answer",
        Scope.TASK,
        "answer what it waits for, and go on; else tell the next attempt something",
        words="TEXT",
    ),
    Row(
        "approve",
        Scope.TASK,
        "approve the text as it stands: the task becomes ready",
        states=(None, _S.BACKLOG),
        refusals={
            _S.READY: "it is ready already",
            _S.IN_PROGRESS: "already running as {key}",
            _S.DONE: _DONE,
            _S.MERGED: _MERGED,
        },
    ),
    Row(
        "approve",
        Scope.DASHBOARD,
        "approve every task in the backlog, but the numbers after `except`; `label:` and `milestone:` narrow it",
        words="[label:NAME] [milestone:NAME] [except 3 4 ...]",
    ),
    Row("deps", Scope.TASK, "propose which tasks need which, in one comment"),
    Row("deps", Scope.BATCH, "propose which members need which, in one comment"),
    Row("deps", Scope.DASHBOARD, "propose which tasks need which, in one comment"),
    Row("apply", Scope.TASK, "take over the needs that were proposed"),
    Row(
        "apply",
        Scope.BATCH,
        "take over the needs that were proposed, or inferred for the batch, beyond its end",
    ),
    Row("apply", Scope.DASHBOARD, "take over the needs that were proposed"),
    Row("plan", Scope.SPEC, "turn a specification into tasks"),
    Row("resume", Scope.BATCH, "take up an ended batch; with --force its done members too", _FORCE),
    Row("status", Scope.TASK, "say where the task stands and why"),
    Row("status", Scope.BATCH, "say where the batch stands"),
    Row("status", Scope.DASHBOARD, "say whether anything can start, and what runs"),
    Row("help", Scope.TASK, "list the commands for a task"),
    Row("help", Scope.BATCH, "list the commands for a batch"),
    Row("help", Scope.SPEC, "list the commands for a specification"),
    Row("help", Scope.DASHBOARD, "list the commands for the dashboard"),
)
"""Every command. Parser, `help`, tests and the tables of docs/commands.md (`scripts/docs_tables.py`) come from it."""

NAMES = tuple(dict.fromkeys(row.name for row in COMMANDS))

STARTING = frozenset({"run", "retry", "publish", "approve", "deps", "apply", "plan", "resume"})
"""Commands that can cost something: never carried out from an edited comment, nor with words that are not understood."""


def row_of(name: str, place: Scope) -> Row | None:
    """The table's row for a command at this place."""
    return next((row for row in COMMANDS if row.name == name and row.place is place), None)


def options_of(name: str) -> Mapping[str, str]:
    """All options that a command has anywhere."""
    return {option: value for row in COMMANDS if row.name == name for option, value in row.options.items()}


def words_of(name: str) -> str:
    """What may follow a command's name at some place; empty if nothing may at any."""
    return next((row.words for row in COMMANDS if row.name == name and row.words), "")
