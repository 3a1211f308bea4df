"""The configuration of a repository, `.github/cf.yml`, as values. Reading and judging the file is `bot/notation/config.py`."""

from collections.abc import Mapping
from datetime import timedelta

from msgspec import Struct, field
from msgspec.structs import replace

from bot.model.chosen import BatchOverrides
from bot.model.issue import Edge, Issue
from bot.model.status import Status
from bot.model.unit import Gate, Kind

CONFIG_PATH = ".github/cf.yml"
TEMPLATE_PATH = ".github/cf-prompt.md"
WORKER_WORKFLOW = "cf-worker.yml"
CONDUCTOR_WORKFLOW = "cf-conductor.yml"
BATCH_WORKFLOW = "cf-batch.yml"


class EngineConfig(Struct, frozen=True):
    """What is said about one engine.

    `args` is, for the engine `command`, the whole command line (run by bash, from the default branch's file only); for any other,
    further arguments. `install` are the commands that put its program into the folder CF_ENGINE_PREFIX (its `bin` is looked
    in first); None is the engine's own pinned step, and empty means that the machine has the program.
    """

    args: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    runner: tuple[str, ...] = ()
    model: str | None = None
    provider: str | None = None
    base_url: str | None = None
    install: tuple[str, ...] | None = None


class Retry(Struct, frozen=True):
    max_attempts: int = 3
    backoff: timedelta = timedelta(seconds=30)
    max_backoff: timedelta = timedelta(hours=1)
    interruptions: int = 3


class Dispatch(Struct, frozen=True):
    units_per_run: int = 1
    launch_grace: timedelta = timedelta(minutes=5)


class Dependencies(Struct, frozen=True):
    keywords: tuple[str, ...] = ("depends on", "blocked by", "requires", "needs")
    native: bool = True
    sub_issues: bool = False
    sync: str = "none"  # or native: needs that are written down are made relations of GitHub's as well
    satisfied_by: str = "closed"

    def relations(self, issue: Issue) -> tuple[tuple[Edge, ...], int]:
        """GitHub's own relations of an issue that count as needs, and how many open ones this token cannot see."""
        edges = (*(issue.edges if self.native else ()), *(issue.children if self.sub_issues else ()))
        hidden = issue.hidden_edges * self.native + issue.hidden_children * self.sub_issues
        return edges, hidden


class Publish(Struct, frozen=True):
    max_files: int = 100
    max_bytes: int = 4_194_304
    protected: tuple[str, ...] = (".github/workflows/**", ".claude/**", ".mcp.json", "AGENTS.md", "CLAUDE.md")


class Stall(Struct, frozen=True):
    """For how long an agent may neither print, change a file nor use processor time (0: for as long as it likes), and what then.

    `action` is `blocker` (a person is asked), `retry` (once, with a strike) or `fail`.
    """

    timeout: timedelta = timedelta(seconds=300)
    action: str = "blocker"


class Brakes(Struct, frozen=True):
    """What parks a task that only costs: attempts in a row without progress, and caps over its whole life."""

    no_progress: int = 3
    attempts: int = 15
    minutes: float = 600
    tokens: float = 40_000_000


class Spending(Struct, frozen=True):
    """A budget; None: no limit."""

    minutes: float | None = None
    tokens: float | None = None
    usd: float | None = None


class Budget(Struct, frozen=True):
    """What one attempt, one task over its whole life, and all tasks of one UTC day may use."""

    attempt: Spending = Spending()
    task: Spending = Spending()
    day: Spending = Spending()


class Hooks(Struct, frozen=True):
    """Commands around each attempt, run by bash in its workspace; `timeout` is for each."""

    before_task: str | None = None
    after_task_success: str | None = None
    after_task_failure: str | None = None
    timeout: timedelta = timedelta(seconds=60)


class Trust(Struct, frozen=True):
    permission: str = "write"
    ignore: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()
    authors: str = "any"


class SupervisorRule(Struct, frozen=True):
    """An automatic answer. `match` and `unless` are phrases of `bot/notation/phrases.py`: one of the first must be in the question
    and none of the second. `bare`: nothing else may be in it.
    """

    name: str
    match: tuple[str, ...]
    answer: str
    reason: str
    unless: tuple[str, ...] = ()
    bare: bool = False


class Blockers(Struct, frozen=True):
    """When an open question is said again, to whom; 0 is never."""

    remind: timedelta = timedelta(hours=24)
    escalate: timedelta = timedelta(hours=72)
    escalate_to: tuple[str, ...] = ()


class Models(Struct, frozen=True):
    """The models that the conductor itself asks, each as `model` or `provider/model`; None: none is asked."""

    supervisor: str | None = None
    planning: str | None = None


class Config(Struct, frozen=True):
    """Every key has an effect; the defaults are those of an empty file."""

    prefix: str = "cf"
    engine: str = "mini-swe-agent"
    engines: Mapping[str, EngineConfig] = field(default_factory=dict)
    model: str | None = None
    runner: tuple[str, ...] = ("ubuntu-latest",)
    setup: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()
    corrections: int = 5
    baseline: bool = True  # the gates run once on the untouched default branch
    start: str = "auto"  # or manual: `cf:ready` approves only, and work starts by batch or `/cf run`
    isolation: str = "branch"
    timeout: timedelta = timedelta(minutes=60)
    timeout_by_kind: Mapping[Kind, timedelta] = field(default_factory=dict)
    stall: Stall = Stall()
    max_parallel: int = 4
    max_parallel_by_label: Mapping[str, int] = field(default_factory=dict)
    max_parallel_by_status: Mapping[Status, int] = field(default_factory=dict)
    total: int = 10
    dispatch: Dispatch = Dispatch()
    order: str = "critical-path"
    priority_prefix: str = "cf:p"
    priority_default: int = 5
    category_prefix: str = "area:"
    dependencies: Dependencies = Dependencies()
    retry: Retry = Retry()
    brakes: Brakes = Brakes()
    budget: Budget = Budget()
    merge: str = "manual"
    publish: Publish = Publish()
    force_after: timedelta = timedelta(minutes=5)
    reconcile_interval: timedelta = timedelta(seconds=60)
    linger: timedelta = timedelta(minutes=6)
    trust: Trust = Trust()
    hooks: Hooks = Hooks()
    also: tuple[int, ...] = ()
    models: Models = Models()
    dashboard: bool = True
    supervisor: str = "rules"  # rules, llm or off
    supervisor_rules: tuple[SupervisorRule, ...] = ()
    blockers: Blockers = Blockers()
    inference: str = "ask"  # or auto: inferred needs hold without anybody's `/cf apply`
    shared_fixes: str = "propose"  # propose, auto or off
    webhook_events: tuple[str, ...] = ()
    blob: str = ""
    warnings: tuple[str, ...] = ()  # what is allowed and has no effect, in plain words

    def label(self, name: str) -> str:
        """The full name of one of our labels: `cf:ready` for `ready`."""
        return f"{self.prefix}:{name}"

    def with_chosen(self, chosen: BatchOverrides) -> "Config":
        """The configuration as a batch wants it for its members."""
        stall = replace(
            self.stall,
            timeout=self.stall.timeout if chosen.stall_timeout is None else chosen.stall_timeout,
            action=chosen.stall_action or self.stall.action,
        )
        return replace(
            self,
            stall=stall,
            isolation=chosen.isolation or self.isolation,
            timeout=chosen.timeout or self.timeout,
            timeout_by_kind={} if chosen.timeout else self.timeout_by_kind,
            merge=chosen.merge or self.merge,
            reconcile_interval=self.reconcile_interval if chosen.reconcile is None else chosen.reconcile,
        )

    def timeout_of(self, kind: Kind) -> timedelta:
        """How long one attempt of this kind may take."""
        return self.timeout_by_kind.get(kind, self.timeout)
