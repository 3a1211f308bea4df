"""The commands `work`, `verify`, `publish` and `wake`: arguments, signals, exit status. What they do is in modules of their names.

What they do is imported when it is done: the imports cost most of a start, and a cancellation must be heeded meanwhile.
"""

import argparse
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from bot.worker.cancellation import Cancellation


def configure_work(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Run the agent on the unit in CF_UNIT and keep its work in CF_OUT. Meant to run inside cf-task.yml."
    )


def configure_verify(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Run the gates of the leg in CF_LEG on the work in CF_OUT. Exit status 0 means that all passed."
    )


def configure_publish(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Publish the verified work in CF_OUT and write the attempt's report to CF_OUT_REPORT."
    )


def configure_wake(parser: argparse.ArgumentParser) -> None:
    parser.description = "Start the conductor's workflow."


def run_work(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """0 if the jobs after this one have something to decide, else 1; the report in CF_OUT says why."""
    with _cancellable() as cancellation:
        from bot.github.client import connect
        from bot.worker.place import read_place
        from bot.worker.process import adopt_orphans
        from bot.worker.work import GOOD, work

        adopt_orphans()
        place = read_place(environ)
        worked = work(connect(environ), place, cancellation, _show)
        _output(environ, "verify", "true" if worked.verify else "false")
        report = worked.report
        _say(f"{report.key}: {report.outcome}. {report.reason}")
        return 0 if report.outcome in GOOD else 1


def run_verify(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """0 if and only if there were gates and all of them passed."""
    with _cancellable() as cancellation:
        from bot.github.client import connect
        from bot.worker.place import read_leg, read_place
        from bot.worker.process import adopt_orphans
        from bot.worker.verify import verify

        adopt_orphans()
        place = read_place(environ)
        result = verify(connect(environ), place, read_leg(environ), cancellation, _show)
        for gate in result.gates:
            _say(f"{gate.name}: {gate.status} ({gate.seconds:.1f} s)")
        return 0 if result.passed else 1


def run_publish(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """0 once the report is written, whatever the outcome: that is data."""
    from bot.github.client import connect
    from bot.worker.artifact import save_report
    from bot.worker.place import read_place
    from bot.worker.publish import publish

    place = read_place(environ)
    report = publish(connect(environ), place)
    save_report(place.report_out, report)
    _say(f"{report.key}: {report.outcome}. {report.reason}")
    return 0


def run_wake(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.github.client import connect
    from bot.worker.place import default_branch
    from bot.worker.wake import wake

    run_id = wake(connect(environ), default_branch(environ))
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


def _show(text: str) -> None:
    """Output of programs, already redacted and unable to command the runner."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _say(text: str) -> None:
    """Our own line; words of others in it must not be read as a workflow command."""
    line = " ".join(text.split()).replace("##[", "## [")
    _show(f"cf: {line}\n")


def _output(environ: Mapping[str, str], name: str, value: str) -> None:
    if file := environ.get("GITHUB_OUTPUT"):
        with Path(file).open("a", encoding="utf-8") as outputs:
            outputs.write(f"{name}={value}{os.linesep}")
