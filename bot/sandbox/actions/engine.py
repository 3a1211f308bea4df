"""The Actions engine of the sandbox: each run is one process of `act` on this machine, and what act lacks is done around it.

What act lacks (seen with 0.2.89): time limits of jobs, a cancellation that lets `always()` jobs run, `cancelled` as a result,
run states. Concurrency groups and the rest of the queue are the world's.
"""

import logging
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.sandbox.actions import processes
from bot.sandbox.actions.journal import Entry, Journal, News
from bot.sandbox.actions.layout import read_layout
from bot.sandbox.actions.replacements import replacements, shipped_action
from bot.sandbox.actions.workspace import Service, Workspace
from bot.sandbox.world.actions import WorldRun
from bot.sandbox.world.state import JobState
from bot.sandbox.world.world import World

_log = logging.getLogger(__name__)
# How long a step that must not run is waited for: act says that it begins just before it starts the process.
_STEP_APPEARS = 2.0


@dataclass(slots=True)
class _Live:
    """A run between its start and its end. `doomed` are the jobs (act's names) that were cancelled, `stopped` their steps
    (job, step) that were ended.
    """

    run: WorldRun
    workspace: Workspace
    journal: Journal | None = None
    process: subprocess.Popen[str] | None = None
    cancelled: bool = False
    forced: bool = False
    doomed: set[str] = field(default_factory=set)
    stopped: set[tuple[str, str]] = field(default_factory=set)
    timers: dict[str, threading.Timer] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class ActEngine:
    """Runs workflows by act. `start` and `cancel` return at once; each run has a thread that reads act's log.

    `own` is the folder with our `action.yml`; `secrets` are the repository's; at most `max_runs` runs go on at once, the others
    wait in order. `grace` are the seconds between the signals of a cancellation, `minute` is how
    long a minute of a job's time limit takes. `python` runs the bot inside the steps.
    """

    def __init__(
        self,
        world: World,
        service: Service,
        own: Path,
        *,
        secrets: Mapping[str, str] | None = None,
        max_runs: int = 4,
        grace: tuple[float, float] = processes.GRACE,
        minute: float = 60.0,
        act: str = "",
        python: str = sys.executable,
    ) -> None:
        self._world = world
        self._service = service
        self._secrets = dict(secrets or {})
        self._max_runs = max_runs
        self._grace = grace
        self._minute = minute
        self._act = act or find_act()
        self._python = python
        self._root = Path(tempfile.mkdtemp(prefix="cf-sandbox-"))
        self._own = shipped_action(own, self._root / "action")
        self._lock = threading.Lock()
        self._waiting: deque[_Live] = deque()
        self._live: dict[int, _Live] = {}
        self._threads: set[threading.Thread] = set()
        self._idle = threading.Condition(self._lock)
        self._closed = False

    # ------------------------------------------------------------------ what the world asks

    def start(self, run: WorldRun) -> None:
        """Let the run begin as soon as there is room."""
        live = _Live(run, Workspace(self._root / f"{run.id}-{run.attempt}"))
        with self._lock:
            if self._closed:
                return
            self._waiting.append(live)
        self._fill()

    def cancel(self, run_id: int, force: bool) -> None:
        """End the run as GitHub does: the steps that run get signals, what is `always()` still runs. `force` ends all of it."""
        with self._lock:
            waiting = next((live for live in self._waiting if live.run.id == run_id), None)
            if waiting is not None:
                self._waiting.remove(waiting)
            live = self._live.get(run_id)
        if waiting is not None:
            self._world.run_ended(run_id, "cancelled")
        elif live is not None:
            self._spawn(self._force if force else self._cancel, live)

    def close(self) -> None:
        """End every run and every process of one, and remove what they left on disk."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
            live = list(self._live.values())
        for each in live:
            self._force(each)
        while self._threads:
            with self._lock:
                thread = next(iter(self._threads), None)
            if thread is not None:
                thread.join()
        shutil.rmtree(self._root, ignore_errors=True)

    def wait_idle(self, timeout: float) -> bool:
        """Until nothing runs or waits; False if that takes longer."""
        with self._idle:
            return self._idle.wait_for(lambda: not self._live and not self._waiting, timeout)

    # ------------------------------------------------------------------ threads

    def _fill(self) -> None:
        """Start what waits, as far as there is room."""
        while True:
            with self._lock:
                if not self._waiting or len(self._live) >= self._max_runs or self._closed:
                    return
                live = self._waiting.popleft()
                self._live[live.run.id] = live
            self._spawn(self._carry_out, live)

    def _spawn(self, work: Callable[[_Live], None], live: _Live) -> None:
        def body() -> None:
            try:
                work(live)
            finally:
                with self._lock:
                    self._threads.discard(thread)

        thread = threading.Thread(target=body, name=f"run-{live.run.id}", daemon=True)
        with self._lock:
            self._threads.add(thread)
        thread.start()

    def _carry_out(self, live: _Live) -> None:
        conclusion = "failure"
        try:
            conclusion = self._run(live)
        except (OSError, subprocess.CalledProcessError) as error:
            detail = getattr(error, "stderr", b"") or b""
            _log.exception("run %d cannot go on: %s", live.run.id, detail.decode(errors="replace"))
        finally:
            for timer in live.timers.values():
                timer.cancel()
            live.workspace.sweep()
            if live.process is not None:
                live.process.wait()
            live.workspace.remove()
            self._let_go(live, conclusion)

    def _let_go(self, live: _Live, conclusion: str) -> None:
        """The world first: who waits for an idle engine expects to see how the run ended."""
        try:
            self._world.run_ended(live.run.id, conclusion)
        finally:
            with self._idle:
                self._live.pop(live.run.id, None)
                self._idle.notify_all()
            self._fill()

    # ------------------------------------------------------------------ one run

    def _run(self, live: _Live) -> str:
        """Run act to its end; the run's conclusion."""
        run, workspace = live.run, live.workspace
        workspace.prepare(run, self._service, self._secrets)
        with self._world.lock:
            contexts = self._world.actions.contexts(run)
            variables = dict(self._world.actions.variables)
        workspace.fix_max_parallel(contexts)
        journal = Journal(
            read_layout(workspace.checkout, run.workflow, contexts), lambda: self._world.core.now
        )
        workspace.keep_tokens(run, self._job_tokens(run, journal))
        actions = list(replacements(workspace.checkout, self._own))
        command = workspace.command(self._act, self._python, run, self._service, variables, actions)
        with live.lock:
            if live.cancelled or live.forced:
                return "cancelled"
            live.journal = journal
            live.process = subprocess.Popen(
                command,
                cwd=workspace.checkout,
                env=workspace.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        self._world.run_started(run.id)
        assert live.process.stdout is not None
        with live.process.stdout:
            for line in live.process.stdout:
                with live.lock:
                    news = journal.read(line)
                if news is not None:
                    self._hear(live, news)
        status = live.process.wait()
        return self._settle(live, journal, status)

    def _job_tokens(self, run: WorldRun, journal: Journal) -> dict[str, str]:
        """A token for each job that names its permissions, by the job's id; the stand-in for uv gives them out."""
        granted = {job_id: place.permissions(job_id) for place, job_id in journal.layout.all_names()}
        return {
            job_id: self._world.run_token(run.id, permissions, job_id).value
            for job_id, permissions in granted.items()
            if permissions is not None
        }

    def _hear(self, live: _Live, news: News) -> None:
        entry = news.entry
        if news.begun:
            live.workspace.forget_secrets()
            self._limit(live, entry)
        if live.cancelled and not entry.ended:
            self._hold_back(live, entry, news)
        name = _act_name(live, entry)
        if news.ended:
            if (timer := live.timers.pop(name, None)) is not None:
                timer.cancel()
            if name in live.doomed:
                entry.state.conclusion = "cancelled"
        changed = news.begun or news.ended or bool(news.step) or news.step_ended
        if changed:
            self._world.put_job(live.run.id, _copy(entry.refresh()))
        if text := entry.take_log():
            self._world.append_log(live.run.id, entry.state.name, text)

    def _settle(self, live: _Live, journal: Journal, status: int) -> str:
        """All that is left to say when act has ended."""
        for name, entry in journal.entries.items():
            if not entry.ended:
                entry.state.status, entry.state.completed_at = "completed", self._world.core.now
                ended_by_us = name in live.doomed or live.forced
                entry.state.conclusion = "cancelled" if ended_by_us else "failure"
            self._world.put_job(live.run.id, _copy(entry.refresh()))
            if text := entry.take_log():
                self._world.append_log(live.run.id, entry.state.name, text)
        if not journal.entries and status and not live.forced and not live.cancelled:
            _log.error(
                "run %d of %s cannot begin: %s", live.run.id, live.run.workflow, " ".join(journal.loose[-5:])
            )
            return "startup_failure"
        self._add_skipped(live, journal)
        return _conclusion(live, journal)

    def _add_skipped(self, live: _Live, journal: Journal) -> None:
        """What act skips it does not mention; GitHub lists them, those of a called workflow under their caller."""
        seen = {
            (entry.place.prefix if entry.place else "", entry.job_id) for entry in journal.entries.values()
        }
        now = self._world.core.now
        for place, job_id in journal.layout.all_names():
            if (place.prefix, job_id) not in seen:
                conclusion = "cancelled" if live.cancelled or live.forced else "skipped"
                name = f"{place.caller} / {job_id}" if place.caller else place.name(job_id, {})
                self._world.put_job(
                    live.run.id, JobState(name, "completed", conclusion, now, now, created_at=now)
                )

    # ------------------------------------------------------------------ ending early

    def _limit(self, live: _Live, entry: Entry) -> None:
        """Act by itself does not keep to a job's `timeout-minutes`."""
        name = _act_name(live, entry)
        timer = threading.Timer(entry.minutes * self._minute, self._out_of_time, (live, name, entry))
        timer.daemon = True
        live.timers[name] = timer
        timer.start()

    def _out_of_time(self, live: _Live, name: str, entry: Entry) -> None:
        """GitHub cancels a job that is out of time, and its `always()` steps run. Source: docs on `timeout-minutes`."""
        with live.lock:
            if entry.ended:
                return
            entry.write(f"The job has exceeded the maximum execution time of {entry.minutes:g} minutes.\n")
            self._doom(live, name, entry)
        self._end_step(live, entry)

    def _cancel(self, live: _Live) -> None:
        with live.lock:
            if live.cancelled:
                return
            live.cancelled = True
            if live.journal is None:
                return
            # A job that is `always()` goes on. Source: docs, "Workflow cancellation": conditions of running jobs are read again.
            entries = live.journal.entries.items()
            doomed = {name: entry for name, entry in entries if not entry.ended and not entry.always}
            for name, entry in doomed.items():
                self._doom(live, name, entry)
        for entry in doomed.values():
            # Bound by a default, or all would end the last one; mypy has no type for a lambda with one.
            self._spawn(lambda each, entry=entry: self._end_step(each, entry), live)  # type: ignore[misc]

    def _force(self, live: _Live) -> None:
        with live.lock:
            live.forced = live.cancelled = True
            if live.journal is not None:
                live.doomed |= {name for name, entry in live.journal.entries.items() if not entry.ended}
        if live.process is not None:
            processes.kill_tree(live.process.pid)
        live.workspace.sweep()

    def _doom(self, live: _Live, name: str, entry: Entry) -> None:
        live.doomed.add(name)
        with live.workspace.cancelled.open("a", encoding="utf-8") as names:
            names.write(f"{entry.state.name}\n")

    def _hold_back(self, live: _Live, entry: Entry, news: News) -> None:
        """After a cancellation only what is `always()` goes on: a new job as a whole, a doomed job's steps one by one."""
        name = _act_name(live, entry)
        if news.begun and not entry.always:
            with live.lock:
                self._doom(live, name, entry)
        if news.step and name in live.doomed:
            self._spawn(lambda each: self._end_step(each, entry), live)

    def _end_step(self, live: _Live, entry: Entry) -> None:
        """End what the job does now, unless that is `always()`. A step may have begun for act, but not yet as a process.

        Each step is ended once: the next one's process may be there before its beginning was read from the log.
        """
        patience = threading.Event()
        for _ in range(int(_STEP_APPEARS / 0.02)):
            over = entry.ended or live.process is None or live.process.poll() is not None
            with live.lock:
                step = (entry.state.name, entry.step)
                if over or entry.step_goes_on or step in live.stopped:
                    return
                pids = self._steps(live, entry)
                if pids:
                    live.stopped.add(step)
            if pids:
                processes.end(pids, self._grace)
                return
            patience.wait(0.02)

    def _steps(self, live: _Live, entry: Entry) -> list[int]:
        """The entry processes of the job's steps that run now: act's own children. Legs of one job cannot be told apart."""
        below = processes.children(live.process.pid) if live.process is not None else []
        return [pid for pid in below if processes.environment(pid).get("GITHUB_JOB") == entry.job_id]


def find_act() -> str:
    """The act of our own environment, else the one on the path. Raises FileNotFoundError."""
    beside = Path(sys.executable).parent / "act"
    found = str(beside) if beside.is_file() else shutil.which("act")
    if found is None:
        raise FileNotFoundError("act is not installed: install cf-conductor with the extra `sandbox`")
    return found


def own_action() -> Path:
    """The folder that holds our action.yml, a link to the one at the project's root that becomes a file in a wheel."""
    return Path(__file__).parent / "own"


def _act_name(live: _Live, entry: Entry) -> str:
    assert live.journal is not None
    return next(name for name, each in live.journal.entries.items() if each is entry)


def _copy(state: JobState) -> JobState:
    """The world keeps what it is given."""
    return JobState(
        state.name,
        state.status,
        state.conclusion,
        state.started_at,
        state.completed_at,
        state.steps,
        created_at=state.created_at,
    )


def _conclusion(live: _Live, journal: Journal) -> str:
    results = {entry.state.conclusion for entry in journal.entries.values()}
    if live.cancelled or live.forced:
        return "cancelled"
    for result in ("failure", "cancelled", "success"):
        if result in results:
            return result
    return "skipped"
