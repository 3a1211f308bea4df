"""Hints beside a decision: said once, and nothing is written over what cannot be read."""

import pytest

from bot.model.cause import Cause, Met
from bot.model.decision import Notice
from bot.model.report import Outcome
from bot.model.status import Status
from bot.notation.digests import named
from bot.plan import plan
from tests.builders import (
    BOT,
    OTHER_BOT,
    STRANGER,
    a_comment,
    a_record,
    a_report,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_artifact,
    an_attempt,
    decide,
    jobs,
    words_of,
)


def test_dep_16_a_declaration_in_a_comment_earns_one_hint_if_its_author_may_order():
    said = {"comments": {1: (a_comment("depends on #6"),)}}
    decision = decide(a_task(1, Status.BACKLOG), **said)
    assert "description only" in words_of(decision)
    assert not decide(a_task(1, Status.BACKLOG, record=a_record(notices=("misplaced",))), **said).notices
    for by in (STRANGER, BOT, OTHER_BOT):
        assert not decide(
            a_task(1, Status.BACKLOG), comments={1: (a_comment("depends on #6", by=by),)}
        ).notices


def test_nothing_is_written_over_a_record_that_cannot_be_read():
    task = a_task(1, Status.BLOCKED, record_problem="unreadable")
    decision = decide(task, comments={1: (a_comment("depends on #6"),)})
    assert (decision.record, decision.notices, decision.wants) == (task.record, (), frozenset())


class TestLate:
    """An attempt that had been given up reports after all."""

    def said(self, at=None, outcome=Outcome.INFRA, name="cf-1-1", notices=(), **attempt):
        values = {"outcome": outcome, "ended_at": ago(minutes=10)} | attempt
        record = a_record(
            1, Status.BACKLOG, attempts=(an_attempt(1, **values),), next_attempt=2, notices=notices
        )
        artifact = an_artifact(name, run=901, at=at or ago(minutes=9))
        return decide(a_task(1, Status.BACKLOG, record=record), artifacts=(artifact,)).notices

    def test_it_is_told_once_and_where_its_work_is(self):
        (notice,) = self.said()
        assert notice == Notice(
            "late:cf-1-1",
            "Attempt `cf-1-1`, which had been given up (infra), has reported since. That changes nothing here;"
            " what it made is kept as `cf-work-cf-1-1` of [run 901](../actions/runs/901).",
        )
        assert self.said(notices=("late:cf-1-1",)) == ()

    @pytest.mark.parametrize(
        "fields",
        [
            {"at": ago(minutes=10)},
            {"outcome": Outcome.FAILED},
            {"outcome": None, "ended_at": None, "cancelled_for": "x"},
            {"cancelled_for": "closed"},
            {"name": "cf-1-2"},
            {"ended_at": None},
        ],
    )
    def test_nothing_else_is_late(self, fields):
        assert self.said(**fields) == ()


MANY, ALONE = (
    "Tasks that would meet it wait, and go on by themselves",
    "This task waits, and goes on by itself",
)


class TestSetUp:
    """A set-up that fails, fails for every task."""

    def lost(self, number, failure="f", attempt=1, notices=(), approval=True, **record):
        fields = {"notices": notices} | record | ({} if approval else {"approval": None})
        return a_running(number, attempt=attempt, run=900 + number, record_fields=fields), failure

    def said(self, *lost, others=()):
        tasks = [task for task, _ in lost]
        keys = [f"cf-{task.number}-{task.record.attempts[-1].number}" for task in tasks]
        decided = plan(
            a_snapshot(
                *tasks,
                *others,
                runs=tuple(
                    a_run(900 + t.number, key, conclusion="failure")
                    for t, key in zip(tasks, keys, strict=True)
                ),
                artifacts=tuple(
                    an_artifact(key, 50 + t.number, 900 + t.number)
                    for t, key in zip(tasks, keys, strict=True)
                ),
                reports={
                    50 + t.number: a_report(Outcome.INFRA, key, failure=failure, reason="no disk")
                    for (t, failure), key in zip(lost, keys, strict=True)
                },
                jobs={
                    900 + t.number: jobs(f"#{t.number}", agent="failure", publish="success") for t in tasks
                },
            )
        )
        return {
            one.task: [notice.fingerprint for notice in one.notices] for one in decided.decisions
        }, decided

    F, OTHER = (f"cause:setup:{named(digest)}" for digest in ("f", "other"))

    def test_it_is_said_on_the_first_that_met_it_and_on_no_other(self):
        said, decided = self.said(self.lost(1), self.lost(2), self.lost(3, "other"))
        assert said == {1: [f"{self.F}:cf-1-1"], 2: [], 3: [f"{self.OTHER}:cf-3-1"]}
        for decision, waits in ((decided.decisions[0], MANY), (decided.decisions[2], ALONE)):
            assert decision.notices[0].text == (
                f"@wendy **The set-up does not run**, as `cf-{decision.task}-1` met it:\n\n> no disk\n\n"
                "Correct `setup`, the gates or the agent's command in `.github/cf.yml`; a new configuration is tried at once.\n\n"
                f"{waits}: it is tried again after 15 minutes, 1 hour, 6 hours and then daily (one task),"
                " and at once by `/cf retry` on a task that waits, or with a new configuration. No strike is counted,"
                " and nothing has to be ordered anew. This is said here alone; the dashboard shows it while it stands."
            )
        assert (
            self.said(self.lost(1, approval=False))[1].decisions[0].notices[0].text.startswith("**The set-up")
        )

    def test_while_it_lasts_it_is_not_said_again(self):
        lost = an_attempt(
            1, Outcome.INFRA, failure="f", ended_at=ago(minutes=5), cause=Met(Cause.SETUP, "f", guessed=True)
        )
        told = {"attempts": (lost,), "next_attempt": 2}

        def before(*notices, **more):
            return a_task(5, Status.READY, record=a_record(5, Status.READY, notices=notices, **told | more))

        def said(task):
            found = self.said(self.lost(1), others=(task,))[0]
            return [one for notices in found.values() for one in notices]

        assert said(before(f"{named('x')}")) == [f"{self.F}:cf-5-1"]
        assert said(before(f"{self.F}:cf-5-1")) == []
        worked = (lost, an_attempt(2, Outcome.FAILED, claimed_at=ago(minutes=4), ended_at=ago(minutes=2)))
        assert said(before(f"{self.F}:cf-5-1", attempts=worked, next_attempt=3)) == [f"{self.F}:cf-1-1"]

    def test_it_is_said_instead_of_an_interruption(self):
        assert self.said(self.lost(1, interruptions=2))[0] == {1: [f"{self.F}:cf-1-1"]}
        assert self.said(self.lost(1, "", interruptions=2))[0] == {1: ["interrupted:cf-1-1"]}
