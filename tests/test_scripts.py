"""The scripts that regenerate GitHub's descriptions: patches, stable output, and a `--check` that sees a difference."""

import gzip
import hashlib
import io
import json
import tarfile

import pytest

from bot.model.engine import COMMAND, ENGINES
from scripts import engine_table, slim_openapi
from scripts.graphql_schema import compress
from scripts.npm_package import Source, main


def an_archive(path, member, content):
    with tarfile.open(path, "w:gz") as tar:
        entry = tarfile.TarInfo(f"package/{member}")
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return path


def a_source(content):
    return Source("@octo/thing", "1.0.0", "thing.json", hashlib.sha256(content).hexdigest())


def a_patch(field, required, version="2026-03-10"):
    return {"version": version, "patch": {"properties": {field: None}, "required": required}}


class TestPatches:
    def test_two_removals_do_not_undo_each_other(self):
        """Each of GitHub's patches lists all required names but its own, so the second would ask again for the first's."""
        schema = {
            "properties": {"a": {}, "b": {}, "c": {}},
            "required": ["a", "b", "c"],
            "x-github-breaking-changes": [a_patch("a", ["b", "c"]), a_patch("b", ["a", "c"])],
        }

        assert slim_openapi._patched(schema) == {"properties": {"c": {}}, "required": ["c"]}

    def test_a_name_that_a_patch_adds_is_asked_for(self):
        schema = {
            "properties": {"a": {}},
            "required": ["a"],
            "x-github-breaking-changes": [a_patch("a", ["b"])],
        }

        assert slim_openapi._patched(schema)["required"] == ["b"]

    def test_a_patch_of_a_later_version_is_left_out(self):
        schema = {"properties": {"a": {}}, "required": ["a"]}
        later = [a_patch("a", [], version="2027-01-01")]

        assert slim_openapi._patched(schema | {"x-github-breaking-changes": later}) == schema

    def test_a_list_of_orders_is_carried_out(self):
        orders = [
            {"op": "remove", "path": "/responses/204"},
            {"op": "replace", "path": "/responses/200/description", "value": "new"},
        ]
        operation = {
            "responses": {"200": {"description": "old"}, "204": {}},
            "x-github-breaking-changes": [{"version": "2026-03-10", "patch": orders}],
        }

        assert slim_openapi._patched(operation) == {"responses": {"200": {"description": "new"}}}

    def test_an_order_nobody_foresaw_stops_the_script(self):
        with pytest.raises(SystemExit, match="'move'"):
            slim_openapi._carry_out({"a": 1}, {"op": "move", "path": "/a", "from": "/b"})


def test_examples_and_extensions_go_but_a_field_of_that_name_stays():
    schema = {"example": 1, "x-octokit": {}, "properties": {"example": {"type": "string", "example": "x"}}}

    assert slim_openapi._clean(schema) == {"properties": {"example": {"type": "string"}}}


def test_the_same_schema_is_compressed_to_the_same_bytes():
    assert compress(b"type A") == compress(b"type A")
    assert gzip.decompress(compress(b"type A")) == b"type A"


class TestCommand:
    @pytest.fixture
    def content(self):
        return json.dumps({"a": 1}).encode()

    @pytest.fixture
    def run(self, tmp_path, content, monkeypatch):
        archive = an_archive(tmp_path / "thing.tgz", "thing.json", content)
        target = tmp_path / "out" / "thing"

        def run(*arguments, source=None):
            monkeypatch.setattr("sys.argv", ["script", "--archive", str(archive), *arguments])
            return main(source or a_source(content), target, bytes.upper, "about")

        return run

    def test_it_writes_and_then_agrees(self, run, tmp_path):
        assert run() == 0
        assert run("--check") == 0
        assert (tmp_path / "out" / "thing").read_bytes() == b'{"A": 1}'

    def test_check_sees_a_difference_and_changes_nothing(self, run, tmp_path):
        run()
        (tmp_path / "out" / "thing").write_bytes(b"edited by hand")

        assert run("--check") == 1
        assert (tmp_path / "out" / "thing").read_bytes() == b"edited by hand"

    def test_a_package_with_another_content_is_refused(self, run):
        with pytest.raises(SystemExit, match="sha256"):
            run(source=a_source(b"something else"))


def test_the_page_about_engines_shows_what_the_recordings_say():
    text = engine_table.PAGE.read_text(encoding="utf-8")

    assert engine_table.page(text) == text
    assert {line.split("`")[1] for line in engine_table.table().splitlines()[2:]} == set(ENGINES) - {COMMAND}
