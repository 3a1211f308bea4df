"""The commands `work`, `verify`, `publish` and `wake`: arguments, signals, exit status. What they do is in modules of their names.

What they do is imported when it is done: the imports cost most of a start, and a cancellation must be heeded meanwhile.
"""

import argparse
import os
import signal
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from bot.printing import pass_on, say
from bot.worker.programs.cancellation import Cancellation

if TYPE_CHECKING:
    from bot.github.client import Client
    from bot.github.port import Reader
    from bot.model.report import Report
    from bot.worker.job.context import JobContext
    from bot.worker.job.worked import Worked

_JOB = """
environment (cf-task.yml sets all of it):
  CF_UNIT              the unit of work as JSON, written by the conductor
  GITHUB_TOKEN, GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_WORKSPACE and RUNNER_TEMP, as in every job of Actions
"""
_WORK = f"""{_JOB}  CF_MODEL_KEY         the key of the agent's model, if it needs one
  CF_OUT               folder that the work is kept in (default: cf-work in RUNNER_TEMP)

exit code: 0 if the jobs after this one have something to decide, else 1; the report in CF_OUT says why
"""
_VERIFY = f"""{_JOB}  CF_LEG               this leg of the verify matrix as JSON: the names of its gates
  CF_OUT, CF_COMMIT    the work, as the agent's job kept it, and the commit that it named
  CF_OUT_VERIFY        folder for the gates' results (default: cf-verify beside CF_OUT)

exit code: 0 if there were gates and all of them passed, else 1
"""
_PUBLISH = f"""{_JOB}  CF_AGENT_RESULT, CF_VERIFY_RESULT    how those jobs ended: success, failure, cancelled or skipped
  CF_OUT, CF_COMMIT, CF_OUT_VERIFY     the work, the commit that the agent's job named, and the gates' results
  CF_APP_ID, CF_APP_PRIVATE_KEY        a GitHub App to act as (optional); its token is made here, and again if need be
  CF_OUT_REPORT                        folder for the attempt's report (default: cf-report beside CF_OUT)

exit code: 0 once the report is written, whatever the outcome: that is data
"""
_WAKE = """
environment: GITHUB_TOKEN (with actions: write), GITHUB_REPOSITORY and GITHUB_REF_NAME (the default branch), set in Actions

  GITHUB_TOKEN=$(gh auth token) GITHUB_REPOSITORY=octo/shop GITHUB_REF_NAME=main cf wake
"""


def configure_work(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--after",
        action="store_true",
        help="run the hook that follows the agent, whatever became of it (the job's last step)",
    )
    _explain(
        parser,
        "Run the agent on the unit in CF_UNIT and keep its work in CF_OUT. Meant to run inside cf-task.yml.",
        _WORK,
    )


def configure_verify(parser: argparse.ArgumentParser) -> None:
    _explain(
        parser,
        "Run the gates of the leg in CF_LEG on the work in CF_OUT. Exit status 0 means that all passed.",
        _VERIFY,
    )


def configure_publish(parser: argparse.ArgumentParser) -> None:
    _explain(
        parser,
        "Publish the verified work in CF_OUT and write the attempt's report to CF_OUT_REPORT.",
        _PUBLISH,
    )


def configure_wake(parser: argparse.ArgumentParser) -> None:
    _explain(
        parser,
        "Start the conductor's workflow. Nothing that a default token does starts a workflow, except a dispatch.",
        _WAKE,
    )


def _explain(parser: argparse.ArgumentParser, description: str, epilog: str) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description, parser.epilog = description, epilog


def run_work(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """0 if the jobs after this one have something to decide, else 1; the report in CF_OUT says why."""
    if args.after:
        return _run_after(environ)
    with _cancellable() as cancellation:
        from bot.github.client import connect
        from bot.worker.job.context import read_job_context
        from bot.worker.job.worked import GOOD
        from bot.worker.programs.hide_secrets import guarding_commands, take_secrets
        from bot.worker.programs.process import adopt_orphans

        adopt_orphans()
        environ = take_secrets(environ)
        context = read_job_context(environ)
        work = _first_job(context)
        with guarding_commands(environ):
            worked = work(connect(environ), context, cancellation, pass_on)
        report = worked.report
        _output(environ, "verify", "true" if worked.verify else "false")
        _output(environ, "commit", report.head)
        _say(f"{report.key}: {report.outcome}" + (f": {report.reason}" if report.reason else ""))
        if not context.unit.hooks:
            _leave_clean(environ)
        return 0 if report.outcome in GOOD else 1


def _run_after(environ: Mapping[str, str]) -> int:
    """Always 0: a hook that fails is told in the report, and changes no outcome."""
    with _cancellable() as cancellation:
        from bot.github.client import connect
        from bot.worker.agent.hooks import run_after_hook
        from bot.worker.job.context import read_job_context
        from bot.worker.programs.hide_secrets import guarding_commands, take_secrets
        from bot.worker.programs.process import adopt_orphans

        adopt_orphans()
        environ = take_secrets(environ)
        context = read_job_context(environ)
        with guarding_commands(environ):
            result = run_after_hook(connect(environ), context, cancellation, pass_on)
        if result is not None:
            _say(f"{result.name}: {'passed' if result.passed else 'failed'} ({result.seconds:.1f} s)")
        _leave_clean(environ)
        return 0


def _leave_clean(environ: Mapping[str, str]) -> None:
    """At the end of our last step. RUNNER_ENVIRONMENT is the runner's: docs.github.com, "Variables reference"."""
    if environ.get("RUNNER_ENVIRONMENT") == "self-hosted":
        from bot.worker.job.context import read_job_context
        from bot.worker.job.isolation import leave_clean

        leave_clean(read_job_context(environ))


def run_verify(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """0 if and only if there were gates and all of them passed."""
    with _cancellable() as cancellation:
        from bot.github.client import connect
        from bot.worker.job.context import read_job_context, read_leg
        from bot.worker.programs.hide_secrets import guarding_commands, take_secrets
        from bot.worker.programs.process import adopt_orphans
        from bot.worker.verify import verify

        adopt_orphans()
        environ = take_secrets(environ)
        context = read_job_context(environ)
        with guarding_commands(environ):
            result = verify(connect(environ), context, read_leg(environ), cancellation, pass_on)
        for gate in result.gates:
            _say(f"{gate.name}: {gate.status} ({gate.seconds:.1f} s)")
        return 0 if result.passed else 1


def run_publish(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """0 once the report is written, whatever the outcome: that is data."""
    from bot.worker.job.artifact import save_report
    from bot.worker.job.context import read_job_context
    from bot.worker.publish.publish import publish

    context = read_job_context(environ)
    github = _publisher(environ, context.unit.exceptions)
    report = publish(github, context, github.credential)
    save_report(context.report_out, report)
    _summarise(environ, context, report)
    _say(f"{report.key}: {report.outcome}" + (f": {report.reason}" if report.reason else ""))
    return 0


def run_wake(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.github.app import WAKING
    from bot.github.client import connect
    from bot.worker.job.context import default_branch
    from bot.worker.wake import wake

    run_id = wake(connect(environ, WAKING), default_branch(environ))
    _say(f"the conductor is awake{f' (run {run_id})' if run_id else ''}")
    return 0


@contextmanager
def _cancellable() -> Iterator[Cancellation]:
    """SIGINT and SIGTERM, which is how Actions cancels a job, become a request that everything here looks at."""
    cancellation = Cancellation()

    def ask(_number: int, _frame: FrameType | None) -> None:
        cancellation.request("the run was cancelled")

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield cancellation
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(text: str) -> None:
    say(f"cf: {' '.join(text.split())}")


def _publisher(environ: Mapping[str, str], exceptions: Collection[str]) -> "Client":
    """The client for publishing. Only an order that lets a workflow file through asks for leave to push one."""
    from bot.github.app import PUBLISHING
    from bot.github.client import connect
    from bot.model.errors import CannotGoOn

    if any(path.startswith(".github/workflows/") for path in exceptions):
        try:
            return connect(environ, {**PUBLISHING, "workflows": "write"})
        except CannotGoOn:
            pass  # the App was not granted it: GitHub refuses the push, and the report says so
    return connect(environ, PUBLISHING)


def _summarise(environ: Mapping[str, str], context: "JobContext", report: "Report") -> None:
    from bot.worker.job.summary import summary_of

    if file := environ.get("GITHUB_STEP_SUMMARY"):
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.write(summary_of(report, f"{context.server}/{context.repository}"))


def _output(environ: Mapping[str, str], name: str, value: str) -> None:
    if file := environ.get("GITHUB_OUTPUT"):
        with Path(file).open("a", encoding="utf-8") as outputs:
            outputs.write(f"{name}={value}{os.linesep}")


def _first_job(
    context: "JobContext",
) -> "Callable[[Reader, JobContext, Cancellation, Callable[[str], object]], Worked]":
    """The first job of a unit, by its kind."""
    from bot.model.unit import Kind

    if context.unit.kind is Kind.GATE:
        from bot.worker.agent.join_job import join

        return join
    if context.unit.kind is Kind.UPDATE:
        from bot.worker.agent.update_job import update

        return update
    from bot.worker.agent.agent_job import work

    return work
