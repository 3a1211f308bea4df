"""Property: a failure that tasks share, met at any time and looked at at any speed: one fix, and nobody pays for it twice."""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.model.config import Retry
from bot.model.record import Fixed
from bot.model.report import Outcome
from bot.model.status import Status
from bot.notation.comments import with_fingerprint
from bot.notation.keys import Key
from bot.plan import plan
from tests.builders import (
    BOT,
    NOW,
    a_record,
    a_report,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_artifact,
    an_attempt,
    applied,
    by_number,
    jobs,
)

ALIKE = "f" * 32
QUICK = Retry(max_attempts=3, backoff=timedelta(seconds=2))
FAILED_ONCE = an_attempt(1, Outcome.FAILED, failure=ALIKE, reason="2 tests failed")


class Bench:
    """Tasks whose every attempt fails alike, until the issue that mends the cause is closed."""

    def __init__(self, tasks, config):
        self.now = NOW
        self.seen = a_snapshot(*(a_task(number) for number in range(1, tasks + 1)), config=config)
        self.ended: dict[str, int] = {}
        self.running: dict[str, int] = {}
        self.starts: list[tuple[str, bool]] = []  # with whether two failures were known when it was decided
        self.fixes = 0

    def known(self):
        """The tasks whose failure a tick has settled."""
        return [
            number
            for number, task in self.seen.tasks.items()
            if any(attempt.outcome is Outcome.FAILED for attempt in task.record.attempts)
        ]

    def end(self, number):
        live = self.seen.tasks[number].record.live
        if live is not None and str(Key(number, live.number)) in self.running:
            key = str(Key(number, live.number))
            self.ended[key] = self.running.pop(key)

    def tick(self, seconds):
        self.now += timedelta(seconds=seconds)
        runs = [a_run(run, key, created_at=ago(minutes=9)) for key, run in self.running.items()]
        runs += [
            a_run(run, key, conclusion="failure", created_at=ago(minutes=9))
            for key, run in self.ended.items()
        ]
        self.seen = replace(
            self.seen,
            now=self.now,
            runs=tuple(runs),
            artifacts=tuple(an_artifact(key, run, run) for key, run in self.ended.items()),
            reports={
                run: a_report(Outcome.FAILED, key, failure=ALIKE, reason="2 tests failed")
                for key, run in self.ended.items()
            },
            jobs={
                run: jobs(f"#{key.split('-')[1]}", agent="failure", publish="success")
                for key, run in self.ended.items()
            },
        )
        decided = plan(self.seen)
        assert not decided.wants
        after = applied(self.seen, decided)
        self.seen = after
        known = len(self.known())
        for decision in decided.decisions:
            if decision.start is not None:
                key = str(Key(decision.task, decision.start.number))
                self.running[key] = 900 + len(self.running) + len(self.ended)
                self.starts.append((key, known > 1))
        for opened in decided.opens:
            self.fixes += 1
            number = 100 + self.fixes
            body = with_fingerprint(opened.body, opened.fingerprint)
            fix = a_task(number, Status.BACKLOG, "cf:shared-fix", author=BOT, body=body)
            self.seen = replace(self.seen, tasks={**self.seen.tasks, number: fix})
        if known > 1:
            assert self.fixes == 1, "the first tick that knows two failures proposes the fix"


@settings(max_examples=150, deadline=None)
@given(
    tasks=st.integers(2, 4),
    slots=st.integers(1, 4),
    steps=st.lists(
        st.tuples(st.sets(st.integers(1, 4)), st.sampled_from([0, 1, 2, 3, 7, 60, 3600])),
        min_size=4,
        max_size=30,
    ),
)
def test_whatever_the_speed_the_first_tick_that_knows_two_failures_ends_the_spending(tasks, slots, steps):
    """Ends and looks come in any order: what runs then finishes, and nothing else starts before the fix."""
    config = replace(a_snapshot().config, retry=QUICK, max_parallel=slots)
    bench = Bench(tasks, config)
    for ending, seconds in steps:
        for number in ending:
            if number <= tasks:
                bench.end(number)
        bench.tick(seconds)

    paid = [key for key, known in bench.starts if known and Key(*map(int, key.split("-")[1:])).number > 1]
    assert paid == []
    failed = [number for number in bench.known() if bench.seen.tasks[number].record.status is Status.FAILED]
    assert len(failed) <= 1  # it was alone until then


def seen(*tasks, **fields):
    return by_number(plan(a_snapshot(*tasks, **fields)))


def test_one_whose_next_attempt_runs_counts_and_finishes():
    runs = a_running(1, attempt=2, earlier_attempts=(FAILED_ONCE,), record_fields={"strikes": 1})
    waits = a_task(2, Status.READY, record=a_record(2, Status.READY, strikes=1, attempts=(FAILED_ONCE,)))
    decided = plan(a_snapshot(runs, waits, runs=(a_run(900, "cf-1-2"),)))
    (fix,) = decided.opens

    assert fix.title == "Shared fix: 2 tests failed"
    assert "- #1\n- #2" in fix.body
    assert by_number(decided)[1].status is Status.IN_PROGRESS
    assert by_number(decided)[2].reason == "several tasks fail alike: a shared fix is being opened"


def test_an_interruption_since_then_hides_no_failure():
    lost = an_attempt(2, Outcome.INFRA, reason="its run was lost")
    record = a_record(1, Status.READY, strikes=1, interruptions=1, attempts=(FAILED_ONCE, lost))
    other = a_task(2, Status.READY, record=a_record(2, Status.READY, strikes=1, attempts=(FAILED_ONCE,)))
    decided = plan(a_snapshot(a_task(1, Status.READY, record=record), other))
    assert len(decided.opens) == 1
    assert not any(decision.start for decision in decided.decisions)


def test_an_attempt_that_is_being_ended_counts_no_more():
    live = {"cancelled_for": "closed as not planned", "cancel_sent_at": ago(minutes=1)}
    ends = a_running(1, attempt=2, earlier_attempts=(FAILED_ONCE,), live=live, record_fields={"strikes": 1})
    other = a_task(2, Status.READY, record=a_record(2, Status.READY, strikes=1, attempts=(FAILED_ONCE,)))
    decided = plan(a_snapshot(ends, other, runs=(a_run(900, "cf-1-2"),)))
    assert decided.opens == ()
    assert by_number(decided)[2].start is not None


def test_one_that_runs_since_a_fix_tells_nothing_by_what_it_met_before():
    """Neither its old failure nor its unfinished attempt says that the fix did not last."""
    live = {"claimed_at": ago(minutes=1)}
    runs = a_running(1, attempt=2, earlier_attempts=(FAILED_ONCE,), live=live, record_fields={"strikes": 1})
    later = an_attempt(1, Outcome.FAILED, failure=ALIKE, claimed_at=ago(minutes=5))
    other = a_task(2, Status.READY, record=a_record(2, Status.READY, strikes=1, attempts=(later,)))
    fixed = {ALIKE: Fixed(9, ago(minutes=10))}
    decided = plan(a_snapshot(runs, other, runs=(a_run(900, "cf-1-2"),), fixed=fixed))
    assert decided.opens == ()
