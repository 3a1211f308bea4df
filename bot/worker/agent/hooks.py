"""Hooks around an attempt: commands of the default branch's configuration, told about it by their environment alone."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from bot.github.port import Reader
from bot.model.errors import BotError
from bot.model.report import HookResult, Outcome, Report
from bot.notation.codec import Unreadable
from bot.notation.keys import Key
from bot.worker.job.artifact import find_report, save_report
from bot.worker.job.configuration import configuration_of
from bot.worker.job.context import JobContext
from bot.worker.job.isolation import tree_of
from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.environment import gate_environment
from bot.worker.programs.gates import GateRunner, Write, how
from bot.worker.programs.redact import Redactor
from bot.worker.prompt.prompt import one_line

WENT_WELL = frozenset({Outcome.PASSED, Outcome.UNVERIFIED, Outcome.BLOCKED, Outcome.NO_CHANGES, Outcome.HELD})
"""Outcomes after which `after_task_success` runs: the agent did its part. After any other `after_task_failure` does."""

_TAIL = 3_000


def run_hook(
    name: str, command: str | None, runner: GateRunner, timeout: timedelta, told: Mapping[str, str]
) -> HookResult | None:
    """One hook, and how it went; None if there is none."""
    if command is None:
        return None
    room = replace(runner, environment={**runner.environment, **told})
    try:
        ended = room.bash(command, timeout)
    except OSError as error:
        return HookResult(name, passed=False, tail=f"cannot be started: {error}")
    tail = "" if ended.ok else runner.redactor.text(f"{ended.output}\n[{name}: {how(ended)}]")[-_TAIL:]
    return HookResult(name, ended.ok, round(ended.seconds, 1), tail)


def told(key: Key, title: str, status: str, workspace: Path) -> dict[str, str]:
    """What a hook finds in its environment. The title is foreign, so it is one harmless line and nothing but a value."""
    return {
        "CF_TASK": str(key.task),
        "CF_TITLE": one_line(title),
        "CF_STATUS": status,
        "CF_ATTEMPT": str(key.number),
        "CF_WORKSPACE": str(workspace),
    }


def run_after_hook(
    github: Reader, context: JobContext, cancellation: Cancellation, write: Write
) -> HookResult | None:
    """The hook that follows how the attempt ended, its result added to the kept report. None if there is none to run.

    An attempt that was refused never began. Raises UsageError, and what reading the configuration raises.
    """
    if context.run_again:
        return None
    config = configuration_of(github, context.unit)
    context = replace(context, workspace=tree_of(context, config.isolation))
    report = _report(context)
    if report.outcome is Outcome.REFUSED:
        return None
    went_well = report.outcome in WENT_WELL
    command = config.hooks.after_task_success if went_well else config.hooks.after_task_failure
    if command is None:
        return None
    name = f"after_task_{'success' if went_well else 'failure'}"
    runner = GateRunner(
        context.workspace,
        {**gate_environment(context.environ), "HOME": str(context.temp)},
        Redactor(context.secrets),
        write,
        f"[#{context.key.task}] ",
        cancellation,
    )
    facts = told(context.key, _title(github, context), report.outcome, context.workspace)
    result = run_hook(name, command, runner, config.hooks.timeout, facts)
    if result is not None:
        save_report(context.out, replace(report, hooks=(*report.hooks, result)))
    return result


def _report(context: JobContext) -> Report:
    try:
        found = find_report(context.out, str(context.key))
    except Unreadable:
        found = None
    return found or Report(
        str(context.key),
        context.key.task,
        Outcome.INFRA,
        "the worker ended without a word",
        run_attempt=context.run_attempt,
    )


def _title(github: Reader, context: JobContext) -> str:
    try:
        return github.issue(context.key.task).title
    except BotError:
        return ""
