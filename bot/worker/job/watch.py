"""A leg whose run it shares with others cannot be cancelled alone, so it looks after its own issue and ends itself."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from bot.github.port import Reader
from bot.model.errors import BotError
from bot.worker.job.claim import read_own_record, still_wanted
from bot.worker.job.context import JobContext
from bot.worker.programs.cancellation import Cancellation

log = logging.getLogger(__name__)


@contextmanager
def watching(
    github: Reader, context: JobContext, cancellation: Cancellation, interval: timedelta
) -> Iterator[None]:
    """Ask for the end of this job as soon as its task is not wanted any more. An interval of 0 never looks."""
    if not interval:
        yield
        return
    done = threading.Event()
    thread = threading.Thread(
        target=_watch, args=(github, context, cancellation, interval.total_seconds(), done), daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        done.set()


def _watch(
    github: Reader, context: JobContext, cancellation: Cancellation, interval: float, done: threading.Event
) -> None:
    while not done.wait(interval) and not cancellation.reason:
        try:
            is_open = github.is_open(context.key.task)
            refusal = still_wanted(is_open, read_own_record(github, context.unit), context.key)
        except BotError as error:
            log.warning(
                "could not look after the issue", extra={"task": context.key.task, "error": str(error)}
            )
            continue
        if refusal is not None and not done.is_set():
            cancellation.request(refusal.reason)
