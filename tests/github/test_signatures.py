"""With CF_STATE_KEY what we keep on GitHub counts only if it is signed: held otherwise, never guessed at."""

import re
from datetime import timedelta

import pytest

from bot.conductor.act import act
from bot.conductor.observe import observe
from bot.conductor.tick import decide
from bot.github.signatures import read_key, with_signatures
from bot.model.batch import BatchRecord, Order, Outline
from bot.model.errors import TryLater, UsageError
from bot.model.report import Outcome
from bot.notation.batches import batch_body
from bot.notation.records import is_record
from bot.sandbox.world.faults import Disconnected, Fault
from bot.sandbox.world.in_process import client_of
from bot.worker.job.claim import Claim
from tests.conductor.story import Story

KEY = "k" * 32
OURS = "github-actions[bot]"


def sealing(key=KEY):
    story = Story()
    story.github = with_signatures(story.github, key)
    return story


def plain(story):
    """Without any key."""
    return client_of(story.world)


def record_of(story, task):
    return next(comment for comment in story.world.comments_of(task) if is_record(comment.body))


def started(story):
    task = story.ready()
    story.settle()
    return task


def test_a_signed_record_is_read_with_the_key_and_by_the_claim_check_without_it():
    story = sealing()
    task = started(story)

    assert re.search(r"<!-- cf:record 1 \{.*\} [0-9a-f]{64} -->", record_of(story, task).body)
    story.github, behind = plain(story), story.github
    assert isinstance(story.claim_check(story.worker_runs()[0]), Claim)
    story.github = behind
    story.finish_live(task, Outcome.PASSED)
    story.settle()
    assert story.status(task) == ("done",)


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (lambda body: body.replace('"next_attempt":2', '"next_attempt":1'), "its signature is wrong"),
        (lambda body: re.sub(r" [0-9a-f]{64} -->", " -->", body), "its signature is missing"),
        (lambda body: re.sub(r" [0-9a-f]{64} -->", f" {'0' * 64} -->", body), "its signature is wrong"),
        (lambda body: body.replace("cf:record 1 ", "cf:record 2 "), "newer version of cf-conductor"),
    ],
    ids=["changed", "unsigned", "guessed", "newer"],
)
def test_a_record_with_a_wrong_or_missing_signature_holds_its_task_in_plain_words(forge, words):
    story = sealing()
    task, other = started(story), story.ready()
    forged = forge(record_of(story, task).body)
    assert forged != record_of(story, task).body
    story.world.edit_comment(record_of(story, task).id, forged, by=OURS)
    story.finish(f"cf-{task}-1", Outcome.FAILED)
    starts = len(story.starts())
    for _ in range(3):
        story.world.wait(timedelta(minutes=6))
        story.tick()

    assert words in story.reason(task) or "signature is wrong" in story.reason(task)
    assert [key for key in story.starts()[starts:] if key.startswith(f"cf-{task}-")] == []
    assert f"cf-{other}-1" in story.starts()
    assert record_of(story, task).body == forged


def test_an_order_for_a_batch_that_nobody_signed_starts_nothing():
    story = sealing()
    task = story.world.open_issue("Do it")
    order = Order(run=1, by="maintainer", at=story.world.now, tasks=(task,))
    story.world.open_issue(
        "batch",
        batch_body(order, BatchRecord(), (), Outline(1, 1, (), timedelta(0), None), timedelta(0)),
        by=OURS,
        labels=("cf:batch",),
    )
    story.tick()
    story.tick()

    assert story.starts() == []


def test_a_dashboard_that_nobody_signed_is_made_anew():
    story = sealing()
    task = started(story)
    (dashboard,) = [issue for issue in story.world.issues.all() if issue.has_label("cf:dashboard")]
    story.world.edit_issue(
        dashboard.number, body=re.sub(r" [0-9a-f]{64} -->", " -->", dashboard.body), by=OURS
    )
    story.settle()

    assert re.search(r"cf:state 1 \{.*\} [0-9a-f]{64} -->", story.world.issue(dashboard.number).body)
    assert story.starts() == [f"cf-{task}-1"]


@pytest.mark.parametrize(
    "operation", ["dispatch", "write:CreateComment", "write:EditComment", "write:CreateIssue"]
)
@pytest.mark.parametrize("after", [False, True])
def test_16_killed_between_writes_signed_records_end_the_same(operation, after):
    story = sealing()
    story.world.faults.planned.append(Fault(Disconnected, operation, writes_only=True, after=after))
    task = started(story)
    story.finish_live(task, Outcome.PASSED)
    story.settle()

    assert story.status(task) == ("done",)
    assert len(story.agent_starts()) == len(story.starts())


def test_9_two_conductors_with_the_key_start_one_agent_and_one_without_it_cannot_undo_that():
    story = sealing()
    task = story.ready()
    other = with_signatures(client_of(story.world), KEY)
    seen_a, plan_a = decide(story.github, observe(story.github, story.world.now))
    seen_b, plan_b = decide(other, observe(other, story.world.now))
    act(story.github, plan_a, seen_a)
    effects = act(other, plan_b, seen_b)

    assert effects.skipped == {task: "changed since snapshot"}
    assert story.starts() == [f"cf-{task}-1"]


def test_a_key_that_could_be_guessed_is_refused():
    assert read_key({}) == read_key({"CF_STATE_KEY": " "}) == ""
    assert read_key({"CF_STATE_KEY": KEY}) == KEY
    with pytest.raises(UsageError, match="at least 32 characters"):
        read_key({"CF_STATE_KEY": "secret"})


def test_a_tick_that_cannot_read_says_so_and_loses_nothing():
    story = sealing()
    task = started(story)
    story.world.faults.answer(502, "comments_since", times=1)
    with pytest.raises(TryLater):
        story.tick()
    story.settle()
    assert story.record(task).live is not None
