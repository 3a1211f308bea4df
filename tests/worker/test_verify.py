"""The verify job: the gates, on the very commit that the agent's job named."""

import json

import pytest

from bot.model.report import GateResult, GateStatus
from bot.worker.change.bundle import Unfit


def test_the_gates_see_only_the_commit_that_the_agents_job_named(bench):
    setup = bench("edit")
    setup.work()
    setup.commits[setup.key] = "b" * 40

    with pytest.raises(Unfit, match="the agent's job named bbbb"):
        setup.verify()


def test_results_of_legs_travel_as_json(bench):
    setup = bench("bad")
    setup.work()

    result = setup.verify()

    kept = json.loads((setup.folder / "results-cf-1-1" / "verify.json").read_text())
    assert kept["leg"] == "ubuntu-latest"
    assert result.gates == (
        GateResult("tests", GateStatus.FAILED, result.gates[0].seconds, result.gates[0].tail),
    )
    assert "expected feature" in (setup.folder / "results-cf-1-1" / "gate-1.log").read_text()
