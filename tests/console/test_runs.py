"""`cf runs`: the attempts, newest first."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.console.runs import View, runs_json, runs_lines, select
from bot.model.errors import UsageError
from bot.model.report import Outcome
from tests.plan.telling.past import FAILED, PASSED, TASKS, a_past, made


def test_runs_stand_newest_first_with_their_view():
    found = select(TASKS, None, None)
    assert len(found) == 6
    assert {ran.view for ran in found} == {View.RUNNING, View.COMPLETED, View.FAILED}
    assert [ran.attempt.number for ran in select(TASKS, 1, View.FAILED)] == [1]
    head, *rows = runs_lines(found[:2])
    assert head.split()[:3] == ["key", "status", "outcome"]
    assert len(rows) == 2
    assert list(runs_lines([])) == ["no run"]
    assert {entry["status"] for entry in json.loads(runs_json(found))} == {"RUNNING", "COMPLETED", "FAILED"}
    with pytest.raises(UsageError, match="#99 is no task"):
        select(TASKS, 99, None)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_has_a_view(outcome):
    (ran,) = select((a_past(1, made(1, outcome)),), 1, None)
    assert (ran.view is View.COMPLETED) == (outcome is PASSED)
    assert ran.view is not View.RUNNING


@given(st.text(max_size=80))
def test_an_agents_words_stay_on_their_line(words):
    lines = list(runs_lines(select((a_past(1, made(1, FAILED, reason=f"##[error]{words}")),), 1, None)))
    assert len(lines) == 2
