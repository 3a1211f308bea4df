"""Values as compact JSON: defaults cost no room, and what a newer version adds is ignored."""

from datetime import UTC, datetime

from bot.model.record import Record
from bot.model.report import Outcome, Report
from bot.notation.codec import dump, load


def test_values_are_written_without_their_defaults():
    assert dump(Record(7)) == '{"task":7}'
    assert dump(Report("cf-1-1", 1, Outcome.FAILED)) == '{"key":"cf-1-1","task":1,"outcome":"failed"}'


def test_fields_of_a_newer_version_are_ignored():
    text = '{"task":1,"later":{"deep":[1,{"x":null}]},"attempts":[],"strikes":2}'
    assert load(text, Record) == Record(1, strikes=2)


def test_times_keep_their_microseconds_and_zone():
    at = datetime(2026, 3, 2, 12, 0, 1, 234567, tzinfo=UTC)
    assert load(dump(Record(1, not_before=at)), Record).not_before == at
