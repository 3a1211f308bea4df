"""What an agent's job ends with, and which of its outcomes the jobs after it decide about."""

from msgspec import Struct

from bot.model.report import Outcome, Report

GOOD = frozenset({Outcome.UNVERIFIED, Outcome.BLOCKED, Outcome.NO_CHANGES, Outcome.HELD})
"""Outcomes of the agent's job that are data: the job is green, and the jobs after it decide."""


class Worked(Struct, frozen=True):
    """What the job ends with. `verify` says that there is a change whose gates are to be run."""

    report: Report
    verify: bool = False
