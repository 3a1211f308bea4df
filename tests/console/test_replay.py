"""`cf replay`: the same decisions again, or each that differs."""

import json

import pytest

from bot.cli import main
from bot.conductor import recording
from bot.conductor.recording import keep, record_of
from bot.notation.ticks import write_tick
from tests.builders import a_snapshot, a_task, a_tick


@pytest.fixture
def record(tmp_path):
    """A function that writes a tick's record, changed as JSON, and returns its path."""

    def write(tick, change=lambda document: None):
        document = json.loads(write_tick(record_of(tick)))
        change(document)
        path = tmp_path / "tick.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return str(path)

    return write


def test_other_decisions_are_shown_field_by_field(record, capsys):
    def change(document):
        document["decisions"]["1"]["reason"] = "starts as cf-1-9"
        document["decisions"]["7"] = document["decisions"].pop("2")

    path = record(a_tick(a_snapshot(a_task(1), a_task(2))), change)
    assert main(["replay", path]) == 1
    told = capsys.readouterr().out
    assert "3 of 2 decisions differ" in told
    assert '#1 reason: was "starts as cf-1-9", is "starts as cf-1-1"' in told
    assert "#2: decided about only now" in told
    assert "#7: decided about only then" in told


def test_a_record_says_so_where_the_tick_decided_otherwise(record, capsys, monkeypatch, caplog, tmp_path):
    monkeypatch.setattr(recording, "comparable", iter([{1: "a"}, {1: "b"}] * 2).__next__)
    monkeypatch.setattr(recording, "comparable", lambda plan, seen=[]: {1: seen.append(1) or len(seen)})
    tick = a_tick(a_snapshot(a_task(1)))
    assert main(["replay", record(tick)]) == 1
    assert "the tick decided otherwise about #1" in capsys.readouterr().out
    keep(tick, tmp_path / "kept")
    assert "decides otherwise about #1" in caplog.text


HEAD = '"made_by": "9", "at": "2026-01-01T00:00:00Z", "configuration": "", "decisions": {}'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a readable tickrecord"),
        ("{}", "not a readable tickrecord"),
        (f'{{"version": 2, {HEAD}, "snapshot": {{}}}}', "a record of version 2; this cf reads version 1"),
        (f'{{"version": 1, {HEAD}, "snapshot": {{}}}}', "not a readable snapshot"),
        (f'{{"version": 1, {HEAD}, "snapshot": {{"now": 5}}}}', "not a readable snapshot"),
    ],
)
def test_what_is_no_record_is_named(tmp_path, capsys, text, words):
    path = tmp_path / "tick.json"
    path.write_text(text, encoding="utf-8")
    assert main(["replay", str(path)]) == 2
    assert words in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "none.json")]) == 2


def test_a_field_that_an_older_version_did_not_know_is_at_its_default(record, capsys):
    path = record(a_tick(a_snapshot(a_task(1))), lambda document: document["snapshot"].pop("batches"))
    assert main(["replay", path]) == 0
    assert "the same 1 decisions" in capsys.readouterr().out
