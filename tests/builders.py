"""Values for tests: each builder takes what a test is about, and fills in the rest with something ordinary."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from bot.conductor.act.outbox import Effects
from bot.conductor.observe.view import Observation
from bot.conductor.tick import Tick
from bot.model.config import Config, EngineConfig
from bot.model.decision import Decision, Plan
from bot.model.issue import Account, Comment, EventKind, Issue, Pull, StateReason, TimelineEvent
from bot.model.record import Approval, Attempt, Record
from bot.model.ref import Ref
from bot.model.report import Outcome, Report
from bot.model.run import Artifact, Job, Run
from bot.model.snapshot import Snapshot
from bot.model.status import Status
from bot.model.task import Task
from bot.model.unit import Kind
from bot.model.view import Repository, View
from bot.notation.digests import text_digest
from bot.notation.keys import Key
from bot.notation.reports import report_name
from bot.plan import plan
from bot.plan.facts.record_edits import said

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
BOT = Account(41898282, "github-actions[bot]", is_bot=True)
WRITER = Account(1, "wendy")
STRANGER = Account(2, "stan")
OTHER_BOT = Account(3, "helper[bot]", is_bot=True)
PERMISSIONS = {"wendy": "write", "stan": "read", "tim": "triage", "ada": "admin"}
REPOSITORY = Repository("acme/shop", "R_1", "trunk")


def ago(**span: float) -> datetime:
    return NOW - timedelta(**span)


def labelled(label: str, by: Account = WRITER, at: datetime | None = None) -> TimelineEvent:
    return TimelineEvent(EventKind.LABELED, by, at or ago(hours=1), label)


def unlabelled(label: str, by: Account = WRITER, at: datetime | None = None) -> TimelineEvent:
    return TimelineEvent(EventKind.UNLABELED, by, at or ago(hours=1), label)


def happened(kind: EventKind, by: Account = WRITER, at: datetime | None = None) -> TimelineEvent:
    return TimelineEvent(kind, by, at or ago(hours=1))


def an_issue(number: int = 1, *labels: str, **fields: Any) -> Issue:
    """An open issue by a writer."""
    values: dict[str, Any] = {
        "node_id": f"I_{number}",
        "title": f"Task {number}",
        "body": "",
        "author": WRITER,
        "is_open": True,
        "state_reason": None,
        "created_at": ago(days=2),
        "updated_at": ago(hours=1),
    } | fields
    return Issue(number=number, labels=labels, **values)


def closed_as(reason: StateReason | None) -> dict[str, Any]:
    return {"is_open": False, "state_reason": reason, "closed_at": ago(minutes=1)}


def an_approval(issue: Issue, by: str = "wendy", at: datetime | None = None) -> Approval:
    return Approval(by, at or ago(hours=1), text_digest(issue.title, issue.body))


def a_task(number: int = 1, status: Status | None = Status.READY, *labels: str, **fields: Any) -> Task:
    """A task with this status label, ordered by a writer an hour ago. Fields of `Task` and of `Issue` may be given."""
    own = {"record", "comment", "needs", "warnings", "priority", "category", "estimate", "record_problem"}
    task_fields = {name: value for name, value in fields.items() if name in own}
    issue_fields = {name: value for name, value in fields.items() if name not in own}
    names = (f"cf:{status}", *labels) if status else labels
    if status is Status.READY:
        issue_fields.setdefault("events", (labelled("cf:ready"),))
    task_fields["needs"] = tuple(
        Ref("acme/shop", need) if isinstance(need, int) else need for need in task_fields.get("needs", ())
    )
    task_fields.setdefault("record", Record(number))
    return Task(issue=an_issue(number, *names, **issue_fields), **task_fields)


def a_record(number: int = 1, status: Status | None = None, **fields: Any) -> Record:
    """A record as it is between attempts: status written half an hour ago, approved by a writer."""
    values: dict[str, Any] = {
        "status": status,
        "status_at": ago(minutes=30) if status else None,
        "approval": an_approval(an_issue(number)),
    } | fields
    return Record(number, **values)


def an_attempt(number: int = 1, outcome: Outcome | None = None, **fields: Any) -> Attempt:
    values: dict[str, Any] = {
        "kind": Kind.CODE,
        "claimed_at": ago(minutes=20),
        "started_from": Status.READY,
        "digest": "d" * 32,
        "outcome": outcome,
        "ended_at": ago(minutes=10) if outcome else None,
    } | fields
    return Attempt(number, **values)


def a_running(number: int = 1, attempt: int = 1, run: int = 900, **fields: Any) -> Task:
    """A task whose attempt is under way in this run (0: not known yet)."""
    changes = {
        "attempts": (
            *fields.pop("earlier_attempts", ()),
            an_attempt(attempt, run=run, **fields.pop("live", {})),
        ),
        "next_attempt": attempt + 1,
    } | fields.pop("record_fields", {})
    record = a_record(number, Status.IN_PROGRESS, **changes)
    fields.setdefault("events", (labelled("cf:ready"),))
    return a_task(number, Status.IN_PROGRESS, record=record, **fields)


def a_run(
    run: int = 900, *keys: str, status: str = "in_progress", conclusion: str | None = None, **fields: Any
) -> Run:
    """A worker run that carries these keys (default: the first attempt of task 1)."""
    title = f"cf worker {' '.join(keys or ('cf-1-1',))}"
    times = {"created_at": ago(minutes=19), "updated_at": ago(minutes=1)} | fields
    return Run(run, title, "completed" if conclusion else status, conclusion, **times)


def a_job(name: str, conclusion: str | None = "success", **fields: Any) -> Job:
    """A job of run 900, `#1 / agent` and the like; None: it is still running."""
    values: dict[str, Any] = {
        "id": abs(hash(name)) % 10**9,
        "run_id": 900,
        "status": "completed" if conclusion else "in_progress",
        "started_at": ago(minutes=5),
        "completed_at": ago(minutes=1) if conclusion else None,
    } | fields
    return Job(name=name, conclusion=conclusion, **values)


def jobs(leg: str = "#1", **conclusions: str | None) -> tuple[Job, ...]:
    """The jobs of one leg by role: `jobs(agent="success", verify="skipped")`."""
    return tuple(a_job(f"{leg} / {role}", conclusion) for role, conclusion in conclusions.items())


GREEN = jobs(agent="success", verify="success", publish="success")


def an_artifact(
    key: str = "cf-1-1", number: int = 50, run: int = 900, at: datetime | None = None
) -> Artifact:
    return Artifact(number, report_name(key), run, at or ago(minutes=2))


def a_report(outcome: Outcome, key: str = "cf-1-1", **fields: Any) -> Report:
    values: dict[str, Any] = {"task": int(key.split("-")[1])} | fields
    if outcome in (Outcome.PASSED, Outcome.UNVERIFIED):
        values = {"pull": 70, "head": "b" * 40} | values
    return Report(key=key, outcome=outcome, **values)


def a_comment(
    body: str, number: int = 1, by: Account = WRITER, issue: int = 1, at: datetime | None = None
) -> Comment:
    when = at or ago(minutes=2)
    return Comment(number, f"IC_{number}", issue, by, body, when, when)


def a_pull(number: int = 70, **fields: Any) -> Pull:
    values: dict[str, Any] = {
        "author": BOT,
        "is_open": True,
        "merged": False,
        "draft": False,
        "head_ref": "cf/1",
        "head_sha": "b" * 40,
        "url": f"https://github.com/acme/shop/pull/{number}",
    } | fields
    return Pull(number, **values)


def a_snapshot(*tasks: Task, config: Config | None = None, **fields: Any) -> Snapshot:
    """What a tick sees at noon: everybody's permission is known."""
    values: dict[str, Any] = {
        "now": NOW,
        "repository": REPOSITORY,
        "accounts": frozenset({BOT.id}),
        "permissions": PERMISSIONS,
    } | fields
    config = config or Config()
    if not config.engines:  # an agent is configured, unless a test is about that
        config = replace(config, engine="command", engines={"command": EngineConfig(args="agent")})
    return Snapshot(config=config, tasks={task.number: task for task in tasks}, **values)


def decide(task: Task, **fields: Any) -> Decision:
    """The decision about one task, alone or among `others`."""
    others: Iterable[Task] = fields.pop("others", ())
    decided = plan(a_snapshot(task, *others, **fields)).decisions
    return next(decision for decision in decided if decision.task == task.number)


def settle(
    ended: Outcome | None, *, config: Config | None = None, task: Task | None = None, **report: Any
) -> Decision:
    """The decision when the run of a running task ended with this report."""
    running = task or a_running()
    live = running.record.live
    assert live is not None
    key = str(Key(running.number, live.number))
    reports = {50: a_report(ended, key, **report)} if ended else {}
    green = ended is Outcome.PASSED
    return decide(
        running,
        config=config,
        runs=(a_run(900, key, conclusion="success"),),
        artifacts=(an_artifact(key),) if ended else (),
        reports=reports,
        jobs={900: GREEN if green else jobs(agent="failure", verify="skipped", publish="success")},
    )


def applied(snapshot: Snapshot, decided: Plan) -> Snapshot:
    """The snapshot as it would be read right after the plan was carried out, at the same moment."""
    tasks = dict(snapshot.tasks)
    for decision in decided.decisions:
        tasks[decision.task] = _after(tasks[decision.task], decision, snapshot)
    return replace(snapshot, tasks=tasks)


def _after(task: Task, decision: Decision, snapshot: Snapshot) -> Task:
    ours = {snapshot.config.label(status).casefold() for status in Status}
    kept = tuple(label for label in task.issue.labels if label.casefold() not in ours)
    before = tuple(label for label in task.issue.labels if label.casefold() in ours)
    wanted = (snapshot.config.label(decision.status),) if decision.status else ()
    events = task.issue.events
    if {label.casefold() for label in before} != {label.casefold() for label in wanted}:
        second = snapshot.now.replace(microsecond=0)
        events = (*events, *(labelled(label, BOT, second) for label in wanted if label not in before))
        events = (*events, *(unlabelled(label, BOT, second) for label in before if label not in wanted))
    issue = replace(task.issue, labels=(*kept, *wanted), events=events)
    if decision.close:
        issue = replace(issue, is_open=False, state_reason=StateReason.COMPLETED)
    record = decision.record
    for notice in decision.notices:
        record = said(record, notice.fingerprint)
    return replace(task, issue=issue, record=record)


def a_tick(snapshot: Snapshot, effects: Effects | None = None, decided: Plan | None = None) -> Tick:
    """A tick that saw this snapshot."""
    issues = tuple(task.issue for task in snapshot.tasks.values())
    view = View(snapshot.repository, BOT, issues, (), None, "", snapshot.now)
    seen = Observation(view, snapshot, None, None, None)
    return Tick(seen, decided or plan(snapshot), effects or Effects())


def words_of(decision: Decision) -> str:
    """All that a decision would post."""
    return "\n".join(notice.text for notice in decision.notices)


def by_number(decided: Plan) -> Mapping[int, Decision]:
    return {decision.task: decision for decision in decided.decisions}
