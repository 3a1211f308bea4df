"""Ending processes the way GitHub's runner does: ask, ask again, kill the tree; then sweep by a variable in the environment.

Source: actions/runner, `ProcessInvoker.cs` (SIGINT, 7.5 s, SIGTERM, 2.5 s, kill) and `JobDispatcher` (RUNNER_TRACKING_ID).
Linux only: what runs is read from /proc.
"""

import contextlib
import os
import select
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

GRACE = (7.5, 2.5)


def children(pid: int) -> list[int]:
    """The direct children of a process."""
    return [child for child, parent in _parents() if parent == pid]


def environment(pid: int) -> dict[str, str]:
    """The environment that a process was started with; empty if it is gone or not ours to read."""
    try:
        pairs = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    return dict(pair.decode(errors="replace").split("=", 1) for pair in pairs if b"=" in pair)


def end(pids: Iterable[int], grace: tuple[float, float] = GRACE) -> None:
    """SIGINT to each, SIGTERM to what is left, then kill what is left with all below it. Returns when all are gone."""
    handles = dict(_handles(pids))
    try:
        for number, patience in ((signal.SIGINT, grace[0]), (signal.SIGTERM, grace[1])):
            for handle in handles.values():
                _send(handle, number)
            if not _left(handles, patience):
                return
        for pid in _left(handles, 0):
            kill_tree(pid)
        _left(handles, 5)
    finally:
        for handle in handles.values():
            os.close(handle)


def kill_tree(pid: int) -> None:
    """SIGKILL to a process, its group and everything below it, whatever session that is in."""
    doomed = [pid, *_descendants(pid)]
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
    for each in doomed:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(each, signal.SIGKILL)


def sweep(name: str, value: str) -> int:
    """SIGKILL to every process whose environment holds `name=value`; how many there were."""
    own = os.getpid()
    found = [pid for pid, _ in _parents() if pid != own and environment(pid).get(name) == value]
    for pid in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return len(found)


def _parents() -> Iterator[tuple[int, int]]:
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The command may hold spaces and brackets: what follows its last bracket is state and parent.
                fields = Path(entry.path, "stat").read_text(errors="replace").rpartition(")")[2].split()
                yield int(entry.name), int(fields[1])


def _descendants(pid: int) -> list[int]:
    below: dict[int, list[int]] = {}
    for child, parent in _parents():
        below.setdefault(parent, []).append(child)
    found: list[int] = []
    waiting = [pid]
    while waiting:
        now = below.get(waiting.pop(), [])
        found += now
        waiting += now
    return found


def _handles(pids: Iterable[int]) -> Iterator[tuple[int, int]]:
    """A handle names the process itself: a number may be given to another one meanwhile."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            yield pid, os.pidfd_open(pid)


def _send(handle: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, number)


def _left(handles: dict[int, int], patience: float) -> list[int]:
    """The processes still there after waiting for the end of all, at most so many seconds for each."""
    left = []
    for pid, handle in handles.items():
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if not poll.poll(patience * 1000):
            left.append(pid)
            # The others have had the same time.
            patience = 0
    return left
