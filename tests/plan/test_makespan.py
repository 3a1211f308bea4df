"""Property: the order against its rivals, on the small batches of `benches/makespan.py` (which judges all of them)."""

import pytest

from benches.makespan import bound, compare, judge, make, play, play_in_waves


@pytest.mark.parametrize("estimated", [True, False], ids=["estimates", "no estimates"])
def test_the_default_order_is_ahead_of_every_rival(estimated):
    found = compare(estimated=estimated, sizes=(20,))

    rivals = {name: mean for name, mean in found.items() if name != "critical path"}
    assert found["critical path"] < min(rivals.values())
    assert rivals["level barrier"] == max(rivals.values())


def test_nothing_beats_the_lower_bound():
    batch = make("layered", 20, 1, estimated=True)

    least = bound(batch, 2) * (1 - 1e-9)  # durations are rounded to microseconds on the way

    assert least >= sum(batch.minutes.values()) / 2 * (1 - 1e-8)
    assert play(batch, 2, lambda _batch, _known, ready: sorted(ready)) >= least
    assert play_in_waves(batch, 2) >= least
    assert play(batch, 1, lambda _batch, _known, ready: sorted(ready)) == pytest.approx(
        sum(batch.minutes.values())
    )


@pytest.mark.parametrize(
    ("ours", "rival", "estimated", "wrong"),
    [
        (1.01, 1.05, True, 0),
        (1.03, 1.05, True, 1),
        (1.01, 1.01, True, 1),
        (1.03, 1.02, True, 2),
        (1.03, 1.028, False, 0),
        (1.04, 1.03, False, 1),
    ],
)
def test_each_bound_is_judged(ours, rival, estimated, wrong):
    assert len(judge({"critical path": ours, "score": rival}, estimated=estimated)) == wrong
