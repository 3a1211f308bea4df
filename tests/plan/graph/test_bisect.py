"""Who broke the batch gate: which trials are run, and whom they name."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.plan.graph.bisect import ALONE, OUTSIDE, TANGLED, Found, Tried, Try, next_step

NOBODY = 0


class Work:
    """Members whose work, joined in order, is red from the guilty one on.

    `unfit` is a member that does not join; `trunk` and `old_trunk`: whether the gates pass on the branch without any of them, as it
    is (with the merged ones) and as it was.
    """

    def __init__(self, members, *, guilty=NOBODY, unfit=NOBODY, merged=0, trunk=True, old_trunk=True):
        self.members, self.guilty, self.unfit, self.merged = members, guilty, unfit, merged
        self.trunk, self.old_trunk = trunk, old_trunk

    def run(self, trial):
        if self.unfit and self.unfit <= trial.joined and (trial.old or self.unfit > self.merged):
            return Tried(trial.joined, trial.old, green=False, conflict=self.unfit)
        there = trial.joined if trial.old else max(trial.joined, self.merged)
        base = self.old_trunk if trial.old else self.trunk and self.old_trunk
        return Tried(trial.joined, trial.old, green=base and not 0 < self.guilty <= there)


def hunted(work):
    """What is found, and the trials that it took."""
    tried: list[Tried] = []
    while isinstance(step := next_step(work.members, work.merged, tried), Try):
        assert (step.joined, step.old) not in [(one.joined, one.old) for one in tried], "no trial twice"
        assert 0 <= step.joined <= work.members
        tried.append(work.run(step))
    return step, tried


def at_most(members):
    return math.ceil(math.log2(members)) + 3


members = st.integers(1, 600)


@given(members, st.data())
def test_the_guilty_one_is_always_found_in_a_logarithm_of_trials(count, data):
    guilty = data.draw(st.integers(1, count))
    merged = data.draw(st.integers(0, count))
    found, tried = hunted(Work(count, guilty=guilty, merged=merged))
    assert (found.green, found.guilty) == (False, guilty)
    assert len(tried) <= at_most(count)


@given(members, st.data())
def test_what_passes_together_takes_one_trial(count, data):
    found, tried = hunted(Work(count, merged=data.draw(st.integers(0, count))))
    assert found == Found(green=True)
    assert len(tried) == 1


@given(members, st.data())
def test_work_that_does_not_join_is_guilty_itself_at_once(count, data):
    unfit = data.draw(st.integers(1, count))
    found, tried = hunted(Work(count, unfit=unfit, guilty=data.draw(st.integers(0, count))))
    assert (found.green, found.guilty) == (False, unfit)
    assert len(tried) == 1


@given(members)
def test_a_branch_that_fails_without_this_work_blames_nobody(count):
    found, tried = hunted(Work(count, trunk=False))
    assert found == Found(green=False, reason=ALONE)
    assert len(tried) <= at_most(count)


@given(members, st.data())
def test_what_was_broken_before_the_batch_and_is_merged_into_blames_nobody(count, data):
    merged = data.draw(st.integers(1, count))
    found, tried = hunted(Work(count, merged=merged, old_trunk=False))
    assert found == Found(green=False, reason=ALONE)
    assert len(tried) <= at_most(count)


@given(members, st.data())
def test_work_that_passes_together_on_the_branch_as_it_was_is_acquitted(count, data):
    merged = data.draw(st.integers(1, count))
    found, tried = hunted(Work(count, merged=merged, trunk=False))
    assert found == Found(green=False, reason=OUTSIDE)
    assert len(tried) == 2


@given(members, st.data())
def test_merged_work_that_does_not_join_where_it_came_from_blames_nobody(count, data):
    merged = data.draw(st.integers(1, count))
    unfit = data.draw(st.integers(1, merged))
    found, _ = hunted(Work(count, merged=merged, unfit=unfit, guilty=data.draw(st.integers(1, count))))
    assert found == Found(green=False, reason=TANGLED)


@given(
    members, st.integers(0, 600), st.lists(st.tuples(st.integers(0, 600), *[st.booleans()] * 2), max_size=20)
)
def test_whatever_the_trials_say_the_hunt_ends(count, merged, said):
    """Flaky gates: each trial may say anything."""
    answers = {(joined, old): green for joined, old, green in said}
    tried: list[Tried] = []
    while isinstance(step := next_step(count, merged, tried), Try):
        tried.append(Tried(step.joined, step.old, answers.get((step.joined, step.old), False)))
        assert len(tried) <= at_most(count)
    assert 0 <= step.guilty <= count


@pytest.mark.parametrize(
    ("tried", "step"),
    [
        ((), Try(5)),
        ((Tried(5, False, green=False),), Try(2)),
        ((Tried(5, False, green=False), Tried(2, False, green=True)), Try(3)),
        (
            (
                Tried(5, False, green=False),
                Tried(2, False, green=True),
                Tried(3, False, green=True),
                Tried(4, False, green=True),
            ),
            Found(green=False, guilty=5, reason="the gates fail from this task's work on"),
        ),
    ],
)
def test_prefixes_are_halved(tried, step):
    assert next_step(5, 0, tried) == step
