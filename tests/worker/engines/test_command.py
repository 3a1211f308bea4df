"""The engine `command`: any command line."""

import pytest
from msgspec.structs import replace

from bot.model.engine import COMMAND
from bot.model.errors import UsageError
from bot.model.report import Outcome
from bot.worker.engines import engine
from bot.worker.engines.facts import Facts
from bot.worker.programs.process import End, Ended
from tests.worker.engines.test_streams import brief


def test_the_command_needs_a_command_line(tmp_path):
    with pytest.raises(UsageError, match=r"engines\.command\.args is empty"):
        engine(COMMAND).call(replace(brief(tmp_path, COMMAND), args=" "))


def test_the_command_says_by_75_that_it_should_be_tried_later():
    assert engine(COMMAND).verdict(Ended(End.EXITED, 75, ""), Facts()).outcome is Outcome.CAPACITY
