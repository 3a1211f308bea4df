"""Events as JSON: flat objects, in a list or one a line."""

import json

from bot.model.event import Event
from bot.notation.events import write_events, write_lines
from tests.builders import NOW

EVENTS = (
    Event("reconcile.started", NOW),
    Event("run.started", NOW, 1, key="cf-1-1", run=901, more={"kind": "code"}),
)


def test_each_line_is_one_flat_object():
    lines = [json.loads(line) for line in write_lines(EVENTS).splitlines()]
    assert lines == json.loads(write_events(EVENTS))
    assert lines[1] == {
        "event": "run.started",
        "at": "2026-03-02T12:00:00Z",
        "task": 1,
        "key": "cf-1-1",
        "run": 901,
        "kind": "code",
    }


def test_without_events_there_is_an_empty_list_and_no_line():
    assert (write_events(()), write_lines(())) == ("[]", "")
