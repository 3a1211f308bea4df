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
from bot.worker.job.isolation import tree_of
from bot.worker.job.place import Place
from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.environment import gate_environment
from bot.worker.programs.gates import Shop, Write, how
from bot.worker.programs.redact import Redactor
from bot.worker.prompt.prompt import one_line

WENT_WELL = frozenset({Outcome.PASSED, Outcome.UNVERIFIED, Outcome.BLOCKED, Outcome.NO_CHANGES, Outcome.HELD})
"""Outcomes after which `after_task_success` runs: the agent did its part. After any other `after_task_failure` does."""

_TAIL = 3_000


def run_hook(
    name: str, command: str | None, shop: Shop, timeout: timedelta, told: Mapping[str, str]
) -> HookResult | None:
    """One hook, and how it went; None if there is none."""
    if command is None:
        return None
    room = replace(shop, environment={**shop.environment, **told})
    try:
        ended = room.bash(command, timeout)
    except OSError as error:
        return HookResult(name, passed=False, tail=f"cannot be started: {error}")
    tail = "" if ended.ok else shop.redactor.text(f"{ended.output}\n[{name}: {how(ended)}]")[-_TAIL:]
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
    github: Reader, place: Place, cancellation: Cancellation, write: Write
) -> HookResult | None:
    """The hook that follows how the attempt ended, its result added to the kept report. None if there is none to run.

    An attempt that was refused never began. Raises UsageError, and what reading the configuration raises.
    """
    config = configuration_of(github, place.unit)
    place = replace(place, workspace=tree_of(place, config.isolation))
    report = _report(place)
    if report.outcome is Outcome.REFUSED:
        return None
    went_well = report.outcome in WENT_WELL
    command = config.hooks.after_task_success if went_well else config.hooks.after_task_failure
    if command is None:
        return None
    name = f"after_task_{'success' if went_well else 'failure'}"
    shop = Shop(
        place.workspace,
        {**gate_environment(place.environ), "HOME": str(place.temp)},
        Redactor(place.secrets),
        write,
        f"[#{place.key.task}] ",
        cancellation,
    )
    facts = told(place.key, _title(github, place), report.outcome, place.workspace)
    result = run_hook(name, command, shop, config.hooks.timeout, facts)
    if result is not None:
        save_report(place.out, replace(report, hooks=(*report.hooks, result)))
    return result


def _report(place: Place) -> Report:
    try:
        found = find_report(place.out, str(place.key))
    except Unreadable:
        found = None
    return found or Report(
        str(place.key),
        place.key.task,
        Outcome.INFRA,
        "the worker ended without a word",
        run_attempt=place.run_attempt,
    )


def _title(github: Reader, place: Place) -> str:
    try:
        return github.issue(place.key.task).title
    except BotError:
        return ""
