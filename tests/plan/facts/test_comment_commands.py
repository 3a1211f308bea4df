"""Which commands count: those of people who may order, given since the installation."""

import pytest
from msgspec.structs import replace

from bot.model.change import React
from bot.model.command import NAMES
from bot.model.config import Config
from bot.model.issue import GHOST, Account
from bot.model.snapshot import Permission
from bot.model.status import Status
from tests.builders import BOT, OTHER_BOT, STRANGER, a_running, a_task, ago
from tests.plan.commands.giving import (
    given,
    in_state,
)


@pytest.mark.parametrize("name", [*NAMES, "frobnicate"])
@pytest.mark.parametrize("by", [BOT, OTHER_BOT, GHOST, Account(8, "robot")])
def test_cmd_01_bots_and_deleted_accounts_order_nothing_and_get_no_reply(name, by):
    config = Config(trust=replace(Config().trust, ignore=("robot",), apps=("helper",)))
    result = given(
        f"/cf {name} x",
        in_state(Status.READY),
        by=by,
        config=config,
        permissions={"robot": "admin", "wendy": "write"},
    )
    assert (result.responses, result.wants) == ((), frozenset())
    assert result.decisions[0].reactions == ()


@pytest.mark.parametrize("name", [*NAMES, "frobnicate"])
def test_cmd_06_a_strangers_command_gets_one_reaction_and_costs_nothing(name):
    for task in (in_state(Status.BACKLOG), a_running(), a_task(1, None)):
        result = given(f"/cf {name}\n/cf {name}", task, by=STRANGER)
        (response,) = result.responses
        assert (response.reactions, response.text) == ((React("IC_1", "CONFUSED"),), "")
        decision = result.decisions[0]
        assert (decision.start, decision.cancel, decision.notices) == (None, None, ())
        assert decision.record.acted == ()


def test_who_gave_a_command_is_asked_of_the_permission_api():
    result = given("/cf run", by=Account(9, "new"))
    assert result.wants == {Permission("new")}
    assert result.decisions[0].start is None


def test_comments_from_before_the_installation_order_nothing():
    result = given("/cf run\n/cf help", orders_after=ago(minutes=1))
    assert (result.decisions[0].start, result.responses) == (None, ())
