"""Values as compact JSON: defaults cost no room, and what a newer version adds is ignored."""

from datetime import UTC, datetime

import msgspec
import pytest

from bot.model.batch import BatchRecord, Control, Order
from bot.model.record import Record, Spent
from bot.model.report import Outcome, Report
from bot.notation.codec import dump, load
from bot.notation.state import State


def test_values_are_written_without_their_defaults():
    assert dump(Record(7)) == '{"task":7}'
    assert dump(Report("cf-1-1", 1, Outcome.FAILED)) == '{"key":"cf-1-1","task":1,"outcome":"failed"}'


def test_fields_of_a_newer_version_are_ignored():
    text = '{"task":1,"later":{"deep":[1,{"x":null}]},"attempts":[],"strikes":2}'
    assert load(text, Record) == Record(1, strikes=2)


def test_times_keep_their_microseconds_and_zone():
    at = datetime(2026, 3, 2, 12, 0, 1, 234567, tzinfo=UTC)
    assert load(dump(Record(1, not_before=at)), Record).not_before == at


def structs_in(*kinds):
    """Every kind of value that values of these kinds hold."""
    found, left = set(), [msgspec.inspect.type_info(kind) for kind in kinds]
    while left:
        info = left.pop()
        if isinstance(info, msgspec.inspect.StructType):
            if info.cls in found:
                continue
            found.add(info.cls)
            left += [field.type for field in info.fields]
        left += getattr(info, "types", ())
        left += [
            getattr(info, name) for name in ("item_type", "key_type", "value_type") if hasattr(info, name)
        ]
    return found


KEPT = structs_in(Record, Order, BatchRecord, Control, State, Report)


@pytest.mark.parametrize("kind", sorted(KEPT - {Spent}, key=str))
def test_whatever_is_kept_costs_no_room_for_what_is_not_said(kind):
    assert kind.__struct_config__.omit_defaults
    assert not kind.__struct_config__.array_like


def test_what_was_used_up_is_written_as_a_row():
    assert dump(Spent(1, 2.5, 3, 0.5)) == "[1,2.5,3,0.5]"
    assert len(KEPT) > 20
