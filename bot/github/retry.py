"""Our rule of repeating a request, as a tenacity policy.

What may have arrived and changes something is never sent again: a second comment or a second dispatch is worse than a tick that
ends early. What only reads is tried again with a short back-off. A limit is waited for once, and only if it is seconds.
"""

from collections.abc import Callable
from enum import Enum, auto

from tenacity import RetryCallState, Retrying, stop_after_attempt, wait_exponential

from bot.github.faults import Busy, Limited, Lost, Unsent

ATTEMPTS = 4
SHORT_WAIT = 5.0  # seconds of a `retry-after` that are cheaper to wait for than to start a tick again
_BACK_OFF = wait_exponential(multiplier=0.5, max=8)


class Repeat(Enum):
    """When a request may be sent again."""

    READ = auto()  # always: it changes nothing
    LARGE_READ = auto()  # not after 502, 504 or a lost answer: the caller asks for less instead
    WRITE = auto()  # only if it never left, or was turned away at a limit


def policy(repeat: Repeat, sleep: Callable[[float], None]) -> Retrying:
    """The policy for one request. The last error is raised as it is."""
    return Retrying(
        retry=lambda state: _again(repeat, state),
        wait=_pause,
        stop=stop_after_attempt(ATTEMPTS),
        sleep=sleep,
        reraise=True,
    )


def _again(repeat: Repeat, state: RetryCallState) -> bool:
    error = _error(state)
    match error:
        case Limited(wait=wait):
            return wait is not None and wait <= SHORT_WAIT and state.attempt_number == 1
        case Unsent():
            return True
        case Busy(status=502 | 504) | Lost():
            return repeat is Repeat.READ
        case Busy():
            return repeat is not Repeat.WRITE
        case _:
            return False


def _pause(state: RetryCallState) -> float:
    error = _error(state)
    if isinstance(error, Limited):
        return error.wait or 0.0
    return float(_BACK_OFF(state))


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None
