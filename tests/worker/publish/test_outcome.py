"""The outcome of a run, from what the platform says of its jobs."""

import pytest
from msgspec.structs import replace

from bot.model.report import Outcome, Report
from bot.worker.publish.outcome import Judgement, Results, judge_results

WORK = Report("cf-1-1", 1, Outcome.UNVERIFIED, head="a" * 40)


def results(**changes: object) -> Results:
    return replace(Results("success", "success", legs=True, work=WORK, change=True), **changes)


@pytest.mark.parametrize(
    ("changes", "judgement"),
    [
        ({}, Judgement(None, verified=True)),
        ({"verify": "skipped", "legs": False}, Judgement(None)),
        ({"verify": "success", "legs": False}, Outcome.INFRA),
        ({"verify": "skipped"}, Outcome.INFRA),
        ({"verify": ""}, Outcome.INFRA),
        ({"verify": "cancelled"}, Outcome.INFRA),
        ({"verify": "failure"}, Outcome.FAILED),
        ({"work": None}, Outcome.INFRA),
        ({"change": False}, Outcome.INFRA),
        ({"agent": "cancelled"}, Outcome.CANCELLED),
        ({"agent": "failure", "work": None}, Outcome.INFRA),
        ({"agent": "failure"}, Outcome.INFRA),
        ({"agent": ""}, Outcome.INFRA),
        ({"agent": "failure", "work": replace(WORK, outcome=Outcome.PASSED)}, Outcome.INFRA),
        ({"agent": "failure", "work": replace(WORK, outcome=Outcome.TIMEOUT)}, Outcome.TIMEOUT),
        ({"agent": "failure", "work": replace(WORK, outcome=Outcome.REFUSED)}, Outcome.REFUSED),
        ({"work": replace(WORK, outcome=Outcome.BLOCKED), "verify": "skipped"}, Outcome.BLOCKED),
        ({"work": replace(WORK, outcome=Outcome.NO_CHANGES), "verify": "skipped"}, Outcome.NO_CHANGES),
        ({"work": replace(WORK, outcome=Outcome.HELD), "verify": "skipped"}, Outcome.HELD),
        ({"work": replace(WORK, outcome=Outcome.HELD), "change": False}, Outcome.HELD),
        ({"work": replace(WORK, outcome=Outcome.HELD)}, Judgement(None, verified=True)),
        ({"work": replace(WORK, outcome=Outcome.HELD), "verify": "failure"}, Outcome.FAILED),
        ({"work": replace(WORK, outcome=Outcome.PASSED), "verify": "failure"}, Outcome.FAILED),
        (
            {"work": replace(WORK, outcome=Outcome.PASSED), "verify": "skipped", "legs": False},
            Judgement(None),
        ),
    ],
)
def test_nothing_the_agents_job_says_can_make_a_pass(changes, judgement):
    found = judge_results(results(**changes))

    assert (found if isinstance(judgement, Judgement) else found.outcome) == judgement
