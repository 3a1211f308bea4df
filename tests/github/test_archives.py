"""Artifacts are made by jobs that run foreign code: nothing in an archive may end a tick."""

import io
import random
import zipfile

import pytest

from bot.github.archives import read_member

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def archive(method=zipfile.ZIP_DEFLATED, **files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as content:
        for name, text in files.items():
            content.writestr(name, text)
    return buffer.getvalue()


@pytest.mark.parametrize("method", METHODS)
def test_a_file_is_read_by_its_exact_name_and_within_its_bound(method):
    whole = archive(method, report="12345")
    assert read_member(whole, "report", 5) == b"12345"
    assert read_member(whole, "report", 4) is None
    assert read_member(whole, "Report", 5) is None
    assert read_member(whole, "../report", 5) is None


@pytest.mark.parametrize("method", METHODS)
def test_spoilt_archives_hold_nothing_and_raise_nothing(method):
    whole, dice = archive(method, report='{"key": "cf-1-1"}' * 30), random.Random(method)
    for _ in range(400):
        spoilt = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            spoilt[dice.randrange(len(spoilt))] = dice.randrange(256)
        assert read_member(bytes(spoilt), "report", 10_000) in (None, b'{"key": "cf-1-1"}' * 30)


@pytest.mark.parametrize("text", [b"", b"PK", b"not a zip", b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_archive_holds_nothing(text):
    assert read_member(text, "report", 10_000) is None


def test_a_bomb_that_lies_about_its_size_is_not_unpacked():
    whole = archive(report="x" * 5_000_000)
    assert read_member(whole, "report", 1_000_000) is None
    lying = whole.replace((5_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert lying != whole
    assert read_member(lying, "report", 1_000_000) is None
