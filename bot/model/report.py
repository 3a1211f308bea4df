"""What a run hands back about one attempt."""

from enum import StrEnum

from msgspec import Struct, field

from bot.model.cause import Met
from bot.model.moment import Moment


class Outcome(StrEnum):
    PASSED = "passed"
    UNVERIFIED = "unverified"
    NO_CHANGES = "no_changes"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    STALLED = "stalled"
    BLOCKED = "blocked"
    HELD = "held"
    CANCELLED = "cancelled"
    INFRA = "infra"
    CAPACITY = "capacity"
    REFUSED = "refused"


class Hold(StrEnum):
    """Why finished work was not published (outcome `held`), which decides what can help."""

    PROTECTED = "protected"  # a person may let exactly the named paths through
    SETTING = "setting"  # GitHub refused the pull request; tried again later
    SECRET = "secret"  # noqa: S105 - a word; only a new attempt helps
    EXPIRED = "expired"  # the kept work is gone: only a new attempt
    UNFIT = "unfit"  # too large, or not what may be published: only a new attempt
    STALE = "stale"  # the branches have moved on: brought up to date and verified again, without an agent


STRIKES = frozenset({Outcome.FAILED, Outcome.TIMEOUT, Outcome.CRASHED})
INTERRUPTIONS = frozenset({Outcome.CANCELLED, Outcome.INFRA, Outcome.REFUSED})
NO_FAULT = INTERRUPTIONS | {Outcome.CAPACITY}
"""The attempt ended without the work itself having failed or finished; it is gone on with."""


CANNOT_RUN = (126, 127)
"""Exit statuses by which a shell says that a command is no program, or not there."""


class GateStatus(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    ERROR = "error"


class GateResult(Struct, frozen=True, omit_defaults=True):
    """`tail` is the end of the gate's output, redacted and bounded; empty when it passed.

    `code` is its exit status where that is none of 0 and 1.
    """

    name: str
    status: GateStatus
    seconds: float = 0.0
    tail: str = ""
    code: int = 0

    @property
    def cannot_run(self) -> bool:
        """Whether the shell could not run the command at all (POSIX, "Exit Status for Commands"): not the fault of any change."""
        return self.code in CANNOT_RUN


class Measured(Struct, frozen=True, omit_defaults=True):
    """A baseline as an agent's job found it, with what its gates said."""

    digest: str
    gates: tuple[GateResult, ...] = ()

    @property
    def red(self) -> tuple[str, ...]:
        return tuple(gate.name for gate in self.gates if gate.tail)


class HookResult(Struct, frozen=True, omit_defaults=True):
    """How one of the repository's hooks went. `tail` is the end of what it said, redacted and bounded; empty when it passed."""

    name: str
    passed: bool
    seconds: float = 0.0
    tail: str = ""


class Question(Struct, frozen=True, omit_defaults=True):
    """What the agent asks. `options` are offered answers in the order A, B, C."""

    text: str
    options: tuple[str, ...] = ()
    tried: str = ""


class Category(StrEnum):
    """What kind of thing an agent did at one point of its work."""

    PLAN = "plan"
    MODEL = "model"
    FILE = "file"
    SHELL = "shell"
    GATE = "gate"
    QUESTION = "question"
    ERROR = "error"


class Step(Struct, frozen=True, omit_defaults=True):
    """One thing the agent did, in a few words of its own program. `at` is in seconds since the agent's first start."""

    category: Category
    text: str
    at: float = 0.0


class Report(Struct, frozen=True, omit_defaults=True):
    """`message` are the agent's or the worker's own words: shown to people (sanitised), never decided on.

    `tokens` and `usd` are as the engine counted them (0: not told), `failure` the fingerprint of what failed (of `infra`: of the
    set-up), `retry_after` when the model's provider takes work again, `session` what the engine needs to continue the conversation.
    `version` is the engine's, `steps` the timeline of its work (the middle of a long one is left out).
    `hold` says why work is held, `protected` the paths that a publish unit may be allowed by order, and `conflict` that
    `merge: auto` could not merge because work and base contradict each other, `unmerged` that it was refused for another reason.
    `source` says what the work started from, `left_out` what its prompt did not hold, in a few words each.
    `misfit` (kind `gate`) is the task whose work did not join.
    `cause` is what no single task is to blame for, where a job can tell.
    `left_behind` are paths in the agent's files that git cannot take, each with why; `baseline` is what the gates said before it
    began.
    `head` is the commit that was verified and, for `passed` and `unverified`, published on `branch` as pull request `pull`.
    """

    key: str
    task: int
    outcome: Outcome
    reason: str = ""
    message: str = ""
    head: str = ""
    base: str = ""
    branch: str = ""
    pull: int = 0
    merged: bool = False
    question: Question | None = None
    gates: tuple[GateResult, ...] = ()
    minutes: float = 0.0
    rounds: int = 0
    files_changed: int = 0
    run_attempt: int = 1
    engine: str = ""
    version: str = ""
    model: str = ""
    tokens: int = 0
    usd: float = 0.0
    failure: str = ""
    retry_after: Moment | None = None
    session: str = ""
    steps: tuple[Step, ...] = ()
    hold: Hold | None = None
    protected: tuple[str, ...] = ()
    conflict: bool = False
    unmerged: bool = False
    hooks: tuple[HookResult, ...] = ()
    source: str = ""
    left_out: tuple[str, ...] = ()
    misfit: int = 0
    cause: Met | None = None
    left_behind: tuple[str, ...] = ()
    baseline: Measured | None = None
    statistics: dict[str, float] = field(default_factory=dict)
