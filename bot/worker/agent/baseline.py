"""The gates on the untouched default branch, before the agent begins: what fails there is nobody's work.

Once for each digest of set-up, gates and runner; the conductor keeps what was found, and says in the unit whether it is known.
"""

import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from msgspec.structs import replace

from bot.model.config import Config
from bot.model.report import GateStatus, Measured
from bot.model.unit import Gate, Unit
from bot.notation.digests import commands_digest
from bot.notation.units import BASELINE_MINUTES
from bot.worker.programs.gates import GateRunner, run_gate

_TAIL = 2_000


def measure(config: Config, unit: Unit, gates: Sequence[Gate], runner: GateRunner) -> Measured | None:
    """What the gates say of the files as they are; of those for which the time was not enough, nothing. None if cancelled."""
    until = time.monotonic() + BASELINE_MINUTES * 60
    found = []
    for gate in gates:
        left = timedelta(seconds=until - time.monotonic())
        if left <= timedelta(0):
            break
        result = run_gate(replace(gate, timeout=min(gate.timeout, left)), runner).result
        if runner.cancellation is not None and runner.cancellation.reason:
            return None
        if result.status is GateStatus.ERROR and not result.code and left < gate.timeout:
            break
        found.append(replace(result, tail=result.tail[-_TAIL:]))
    return Measured(commands_digest(config, unit.runner), tuple(found))


def is_wanted(config: Config, unit: Unit, gates: Sequence[Gate], untouched: Callable[[], bool]) -> bool:
    """Only where nobody knows yet, and where the files are those of the default branch."""
    return config.baseline and unit.measure and bool(gates) and untouched()
