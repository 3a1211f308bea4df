"""The table of commands: which stand where, how each is written, and from which states it works."""

import pytest

from bot.model.command import COMMANDS, NAMES, STARTING, Command, Scope, options_of, row_of, words_of
from bot.model.status import Status

PLACES = {
    Scope.TASK: "run stop retry publish answer approve deps apply status help",
    Scope.BATCH: "run stop deps apply resume status help",
    Scope.SPEC: "plan help",
    Scope.DASHBOARD: "stop approve deps apply status help",
}


@pytest.mark.parametrize("place", Scope)
def test_each_place_has_its_commands(place):
    assert [row.name for row in COMMANDS if row.place is place] == PLACES[place].split()
    assert sum(len(names.split()) for names in PLACES.values()) == len(COMMANDS)


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: f"{row.name}-{row.place}")
def test_each_row_is_found_by_name_and_place_and_says_what_it_does(row):
    assert [row] == [row_of(row.name, row.place)]
    assert len(row.effect.split()) > 3
    assert row.name in NAMES
    assert all(len(words.split()) > 3 for words in row.refusals.values())


def test_how_they_are_written():
    assert [row.usage("cf") for row in COMMANDS if row.options or row.words] == [
        "/cf run [--engine NAME] [--model NAME] [--timeout 30m] [--dry-run]",
        "/cf stop [--force] whatever follows",
        "/cf stop [--force] whatever follows",
        "/cf stop [--all] [--force] whatever follows",
        "/cf answer TEXT",
        "/cf approve [label:NAME] [milestone:NAME] [except 3 4 ...]",
        "/cf resume [--force]",
    ]
    row = row_of("help", Scope.TASK)
    assert row is not None
    assert row.usage("bot") == "/bot help"
    assert row_of("run", Scope.SPEC) is None


def test_what_each_takes_somewhere():
    assert options_of("stop") == {"force": "", "all": ""}
    assert options_of("status") == {}
    assert (words_of("approve"), words_of("answer"), words_of("status")) == (
        "[label:NAME] [milestone:NAME] [except 3 4 ...]",
        "TEXT",
        "",
    )


def test_from_which_states_a_task_takes_them():
    states = {row.name: row.states for row in COMMANDS if row.states}
    assert states == {
        "run": (None, Status.BACKLOG, Status.READY, Status.FAILED, Status.BLOCKED),
        "retry": (Status.FAILED, Status.BLOCKED, Status.DONE, Status.BACKLOG),
        "publish": (Status.BLOCKED,),
        "approve": (None, Status.BACKLOG),
    }
    for row in COMMANDS:
        assert not set(row.refusals) & set(row.states)


def test_what_can_cost_something_is_named():
    assert set(NAMES) - STARTING == {"stop", "answer", "status", "help"}


def test_an_option_is_there_with_and_without_a_value():
    command = Command("run", options=(("engine", "codex"), ("dry-run", "")))
    assert (command.has("engine"), command.has("dry-run"), command.has("model")) == (True, True, False)
    assert (command.value("engine"), command.value("dry-run"), command.value("model")) == ("codex", "", "")
