"""The repository's own commands: set-up, and the gates that prove work. Only an exit status of 0 is a pass."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from msgspec import Struct

from bot.model.report import CANNOT_RUN, GateResult, GateStatus
from bot.model.unit import Gate
from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.live_log import LiveLog
from bot.worker.programs.process import End, Ended, Limits, run
from bot.worker.programs.redact import Redactor

SET_UP = "set-up"  # in place of a gate where the machine was not ready for any
SETUP_TIMEOUT = timedelta(minutes=10)
Write = Callable[[str], object]
"""Shows a text of a program to whoever reads the job's log."""
_TAIL = 6_000  # characters of a gate's output that a report carries


class GateRunner(Struct, frozen=True):
    """Where the commands run: folder, environment, and how their output is shown."""

    folder: Path
    environment: Mapping[str, str]
    redactor: Redactor
    write: Write
    prefix: str = ""
    cancellation: Cancellation | None = None

    def bash(self, command: str, timeout: timedelta) -> Ended:
        """One command line of the configuration."""
        with LiveLog(self.write, self.redactor, self.prefix) as live:
            return run(
                ("bash", "-c", command),
                folder=self.folder,
                environment=self.environment,
                limits=Limits(wall=timeout),
                cancellation=self.cancellation,
                live=live.feed,
            )


class Judged(Struct, frozen=True):
    """A gate's result and its whole (bounded, redacted) output."""

    result: GateResult
    output: str


class Trouble(Struct, frozen=True):
    """A command that was to prepare the machine and did not: in words, and with its exit status (0: it did not end by itself)."""

    words: str
    code: int = 0

    @property
    def cannot_run(self) -> bool:
        return self.code in CANNOT_RUN


def trouble_of(what: str, command: str, ended: Ended, runner: GateRunner, most: int = _TAIL) -> Trouble:
    tail = runner.redactor.text(ended.output)[-most:]
    code = ended.code if ended.how is End.EXITED else 0
    return Trouble(f"{what} ({how(ended)}): {command}\n{tail}", code)


def run_setup(commands: Sequence[str], runner: GateRunner) -> Trouble | None:
    """Run the set-up commands in order; the first failure, or None."""
    for command in commands:
        ended = runner.bash(command, SETUP_TIMEOUT)
        if not ended.ok:
            return trouble_of("set-up failed", command, ended, runner)
    return None


def run_gates(gates: Iterable[Gate], runner: GateRunner) -> tuple[Judged, ...]:
    """Run every gate, also after one has failed: a correction needs to know them all."""
    return tuple(run_gate(gate, runner) for gate in gates)


def run_gate(gate: Gate, runner: GateRunner) -> Judged:
    """One gate. Time-out and cancellation are failures of their own kind, never a pass."""
    if runner.cancellation is not None and runner.cancellation.reason:
        return Judged(GateResult(gate.name, GateStatus.SKIPPED, tail="cancelled"), "")
    try:
        ended = runner.bash(gate.run, gate.timeout)
    except OSError as error:
        return Judged(GateResult(gate.name, GateStatus.ERROR, tail=f"cannot be started: {error}"), str(error))
    if ended.ok:
        return Judged(
            GateResult(gate.name, GateStatus.PASSED, round(ended.seconds, 1)),
            runner.redactor.text(ended.output),
        )
    output = runner.redactor.text(f"{ended.output}\n[{gate.name}: {how(ended)}]")
    exited = ended.how is End.EXITED
    code = ended.code if exited and ended.code != 1 else 0
    cannot_run = exited and ended.code in CANNOT_RUN
    status = GateStatus.FAILED if exited and not cannot_run else GateStatus.ERROR
    return Judged(GateResult(gate.name, status, round(ended.seconds, 1), output[-_TAIL:], code), output)


def not_runnable(results: Iterable[GateResult], green: Collection[str] = ()) -> str:
    """The words of the shell about the gates that it could not run at all; empty if there is none.

    `green` are gates that ran on the untouched default branch: where one of those cannot be run any more, the change is to blame.
    """
    return "; ".join(
        f"the gate {one.name} cannot be run (exit status {one.code}): {last_line(one.tail)}"
        for one in results
        if one.cannot_run and one.name not in green
    )


def last_line(output: str) -> str:
    """What a shell said last, in at most 300 characters; our own line behind it is passed over."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    said = [line for line in lines if not (line.startswith("[") and line.endswith("]"))]
    return (said or [""])[-1][-300:]


def all_passed(results: Sequence[GateResult]) -> bool:
    """Proof needs at least one gate, and every one passed."""
    return bool(results) and all(result.status is GateStatus.PASSED for result in results)


def how(ended: Ended) -> str:
    """An end in words."""
    if ended.how is End.EXITED:
        return f"exit status {ended.code}"
    return f"{ended.how} after {ended.seconds:.0f} s"
