"""What is told as it goes."""

from dataclasses import replace

from bot.model.record import Record
from bot.model.report import Outcome
from bot.model.status import Status
from bot.sandbox.play.changes import changes
from bot.sandbox.play.task_states import PullFacts
from tests.sandbox.play.seen import attempt, facts, run, task


def test_tells_of_runs_jobs_pull_requests_and_status():
    before = facts(task(status=Status.IN_PROGRESS), runs=(run("queued"),))
    jobs = (("#1 / agent", "completed", "success"), ("#1 / verify", "completed", "skipped"))
    pull = PullFacts(3, True, False, False, True)
    after = facts(task(status=Status.DONE, pulls=(pull,)), runs=(run(jobs=jobs),))
    assert list(changes(before, after)) == [
        "run 7 began: #1",
        "run 7: #1 / agent: success",
        "#1 pull request #3 is open",
        "#1 in-progress → done",
    ]
    assert list(changes(after, after)) == []


def test_says_why_an_attempt_came_to_nothing():
    before = facts(task(status=Status.IN_PROGRESS))
    record = Record(1, attempts=(attempt(Outcome.FAILED, reason="the gates did not pass"),))
    after = facts(task(status=Status.READY, record=record))
    assert list(changes(before, after)) == ["#1 in-progress → ready (failed: the gates did not pass)"]


def test_a_conductor_s_run_is_told_only_if_it_failed():
    quiet = run("completed", "cancelled", workflow="cf-conductor.yml", tasks=())
    failed = replace(quiet, id=8, conclusion="failure", problem="no such key")
    assert list(changes(None, facts(runs=(quiet, failed)))) == ["run 8 ended: failure (no such key)"]
