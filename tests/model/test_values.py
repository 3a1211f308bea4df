"""Property: values as they are written down: words are their names, and what is not said is nothing, but for these."""

from datetime import timedelta
from enum import Enum
from importlib import import_module
from pkgutil import iter_modules

import msgspec
import pytest
from msgspec.structs import fields

import bot.model
from bot.model import config
from bot.model.batch import BatchState, Strategy
from bot.model.cause import Cause
from bot.model.command import Scope
from bot.model.issue import NeedState
from bot.model.unit import Kind

MODULES = [import_module(f"bot.model.{found.name}") for found in iter_modules(bot.model.__path__)]
KINDS = [
    kind
    for module in MODULES
    for kind in vars(module).values()
    if isinstance(kind, type) and kind.__module__ == module.__name__
]
WORDS = [
    kind for kind in dict.fromkeys(KINDS) if issubclass(kind, Enum) and kind is not NeedState
]  # that one has sentences
VALUES = [kind for kind in KINDS if issubclass(kind, msgspec.Struct)]

OTHER_WORDS = {Scope.SPEC: "specification", Cause.PULLS: "pull_requests"}
SAID = {
    ("BatchRecord", "next_gate"): 1,
    ("BatchRecord", "state"): BatchState.PENDING,
    ("Fixed", "times"): 1,
    ("Gate", "os"): ("ubuntu-latest",),
    ("Gate", "timeout"): timedelta(minutes=10),
    ("Job", "attempt"): 1,
    ("Obstacle", "everybody"): True,
    ("Obstacle", "rounds"): 1,
    ("Order", "strategy"): Strategy.PARALLEL,
    ("Record", "next_attempt"): 1,
    ("Report", "run_attempt"): 1,
    ("Repository", "has_issues"): True,
    ("Repository", "server"): "https://github.com",
    ("Run", "attempt"): 1,
    ("Run", "event"): "workflow_dispatch",
    ("Standing", "kind"): Kind.CODE,
    ("Start", "kind"): Kind.CODE,
    ("Task", "priority"): 5,
    ("Unit", "timeout_minutes"): 60,
    ("Unwritten", "tries"): 1,
}


@pytest.mark.parametrize("kind", WORDS, ids=lambda kind: kind.__name__)
def test_a_word_is_its_name_in_small_letters(kind):
    for word in kind:
        assert word.value.replace("-", "_") == OTHER_WORDS.get(word, word.name.lower())


def default_of(field):
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return None if field.default is msgspec.NODEFAULT else field.default


def test_what_is_not_said_is_nothing_but_for_these():
    """The configuration's defaults are on its page."""
    said = {
        (kind.__name__, field.name): value
        for kind in VALUES
        for field in fields(kind)
        if kind.__module__ != config.__name__ and (value := default_of(field))
    }
    parts = {name: value for name, value in said.items() if isinstance(value, msgspec.Struct)}
    assert all(value == type(value)() for value in parts.values())
    assert {name: value for name, value in said.items() if name not in parts} == SAID


def test_every_value_is_frozen():
    assert all(kind.__struct_config__.frozen for kind in VALUES)
