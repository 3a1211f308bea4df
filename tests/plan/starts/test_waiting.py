"""Needs, each in its own words."""

import pytest

from bot.model.issue import NeedState, StateReason
from bot.model.record import Record
from bot.model.ref import Ref
from bot.model.snapshot import NeedOf
from bot.model.status import Status
from tests.builders import a_task, closed_as, decide, words_of

FOREIGN = Ref("octo/lib", 4)
PULL = Ref("acme/shop", 20)


@pytest.mark.parametrize(
    ("state", "reason", "asks"),
    [
        (NeedState.OPEN, "waiting on octo/lib#4", False),
        (NeedState.OPEN_PULL, "waiting on octo/lib#4, which is not merged yet", False),
        (
            NeedState.CLOSED_UNMERGED,
            "waiting on octo/lib#4, which is a pull request that was closed without merge",
            True,
        ),
        (NeedState.NOT_PLANNED, "waiting on octo/lib#4, which was closed as not planned", True),
        (NeedState.DUPLICATE, "waiting on octo/lib#4, which was closed as a duplicate", True),
        (
            NeedState.CLOSED_OTHERWISE,
            "waiting on octo/lib#4, which was closed for a reason that this version of cf-conductor does not know",
            True,
        ),
        (NeedState.UNREADABLE, "waiting on octo/lib#4, which cannot be read with this token", True),
        (NeedState.DELETED, "waiting on octo/lib#4, which was deleted", True),
        (NeedState.UNKNOWN, "need unreadable: octo/lib#4, which could not be read just now", False),
    ],
)
def test_an_unmet_need_holds_with_its_words_and_asks_only_where_a_person_must_decide(state, reason, asks):
    decision = decide(a_task(needs=(FOREIGN,)), needs={FOREIGN: state})

    assert decision.reason.startswith(reason)
    assert decision.status is Status.READY
    assert decision.start is None
    assert bool(decision.notices) is asks
    if asks:
        assert "octo/lib#4" in words_of(decision)


@pytest.mark.parametrize("state", [NeedState.COMPLETED, NeedState.MERGED])
def test_a_completed_or_merged_need_is_satisfied(state):
    assert (
        decide(a_task(needs=(FOREIGN, PULL)), needs={FOREIGN: state, PULL: NeedState.MERGED}).start
        is not None
    )


def test_every_state_is_in_one_of_those_tables():
    assert len(NeedState) == 11


def test_a_need_that_was_not_looked_up_is_wanted_and_holds():
    decision = decide(a_task(needs=(FOREIGN, 2)), others=(a_task(2),))
    assert decision.wants == {NeedOf(FOREIGN)}
    assert decision.reason == "waiting on #2"
    assert decide(a_task(needs=(FOREIGN,))).reason == "waiting on needs that are being looked up"


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.FAILED])
def test_an_open_issue_satisfies_nothing_whatever_its_label_says(status):
    decision = decide(a_task(needs=(2,)), others=(a_task(2, status),))
    assert decision.reason == "waiting on #2"


def test_a_failed_need_is_named_as_failed():
    assert decide(a_task(needs=(2,)), others=(a_task(2, Status.FAILED),)).reason == "waiting on failed #2"


@pytest.mark.parametrize(
    ("reason", "starts"),
    [
        (StateReason.COMPLETED, True),
        (None, True),
        (StateReason.NOT_PLANNED, False),
        (StateReason.DUPLICATE, False),
    ],
)
def test_a_tracked_need_counts_by_how_it_was_closed(reason, starts):
    need = a_task(2, Status.DONE, **closed_as(reason))
    decision = decide(a_task(needs=(2,)), others=(need,))
    assert (decision.start is not None) is starts
    assert bool(decision.notices) is not starts


def test_a_blocker_that_the_token_cannot_see_holds():
    decision = decide(a_task(hidden_edges=2))
    assert "cannot see" in decision.reason
    assert decision.notices


def test_a_notice_that_was_posted_is_not_posted_again():
    first = decide(a_task(needs=(FOREIGN,)), needs={FOREIGN: NeedState.DELETED})
    told = Record(1, notices=tuple(notice.fingerprint for notice in first.notices))
    again = decide(a_task(needs=(FOREIGN,), record=told), needs={FOREIGN: NeedState.DELETED})
    assert not again.notices
    other = decide(a_task(needs=(FOREIGN,), record=told), needs={FOREIGN: NeedState.NOT_PLANNED})
    assert other.notices


def test_a_task_that_needs_itself_is_a_cycle():
    assert decide(a_task(needs=(1,))).reason == "part of the cycle 1→1"


def test_a_declaration_that_cannot_be_read_is_told_also_when_the_task_starts():
    decision = decide(a_task(warnings=("line 2: `x`: write it so",)))
    assert decision.start is not None
    assert "line 2" in words_of(decision)
