"""Whatever comes and goes, a concurrency group keeps its promises."""

from hypothesis import given
from hypothesis import strategies as st

from bot.sandbox.world.concurrency import Groups
from bot.sandbox.world.workflows import Group

NAMES = st.sampled_from(["a", "A", "b", "c"])
WANTED = st.lists(NAMES, max_size=3, unique_by=str.lower)
STEPS = st.lists(st.one_of(WANTED.map(tuple), st.integers(0, 30)), max_size=40)


@given(STEPS)
def test_one_holds_one_waits_and_everybody_starts_once_or_is_evicted(steps):
    groups = Groups()
    alive: list[int] = []
    started: list[int] = []
    evicted: list[int] = []
    number = 0
    for step in steps:
        if isinstance(step, int):
            if not alive:
                continue
            started += groups.leave(alive.pop(step % len(alive)))
        else:
            number += 1
            arrival = groups.arrive(number, [Group(name) for name in step])
            alive.append(number)
            started += [number] if arrival.starts else []
            evicted += arrival.evicted
            alive = [run for run in alive if run not in arrival.evicted]
        assert len(started) == len(set(started))
        assert not set(started) & set(evicted)
        assert all(len(waiting) <= 1 for waiting in groups.pending.values())
        for run in alive:
            holds = [groups.holder.get(name) == run for name in groups.wanted[run]]
            assert all(holds) or not any(holds), "a run has all of its groups or none"
            assert (run in started) is all(holds)
            if run not in started:
                assert any(name in groups.holder for name in groups.wanted[run]), "nobody waits for nothing"
