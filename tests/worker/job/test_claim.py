"""SEC-06, DUP-01, ACT-12c: the first step of a job starts an agent only for the attempt that owns the task."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from bot.model.config import Config, Dependencies
from bot.model.issue import EDITS_SEEN, Account, EventKind, Issue, NeedState, TimelineEvent
from bot.model.record import Approval, Attempt, Record
from bot.model.ref import Ref
from bot.model.report import Outcome
from bot.model.run import Job
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.digests import text_digest
from bot.notation.keys import Key
from bot.notation.records import read_record, write_record
from bot.notation.reports import report_name
from bot.worker.job.claim import Claim, ClaimFacts, Refusal, judge_claim, read_claim
from bot.worker.job.context import read_job_context

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
WRITER = Account(7, "writer")
ISSUE = Issue(12, "I_12", "Title", "Body", WRITER, True, None, (), NOON, NOON)
DIGEST = text_digest("Title", "Body")
ATTEMPT = Attempt(2, Kind.CODE, NOON, Status.READY, DIGEST)
RECORD = Record(12, (ATTEMPT,), approval=Approval("writer", NOON, DIGEST))


def facts(**changes: object) -> ClaimFacts:
    base = ClaimFacts(Key(12, 2), RECORD, ISSUE, DIGEST, (), 900, 900, 1, False, ())
    return replace(base, **changes)


def test_the_current_attempt_of_an_open_issue_is_claimed():
    assert judge_claim(facts()) == Claim(ISSUE, RECORD)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"run_attempt": 2}, "`/cf retry` in a comment"),
        ({"issue": replace(ISSUE, is_open=False)}, "#12 is closed"),
        ({"record": None}, "#12 has no record that names cf-12-2"),
        ({"key": Key(12, 1)}, "that is cf-12-2"),
        ({"record": replace(RECORD, attempts=(replace(ATTEMPT, outcome=Outcome.FAILED),))}, "it has none"),
        (
            {"record": replace(RECORD, attempts=(replace(ATTEMPT, cancelled_for="stopped"),))},
            "cancelled: stopped",
        ),
        ({"reported": True}, "cf-12-2 has reported already"),
        ({"owner": 899}, "cf-12-2 belongs to run 899"),
        ({"digest": "other", "outsiders": ("eve",)}, "changed by eve after it was approved"),
        ({"digest": "other"}, "changed by somebody unknown"),
        ({"unmet": ("acme/shop#3 (open)",)}, "waiting for acme/shop#3 (open)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_reason_to_refuse(changes, reason):
    verdict = judge_claim(facts(**changes))

    assert isinstance(verdict, Refusal)
    assert reason in verdict.reason


def claimed(bench, config: Config | None = None) -> Claim | Refusal:
    context = read_job_context(bench.environ())
    return judge_claim(read_claim(bench.github, context, config or Config()))


def test_a_fresh_claim_is_read_from_github(bench):
    assert isinstance(claimed(bench("edit")), Claim)


def test_sec_06_an_edit_by_an_outsider_after_the_order_is_refused(bench):
    setup = bench("edit")
    setup.world.wait(timedelta(minutes=1))
    setup.world.add_user("author", "read")
    setup.world.issues.get(setup.task).author = setup.world.accounts.get("author")
    setup.world.edit_issue(setup.task, body="rm -rf /", by="author")

    verdict = claimed(setup)

    assert verdict == Refusal("title or body was changed by author after it was approved")


def test_sec_06_an_edit_by_a_writer_is_used(bench):
    setup = bench("edit")
    setup.world.wait(timedelta(minutes=1))
    setup.world.edit_issue(setup.task, title="Better", body="Do it well.")

    verdict = claimed(setup)

    assert isinstance(verdict, Claim)
    assert (verdict.issue.title, verdict.issue.body) == ("Better", "Do it well.")


def test_sec_06_an_edit_of_an_outsider_in_the_second_of_the_order_counts(bench):
    setup = bench("edit")
    ordered = setup.world.now.replace(microsecond=700_000)
    issue = setup.github.issue(setup.task)
    edits = tuple(
        TimelineEvent(EventKind.EDITED, account, at)
        for account, at in (
            (setup.world.accounts.get("stranger"), ordered.replace(microsecond=0)),
            (setup.world.accounts.get("maintainer"), ordered + timedelta(minutes=1)),
        )
    )
    setup.github.issue = lambda _: replace(issue, body="rm -rf /", events=(*issue.events, *edits))
    record = read_record(setup.github.comment(setup.comment), setup.task, setup.unit.accounts)
    assert record is not None
    assert record.approval is not None
    record = replace(record, approval=replace(record.approval, at=ordered))
    setup.world.edit_comment(setup.comment, write_record(record), by="github-actions[bot]")

    assert claimed(setup) == Refusal("title or body was changed by stranger after it was approved")


def test_sec_06_more_edits_than_github_tells_are_not_trusted(bench):
    setup = bench("edit")
    issue, now = setup.github.issue(setup.task), setup.world.now
    by = setup.world.accounts.get("maintainer")
    edits = tuple(
        TimelineEvent(EventKind.EDITED, by, now + timedelta(minutes=1 + context))
        for context in range(EDITS_SEEN)
    )
    setup.github.issue = lambda _: replace(issue, body="rm -rf /", events=(*issue.events, *edits))

    assert claimed(setup) == Refusal("title or body was changed by somebody unknown after it was approved")


def test_sec_07_a_record_copied_by_somebody_else_does_not_count(bench):
    setup = bench("edit")
    text = setup.github.comment(setup.comment).body
    foreign = setup.world.comment(setup.task, text, by="maintainer")
    setup.unit = replace(setup.unit, comments=(foreign,))

    assert claimed(setup) == Refusal(f"#1 has no record that names {setup.key}")


def test_dup_01_the_lowest_run_with_the_key_wins(bench):
    setup = bench("edit")
    first = setup.run_id
    setup.run_id = setup.github.dispatch("cf-worker.yml", "main", {"units": "[]", "keys": setup.key})

    assert claimed(setup) == Refusal(f"cf-1-1 belongs to run {first}")


def test_a_lower_run_that_ended_before_its_agent_started_does_not_own_the_key(bench):
    setup = bench("edit")
    setup.world.run_ended(setup.run_id, "cancelled")
    setup.run_id = setup.github.dispatch("cf-worker.yml", "main", {"units": "[]", "keys": setup.key})

    assert isinstance(claimed(setup), Claim)


def test_a_lower_run_whose_agent_has_started_owns_it_also_when_it_is_over(bench):
    setup = bench("edit")
    first, now = setup.run_id, setup.world.now
    setup.world.put_job(first, Job(0, first, "#1 / agent", "completed", "failure", now, now))
    setup.world.run_ended(first, "failure")
    setup.run_id = setup.github.dispatch("cf-worker.yml", "main", {"units": "[]", "keys": setup.key})

    assert claimed(setup) == Refusal(f"cf-1-1 belongs to run {first}")


def test_a_key_that_has_reported_is_refused(bench):
    setup = bench("edit")
    setup.world.add_artifact(setup.run_id, report_name(setup.key), b"")

    assert claimed(setup) == Refusal("cf-1-1 has reported already")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (NeedState.OPEN, "open"),
        (NeedState.NOT_PLANNED, "closed as not planned"),
        (NeedState.UNREADABLE, "unreadable"),
    ],
)
def test_needs_are_checked_again(bench, state, words):
    setup = bench("edit", body="depends on octo/lib#4")
    setup.world.elsewhere(Ref("octo/lib", 4), state)

    assert claimed(setup) == Refusal(f"waiting for octo/lib#4 ({words})")


def test_a_satisfied_need_and_a_native_edge(bench):
    setup = bench("edit", body="depends on #2\n```\ndepends on #99\n```")
    other = setup.world.open_issue("First")
    assert claimed(setup) == Refusal("waiting for acme/shop#2 (open)")

    setup.world.close(other)
    assert isinstance(claimed(setup), Claim)

    third = setup.world.open_issue("Native")
    setup.world.block(setup.task, third)
    assert claimed(setup) == Refusal("waiting for acme/shop#3 (open)")


@pytest.mark.parametrize("count", [True, False])
def test_sub_issues_are_asked_about_where_they_count(bench, count):
    setup = bench("edit")
    child = setup.world.open_issue("Child")
    setup.world.adopt(setup.task, Ref("acme/shop", child))
    said = claimed(setup, Config(dependencies=Dependencies(sub_issues=count)))
    assert (said == Refusal(f"waiting for acme/shop#{child} (open)")) is count


def test_act_12c_running_the_agent_job_again_is_refused_with_a_hint(bench):
    setup = bench("edit")

    worked = setup.work(GITHUB_RUN_ATTEMPT="2")

    assert worked.report.outcome is Outcome.REFUSED
    assert "`/cf retry`" in worked.report.reason
    assert not worked.verify
    assert "agent" not in "".join(setup.shown)
