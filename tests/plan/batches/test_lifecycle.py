"""What becomes of a batch: each case with the step's reason, its state, and what is told."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from bot.model.advice import Proposal
from bot.model.batch import (
    Action,
    Bar,
    BatchRecord,
    BatchState,
    ConfigChange,
    Control,
    Happening,
    Outline,
    Search,
    Strategy,
)
from bot.model.chosen import BatchOverrides
from bot.model.config import Config
from bot.model.decision import Notice, OpenIssue
from bot.model.issue import EventKind, StateReason
from bot.model.record import Blocker
from bot.model.report import Outcome, Question
from bot.model.snapshot import InferNeeds, Permission
from bot.model.status import Status
from bot.notation.comments import with_fingerprint
from bot.plan import plan
from bot.plan.batches.lifecycle import happened_to, outline_of, with_inferred
from bot.plan.batches.member_state import MemberStates
from bot.plan.board import Board
from bot.plan.graph.graph import Graph
from tests.builders import (
    BOT,
    NOW,
    STRANGER,
    a_comment,
    a_report,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_artifact,
    an_attempt,
    happened,
    jobs,
    labelled,
)
from tests.plan.batches.ordering import BATCH, CONFIG, ORDER, RECORD, a_batch, a_member, ordered, passed, step

PLAIN = replace(CONFIG, gates=())
ASKED = Blocker("q", Question("Which?"), ago(minutes=5))
RUNNING, PENDING, CANCELLED = BatchState.RUNNING, BatchState.PENDING, BatchState.CANCELLED


def failed(number, **record):
    attempts = (an_attempt(1, Outcome.FAILED, reason="1 != 2"),)
    return a_member(number, Status.FAILED, **({"attempts": attempts, "next_attempt": 2} | record))


def running(number, **fields):
    return a_running(number, run=900 + number, record_fields={"batch": BATCH}, **fields)


def ran(*tasks, **fields):
    """The step without a gate; what runs has its run."""
    runs = tuple(a_run(900 + task.number, f"cf-{task.number}-1") for task in tasks if task.record.live)
    return step(*tasks, runs=runs, **({"config": PLAIN} | fields))


def completed(number):
    return a_member(number, Status.DONE, is_open=False, state_reason=StateReason.COMPLETED)


@pytest.mark.parametrize(
    ("one", "two", "reason", "state"),
    [
        (a_member(1), completed(2), "members run or may start", RUNNING),
        (running(1), completed(2), "members run or may start", RUNNING),
        (passed(1), completed(2), "waits for merges", RUNNING),
        (a_member(1, Status.BLOCKED, blocker=ASKED), completed(2), "waits for answers", RUNNING),
        (a_member(1, Status.BLOCKED, blocker=ASKED), passed(2), "waits for answers", RUNNING),
        (completed(1), completed(2), "ended: completed", BatchState.COMPLETED),
        (completed(1), failed(2), "ended: partial", BatchState.PARTIAL),
        (failed(1), failed(2), "ended: failed", BatchState.FAILED),
        (a_member(1, needs=(2,)), failed(2), "ended: failed", BatchState.FAILED),
        (a_member(1, Status.BACKLOG), a_member(2, Status.BACKLOG), "ended: cancelled", CANCELLED),
    ],
)
def test_a_batch_goes_on_as_long_as_anything_may_come_of_a_member(one, two, reason, state):
    told = ran(one, two)
    ended = state is not RUNNING
    assert (told.reason, told.record.state) == (reason, state)
    assert (told.record.ended_at, told.close, bool(told.notices)) == (NOW if ended else None, ended, ended)
    assert (told.due, told.start, told.opens, told.reopen) == (None, None, (), False)


def test_it_begins_once():
    first = ran(a_member(1), a_member(2), batch=a_batch(record=BatchRecord()))
    assert (first.record.state, first.record.started_at) == (RUNNING, NOW)
    assert ran(a_member(1), a_member(2)).record.started_at == RECORD.started_at


def test_a_member_that_is_gone_or_dropped_leaves_the_total():
    dropped = a_member(2, None, is_open=False, state_reason=StateReason.NOT_PLANNED)
    assert ran(completed(1), dropped).reason == "ended: completed"
    assert ran(completed(1)).reason == "ended: completed"
    assert ran(dropped).reason == "ended: cancelled"


def test_with_end_blocked_an_open_question_does_not_keep_it_open():
    asks = a_member(1, Status.BLOCKED, blocker=ASKED)
    batch = ordered(1, 2, end_blocked=True)
    # Without a gate there is nothing to be settled, and the question keeps it.
    assert ran(asks, completed(2), batch=batch).reason == "ended: partial"
    assert ran(asks, a_member(2, Status.BLOCKED, blocker=ASKED), batch=batch).reason == "ended: failed"
    assert ran(asks, passed(2), batch=batch).reason == "waits for merges"


class TestExtraRounds:
    BATCH = ordered(1, 2, max_retries=2)

    def test_the_round_begins_once_the_failure_is_written(self):
        fresh = failed(2, status=Status.READY, status_at=ago(minutes=30))
        about = step(completed(1), fresh, batch=self.BATCH, config=PLAIN)
        assert (about.reason, about.record.rounds) == ("members run or may start", 0)
        begun = ran(completed(1), failed(2), batch=self.BATCH)
        assert (begun.reason, begun.due) == ("extra round 1 begins", NOW)
        assert (begun.record.rounds, begun.record.round_at) == (1, NOW)

    def test_as_often_as_it_was_ordered(self):
        second = replace(self.BATCH, record=replace(RECORD, rounds=1, round_at=ago(hours=1)))
        again = ran(completed(1), failed(2, round=1), batch=second)
        assert (again.reason, again.record.rounds) == ("extra round 2 begins", 2)
        last = replace(self.BATCH, record=replace(RECORD, rounds=2, round_at=ago(hours=1)))
        assert ran(completed(1), failed(2, round=2), batch=last).reason == "ended: partial"

    def test_not_while_another_member_runs(self):
        assert ran(running(1), failed(2), batch=self.BATCH).reason == "members run or may start"

    def test_a_failure_that_this_tick_finds_is_written_first(self):
        last = a_running(2, run=902, record_fields={"batch": BATCH, "strikes": 2})
        told = step(
            completed(1),
            last,
            batch=self.BATCH,
            config=PLAIN,
            runs=(a_run(902, "cf-2-1", conclusion="success"),),
            artifacts=(an_artifact("cf-2-1", run=902),),
            reports={50: a_report(Outcome.FAILED, "cf-2-1")},
            jobs={902: jobs("#2", agent="success", verify="failure", publish="success")},
        )
        assert (told.reason, told.due, told.record.rounds) == ("an extra round is about to begin", NOW, 0)


class TestOtherEnds:
    def test_an_order_that_is_not_ours_any_more_ends_it(self):
        broken = replace(a_batch(), order=None, problem="its text was edited by stan")
        told = ran(a_member(1), batch=broken)
        assert (told.reason, told.record.state, told.record.ended_at) == (broken.problem, CANCELLED, NOW)
        assert told.close
        assert told.notices[0].text.startswith(
            "**Stopped**: its text was edited by stan. Nothing more starts"
        )
        earlier = replace(
            broken, record=replace(RECORD, ended_at=ago(hours=1)), issue=replace(broken.issue, is_open=False)
        )
        again = ran(a_member(1), batch=earlier)
        assert (again.record.ended_at, again.close) == (ago(hours=1), False)

    def test_stopped_it_waits_for_its_own_members_that_run(self):
        stopped = a_batch(record=replace(RECORD, control=Control(Action.STOP, "wendy", ago(minutes=3))))
        mine = ran(running(1), a_member(2), batch=stopped)
        assert (mine.reason, mine.record.state) == ("stopped; what runs finishes", RUNNING)
        others = ran(a_running(1, run=901), a_member(2), batch=stopped)
        assert (others.reason, others.record.state, others.close) == ("ended: cancelled", CANCELLED, True)

    def test_a_member_of_an_earlier_batch_cancels_it(self):
        other = replace(a_batch(), issue=replace(a_batch().issue, number=80, created_at=ago(hours=3)))
        snapshot = a_snapshot(a_member(1), a_member(2), batches=(other, ordered(2, 3)))
        first, second = plan(snapshot).batches
        assert first.reason == "members run or may start"
        assert (second.reason, second.record.state) == ("ended: cancelled", CANCELLED)
        assert second.notices[0].text.startswith(
            "**Cancelled**: #2 is a member of #80. A task belongs to one batch"
        )

    def test_a_dry_run_only_shows_the_plan(self):
        told = ran(a_member(1), a_member(2), batch=replace(ordered(1, 2, dry_run=True), record=BatchRecord()))
        assert (told.reason, told.record.state, told.record.started_at) == (
            "planned only; nothing starts",
            PENDING,
            None,
        )
        assert "somebody writes `/cf run` here" in told.body

    def test_a_reopening_by_somebody_who_may_not_is_turned_down(self):
        over = replace(RECORD, state=BatchState.COMPLETED, ended_at=ago(hours=1))
        opened = a_batch(record=over, events=(happened(EventKind.REOPENED, STRANGER, ago(minutes=1)),))
        told = ran(a_member(1), batch=opened)
        assert (told.reason, told.close) == ("stan, who may not order work here, reopened it", True)
        assert [notice.text for notice in told.notices] == [
            f"This batch stays closed: {told.reason}.\n\nFor @wendy, who ordered this."
        ]
        asked = ran(a_member(1), batch=opened, permissions={})
        assert (asked.reason, asked.wants) == ("who reopened it is being looked up", {Permission("stan")})

    def test_the_end_is_said_once_since_it_was_reopened_last(self):
        over = replace(RECORD, state=BatchState.FAILED, ended_at=ago(hours=1))
        told = ran(failed(1), failed(2), batch=a_batch(record=over))
        assert (told.reason, told.close) == ("ended: failed", True)
        (notice,) = told.notices
        assert notice.fingerprint == "batch-end:90"
        assert notice.text.startswith("**The batch has ended: failed.** 0 of 2 passed, 2 failed.")
        said = a_comment(with_fingerprint("x", "batch-end:90"), by=BOT, issue=BATCH)
        for comment, times in ((said, 0), (replace(said, author=STRANGER), 1), (replace(said, body="x"), 1)):
            batch = replace(a_batch(record=over, is_open=False), comments=(comment,))
            repeated = ran(failed(1), failed(2), batch=batch)
            assert (len(repeated.notices), repeated.close) == (times, False)
        events = tuple(happened(EventKind.REOPENED, at=ago(days=day)) for day in (3, 1, 2))
        again = replace(
            a_batch(record=replace(over, control=Control(Action.RESUME, "wendy", NOW)), events=events),
            comments=(said,),
        )
        (notice,) = ran(failed(1), failed(2), batch=again).notices
        assert notice.fingerprint == "batch-end:90:20260301T120000"


class TestInference:
    BATCH = replace(ordered(2, 1, 7, strategy=Strategy.AUTO), record=BatchRecord())

    def test_the_members_that_are_there_are_asked_about_first(self):
        told = ran(a_member(1), a_member(2), batch=self.BATCH)
        assert (told.reason, told.wants) == ("needs are being inferred", {InferNeeds((1, 2))})
        assert (told.record.inferred, told.record.state) == (False, PENDING)

    def test_the_answer_is_kept_and_the_next_tick_begins(self):
        known = {(1, 2): Proposal({1: (2,)})}
        told = ran(a_member(1), a_member(2), batch=self.BATCH, proposals=known)
        assert (told.reason, told.due, told.record.needs) == ("needs are inferred", NOW, {1: (2,)})
        assert (told.record.inferred, told.record.state) == (True, PENDING)

    def test_without_members_nothing_is_asked(self):
        assert ran(a_task(3), batch=self.BATCH).record.inferred

    def test_needs_are_merged_with_those_that_exist(self):
        graph = Graph({1: [2], 2: [], 3: []})
        proposal = Proposal({3: (1, 2), 2: (1,)})
        merged = with_inferred(BatchRecord(), (1, 2, 3), proposal, graph)
        assert (merged.inferred, merged.serial, merged.needs) == (True, False, {3: (1, 2)})
        assert [note.partition(" was ")[0] for note in merged.inference] == ["#2 ← #1"]

    def test_without_an_answer_they_go_one_by_one(self):
        told = with_inferred(BatchRecord(), (1, 2), Proposal(problem="p" * 300), Graph({}))
        assert (told.inferred, told.serial, told.needs) == (True, True, {})
        (note,) = told.inference
        assert note.startswith("The needs could not be inferred, so the tasks go one after the other: ppp")
        assert len(note) == 200

    def test_there_are_too_many_needs_for_one_batch(self):
        tasks = tuple(range(1, 36))
        edges = {task: tuple(range(1, task)) for task in tasks}
        told = with_inferred(BatchRecord(), tasks, Proposal(edges), Graph({task: [] for task in tasks}))
        kept = sum(map(len, told.needs.values()))
        left = sum(map(len, edges.values())) - 500
        assert (kept, told.inference[-1]) == (500, f"{left} more are too many for one batch and were dropped")
        few = with_inferred(
            BatchRecord(),
            tasks,
            Proposal({task: edges[task] for task in tasks[:32]}),
            Graph({task: [] for task in tasks}),
        )
        assert few.inference == ()


class TestBlame:
    """The gate has named a member."""

    def named(self, *members, **search):
        values: dict[str, Any] = {"passed": False, "guilty": 1, "reason": "it fails", **search}
        heads = step(passed(1), passed(2)).record.gate.heads
        merged, heads = values.pop("merged", 0), values.pop("heads", heads)
        record = replace(RECORD, gate=Search((1, 2), merged, heads, ago(hours=1), **values))
        return step(*members, batch=a_batch(record=record))

    def test_a_merged_one_cannot_go_back_and_an_issue_is_opened_once(self):
        told = self.named(passed(1, Status.MERGED), passed(2))
        assert (told.reason, told.due) == ("the gate names #1", NOW)
        (opened,) = told.opens
        key = f"gate:90:{told.record.gate.heads}"
        assert opened == OpenIssue(
            key,
            "Regression by #1, found by the gate of batch #90",
            "The work of #1 does not pass together with the rest of batch #90.\n\n"
            "Batch gate: **not passed**. #1 is to blame: it fails",
            ("cf:regression",),
        )
        happening = Happening(key, NOW, "blame", 1, "merged work fails the batch gate")
        assert told.record.happenings == (happening,)
        assert told.record.sums == {"blame (merged work fails the batch gate)": 1}
        known = a_batch(record=told.record)
        again = step(passed(1, Status.MERGED), passed(2), batch=known)
        assert (again.reason, again.opens, again.record.sums) == ("waits for merges", (), told.record.sums)

    def test_a_done_one_goes_back_by_the_rule_and_opens_nothing(self):
        told = self.named(passed(1), passed(2))  # the rule has sent it back in this very tick
        assert (told.reason, told.opens) == ("members run or may start", ())

    def test_one_that_is_gone_is_left_alone(self):
        told = self.named(passed(1), passed(2), guilty=7)
        assert (told.reason, told.opens, told.record.happenings) == ("waits for merges", (), ())

    def test_nobody_is_named(self):
        assert self.named(passed(1), passed(2), guilty=0).reason == "waits for merges"
        assert self.named(passed(1), passed(2), passed=True, guilty=0).reason == "waits for merges"

    def test_all_passed_and_the_gate_did_not_is_partial(self):
        merged = [
            passed(number, Status.MERGED, is_open=False, state_reason=StateReason.COMPLETED)
            for number in (1, 2)
        ]
        heads = step(*merged).record.gate.heads
        assert self.named(*merged, guilty=0, heads=heads).reason == "ended: partial"
        assert self.named(*merged, guilty=0, heads=heads, passed=True).reason == "ended: completed"


class TestTold:
    def test_a_change_of_the_configuration_is_noted(self):
        def told(before, after):
            record = replace(RECORD, config=before)
            return ran(
                a_member(1), a_member(2), batch=a_batch(record=record), config=replace(PLAIN, blob=after)
            ).record

        assert told("a", "b").changes == (ConfigChange(NOW, "a", "b"),)
        assert told("a", "b").config == "b"
        assert told("a", "a").changes == told("", "b").changes == ()

    def test_the_text_is_made_anew_only_where_it_says_something_else(self):
        first = ran(a_member(1), a_member(2))
        assert first.body
        same = ran(a_member(1), a_member(2), batch=a_batch(record=first.record))
        assert (same.body, same.record) == ("", first.record)
        other = ran(a_member(1), a_member(2, pull=70), batch=a_batch(record=first.record))
        assert "#70" in other.body

    def test_the_interval_is_the_batchs_or_as_configured(self):
        noted = replace(
            RECORD, happenings=(Happening("k", NOW, "skipped", 1, "dropped"),), sums={"skipped": 1}
        )
        config = replace(PLAIN, reconcile_interval=timedelta(minutes=3))
        plain = ran(a_member(1), a_member(2), batch=a_batch(record=noted), config=config)
        assert "Reconciled every 3m: 1 skipped." in plain.body
        chosen = replace(ORDER, chosen=BatchOverrides(reconcile=timedelta(seconds=9)))
        assert "Reconciled every 9s:" in ran(a_member(1), a_member(2), batch=a_batch(chosen, noted)).body

    def test_a_closed_batch_that_owns_its_members_is_opened_again(self):
        resumed = replace(RECORD, control=Control(Action.RESUME, "wendy", ago(minutes=1)))
        closed = a_batch(record=resumed, is_open=False, closed_at=ago(minutes=5))
        assert ran(a_member(1), a_member(2), batch=closed).reopen
        assert not ran(a_member(1), a_member(2), batch=a_batch(record=resumed)).reopen

    @pytest.mark.parametrize(
        ("member", "told", "who"),
        [
            (
                a_member(1, None, is_open=False, state_reason=StateReason.NOT_PLANNED, status=Status.READY),
                ("skipped", "dropped"),
                "",
            ),
            (
                a_member(
                    1, Status.DONE, is_open=False, state_reason=StateReason.COMPLETED, status=Status.READY
                ),
                ("skipped", "externally completed"),
                "",
            ),
            (a_member(1, Status.DONE, is_open=False, state_reason=StateReason.COMPLETED), None, ""),
            (a_member(1), None, ""),
        ],
    )
    def test_what_happened_outside_is_kept_once(self, member, told, who):
        step_ = ran(member, a_member(2))
        happened_ = [(one.action, one.reason, one.task, one.who, one.at) for one in step_.record.happenings]
        assert happened_ == ([(*told, 1, who, NOW)] if told else [])
        again = ran(member, a_member(2), batch=a_batch(record=step_.record))
        assert again.record.happenings == step_.record.happenings
        before = ran(member, a_member(2), batch=a_batch(record=BatchRecord()))
        assert before.record.happenings == ()  # what was so when it began is no news


def test_who_did_it_is_the_newest_person_among_the_events():
    gone = a_member(1, Status.DONE, is_open=False, state_reason=StateReason.COMPLETED, status=Status.READY)
    events = (
        happened(EventKind.CLOSED, STRANGER, ago(minutes=9)),
        happened(EventKind.CLOSED, at=ago(minutes=3)),
        labelled("cf:done", BOT, ago(minutes=1)),
    )
    gone = replace(gone, issue=replace(gone.issue, events=events))
    (one,) = ran(gone, a_member(2)).record.happenings
    assert (one.key, one.who) == ("skipped:1:1", "wendy")


def test_a_long_reason_is_summed_up_by_its_action():
    lost = running(1, live={"cancelled_for": ""})
    closed = replace(lost, issue=replace(lost.issue, is_open=False, state_reason=StateReason.NOT_PLANNED))
    (one,) = ran(closed, a_member(2)).record.happenings
    assert (one.action, one.reason) == ("killed", "closed as not planned")
    assert ran(closed, a_member(2)).record.sums == {"killed (closed as not planned)": 1}


class TestHappenedTo:
    def said(self, task, **fields):
        return happened_to(*self.arguments(task, **fields))

    def arguments(self, task, **fields):
        snapshot = a_snapshot(task, batches=(ordered(1),), **fields)
        decision = plan(snapshot).decisions[0]
        board = Board(snapshot)
        result = MemberStates({task.number: decision}, board).result(task.number, board.batch_views[BATCH])
        return task.record, decision, result

    def test_a_run_that_was_lost_is_started_again(self):
        lost = running(1)
        told = self.said(lost, runs=(a_run(901, conclusion="failure"),), jobs={901: ()})
        assert told == ("requeued", "its run was lost", "1")

    def test_a_question_that_was_answered_goes_on(self):
        asked = a_member(1, Status.BLOCKED, blocker=ASKED, next_attempt=2)
        assert self.said(asked, comments={1: (a_comment("Bob"),)}) == ("requeued", "answered", "2")
        assert self.said(asked) is None

    def test_a_run_that_is_not_wanted_any_more_is_killed(self):
        closed = running(1, is_open=False, state_reason=StateReason.NOT_PLANNED)
        assert self.said(closed, runs=(a_run(901),)) == ("killed", "closed as not planned", "1")
        ends = (an_attempt(1, run=901, cancelled_for="withdrawn"),)
        assert self.said(a_member(1, None, attempts=ends, next_attempt=2), runs=(a_run(901),)) is None

    def test_work_of_our_own_is_no_news(self):
        assert self.said(running(1), runs=(a_run(901),)) is None


class TestOutline:
    def outline(self, *tasks, order=ORDER, serial=False, waiting=(), running=None, config=None, **fields):
        board = Board(a_snapshot(*tasks, config=config, **fields))
        return outline_of(order, serial, waiting, running or {}, board)

    def test_what_waits_is_expected_with_the_slots_that_there_are(self):
        tasks = (
            a_task(1, estimate=timedelta(minutes=60)),
            a_task(2, estimate=timedelta(minutes=30), needs=(1,)),
            a_task(3),
        )
        found = self.outline(*tasks, waiting=(1, 2))
        assert found == Outline(
            2,
            4,
            (1, 2),
            timedelta(minutes=90),
            NOW + timedelta(minutes=90),
            (
                Bar(1, NOW, NOW + timedelta(minutes=60)),
                Bar(2, NOW + timedelta(minutes=60), NOW + timedelta(minutes=90)),
            ),
            ((1, 2),),
        )

    @pytest.mark.parametrize(
        ("order", "config", "slots"),
        [
            (ORDER, Config(), 4),
            (ORDER, Config(total=3), 3),
            (replace(ORDER, max_parallel=2), Config(total=3), 2),
            (replace(ORDER, max_parallel=9), Config(total=3), 3),
            (replace(ORDER, max_parallel=0), Config(total=3), 3),
        ],
    )
    def test_the_smallest_limit_counts(self, order, config, slots):
        assert self.outline(a_task(1), order=order, config=config).slots == slots
        assert self.outline(a_task(1), order=order, config=config, serial=True).slots == 1

    def test_one_after_the_other_goes_in_the_order_written_and_else_the_longest_chain_first(self):
        tasks = (
            a_task(1, estimate=timedelta(minutes=10)),
            a_task(2, estimate=timedelta(minutes=60)),
            a_task(3, estimate=timedelta(minutes=10)),
        )
        one = Config(total=1)
        serial = self.outline(*tasks, serial=True, waiting=(1, 3, 2), config=one)
        assert [bar.task for bar in serial.bars] == [1, 3, 2]
        chained = self.outline(*tasks, waiting=(3, 1, 2), config=one)
        assert [bar.task for bar in chained.bars] == [2, 1, 3]

    def test_what_runs_ends_after_what_is_left_of_it_and_not_before_a_minute(self):
        found = self.outline(
            a_task(1, estimate=timedelta(minutes=60)),
            a_task(2, estimate=timedelta(minutes=60)),
            running={1: ago(minutes=20), 2: ago(minutes=99)},
        )
        assert found.bars == (
            Bar(1, ago(minutes=20), NOW + timedelta(minutes=40), "active"),
            Bar(2, ago(minutes=99), NOW + timedelta(minutes=1), "active"),
        )

    def test_without_anything_left_there_is_no_end(self):
        assert self.outline(order=replace(ORDER, tasks=())) == Outline(1, 4, (), timedelta(0), None)

    def test_needs_outside_are_no_edges(self):
        assert self.outline(a_task(1, needs=(3,)), a_task(3)).edges == ()


def test_the_chart_shows_what_was_done_what_runs_and_what_is_to_be_merged():
    ended = (
        an_attempt(1, Outcome.FAILED, claimed_at=ago(hours=3), ended_at=ago(minutes=170)),
        an_attempt(2, Outcome.PASSED, claimed_at=ago(hours=2), ended_at=ago(minutes=100)),
    )
    told = ran(passed(1, attempts=ended, next_attempt=3), running(2))
    assert "task 1 :done, b0, 2026-03-02T10:00, 2026-03-02T10:20" in told.body
    assert "2026-03-02T09:00" not in told.body  # before the order
    assert "task 2 :active, b1, 2026-03-02T11:40" in told.body
    assert "Waiting to be merged, in this order: #71 (task #1)." in told.body
    assert "crit" not in told.body
    assert "task 1 :crit, b0" in ran(failed(1, attempts=ended[1:]), a_member(2)).body


def test_a_member_of_a_cycle_has_a_place_and_no_wave():
    told = ran(a_member(1, needs=(1,)), a_member(2))
    assert "| 1 | – | #1 Task 1 | not run |" in told.body
    assert "| 2 | 1 | #2 Task 2 | in-progress |" in told.body


def test_what_is_to_be_merged_stands_in_the_order_of_needs():
    told = ran(passed(1, needs=(2,)), passed(2))
    assert "Waiting to be merged, in this order: #72 (task #2), #71 (task #1)." in told.body


def test_the_end_is_said_with_the_results():
    told = ran(completed(1), failed(2))
    assert told.notices == (Notice("batch-end:90", told.notices[0].text),)
    assert told.notices[0].text.startswith(
        "**The batch has ended: partial.** 1 of 2 passed (1 skipped: completed elsewhere), 1 failed."
    )


def test_each_batch_takes_the_slots_that_the_ones_before_have_left():
    other = replace(ordered(3, 4), issue=replace(a_batch().issue, number=91, created_at=ago(hours=1)))
    members = (passed(1), passed(2), passed(3), passed(4))
    for total, starts in ((1, 1), (2, 2), (0, 0)):
        snapshot = a_snapshot(*members, batches=(a_batch(), other), config=replace(CONFIG, total=total))
        assert sum(step.start is not None for step in plan(snapshot).batches) == starts
