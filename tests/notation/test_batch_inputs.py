"""The inputs of an order, each option, and every mistake named."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model.batch import Order, Strategy
from bot.model.chosen import BatchOverrides
from bot.model.engine import EngineRequest
from bot.model.errors import UsageError
from bot.model.status import Status
from bot.notation.batch_inputs import OPTIONS, read_options, read_order
from bot.notation.codec import dump, load

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def test_options_are_one_a_line():
    text = "\n# how long\n timeout = 2h\r\nmodel=a=b\n\n"
    assert read_options(text) == {"timeout": "2h", "model": "a=b"}
    assert read_options("") == {}


def test_every_wrong_option_line_is_named():
    with pytest.raises(UsageError) as refused:
        read_options("timeout\nspeed=1\nmodel=x\nmodel=y\nengine=\n=3")
    said = str(refused.value)
    assert "line 1, `timeout`, is not key=value" in said
    assert "line 2: there is no option `speed`; the options are blocked, isolation" in said
    assert "line 4: `model` is given twice" in said
    assert "line 5, `engine=`" in said
    assert "line 6, `=3`" in said


def test_an_order_holds_every_option_and_survives_its_issue():
    given_inputs = {
        "strategy": "auto",
        "max_parallel": "2",
        "on_failure": "stop",
        "max_retries": "3",
        "engine": "command",
        "dry_run": "TRUE",
        "options": "max_parallel_by_status=ready=3, FAILED=0\nprovider=openai\nmodel=gpt-5\nstall_timeout=10m\n"
        "stall_action=retry\ntimeout=2h\nisolation=worktree\nmerge=auto\nreconcile=0\nblocked=end",
    }
    order = read_order(given_inputs, 77, "maintainer", NOW)
    assert order == Order(
        77,
        "maintainer",
        NOW,
        (),
        Strategy.AUTO,
        2,
        EngineRequest("command", "openai", "gpt-5"),
        {Status.READY: 3, Status.FAILED: 0},
        stop_on_failure=True,
        max_retries=3,
        chosen=BatchOverrides(
            timedelta(minutes=10), "retry", timedelta(hours=2), "worktree", "auto", timedelta(0)
        ),
        end_blocked=True,
        dry_run=True,
    )
    assert load(dump(order), Order) == order


def test_without_inputs_an_order_asks_for_nothing_special():
    assert read_order({}, 1, "x", NOW) == Order(1, "x", NOW, ())


def test_everything_wrong_is_named_at_once():
    with pytest.raises(UsageError) as refused:
        read_order(
            {
                "strategy": "fast",
                "max_parallel": "0",
                "engine": "cloud",
                "options": "merge=never\ntimeout=7h",
            },
            1,
            "x",
            NOW,
        )
    said = str(refused.value)
    for words in ("strategy must be", "max_parallel must be", "earlier product", "merge must be", "to 5h50m"):
        assert words in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("READY", "must be pairs like READY=3,FAILED=1"),
        ("READY=-1", "whole numbers from 0 to 256, and READY=-1 does not"),
        ("DONE=1", "nothing is started from DONE, only from READY, FAILED, BLOCKED, IN_PROGRESS"),
        ("nothing=1", "must name states, and nothing=1 does not"),
    ],
)
def test_a_limit_by_status_names_the_pair_and_the_valid_names(text, words):
    with pytest.raises(UsageError, match="max_parallel_by_status") as refused:
        read_order({"options": f"max_parallel_by_status={text}"}, 1, "x", NOW)
    assert words in str(refused.value)


@given(
    st.text(max_size=200), st.sampled_from([*OPTIONS, "strategy", "max_parallel", "engine", "max_retries"])
)
def test_no_text_breaks_the_reader(text, name):
    options = f"{name}={text}"
    for inputs in ({name: text}, {"options": options}, {"options": text}):
        with suppress(UsageError):
            assert read_order(inputs, 1, "x", NOW).tasks == ()
