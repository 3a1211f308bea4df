"""What became of an attempt, from the platform's facts. The agent's job has words only; the results of jobs come from Actions."""

from msgspec import Struct

from bot.model.report import Outcome, Report
from bot.worker.job.worked import GOOD


class Results(Struct, frozen=True):
    """`agent` and `verify` are Actions' results of the two jobs; `work` is the agent job's report.

    `change` says that a commit came with it, `legs` that there are gates to verify.
    """

    agent: str
    verify: str
    legs: bool
    work: Report | None
    change: bool


class Judgement(Struct, frozen=True):
    """`outcome` is None where the change may be published; `verified` then says whether gates have proven it."""

    outcome: Outcome | None
    reason: str = ""
    verified: bool = False


def judge_results(results: Results) -> Judgement:
    """Decide the outcome of a unit of kind `code`, up to publishing. Nothing the agent's job says can make this a pass."""
    work = results.work
    if results.agent != "success":
        return _agent_ended(results.agent, work)
    if work is None:
        return Judgement(Outcome.INFRA, "the agent's job succeeded, but its work is missing")
    if work.outcome in (Outcome.BLOCKED, Outcome.NO_CHANGES):
        return Judgement(work.outcome, work.reason)
    if work.outcome is Outcome.HELD and (not results.change or results.verify == "skipped"):
        return Judgement(Outcome.HELD, work.reason)
    if not results.change:
        return Judgement(Outcome.INFRA, "the agent's job succeeded, but its commit is missing")
    return _verified(results)


def _agent_ended(result: str, work: Report | None) -> Judgement:
    if result == "cancelled":
        told = work.reason if work is not None and work.outcome is Outcome.CANCELLED else ""
        return Judgement(Outcome.CANCELLED, told or "the run was cancelled")
    if work is not None and work.outcome not in GOOD | {Outcome.PASSED}:
        return Judgement(work.outcome, work.reason)
    return Judgement(Outcome.INFRA, "the agent's job failed without saying why")


def _verified(results: Results) -> Judgement:
    match results.verify:
        case "success" if results.legs:
            return Judgement(None, verified=True)
        case "skipped" if not results.legs:
            return Judgement(None)
        case "failure":
            return Judgement(Outcome.FAILED, "the gates did not pass on a clean machine")
        case _:
            return Judgement(
                Outcome.INFRA, f"verification did not take place ({results.verify or 'no result'})"
            )
