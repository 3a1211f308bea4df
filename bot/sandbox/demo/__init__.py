"""The demo: a small project, seven issues, and what must have become of them at the end."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from bot.model.issue import StateReason
from bot.model.report import Outcome
from bot.model.status import Status
from bot.sandbox.play.issue_list import IssuePlan, read_issues
from bot.sandbox.play.maintainer import LOGIN
from bot.sandbox.play.task_states import CONDUCTOR, Facts, RunFacts, TaskFacts

REPOSITORY = "acme/shop"
DROPPED, RETRIED, ASKED, PAIR = 6, 3, 4, (1, 2)
SYSTEMS = 2


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the demo shows."""

    says: str
    holds: bool


def demo_issues() -> tuple[IssuePlan, ...]:
    """The seven issues."""
    return read_issues((files(__name__) / "issues.yml").read_text(encoding="utf-8"), "issues.yml")


@contextmanager
def demo_project() -> Iterator[Path]:
    """The folder with the project's files."""
    with as_file(files(__name__) / "project") as folder:
        yield folder


def checks(facts: Facts) -> list[Check]:
    """What must be true at the end; the account of a demo that went wrong names those that are not."""
    kept = [task for task in facts.tasks if task.number != DROPPED]
    return [
        Check(f"{len(kept)} issues ended in a merged pull request", all(_merged(task) for task in kept)),
        Check(
            f"#{DROPPED} was closed while it ran: its run was cancelled, no failure counted",
            _cancelled(facts),
        ),
        Check(f"#{PAIR[0]} and #{PAIR[1]} shared one run, with a leg each", _shared(facts)),
        Check(f"#{RETRIED} failed verification once and passed when tried again", _retried(facts)),
        Check(f"#{ASKED} asked, @{LOGIN} answered by a comment, and the work went on", _answered(facts)),
        Check(
            f"every merged change had passed on {SYSTEMS} systems", all(_proven(facts, task) for task in kept)
        ),
        Check("nothing began before what it needs was merged", all(_in_order(facts, task) for task in kept)),
        Check("labels, comments and the workers' own wake-ups drove the conductor", _woken(facts)),
    ]


def _outcomes(task: TaskFacts) -> list[Outcome | None]:
    return [attempt.outcome for attempt in task.attempts]


def _merged(task: TaskFacts) -> bool:
    return task.merged and task.status is Status.MERGED and sum(pull.merged for pull in task.pulls) == 1


def _cancelled(facts: Facts) -> bool:
    task, runs = facts.task(DROPPED), facts.worker_runs(DROPPED)
    dropped = (
        task.dropped and task.reason is StateReason.NOT_PLANNED and task.status is None and not task.pulls
    )
    alone = len(runs) == 1 and runs[0].tasks == (DROPPED,) and runs[0].conclusion == "cancelled"
    alone = alone and [conclusion for _, _, conclusion in runs[0].job(DROPPED, "agent")] == ["cancelled"]
    return dropped and alone and _outcomes(task) == [Outcome.CANCELLED] and task.record.strikes == 0


def _shared(facts: Facts) -> bool:
    legs = {f"#{number}" for number in PAIR}
    return any(set(run.tasks) == set(PAIR) and set(run.legs()) == legs for run in facts.worker_runs())


def _retried(facts: Facts) -> bool:
    task = facts.task(RETRIED)
    if _outcomes(task) != [Outcome.FAILED, Outcome.PASSED]:
        return False
    first = _run(facts, task.attempts[0].run)
    agent = [conclusion for _, _, conclusion in first.job(RETRIED, "agent")]
    verify = [conclusion for _, _, conclusion in first.job(RETRIED, "verify")]
    return agent == ["success"] and "failure" in verify


def _answered(facts: Facts) -> bool:
    task = facts.task(ASKED)
    return _outcomes(task) == [Outcome.BLOCKED, Outcome.PASSED] and [
        answer.by for answer in task.record.answers
    ] == [LOGIN]


def _proven(facts: Facts, task: TaskFacts) -> bool:
    if not task.attempts:
        return False
    legs = [conclusion for _, _, conclusion in _run(facts, task.attempts[-1].run).job(task.number, "verify")]
    return legs == ["success"] * SYSTEMS


def _in_order(facts: Facts, task: TaskFacts) -> bool:
    closed = [facts.task(need).closed_at for need in task.needs]
    began = [run.created_at for run in facts.worker_runs(task.number) if run.created_at is not None]
    return bool(began) and all(at is not None and at <= min(began) for at in closed)


def _woken(facts: Facts) -> bool:
    ended_well = {
        run.event for run in facts.runs if run.workflow == CONDUCTOR and run.conclusion == "success"
    }
    return {"issues", "workflow_dispatch"} <= ended_well


def _run(facts: Facts, number: int) -> RunFacts:
    return next((run for run in facts.runs if run.id == number), RunFacts(number, "", "", "", "", None, ()))
