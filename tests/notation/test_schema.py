"""Contract: the JSON Schema of the configuration and its readers are of one mind, and the committed schema is theirs."""

import json
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from bot.cli import main
from bot.model.errors import UsageError
from bot.notation.config import config_schema, read_config
from tests.notation.test_config import BAD, KEYS

COMMITTED = Path(__file__).parents[2] / "docs/cf.schema.json"
SCHEMA = config_schema()
GOOD: list[tuple[str, dict[str, object]]] = [(written, good) for _, _, written, good in KEYS]  # type: ignore[misc]
JUDGE = jsonschema_rs.validator_for(SCHEMA)
# What the reader says of values that a schema has no words for; to JSON, 4.0 is the same number as 4.
ONLY_THE_READER = (
    "must be a duration like",
    "stands twice",
    "must be words of letters",
    "must hold words",
    "letters before *",
    "found 1.0",
    "found 2.0",
    "found 4.0",
    "a number too large",
)


def test_the_committed_schema_is_the_one_that_the_readers_give():
    assert json.loads(COMMITTED.read_text(encoding="utf-8")) == SCHEMA, "run: make schema"


def test_cf_validate_prints_it(capsys):
    assert main(["validate", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA


def test_the_schema_is_a_schema():
    jsonschema_rs.meta.validate(SCHEMA)


@pytest.mark.parametrize(
    "text", [written.format(value) for written, good in GOOD for value in good] + ["version: 1"]
)
def test_what_the_reader_takes_the_schema_takes(text):
    read_config(text)
    assert JUDGE.is_valid(yaml.safe_load(text))


@pytest.mark.parametrize("text", [written.format(value) for written, values in BAD for value in values])
def test_what_the_reader_refuses_the_schema_refuses(text):
    with pytest.raises(UsageError) as caught:
        read_config(text)
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        document = None  # no schema is ever asked about it
    if document is not None and not any(words in str(caught.value) for words in ONLY_THE_READER):
        assert not JUDGE.is_valid(document)


@pytest.mark.parametrize("value", ["60", "true", "soon", "''", "' '", "1.5h", "1m1h", "-1m", "null", "[1m]"])
def test_what_is_no_duration_the_schema_refuses_as_well(value):
    assert not JUDGE.is_valid(yaml.safe_load(f"linger: {value}"))


def shown_defaults(schema, path=()):
    for key, child in schema.get("properties", {}).items():
        if "default" in child:
            yield (*path, key), child["default"]
        yield from shown_defaults(child, (*path, key))


def test_each_default_that_an_editor_shows_is_what_an_absent_key_means():
    defaults = list(shown_defaults(SCHEMA))
    assert len(defaults) > 20
    for path, default in defaults:
        document = default
        for key in reversed(path):
            document = {key: document}
        assert read_config(yaml.safe_dump(document)) == read_config(None)
