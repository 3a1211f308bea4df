"""`cf conduct --every`: ticks in a container, safe beside Actions because both claim before they start."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import NoReturn

from bot.conductor.linger import Clock
from bot.conductor.tick import Tick
from bot.model.errors import TryLater, UsageError
from bot.notation.duration import DurationError, read_duration

log = logging.getLogger(__name__)

_SHORTEST, _LONGEST = timedelta(seconds=5), timedelta(hours=1)


def read_pause(text: str) -> timedelta:
    """The pause between two ticks. Raises UsageError."""
    try:
        pause = read_duration(text)
    except DurationError:
        pause = None
    if pause is None or not _SHORTEST <= pause <= _LONGEST:
        raise UsageError(f"--every must be a duration like 30s or 5m, from 5s to 1h, and is {text!r}")
    return pause


def tick_for_ever(tick: Callable[[], Tick], pause: timedelta, clock: Clock) -> NoReturn:
    """Tick with this pause in between. What is due sooner is not waited out; where GitHub names a time, that is kept.

    Raises whatever a tick raises but TryLater.
    """
    while True:
        wait = pause
        try:
            last = tick()
            if last.due is not None and last.effects.writes:
                wait = min(pause, max(last.due - clock.now(), _SHORTEST))
        except TryLater as error:
            log.warning("this tick came to nothing, the next one goes on: %s", error)
            if error.not_before is not None:
                wait = max(pause, error.not_before - clock.now())
        clock.sleep(wait)
