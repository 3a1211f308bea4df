"""The folder one run lives in, and all that act is told: nothing of the user's own machine, account or settings gets in."""

import json
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.sandbox.actions import processes
from bot.sandbox.world.actions import WorldRun
from bot.sandbox.world.expressions import Unsupported, to_text, value_of

STANDINS = Path(__file__).parent / "standins"
# What the templates and the action use of others, and what takes its place here. The engine maps every version that it finds.
REPLACED: Mapping[str, str] = {
    "actions/checkout": "checkout",
    "actions/upload-artifact": "upload_artifact",
    "actions/download-artifact": "download_artifact",
    "astral-sh/setup-uv": "setup_uv",
}
OWN = "cf-conductor/cf-conductor"
_MAX_PARALLEL = re.compile(r"^([ \t]*max-parallel:[ \t]*)(\$\{\{.*\}\})[ \t]*$", re.MULTILINE)
TRACKING = "CF_SANDBOX_TRACKING"
RUNNER_MARK = "RUNNER_TRACKING_ID"  # what GitHub's runner marks the processes of a job with
# Labels of GitHub's Linux machines; all of them are this machine.
SYSTEMS = ("ubuntu-latest", "ubuntu-24.04", "ubuntu-22.04", "ubuntu-slim", "self-hosted", "linux")


@dataclass(frozen=True, slots=True)
class Service:
    """Where the sandbox answers, what it is called, and where its git repository lies."""

    url: str
    repository: str
    git: str
    api_url: str = ""
    graphql_url: str = ""
    server_url: str = ""

    @property
    def api(self) -> str:
        return self.api_url or f"{self.url}/api/v3"

    @property
    def server(self) -> str:
        """Where git finds `<owner>/<name>`."""
        return self.server_url or self.url

    @property
    def graphql(self) -> str:
        return self.graphql_url or f"{self.url}/api/graphql"


@dataclass(frozen=True, slots=True)
class Workspace:
    """`folder` holds everything of the run; `tracking` marks each of its processes in their environment."""

    folder: Path
    tracking: str = field(default_factory=lambda: secrets.token_hex(16))

    @property
    def checkout(self) -> Path:
        return self.folder / "repository"

    @property
    def tokens(self) -> Path:
        """One file with a token for each job, by its id."""
        return self.folder / "tokens"

    @property
    def cancelled(self) -> Path:
        """Names of the jobs that were cancelled, one a line."""
        return self.folder / "cancelled"

    def prepare(self, run: WorldRun, service: Service, secrets_: Mapping[str, str]) -> None:
        """Make the folder: a clone at the run's commit, the event, the secrets. Raises OSError or CalledProcessError."""
        for name in ("home", "config/act", "cache", "tmp"):
            (self.folder / name).mkdir(parents=True)
        # act asks questions on its first start, unless it finds this file.
        (self.folder / "config/act/actrc").touch()
        _git("clone", "--quiet", "--no-checkout", "--shared", service.git, str(self.checkout))
        _git("-C", str(self.checkout), "checkout", "--quiet", "-B", run.ref, run.head_sha)
        (self.folder / "event.json").write_text(json.dumps(dict(run.payload)), encoding="utf-8")
        secret_file = self.folder / "secrets"
        secret_file.touch(mode=0o600)
        values = {**secrets_, "GITHUB_TOKEN": run.token.value}
        secret_file.write_text(
            "".join(f"{key}={json.dumps(value)}\n" for key, value in values.items()), encoding="utf-8"
        )

    def fix_max_parallel(self, contexts: Mapping[str, Any]) -> None:
        """Write `max-parallel` as a number where it is an expression: act would read one as 0, and run leg after leg."""
        for file in sorted((self.checkout / ".github/workflows").glob("*.y*ml")):
            text = file.read_text(encoding="utf-8", errors="surrogateescape")
            fixed = _MAX_PARALLEL.sub(lambda match: match[1] + _number(match[2], contexts), text)
            if fixed != text:
                file.write_text(fixed, encoding="utf-8", errors="surrogateescape")

    def keep_tokens(self, run: WorldRun, tokens: Mapping[str, str]) -> None:
        """Put the jobs' tokens where the stand-ins find them."""
        self.tokens.mkdir(mode=0o700)
        for name, value in {".run": run.token.value, **tokens}.items():
            (self.tokens / name).write_text(value, encoding="utf-8")

    def forget_secrets(self) -> None:
        """Once act has read them."""
        (self.folder / "secrets").unlink(missing_ok=True)

    @property
    def mark(self) -> str:
        """The runner's mark, which reaches programs that get none of the steps' other variables."""
        return f"github_{self.tracking}"

    def sweep(self) -> None:
        """Kill whatever of the run is still alive, in however many sessions of its own."""
        processes.sweep(TRACKING, self.tracking)
        processes.sweep(RUNNER_MARK, self.mark)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        """What act's process sees, and with it every step: as little as a fresh machine would have."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "LANG": "C.UTF-8",
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "GIT_CONFIG_NOSYSTEM": "1",
            TRACKING: self.tracking,
        }

    def command(
        self,
        act: str,
        python: str,
        run: WorldRun,
        service: Service,
        variables: Mapping[str, str],
        actions: Sequence[str],
    ) -> list[str]:
        """How act is started. Secrets are never on it."""
        told = {
            "GITHUB_SERVER_URL": service.server,
            "GITHUB_API_URL": service.api,
            "GITHUB_GRAPHQL_URL": service.graphql,
            "GITHUB_REPOSITORY": service.repository,
            "GITHUB_RUN_ID": str(run.id),
            "GITHUB_RUN_NUMBER": str(run.number),
            "GITHUB_RUN_ATTEMPT": str(run.attempt),
            "GITHUB_REF": f"refs/heads/{run.ref}",
            RUNNER_MARK: self.mark,
            "CF_SANDBOX_URL": service.url,
            "CF_SANDBOX_PYTHON": python,
            "CF_SANDBOX_TOKENS": str(self.tokens),
            "CF_SANDBOX_CANCELLED": str(self.cancelled),
        }
        command = [act, run.event, "--json", "--no-skip-checkout", "--no-cache-server", "--pull=false"]
        command += [
            "--eventpath",
            str(self.folder / "event.json"),
            "--actor",
            run.actor.login,
            "--concurrent-jobs",
            "16",
        ]
        command += [
            "--workflows",
            f".github/workflows/{run.workflow}",
            "--secret-file",
            str(self.folder / "secrets"),
        ]
        # Files of the repository that act would read by itself.
        for option in ("--env-file", "--var-file", "--input-file"):
            command += [option, os.devnull]
        for system in SYSTEMS:
            command += ["--platform", f"{system}=-self-hosted"]
        for name, value in told.items():
            command += ["--env", f"{name}={value}"]
        for name, value in variables.items():
            command += ["--var", f"{name}={value}"]
        for replacement in actions:
            command += ["--local-repository", replacement]
        return command


def _number(text: str, contexts: Mapping[str, Any]) -> str:
    """The value of a lone `${{ }}`; what cannot be evaluated stays, and act says so."""
    try:
        return to_text(value_of(text, contexts))
    except Unsupported:
        return text


def _git(*arguments: str) -> None:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    subprocess.run(
        ["git", *arguments], env=environment, check=True, capture_output=True, stdin=subprocess.DEVNULL
    )
