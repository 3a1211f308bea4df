"""What is written down as a need and what GitHub shows as one."""

import pytest
from msgspec.structs import replace

from bot.model.config import Config, Dependencies
from bot.model.issue import Edge, NeedState, StateReason
from bot.model.ref import Ref
from bot.model.status import Status
from bot.plan import plan
from bot.plan.starts.relations import MOST
from tests.builders import a_record, a_snapshot, a_task, decide

NATIVE = Config(dependencies=Dependencies(sync="native"))


def here(*numbers):
    return tuple(Ref("acme/shop", number) for number in numbers)


def edges(*numbers):
    return tuple(Edge(ref, NeedState.OPEN) for ref in here(*numbers))


def naming(number=1, written=(), **fields):
    """A task whose text names these needs."""
    task = a_task(number, Status.BACKLOG, **fields)
    return replace(task, written=here(*written))


def relations(*tasks, config=NATIVE, **fields):
    return [(task, ref.number) for task, ref in plan(a_snapshot(*tasks, config=config, **fields)).relations]


class TestWriting:
    def test_what_text_or_record_name_and_github_does_not_show(self):
        record = a_record(1, Status.BACKLOG, own_needs=(3, 2))
        task = naming(1, (2, 4, 2), record=record, edges=edges(4))
        assert relations(task, a_task(2), a_task(3), a_task(4)) == [(1, 2), (1, 3)]
        assert relations(task, a_task(2), a_task(3), config=Config()) == []

    @pytest.mark.parametrize(
        "task",
        [
            naming(1, (2,), is_open=False, state_reason=StateReason.COMPLETED),
            naming(1, (2,), needs=(1,)),
            replace(a_task(1, None), written=here(2)),
        ],
    )
    def test_nothing_for_what_is_closed_no_task_or_on_a_cycle(self, task):
        assert relations(task, a_task(2)) == []

    def test_only_open_issues_of_this_repository(self):
        task = replace(naming(1, (2, 5, 6)), written=(*here(2, 5, 6), Ref("octo/lib", 4)))
        needs = {
            Ref("octo/lib", 4): NeedState.OPEN,
            Ref("acme/shop", 5): NeedState.OPEN_PULL,
            Ref("acme/shop", 6): NeedState.OPEN,
        }
        done = a_task(2, Status.DONE, is_open=False, state_reason=StateReason.COMPLETED)
        assert relations(task, done, needs=needs) == [(1, 6)]

    @pytest.mark.parametrize(
        ("shown", "hidden", "written"),
        [(0, 0, 40), (MOST - 2, 0, 2), (MOST - 3, 2, 1), (MOST, 0, 0), (MOST, 9, 0)],
    )
    def test_no_more_than_github_takes(self, shown, hidden, written):
        others = tuple(range(100, 100 + shown))
        task = naming(1, range(2, 60), edges=edges(*others), hidden_edges=hidden)
        found = relations(task, *(a_task(number) for number in range(2, 60)))
        assert found == [(1, number) for number in range(2, 2 + written)]

    def test_forty_in_one_tick(self):
        tasks = [naming(number, range(100, 130)) for number in (1, 2)]
        found = relations(*tasks, *(a_task(number) for number in range(100, 130)))
        assert (len(found), found[29], found[30], found[-1]) == (40, (1, 129), (2, 100), (2, 109))


def mismatch(task, *others, config=None, **fields):
    told = decide(task, others=others, config=config, **fields)
    return [notice for notice in told.notices if notice.fingerprint.startswith("mismatch:")]


class TestMismatch:
    def test_both_name_needs_and_not_the_same(self):
        (notice,) = mismatch(naming(1, (2, 4), edges=edges(3, 4)), a_task(2), a_task(3), a_task(4))
        assert notice.fingerprint == "mismatch:acme/shop#2,,acme/shop#3"
        assert notice.text == (
            "The needs of this task differ. Only the description names #2. Only GitHub's `blocked by` names #3. All of them count."
        )
        (notice,) = mismatch(naming(1, (2, 3, 5), edges=edges(3)), a_task(2), a_task(3), a_task(5))
        assert notice.text == (
            "The needs of this task differ. Only the description names #2, #5. All of them count."
        )
        (notice,) = mismatch(naming(1, (3,), edges=edges(2, 3)), a_task(2), a_task(3))
        assert notice.text == (
            "The needs of this task differ. Only GitHub's `blocked by` names #2. All of them count."
        )

    def test_what_is_elsewhere_is_named_in_full(self):
        far = Ref("octo/lib", 4)
        (notice,) = mismatch(naming(1, (2,), edges=(*edges(2), Edge(far, NeedState.OPEN))), a_task(2))
        assert "names octo/lib#4." in notice.text

    @pytest.mark.parametrize(
        ("task", "config"),
        [
            (naming(1, (2,), edges=edges(2)), None),
            (naming(1, (2,)), None),
            (naming(1, (), edges=edges(2)), None),
            (naming(1, (2,), edges=edges(3)), NATIVE),
            (naming(1, (2,), edges=edges(3)), Config(dependencies=Dependencies(native=False))),
            (naming(1, (2,), edges=edges(3), record_problem="unreadable"), None),
            (naming(1, (2,), edges=edges(3), is_open=False), None),
            (replace(a_task(1, None, edges=edges(3)), written=here(2)), None),
            (naming(1, (9,), edges=edges(3)), None),  # nobody knows whether that is an issue
        ],
    )
    def test_nothing_is_said(self, task, config):
        assert mismatch(task, a_task(2), a_task(3), config=config) == []

    def test_a_difference_is_said_once(self):
        told = a_record(1, Status.BACKLOG, notices=("mismatch:acme/shop#2,,acme/shop#3",))
        assert mismatch(naming(1, (2,), edges=edges(3), record=told), a_task(2), a_task(3)) == []
        assert mismatch(naming(1, (2, 4), edges=edges(3), record=told), a_task(2), a_task(3), a_task(4))

    @pytest.mark.parametrize(
        ("state", "said"),
        [
            (NeedState.OPEN, True),
            (NeedState.COMPLETED, True),
            (NeedState.NOT_PLANNED, True),
            (NeedState.DUPLICATE, True),
            (NeedState.OPEN_PULL, False),
            (NeedState.MERGED, False),
            (NeedState.UNKNOWN, False),
        ],
    )
    def test_only_issues_can_be_blockers_there(self, state, said):
        needs = {Ref("acme/shop", 9): state}
        assert bool(mismatch(naming(1, (9,), edges=edges(3)), a_task(3), needs=needs)) is said
