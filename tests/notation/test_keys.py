"""Keys of attempts: read back as written, found whole in a title, and what is named after them."""

import pytest

from bot.notation.keys import Key, branch_of, keys_in, read_key
from bot.notation.reports import report_name, work_name


@pytest.mark.parametrize("text", ["cf-1-1", "cf-12-3", "cf-9999999999-999999"])
def test_a_key_is_read_back_as_written(text):
    key = read_key(text)
    assert key is not None
    assert str(key) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cf-0-1",
        "cf-1-0",
        "cf-01-1",
        "cf-1",
        "cf-1-1-1",
        "CF-1-1",
        "cf-1-1\n",
        " cf-1-1",
        "cf-١-1",
        "cf--1-1",
        "xcf-1-1",
        "cf-12345678901-1",
    ],
)
def test_anything_else_is_no_key(text):
    assert read_key(text) is None


def test_keys_of_a_run_are_found_in_its_title_in_order_and_whole():
    assert keys_in("cf worker cf-12-2 cf-1-1") == (Key(12, 2), Key(1, 1))
    assert keys_in("cf-1-11, cf-1-1x; acf-1-1 cf-1-1-2 (cf-3-4)") == (Key(1, 11), Key(3, 4))
    assert keys_in("") == ()


def test_branches_and_artifacts_are_named_after_the_key():
    key = Key(12, 3)
    assert (branch_of(key), branch_of(key, fresh=True)) == ("cf/12", "cf/12-3")
    assert (work_name(str(key)), report_name(str(key))) == ("cf-work-cf-12-3", "cf-report-cf-12-3")
