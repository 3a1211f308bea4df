"""The state machine of the specification, the whole table."""

import pytest

from bot.model.errors import UsageError
from bot.model.status import MOVES, PRECEDENCE, IllegalMove, Status, check_move, may_move, parse_status

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
    allowed = after.value in TABLE[before.value].split() or before is after

    assert may_move(before, after) is allowed
    if allowed:
        check_move(before, after)
        return
    with pytest.raises(IllegalMove) as caught:
        check_move(before, after)
    for name in (before.value, after.value, *TABLE[before.value].split()):
        assert name in str(caught.value)
    assert caught.value.exit_code == 2


def test_from_merged_the_message_says_that_it_is_terminal():
    with pytest.raises(IllegalMove, match="terminal"):
        check_move(Status.MERGED, Status.READY)


@pytest.mark.parametrize("status", Status)
def test_a_name_is_read_in_any_case_with_dash_or_underscore(status):
    for text in (
        status.value,
        status.value.upper(),
        status.value.replace("-", "_").title(),
        f" {status.value}\n",
    ):
        assert parse_status(text) is status


@pytest.mark.parametrize(
    "text", ["", " ", "waiting", "in progress", "inprogress", "ready!", "ready done", "cf:ready"]
)
def test_another_name_is_refused_with_the_valid_ones(text):
    with pytest.raises(UsageError) as caught:
        parse_status(text)
    assert repr(text) in str(caught.value)
    assert all(status.value in str(caught.value) for status in Status)


def test_every_status_has_moves_and_a_place_in_the_order_of_precedence():
    assert set(MOVES) == set(PRECEDENCE) == set(Status)
    assert len(PRECEDENCE) == len(Status)
