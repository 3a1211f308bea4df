"""Trouble on order, for tests of what survives it: dead connections, 502s, limits, stale lists."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bot.sandbox.world.errors import ApiError


class Disconnected(Exception):
    """The connection died; whether the request was carried out is unknown to the caller."""


@dataclass(slots=True)
class Fault:
    """Spoils calls whose name contains `operation` (a port method, a change's class, or `METHOD /path`).

    `skip` calls go well first, then `times` are spoilt; `after` carries the call out before failing.
    """

    error: Callable[[], BaseException]
    operation: str = ""
    writes_only: bool = False
    skip: int = 0
    times: int = 1
    after: bool = False


@dataclass(slots=True)
class Faults:
    """What goes wrong next. Nothing, unless it was ordered."""

    planned: list[Fault] = field(default_factory=list)
    stale_reads: int = 0
    writes: int = 0

    def fail_write(
        self, number: int, *, after: bool = False, error: Callable[[], BaseException] = Disconnected
    ) -> None:
        """The `number`-th write from now (1 is the next) fails before or after it was applied."""
        self.planned.append(Fault(error, writes_only=True, skip=number - 1, after=after))

    def answer(self, status: int, operation: str = "", *, times: int = 1, after: bool = False) -> None:
        """The next calls of that name are answered with this status: 502, 500, 404 ..."""
        kind = "INTERNAL" if status >= 500 else "FORBIDDEN"
        self.planned.append(
            Fault(lambda: ApiError(status, "Server Error", kind), operation, times=times, after=after)
        )

    def refuse(self, operation: str, words: str, *, skip: int = 0, times: int = 1) -> None:
        """After `skip` calls of that name that go well, one change is refused in these words; the rest of its document holds."""
        self.planned.append(
            Fault(
                lambda: ApiError(403, words, "UNPROCESSABLE"),
                operation,
                writes_only=True,
                skip=skip,
                times=times,
            )
        )

    def limit(self, operation: str = "", *, retry_after: int = 60) -> None:
        """The next call of that name meets the secondary rate limit."""
        message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        headers = {"retry-after": str(retry_after)}
        self.planned.append(Fault(lambda: ApiError(403, message, "RATE_LIMITED", headers), operation))

    def lag(self, reads: int) -> None:
        """The next list reads answer as they did the last time, as a replica that is behind would."""
        self.stale_reads = reads

    def take_stale(self) -> bool:
        """Whether this read is one of them."""
        if self.stale_reads == 0:
            return False
        self.stale_reads -= 1
        return True

    def strike(self, operation: str, *, write: bool, after: bool) -> None:
        """Called before and after every call; raises what was ordered for it."""
        if write and not after:
            self.writes += 1
        for fault in list(self.planned):
            if (
                fault.operation not in operation
                or (fault.writes_only and not write)
                or fault.after is not after
            ):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            fault.times -= 1
            if fault.times == 0:
                self.planned.remove(fault)
            raise fault.error()
