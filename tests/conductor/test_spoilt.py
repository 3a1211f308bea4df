"""Story: records and dashboards that somebody wrote over: what cannot be read holds its own task at most, and a tick goes on."""

import json

import pytest

from bot.model.report import Outcome, Question
from bot.notation.marker import read_marker, write_marker
from tests.conductor.story import Story

FAR, LONG_AGO, BIG = "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", 10**30


def spoilt(text: str, name: str, path: tuple[str | int, ...], value: object) -> str:
    """The text with another value at this place of its marker."""
    payload = read_marker(name, text)
    assert payload is not None
    place = whole = json.loads(payload)
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return text[: text.index(f"<!-- cf:{name} ")] + write_marker(name, json.dumps(whole))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("records", {"x": ""}),
        ("records", {"-1": ""}),
        ("records", {"9" * 5000: ""}),
        ("records", {"9" * 10: "IC_nothing"}),
        ("finished", {"x": "IC_nothing"}),
        ("comments_since", FAR),
        ("comments_since", LONG_AGO),
    ],
)
def test_a_dashboard_that_was_spoilt_starts_nothing_twice_and_holds_nothing(field, value):
    story = Story()
    first = story.ready()
    story.tick()
    board = next(one for one in story.world.issues.all() if one.title == "cf dashboard")
    story.world.edit_issue(board.number, body=spoilt(board.body, "state", (field,), value))
    second = story.ready()
    story.tick()
    story.tick()
    assert story.starts() == [f"cf-{first}-1", f"cf-{second}-1"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("blocker", "asked_at"), FAR),
        (("blocker", "asked_at"), LONG_AGO),
        (("blocker", "same_as"), BIG),
        (("pull",), BIG),
        (("batch",), BIG),
        (("own_needs",), [BIG, 0, -1]),
        (("attempts", 0, "claimed_at"), FAR),
        (("attempts", 0, "outcome"), None),
    ],
)
def test_a_record_that_was_spoilt_holds_no_other_task(path, value):
    story = Story()
    first = story.ready()
    story.tick()
    story.finish(f"cf-{first}-1", Outcome.BLOCKED, question=Question("Which one?"))
    story.tick()
    status = next(one for one in story.world.comments_of(first) if "<!-- cf:record " in one.body)
    story.world.edit_comment(status.id, spoilt(status.body, "record", path, value))
    second = story.ready()
    story.tick()
    story.tick()
    assert story.starts() == [f"cf-{first}-1", f"cf-{second}-1"]
