"""Property: values that GitHub may add one day are no good news: what we do not know is not completed, and starts nothing."""

import pytest

from bot.github import decode
from bot.model.issue import NeedState, StateReason
from tests.conductor.story import Story
from tests.github.hub import issue

NEW = ("ARCHIVED", "TRANSFERRED", "LOCKED_AS_SPAM", "completed_by_agent")


@pytest.mark.parametrize("reason", NEW)
def test_a_need_that_is_closed_for_a_new_reason_is_not_met(reason):
    assert decode.need({"state": "CLOSED", "stateReason": reason}) is NeedState.CLOSED_OTHERWISE
    assert decode.rest_need({"state": "closed", "state_reason": reason.lower()}) is NeedState.CLOSED_OTHERWISE
    assert decode.issue(issue(1, state="CLOSED", stateReason=reason)).state_reason is StateReason.OTHER
    assert not NeedState.CLOSED_OTHERWISE.satisfied


@pytest.mark.parametrize("state", ["DRAFT", "HIDDEN", ""])
def test_an_issue_in_a_new_state_is_neither_open_nor_completed(state):
    seen = decode.issue(issue(1, state=state))
    assert (seen.is_open, seen.state_reason) == (False, StateReason.OTHER)
    assert not decode.need({"state": state, "stateReason": None}).satisfied
    assert not decode.rest_need({"state": state.lower(), "state_reason": None}).satisfied


@pytest.mark.parametrize("reason", [None, "", "COMPLETED"])
def test_one_that_was_closed_before_there_were_reasons_counts(reason):
    assert decode.need({"state": "CLOSED", "stateReason": reason}) is NeedState.COMPLETED
    assert (
        decode.rest_need({"state": "closed", "state_reason": reason and reason.lower()})
        is NeedState.COMPLETED
    )


@pytest.mark.parametrize("tracked", [True, False])
def test_a_dependent_of_it_does_not_start_and_asks_once(tracked):
    story = Story()
    need = story.ready() if tracked else story.world.open_issue("A need")
    task = story.ready(f"depends on #{need}")
    story.tick()
    story.world.close(need, StateReason.OTHER)
    for _ in range(3):
        story.tick()

    assert f"cf-{task}-1" not in story.starts()
    assert "closed for a reason that this version of cf-conductor does not know" in story.reason(task)
    told = [
        one.body
        for one in story.world.comments_of(task)
        if "will not start until somebody decides" in one.body
    ]
    assert len(told) == 1
    if tracked:
        assert story.status(need) == ()
