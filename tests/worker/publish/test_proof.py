"""Earlier work: proven by the jobs that ran on it, and by nobody's word."""

import pytest

from bot.model.report import Outcome
from bot.model.unit import Kind


@pytest.mark.parametrize("lie", ["another artifact", "another run", "a red leg", "no verify job"])
def test_earlier_work_is_proven_only_by_jobs_that_ran_on_it(bench, lie):
    """A report's word is not enough: what the platform does not vouch for becomes a draft at most."""
    setup = bench("workflow")
    report = setup.through()
    earlier = setup.end(report)
    run = setup.world.actions.run(setup.run_id)
    if lie == "another artifact":  # put in its place after the gates began
        run.artifacts.clear()
        setup._keep("cf-work-cf-1-1", setup.context.out)
    elif lie == "another run":
        run.title = "cf [cf-1-9]"
    elif lie == "a red leg":
        setup._ran("verify (macos-latest)", "failure")
    else:
        del run.jobs["#1 / verify (ubuntu-latest)"]
    setup.claim(2, Kind.PUBLISH, earlier=earlier, exceptions=report.protected)

    again = setup.publish("skipped", "skipped")

    assert again.outcome is Outcome.UNVERIFIED
    assert setup.world.pull(again.pull).draft
