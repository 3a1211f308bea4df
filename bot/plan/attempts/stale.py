"""Finished work that the world has overtaken: brought up to date, verified again and published, without an agent."""

from datetime import datetime

from msgspec.structs import replace

from bot.model.record import Held, Record
from bot.model.report import Hold
from bot.model.status import Status
from bot.notation.keys import Key
from bot.plan.attempts.effect import Effect
from bot.plan.attempts.ending import Ending

_AT_ONCE = 3  # times in a row; a branch that moves more often than that is looked at by a person


def brought_up_to_date(key: Key, record: Record, ending: Ending, now: datetime) -> Effect | None:
    """Ready for a unit that does so, or None where work is held for another reason or has been overtaken too often."""
    report = ending.report
    if report is None or report.hold is not Hold.STALE or not record.earlier:
        return None
    before = record.held.tries if record.held is not None and record.held.why is Hold.STALE else 0
    if before >= _AT_ONCE:
        return None
    held = Held(Hold.STALE, now, record.attempts[-1].number, report.protected, before + 1)
    ready = replace(record, held=held, exceptions=report.protected, republish=True)
    return Effect(Status.READY, ready, f"{key}: {ending.reason}")
