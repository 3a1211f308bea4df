"""Where this job is and what it was given: one reading of the environment, so that no other module looks at it."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from bot.model.errors import UsageError
from bot.model.unit import Kind, Unit, VerifyLeg
from bot.notation.codec import load
from bot.notation.keys import Key, read_key
from bot.notation.units import read_unit


class JobContext(Struct, frozen=True):
    """The job's folders and identity. `environ` is kept for what programs may see of it.

    `commit` is the one that the agent's job named when it ended; None where the workflow does not say, as in that job itself.
    `out` holds the kept work, `verify_out` the results of gates, `report_out` the final report. `secrets` are the values that
    must never be shown.
    """

    unit: Unit
    key: Key
    environ: Mapping[str, str]
    workspace: Path
    temp: Path
    out: Path
    verify_out: Path
    report_out: Path
    run_id: int
    run_attempt: int
    repository: str
    server: str
    default_branch: str
    token: str
    model_key: str
    commit: str | None = None

    @property
    def agent_result(self) -> str:
        """How the agent's job ended, as Actions says; empty in that job itself."""
        return self.environ.get("CF_AGENT_RESULT", "")

    @property
    def run_again(self) -> bool:
        """Whether this is the agent's job run again, which is refused."""
        return self.unit.kind is not Kind.PUBLISH and self.run_attempt > 1 and not self.agent_result

    @property
    def secrets(self) -> tuple[str, ...]:
        own = (
            value for name, value in self.environ.items() if name.startswith("CF_") and name.endswith("_KEY")
        )
        runtime = (
            self.environ.get("ACTIONS_RUNTIME_TOKEN", ""),
            self.environ.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", ""),
        )
        return tuple(value for value in (self.token, self.model_key, *runtime, *own) if value)

    @property
    def run_url(self) -> str:
        return f"{self.server}/{self.repository}/actions/runs/{self.run_id}"


def read_job_context(environ: Mapping[str, str]) -> JobContext:
    """Read the job's environment. Raises UsageError naming the variable that is missing or wrong."""
    unit = read_unit(_required(environ, "CF_UNIT"))
    key = read_key(unit.keys[0])
    if key is None or key.task != unit.lead:
        raise UsageError(f"CF_UNIT: {unit.keys[0]!r} is not a key of task #{unit.lead}")
    temp = Path(environ.get("RUNNER_TEMP") or environ.get("TMPDIR") or "/tmp").resolve()  # noqa: S108 - the system's own
    out = Path(environ.get("CF_OUT") or temp / "cf-work").resolve()
    return JobContext(
        unit=unit,
        key=key,
        environ=environ,
        workspace=Path(environ.get("GITHUB_WORKSPACE") or os.curdir).resolve(),
        temp=temp,
        out=out,
        verify_out=Path(environ.get("CF_OUT_VERIFY") or out.parent / "cf-verify").resolve(),
        report_out=Path(environ.get("CF_OUT_REPORT") or out.parent / "cf-report").resolve(),
        run_id=_number(environ, "GITHUB_RUN_ID", 0),
        run_attempt=_number(environ, "GITHUB_RUN_ATTEMPT", 1),
        repository=_required(environ, "GITHUB_REPOSITORY"),
        server=environ.get("GITHUB_SERVER_URL", "https://github.com").rstrip("/"),
        default_branch=default_branch(environ),
        token=environ.get("GITHUB_TOKEN", ""),
        model_key=environ.get("CF_MODEL_KEY", ""),
        commit=environ.get("CF_COMMIT"),
    )


def read_leg(environ: Mapping[str, str]) -> VerifyLeg:
    """The leg of the verify matrix that this job is. Raises UsageError or Unreadable."""
    return load(_required(environ, "CF_LEG"), VerifyLeg)


def default_branch(environ: Mapping[str, str]) -> str:
    """The branch that the worker was dispatched on, or what the event says. Raises UsageError if neither is known."""
    try:
        event = json.loads(Path(environ.get("GITHUB_EVENT_PATH", "")).read_text(encoding="utf-8"))
        named = event["repository"]["default_branch"]
    except (OSError, ValueError, KeyError, TypeError):
        named = environ.get("GITHUB_REF_NAME", "")
    if not isinstance(named, str) or not named:
        raise UsageError(
            "the default branch is unknown: neither GITHUB_EVENT_PATH nor GITHUB_REF_NAME names it"
        )
    return named


def _required(environ: Mapping[str, str], name: str) -> str:
    if not environ.get(name):
        raise UsageError(f"the environment variable {name} is missing")
    return environ[name]


def _number(environ: Mapping[str, str], name: str, otherwise: int) -> int:
    value = environ.get(name) or str(otherwise)
    if not value.isdecimal():
        raise UsageError(f"the environment variable {name} must be a number, not {value!r}")
    return int(value)
