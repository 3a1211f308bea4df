"""Stories on the make-believe GitHub: people act, runs end, ticks follow."""

import io
import json
import zipfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from bot.conductor.observe import observe
from bot.conductor.observe.advisor import Advise, no_advice
from bot.conductor.tick import Tick, decide, tick
from bot.model.config import CONFIG_PATH
from bot.model.errors import TryLater
from bot.model.record import Record
from bot.model.report import Outcome, Report
from bot.model.run import Job
from bot.notation.config import read_config
from bot.notation.keys import Key
from bot.notation.records import read_record
from bot.notation.reports import REPORT_FILE, report_name, write_report
from bot.sandbox.world.actions import WorldRun
from bot.sandbox.world.engines import ManualEngine
from bot.sandbox.world.errors import ApiError
from bot.sandbox.world.faults import Disconnected
from bot.sandbox.world.git import MemoryGit
from bot.sandbox.world.in_process import client_of
from bot.sandbox.world.world import World
from bot.worker.job.claim import Claim, Refusal, judge_claim, read_claim
from bot.worker.job.context import read_job_context

TEMPLATES = Path(__file__).parents[2] / "workflows-templates"
CONFIG = """\
version: 1
engine: command
engines: {command: {args: "python agent.py"}}
gates: [{name: tests, run: make test}]
"""
STATUSES = ("backlog", "ready", "in-progress", "blocked", "failed", "done", "merged")


class Story:
    """A repository with our workflows, and shorthands for what happens in it."""

    def __init__(self, config: str = CONFIG, *, worker: bool = True) -> None:
        files = {CONFIG_PATH: config, "README.md": "# shop\n"}
        for path in TEMPLATES.glob("*.yml"):
            if worker or path.name != "cf-worker.yml":
                files[f".github/workflows/{path.name}"] = path.read_text(encoding="utf-8")
        self.engine = ManualEngine()
        self.world = World("acme/shop", git=MemoryGit.of(files), engine=self.engine)
        self.engine.world = self.world.actions
        self.github = client_of(self.world)
        self.last: Tick | None = None
        self.advise: Advise = no_advice
        self.writes_before = 0

    def ready(self, body: str = "", *labels: str, title: str = "Do it") -> int:
        """An issue that a maintainer labelled ready."""
        return self.world.open_issue(title, body, labels=("cf:ready", *labels))

    def tick(self) -> Tick:
        self.world.wait(timedelta(seconds=2))
        self.last = tick(self.github, lambda: self.world.now, self.advise)
        self.world.wait(timedelta(seconds=2))
        return self.last

    def reason(self, number: int) -> str:
        """What the last tick said about a task."""
        assert self.last is not None
        return next(item.reason for item in self.last.plan.decisions if item.task == number)

    def record(self, number: int) -> Record:
        """The record as the next tick would read it."""
        return observe(self.github, self.world.now).snapshot.tasks[number].record

    def record_anyway(self, number: int) -> Record:
        """The record in the status comment, of a task that is not tracked any more too."""
        for comment in self.github.comments_on(number):
            if (record := read_record(comment, number, {comment.author.id})) is not None:
                return record
        raise AssertionError(f"#{number} has no record")

    def settle(self) -> None:
        """Tick until nothing is left to do; a tick that dies is followed by another, after the launch grace."""
        quiet, in_doubt = False, True
        while not quiet:
            try:
                before, behind = self.world.faults.writes, self.world.faults.stale_reads
                last = self.tick()
                quiet = self.world.faults.writes == before and not behind
                in_doubt = in_doubt or bool(last.effects.refused)
            except (Disconnected, TryLater):
                quiet, in_doubt = False, True
            # A tick that came to its end has a run for each of its claims.
            in_doubt = in_doubt and self.waits_for_run()
            if in_doubt:
                self.world.wait(timedelta(minutes=6))
                quiet = False

    def on_with(self) -> None:
        """What follows is what this story is about: its writes are the ones at which ticks are killed."""
        self.writes_before = self.world.faults.writes

    def waits_for_run(self) -> bool:
        """Whether a claim has no run to show for it."""
        seen = observe(self.github, self.world.now).snapshot
        live = [
            (task.number, task.record.live) for task in seen.tasks.values() if task.record.live is not None
        ]
        trials = ((batch.number, batch.record.trial) for batch in seen.batches)
        live += [(number, trial.attempt) for number, trial in trials if trial is not None]
        return any(f"cf-{number}-{attempt.number}" not in self.starts() for number, attempt in live)

    def finish_live(self, task: int, outcome: Outcome, **report: object) -> None:
        """The attempt that owns the task ends."""
        live = self.record(task).live
        assert live is not None, f"#{task} is not running"
        self.finish(f"cf-{task}-{live.number}", outcome, **report)  # type: ignore[arg-type]

    def agent_starts(self) -> set[str]:
        """The keys for which a runner would start an agent: every further run of a key is refused in its first step."""
        return set(self.starts())

    def foresee(self) -> dict[int, str]:
        """What the next tick would decide, without doing it."""
        _, decided = decide(self.github, observe(self.github, self.world.now))
        return {item.task: item.reason for item in decided.decisions}

    def status(self, number: int) -> tuple[str, ...]:
        """The status labels of an issue."""
        return tuple(name for name in STATUSES if f"cf:{name}" in self.world.labels_of(number))

    def starts(self) -> list[str]:
        """The keys of every worker run ever dispatched, in order."""
        return [str(key) for run in self.worker_runs() for key in run.inputs["keys"].split()]

    def worker_runs(self) -> list[WorldRun]:
        return sorted(self.world.runs("cf-worker.yml"), key=lambda run: run.id)

    def claim_check(self, run: WorldRun, attempt: int = 1) -> Claim | Refusal:
        """What the first step of the agent job of a run with one unit says, the run being made for the n-th time."""
        view = self.github.view("cf", None)
        environ = {
            "CF_UNIT": json.dumps(json.loads(run.inputs["units"])[0]),
            "GITHUB_REPOSITORY": self.world.repository,
            "GITHUB_REF_NAME": view.repository.default_branch,
            "GITHUB_RUN_ID": str(run.id),
            "GITHUB_RUN_ATTEMPT": str(attempt),
        }
        return judge_claim(read_claim(self.github, read_job_context(environ), read_config(view.config_text)))

    def run_of(self, key: str) -> WorldRun:
        return next(run for run in self.worker_runs() if key in run.inputs["keys"].split())

    def begin(self, key: str) -> int:
        """The run of this key gets a runner."""
        run = self.run_of(key)
        self.world.run_started(run.id)
        self._job(run.id, key, "agent", "in_progress", None)
        return run.id

    def finish(
        self, key: str, outcome: Outcome, *, end: bool = True, verify: str = "", **report: object
    ) -> int:
        """The run of this key ends with a report, the way the shipped workflows end; `verify` lies about its job."""
        run_id = self.begin(key)
        verified = outcome is Outcome.PASSED
        self._job(
            run_id, key, "agent", "completed", "success" if verified or outcome in _QUIET else "failure"
        )
        self._job(
            run_id,
            key,
            "verify (ubuntu-latest)",
            "completed",
            verify or ("success" if verified else "skipped"),
        )
        self._job(run_id, key, "publish", "in_progress", None)
        self.world.wait(timedelta(seconds=1))
        task = Key(*map(int, key.split("-")[1:])).task
        if outcome in (Outcome.PASSED, Outcome.UNVERIFIED):
            report = {"pull": self._publish(task, key), "head": "b" * 40, "branch": f"cf/{task}", **report}
        if outcome is Outcome.PASSED:
            report = {"asked": self._ask_for_review(task, report), **report}
        text = write_report(Report(key, task, outcome, **report))  # type: ignore[arg-type]
        self.world.add_artifact(run_id, report_name(key), zipped({REPORT_FILE: text}))
        self._job(run_id, key, "publish", "completed", "success")
        if end:
            self.world.run_ended(run_id, "success" if verified else "failure")
        return run_id

    def gate(self, batch: int) -> str:
        """The key of the batch gate's trial that runs now; empty if none does."""
        found = observe(self.github, self.world.now).snapshot.batches
        trial = next((one.record.trial for one in found if one.number == batch), None)
        return f"cf-{batch}-{trial.attempt.number}" if trial is not None else ""

    def finish_gate(self, batch: int, *, green: bool = True, **report: object) -> tuple[list[int], bool]:
        """The trial that runs now ends; returns the tasks that it joined, and whether on the default branch as it was before."""
        key = self.gate(batch)
        run_id = self.begin(key)
        (unit,) = json.loads(self.run_of(key).inputs["units"])
        joined = not report.get("misfit")
        for role, ended in (
            ("agent", "success" if joined else "failure"),
            ("verify (ubuntu-latest)", ("success" if green else "failure") if joined else "skipped"),
            ("publish", "success"),
        ):
            self._job(run_id, key, role, "completed", ended)
        self.world.wait(timedelta(seconds=1))
        outcome = Outcome.PASSED if green and joined else Outcome.FAILED
        words = Report(key, batch, outcome, **{"base": "c" * 40, **report})  # type: ignore[arg-type]
        self.world.add_artifact(run_id, report_name(key), zipped({REPORT_FILE: write_report(words)}))
        self.world.run_ended(run_id, "success" if outcome is Outcome.PASSED else "failure")
        return [join["task"] for join in unit["joins"]], bool(unit["before"])

    def move_branch(self, task: int) -> None:
        """The next attempt brings another commit to the task's branch."""
        self.world.push_files(
            f"cf/{task}", {f"more-{self.world.now:%H%M%S}.txt": "more"}, by="github-actions[bot]"
        )

    def pass_gate(self, batch: int) -> None:
        """The batch gate is started, and finds nothing to complain about."""
        self.settle()
        self.finish_gate(batch)
        self.settle()

    def die(self, key: str, conclusion: str = "failure", **jobs: str) -> int:
        """The run of this key ends without any report; `jobs` are conclusions by role."""
        run_id = self.begin(key)
        for role, ended in ({"agent": conclusion} | jobs).items():
            self._job(run_id, key, role, "completed", ended)
        self.world.run_ended(run_id, conclusion)
        return run_id

    def job_ends(self, run_id: int, key: str, role: str, conclusion: str) -> None:
        """One job of a run ends, and nothing is said about the others."""
        self._job(run_id, key, role, "completed", conclusion)

    def merge(self, task: int) -> None:
        """The maintainer merges the pull request of a task."""
        self.world.merge_pull(self.record(task).pull)

    def _ask_for_review(self, task: int, report: Mapping[str, object]) -> str:
        """As `cf publish` does it where the pull request waits for a person."""
        if any(report.get(name) for name in ("merged", "conflict", "unmerged")):
            return ""
        approval = self.record_anyway(task).approval
        pull = self.world.pulls.by_number.get(int(str(report["pull"])))
        if approval is None or pull is None:
            return ""
        token = self.world.token("github-actions[bot]")
        try:
            self.world.pulls.request_review(pull, [approval.by], token)
        except ApiError:
            return ""
        return approval.by

    def _publish(self, task: int, key: str) -> int:
        branch = f"cf/{task}"
        if self.world.git.head(branch) is None:
            self.world.push_files(branch, {f"{key}.txt": key}, f"{key}", by="github-actions[bot]")
            return self.world.open_pull(
                branch, title=f"#{task}", body=f"Closes #{task}", by="github-actions[bot]"
            )
        return next(pull.number for pull in self.world.pulls.by_number.values() if pull.head_ref == branch)

    def _job(self, run_id: int, key: str, role: str, status: str, conclusion: str | None) -> None:
        task = key.split("-")[1]
        now: datetime = self.world.now
        ended = now if status == "completed" else None
        self.world.put_job(run_id, Job(0, run_id, f"#{task} / {role}", status, conclusion, now, ended))


_QUIET = (Outcome.BLOCKED, Outcome.NO_CHANGES, Outcome.UNVERIFIED, Outcome.HELD)


def zipped(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()
