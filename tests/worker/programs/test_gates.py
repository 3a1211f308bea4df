"""Gates: no gate is no proof."""

from bot.model.report import GateResult, GateStatus
from bot.worker.programs.gates import all_passed


def test_no_gate_is_no_proof():
    assert not all_passed(())
    assert not all_passed((GateResult("a", GateStatus.PASSED), GateResult("b", GateStatus.SKIPPED)))
    assert all_passed((GateResult("a", GateStatus.PASSED),))
