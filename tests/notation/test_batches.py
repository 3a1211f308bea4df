"""The task list, the options, and the order inside a batch issue."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model.batch import Order, Result, Strategy
from bot.model.errors import UsageError
from bot.model.issue import Account, Event, EventKind, Issue
from bot.notation.batches import (
    MOST_TASKS,
    AllReady,
    InMilestone,
    Labelled,
    Numbers,
    Row,
    batch_body,
    batch_title,
    beyond_defaults,
    read_batch,
    read_options,
    read_tasks,
    results_text,
)

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
BOT, PERSON = Account(1, "github-actions[bot]", is_bot=True), Account(2, "maintainer")
ORDER = Order(77, "maintainer", NOW, (12, 14, 15), Strategy.SERIAL, 2)
ROWS = [Row(12, "One", "new"), Row(14, "Two", "ready"), Row(15, "Three", "failed", "fresh")]


def issue(body: str, author: Account = BOT, events: tuple[Event, ...] = ()) -> Issue:
    return Issue(30, "I_30", 1, "cf batch", body, author, True, None, ("cf:batch",), NOW, NOW, events=events)


def edited(by: Account) -> tuple[Event, ...]:
    return (Event(EventKind.EDITED, by, NOW + timedelta(minutes=1)),)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("12", [Numbers((12,))]),
        ("12 14-16 #20", [Numbers((12,)), Numbers((14, 15, 16)), Numbers((20,))]),
        ("#12-#13,\n14 , ready", [Numbers((12, 13)), Numbers((14,)), AllReady()]),
        ("7-7 READY", [Numbers((7,)), AllReady()]),
        ("label:bug", [Labelled("bug")]),
        ("label:area:web,12", [Labelled("area:web"), Numbers((12,))]),
        ('Label:"good first issue" 3', [Labelled("good first issue"), Numbers((3,))]),
        ("label:'two, words'", [Labelled("two, words")]),
        ("milestone:v2", [InMilestone("v2")]),
    ],
)
def test_a_task_list_is_read_in_the_order_written(text, terms):
    assert list(read_tasks(text)) == terms


@pytest.mark.parametrize("text", ["", " \n", ",,"])
def test_an_empty_list_is_said_to_be_empty(text):
    with pytest.raises(UsageError, match="the list is empty"):
        read_tasks(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0", "`0` is neither"),
        ("12a", "`12a` is neither"),
        ("-3", "`-3` is neither"),
        ("1.5", "`1.5` is neither"),
        ("٣", "is neither"),
        ("9-3", "`9-3` runs backwards; write 3-9"),
        (f"1-{MOST_TASKS + 1}", f"names {MOST_TASKS + 1} numbers"),
        ("1-9999999999", "at most"),
        ("label:", "names no label"),
        ('milestone:""', "names no milestone"),
        ("color:red", "`color:red` is neither"),
        ("all", "`all` is neither"),
    ],
)
def test_what_cannot_be_read_is_named(text, words):
    with pytest.raises(UsageError) as refused:
        read_tasks(text)
    assert words in str(refused.value)


def test_every_unreadable_part_is_named_at_once():
    with pytest.raises(UsageError) as refused:
        read_tasks("12 x 9-3 @everybody")
    assert all(part in str(refused.value) for part in ("`x`", "`9-3`", "everybody"))
    assert "@everybody" not in str(refused.value)


def test_too_many_numbers_are_refused():
    half = MOST_TASKS // 2
    read_tasks(f"1-{half} 1001-{1000 + half}")
    with pytest.raises(UsageError, match="at most"):
        read_tasks(f"1-{half} 1001-{1000 + half} 9999")


@given(st.lists(st.integers(1, 10**10 - 1), min_size=1, max_size=MOST_TASKS))
def test_any_numbers_survive(numbers):
    terms = read_tasks(" ".join(map(str, numbers)))
    assert [number for term in terms if isinstance(term, Numbers) for number in term.numbers] == numbers


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text):
    try:
        assert read_tasks(text)
    except UsageError:
        assert (
            not text.strip().isdecimal()
            or not text.isascii()
            or text.strip().startswith("0")
            or len(text.strip()) > 10
        )


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


def test_options_that_ask_for_what_happens_anyhow_are_told_apart():
    assert beyond_defaults({"blocked": "wait", "timeout": "2h"}) == ("timeout=2h",)
    assert beyond_defaults({"blocked": "end"}) == ("blocked=end",)


def test_an_order_survives_its_issue():
    batch = read_batch(issue(batch_body(ORDER, ROWS, ["#13 is closed"])), {BOT.id})
    assert batch is not None
    assert (batch.number, batch.order, batch.problem) == (30, ORDER, "")


def test_the_issue_tells_people_what_was_ordered():
    text = batch_body(ORDER, [Row(12, "A | <!-- title", "failed", "needs #3")], ["#13 is closed"])
    assert "3 tasks, ordered by maintainer in [run 77](../actions/runs/77)" in text
    assert "at most 2 of them at once" in text
    assert "| 1 | #12 A \\| &lt;!-- title | failed | needs #3 |" in text
    assert "- #13 is closed" in text
    assert batch_title(ORDER) == "cf batch: #12, #14 and 1 more (serial)"


def test_a_marker_in_a_title_is_not_the_order():
    forged = batch_body(Order(1, "stranger", NOW, (99,)), [Row(99, "x", "new")], [])
    batch = read_batch(issue(batch_body(ORDER, [Row(12, forged, "new", forged)], [forged])), {BOT.id})
    assert batch is not None
    assert batch.order == ORDER


def test_only_issues_of_our_account_hold_orders():
    assert read_batch(issue(batch_body(ORDER, ROWS, []), author=PERSON), {BOT.id}) is None


@pytest.mark.parametrize(
    ("batch", "problem"),
    [
        (issue(batch_body(ORDER, ROWS, []), events=edited(PERSON)), "its text was edited by maintainer"),
        (issue("nothing"), "its text holds no order"),
        (issue('<!-- cf:batch 1 {"run":"x"} -->'), "its order cannot be read"),
    ],
)
def test_an_order_that_is_not_ours_any_more_says_why(batch, problem):
    read = read_batch(batch, {BOT.id})
    assert read is not None
    assert read.order is None
    assert problem in read.problem


def test_our_own_edit_does_no_harm():
    read = read_batch(issue(batch_body(ORDER, ROWS, []), events=edited(BOT)), {BOT.id})
    assert read is not None
    assert read.order == ORDER


@pytest.mark.parametrize("count", [1, 150, MOST_TASKS])
def test_the_largest_batch_fits_an_issue(count):
    tasks = tuple(range(10**9, 10**9 + count))
    rows = [Row(number, "界" * 300, "in-progress", "needs " + "x" * 300) for number in tasks]
    notes = ["#1234567890 is ready but not approved: " + "界" * 300] * count
    text = batch_body(Order(10**12, "x" * 39, NOW, tasks, Strategy.SERIAL, 999), rows, notes)
    assert len(text) < 65_536
    assert batch_title(Order(1, "x", NOW, tasks))
    assert len(results_text([Result(n, "not run", 20, 10**9, "界" * 300) for n in tasks])) < 65_536


def test_results_count_what_came_through():
    text = results_text(
        [Result(1, "merged", 2, 40), Result(2, "failed", 3, reason="tests | red"), Result(3, "gone")]
    )
    assert "1 of 3 came through" in text
    assert "| #1 | merged | 2 | #40 | – |" in text
    assert "| #2 | failed | 3 | – | tests \\| red |" in text
    assert "| #3 | gone | – | – | – |" in text
