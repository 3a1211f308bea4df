"""Which tasks of the backlog a bulk approval is about."""

import pytest
from msgspec.structs import replace

from bot.model.status import Status
from tests.plan.commands.giving import (
    in_state_numbered,
    on_dashboard,
)


def test_approve_in_bulk_takes_the_backlog_but_what_is_left_out():
    backlog = [in_state_numbered(number, Status.BACKLOG) for number in (1, 2, 3)]
    backlog[2] = replace(backlog[2], issue=replace(backlog[2].issue, labels=("cf:backlog", "api")))
    failed = in_state_numbered(4, Status.FAILED)

    def approved(words):
        result = on_dashboard(f"/cf approve {words}", *backlog, failed)
        return {item.task for item in result.decisions if item.start}, result.responses[0]

    everything, reply = approved("")
    assert everything == {1, 2, 3}
    assert "Approved: 3. Left out: 0." in reply.text
    some, reply = approved("except 1 #2")
    assert some == {3}
    assert "Approved: 1. Left out: 2." in reply.text
    assert "approved: #3" in reply.text
    assert "left out: #1, #2" in reply.text
    assert approved("label:API")[0] == {3}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("except 4", "#4 is not in the backlog; nothing was approved"),
        ("except 4, 99", "#4, #99 are not in the backlog"),
        ("except", "there is none"),
        ("3", "`3` is not understood"),
        ("label:", "is not understood"),
        ("milestone:v1 milestone:v2", "`milestone:v2` is not understood"),
        ("except <b>", "is not understood"),
    ],
)
def test_a_number_or_word_that_does_not_fit_refuses_the_whole(words, why):
    tasks = in_state_numbered(1, Status.BACKLOG), in_state_numbered(4, Status.FAILED)
    result = on_dashboard(f"/cf approve {words}", *tasks)
    assert all(item.start is None for item in result.decisions)
    assert why in result.responses[0].text
