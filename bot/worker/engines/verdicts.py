"""How an agent's program ended, in our words. Success is none of them: only gates can say that."""

import signal
from datetime import UTC, datetime, timedelta

from bot.model.report import Outcome
from bot.worker.engines import Verdict
from bot.worker.engines.facts import Facts
from bot.worker.engines.limits import named_time
from bot.worker.programs.process import Ended

_LONGEST = timedelta(days=7)
BUSY_STATUS = 75
"""The exit status by which a program says: try later (EX_TEMPFAIL of sysexits)."""


def judge_end(ended: Ended, facts: Facts) -> Verdict:
    """By exit status, signal, and the trouble that was told last."""
    if ended.code == 0:
        return Verdict(None)
    if provider := judge_provider(facts):
        return provider
    if facts.error and ended.code > 0:
        return Verdict(Outcome.FAILED, f"the agent ended with exit status {ended.code}: {facts.error}")
    # A shell reports a child's death by signal n as 128 + n.
    number = -ended.code if ended.code < 0 else ended.code - 128
    if number in {int(known) for known in signal.valid_signals()}:
        return Verdict(Outcome.CRASHED, f"the agent died of {_name(number)} (exit status {ended.code})")
    return Verdict(Outcome.FAILED, f"the agent ended with exit status {ended.code}")


def judge_provider(facts: Facts) -> Verdict | None:
    """What the model's provider said last, if it would not work."""
    if facts.capacity:
        return busy(facts)
    if facts.refused:
        return Verdict(Outcome.INFRA, f"the model's provider refuses: {facts.refused}", provider=True)
    return None


def busy(facts: Facts) -> Verdict:
    """The model's provider takes no work just now."""
    wait = facts.retry_after
    now = datetime.now(UTC).astimezone()
    until = datetime.fromtimestamp(facts.retry_at, UTC) if facts.retry_at else named_time(facts.capacity, now)
    if until is not None:
        wait = min(max(until - now, timedelta(0)), _LONGEST)
    words = f"the model's provider is busy: {facts.capacity}"
    return Verdict(Outcome.CAPACITY, words, wait, provider=True)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
