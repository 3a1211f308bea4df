"""Workflow files: what the world reads of them. What runs inside a job is the engine's business."""

import fnmatch
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from bot.sandbox.world.errors import ApiError, invalid
from bot.sandbox.world.expressions import Unsupported, condition, interpolate, value_of

FOLDER = ".github/workflows"
MAX_INPUTS = 25
MAX_INPUT_TEXT = 65_535
_PULL_TYPES = ("opened", "synchronize", "reopened")
# What the default token may do where a workflow says nothing: the setting new repositories have.
_RESTRICTED = {"contents": "read", "packages": "read"}


@dataclass(frozen=True, slots=True)
class Group:
    """One concurrency group that a run takes part in. `queue` is `single` or `max`."""

    name: str
    cancel_in_progress: bool = False
    queue: str = "single"


@dataclass(frozen=True, slots=True)
class Workflow:
    """One file. `problem` says why it cannot run, if so."""

    path: str
    name: str
    triggers: Mapping[str, Mapping[str, Any]]
    raw: Mapping[str, Any]
    problem: str = ""

    @property
    def file(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def jobs(self) -> Mapping[str, Mapping[str, Any]]:
        jobs = self.raw.get("jobs")
        return jobs if isinstance(jobs, Mapping) else {}

    def listens(self, event: str, action: str, branch: str = "") -> bool:
        """Whether `on:` names the event with these activity types and branches."""
        if event not in self.triggers:
            return False
        options = self.triggers[event]
        types = options.get("types", _PULL_TYPES if event == "pull_request" else None)
        types = [types] if isinstance(types, str) else types
        if types is not None and action and action not in types:
            return False
        if not branch:
            return True
        wanted, unwanted = options.get("branches"), options.get("branches-ignore")
        if event == "push" and wanted is None and unwanted is None:
            return "tags" not in options
        if wanted is not None:
            return any(fnmatch.fnmatchcase(branch, pattern) for pattern in wanted)
        return not any(fnmatch.fnmatchcase(branch, pattern) for pattern in unwanted or ())

    @property
    def crons(self) -> tuple[str, ...]:
        return tuple(str(entry.get("cron")) for entry in self.triggers.get("schedule", {}).get("entries", ()))

    def checked_inputs(self, inputs: Mapping[str, Any]) -> dict[str, str]:
        """The inputs of a dispatch with defaults filled in. Raises ApiError 422 in GitHub's words."""
        if "workflow_dispatch" not in self.triggers:
            raise invalid("Workflow does not have 'workflow_dispatch' trigger")
        declared: Mapping[str, Any] = self.triggers["workflow_dispatch"].get("inputs") or {}
        if len(inputs) > MAX_INPUTS:
            raise invalid(f"Invalid input: more than {MAX_INPUTS} properties were supplied.")
        if sum(len(str(value)) for value in inputs.values()) > MAX_INPUT_TEXT:
            raise invalid("inputs are too large.")
        if unknown := [name for name in inputs if name not in declared]:
            names = ", ".join(f'"{name}"' for name in unknown)
            raise invalid(f"Unexpected inputs provided: [{names}]")
        return {name: _checked_input(name, spec or {}, inputs.get(name)) for name, spec in declared.items()}

    def token_permissions(self) -> dict[str, str]:
        """What the default token of a run may do: the union over its jobs, since `act` hands all of them one token."""
        union: dict[str, str] = {}
        for job in self.jobs.values():
            granted = job.get("permissions", self.raw.get("permissions", _RESTRICTED))
            for scope, level in _spelled_out(granted).items():
                if union.get(scope) != "write":
                    union[scope] = level
        return union

    def title(self, contexts: Mapping[str, Any], fallback: str) -> str:
        """The run's name."""
        text = self.raw.get("run-name")
        return interpolate(str(text), contexts) if text else fallback

    def root_jobs(self, contexts: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Each leg of each job that needs no other, with the contexts it sees; those whose `if` is false are left out.

        A condition or matrix that cannot be evaluated here counts as passed, once: the engine will judge it.
        """
        for job in self.jobs.values():
            if job.get("needs"):
                continue
            try:
                if not condition(job.get("if"), contexts):
                    continue
                expanded = list(legs(job, contexts))
            except Unsupported:
                expanded = [{}]
            for leg in expanded:
                yield job, {**contexts, "matrix": leg, "strategy": {}, "needs": {}}

    def groups(self, contexts: Mapping[str, Any]) -> tuple[Group, ...]:
        """The concurrency groups of the workflow and of its root jobs. Raises Unsupported for one it cannot evaluate."""
        found: dict[str, Group] = {}
        if "concurrency" in self.raw:
            group = _group(self.raw["concurrency"], contexts)
            found[group.name.lower()] = group
        for job, seen in self.root_jobs(contexts):
            if "concurrency" in job:
                group = _group(job["concurrency"], seen)
                found[group.name.lower()] = group
        return tuple(found.values())


@lru_cache(maxsize=512)
def read_workflow(path: str, text: str) -> Workflow:
    """Never raises: a broken file is a workflow with a problem, as on GitHub."""
    try:
        raw = yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        return Workflow(path, path, {}, {}, f"Invalid workflow file: {error}")
    if not isinstance(raw, dict):
        return Workflow(path, path, {}, {}, "Invalid workflow file: a mapping is expected")
    if not raw.get("jobs"):
        return Workflow(path, path, {}, raw, "Invalid workflow file: no jobs defined")
    # YAML 1.1 reads a bare `on` as true.
    return Workflow(path, str(raw.get("name") or path), _triggers(raw.get("on", raw.get(True))), raw)


def _triggers(on: Any) -> dict[str, Mapping[str, Any]]:
    if isinstance(on, str):
        return {on: {}}
    if isinstance(on, list):
        return {str(event): {} for event in on}
    if not isinstance(on, Mapping):
        return {}
    return {
        str(e): {"entries": options} if isinstance(options, list) else options or {}
        for e, options in on.items()
    }


def _checked_input(name: str, spec: Mapping[str, Any], value: Any) -> str:
    kind = spec.get("type", "string")
    if value is None:
        if spec.get("required") and spec.get("default") is None:
            raise invalid(f"Required input '{name}' not provided")
        value = spec.get("default")
    if value is None:
        return "false" if kind == "boolean" else ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if kind == "boolean" and text not in ("true", "false"):
        raise invalid(f"Provided value '{text}' for input '{name}' is not a boolean")
    if kind == "choice" and text not in map(str, spec.get("options") or ()):
        raise invalid(f"Provided value '{text}' for input '{name}' not in the list of allowed values")
    return text


def _spelled_out(granted: Any) -> dict[str, str]:
    if granted in ("write-all", "read-all"):
        level = str(granted).removesuffix("-all")
        return dict.fromkeys(("actions", "checks", "contents", "issues", "pull-requests", "statuses"), level)
    return {str(k): str(v) for k, v in granted.items()} if isinstance(granted, Mapping) else {}


def legs(job: Mapping[str, Any], contexts: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The `matrix` context of each leg of a job; one empty leg without a matrix. Raises Unsupported."""
    matrix = value_of((job.get("strategy") or {}).get("matrix") or {}, contexts)
    if not isinstance(matrix, Mapping):
        raise Unsupported("a matrix must be a mapping")
    axes = {key: values for key, values in matrix.items() if key not in ("include", "exclude")}
    if "exclude" in matrix or ("include" in matrix and axes):
        raise Unsupported("include and exclude beside axes are the engine's business")
    if axes and not all(axes.values()):
        raise Unsupported("a matrix vector without values fails its job, which the engine will say")
    if "include" in matrix:
        yield from matrix["include"]
    else:
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values, strict=True))


def _group(spec: Any, contexts: Mapping[str, Any]) -> Group:
    if not isinstance(spec, Mapping):
        return Group(str(value_of(spec, contexts)))
    cancel = value_of(spec.get("cancel-in-progress", False), contexts)
    queue = str(spec.get("queue", "single"))
    if queue not in ("single", "max"):
        raise ApiError(422, f"Invalid workflow file: concurrency queue {queue!r}")
    return Group(str(value_of(spec["group"], contexts)), cancel in (True, "true"), queue)
