"""When what is left of a batch will probably be done."""

from datetime import timedelta

from bot.plan.graph.forecast import longest_chain, schedule, waves
from bot.plan.graph.graph import Graph

DIAMOND = Graph({2: [1], 3: [1], 4: [2, 3], 5: [9]})


def minutes(*counts):
    return tuple(timedelta(minutes=count) for count in counts)


def spans(planned):
    return {
        number: tuple(moment / timedelta(minutes=1) for moment in span) for number, span in planned.items()
    }


def test_a_wave_follows_the_last_need_inside_the_batch():
    assert waves((1, 2, 3, 4, 5, 7), DIAMOND) == {1: 1, 2: 2, 3: 2, 4: 3, 5: 1, 7: 1}
    assert waves((2, 4), DIAMOND) == {2: 1, 4: 2}


def test_members_of_a_cycle_are_in_no_wave():
    assert waves((1, 2, 3), Graph({1: [2], 2: [1]})) == {3: 1}


def test_the_longest_chain_is_that_of_time_not_of_number():
    lasting = dict(zip((1, 2, 3, 4, 5), minutes(5, 10, 20, 5, 29), strict=True))
    assert longest_chain((1, 2, 3, 4, 5), DIAMOND, lasting) == ((1, 3, 4), timedelta(minutes=30))
    assert longest_chain((2, 5), DIAMOND, lasting) == ((5,), timedelta(minutes=29))
    assert longest_chain((), DIAMOND, lasting) == ((), timedelta(0))


def test_a_slot_is_filled_again_as_soon_as_anything_may_start():
    lasting = dict(zip((1, 2, 3, 4), minutes(5, 10, 20, 5), strict=True))
    one = schedule((1, 2, 3, 4), {}, DIAMOND, lasting, 1)
    assert spans(one) == {1: (0, 5), 2: (5, 15), 3: (15, 35), 4: (35, 40)}
    two = schedule((1, 2, 3, 4), {}, DIAMOND, lasting, 2)
    assert spans(two) == {1: (0, 5), 2: (5, 15), 3: (5, 25), 4: (25, 30)}


def test_what_runs_takes_its_slot_and_is_waited_for():
    lasting = dict(zip((2, 3), minutes(10, 20), strict=True))
    left = timedelta(minutes=7)
    assert spans(schedule((2, 3), {1: left}, DIAMOND, lasting, 1)) == {1: (0, 7), 2: (7, 17), 3: (17, 37)}


def test_without_a_slot_nothing_is_scheduled_and_a_cycle_never_is():
    assert schedule((1, 2), {}, DIAMOND, {}, 0) == {}
    assert spans(schedule((1, 2, 3), {}, Graph({1: [2], 2: [1]}), {}, 4)) == {3: (0, 0)}
