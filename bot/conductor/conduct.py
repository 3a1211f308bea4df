"""`cf conduct`, one tick and then lingering while something is due soon; `cf plan` and `cf why`, what a tick would do."""

import logging
import os
import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bot.conductor.linger import Lingering
from bot.conductor.observe.advisor import Advise, Advisor
from bot.conductor.tell.summary import events, markdown, outputs, overview, remarks
from bot.conductor.tick import Tick, tick
from bot.conductor.workflow_settings import read_settings
from bot.github.port import GitHub
from bot.model.config import CONDUCTOR_WORKFLOW, Config
from bot.model.errors import BotError, UsageError
from bot.printing import add_to_summary, say

if TYPE_CHECKING:
    from bot.models.client import Budget

log = logging.getLogger(__name__)

_PENDING = ("queued", "pending", "requested", "waiting")


def conduct(environ: Mapping[str, str], *, dry_run: bool, linger: bool) -> int:
    """Run a tick against GITHUB_REPOSITORY, and more while something is due soon. Raises BotError; 0 also if nothing was to do."""
    from bot.github.client import connect

    github: GitHub = connect(environ)
    clock = _SystemClock()
    if dry_run:
        return _rehearse(github, clock, environ)
    advise = _advise(environ)
    lingering = Lingering(
        tick=lambda: _told_tick(github, clock, environ, advise),
        superseded=lambda: _superseded(github, environ),
        clock=clock,
    )
    lingering.run(lambda last: last.seen.snapshot.config.linger if linger else timedelta(0))
    return 0


def conduct_for_ever(environ: Mapping[str, str], every: str, *, dry_run: bool) -> int:
    """Tick, pause, and tick again until the process is ended. Raises UsageError, and what only a person can mend."""
    from bot.conductor.every import read_pause, tick_for_ever
    from bot.github.client import connect

    pause = read_pause(every)
    if dry_run:
        raise UsageError(
            "--every and --dry-run do not go together: a rehearsal changes nothing that a second one could see"
        )
    clock = _SystemClock()
    github: GitHub = connect(environ)
    advise = _advise(environ)
    tick_for_ever(lambda: _told_tick(github, clock, environ, advise), pause, clock)


def _rehearse(github: GitHub, clock: "_SystemClock", environ: Mapping[str, str]) -> int:
    from bot.github.dry_run import DryRun

    dry = DryRun(github)
    _tell(tick(dry, clock.now, settings=read_settings(environ), rehearsal=True), environ)
    for sentence in dry.would_have:
        say(sentence)
    return 0


def _advise(environ: Mapping[str, str]) -> Advise:
    """One budget for all ticks of this run. The room is entered only when a model is to be asked."""

    @cache
    def budget() -> "Budget":
        from bot.models.client import Budget

        return Budget()

    def advise(config: Config) -> Advisor:
        from bot.models.advisor import advisor_for

        return advisor_for(config, environ, budget())

    return advise


def _told_tick(github: GitHub, clock: "_SystemClock", environ: Mapping[str, str], advise: Advise) -> Tick:
    last = tick(github, clock.now, advise, read_settings(environ))
    _tell(last, environ)
    return last


class _SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, span: timedelta) -> None:
        time.sleep(span.total_seconds())


def _superseded(github: GitHub, environ: Mapping[str, str]) -> bool:
    """Whether another conductor run waits for this one to end: it has seen newer events, so it should go on."""
    try:
        runs = github.newest_runs(CONDUCTOR_WORKFLOW)
    except BotError:
        return True  # better to end early than to wait blindly
    own = environ.get("GITHUB_RUN_ID", "")
    return any(run.status in _PENDING and str(run.id) != own for run in runs)


def _tell(last: Tick, environ: Mapping[str, str]) -> None:
    """Log lines for the job's log, the step summary, and the outputs."""
    for decision in last.plan.decisions:
        why = last.effects.skipped.get(decision.task, decision.reason)
        say(f"#{decision.task} {decision.verb}: {' '.join(why.split())}")
    for remark in remarks(last):
        say(f"cf: {remark}")
    say(f"cf: {overview(last).reason}")
    problem = _call_webhook(last, environ)
    if problem:
        say(f"cf: webhook: {problem}")
    if summary := environ.get("GITHUB_STEP_SUMMARY"):
        told = markdown(last, last.due) + (f"\n- webhook: {problem}\n" if problem else "")
        add_to_summary(Path(summary), told)
    if folder := environ.get("CF_TICK"):
        from bot.conductor.recording import keep

        keep(last, Path(folder))
    if target := environ.get("GITHUB_OUTPUT"):
        with Path(target).open("a", encoding="utf-8") as file:
            file.write("".join(_output(name, value) for name, value in outputs(last).items()))


def _call_webhook(last: Tick, environ: Mapping[str, str]) -> str:
    """Tell the events that are wanted; what went wrong in one sentence, else nothing."""
    patterns = last.seen.snapshot.config.webhook_events
    wanted = [event for event in events(last) if any(fnmatchcase(event.event, one) for one in patterns)]
    if not wanted:
        return ""
    if not (address := environ.get("CF_WEBHOOK", "")):
        return "webhook.events is set, and the secret CF_WEBHOOK is not"
    from bot.conductor.tell.webhook import (  # its packages cost a tick without webhook nothing
        Webhook,
        body_of,
    )

    counts = overview(last).counts
    bodies = [body_of(event, last.seen.view.repository, counts) for event in wanted]
    return Webhook(address, environ.get("CF_WEBHOOK_KEY", "")).deliver(bodies)


def _output(name: str, value: str) -> str:
    """One output with a random delimiter, so that no value can start another output."""
    mark = f"cf-{secrets.token_hex(16)}"
    return f"{name}<<{mark}{os.linesep}{value}{os.linesep}{mark}{os.linesep}"
