"""Our memory of one task: what the hidden record in its status comment holds. All facts, no verdicts."""

from msgspec import Struct, field

from bot.model.baseline import Baseline
from bot.model.engine import EngineRequest
from bot.model.moment import Moment, check_years
from bot.model.report import Hold, Outcome, Question
from bot.model.status import Status
from bot.model.unit import Kind


class Spent(Struct, frozen=True, array_like=True):
    """What attempts have used up. `attempts` counts those that started an agent."""

    attempts: int = 0
    minutes: float = 0.0
    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.attempts + other.attempts,
            self.minutes + other.minutes,
            self.tokens + other.tokens,
            self.usd + other.usd,
        )


_STARTED_NOTHING = (Outcome.REFUSED, Outcome.CAPACITY, Outcome.INFRA)


class Attempt(Struct, frozen=True, omit_defaults=True):
    """One start. `run` is 0 until the run id is known; `outcome` is None while it is live.

    `cancelled_for` says why we asked for its end (closed, stopped, withdrawn), so a cancelled run is attributed rightly.
    What follows `force_sent_at` is copied from its report: `evidence` is a digest of what it changed, proved or asked (two
    attempts with the same one made no progress), `failure` the fingerprint of what failed, `retry_after` when the model's
    provider takes work again (outcome `capacity`).
    """

    number: int
    kind: Kind
    claimed_at: Moment
    started_from: (
        Status  # READY fresh, FAILED after a strike, BLOCKED after an answer, IN_PROGRESS after a lost run
    )
    digest: str  # of the approved title and body, as of the claim
    run: int = 0
    outcome: Outcome | None = None
    ended_at: Moment | None = None
    reason: str = ""
    head: str = ""
    pull: int = 0
    minutes: float = 0.0
    cancel_sent_at: Moment | None = None
    cancelled_for: str = ""
    force_sent_at: Moment | None = None
    engine: str = ""
    model: str = ""
    tokens: int = 0
    usd: float = 0.0
    rounds: int = 0
    files: int = 0
    gates: int = 0
    gates_passed: int = 0
    evidence: str = ""
    failure: str = ""
    retry_after: Moment | None = None
    baseline: Baseline | None = None  # what it found of the default branch

    def __post_init__(self) -> None:
        check_years(self.claimed_at, self.ended_at, self.cancel_sent_at)

    @property
    def live(self) -> bool:
        return self.outcome is None

    @property
    def spent(self) -> Spent:
        agent = self.kind is Kind.CODE and self.outcome not in _STARTED_NOTHING
        return Spent(int(agent), self.minutes, self.tokens, self.usd)


class Approval(Struct, frozen=True, omit_defaults=True):
    """Who ordered the work, when, and the digest of the title and body that the order stands for."""

    by: str
    at: Moment
    digest: str


class Blocker(Struct, frozen=True, omit_defaults=True):
    """An open question; `asked_at` bounds which replies count.

    `fingerprint` is the same for equal questions. `same_as` is the task where the same question was open first: an answer there
    counts here.
    """

    fingerprint: str
    question: Question
    asked_at: Moment
    same_as: int = 0

    def __post_init__(self) -> None:
        check_years(self.asked_at)


class Answer(Struct, frozen=True, omit_defaults=True):
    """A question that was answered, kept for the next prompts.

    `question` is empty for words given while none was open. `rule` is set for an automatic answer. `resolved`: an attempt has
    passed since.
    """

    question: str
    answer: str
    by: str
    comment: int
    at: Moment
    fingerprint: str = ""
    rule: str = ""
    resolved: bool = False


class Held(Struct, frozen=True, omit_defaults=True):
    """Finished work that was not published: why, since when, by which attempt, and how often publishing was tried again by itself.

    `protected` are the paths that the notice lists: an order to publish lets exactly these through.
    """

    why: Hold
    at: Moment
    attempt: int
    protected: tuple[str, ...] = ()
    tries: int = 0

    def __post_init__(self) -> None:
        check_years(self.at)


class Unmerged(Struct, frozen=True, omit_defaults=True):
    """Published work that `merge: auto` could not merge: when that was refused last, and how often it was tried again."""

    at: Moment
    tries: int = 0

    def __post_init__(self) -> None:
        check_years(self.at)


class SharedFix(Struct, frozen=True, omit_defaults=True):
    """The failure (its fingerprint) that this task shares with others, and the issue that mends it for all of them."""

    failure: str
    issue: int


class Fixed(Struct, frozen=True, omit_defaults=True):
    """A failure that was mended: by which issue, when that was closed, and how often it was mended by then."""

    issue: int
    at: Moment
    times: int = 1


class Proposed(Struct, frozen=True, omit_defaults=True):
    """Needs (task, need) that were inferred for many tasks at once, and who wants them taken over (empty: nobody yet)."""

    needs: tuple[tuple[int, int], ...] = ()
    consent: str = ""


class Record(Struct, frozen=True, omit_defaults=True):
    """The record of task `task`. `attempts` are oldest first; `strikes` and `interruptions` count since they were last cleared.

    `status` and `status_at` are our last status write: a person's label newer than it wins. `notices` are fingerprints of
    notices already posted, `acted` ids of comments already acted upon. `pull` is the task's current own pull request.
    """

    task: int
    attempts: tuple[Attempt, ...] = ()
    next_attempt: int = 1
    strikes: int = 0
    interruptions: int = 0
    not_before: Moment | None = None
    status: Status | None = None
    status_at: Moment | None = None
    approval: Approval | None = None
    blocker: Blocker | None = None
    asked_in: str = ""  # node id of the comment that holds the newest question
    answers: tuple[Answer, ...] = ()
    own_needs: tuple[
        int, ...
    ] = ()  # issues of this repository, beside those that the description and GitHub name
    proposed: tuple[tuple[int, int], ...] = ()  # needs that were inferred by order on this task: (task, need)
    consent: str = ""  # who wants them taken over
    fix: SharedFix | None = None
    unshared: tuple[str, ...] = ()  # failures that were mended, or for which no fix is wanted
    automatic: tuple[str, ...] = ()  # fingerprints of the questions that were answered automatically
    notices: tuple[str, ...] = ()
    acted: tuple[int, ...] = ()
    pull: int = 0
    head: str = ""  # the commit of the last kept work
    earlier: str = ""  # where the last kept work is: `<run id>/<key>`
    republish: bool = False  # that work is proven, or let through by a person, and only publishing is left
    reviewed_at: Moment | None = None
    reopened_at: Moment | None = None
    # What a person's command asked for; it holds until the next order.
    engine_request: EngineRequest = field(default=EngineRequest(), name="wish")
    # A person ran it by command, and nobody has ordered it in another way since.
    started_by_command: bool = field(default=False, name="called")
    timeout_minutes: int = 0  # the same person's limit for each attempt; 0: as configured
    held: Held | None = None
    unmerged: Unmerged | None = None
    exceptions: tuple[str, ...] = ()  # protected paths that a person lets through when it is published
    before: Spent = Spent()  # by attempts that are not kept in the record any more
    batch: int = 0  # the batch issue by whose order it became ready; 0 once a person has ordered it anew, or withdrawn it
    round: int = 0  # of that batch's extra rounds, the one that gave it fresh strikes
    blamed: str = ""  # the work of a batch, by its digest, whose gate named this task last
    feedback: str = ""  # what other proof than its own said about the last work: the next attempt is told

    @property
    def live(self) -> Attempt | None:
        """The attempt that owns the task now, if any."""
        return self.attempts[-1] if self.attempts and self.attempts[-1].live else None

    @property
    def spent(self) -> Spent:
        """What the task has used up in its whole life."""
        return sum((attempt.spent for attempt in self.attempts), self.before)
