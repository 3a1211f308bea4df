"""The state machine of the specification, the whole table."""

import pytest

from bot.model.status import MOVES, PRECEDENCE, Status, may_move

TABLE = {
    "backlog": "ready blocked done",
    "ready": "in-progress backlog blocked done",
    "in-progress": "blocked done ready failed backlog",
    "blocked": "in-progress ready backlog done",
    "failed": "in-progress ready backlog done",
    "done": "ready merged backlog",
    "merged": "",
}


@pytest.mark.parametrize("before", Status)
@pytest.mark.parametrize("after", Status)
def test_a_move_is_allowed_exactly_where_the_table_says_so(before, after):
    assert may_move(before, after) is (after.value in TABLE[before.value].split() or before is after)


def test_every_status_has_moves_and_a_place_in_the_order_of_precedence():
    assert set(MOVES) == set(PRECEDENCE) == set(Status)
    assert len(PRECEDENCE) == len(Status)
