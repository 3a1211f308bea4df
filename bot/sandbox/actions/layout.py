"""What the engine must know of a workflow file beside what act does with it: names as GitHub shows them, time limits, conditions.

Expressions that cannot be evaluated here fall back to what act says; nothing is guessed.
"""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.sandbox.world.expressions import Unsupported, interpolate, value_of
from bot.sandbox.world.workflows import Workflow, read_workflow

# GitHub's limit for a job that names none: docs.github.com, "Workflow syntax", jobs.<job_id>.timeout-minutes.
DEFAULT_MINUTES = 360.0


@dataclass(frozen=True, slots=True)
class Place:
    """One job of a run as act is about to run it: `prefix` begins act's own name of the job, `caller` is the calling leg's name."""

    prefix: str
    caller: str
    workflow: Workflow
    contexts: Mapping[str, Any] = field(hash=False)

    def name(self, job_id: str, matrix: Mapping[str, Any]) -> str:
        """The job's name as the API shows it: `<caller leg> / <job>` for a called workflow's."""
        spec = self.workflow.jobs.get(job_id, {})
        own = str(spec.get("name") or job_id)
        try:
            own = interpolate(own, {**self.contexts, "matrix": matrix})
        except Unsupported:
            own = job_id
        if matrix and not spec.get("name"):
            own = f"{own} ({', '.join(_flat(matrix))})"
        return f"{self.caller} / {own}" if self.caller else own

    def minutes(self, job_id: str, matrix: Mapping[str, Any]) -> float:
        """The job's time limit."""
        given = self.workflow.jobs.get(job_id, {}).get("timeout-minutes", DEFAULT_MINUTES)
        try:
            return float(value_of(given, {**self.contexts, "matrix": matrix}))
        except (Unsupported, TypeError, ValueError):
            return DEFAULT_MINUTES

    def always(self, job_id: str, step: str = "") -> bool:
        """Whether the job, or a step of it (act's id: the step's own, or its place from 0), runs after a cancellation, too."""
        job = self.workflow.jobs.get(job_id, {})
        if not step:
            return _always(job)
        steps = job.get("steps") or []
        found = [s for place, s in enumerate(steps) if step in (s.get("id"), str(place))]
        return bool(found) and _always(found[0])

    def permissions(self, job_id: str) -> Mapping[str, str] | None:
        """What the job's token may do, where the file spells it out."""
        given = self.workflow.jobs.get(job_id, {}).get("permissions", self.workflow.raw.get("permissions"))
        return (
            {str(scope): str(level) for scope, level in given.items()} if isinstance(given, Mapping) else None
        )


@dataclass(frozen=True, slots=True)
class Layout:
    """All places of one run."""

    places: tuple[Place, ...]

    def place(self, act_name: str) -> Place | None:
        """Where a job stands that act calls so; the longest prefix decides."""
        fitting = [place for place in self.places if act_name.startswith(place.prefix)]
        return max(fitting, key=lambda place: len(place.prefix), default=None)

    def all_names(self) -> Iterator[tuple[Place, str]]:
        """Every job that there could be, by its id."""
        for place in self.places:
            for job_id, spec in place.workflow.jobs.items():
                if "uses" not in spec:
                    yield place, job_id


def read_layout(repository: Path, file: str, contexts: Mapping[str, Any]) -> Layout:
    """The layout of `.github/workflows/<file>` in a checkout. Raises OSError if a file is missing."""
    top = _read(repository, f".github/workflows/{file}")
    calls: dict[int, list[tuple[Mapping[str, Any], Mapping[str, Any]]]] = {}
    for spec, seen in top.root_jobs(contexts):
        if str(spec.get("uses", "")).startswith("./"):
            calls.setdefault(id(spec), []).append((spec, seen))
    places = [Place(f"{_act_name(top)}/", "", top, contexts)]
    for legs in calls.values():
        for number, (spec, seen) in enumerate(legs, start=1):
            # act numbers the legs of a matrix, but not a single one.
            suffix = f"-{number}" if len(legs) > 1 else ""
            with contextlib.suppress(Unsupported):
                places.append(_called(repository, spec, seen, suffix))
    return Layout(tuple(places))


def _called(repository: Path, spec: Mapping[str, Any], seen: Mapping[str, Any], suffix: str) -> Place:
    workflow = _read(repository, str(spec["uses"]).removeprefix("./"))
    name = interpolate(str(spec.get("name") or "call"), seen)
    inputs = {key: value_of(value, seen) for key, value in (spec.get("with") or {}).items()}
    return Place(
        f"{name}{suffix}/{_act_name(workflow)}/", name, workflow, {**seen, "matrix": {}, "inputs": inputs}
    )


def _read(repository: Path, path: str) -> Workflow:
    return read_workflow(path, (repository / path).read_text(encoding="utf-8"))


def _act_name(workflow: Workflow) -> str:
    """GitHub calls a workflow without a name by its path, act by its file."""
    return str(workflow.raw.get("name") or workflow.file)


def _always(spec: Mapping[str, Any]) -> bool:
    condition = str(spec.get("if", ""))
    return "always()" in condition or "cancelled()" in condition


def _flat(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _flat(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _flat(inner)
    else:
        yield str(value)
