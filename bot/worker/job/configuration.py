"""The configuration that a job works by: the file as of the dispatch, and what its batch chose instead."""

from bot.github.port import Reader
from bot.model.config import Config
from bot.model.unit import Unit
from bot.notation.config import read_config


def configuration_of(github: Reader, unit: Unit) -> Config:
    """Raises UsageError if the file cannot be read, and NotFound if it is gone."""
    return read_config(github.file(unit.config_blob), unit.config_blob).with_chosen(unit.chosen)
