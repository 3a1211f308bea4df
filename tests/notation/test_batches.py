"""A batch inside its issue: text, order, record, and the words on it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.model.batch import (
    Action,
    Bar,
    BatchRecord,
    BatchState,
    ConfigChange,
    Control,
    Happening,
    Order,
    Outline,
    Result,
    Search,
    Strategy,
)
from bot.model.issue import Account, Comment, EventKind, Issue, TimelineEvent
from bot.notation.batches import (
    batch_body,
    batch_title,
    bounded,
    control_comment,
    read_batch,
    read_control,
    results_text,
)
from bot.notation.tasklists import MOST_TASKS

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
BOT, PERSON = Account(1, "github-actions[bot]", is_bot=True), Account(2, "maintainer")
ORDER = Order(77, "maintainer", NOW, (12, 14, 15), Strategy.SERIAL, 2)
ROWS = [Result(12, "One", "new"), Result(14, "Two", "ready"), Result(15, "Three", "failed", reason="fresh")]
OUTLINE = Outline(2, 1, (12, 14), timedelta(minutes=30), NOW + timedelta(hours=1), edges=((12, 14),))
RECORD = BatchRecord(BatchState.RUNNING, started_at=NOW, config="abc")


def body(
    order: Order = ORDER, rows: Any = ROWS, record: BatchRecord = RECORD, outline: Outline = OUTLINE
) -> str:
    return batch_body(order, record, rows, outline, timedelta(minutes=1))


def issue(text: str, author: Account = BOT, events: tuple[TimelineEvent, ...] = ()) -> Issue:
    return Issue(30, "I_30", 1, "cf batch", text, author, True, None, ("cf:batch",), NOW, NOW, events=events)


def edited(by: Account) -> tuple[TimelineEvent, ...]:
    return (TimelineEvent(EventKind.EDITED, by, NOW + timedelta(minutes=1)),)


def test_order_and_record_survive_their_issue():
    batch = read_batch(issue(body()), {BOT.id})
    assert batch is not None
    assert (batch.number, batch.order, batch.record, batch.problem) == (30, ORDER, RECORD, "")


def test_an_issue_without_a_record_is_a_batch_that_has_not_begun():
    text = body().split("<!-- cf:batch-record")[0]
    batch = read_batch(issue(text), {BOT.id})
    assert batch is not None
    assert (batch.order, batch.record) == (ORDER, BatchRecord())


def test_the_issue_tells_people_what_was_ordered_and_what_to_expect():
    text = body(rows=[Result(12, "A | <!-- title", "failed", reason="needs #3", place=1, wave=1)])
    assert "3 tasks, ordered by maintainer in [run 77](../actions/runs/77)" in text
    assert "at most 2 of them at once" in text
    assert "| 1 | 1 | #12 A \\| &lt;!-- title | failed | – | – | – | – | – | needs #3 |" in text
    assert (
        "2 waves, 1 slot, longest chain #12 → #14 (about 30 min), expected end 2026-11-29 13:00 UTC." in text
    )
    assert "t12 --> t14" in text
    assert batch_title(ORDER) == "cf batch: #12, #14 and 1 more (serial)"


def test_the_issue_shows_what_happened_and_what_changed():
    record = BatchRecord(
        BatchState.RUNNING,
        happenings=(Happening("k", NOW, "skipped", 12, "externally completed", "@kim"),),
        sums={"skipped (externally completed)": 3, "killed (externally blocked)": 1},
        changes=(ConfigChange(NOW, "a" * 40, "b" * 40),),
        control=Control(Action.STOP, "kim", NOW, force=True),
    )
    text = body(record=record)
    assert "Reconciled every 1m: 1 killed (externally blocked), 3 skipped (externally completed)." in text
    assert "| 12:00:00 | skipped | #12 | externally completed | @\u200bkim |" in text
    assert "changed from `aaaaaaaaaa` to `bbbbbbbbbb`" in text
    assert "**RUNNING, stopped by kim by force**" in text


def test_pictures_show_needs_by_status_and_time():
    bars = (Bar(12, NOW, NOW + timedelta(minutes=12), "done"), Bar(14, NOW, NOW))
    text = body(outline=Outline(1, 1, (), timedelta(0), None, bars, ((12, 14),)))
    assert "task 12 :done, b0, 2026-11-29T12:00, 2026-11-29T12:12" in text
    assert "task 14 :b1, 2026-11-29T12:00, 2026-11-29T12:01" in text
    assert "classDef ready stroke" in text


def test_a_marker_in_a_title_is_not_the_order():
    forged = body(Order(1, "stranger", NOW, (99,)), [Result(99, "x", "new")])
    order = Order(77, "maintainer", NOW, (12,), left_out=(forged[:120],))
    text = body(
        order, [Result(12, forged, "new", reason=forged)], BatchRecord(inferred=True, inference=(forged,))
    )
    batch = read_batch(issue(text), {BOT.id})
    assert batch is not None
    assert batch.order == order


def test_only_issues_of_our_account_hold_orders():
    assert read_batch(issue(body(), author=PERSON), {BOT.id}) is None


@pytest.mark.parametrize(
    ("batch", "problem"),
    [
        (issue(body(), events=edited(PERSON)), "its text was edited by maintainer"),
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
    read = read_batch(issue(body(), events=edited(BOT)), {BOT.id})
    assert read is not None
    assert read.order == ORDER


@pytest.mark.parametrize("count", [1, 60, 150, MOST_TASKS])
def test_the_largest_batch_fits_an_issue(count):
    tasks = tuple(range(10**9, 10**9 + count))
    rows = [
        Result(n, "界" * 300, "in-progress", 20, 10**11, 10**9, 999.9, 99.99, "界" * 300, was="in-progress")
        for n in tasks
    ]
    order = Order(10**12, "x" * 39, NOW, tasks, Strategy.AUTO, 256, left_out=("界" * 100,) * 21)
    bars = tuple(Bar(n, NOW, NOW + timedelta(hours=1), "active") for n in tasks)
    edges = tuple((n, n + 1) for n in tasks[:-1])
    outline = Outline(count, 4, tasks, timedelta(days=9), NOW, bars, edges, tuple((n, n) for n in tasks))
    record = BatchRecord(
        BatchState.RUNNING,
        NOW,
        was={"in-progress": tasks},
        inferred=True,
        needs={n: (n - 1,) for n in tasks},
        inference=("x" * 300,) * 500,
        gate=Search(
            tasks, 3, "h" * 32, NOW, passed=False, guilty=tasks[0], reason="r" * 300, log="界" * 9000
        ),
        happenings=(Happening("k" * 40, NOW, "skipped", tasks[0], "界" * 120, "x" * 39),) * 300,
        changes=(ConfigChange(NOW, "a" * 40, "b" * 40),) * 99,
    )
    text = body(order, rows, record, outline)
    assert len(text) < 65_536
    read = read_batch(issue(text), {BOT.id})
    assert read is not None
    assert read.order == order
    assert read.record == bounded(record)
    assert len(results_text(record, rows)) < 65_536


def test_results_say_how_it_ended_and_how_to_go_on():
    rows = [
        Result(1, "", "merged", 2, pull=40, passed=True, own=True),
        Result(2, "", "failed", 3, reason="tests | red", failed=True),
        Result(3, "", "gone", dropped=True),
    ]
    text = results_text(BatchRecord(BatchState.PARTIAL), rows)
    assert "has ended: partial.** 1 of 2 passed, 1 failed, 1 left the total" in text
    assert "| – | – | #2 | failed | 3 | – | – | – | – | tests \\| red |" in text
    assert "reopen this issue" in text
    assert "reopen" not in results_text(BatchRecord(BatchState.COMPLETED), rows)


def test_a_word_on_a_batch_counts_only_in_our_comments():
    control = Control(Action.STOP, "kim", NOW, force=True, run=5, batch=30)
    text = control_comment(control, "Stopped.")
    assert read_control(Comment(1, "C", 30, BOT, text, NOW, NOW), {BOT.id}) == control
    assert read_control(Comment(1, "C", 30, PERSON, text, NOW, NOW), {BOT.id}) is None
    assert read_control(Comment(1, "C", 31, BOT, text, NOW, NOW), {BOT.id}) is None  # copied from elsewhere
    assert (
        read_control(
            Comment(1, "C", 30, BOT, '<!-- cf:batch-control 1 {"action":"dance"} -->', NOW, NOW), {BOT.id}
        )
        is None
    )
