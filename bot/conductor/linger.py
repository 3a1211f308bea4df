"""After a tick, stay while something is due soon, so that a back-off of seconds does not wait for the next sweep."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

from msgspec import Struct

from bot.conductor.tick import Tick

LOOK_EVERY = timedelta(seconds=15)


class Clock(Protocol):
    """Time as the lingering sees it; tests pass one that jumps."""

    def now(self) -> datetime: ...

    def sleep(self, span: timedelta) -> None: ...


class Lingering(Struct, frozen=True):
    """`superseded` says whether another conductor run is pending, which then takes over."""

    tick: Callable[[], Tick]
    superseded: Callable[[], bool]
    clock: Clock

    def run(self, most: Callable[[Tick], timedelta]) -> Tick:
        """Tick, and tick again whenever something came due, for at most as long as the configuration says."""
        last = self.tick()
        end = self.clock.now() + most(last)
        while (due := self._next(last)) is not None and due <= end:
            if not self._wait(due):
                break
            last = self.tick()
        return last

    def _next(self, last: Tick) -> datetime | None:
        """When to tick again. What is due already waits only if the last tick changed nothing: then somebody else has to move."""
        if last.due is None:
            return None
        now = self.clock.now()
        stuck = last.due <= now and (not last.effects.writes or bool(last.effects.skipped))
        return now + LOOK_EVERY if stuck else last.due

    def _wait(self, due: datetime) -> bool:
        """Wait until then in short steps; False as soon as another conductor run is pending."""
        while (left := due - self.clock.now()) > timedelta(0):
            self.clock.sleep(min(left, LOOK_EVERY))
            if self.superseded():
                return False
        return True
