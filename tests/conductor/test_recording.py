"""The record of a tick: written beside it, decided from once more, and honest about what differs."""

import json

import pytest

from bot.cli import main
from bot.conductor import recording
from bot.conductor.conduct import _tell
from bot.conductor.recording import keep, record_of
from bot.model.config import Config
from bot.model.report import Outcome
from bot.notation.ticks import read_tick, write_tick
from tests.builders import a_snapshot, a_task, a_tick
from tests.conductor.story import CONFIG, Story


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


def test_every_tick_of_a_story_is_decided_the_same_again(tmp_path, capsys):
    story = Story(CONFIG)
    first = story.ready("needs: nonsense")
    second = story.ready(f"depends on #{first}")
    ticks = [story.tick()]
    story.finish(f"cf-{first}-1", Outcome.BLOCKED)
    ticks.append(story.tick())
    story.world.comment(first, "Take the red one, please")
    ticks += [story.tick(), story.tick()]
    for tick in ticks:
        keep(tick, tmp_path / "kept")

    files = sorted(str(path) for path in (tmp_path / "kept").glob("tick-*.json"))
    assert len(files) == len(ticks)
    assert main(["replay", *files]) == 0
    assert capsys.readouterr().out.count("the same 2 decisions as at") == len(ticks)
    text = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "kept").iterdir())
    assert "red one" not in text
    assert second
    events = [json.loads(line)["event"] for line in (tmp_path / "kept/events.jsonl").read_text().splitlines()]
    assert events == [
        "run.started", "run.blocked", "blocker.created", "reconcile.started", "reconcile.task_requeued", "blocker.answered",
        "run.started",
    ]  # fmt: skip


def test_a_tick_writes_it_where_cf_tick_says(tmp_path, capsys):
    _tell(a_tick(a_snapshot(a_task(1))), {"CF_TICK": str(tmp_path)})
    assert {path.name for path in tmp_path.iterdir()} == {"tick-20260302T120000.000000Z.json", "events.jsonl"}
    assert capsys.readouterr().out


def test_a_folder_that_cannot_be_written_is_said_and_stops_nothing(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    keep(a_tick(a_snapshot()), tmp_path / "file")
    assert "could not be written" in caplog.text


def test_it_holds_what_came_of_the_decisions():
    tick = a_tick(a_snapshot(a_task(1), config=Config(blob="b10b")))
    tick.effects.started[1] = 901
    tick.effects.refused.append("CreateComment: locked")
    kept = read_tick(write_tick(record_of(tick)))
    assert kept.configuration == "b10b"
    assert kept.effects == {"started": {"1": 901}, "skipped": {}, "refused": 1, "writes": 0}
    assert [event["event"] for event in kept.events] == [
        "reconcile.started",
        "reconcile.error",
        "run.started",
    ]


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
