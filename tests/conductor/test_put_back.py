"""Story: somebody puts an older, rightly signed text of ours back: nothing stopped starts, no key is used twice."""

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.console.adopt import adopt
from bot.github.signatures import SEALED, with_signatures
from bot.model.batch import Action, Control
from bot.model.change import CreateComment
from bot.model.report import Outcome
from bot.notation.batches import control_comment, read_control
from bot.notation.codec import Unreadable
from bot.notation.marker import read_marker, signed
from bot.notation.records import is_record
from bot.sandbox.world import BOT
from bot.sandbox.world.in_process import client_of
from tests.conductor.story import CONFIG, Story
from tests.conductor.test_batch_gate import RED, passed_batch

KEY = "k" * 32
OURS = "github-actions[bot]"
QUICK = CONFIG + "retry: {max_attempts: 9, backoff: 1s}\n"


def sealing(config=QUICK):
    story = Story(config)
    story.github = with_signatures(story.github, KEY)
    return story


def comment_of(story, task):
    return next(comment for comment in story.world.comments_of(task) if is_record(comment.body))


def put_back(story, task, body):
    story.world.edit_comment(comment_of(story, task).id, body, by=OURS)


def ticks(story, count=4):
    for _ in range(count):
        story.world.wait(timedelta(minutes=1))
        story.tick()


def running_at(story, task):
    """How many runs of this task have not ended."""
    return sum(
        run.status != "completed" for run in story.worker_runs() if f"cf-{task}-" in run.inputs["keys"]
    )


@pytest.mark.parametrize("old", ["just claimed", "running", "failed once"])
@pytest.mark.parametrize("order", ["/cf stop", "cf:backlog", "cf:blocked", "cf:failed", "no label"])
def test_a_stopped_task_stays_stopped(old, order):
    story = sealing()
    task = story.ready()
    story.tick()
    texts = {"just claimed": comment_of(story, task).body}
    story.begin(f"cf-{task}-1")
    story.tick()
    texts["running"] = comment_of(story, task).body
    story.finish(f"cf-{task}-1", Outcome.FAILED)
    story.tick()
    texts["failed once"] = comment_of(story, task).body
    ticks(story)
    if order == "/cf stop":
        story.world.comment(task, order)
    elif order == "no label":
        story.world.unlabel(task, "cf:in-progress")
    else:
        story.world.label(task, order)
    ticks(story)
    stopped, starts = story.status(task), story.starts()
    assert stopped in (("backlog",), ("blocked",), ("failed",), ())

    for _ in range(3):
        put_back(story, task, texts[old])
        ticks(story)

    assert (story.status(task), story.starts()) == (stopped, starts)


@pytest.mark.parametrize("old", range(4))
def test_a_key_that_any_run_carries_is_never_dispatched_again(old):
    story = sealing()
    task = story.ready()
    texts = []
    for number in (1, 2):
        ticks(story, 2)
        texts.append(comment_of(story, task).body)
        story.finish(f"cf-{task}-{number}", Outcome.FAILED)
        story.tick()
        texts.append(comment_of(story, task).body)
    ticks(story)
    for _ in range(3):
        put_back(story, task, texts[old])
        ticks(story)
        assert running_at(story, task) <= 1

    assert [key for key, times in Counter(story.starts()).items() if times > 1] == []


def test_a_key_is_spent_although_its_run_left_the_list_of_recent_runs():
    story = sealing()
    task = story.ready()
    story.tick()
    old = comment_of(story, task).body
    for number in (1, 2, 3):
        story.finish(f"cf-{task}-{number}", Outcome.FAILED)
        ticks(story)
    story.world.label(task, "cf:backlog")
    ticks(story)
    story.world.wait(timedelta(days=3))
    put_back(story, task, old)
    ticks(story)
    story.world.label(task, "cf:ready")
    ticks(story)

    assert story.starts() == [f"cf-{task}-{number}" for number in (1, 2, 3, 4)]


def test_a_run_that_the_old_text_does_not_know_is_ended_before_another_starts():
    story = sealing()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.FAILED)
    story.tick()
    waiting = comment_of(story, task).body
    ticks(story)
    assert running_at(story, task) == 1
    put_back(story, task, waiting)
    story.tick()
    assert story.run_of(f"cf-{task}-2").cancel_requested
    ticks(story)

    assert running_at(story, task) == 1
    assert story.starts() == [f"cf-{task}-{number}" for number in (1, 2, 3)]


def test_somebodys_run_of_any_key_takes_no_number_but_its_own():
    story = sealing()
    task = story.ready()
    story.tick()
    for number in (2, 999_999):
        run = story.world.dispatch(
            "cf-worker.yml", inputs={"units": "[]", "keys": f"cf-{task}-{number}"}, token="maintainer"
        )
        story.world.run_ended(run, "failure")
    ticks(story)
    story.finish(f"cf-{task}-1", Outcome.FAILED)
    ticks(story)
    assert story.record(task).live.number == 3


def test_a_label_that_an_app_took_away_and_we_put_back_costs_no_look_at_old_runs():
    story = sealing(CONFIG)
    task = story.ready()
    story.tick()
    story.begin(f"cf-{task}-1")
    app = story.world.accounts.app_token("tidy", {"issues": "write"})
    story.world.unlabel(task, "cf:in-progress", by=app)
    story.tick()
    assert story.status(task) == ("in-progress",)
    story.finish(f"cf-{task}-1", Outcome.FAILED)
    story.tick()
    story.world.limits.requests.clear()
    story.tick()
    assert story.world.limits.requests["runs"] == 1


def test_a_batch_gates_key_is_spent_as_well():
    story = Story()  # what is signed by an order's own job makes no difference here
    tasks, batch = passed_batch(story, 2)
    body = story.world.issue(batch).body
    story.finish_gate(batch, green=False, gates=RED)
    ticks(story)
    for _ in range(2):
        story.world.edit_issue(batch, body=body, by=OURS)
        ticks(story)
    gates = [key for key in story.starts() if key.startswith(f"cf-{batch}-")]
    assert len(gates) == len({*gates})
    assert tasks


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("tfpbsr"), st.integers(0, 30)), max_size=9))
def test_whatever_is_put_back_whenever_no_key_is_used_twice_and_no_two_runs_are_live(course):
    """t tick, f fail, p pass, b put an older text back, s stop, r order anew."""
    story = sealing()
    task = story.ready()
    ticks(story, 1)
    texts = [comment_of(story, task).body]
    for what, which in course:
        live = [run for run in story.worker_runs() if run.status != "completed"]
        if what in "fp" and live:
            story.finish(live[0].inputs["keys"], Outcome.FAILED if what == "f" else Outcome.PASSED)
        if what == "b":
            put_back(story, task, texts[which % len(texts)])
        if what == "s":
            story.world.comment(task, "/cf stop")
        if what == "r":
            story.world.comment(task, "/cf run")
        ticks(story, 2)
        texts.append(comment_of(story, task).body)
        assert running_at(story, task) <= 1
    assert max(Counter(story.starts()).values()) == 1


# ---------------------------------------------------------------------- where a signature holds


def test_what_is_signed_for_one_place_holds_in_no_other():
    story = sealing(CONFIG)
    first, second = story.ready(), story.ready()
    ticks(story, 2)
    put_back(story, second, comment_of(story, first).body)
    story.tick()
    assert "its signature is wrong" in story.reason(second)


@pytest.mark.parametrize("of", ["another issue", "a comment", "an issue's text"])
def test_an_order_about_one_batch_is_none_about_another(of):
    story = sealing(CONFIG)
    one, other = story.world.open_issue("batch"), story.world.open_issue("batch")
    said = control_comment(Control(Action.STOP, "maintainer", story.world.now, batch=one), "Stop.")
    story.github.issues([one, other])
    (written,) = story.github.write([CreateComment(story.world.issue(one).node_id, said)])
    body = story.world.issues.comment(written.id).body
    assert read_control(story.github.issue(one).comments[0], {BOT.id}) is not None

    if of == "an issue's text":
        story.world.edit_issue(other, body=body, by=OURS)
        assert "!wrong" in story.github.issue(other).body
        return
    there = story.world.comment(other, body if of == "another issue" else "words", by=OURS)
    if of == "a comment":
        story.world.edit_comment(there, body, by=OURS)
    (comment,) = story.github.issue(other).comments
    with pytest.raises(Unreadable, match="its signature is wrong"):
        read_marker("batch-control", comment.body)


def test_a_record_is_signed_for_its_issue_when_made_and_for_its_comment_from_then_on():
    story = sealing(CONFIG)
    task = story.ready()
    story.tick()
    body = comment_of(story, task).body
    unsigned = client_of(story.world).comment(comment_of(story, task).id).body
    node = comment_of(story, task).node_id
    plain = body[: body.rindex("} ")] + "} -->"
    assert body == unsigned
    assert body == signed(plain, KEY, SEALED, f"#{task} {node}")
    assert body != signed(plain, KEY, SEALED, f"#{task}")
    assert body != signed(plain, KEY, SEALED)


def without_places(story, task):
    """The status comment as it was signed before there were places."""
    body = comment_of(story, task).body
    put_back(story, task, signed(body, KEY, SEALED))


def test_what_was_signed_before_there_were_places_is_read_and_adopted_for_its_place():
    story = sealing(CONFIG)
    task, other = story.ready(), story.ready()
    ticks(story, 1)
    newer = comment_of(story, task).body
    for one in (task, other):
        without_places(story, one)
    assert comment_of(story, task).body != newer
    assert story.foresee()[task].startswith("running as")

    listed = adopt(client_of(story.world), KEY, OURS)
    assert listed == [f"signed: comment {comment_of(story, one).id} on #{one}" for one in (task, other)]
    assert comment_of(story, task).body == newer
    assert adopt(client_of(story.world), KEY, OURS) == []
    story.finish(f"cf-{task}-1", Outcome.PASSED)
    story.settle()
    assert story.status(task) == ("done",)
