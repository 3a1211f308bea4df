"""The only place that starts programs. Every program gets an environment of its own, and nothing of it outlives its end.

A program runs in a session of its own and carries a tracking variable, so that also children that moved to another
session, or whose parent is gone, are found (Linux: /proc) and ended. Output is drained by threads into a bounded memory,
whatever the program prints; a pipe that a grandchild still holds is not waited for.
"""

import ctypes
import os
import secrets
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import IO

from msgspec import Struct

from bot.worker.programs.cancellation import Cancellation

TRACK = "CF_TRACK"
_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_LOOK = 0.1  # seconds between looks at limits and cancellation
_BUSY = 0.02  # a tree that uses less than this share of one processor is idle (timers, spinners)

# What a program that must end is sent, and how many seconds each signal has to work. The runner gives us 7.5 s in all.
_LADDER = ((signal.SIGINT, 1.0), (signal.SIGTERM, 1.0), (signal.SIGKILL, 1.5))
_LEFTOVERS = ((signal.SIGTERM, 0.5), (signal.SIGKILL, 1.5))


_adopting = False


def adopt_orphans() -> bool:
    """Become the parent of every descendant whose own parent ends, so that none can slip away; True if the system can (Linux).

    Only for a process that starts programs through `run` alone, one at a time: whatever else is its child is ended, too.
    """
    global _adopting  # noqa: PLW0603 - a property of this process, set once at its start
    set_child_subreaper = 36  # prctl(2)
    try:
        _adopting = ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0) == 0
    except (OSError, AttributeError):
        _adopting = False
    return _adopting


class End(StrEnum):
    """Why a program is no longer running."""

    EXITED = "exited"
    TIMEOUT = "timeout"
    STALLED = "stalled"
    CANCELLED = "cancelled"
    STOPPED = "stopped"


class Limits(Struct, frozen=True):
    """How long and how much. `drain` bounds the wait for output after the end; None means no bound."""

    wall: timedelta | None = None
    stall: timedelta | None = None
    drain: timedelta = timedelta(seconds=2)
    head: int = 64 * 1024
    tail: int = 256 * 1024


class Ended(Struct, frozen=True):
    """A program's end. `code` is its exit status, negative for a signal; `output` is head and tail, as text.

    `omitted` counts the bytes left out between the two. `errors` is standard error where it was asked for apart.
    """

    how: End
    code: int
    output: str
    errors: str = ""
    omitted: int = 0
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.how is End.EXITED and self.code == 0


def run(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    limits: Limits = Limits(),
    cancellation: Cancellation | None = None,
    live: Callable[[bytes], None] | None = None,
    enough: Callable[[], object] | None = None,
    given: bytes | None = None,
    errors_apart: bool = False,
) -> Ended:
    """Run a program to its end, and end everything it started. Raises OSError if it cannot be started.

    Standard input is `given`, or closed. `live` gets output as it comes, from another thread. After a cancellation nothing starts.
    `enough` is asked all along whether to stop.
    """
    if cancellation is not None and cancellation.reason:
        return Ended(End.CANCELLED, -int(signal.SIGINT), "")
    token = secrets.token_hex(16)
    started = time.monotonic()
    with _given(given) as stdin:
        process = subprocess.Popen(
            list(command),
            cwd=folder,
            env={**environment, TRACK: token},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if errors_apart else subprocess.STDOUT,
            start_new_session=True,
        )
    tree = _Tree(process, token)
    output = _Drain(process.stdout, limits, live)
    errors = _Drain(process.stderr, limits, None) if errors_apart else None
    try:
        how = _wait(process, tree, folder, output, limits, cancellation or Cancellation(), started, enough)
        tree.end(_LEFTOVERS if how is End.EXITED else _LADDER)
    except BaseException:
        tree.end(_LADDER)
        raise
    finally:
        output.stop(limits.drain.total_seconds())
        if errors:
            errors.stop(limits.drain.total_seconds())
    return Ended(
        how,
        process.returncode if process.returncode is not None else -int(signal.SIGKILL),
        output.text(),
        errors.text() if errors else "",
        output.omitted,
        time.monotonic() - started,
    )


def _given(data: bytes | None) -> IO[bytes]:
    """A file rather than a pipe, so that a program that never reads its input cannot make us wait."""
    if data is None:
        return Path(os.devnull).open("rb")
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(data)
    file.seek(0)
    return file


def _wait(
    process: "subprocess.Popen[bytes]",
    tree: "_Tree",
    folder: Path,
    output: "_Drain",
    limits: Limits,
    cancellation: Cancellation,
    started: float,
    enough: Callable[[], object] | None,
) -> End:
    stall = _Stall(limits.stall.total_seconds(), tree, folder, output) if limits.stall else None
    wall = limits.wall.total_seconds() if limits.wall is not None else None
    while True:
        try:
            process.wait(timeout=_LOOK)
        except subprocess.TimeoutExpired:
            pass
        else:
            return End.EXITED
        if cancellation.reason:
            return End.CANCELLED
        if enough is not None and enough():
            return End.STOPPED
        if wall is not None and time.monotonic() - started >= wall:
            return End.TIMEOUT
        if stall is not None and stall.reached():
            return End.STALLED


class _Stall:
    """No output, no processor time in the tree, and no file change for a while: a hanging call, not a silent build."""

    def __init__(self, bound: float, tree: "_Tree", folder: Path, output: "_Drain") -> None:
        self._bound = bound
        self._tree = tree
        self._folder = folder
        self._output = output
        self._pace = min(bound / 5, 10.0)
        self._looked = self._active = time.monotonic()
        self._used = 0.0

    def reached(self) -> bool:
        now = time.monotonic()
        if now - self._looked < self._pace:
            return False
        used = self._tree.processor_seconds()
        if abs(used - self._used) > _BUSY * (now - self._looked):
            self._active = now
        self._looked, self._used = now, used
        self._active = max(self._active, self._output.last)
        if now - self._active < self._bound:
            return False
        # Looking at every file is dear, so only when everything else says that it stalls.
        self._active = max(self._active, now - (time.time() - _newest_change(self._folder)))
        return now - self._active >= self._bound


def _newest_change(folder: Path) -> float:
    newest = 0.0
    for parent, _, files in os.walk(folder):
        for name in (".", *files):
            try:
                newest = max(newest, os.lstat(os.path.join(parent, name)).st_mtime)  # noqa: PTH118 - hot loop
            except OSError:
                continue
    return newest


class _Stat(Struct, frozen=True):
    parent: int
    group: int
    session: int
    alive: bool
    seconds: float
    started: int = 0


class _Tree:
    """Everything a program started: its session, whoever carries its tracking variable, and their children."""

    def __init__(self, process: "subprocess.Popen[bytes]", token: str) -> None:
        self._process = process
        self._mark = f"{TRACK}={token}".encode()
        leader = _stat(process.pid)
        self._since = (
            leader.started if leader else 0
        )  # nobody older can be a member, which spares most of the looking
        self._known: dict[
            int, int
        ] = {}  # start time by id of every member ever seen: its parent may be gone by the next look

    def members(self) -> dict[int, _Stat]:
        """Process id to facts, of those alive now."""
        if not (_PROC / "self" / "stat").exists():
            return self._group_only()
        everybody = {pid: stat for pid in _process_ids() if (stat := _stat(pid)) and stat.alive}
        leader, own = self._process.pid, os.getpid()
        mine = {
            pid
            for pid, stat in everybody.items()
            if leader in (pid, stat.group, stat.session)
            or self._known.get(pid) == stat.started
            or (stat.started >= self._since and pid != own and self._marked(pid))
            or (_adopting and stat.parent == own)
        }
        more = mine
        while more:
            more = {pid for pid, stat in everybody.items() if stat.parent in more} - mine
            mine |= more
        found = {pid: everybody[pid] for pid in mine}
        self._known |= {pid: stat.started for pid, stat in found.items()}
        return found

    def processor_seconds(self) -> float:
        return sum(stat.seconds for stat in self.members().values())

    def end(self, ladder: Sequence[tuple[signal.Signals, float]]) -> None:
        """Signal what is left, harder each time, until nothing is."""
        for number, patience in ladder:
            until = time.monotonic() + patience
            told: set[int] = set()
            while members := self.members():
                # A program that keeps forking meets SIGKILL with every look.
                for pid in members if number is signal.SIGKILL else members.keys() - told:
                    _send(pid, number)
                told |= members.keys()
                if time.monotonic() >= until:
                    break
                self._process.poll()
                time.sleep(0.02)
            else:
                break
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)  # its other threads may outlive its first one by a moment

    def _marked(self, pid: int) -> bool:
        try:
            return self._mark in _read(pid, "environ").split(b"\0")
        except OSError:
            return False

    def _group_only(self) -> dict[int, _Stat]:
        """Where there is no /proc, the process group is all that can be found."""
        self._process.poll()
        try:
            os.killpg(self._process.pid, 0)
        except OSError:
            return {}
        return {-self._process.pid: _Stat(0, self._process.pid, self._process.pid, alive=True, seconds=0.0)}


def _process_ids() -> list[int]:
    return [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208 - names are all we need


def _read(pid: int, name: str) -> bytes:
    """A file of /proc, without the cost of paths as objects: this is done for every process of the machine. Raises OSError."""
    handle = os.open(f"/proc/{pid}/{name}", os.O_RDONLY)
    try:
        parts = []
        while part := os.read(handle, 64 * 1024):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(handle)


def _stat(pid: int) -> _Stat | None:
    try:
        text = _read(pid, "stat")
    except OSError:
        return None
    # The name in brackets may hold anything, also brackets and blanks; what follows the last one is regular.
    state, parent, group, session, *rest = text.rpartition(b")")[2].split()
    spent = sum(int(field) for field in rest[7:11])  # own and waited-for children's, user and system
    return _Stat(
        int(parent), int(group), int(session), state not in (b"Z", b"X"), spent / _TICKS, int(rest[15])
    )


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        return  # it is gone, or not ours any more


class _Drain:
    """Reads a pipe in a thread, keeping its head and its tail."""

    def __init__(self, pipe: IO[bytes] | None, limits: Limits, live: Callable[[bytes], None] | None) -> None:
        assert pipe is not None
        self._pipe = pipe
        self._limits = limits
        self._live = live
        self._head = bytearray()
        self._tail = bytearray()
        self.omitted = 0
        self.last = time.monotonic()
        self._give_up = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def stop(self, patience: float) -> None:
        """Wait for the end of the pipe, but not for whoever else may hold it."""
        self._thread.join(patience)
        self._give_up.set()
        self._thread.join()
        self._pipe.close()

    def text(self) -> str:
        gap = f"\n[... {self.omitted} bytes left out ...]\n".encode() if self.omitted else b""
        return (bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "replace")

    def _read(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._pipe, selectors.EVENT_READ)
            while not self._give_up.is_set():
                if not selector.select(timeout=_LOOK):
                    continue
                data = os.read(self._pipe.fileno(), 64 * 1024)
                if not data:
                    return
                self.last = time.monotonic()
                self._keep(data)
                if self._live is not None:
                    self._live(data)

    def _keep(self, data: bytes) -> None:
        room = self._limits.head - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        if len(self._tail) > 2 * self._limits.tail:
            self._cut()

    def _cut(self) -> None:
        surplus = len(self._tail) - self._limits.tail
        del self._tail[:surplus]
        self.omitted += surplus
