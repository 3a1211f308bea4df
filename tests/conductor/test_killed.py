"""Story: killed at any write, or crossed by a second conductor there: the same end as undisturbed (invariants 9 and 16)."""

from collections import Counter
from datetime import timedelta

import pytest

from bot.conductor.act import act
from bot.conductor.observe import observe
from bot.conductor.tick import decide, tick
from bot.model.change import CreateComment, Written
from bot.model.errors import TryLater
from bot.model.report import Hold, Outcome, Question
from bot.notation.comments import read_fingerprint
from bot.notation.records import is_record
from bot.sandbox.world.faults import Disconnected, Fault, Faults
from bot.sandbox.world.in_process import client_of
from tests.conductor.story import Story


def dispatched(story):
    """The first tick ever, a start, and what waits for it."""
    first = story.ready()
    second = story.ready(f"depends on #{first}")
    for task in (first, second):
        story.settle()
        story.finish_live(task, Outcome.PASSED)
        story.settle()
        story.merge(task)
    story.settle()


def retried(story):
    task = story.ready()
    story.settle()
    story.on_with()
    story.finish_live(task, Outcome.FAILED)
    story.settle()
    story.world.wait(timedelta(minutes=5))
    story.settle()
    story.finish_live(task, Outcome.PASSED)
    story.settle()


def answered(story):
    task = story.ready()
    story.settle()
    story.on_with()
    story.finish_live(task, Outcome.BLOCKED)
    story.settle()
    story.world.wait(timedelta(minutes=5))
    story.world.comment(task, "sqlite")
    story.settle()
    story.finish_live(task, Outcome.PASSED)
    story.settle()


VENV = Question("Should I create a virtual environment?")


def answered_automatically(story):
    task = story.ready()
    story.settle()
    story.on_with()
    story.finish_live(task, Outcome.BLOCKED, question=VENV)
    story.settle()


def taken_back(story):
    task = story.ready()
    story.settle()
    story.finish_live(task, Outcome.BLOCKED, question=VENV)
    story.settle()
    begin_live(story, task)
    story.on_with()
    story.world.wait(timedelta(minutes=5))
    story.world.comment(task, "No, use the container's Python.")
    story.settle()


def asked_on_two(story):
    tasks = [story.ready(), story.ready()]
    story.settle()
    story.finish_live(tasks[0], Outcome.BLOCKED, question=Question("What is it called?"))
    story.settle()
    story.on_with()
    story.finish_live(tasks[1], Outcome.BLOCKED, question=Question("What is it called?"))
    story.settle()
    story.world.wait(timedelta(minutes=5))
    story.world.comment(tasks[0], "Bob")
    story.settle()
    assert [story.record(task).answers[-1].answer for task in tasks] == ["Bob", "Bob"]


def mended_once(story):
    tasks = [story.ready(), story.ready()]
    story.settle()
    story.on_with()
    for task in tasks:
        story.finish_live(task, Outcome.FAILED, failure="f" * 32)
    story.settle()
    (fix,) = [issue.number for issue in story.world.issues.all() if issue.has_label("cf:shared-fix")]
    assert [story.record(task).own_needs for task in tasks] == [(fix,), (fix,)]
    story.world.wait(timedelta(minutes=5))
    story.world.close(fix)
    story.settle()


def running(story):
    task = story.ready()
    story.settle()
    begin_live(story, task)
    story.on_with()
    return task


def begin_live(story, task):
    live = story.record(task).live
    assert live is not None
    story.begin(f"cf-{task}-{live.number}")


def closed(story):
    story.world.close(running(story), reason="not_planned")
    story.settle()


def withdrawn(story):
    story.world.unlabel(running(story), "cf:in-progress")
    story.settle()


def edited_by_a_stranger(story):
    task = story.world.open_issue("x", "", by="stranger")
    story.world.label(task, "cf:ready")
    story.settle()
    begin_live(story, task)
    story.on_with()
    story.world.edit_issue(task, body="and now something else", by="stranger")
    story.settle()


def passed(story):
    task = story.ready()
    story.settle()
    story.finish_live(task, Outcome.PASSED)
    story.settle()
    return task


def reopened(story):
    task = passed(story)
    story.merge(task)
    story.settle()
    story.on_with()
    story.world.wait(timedelta(minutes=5))
    story.world.reopen(task)
    story.settle()


def merged_without_closing(story):
    task = passed(story)
    story.on_with()
    story.world.edit_issue(story.record(task).pull, body="no closing word")
    story.merge(task)
    story.settle()


def commanded(story):
    task = story.world.open_issue("x")
    story.settle()  # the first tick ever: what was written before it orders nothing
    story.on_with()
    story.world.comment(task, "/cf run\n/cf frobnicate")
    story.settle()
    begin_live(story, task)
    story.world.comment(task, "/cf help", by="stranger")
    story.world.comment(task, "/cf stop now")
    story.world.comment(task, "/cf status")
    story.settle()


def published_later(story):
    task = story.ready()
    story.settle()
    story.finish_live(task, Outcome.HELD, hold=Hold.SETTING, head="c" * 40)
    story.settle()
    story.on_with()
    story.world.wait(timedelta(hours=1))
    story.settle()
    story.finish_live(task, Outcome.PASSED)
    story.settle()


STORIES = (
    published_later,
    retried,
    commanded,
    answered,
    closed,
    withdrawn,
    edited_by_a_stranger,
    reopened,
    merged_without_closing,
    answered_automatically,
    taken_back,
    asked_on_two,
    mended_once,
)
story_of = pytest.mark.parametrize("tell", STORIES, ids=lambda tell: tell.__name__)


def ending(story):
    """All that people see in the end: of each task its state, its notices by kind, and how many status comments it has."""
    ours = {story.world.token("github-actions[bot]").account.id}
    seen = {}
    for issue in story.world.issues.all():
        if issue.is_pull:
            continue
        bodies = [comment.body for comment in issue.comments if comment.author.id in ours]
        told = Counter(print_.split(":")[0] for body in bodies if (print_ := read_fingerprint(body)))
        name = "dashboard" if issue.has_label("cf:dashboard") else issue.number
        seen[name] = (issue.is_open, story.status(issue.number), dict(told), sum(map(is_record, bodies)))
    return seen


@pytest.mark.slow
@story_of
def test_16_killed_at_any_write_the_end_is_the_same(tell):
    """Before and after it was applied. What one document carries are writes of their own, so that it is applied in part, too."""
    undisturbed = told(tell)
    expected = ending(undisturbed)
    for number in own_writes(undisturbed):
        for after in (False, True):
            story = Story()
            story.world.faults.fail_write(number, after=after)
            tell(story)
            assert ending(story) == expected, (number, after)
            assert len(story.agent_starts()) == len(story.starts()), (number, after)


def told(tell):
    story = Story()
    tell(story)
    return story


def own_writes(story):
    """The numbers of the writes that the story is about."""
    return range(story.writes_before + 1, story.world.faults.writes + 1)


class Crossed(Faults):
    """Lets something else happen around the n-th write, and then kills whoever made that write, if so ordered."""

    def __init__(self, number, meanwhile, *, kills):
        super().__init__()
        self.number, self.meanwhile, self.kills, self.inside, self.place = number, meanwhile, kills, False, ""

    def strike(self, operation, *, write, after):
        super().strike(operation, write=write, after=after)
        if write and after and not self.inside and self.writes == self.number:
            self.place, self.inside = operation, True
            self.meanwhile()
            self.inside = False
            if self.kills:
                raise Disconnected


class Second:
    """Another conductor's tick; if its lists are behind, they show what the first one's showed."""

    def __init__(self, story, behind):
        self.story, self.other, self.behind = story, client_of(story.world), behind
        look = story.github.comments_since

        def both_look(since):
            self.other.view("cf", None)
            self.other.comments_since(since)
            self.other.runs("cf-worker.yml")
            return look(since)

        if behind:
            story.github.comments_since = both_look

    def __call__(self):
        self.story.world.faults.stale_reads = 3 * self.behind
        try:
            tick(self.other, lambda: self.story.world.now)
        except TryLater:
            assert self.behind  # and seen to be
        self.story.world.faults.stale_reads = 0


def seen_by_people(story, behind):
    """The end without the dashboard, which two first ticks may both make; a notice that lists do not show yet may come twice."""
    seen = ending(story)
    del seen["dashboard"]
    return {
        task: (is_open, status, sorted(told) if behind else told, records)
        for task, (is_open, status, told, records) in seen.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["", "lists are behind", "and the first dies"])
@pytest.mark.parametrize(
    "tell", [dispatched, retried, answered, closed, commanded], ids=lambda tell: tell.__name__
)
def test_9_a_second_conductor_after_any_write_changes_nothing(tell, trouble):
    """DUP-01: its whole tick falls between two writes of the first, and may be made from lists that are behind."""
    behind = trouble == "lists are behind"
    undisturbed = told(tell)
    expected = seen_by_people(undisturbed, behind)
    for number in own_writes(undisturbed):
        story = Story()
        second = Second(story, behind)
        story.world.faults = Crossed(number, second, kills=trouble == "and the first dies")
        tell(story)
        assert seen_by_people(story, behind) == expected, (number, story.world.faults.place)
        # A key that was claimed by a tick that died before its dispatch is spent.
        assert len(story.agent_starts()) == len(undisturbed.agent_starts()), number
        assert trouble or story.starts() == undisturbed.starts(), number


def test_9_a_status_comment_that_appeared_since_the_snapshot_is_not_doubled():
    """The first conductor claimed and died before its labels, so only its comment tells."""
    story = Story()
    task = story.ready()
    other = client_of(story.world)
    seen, planned = decide(other, observe(other, story.world.now))
    story.world.faults.planned.append(Fault(Disconnected, "dispatch", writes_only=True))
    with pytest.raises(TryLater):
        story.tick()
    effects = act(other, planned, seen)

    assert effects.skipped == {task: "changed since snapshot"}
    assert sum(is_record(comment.body) for comment in story.world.comments_of(task)) == 1


def test_a_notice_posted_by_a_tick_that_died_is_remembered_by_the_next_one():
    """Not only while the comment is new: later comments move the cursor past it."""
    story = Story()
    task = story.ready("depends on #999")
    story.world.faults.planned.append(
        Fault(Disconnected, "write:CreateComment", writes_only=True, after=True)
    )
    with pytest.raises(TryLater):
        story.tick()
    for _ in range(3):
        story.world.comment(task, "any news?")
        story.tick()

    told = [read_fingerprint(comment.body) for comment in story.world.comments_of(task)]
    assert len([one for one in told if one]) == 1
    assert story.record(task).notices


def test_a_claim_that_is_refused_leaves_the_order_as_it_was():
    """A locked issue stops nobody else, and is not said to run."""
    story = Story()
    locked, other = story.ready(), story.ready()
    write = story.github.write

    def refuse(changes):
        said = Written(error="Unable to create comment because issue is locked.")
        mine = [
            isinstance(change, CreateComment) and change.issue == story.world.issue(locked).node_id
            for change in changes
        ]
        answers = iter(write([change for change, no in zip(changes, mine, strict=True) if not no]))
        return tuple(said if no else next(answers) for no in mine)

    story.github.write = refuse  # type: ignore[method-assign]
    for _ in range(3):
        story.tick()
    assert story.starts() == [f"cf-{other}-1"]
    assert story.status(locked) == ("ready",)
    story.github.write = write  # type: ignore[method-assign]
    story.tick()

    assert f"cf-{locked}-1" in story.starts()
    assert story.status(locked) == ("in-progress",)


def test_a_run_dispatched_by_a_tick_that_died_is_found_however_late():
    """Older than the window in which runs are listed, and its id was never noted."""
    story = Story()
    task = story.ready()
    story.world.faults.planned.append(Fault(Disconnected, "dispatch", writes_only=True, after=True))
    with pytest.raises(TryLater):
        story.tick()
    run = story.begin(f"cf-{task}-1")
    story.world.wait(timedelta(hours=9))
    story.tick()

    assert story.starts() == [f"cf-{task}-1"]
    live = story.record(task).live
    assert live is not None
    assert live.run == run
