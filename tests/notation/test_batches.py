"""A batch inside its issue: text, order, record, and the words on it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

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
    Trial,
)
from bot.model.chosen import BatchOverrides
from bot.model.engine import EngineRequest
from bot.model.issue import Account, Comment, EventKind, Issue, TimelineEvent
from bot.model.record import Attempt
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.batches import (
    batch_body,
    batch_title,
    bounded,
    control_comment,
    counts,
    counts_words,
    gate_words,
    read_batch,
    read_control,
    results_text,
    state_words,
)
from bot.notation.comments import read_fingerprint
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
    return Issue(30, "I_30", "cf batch", text, author, True, None, ("cf:batch",), NOW, NOW, events=events)


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


PARALLEL = "in parallel, as needs and limits allow"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"strategy": Strategy.SERIAL},
            "one after the other, in this order; what a task needs comes before it.",
        ),
        ({"strategy": Strategy.AUTO}, "as their needs allow, those that a model infers included."),
        ({}, f"{PARALLEL}."),
        ({"max_parallel": 0}, f"{PARALLEL} (at most 0 of them at once)."),
        ({"max_parallel_by_status": {"in-progress": 2}}, f"{PARALLEL} (at most 2 started from IN_PROGRESS)."),
        ({"stop_on_failure": True}, f"{PARALLEL} (nothing fresh after a failure)."),
        ({"max_retries": 1}, f"{PARALLEL} (1 extra round for what failed)."),
        ({"max_retries": 2}, f"{PARALLEL} (2 extra rounds for what failed)."),
        ({"end_blocked": True}, f"{PARALLEL} (open questions do not keep it open)."),
        (
            {
                "engine_request": EngineRequest("codex"),
                "chosen": BatchOverrides(timeout=timedelta(minutes=9)),
            },
            f"{PARALLEL} (engine codex; timeout 9m).",
        ),
        (
            {"max_parallel": 3, "stop_on_failure": True},
            f"{PARALLEL} (at most 3 of them at once; nothing fresh after a failure).",
        ),
    ],
)
def test_the_order_is_told_with_its_limits(fields, words):
    order = replace(Order(0, "kim", NOW, (12,)), **fields)
    assert f"\n\n1 task, ordered by kim at 2026-11-29 12:00:00 UTC: {words}\n\n" in body(order)


@pytest.mark.parametrize(
    ("outline", "words"),
    [
        (Outline(1, 1, (), timedelta(0), None), "1 wave, 1 slot."),
        (Outline(2, 3, (1,), timedelta(minutes=9), None), "2 waves, 3 slots."),
        (
            Outline(2, 0, (1, 2), timedelta(hours=5), None),
            "2 waves, 0 slots, longest chain #1 → #2 (about 300 min).",
        ),
        (
            Outline(1, 1, (), timedelta(0), NOW + timedelta(minutes=5)),
            "1 wave, 1 slot, expected end 2026-11-29 12:05 UTC.",
        ),
        (
            Outline(22, 1, tuple(range(1, 23)), timedelta(seconds=100), None),
            f"22 waves, 1 slot, longest chain {' → '.join(f'#{n}' for n in range(1, 21))} and 2 more (about 2 min).",
        ),
        (
            Outline(20, 1, tuple(range(1, 21)), timedelta(minutes=1), None),
            f"20 waves, 1 slot, longest chain {' → '.join(f'#{n}' for n in range(1, 21))} (about 1 min).",
        ),
    ],
)
def test_the_outlook_is_told(outline, words):
    assert f"\n\n{words}\n\n" in body(outline=outline)
    assert words not in body(outline=outline, record=BatchRecord(BatchState.FAILED))


def test_a_plan_only_and_what_is_to_be_merged_are_told():
    pending, outline = BatchRecord(), Outline(1, 1, (), timedelta(0), None, merges=((70, 1), (71, 2)))
    words = "This is the plan only: nothing starts until somebody writes `/cf run` here."
    dry = Order(77, "maintainer", NOW, (12,), dry_run=True)
    assert words in body(dry, record=pending)
    assert words not in body(record=pending)
    assert words not in body(dry, record=RECORD)
    merges = "Waiting to be merged, in this order: #70 (task #1), #71 (task #2)."
    assert merges in body(outline=outline)
    assert "Waiting to be merged" not in body()
    assert "Waiting to be merged" not in body(outline=outline, record=BatchRecord(BatchState.PARTIAL))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "RUNNING"),
        ({"rounds": 2}, "RUNNING, extra round 2"),
        ({"control": Control(Action.STOP, "kim", NOW)}, "RUNNING, stopped by kim"),
        ({"control": Control(Action.STOP, "", NOW)}, "RUNNING, stopped"),
        ({"control": Control(Action.STOP, "", NOW, force=True)}, "RUNNING, stopped by force"),
        ({"control": Control(Action.RESUME, "kim", NOW)}, "RUNNING"),
    ],
)
def test_the_state_is_told_with_what_was_said_last(fields, words):
    assert state_words(BatchRecord(BatchState.RUNNING, **fields)) == words


def test_members_are_counted():
    rows = [
        Result(1, "", "merged", passed=True, own=True),
        Result(2, "", "done", passed=True),
        Result(3, "", "failed", failed=True),
        Result(4, "", "blocked", blocked=True),
        Result(5, "", "dropped", dropped=True, passed=True),
        Result(6, "", "ready"),
    ]
    assert counts(rows) == {"total": 5, "passed": 2, "skipped": 1, "failed": 1, "blocked": 1, "dropped": 1}
    assert (
        counts_words(rows)
        == "2 of 5 passed (1 skipped: completed elsewhere), 1 failed, 1 blocked, 1 left the total"
    )
    assert counts_words(rows[:1]) == "1 of 1 passed"


def a_trial(run=0):
    return Trial(Attempt(1, Kind.GATE, NOW, Status.READY, "", run=run), 2)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"passed": True}, "Batch gate: passed for #1, #2 together."),
        ({}, "Batch gate: #1, #2 are joined and proven together."),
        ({"trials": (a_trial(),)}, "Batch gate: #1, #2 are joined and proven together."),
        (
            {"trials": (a_trial(5),)},
            "Batch gate: #1, #2 are joined and proven together in [run 5](../actions/runs/5).",
        ),
        (
            {"trials": (a_trial(5), a_trial())},
            "Batch gate: #1, #2 are joined and proven together, looking for the one to blame, trial 2.",
        ),
        ({"passed": False, "reason": "no luck"}, "Batch gate: **not passed**. no luck"),
        (
            {"passed": False, "reason": "it fails", "guilty": 2, "log": "1 != 2"},
            "Batch gate: **not passed**. #2 is to blame: it fails\n\n```text\n1 != 2\n```",
        ),
    ],
)
def test_the_gate_is_told(fields, words):
    assert gate_words(Search((1, 2), 0, "h", NOW, **fields)) == words


@pytest.mark.parametrize("passed", [True, None])
def test_of_many_members_twenty_are_named(passed):
    names = ", ".join(f"#{number}" for number in range(1, 21))
    for count, more in ((20, ""), (23, " and 3 more")):
        told = gate_words(Search(tuple(range(1, count + 1)), 0, "h", NOW, passed=passed))
        assert f"{names}{more} " in told


def test_a_row_shows_all_that_is_known():
    row = Result(12, "One", "done", 2, 900, 70, 4.4, 0.256, "why", passed=True, own=True, place=1, wave=2)
    assert (
        "| 1 | 2 | #12 One | done | 2 | [900](../actions/runs/900) | #70 | 4 min | $0.26 | why |"
        in body(rows=[row]).splitlines()
    )
    skipped = replace(row, own=False, was="failed")
    text = body(rows=[skipped])
    assert "| #12 One | done, skipped | failed | 2 |" in text
    assert (
        "| place | wave | task | status | was | attempts | run | pull request | time | cost | why |" in text
    )
    assert "| was |" not in body(rows=[row])
    bare = "| – | – | #12 One | new | – | – | – | – | – | – |"
    assert bare in body(rows=[Result(12, "One", "new")])
    assert "| done, skipped |" not in body(rows=[replace(skipped, passed=False)])


def test_what_was_inferred_is_told_of_auto_alone():
    auto = replace(ORDER, strategy=Strategy.AUTO)
    inferred = replace(RECORD, inferred=True, needs={14: (12, 15), 12: (15,)}, inference=("dropped",))
    told = "Inferred needs, for this batch only:\n\n- #12 ← #15\n- #14 ← #12, #15\n- dropped\n\n"
    assert told in body(auto, record=inferred)
    assert "No needs inferred.\n\n" in body(auto, record=replace(RECORD, inferred=True))
    assert "nferred" not in body(auto).partition("<!--")[0].replace("that a model infers", "")
    assert "Inferred needs" not in body(record=inferred)


def test_what_was_left_out_is_told():
    assert "Not part of the batch:\n\n- #3 is closed\n\n" in body(replace(ORDER, left_out=("#3 is closed",)))
    assert "Not part" not in body()


def test_without_an_interval_it_is_reconciled_at_every_tick():
    record = replace(RECORD, happenings=(Happening("k", NOW, "skipped", 12, "dropped"),), sums={"skipped": 1})
    text = batch_body(ORDER, record, ROWS, OUTLINE, timedelta(0))
    assert "Reconciled at every tick: 1 skipped." in text
    assert "| 12:00:00 | skipped | #12 | dropped | – |" in text


@pytest.mark.parametrize(("state", "goes_on"), [
    (BatchState.PARTIAL, True), (BatchState.FAILED, True), (BatchState.CANCELLED, True), (BatchState.COMPLETED, False),
])  # fmt: skip
def test_what_did_not_come_through_can_be_gone_on_with(state, goes_on):
    text = results_text(BatchRecord(state), ROWS)
    assert text.startswith(f"**The batch has ended: {state}.** 0 of 3 passed.")
    assert ("write `/cf resume` here or reopen this issue" in text) is goes_on


def test_the_last_words_name_a_gate_that_did_not_pass():
    red = Search((1,), 0, "h", NOW, passed=False, reason="it fails")
    assert "Batch gate: **not passed**. it fails" in results_text(
        BatchRecord(BatchState.PARTIAL, gate=red), ROWS
    )
    assert "Batch gate" not in results_text(BatchRecord(gate=replace(red, passed=True)), ROWS)
    assert results_text(BatchRecord(), ROWS, "**Cancelled**").startswith("**Cancelled**\n\n| place |")


def test_a_word_on_a_batch_is_recognised_by_the_run_that_gave_it():
    text = control_comment(Control(Action.STOP, "kim", NOW, run=5, batch=30), "Stopped.")
    assert text.startswith("Stopped.\n\n<!--")
    assert read_fingerprint(text) == "batch-stop:5"


def many(count, **fields):
    return [
        replace(Result(number, "t" * 70, "failed", 2, 900, 70, 4.0, 1.0, "r" * 300), **fields)
        for number in range(1, count + 1)
    ]


def test_of_very_many_members_the_essential_columns_are_left_and_the_rest_is_counted():
    lines = results_text(BatchRecord(BatchState.FAILED), many(900)).splitlines()
    assert "| task | status | pull request |" in lines
    assert "| #1 | failed | #70 |" in lines
    assert results_text(BatchRecord(), many(20)).count("| 4 min |") == 20
    endless = results_text(BatchRecord(), many(9_000))
    left = int(endless.splitlines()[-1].split()[0])
    assert endless.endswith(f"\n\n{left} more are not shown.")
    assert endless.count("| failed |") + left == 9_000


def test_pictures_and_titles_go_first_where_room_is_short():
    outline = replace(OUTLINE, bars=(Bar(12, NOW, NOW),) * 80, edges=tuple((n, n + 1) for n in range(1, 80)))

    def told(count):
        text = body(rows=many(count), outline=outline)
        return "```mermaid" in text, "#1 ttt" in text, "| place |" in text

    assert list(dict.fromkeys(told(count) for count in range(1, 900, 25))) == [
        (True, True, True),
        (True, False, True),
        (False, False, True),
        (False, False, False),
    ]


def test_a_record_keeps_as_much_as_is_said():
    record = BatchRecord(
        happenings=tuple(Happening(f"k{n}", NOW, "skipped", n, "r" * 500) for n in range(300)),
        changes=tuple(ConfigChange(NOW, f"{n}", "b") for n in range(99)),
        inference=("n" * 500,) * 500,
        gate=Search((1,), 0, "h", NOW, reason="r" * 500, log=f"{'l' * 9_000}end"),
    )
    kept = bounded(record)
    assert [one.key for one in kept.happenings] == [f"k{n}" for n in range(280, 300)]
    assert {len(one.reason) for one in kept.happenings} == {100}
    assert [one.before for one in kept.changes] == [f"{n}" for n in range(94, 99)]
    assert kept.inference == ("n" * 200,) * 20
    assert kept.gate is not None
    assert (len(kept.gate.reason), len(kept.gate.log), kept.gate.log[-3:]) == (200, 1_500, "end")
