"""The record of a tick: written beside it, decided from once more, and honest about what differs."""

import json

from bot.cli import main
from bot.conductor.conduct import _tell
from bot.conductor.recording import keep, record_of
from bot.model.config import Config
from bot.model.report import Outcome
from bot.notation.ticks import read_tick, write_tick
from tests.builders import a_snapshot, a_task, a_tick
from tests.conductor.story import CONFIG, Story


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
