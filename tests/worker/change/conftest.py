"""A workshop for each test, copied from one that is made once."""

import shutil

import pytest

from tests.worker.change.workshop import Workshop


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    return Workshop.create(tmp_path_factory.mktemp("first"))


@pytest.fixture
def shop(first, tmp_path):
    for git in (first.here, first.there):
        shutil.copytree(git.folder, tmp_path / git.folder.name)
    return Workshop(tmp_path, first.base)
