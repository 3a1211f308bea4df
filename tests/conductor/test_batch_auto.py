"""Story: strategy auto: needs are inferred once, merged with those that exist, and hold for the batch only."""

from collections.abc import Mapping, Sequence

import pytest

from bot.conductor.tick import tick
from bot.model.advice import Brief, Proposal, Verdict
from bot.model.config import Config
from bot.model.errors import TryLater
from bot.model.report import Outcome, Question
from tests.conductor.batching import batches, issue, order, record_of, state
from tests.conductor.story import Story


class Oracle:
    """Answers as it was told, and counts how often it was asked."""

    def __init__(self, needs: Mapping[int, tuple[int, ...]], problem: str = "") -> None:
        self.proposal, self.asked = Proposal(needs, problem), 0

    def __call__(self, config: Config) -> "Oracle":
        return self

    def infer(self, tasks: Sequence[Brief]) -> Proposal:
        self.asked += 1
        self.briefs = tasks
        return self.proposal

    def classify(self, question: Question) -> Verdict:
        raise AssertionError(f"nobody asked: {question}")


def look(story: Story, oracle: Oracle) -> None:
    for _ in range(3):
        tick(story.github, lambda: story.world.now, oracle)


def test_inferred_needs_hold_at_once_for_this_batch_and_stand_in_its_issue():
    story = Story()
    first, second, third = issue(story), issue(story, "Depends on #1"), issue(story)
    order(story, f"{first}-{third}", strategy="auto")
    (batch,) = batches(story)
    # 1 needs 3; 3 needs 2 would close a cycle by the hand-made 2 -> 1; the rest is nonsense.
    oracle = Oracle({first: (third, first, 99), third: (second,), 98: (first,)})
    tick(story.github, lambda: story.world.now, oracle)
    assert story.starts() == []
    assert state(story, batch) == ("pending",)
    look(story, oracle)

    assert story.starts() == [f"cf-{third}-1"]
    assert state(story, batch) == ("running",)
    assert oracle.asked == 1
    assert [one.number for one in oracle.briefs] == [first, second, third]
    assert record_of(story, batch).needs == {first: (third,)}
    body = story.world.issue(batch).body
    assert f"- #{first} ← #{third}" in body
    assert f"#{third} ← #{second} was dropped: it would close the cycle" in body
    assert f"#{first} ← #{first} was dropped: a task cannot need itself" in body
    assert f"#{first} ← #99 was dropped" in body
    assert "Depends on" not in story.world.issue(first).body
    story.finish_live(third, Outcome.PASSED)
    look(story, oracle)
    story.merge(third)
    look(story, oracle)
    assert story.starts()[-1] == f"cf-{first}-1"


def test_no_needs_are_said_to_be_none():
    story = Story()
    order(story, f"{issue(story)} {issue(story)}", strategy="auto")
    look(story, Oracle({}))
    assert "No needs inferred." in story.world.issue(batches(story)[0]).body
    assert len(story.starts()) == 2


def test_without_an_answer_the_batch_goes_on_one_by_one_and_says_so():
    story = Story()
    first, second = issue(story), issue(story)
    order(story, f"{second} {first}", strategy="auto")
    look(story, Oracle({}, "no key for the planning model"))

    assert story.starts() == [f"cf-{second}-1"]
    body = story.world.issue(batches(story)[0]).body
    assert "The needs could not be inferred, so the tasks go one after the other: no key" in body
    assert "waits for its turn" in story.foresee()[first]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("write", [1, 2, 3])
def test_killed_while_the_needs_are_written_nothing_starts_without_them(write, after):
    story = Story()
    first, second = issue(story), issue(story)
    order(story, f"{first} {second}", strategy="auto")
    oracle = Oracle({first: (second,)})
    story.world.faults.fail_write(write, after=after)
    for _ in range(4):
        try:
            tick(story.github, lambda: story.world.now, oracle)
        except TryLater:
            continue
    story.settle()
    assert story.agent_starts() == {f"cf-{second}-1"}


def test_members_are_taken_over_while_needs_are_inferred():
    story = Story()
    ready = story.ready()
    order(story, f"{ready} {issue(story)}", strategy="auto")
    tick(story.github, lambda: story.world.now, Oracle({}))
    assert story.starts() == []


def own(story: Story, *tasks: int) -> list[tuple[int, ...]]:
    return [story.record(task).own_needs for task in tasks]


def test_what_was_inferred_reaches_the_issues_by_consent_only():
    story = Story()
    first, second = issue(story), issue(story)
    order(story, f"{first} {second}", strategy="auto")
    (batch,) = batches(story)
    oracle = Oracle({second: (first,)})
    look(story, oracle)
    story.advise = oracle
    assert own(story, first, second) == [(), ()]
    story.world.comment(batch, "/cf apply", by="stranger")
    story.settle()
    assert own(story, first, second) == [(), ()]
    story.world.comment(batch, "/cf apply")
    story.settle()
    assert own(story, first, second) == [(), (first,)]
    assert record_of(story, batch).proposed.consent == ""
    story.world.comment(batch, "/cf stop --force")
    story.settle()
    story.world.label(second, "cf:ready")
    story.settle()
    assert story.reason(second) == f"waiting on #{first}"


def test_on_a_batch_needs_between_its_members_are_proposed_and_taken_over():
    story = Story()
    first, second, other = issue(story), issue(story), issue(story)
    order(story, f"{first} {second}", max_parallel="1")
    (batch,) = batches(story)
    story.settle()
    oracle = story.advise = Oracle({second: (first, other)})
    story.world.comment(batch, "/cf apply")
    story.settle()
    assert "no needs wait here" in story.world.comments_of(batch)[-1].body
    story.world.comment(batch, "/cf deps")
    story.settle()
    assert [one.number for one in oracle.briefs] == [first, second]
    text = story.world.comments_of(batch)[-1].body
    assert f"- #{second} <- #{first}" in text
    assert f"#{other} is not among the tasks" in text
    assert own(story, second) == [()]
    story.world.comment(batch, "/cf apply")
    story.settle()
    assert own(story, second) == [(first,)]
