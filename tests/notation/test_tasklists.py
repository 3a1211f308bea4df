"""The task list of an order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model.errors import UsageError
from bot.notation.tasklists import MOST_TASKS, AllReady, InMilestone, Labelled, Numbers, read_tasks


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


def test_a_name_may_stand_in_quotes():
    assert read_tasks("label:'XaviersX'") == (Labelled("XaviersX"),)
    assert read_tasks('milestone:"X 2"') == (InMilestone("X 2"),)
