"""All that a plan is made from: one look at the repository, the clock included."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct, field

from bot.model.advice import Judged, Proposal, Verdict
from bot.model.batch import Batch
from bot.model.config import Config
from bot.model.engine import RepositorySettings
from bot.model.issue import Comment, Issue, NeedState
from bot.model.record import Fixed, Proposed, Spent
from bot.model.ref import Ref
from bot.model.report import Question, Report
from bot.model.run import Artifact, Job, Run
from bot.model.task import Task
from bot.model.view import Repository


class Permission(Struct, frozen=True):
    """Wanted: what may this account do here?"""

    login: str


class NeedOf(Struct, frozen=True):
    """Wanted: how does this need stand?"""

    ref: Ref


class JobsOf(Struct, frozen=True):
    """Wanted: the jobs of this run."""

    run: int


class AnnotationsOf(Struct, frozen=True):
    """Wanted: what GitHub noted on this job."""

    job: int


class ReportIn(Struct, frozen=True):
    """Wanted: the report that this artifact holds."""

    artifact: int


class Classify(Struct, frozen=True):
    """Wanted: the model's verdict on this question, which no rule knows."""

    question: Question


class InferNeeds(Struct, frozen=True):
    """Wanted: which of these tasks needs which other, as the model proposes it. They stand in order of their number."""

    tasks: tuple[int, ...]


Lookup = Permission | NeedOf | JobsOf | AnnotationsOf | ReportIn | Classify | InferNeeds


class Snapshot(Struct, frozen=True):
    """`accounts` are the ids whose markers count. `comments` are those changed since the cursor, by issue, oldest first.

    `permissions`, `needs`, `jobs`, `reports`, `verdicts` and `proposals` hold what was looked up so far: a plan that lacks one
    of them names it as wanted, and is made again once it is known.
    `others` are issues of ours that are no tasks and may hold commands: the dashboard, batches. `orders_after`: comments older
    than this hold no orders. `acted`: comments whose commands were seen to.
    `remembered` are verdicts of earlier ticks by question_fingerprint; `judged` is filled only where a question's words were
    taken out. `fixed` are shared failures that were mended, by fingerprint. `baselines` are the gates that fail on the untouched
    default branch, by the digest of what was run.
    `starts_blocked_by` says why nothing may start at all (empty: starts are allowed).
    """

    now: datetime
    repository: Repository
    config: Config
    accounts: frozenset[int]
    tasks: Mapping[int, Task]
    runs: tuple[Run, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    comments: Mapping[int, tuple[Comment, ...]] = field(default_factory=dict)
    permissions: Mapping[str, str] = field(default_factory=dict)
    needs: Mapping[Ref, NeedState] = field(default_factory=dict)
    jobs: Mapping[int, tuple[Job, ...]] = field(default_factory=dict)
    annotations: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    reports: Mapping[int, Report | None] = field(
        default_factory=dict
    )  # None: the artifact is not a readable report
    starts_blocked_by: str = field(default="", name="standstill")
    batches: tuple[Batch, ...] = ()  # those that have not ended, oldest first
    verdicts: Mapping[Question, Verdict] = field(default_factory=dict)
    proposals: Mapping[tuple[int, ...], Proposal] = field(default_factory=dict)
    settings: RepositorySettings = field(default=RepositorySettings(), name="around")
    orphans: tuple[
        int, ...
    ] = ()  # runs that still live and whose tasks are all gone: they take slots until they have ended
    spent: Mapping[str, Spent] = field(default_factory=dict)  # by key, for attempts that ended today (UTC)
    others: Mapping[int, Issue] = field(default_factory=dict)
    orders_after: datetime | None = None
    acted: frozenset[int] = frozenset()
    remembered: Mapping[str, Verdict] = field(default_factory=dict)
    judged: Mapping[Question, Judged] = field(default_factory=dict)
    fixed: Mapping[str, Fixed] = field(default_factory=dict)
    proposed: Proposed = Proposed()  # on the dashboard, by an earlier tick
    baselines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
