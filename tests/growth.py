"""How work grows with its input, so that a test can tell work in proportion from work that grows with the square."""

import gc
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

ROUNDS = 5


def growth(small: Callable[[], object], large: Callable[[], object]) -> float:
    """How many times more the large work takes than the small one, in steps of Python or in processor time, whichever grew more.

    Steps are the same in every run, but do not see what happens inside a pattern; of time the best of several rounds counts.
    """
    small()  # what is imported, compiled or cached on the way is no part of either
    steps = _steps(large) / _steps(small)
    collecting = gc.isenabled()
    gc.disable()
    try:
        rounds = [(_seconds(small), _seconds(large)) for _ in range(ROUNDS)]
    finally:
        if collecting:
            gc.enable()
    least = [min(times) for times in zip(*rounds, strict=True)]
    return max(steps, float(least[1] / least[0]))


def _steps(work: Callable[[], object]) -> int:
    count = 0

    def trace(_frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def _seconds(work: Callable[[], object]) -> float:
    begun = time.thread_time()
    work()
    return time.thread_time() - begun
