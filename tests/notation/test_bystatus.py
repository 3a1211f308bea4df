"""Limits by what an attempt starts from: a mapping, or the same as text."""

import pytest

from bot.model.status import Status
from bot.notation.bystatus import NotALimit, idle_names, read_by_status


@pytest.mark.parametrize(
    "raw",
    [
        {"READY": 3, "in_progress": 0},
        "READY=3,IN_PROGRESS=0",
        " ready = 3 , In-Progress = 0 ",
    ],
)
def test_a_mapping_and_a_text_say_the_same_in_any_case(raw):
    assert read_by_status(raw) == {Status.READY: 3, Status.IN_PROGRESS: 0}


@pytest.mark.parametrize("raw", [None, {}])
def test_nothing_limits_nothing(raw):
    assert read_by_status(raw) == {}


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (7, "must be a mapping like"),
        ("READY=3,,", "must be pairs like READY=3,FAILED=1, and '' is none"),
        ("=3", "must be pairs like"),
        ({"waiting": 3}, "must name states, and waiting=3 does not: valid names are BACKLOG, READY"),
        ({"READY": True}, "must give whole numbers from 0 to 256, and READY=True does not"),
        ("READY=257", "must give whole numbers from 0 to 256"),
        ("READY=3,ready=1", "must name each status once, and ready stands twice"),
    ],
)
def test_a_wrong_pair_is_named_with_what_would_be_right(raw, words):
    with pytest.raises(NotALimit) as refused:
        read_by_status(raw)
    assert words in str(refused.value)


def test_states_that_nothing_starts_from_are_named():
    assert idle_names(read_by_status("DONE=1,READY=2,MERGED=0")) == ("DONE", "MERGED")
