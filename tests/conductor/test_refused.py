"""Story: GitHub refuses one comment, for whatever reason: it is said at the next chance, exactly once, and the end is the same."""

from collections import Counter
from contextlib import suppress
from datetime import timedelta

import pytest

from bot.conductor.observe import observe
from bot.model.errors import CannotGoOn, TryLater
from bot.model.report import Hold, Outcome, Question
from bot.notation.comments import read_fingerprint
from bot.notation.records import is_record
from bot.sandbox.world.errors import ApiError
from bot.sandbox.world.faults import Disconnected, Fault
from tests.conductor.batching import batches, last_words, order
from tests.conductor.story import CONFIG, Story
from tests.conductor.test_batch_gate import merged_batch

LOCKED = "Unable to create comment because issue is locked."
REFUSALS = {
    "locked": ApiError(403, LOCKED, "FORBIDDEN"),
    "forbidden": ApiError(403, "Resource not accessible by integration", "FORBIDDEN"),
    "too long": ApiError(422, "Body is too long (maximum is 65536 characters)", "UNPROCESSABLE"),
    "spam": ApiError(422, "was submitted too quickly", "UNPROCESSABLE"),
    "unavailable": ApiError(502, "Server Error", "INTERNAL"),
    "limited": ApiError(
        403, "You have exceeded a secondary rate limit.", "RATE_LIMITED", {"retry-after": "60"}
    ),
    "not known whether": None,  # the connection died
}


class Patient(Story):
    """A whole document refused for want of a permission ends a tick in red, and another one follows.

    A task whose first comment, its record, was refused is held for a while: then it is tried again.
    """

    def settle(self):
        try:
            super().settle()
        except CannotGoOn:
            self.settle()
        if observe(self.github, self.world.now).snapshot.unwritten:
            self.world.wait(timedelta(minutes=15))
            self.settle()


def a_started(story, body="", **fields):
    task = story.ready(body, **fields)
    story.settle()
    story.on_with()
    return task


def ended(story, outcome, **report):
    task = a_started(story)
    story.finish_live(task, outcome, **report)
    story.settle()
    return task


def stalled(story):
    task = ended(story, Outcome.STALLED)
    story.world.wait(timedelta(minutes=1))
    story.world.comment(task, "Use fewer tests.")
    story.settle()


def no_changes(story):
    task = ended(story, Outcome.NO_CHANGES)
    story.world.wait(timedelta(minutes=1))
    story.world.comment(task, "thanks")
    story.settle()


def unverified_and_refused(story):
    task = ended(story, Outcome.UNVERIFIED)
    story.world.wait(timedelta(minutes=1))
    story.world.close_pull(story.record(task).pull)
    story.settle()


def held(story):
    ended(story, Outcome.HELD, hold=Hold.PROTECTED, protected=("AGENTS.md",), head="c" * 40)


def passed(story):
    ended(story, Outcome.PASSED, asked="")


def failed(story):
    task = ended(story, Outcome.FAILED)
    story.world.wait(timedelta(minutes=5))
    story.settle()
    story.finish_live(task, Outcome.CRASHED)
    story.settle()


def interrupted(story):
    task = a_started(story)
    while (live := story.record(task).live) is not None:
        story.die(f"cf-{task}-{live.number}")
        story.settle()


def asked_and_answered(story):
    task = ended(story, Outcome.BLOCKED, question=Question("What is it called?"))
    story.world.wait(timedelta(minutes=5))
    story.world.comment(task, "Do you mean the table?")
    story.settle()
    story.world.comment(task, "Bob")
    story.settle()


def reminded(story):
    ended(story, Outcome.STALLED)
    for hours in (25, 49):
        story.world.wait(timedelta(hours=hours))
        story.settle()


def put_back(story):
    task = a_started(story)
    story.world.add_user("triager", "triage")
    story.world.label(task, "cf:done", by="triager")
    story.world.unlabel(task, "cf:in-progress", by="triager")
    story.settle()


def changed(story):
    task = story.world.open_issue("x", "", by="stranger")
    story.world.label(task, "cf:ready")
    story.settle()
    story.on_with()
    story.world.edit_issue(task, body="and now something else", by="stranger")
    story.settle()


def needs_what_is_off(story):
    need = story.world.open_issue("Off")
    story.world.close(need, reason="not_planned")
    task = story.ready(f"depends on #{need}")
    story.world.comment(task, "depends on #999")
    story.settle()


def goes_round(story):
    first = story.world.open_issue("One", "depends on #2", labels=("cf:ready",))
    story.world.open_issue("Two", f"depends on #{first}", labels=("cf:ready",))
    story.settle()


def not_approved(story):
    story.world.add_user("triager", "triage")
    story.world.open_issue("x", "", labels=("cf:ready",), by="triager")
    story.settle()


def refused_in_words(story):
    task = a_started(story)
    story.world.comment(task, "/cf frobnicate")
    story.world.comment(task, "/cf status")
    story.settle()


def a_batch(story):
    tasks = [story.world.open_issue(name) for name in ("One", "Two")]
    order(story, " ".join(map(str, tasks)))
    story.settle()
    story.on_with()
    for task in tasks:
        story.finish_live(task, Outcome.PASSED, asked="")
    story.settle()
    story.finish_gate(batches(story)[0])
    story.settle()
    for task in tasks:
        story.merge(task)
    story.settle()


STORIES = {
    stalled: {"stalled"},
    no_changes: {"no_changes", "hint"},
    unverified_and_refused: {"unverified", "refused"},
    held: {"held"},
    passed: {"passed"},
    failed: {"failed"},
    interrupted: {"interrupted"},
    asked_and_answered: {"question", "hint"},
    reminded: {"stalled", "remind", "escalate"},
    put_back: {"put-back"},
    changed: {"changed"},
    needs_what_is_off: {"need", "misplaced"},
    goes_round: {"cycle"},
    not_approved: {"unapproved"},
    refused_in_words: {"reply"},
    a_batch: {"passed", "batch-end"},
}


def said(story):
    """What stands in the end: of each issue its state, what was told and how often, and its status comments."""
    ours = {story.world.token("github-actions[bot]").account.id}
    found = {}
    for issue in story.world.issues.all():
        bodies = [comment.body for comment in issue.comments if comment.author.id in ours]
        told = Counter(print_.split(":")[0] for body in bodies if (print_ := read_fingerprint(body)))
        if not issue.is_pull and not issue.has_label("cf:dashboard"):
            found[issue.number] = (
                issue.is_open,
                story.status(issue.number),
                told,
                sum(map(is_record, bodies)),
            )
    return found


def told(tell, fault=None):
    story = Patient(CONFIG + "retry: {max_attempts: 2}\n")
    if fault is not None:
        story.world.faults.planned.append(fault)
    tell(story)
    for _ in range(2):  # what was refused in the last tick has its chance
        story.settle()
    return story


class Comments(Fault):
    """Counts the comments that are created and spoils none."""

    def __init__(self):
        super().__init__(lambda: AssertionError("never"), "write:CreateComment", writes_only=True, skip=10**6)

    @property
    def seen(self):
        return 10**6 - self.skip


@pytest.mark.slow
@pytest.mark.parametrize("why", REFUSALS, ids=lambda why: why.replace(" ", "-"))
@pytest.mark.parametrize("tell", STORIES, ids=lambda tell: tell.__name__)
def test_each_comment_refused_once_is_said_once(tell, why):
    """Whichever of the story's comments it is, a record among them."""
    counting = Comments()
    expected = said(told(tell, counting))
    kinds = {kind for _, _, told_, _ in expected.values() for kind in told_}
    assert STORIES[tell] <= kinds
    error = REFUSALS[why]
    for number in range(counting.seen):
        fault = Fault(
            lambda: error or Disconnected(), "write:CreateComment", True, number, 1, after=error is None
        )
        story = told(tell, fault)
        assert fault not in story.world.faults.planned, number
        assert said(story) == expected, number
        assert len(story.agent_starts()) == len(story.starts()), number


def test_killed_between_the_comment_and_the_record_after_it_had_been_refused_once():
    story = Story()
    task = a_started(story)
    story.finish_live(task, Outcome.NO_CHANGES)
    story.world.faults.refuse("write:CreateComment", LOCKED)
    story.tick()
    (unsaid,) = story.record(task).unsaid
    assert (unsaid.fingerprint, unsaid.tries) == (f"no_changes:cf-{task}-1", 1)
    assert story.status(task) == ("blocked",)

    story.world.faults.planned.append(Fault(Disconnected, "write:CreateComment", True, after=True))
    with pytest.raises(TryLater):
        story.tick()
    story.settle()
    assert said(story)[task][2] == {"no_changes": 1}
    assert story.record(task).unsaid == ()


def test_what_is_refused_again_and_again_is_tried_ever_more_seldom_and_never_forgotten():
    """A locked issue costs each notice a write a day (its end, a reminder, an escalation); all stand once it is unlocked."""
    story = Story()
    task = a_started(story)
    story.finish_live(task, Outcome.NO_CHANGES)
    story.world.faults.refuse("write:CreateComment", LOCKED, times=10**6)
    (fault,) = story.world.faults.planned
    before = fault.times
    for _ in range(12 * 24 * 4):
        story.world.wait(timedelta(minutes=15))
        story.tick()
    assert 30 <= before - fault.times <= 50
    story.world.faults.planned.clear()
    story.world.wait(timedelta(days=1))
    story.settle()
    assert said(story)[task][2] == {"no_changes": 1, "remind": 1, "escalate": 1}


def test_a_question_that_was_refused_is_not_asked_once_it_was_answered():
    """It is told as answered: who reads the issue later sees what was asked."""
    story = Story()
    task = a_started(story)
    story.finish_live(task, Outcome.BLOCKED, question=Question("What is it called?"))
    story.world.faults.refuse("write:CreateComment", LOCKED, times=2)
    story.tick()
    story.world.comment(task, "/cf answer Bob")
    story.tick()
    story.world.wait(timedelta(minutes=6))
    story.settle()
    (text,) = [one.body for one in story.world.comments_of(task) if "> What is it called?" in one.body]
    assert "**Question, answered** by maintainer." in text


def test_what_a_questions_comment_becomes_is_written_at_the_next_chance():
    story = Story()
    task = ended(story, Outcome.BLOCKED, question=Question("What is it called?"))
    story.world.comment(task, "Bob")
    story.world.faults.refuse("write:EditComment", "Something went wrong")
    story.settle()
    (text,) = [one.body for one in story.world.comments_of(task) if "> What is it called?" in one.body]
    assert "**Question, answered** by maintainer." in text


def test_a_record_that_is_refused_says_nothing_twice():
    """Its notice stands; however many ticks pass until the record can be written, nothing is posted again."""
    story = Story()
    task = a_started(story)
    story.finish_live(task, Outcome.NO_CHANGES)
    story.world.faults.refuse("write:EditComment", "Something went wrong", times=4)
    for _ in range(6):
        story.world.comment(task, "any news?", by="stranger")
        story.tick()
    assert said(story)[task][2] == {"no_changes": 1}


def test_an_issue_that_a_batch_asks_for_and_github_refused_is_opened_at_the_next_chance():
    story = Story(CONFIG + "retry: {max_attempts: 1}\n")
    _, batch = merged_batch(story)
    for green in (False, False, False):
        story.finish_gate(batch, green=green)
        story.settle()
    story.finish_gate(batch)
    story.world.faults.refuse("write:CreateIssue", "was submitted too quickly")
    story.settle()
    assert len([one for one in story.world.issues.all() if one.has_label("cf:regression")]) == 1
    assert "Batch gate: **not passed**" in last_words(story, batch)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("write", range(1, 18))
def test_what_was_written_before_the_installation_orders_nothing_wherever_the_first_tick_died(write, after):
    """The first tick opens the dashboard; the next one still looks at all that a first look looks at, and obeys none of it."""
    story = Story()
    task = story.world.open_issue("Do it", by="maintainer")
    story.world.comment(task, "/cf run", by="maintainer")
    ready = story.ready()
    story.world.wait(timedelta(minutes=1))
    story.world.faults.fail_write(write, after=after)
    with suppress(TryLater):
        story.tick()
    story.world.faults.planned.clear()
    for _ in range(3):
        story.world.wait(timedelta(minutes=6))
        story.tick()
    assert {key for key in story.starts() if key.startswith(f"cf-{task}-")} == set()
    assert any(key.startswith(f"cf-{ready}-") for key in story.starts())

    story.world.comment(task, "/cf run", by="maintainer")
    story.settle()

    assert f"cf-{task}-1" in story.starts()
