"""Story: what became ready in one tick is started by the next look at once, not by the next sweep."""

from datetime import timedelta

from bot.conductor.linger import Lingering
from bot.model.report import Outcome, Question
from tests.conductor.story import Story


class Clock:
    def __init__(self, story):
        self.story = story

    def now(self):
        return self.story.world.now

    def sleep(self, span):
        self.story.world.wait(span)


def linger(story, most=timedelta(0)):
    return Lingering(story.tick, lambda: False, Clock(story)).run(lambda _: most)


def test_an_answered_question_goes_on_in_the_same_run():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.BLOCKED, question=Question("Which colour?"))
    story.tick()
    story.world.comment(task, "Blue.")
    linger(story)
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_an_interrupted_attempt_goes_on_in_the_same_run():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.INFRA)
    linger(story)
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_a_failed_one_waits_out_its_back_off():
    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.FAILED)
    linger(story)
    assert story.starts() == [f"cf-{task}-1"]
    linger(story, timedelta(minutes=5))
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_an_idle_tick_is_due_for_nothing():
    story = Story()
    story.world.open_issue("Later", labels=("cf:backlog",))
    assert story.tick().due is None
