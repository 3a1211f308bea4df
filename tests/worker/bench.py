"""A bare repository, the make-believe GitHub over it, and one task whose jobs can be run one after the other."""

import atexit
import io
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from datetime import timedelta
from functools import cache, cached_property
from pathlib import Path
from tempfile import mkdtemp

import msgspec
from msgspec.structs import replace

from bot.github.credential import Credential
from bot.model.engine import RepositorySettings
from bot.model.issue import Pull
from bot.model.record import Approval, Attempt, Record
from bot.model.report import Outcome, Report
from bot.model.run import Job
from bot.model.status import Status
from bot.model.unit import Kind, Unit, VerifyLeg
from bot.notation.config import read_config
from bot.notation.digests import text_digest
from bot.notation.records import write_record
from bot.notation.reports import report_name, work_name
from bot.notation.units import write_units
from bot.plan.facts.engines import choose_engine
from bot.sandbox.world.accounts import BOT
from bot.sandbox.world.bare_git import BareGit
from bot.sandbox.world.in_process import client_of
from bot.sandbox.world.world import MINIMAL, World
from bot.worker.agent.agent_job import work
from bot.worker.agent.update_job import update
from bot.worker.job.artifact import find_report, save_report
from bot.worker.job.context import JobContext, read_job_context, read_leg
from bot.worker.job.worked import GOOD, Worked
from bot.worker.programs.cancellation import Cancellation
from bot.worker.publish.publish import publish
from bot.worker.verify import LegResult, verify

STUB = Path(__file__).with_name("stub_agent.py")
GATE = "gates: [{name: tests, run: 'test -e feature.py || { echo expected feature; exit 1; }'}]"
KEY = "sk-test-AbC0123456789xyzXYZ"
TOKEN = "tok-0123456789abcdefghij"


def git(folder: Path, *arguments: str) -> str:
    """A person's git: their token may push workflow files, the worker's may not."""
    identity = ["-c", "user.name=Pat", "-c", "user.email=pat@example.com", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *identity, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "CF_WORKFLOWS": "write"},
    )
    return done.stdout.strip()


def config_text(*modes: str, more: str = GATE) -> str:
    line = " ".join([sys.executable, str(STUB), *modes])
    return f"version: 1\nengine: command\ncorrections: 0\nengines: {{command: {{args: '{line}'}}}}\n{more}\n"


@cache
def _empty() -> Path:
    """A bare repository to copy, which starts no programs; gone when the tests are."""
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder)
    git(folder, "--git-dir", str(BareGit.create(folder / "empty.git").path), "config", "cf.workflows", "none")
    for sample in (folder / "empty.git/hooks").glob("*.sample"):
        sample.unlink()
    return folder / "empty.git"


def repository(path: Path, files: dict[str, str]) -> BareGit:
    """A bare repository with one commit on main."""
    shutil.copytree(_empty(), path)
    stream = [
        f"commit refs/heads/main\ncommitter Pat <pat@example.com> {int(time.time())} +0000\ndata 4\nwork\n"
    ]
    stream += [f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n" for name, text in files.items()]
    command = ["git", "--git-dir", str(path), "fast-import", "--quiet"]
    subprocess.run(command, input="".join(stream).encode(), check=True, capture_output=True)
    return BareGit(path, "main")


class Bench:
    """`modes` are what the agent does. The issue is #1, labelled and approved by the maintainer."""

    def __init__(
        self,
        folder: Path,
        *modes: str,
        config: str | None = None,
        body: str = "Please.",
        files: dict[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.origin = folder / "origin.git"
        text = config if config is not None else config_text(*modes)
        first = {**MINIMAL, ".github/cf.yml": text, ".gitignore": "__pycache__/\n", **(files or {})}
        self.git = repository(self.origin, first)
        self.world = World("acme/shop", git=self.git)
        self.github = client_of(self.world)
        self._heads: dict[str, str] = {}
        self._tell_pushes()
        self.task = self.world.open_issue("Add login", body, labels=("cf:ready",))
        self.comment = 0
        self.record = Record(self.task)
        self.run_id = 0
        self.credential = Credential(TOKEN)
        self.commits: dict[str, str] = {}  # what the agent's jobs have named, by key
        self.unit = self.claim(1)

    def _tell_pushes(self) -> None:
        """Here git is pushed to by its path, so the world is told before anybody asks it about a pull request."""
        asked = self.github.pull_by_branch

        def pull_by_branch(branch: str) -> Pull | None:
            self.hear()
            return asked(branch)

        self.github.pull_by_branch = pull_by_branch  # type: ignore[method-assign]

    def hear(self) -> None:
        """Pull requests follow what was pushed to their branches."""
        before, self._heads = self._heads, dict(self.git.branches())
        for branch, head in self._heads.items():
            if branch != "main" and before.get(branch) != head:
                self.world.pushed(branch, before.get(branch, ""), head, BOT)

    # ------------------------------------------------------------------ people

    @cached_property
    def desk(self) -> Path:
        """A person's clone."""
        git(self.folder, "clone", "-q", str(self.origin), "desk")
        return self.folder / "desk"

    def commit(self, branch: str, files: dict[str, str | None], message: str = "work") -> str:
        """A person pushes a commit."""
        if self.git.head(branch):
            git(self.desk, "fetch", "-q", "origin")
            git(self.desk, "checkout", "-q", "-B", branch, f"origin/{branch}")
        else:
            git(self.desk, "checkout", "-q", "-B", branch)
        for path, text in files.items():
            context = self.desk / path
            if text is None:
                context.unlink()
                continue
            context.parent.mkdir(parents=True, exist_ok=True)
            context.write_text(text, encoding="utf-8")
        git(self.desk, "add", "-A", "-f")
        git(self.desk, "commit", "-qm", message)
        git(self.desk, "push", "-q", "origin", f"HEAD:refs/heads/{branch}")
        return git(self.desk, "rev-parse", "HEAD")

    def grant_workflows(self, *, granted: bool = True) -> None:
        """The token of the publish job may write workflow files, as that of an App which was granted it."""
        git(self.origin, "config", "cf.workflows", "write" if granted else "none")

    # ------------------------------------------------------------------ the conductor's part

    def claim(
        self,
        number: int,
        kind: Kind = Kind.CODE,
        *,
        earlier: str = "",
        exceptions: tuple[str, ...] = (),
        measure: bool = False,
        red: tuple[str, ...] = (),
    ) -> Unit:
        """The conductor claims an attempt and dispatches its run."""
        issue = self.github.issue(self.task)
        digest = text_digest(issue.title, issue.body)
        now = self.world.now
        approval = self.record.approval or Approval("maintainer", now, digest)
        attempt = Attempt(number, kind, now, Status.READY, digest)
        self.write(replace(self.record, attempts=(*self.record.attempts, attempt), approval=approval))
        blob = git(self.origin, "rev-parse", "main:.github/cf.yml")
        config = read_config(self.github.file(blob), blob)
        choice = choose_engine(config, (), RepositorySettings())
        gates = tuple(gate.name for gate in config.gates)
        self.unit = Unit(
            kind=kind,
            tasks=(self.task,),
            keys=(f"cf-{self.task}-{number}",),
            comments=(self.comment,),
            accounts=(BOT.id,),
            config_blob=blob,
            engine=choice.engine,
            model=choice.model,
            provider=choice.provider,
            secret=choice.secret,
            runner=("ubuntu-latest",),
            verify=(VerifyLeg("ubuntu-latest", "ubuntu-latest", gates),) if gates else (),
            earlier=earlier,
            exceptions=exceptions,
            measure=measure,
            red=red,
        )
        self.run_id = self.github.dispatch("cf-worker.yml", "main", {"units": "[]", "keys": self.key})
        return self.unit

    @property
    def key(self) -> str:
        return self.unit.keys[0]

    def write(self, record: Record) -> None:
        self.record = record
        text = f"status\n{write_record(record)}"
        if self.comment:
            self.world.edit_comment(self.comment, text, by=BOT)
        else:
            self.comment = self.world.comment(self.task, text, by=BOT)

    def end(self, report: Report) -> str:
        """The conductor takes the report in; the result names the kept work."""
        *before, live = self.record.attempts
        done = replace(
            live, outcome=report.outcome, ended_at=self.world.now, head=report.head, pull=report.pull
        )
        record = replace(self.record, attempts=(*before, done), head=report.head or self.record.head)
        self.write(replace(record, pull=report.pull or record.pull))
        self.world.wait(timedelta(minutes=1))
        return f"{self.run_id}/{self.key}"

    # ------------------------------------------------------------------ the jobs

    def environ(self, job: str = "agent", **more: str) -> dict[str, str]:
        """A job's machine: a fresh clone, folders of its own, and what the workflow puts into the environment."""
        room = self.folder / f"{job}-{self.key}"
        shutil.rmtree(room, ignore_errors=True)
        room.mkdir()
        git(room, "clone", "-q", str(self.origin), str(room / "shop"))
        unit = msgspec.json.decode(write_units([self.unit]))[0]
        return {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "CF_UNIT": msgspec.json.encode(unit).decode(),
            "CF_OUT": str(room / "cf-work"),
            "CF_OUT_VERIFY": str(room / "cf-verify"),
            "CF_OUT_REPORT": str(room / "cf-report"),
            **({} if job == "agent" else {"CF_COMMIT": self.commits.get(self.key, "")}),
            "CF_MODEL_KEY": KEY if job == "agent" else "",
            "GITHUB_TOKEN": TOKEN,
            "ACTIONS_RUNTIME_TOKEN": "runtime-0123456789",
            "GITHUB_REPOSITORY": "acme/shop",
            "GITHUB_REF_NAME": "main",
            "GITHUB_RUN_ID": str(self.run_id),
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_WORKSPACE": str(room / "shop"),
            "GITHUB_OUTPUT": str(room / "output"),
            "RUNNER_TEMP": str(room),
            **more,
        }

    def work(
        self,
        *,
        cancellation: Cancellation | None = None,
        on: dict[str, Callable[[], object]] | None = None,
        **environ: str,
    ) -> Worked:
        """The agent's job; its artifact is kept by the run. `on` says what to do when a line with these words is shown."""
        context = read_job_context(self.environ("agent", **environ))
        self.shown: list[str] = []
        self.context: JobContext = context

        def write(text: str) -> None:
            self.shown.append(text)
            for words, act in (on or {}).items():
                if words in text:
                    act()

        job = update if self.unit.kind is Kind.UPDATE else work
        worked = job(self.github, context, cancellation or Cancellation(), write)
        self.commits[self.key] = worked.report.head
        self._ran("agent", "success")
        self._keep(work_name(self.key), context.out)
        return worked

    def verify(self) -> LegResult:
        environ = self.environ("verify", CF_LEG=msgspec.json.encode(self.unit.verify[0]).decode())
        context = read_job_context(environ)
        self._download(work_name(self.key), context.out)
        self.shown = []
        self._ran("verify (ubuntu-latest)", "failure")
        result = verify(self.github, context, read_leg(environ), Cancellation(), self.shown.append)
        self._ran("verify (ubuntu-latest)", "success" if result.passed else "failure")
        shutil.copytree(context.verify_out, self.folder / f"results-{self.key}", dirs_exist_ok=True)
        return result

    def publish(self, agent: str = "success", verify: str | None = None, **environ: str) -> Report:
        """The publish job; `verify` is the verify job's result, by default what it would be."""
        result = verify or ("success" if self.unit.verify else "skipped")
        self._ran("publish", None)
        context = read_job_context(
            self.environ("publish", CF_AGENT_RESULT=agent, CF_VERIFY_RESULT=result, **environ)
        )
        if self.unit.kind is not Kind.PUBLISH:
            self._download(work_name(self.key), context.out)
        if (results := self.folder / f"results-{self.key}").is_dir():
            shutil.copytree(results, context.verify_out / f"cf-verify-{self.key}-0")
        self.published = context
        report = publish(self.github, context, self.credential)
        save_report(context.report_out, report)
        self._keep(report_name(self.key), context.report_out)
        assert find_report(context.report_out, self.key) == report
        return report

    def through(self) -> Report:
        """All three jobs, as the workflow orders them."""
        worked = self.work()
        if worked.report.outcome not in GOOD:
            return self.publish("failure", "skipped")
        if worked.report.outcome not in (Outcome.UNVERIFIED, Outcome.HELD):
            return self.publish("success", "skipped")
        result = (
            ("success" if self.verify().passed else "failure")
            if worked.verify and self.unit.verify
            else "skipped"
        )
        return self.publish("success", result)

    def _ran(self, job: str, conclusion: str | None) -> None:
        """What the platform says of one job of this run."""
        status, now = ("completed" if conclusion else "in_progress"), self.world.now
        name = f"#{self.task} / {job}"
        self.world.put_job(self.run_id, Job(0, self.run_id, name, status, conclusion, now, now))

    # ------------------------------------------------------------------ what to look at

    def files(self, commit: str) -> set[str]:
        """The paths that a commit changes against its first parent."""
        return set(git(self.origin, "diff", "--name-only", f"{commit}^", commit).splitlines())

    def text(self, commit: str, path: str) -> str:
        return git(self.origin, "show", f"{commit}:{path}")

    def text_of_work(self, path: str) -> str:
        """A file of the commit that the agent's job has kept."""
        folder = self.folder / "looked-at"
        shutil.rmtree(folder, ignore_errors=True)
        git(self.folder, "clone", "-q", "--bare", str(self.origin), str(folder))
        git(folder, "fetch", "-q", str(self.context.out / "work.bundle"), "+refs/heads/work:refs/heads/work")
        return git(folder, "show", f"work:{path}")

    def kept(self) -> Report:
        """What the agent's job has reported."""
        report = find_report(self.context.out, self.key)
        assert report is not None
        return report

    def kept_text(self) -> str:
        """Every byte that the agent's job has kept and shown, loosely as text."""
        data = b"".join(path.read_bytes() for path in self.context.out.rglob("*") if path.is_file())
        return data.decode("utf-8", "replace") + "".join(self.shown)

    def _keep(self, name: str, folder: Path) -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for path in sorted(folder.rglob("*")):
                archive.write(path, path.relative_to(folder))
        for known in self.github.artifacts(self.run_id):
            if known.name == name:
                if name.startswith("cf-work"):  # never overwritten, as in the workflow
                    return
                self.world.actions.run(self.run_id).artifacts.remove(known.id)
        self.world.add_artifact(self.run_id, name, buffer.getvalue())

    def _download(self, name: str, folder: Path) -> None:
        for artifact in self.github.artifacts(self.run_id):
            if artifact.name == name and not artifact.expired:
                with zipfile.ZipFile(io.BytesIO(self.github.download(artifact.id))) as archive:
                    archive.extractall(folder)
