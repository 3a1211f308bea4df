"""An engine for tests: nothing runs until the test says what happened."""

from dataclasses import dataclass, field
from typing import Protocol

from bot.sandbox.world.actions import WorldRun


class _Ends(Protocol):
    def run_ended(self, run_id: int, conclusion: str) -> None: ...


@dataclass(slots=True)
class ManualEngine:
    """Started runs stay queued. A cancel ends the run at once if `obeys`; a forced one always does."""

    obeys: bool = True
    started: list[int] = field(default_factory=list)
    cancelled: list[tuple[int, bool]] = field(default_factory=list)
    world: _Ends | None = None

    def start(self, run: WorldRun) -> None:
        self.started.append(run.id)

    def cancel(self, run_id: int, force: bool) -> None:
        self.cancelled.append((run_id, force))
        if self.world is not None and (self.obeys or force):
            self.world.run_ended(run_id, "cancelled")
