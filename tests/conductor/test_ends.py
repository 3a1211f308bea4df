"""Story: every end of an attempt that leaves its task to a person: mention, what can be done, what a reply does, reminders."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from bot.model.end import End
from bot.model.record import Parked
from bot.model.report import Hold, Outcome, Question
from bot.model.status import Status
from bot.notation.comments import read_fingerprint
from bot.plan.facts.ends import ENDS
from tests.builders import NOW, a_comment, a_record, a_task, ago, an_attempt, decide
from tests.conductor.batching import batches, order
from tests.conductor.story import CONFIG, Story

# How an attempt has to end to bring each end about.
BY: dict[End, tuple[Outcome, dict[str, Any]]] = {
    End.QUESTION: (Outcome.BLOCKED, {"question": Question("What is it called?")}),
    End.CHOICE: (Outcome.BLOCKED, {"question": Question("Which?", ("sqlite", "postgres"))}),
    End.STALLED: (Outcome.STALLED, {}),
    End.NO_CHANGES: (Outcome.NO_CHANGES, {}),
    End.UNVERIFIED: (Outcome.UNVERIFIED, {}),
    End.FAILED: (Outcome.FAILED, {"reason": "2 tests failed"}),
    End.BRAKE: (Outcome.BLOCKED, {"question": Question("Really?")}),
    End.INTERRUPTED: (Outcome.INFRA, {}),
    End.PROTECTED: (Outcome.HELD, {"hold": Hold.PROTECTED, "protected": ("AGENTS.md",), "head": "c" * 40}),
    End.SETTING: (Outcome.HELD, {"hold": Hold.SETTING, "head": "c" * 40}),
    End.STALE: (Outcome.HELD, {"hold": Hold.STALE, "head": "c" * 40}),
    End.LOST: (Outcome.HELD, {"hold": Hold.SECRET}),
    End.HELD: (Outcome.HELD, {"head": "c" * 40}),
}
WAITING = [end for end, row in ENDS.items() if row.waits]
CHAT = ("thanks", "LGTM", "I will look at it tomorrow.", "ok :+1:", "Merci beaucoup")
every_end = pytest.mark.parametrize("end", WAITING)


def at_end(end, config=""):
    brakes = "brakes: {attempts: 1}\n" if end is End.BRAKE else ""
    story = Story(f"{CONFIG}retry: {{max_attempts: 1, interruptions: 1}}\n{brakes}{config}")
    task = story.world.open_issue("Do it", by="stranger")
    story.world.label(task, "cf:ready")
    story.settle()
    outcome, report = BY[end]
    story.finish_live(task, outcome, **report)
    story.settle()
    while (
        end is End.STALE and story.record(task).live is not None
    ):  # it is brought up to date by itself, some times
        story.finish_live(task, outcome, **report)
        story.settle()
    story.world.wait(timedelta(minutes=1))
    return story, task


def say(story, task, words, by="maintainer"):
    story.world.comment(task, words, by=by)
    story.settle()


def told(story, task, kind):
    prints = ((one.body, read_fingerprint(one.body) or "") for one in story.world.comments_of(task))
    return [body for body, print_ in prints if print_.split(":")[0] == kind]


def went_on(story, task):
    return story.record(task).live is not None


def test_every_end_that_waits_is_tried():
    assert set(BY) == set(WAITING)


@every_end
def test_its_comment_mentions_who_ordered_says_what_happened_and_what_can_be_done(end):
    story, task = at_end(end)
    assert story.status(task) == (str(ENDS[end].status),)
    (text,) = [one.body for one in story.world.comments_of(task) if "What can be done" in one.body]
    assert "@maintainer: " in text
    for way in ENDS[end].ways:
        pull = story.record(task).pull
        assert f"- {way.by} {way.does}".format(cf="cf", ready="cf:ready", pull=pull, key="cf-1-1") in text


@every_end
def test_why_and_the_dashboard_say_what_makes_it_go_on(end):
    story, task = at_end(end)
    story.tick()
    why = story.reason(task)
    (dashboard,) = [one for one in story.world.issues.all() if one.has_label("cf:dashboard")]
    if end is End.SETTING:
        assert "tried again at" in why  # by itself
        return
    if end in (End.QUESTION, End.CHOICE):
        assert why.startswith("its question is open; goes on by ")
    else:
        assert why.split("; goes on by ")[0].replace("*", "") in dashboard.body
    assert "`/cf answer" in why
    assert story.foresee()[task] == why


@every_end
@pytest.mark.parametrize("words", CHAT)
def test_a_plain_reply_goes_on_only_where_words_were_asked_for(end, words):
    """Elsewhere it gets one hint, and a second one nothing."""
    story, task = at_end(end)
    begun = story.starts()
    say(story, task, words)
    say(story, task, words + " Really.")
    if end in (End.QUESTION, End.STALLED):
        assert went_on(story, task)
        assert words in story.record(task).answers[-1].answer
        assert told(story, task, "hint") == []
    elif end is End.CHOICE:
        assert not went_on(story, task)
    else:
        assert story.starts() == begun
        (hint,) = told(story, task, "hint")
        assert "`/cf answer WORDS`" in hint


@every_end
@pytest.mark.parametrize("words", ["change the other file", "A", "why not?", "use 3 tables\nand no more"])
def test_answer_really_goes_on_and_tells_the_next_attempt(end, words):
    story, task = at_end(end)
    begun = story.starts()
    say(story, task, f"/cf answer {words}")
    assert went_on(story, task)
    record = story.record(task)
    assert story.starts() == [*begun, f"cf-{task}-{len(begun) + 1}"]
    expected = "sqlite" if (end, words) == (End.CHOICE, "A") else words
    assert (record.answers[-1].answer, record.answers[-1].by) == (expected, "maintainer")
    assert record.parked is None
    reactions = {content for one in story.world.comments_of(task) for content, _ in one.reactions}
    assert "EYES" in reactions
    story.finish_live(task, Outcome.FAILED)  # the words are for one attempt's worth of strikes, as an order's
    story.settle()
    assert story.record(task).strikes == 1


@every_end
@pytest.mark.parametrize("words", ["change it", "/cf answer change it", "/cf retry"])
def test_a_stranger_makes_nothing_go_on_and_earns_no_word(end, words):
    story, task = at_end(end)
    before, begun = len(story.world.comments_of(task)), story.starts()
    say(story, task, words, by="stranger")
    assert story.starts() == begun
    assert len(story.world.comments_of(task)) == before + 1


@every_end
def test_retry_goes_on_and_closing_ends_it(end):
    story, task = at_end(end)
    begun = story.starts()
    say(story, task, "/cf retry")
    assert story.starts() == [*begun, f"cf-{task}-{len(begun) + 1}"]
    story, task = at_end(end)
    story.world.close(task)
    for _ in range(3):
        story.world.wait(timedelta(days=2))
        story.settle()
    assert story.status(task) == ("done",)
    assert told(story, task, "remind") == told(story, task, "escalate") == []


@every_end
def test_who_ordered_is_reminded_once_and_others_are_told_once(end):
    story, task = at_end(end, "blockers: {escalate_to: [acme/leads]}\n")
    runs = len(story.starts())
    for _ in range(4):
        story.world.wait(timedelta(hours=13))
        if end is End.SETTING and story.record(task).live is None:
            story.settle()
        while story.record(task).live is not None:  # publishing is tried again by itself
            story.finish_live(task, Outcome.HELD, **BY[End.SETTING][1])
            story.settle()
        story.settle()
    for _ in range(5):
        story.world.wait(timedelta(hours=24))
        story.settle()
    (reminder,) = told(story, task, "remind")
    (escalation,) = told(story, task, "escalate")
    assert reminder.startswith("@maintainer: ")
    assert escalation.startswith("@acme/leads: ")
    assert end in (End.QUESTION, End.CHOICE) or "`/cf answer WORDS`" in reminder
    assert len(story.starts()) == runs + 3 * (end is End.SETTING)


def test_the_words_of_an_answer_are_kept_where_a_retry_follows_at_once():
    story, task = at_end(End.NO_CHANGES)
    story.world.comment(task, "/cf answer change the other file")
    story.world.wait(timedelta(seconds=5))
    story.world.comment(task, "/cf retry")
    story.settle()
    assert [one.answer for one in story.record(task).answers] == ["change the other file"]
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_words_that_crossed_the_end_are_kept_for_the_next_attempt():
    """They were written while the attempt still ran, and are read only after it was settled."""
    at = ago(minutes=10)
    parked = Parked(End.NO_CHANGES, at, 1)
    record = a_record(1, Status.BLOCKED, attempts=(an_attempt(1, Outcome.NO_CHANGES),), parked=parked)
    said = a_comment("/cf answer change the other file", at=at - timedelta(seconds=1))
    decision = decide(a_task(1, Status.BLOCKED, record=record), comments={1: (said,)})
    assert decision.status is Status.BLOCKED
    assert [one.answer for one in decision.record.answers] == ["change the other file"]


def test_what_a_person_parked_is_nobodys_end():
    """After the label was set by hand neither a reply nor `/cf answer` starts anything, and nobody is reminded."""
    story, task = at_end(End.STALLED)
    story.world.label(task, "cf:backlog")
    story.world.unlabel(task, "cf:blocked")
    story.settle()
    story.world.label(task, "cf:blocked")
    story.world.unlabel(task, "cf:backlog")
    story.settle()
    story.world.wait(timedelta(days=5))
    say(story, task, "use fewer tests")
    assert story.starts() == [f"cf-{task}-1"]
    assert told(story, task, "remind") == told(story, task, "escalate") == []


@pytest.mark.parametrize("state", ["CHANGES_REQUESTED"])
def test_a_review_of_the_draft_goes_on(state):
    story, task = at_end(End.UNVERIFIED)
    story.world.review(story.record(task).pull, state, "please rename it")
    story.settle()
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_a_member_that_failed_is_said_again_by_its_batch_only():
    story = Story(f"{CONFIG}retry: {{max_attempts: 1}}\n")
    fails, asks = (story.world.open_issue("Do it", by="stranger") for _ in range(2))
    order(story, f"{fails} {asks}")
    story.settle()
    story.finish_live(fails, Outcome.FAILED)
    story.finish_live(asks, Outcome.STALLED)
    story.settle()
    story.world.wait(timedelta(days=4))
    story.settle()
    assert (told(story, fails, "remind"), told(story, fails, "escalate")) == ([], [])
    assert len(told(story, asks, "escalate")) == 1
    (text,) = told(story, fails, "failed")
    assert text.startswith("**Failed** after 1 attempt;")


def test_the_words_start_what_an_ended_batch_left():
    story = Story(f"{CONFIG}start: manual\nretry: {{max_attempts: 1}}\n")
    task = story.world.open_issue("Do it", by="stranger")
    order(story, str(task))
    story.settle()
    story.finish_live(task, Outcome.FAILED)
    story.settle()
    (batch,) = batches(story)
    assert not story.world.issue(batch).is_open
    story.world.wait(timedelta(minutes=1))
    say(story, task, "/cf answer change the other file")
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_a_record_written_before_ends_were_noted_is_answered_as_well():
    """Such a task was blocked when its attempt ended; nobody is reminded of it, as nobody knows what was said."""
    attempt = an_attempt(1, Outcome.STALLED, ended_at=ago(minutes=30))
    record = a_record(1, Status.BLOCKED, attempts=(attempt,), next_attempt=2)
    task = a_task(1, Status.BLOCKED, record=record)
    assert decide(task, comments={1: (a_comment("use fewer tests"),)}).status is Status.READY
    assert not decide(task, now=NOW + timedelta(days=9)).notices
    moved = a_task(1, Status.BLOCKED, record=replace(record, status_at=ago(minutes=5)))
    assert decide(moved, comments={1: (a_comment("use fewer tests"),)}).status is Status.BLOCKED
