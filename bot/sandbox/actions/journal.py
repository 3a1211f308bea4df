"""The JSON log of act, read into the jobs that GitHub's API would show."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.sandbox.actions.layout import Layout, Place
from bot.sandbox.world.state import JobState

# A job's log is kept to be looked at; what a program prints has no limit of its own.
MAX_LOG = 400_000
_CUT = "... (cut: the log is longer than the sandbox keeps)\n"


@dataclass(slots=True)
class Entry:
    """One job: what the API shows of it, and what the engine needs to act on it."""

    state: JobState
    job_id: str
    matrix: Mapping[str, Any]
    place: Place | None
    steps: dict[str, tuple[str, str, str | None]] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)
    logged: int = 0

    @property
    def ended(self) -> bool:
        return self.state.status == "completed"

    @property
    def always(self) -> bool:
        return self.place is not None and self.place.always(self.job_id)

    @property
    def step(self) -> str:
        """The id of the step that runs now, or of the last one between two; empty before the first."""
        return next(reversed(self.steps), "")

    @property
    def step_goes_on(self) -> bool:
        """Whether the step that runs now would also run after a cancellation."""
        return bool(self.step) and self.place is not None and self.place.always(self.job_id, self.step)

    @property
    def minutes(self) -> float:
        return self.place.minutes(self.job_id, self.matrix) if self.place else 360.0

    def write(self, text: str) -> None:
        """Add to the log, up to its limit."""
        if self.logged < MAX_LOG:
            self.logged += len(text)
            self.pending.append(text if self.logged < MAX_LOG else _CUT)

    def take_log(self) -> str:
        """What was written since the last time."""
        text = "".join(self.pending)
        self.pending.clear()
        return text

    def refresh(self) -> JobState:
        self.state.steps = tuple(self.steps.values())
        return self.state


@dataclass(frozen=True, slots=True)
class News:
    """What one line of the log changed. `step` is the id of a top step that is about to begin."""

    entry: Entry
    begun: bool = False
    ended: bool = False
    step: str = ""
    step_ended: bool = False


@dataclass(slots=True)
class Journal:
    layout: Layout
    clock: Callable[[], datetime]
    entries: dict[str, Entry] = field(default_factory=dict)
    loose: list[str] = field(default_factory=list)

    def read(self, line: str) -> News | None:
        """Take in one line; None if it is about no job."""
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        if not isinstance(event, dict) or "job" not in event:
            self._keep_loose(str(event.get("msg", "")) if isinstance(event, dict) else line)
            return None
        name = str(event["job"]).rstrip()
        entry = self.entries.get(name)
        begun = entry is None
        if entry is None:
            entry = self.entries[name] = self._new(name, event)
        step, step_ended = self._step(entry, event)
        self._write(entry, event)
        result = event.get("jobResult")
        if result is not None and not entry.ended:
            entry.state.status = "completed"
            entry.state.conclusion = "success" if result == "success" else "failure"
            entry.state.completed_at = self.clock()
        return News(entry, begun=begun, ended=result is not None, step=step, step_ended=step_ended)

    def _new(self, name: str, event: Mapping[str, Any]) -> Entry:
        place = self.layout.place(name)
        job_id = str(event.get("jobID", name))
        matrix = event.get("matrix") or {}
        shown = place.name(job_id, matrix) if place else name
        now = self.clock()
        return Entry(JobState(shown, "in_progress", None, now, None, created_at=now), job_id, matrix, place)

    def _step(self, entry: Entry, event: Mapping[str, Any]) -> tuple[str, bool]:
        """Steps are those of the workflow file; what a composite action does inside has a longer id."""
        ids = event.get("stepID") or []
        if event.get("stage") != "Main" or not ids:
            return "", False
        key = str(ids[0])
        result = event.get("stepResult")
        if result is not None and len(ids) == 1:
            name = entry.steps.get(key, (str(event.get("step", key)), "", None))[0]
            entry.steps[key] = (name, "completed", str(result))
            return "", True
        if str(event.get("msg", "")).startswith("⭐ Run Main"):
            if len(ids) == 1:
                entry.steps[key] = (str(event.get("step", key)).split("\n", 1)[0][:200], "in_progress", None)
            return key, False
        return "", False

    def _write(self, entry: Entry, event: Mapping[str, Any]) -> None:
        text = str(event.get("msg", ""))
        inner = len(event.get("stepID") or []) > 1
        shown = ("  ❌", "  ❗", "🏁") if inner else ("⭐ Run Main", "  ❌", "  ❗", "🏁")
        if event.get("raw_output"):
            entry.write(text)
        elif event.get("command") in ("notice", "warning", "error"):
            entry.write(f"##[{event['command']}]{event.get('arg', '')}\n")
        elif (
            event.get("level") in ("error", "fatal")
            or text.startswith(shown)
            or "Skipping unsupported platform" in text
        ):
            entry.write(text.rstrip("\n") + "\n")

    def _keep_loose(self, text: str) -> None:
        """What act says about the run as a whole: its last lines explain a run that never began."""
        if text.strip():
            self.loose = [*self.loose[-19:], text.strip()]
