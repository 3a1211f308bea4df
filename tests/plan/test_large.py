"""Large: repositories far larger than usual: planned in one go, and every reason stays a sentence."""

import pytest

from bot.model.ref import Ref
from bot.model.status import Status
from bot.plan import plan
from tests.builders import REPOSITORY, a_snapshot, a_task, by_number


@pytest.mark.slow
@pytest.mark.parametrize("first", [Status.READY, Status.FAILED])
def test_a_chain_of_ten_thousand_starts_at_its_beginning_or_waits_for_it_to_the_last(first):
    size = 10_000
    chain = [a_task(number, needs=(Ref(REPOSITORY.full_name, number - 1),)) for number in range(2, size + 1)]
    decisions = by_number(plan(a_snapshot(a_task(1, first), *chain)))

    assert len(decisions) == size
    started = [number for number, decision in decisions.items() if decision.start]
    assert started == ([1] if first is Status.READY else [])
    assert all(f"#{number - 1}" in decisions[number].reason for number in range(2, size + 1))
    assert max(len(decision.reason) for decision in decisions.values()) < 500
