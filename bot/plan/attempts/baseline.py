"""A gate that fails on the untouched default branch: nobody's work, and said once for all tasks."""

from bot.model.baseline import Baseline
from bot.model.decision import Notice
from bot.model.report import GateResult, Measured, Report
from bot.notation.keys import Key
from bot.notation.quoting import code_block, quote_line
from bot.plan.board import Board
from bot.plan.facts.baselines import known_baselines

_NAMED = 20  # red gates that are remembered
_LONGEST = 100  # characters of a gate's name


def baseline_of(report: Report) -> Baseline | None:
    """What a record keeps of it."""
    found = report.baseline
    return Baseline(found.digest, tuple(name[:_LONGEST] for name in found.red[:_NAMED])) if found else None


def baseline_notices(key: Key, report: Report | None, board: Board) -> tuple[Notice, ...]:
    """For the first task that meets it: which gates fail without any change. The task itself goes on."""
    found = report.baseline if report is not None else None
    if found is None or not found.red or found.digest in known_baselines(board.snapshot):
        return ()
    if key.task != min(_finders(found, board), default=key.task):
        return ()
    branch = board.snapshot.repository.default_branch
    failing = [gate for gate in found.gates if gate.tail]
    told = "\n\n".join(_told(gate) for gate in failing[:3])
    names = ", ".join(f"`{quote_line(gate.name, 60)}`" for gate in failing)
    fail = "fails" if len(failing) == 1 else "fail"
    text = (
        f"{names} {fail} on `{quote_line(branch, 60)}` as well, before any change of attempt `{key}`. No work can pass until that"
        f" is mended, and this is said here alone; agents are told.\n\n{told}"
    )
    return (Notice(f"baseline:{found.digest}", text),)


def _told(gate: GateResult) -> str:
    return f"Gate `{quote_line(gate.name, 60)}`:\n\n{code_block(gate.tail)}"


def _finders(found: Measured, board: Board) -> list[int]:
    """The tasks whose attempts found the same, and end in this tick."""
    reports = [report for report in board.snapshot.reports.values() if report is not None]
    return [one.task for one in reports if one.baseline is not None and one.baseline.digest == found.digest]
