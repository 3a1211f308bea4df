"""Units as they travel."""

import json

import pytest
from msgspec.structs import replace

from bot.model.unit import Kind, Unit, VerifyLeg
from bot.notation.codec import Unreadable
from bot.notation.units import read_unit, write_units

UNIT = Unit(
    Kind.CODE,
    (12, 13),
    ("cf-12-1", "cf-13-2"),
    (501, 502),
    (41898282,),
    "c" * 40,
    "command",
    ("self-hosted", "x64"),
    (VerifyLeg("ubuntu-latest", "ubuntu-latest", ("tests",)), VerifyLeg("b c", "windows-latest", ("a", "b"))),
    timeout_minutes=90,
)


def test_a_unit_is_read_back_from_its_entry():
    entries = json.loads(write_units([UNIT, replace(UNIT, kind=Kind.PUBLISH, verify=())]))
    assert read_unit(json.dumps(entries[0])) == UNIT
    assert read_unit(json.dumps(entries[1])) == replace(UNIT, kind=Kind.PUBLISH, verify=())


def test_an_entry_holds_every_field_and_what_expressions_cannot_work_out():
    (entry,) = json.loads(write_units([UNIT]))
    assert set(entry) >= set(Unit.__struct_fields__)
    assert (entry["lead"], entry["name"], entry["job_minutes"]) == (12, "#12 #13", 115)
    assert [leg["number"] for leg in entry["verify"]] == [1, 2]
    assert entry["secret"] == entry["earlier"] == ""
    assert json.loads(write_units([replace(UNIT, verify=())]))[0]["verify"] == []


@pytest.mark.parametrize(
    "change",
    [
        {"tasks": []},
        {"keys": ["cf-12-1"]},
        {"comments": []},
        {"kind": "dance"},
        {"tasks": ["12", "13"]},
        {"runner": None},
    ],
)
def test_a_unit_that_does_not_fit_together_is_unreadable(change):
    (entry,) = json.loads(write_units([UNIT]))
    with pytest.raises(Unreadable):
        read_unit(json.dumps(entry | change))
