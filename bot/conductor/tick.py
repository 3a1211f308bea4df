"""One tick: observe, plan until nothing is wanted any more, act."""

import logging
from collections.abc import Callable
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from bot.conductor.act import act
from bot.conductor.act.begin import check_may_write, with_own_dashboard
from bot.conductor.act.outbox import Effects
from bot.conductor.observe import observe
from bot.conductor.observe.advisor import Advise, no_advice
from bot.conductor.observe.lookups import look_up
from bot.conductor.observe.view import Observation
from bot.github.port import GitHub
from bot.model.decision import Decision, Plan, Verb
from bot.model.engine import RepositorySettings
from bot.model.errors import BotError, CannotGoOn
from bot.model.status import Status
from bot.plan import plan

log = logging.getLogger(__name__)

_LOOK_UPS = 10  # rounds; who commands -> who labelled -> needs -> who edited -> jobs -> report -> model is about the longest chain


class Tick(Struct, frozen=True):
    """What one tick saw, decided and did."""

    seen: Observation
    plan: Plan
    effects: Effects

    @property
    def due(self) -> datetime | None:
        """When another look could change a decision: at once where a task became ready too late to start in this tick."""
        unbegun = self.effects.not_begun | self.effects.unwritten.keys()
        dues = [
            *(item.due for item in self.plan.decisions if item.task not in unbegun),
            *(step.due for step in self.plan.batches),
        ]
        times = [due for due in dues if due is not None]
        if not self.effects.refused and unbegun & {item.task for item in self.plan.decisions if item.start}:
            # What GitHub would not start is remembered by now: the next look tells it, and gives the slot to others.
            times.append(self._now)
        if not self.effects.refused and any(map(self._may_start_now, self.plan.decisions)):
            times.append(self._now)
        return min(times, default=None)

    @property
    def _now(self) -> datetime:
        return self.seen.snapshot.now

    def _may_start_now(self, decision: Decision) -> bool:
        """Answered, interrupted or sent back: what was written about it is what the next look starts it from."""
        became_ready = decision.verb in (Verb.MOVE, Verb.FINISH) and decision.status is Status.READY
        waits = decision.record.live is not None or decision.record.not_before is not None
        return became_ready and not waits and decision.task not in self.effects.skipped


def tick(
    github: GitHub,
    clock: Callable[[], datetime],
    advise: Advise = no_advice,
    settings: RepositorySettings = RepositorySettings(),
    *,
    rehearsal: bool = False,
) -> Tick:
    """Run one tick; `advise` makes whoever answers what a model is asked. A `rehearsal` writes nothing, so every account may.

    Raises TryLater when GitHub is limited or down (state stays intact) and CannotGoOn when a person must act, or when another
    account conducts here.
    """
    seen = observe(github, clock(), settings)
    _check_repository(seen)
    if not rehearsal:
        check_may_write(seen)
    seen = with_own_dashboard(github, seen, rehearsal=rehearsal)
    seen, decided = decide(github, seen, advise)
    effects = act(github, decided, seen)
    for number, why in effects.skipped.items():
        log.warning("left to the next tick", extra={"task": number, "why": why})
    return Tick(seen, decided, effects)


def decide(github: GitHub, seen: Observation, advise: Advise = no_advice) -> tuple[Observation, Plan]:
    """Plan, look up what the plan wants to know, and plan again, until it wants nothing."""
    decided = plan(seen.snapshot)
    for _ in range(_LOOK_UPS):
        if not decided.wants:
            return seen, decided
        snapshot = look_up(github, seen.snapshot, decided.wants, advise)
        seen = replace(seen, snapshot=snapshot)
        decided = plan(snapshot)
    raise BotError(
        f"the plan still wants to know {sorted(map(str, decided.wants))} after {_LOOK_UPS} rounds; this is a bug"
    )


def _check_repository(seen: Observation) -> None:
    repository = seen.view.repository
    if repository.archived:
        raise CannotGoOn(f"{repository.full_name} is archived: nothing can be written to it")
    if not repository.has_issues:
        raise CannotGoOn(f"{repository.full_name} has issues switched off: there is nothing to conduct")
