"""What was written before modules moved into rooms and names changed is read as it was then, and written as it was then.

`tests/data/records/before-rooms` holds texts as they were written then. Most come from stories; of each kind one has every field
set (`filled`), one holds values in every place but says nothing else of them (`skeleton`), and one says nothing (`bare`).
`read.json` tells what was read of each then, `names.json` every name of a field in them, with the words it may hold where it
holds one of a few. All of them are facts about the past: what is added later stands beside them, and none is ever made anew.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from bot.cli import main
from bot.github.signatures import SEALED
from bot.model.batch import BatchRecord, Control, Order
from bot.model.config import Config
from bot.model.decision import Decision
from bot.model.issue import Account, Comment, Issue
from bot.model.record import Attempt, Record
from bot.model.report import Question, Report
from bot.model.snapshot import Snapshot
from bot.model.unit import Unit, VerifyLeg
from bot.notation.batches import CONTROL, control_comment, read_batch, read_control
from bot.notation.codec import dump, load
from bot.notation.comments import read_fingerprint, with_fingerprint
from bot.notation.marker import checked, read_marker, signed, write_marker
from bot.notation.overview import ticked
from bot.notation.records import read_record, write_record
from bot.notation.reports import read_report, write_report
from bot.notation.state import State, read_state, write_state
from bot.notation.ticks import TickRecord, read_snapshot, read_tick, write_snapshot, write_tick
from bot.notation.units import read_unit, write_units
from bot.plan import plan
from bot.worker.verify import LegResult
from tests.builders import BOT, a_comment, an_issue

FOLDER = Path(__file__).parents[1] / "data/records/before-rooms"
THEN: Mapping[str, Any] = json.loads((FOLDER / "read.json").read_text(encoding="utf-8"))
GONE = "issue.database_id"  # nobody read it
NAMES: Mapping[str, Sequence[str]] = json.loads((FOLDER / "names.json").read_text(encoding="utf-8"))
TICKS = sorted(FOLDER.glob("tick-*.json"))
OURS = {BOT.id}

# The values whose fields are named from their own beginning, wherever they stand: classes may change their names, these do not.
ROOTS: Mapping[Any, str] = {
    Account: "account",
    Attempt: "attempt",
    BatchRecord: "batch-record",
    Comment: "comment",
    Config: "config",
    Control: "control",
    Decision: "decision",
    Issue: "issue",
    LegResult: "leg-result",
    Order: "order",
    Question: "question",
    Record: "record",
    Report: "report",
    Snapshot: "snapshot",
    State: "state",
    TickRecord: "tick",
    Unit: "unit",
}


def text_of(name: str) -> str:
    return (FOLDER / name).read_bytes().decode("utf-8")


def before(text: str, marker: str) -> str:
    """What people read of a text, up to its marker."""
    head, found, _ = text.rpartition(f"<!-- cf:{marker} 1 ")
    assert found
    return head


def plain(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


def named(name: str, number: str, text: str) -> int:
    """The number of the issue that a marker is about."""
    payload = read_marker(name, text)
    assert payload is not None
    found: int = json.loads(payload)[number]
    return found


# ---------------------------------------------------------------------- each kind of text: its value, and its text again


def record_in(text: str) -> Record | None:
    task = named("record", "task", text)
    return read_record(a_comment(text, by=BOT, issue=task), task, OURS)


def record_again(record: Record, text: str) -> str:
    return before(text, "record") + write_record(record)


def state_in(text: str) -> State | None:
    return read_state(an_issue(9, author=BOT, body=text), OURS)


def state_again(state: State, text: str) -> str:
    return before(text, "state") + write_state(state)


def batch_in(text: str) -> list[Order | BatchRecord]:
    batch = read_batch(an_issue(30, author=BOT, body=text), OURS)
    assert batch is not None
    assert batch.problem == ""
    assert batch.order is not None
    return [batch.order, batch.record]


def batch_again(batch: Sequence[Order | BatchRecord], text: str) -> str:
    hidden = zip(("batch", "batch-record"), batch, strict=True)
    return before(text, "batch") + "\n\n".join(write_marker(name, dump(value)) for name, value in hidden)


def control_in(text: str) -> Control | None:
    return read_control(a_comment(text, by=BOT, issue=named(CONTROL, "batch", text)), OURS)


def control_again(control: Control, text: str) -> str:
    return control_comment(control, before(text, CONTROL).removesuffix("\n\n"))


def units_in(text: str) -> list[Unit]:
    """Each as its job is given it: one entry in the variable CF_UNIT."""
    return [read_unit(json.dumps(entry)) for entry in json.loads(text)]


READERS: Mapping[str, tuple[Callable[[str], Any], Callable[[Any, str], str]]] = {
    "record": (record_in, record_again),
    "dashboard": (state_in, state_again),
    "batch": (batch_in, batch_again),
    "control": (control_in, control_again),
    "units": (units_in, lambda units, _: write_units(units)),
    "report": (read_report, lambda report, _: write_report(report)),
    "leg": (lambda text: load(text, LegResult), lambda result, _: dump(result)),
}


def value_in(name: str) -> Any:
    read, _ = READERS[name.partition("-")[0]]
    value = read(text_of(name))
    assert value is not None
    return value


# ---------------------------------------------------------------------- comparing


def without_gone(value: Any) -> Any:
    """JSON without the field that nobody read."""
    if isinstance(value, dict):
        return {name: without_gone(one) for name, one in value.items() if name != GONE.split(".")[1]}
    return [without_gone(one) for one in value] if isinstance(value, list) else value


def whole(value: Any) -> Any:
    """A value as plain JSON, with what is at its default, too."""
    if isinstance(value, Struct):
        parts = {info.encode_name: whole(getattr(value, info.name)) for info in fields(value)}
        return list(parts.values()) if value.__struct_config__.array_like else parts
    if isinstance(value, Mapping):
        return {str(key): whole(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [whole(one) for one in value]
    return msgspec.to_builtins(value)


def as_then(now: Any, then: Any) -> Any:
    """What there is now, without the fields that there were not then."""
    if isinstance(now, dict) and isinstance(then, dict):
        return {name: as_then(one, then[name]) for name, one in now.items() if name in then}
    if isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        return [as_then(one, other) for one, other in zip(now, then, strict=True)]
    return now


def default_of(info: FieldInfo) -> Any:
    return info.default_factory() if info.default_factory is not NODEFAULT else info.default


def names_in(hint: Any, at: str) -> Iterator[tuple[str, list[str]]]:
    """The names of all fields within a type as they are written, and the words of those that hold one of a few."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        yield from names_in(parts[0], at)
    elif origin in (Union, UnionType):
        for part in parts:
            yield from names_in(part, at)
    elif origin is not None and issubclass(origin, Mapping):
        yield from names_in(parts[0], f"{at}{{key}}")
        yield from names_in(parts[1], f"{at}{{}}")
    elif origin is not None:
        for part in parts:
            yield from names_in(part, f"{at}[]")
    elif isinstance(hint, type) and issubclass(hint, Struct):
        if ROOTS.get(hint, at) == at:
            hints = get_type_hints(hint, include_extras=True)
            for info in fields(hint):
                yield f"{at}.{info.encode_name}", []
                yield from names_in(hints[info.name], f"{at}.{info.encode_name}")
    elif isinstance(hint, type) and issubclass(hint, Enum):
        yield at, [str(word.value) for word in hint]


def set_in(value: Any, at: str = "") -> Iterator[str]:
    """The names of the fields that are not at their default somewhere in a value."""
    if isinstance(value, Struct):
        at = ROOTS.get(type(value), at)
        for info in fields(value):
            one = getattr(value, info.name)
            if one != default_of(info):
                yield f"{at}.{info.encode_name}"
            yield from set_in(one, f"{at}.{info.encode_name}")
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from set_in(key, f"{at}{{key}}")
            yield from set_in(one, f"{at}{{}}")
    elif isinstance(value, tuple | list | frozenset):
        for one in value:
            yield from set_in(one, f"{at}[]")


# ---------------------------------------------------------------------- the promises


def test_every_text_of_then_is_looked_at():
    """A file that no test reads would prove nothing."""
    kinds = ("read", "notice", "signed")
    told = {"read.json", "names.json", *(name for kind in kinds for name in THEN[kind])}
    assert {path.name for path in FOLDER.iterdir()} == told | {path.name for path in TICKS}
    assert {*THEN["tick"], "tick-filled.json"} == {path.name for path in TICKS}


@pytest.mark.parametrize("name", THEN["read"])
def test_what_was_written_is_read_as_it_was_then(name):
    then = THEN["read"][name]
    assert as_then(plain(value_in(name)), then) == then


@pytest.mark.parametrize("name", THEN["whole"])
def test_what_was_left_out_means_what_it_meant_then(name):
    then = THEN["whole"][name]
    assert as_then(whole(value_in(name)), then) == then


@pytest.mark.parametrize("name", THEN["read"])
def test_what_was_read_is_written_as_it_was_then(name):
    text, (_, again) = text_of(name), READERS[name.partition("-")[0]]
    written = again(value_in(name), text)
    if name.startswith(("units", "leg")):  # every field is written, so later ones stand beside those of then
        assert as_then(json.loads(written), json.loads(text)) == json.loads(text)
    else:
        assert written == text


@pytest.mark.parametrize("name", [name for name in THEN["read"] if name.startswith("units")])
def test_each_leg_of_a_unit_is_read_as_its_own_job_reads_it(name):
    for entry, unit in zip(json.loads(text_of(name)), value_in(name), strict=True):
        assert tuple(load(json.dumps(leg), VerifyLeg) for leg in entry["verify"]) == unit.verify


@pytest.mark.parametrize("name", THEN["ticked"])
def test_ticked_boxes_are_the_orders_that_they_were(name):
    assert list(ticked(text_of(name))) == THEN["ticked"][name]


@pytest.mark.parametrize("name", THEN["notice"])
def test_a_notice_is_recognised(name):
    text = text_of(name)
    assert read_fingerprint(text) == THEN["notice"][name]
    assert with_fingerprint(before(text, "notice").removesuffix("\n\n"), THEN["notice"][name]) == text


@pytest.mark.parametrize("name", THEN["signed"])
def test_a_signature_holds(name):
    text, unsigned = text_of(name), text_of(THEN["signed"][name])
    assert checked(text, (THEN["key"],), SEALED) == unsigned
    assert signed(unsigned, THEN["key"], SEALED) == text


@pytest.mark.parametrize("path", TICKS, ids=lambda path: path.stem)
def test_the_record_of_a_tick_is_read_and_written_as_it_was_then(path):
    text, record = path.read_bytes(), read_tick(path.read_bytes())
    then = json.loads(text)
    assert as_then(json.loads(write_tick(record)), then) == then
    snapshot = plain(write_snapshot(read_snapshot(record.snapshot)))
    assert as_then(snapshot, then["snapshot"]) == without_gone(then["snapshot"])


@pytest.mark.parametrize("name", THEN["tick"])
def test_a_tick_decides_as_it_did_then(name, capsys):
    """Where a rule has come to decide otherwise, or says so in other words, the record goes: it has served its time."""
    then = THEN["tick"][name]
    assert main(["replay", str(FOLDER / name)]) == 0
    assert f"{name}: the same {then['decided']} decisions as at " in capsys.readouterr().out
    steps = {
        str(step.number): {
            "record": plain(step.record),
            "reason": step.reason,
            "start": plain(step.start),
            "notices": [notice.fingerprint for notice in step.notices],
            "close": step.close,
            "reopen": step.reopen,
        }
        for step in plan(read_snapshot(read_tick((FOLDER / name).read_bytes()).snapshot)).batches
    }
    assert as_then(steps, then["batches"]) == then["batches"]


def test_among_the_ticks_are_settings_of_a_repository_and_a_standstill():
    """Both decide something there, so a record that loses them is not replayed the same."""
    snapshots = {path.stem: read_tick(path.read_bytes()).snapshot for path in TICKS}
    assert snapshots["tick-settings"]["around"]["variables"]["CF_ENGINE"] == "codex"
    assert snapshots["tick-settings"]["around"]["secrets"]["GEMINI_API_KEY"] is False
    assert "paused by the label" in snapshots["tick-standstill"]["standstill"]


def test_every_name_and_every_word_of_then_is_one_now():
    now: dict[str, list[str]] = {}
    for kind, root in ROOTS.items():
        for name, words in names_in(kind, root):
            now[name] = words or now.get(name, [])
    assert {name: words for name, words in NAMES.items() if not {*words} <= {*now.get(name, [])}} == {}
    assert sorted(NAMES.keys() - now.keys()) == [GONE]


def test_the_texts_together_set_every_field_that_there_was():
    """A field that is read under another name than it was written under is at its default here, and missed."""
    values = [value_in(name) for name in THEN["read"]]
    for path in TICKS:
        record = read_tick(path.read_bytes())
        values += [record, read_snapshot(record.snapshot)]
    # Decisions are compared by name in replays, and read by nobody.
    settable = {
        name for name in NAMES if name != GONE and not name.startswith("decision.") and name[-1] not in "}]"
    }
    assert sorted(settable - {*set_in(values)}) == []
