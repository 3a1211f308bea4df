"""Concurrency groups: one holder, one waiting (or up to a hundred), and who has to go when another comes.

Source: docs.github.com, "Control the concurrency of workflows and jobs"; `queue: max` of May 2026. A run takes all its groups
at once or waits for all: the engine runs whole runs, so a job's group counts for its run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.sandbox.world.workflows import Group

MAX_PENDING = 100


@dataclass(slots=True)
class Arrival:
    """What a newcomer causes: may it start, who loses the waiting place, and which holders are asked to end."""

    starts: bool
    evicted: tuple[int, ...] = ()
    cancelled: tuple[int, ...] = ()


@dataclass(slots=True)
class Groups:
    """Names compare without case and are shared by all workflows of the repository."""

    holder: dict[str, int] = field(default_factory=dict)
    pending: dict[str, list[int]] = field(default_factory=dict)
    wanted: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def arrive(self, run: int, groups: Sequence[Group]) -> Arrival:
        """A run wants its groups."""
        names = tuple(group.name.lower() for group in groups)
        self.wanted[run] = names
        evicted: dict[int, None] = {}
        cancelled: dict[int, None] = {}
        full = False
        for group, name in zip(groups, names, strict=True):
            waiting = self.pending.get(name, [])
            if group.queue == "single":
                evicted |= dict.fromkeys(waiting)
            elif len(waiting) >= MAX_PENDING:
                full = True
            if group.cancel_in_progress and name in self.holder:
                cancelled[self.holder[name]] = None
        if full:
            return Arrival(starts=False, evicted=(run,))
        for loser in evicted:
            self.leave(loser)
        if starts := self._free(names):
            self._take(run, names)
        else:
            for name in names:
                self.pending.setdefault(name, []).append(run)
        return Arrival(starts, tuple(evicted), tuple(cancelled))

    def leave(self, run: int) -> tuple[int, ...]:
        """A run has ended or given up; the runs that may start now."""
        names = self.wanted.pop(run, ())
        for name in names:
            if self.holder.get(name) == run:
                del self.holder[name]
            if run in self.pending.get(name, ()):
                self.pending[name].remove(run)
        started = []
        for name in names:
            for waiting in list(self.pending.get(name, ())):
                if self._free(self.wanted[waiting]):
                    self._take(waiting, self.wanted[waiting])
                    started.append(waiting)
        return tuple(started)

    def _free(self, names: Sequence[str]) -> bool:
        return not any(name in self.holder for name in names)

    def _take(self, run: int, names: Sequence[str]) -> None:
        for name in names:
            self.holder[name] = run
            if run in self.pending.get(name, ()):
                self.pending[name].remove(run)
