"""Claims made into units, and units into runs."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.conductor.act.units import into_runs, unit_of
from bot.model.config import Config, EngineConfig
from bot.model.status import Status
from bot.model.unit import Gate, Kind
from tests.builders import BOT, a_record, a_snapshot, a_task, decide

CONFIG = Config(blob="c" * 40, gates=(Gate("tests", "make test", os=("a", "b")),), runner=("small",))


def unit(config=CONFIG, **record):
    task = a_task(12, record=a_record(12, Status.READY, **record))
    snapshot = a_snapshot(task, config=config)
    return unit_of(decide(task, config=config), 501, snapshot, {})


def test_a_unit_holds_numbers_keys_and_configuration():
    made = unit(earlier="900/cf-12-1", next_attempt=2)
    assert (made.kind, made.tasks, made.keys, made.comments) == (Kind.CODE, (12,), ("cf-12-2",), (501,))
    assert (made.accounts, made.config_blob, made.engine, made.secret) == (
        (BOT.id,),
        "c" * 40,
        "command",
        "CF_MODEL_KEY",
    )
    assert (made.earlier, made.runner) == ("900/cf-12-1", ("small",))
    assert [(leg.os, leg.gates) for leg in made.verify] == [("a", ("tests",)), ("b", ("tests",))]


def test_a_publish_unit_verifies_nothing_again():
    made = unit(republish=True, earlier="900/cf-12-1")
    assert (made.kind, made.verify, made.earlier) == (Kind.PUBLISH, (), "900/cf-12-1")


def test_an_engines_runner_outweighs_the_common_one():
    assert unit(
        replace(CONFIG, engine="command", engines={"command": EngineConfig("x", runner=("big",))})
    ).runner == ("big",)
    assert unit(replace(CONFIG, engine="command", engines={"command": EngineConfig("x")})).runner == (
        "small",
    )


@pytest.mark.parametrize(("seconds", "minutes"), [(1, 1), (60, 1), (61, 2), (3600, 60)])
def test_the_timeout_is_in_whole_minutes_rounded_up(seconds, minutes):
    assert unit(replace(CONFIG, timeout=timedelta(seconds=seconds))).timeout_minutes == minutes


@pytest.mark.parametrize(
    ("count", "per_run", "sizes"), [(0, 1, []), (3, 1, [1, 1, 1]), (5, 2, [2, 2, 1]), (2, 85, [2])]
)
def test_units_share_runs_in_order(count, per_run, sizes):
    units = [replace(unit(), tasks=(number,)) for number in range(count)]
    groups = list(into_runs(units, per_run))
    assert [len(group) for group in groups] == sizes
    assert [one for group in groups for one in group] == units
