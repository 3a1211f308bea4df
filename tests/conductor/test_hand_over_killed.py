"""Story: a hand-over killed before and after every write, or crossed by the account before at every write, in both directions."""

import pytest

from bot.conductor.tick import tick
from bot.model.errors import BotError, TryLater
from bot.model.report import Outcome, Question
from bot.notation.records import is_record
from bot.sandbox.world.faults import Disconnected
from tests.conductor.test_killed import Crossed, own_writes
from tests.conductor.two_accounts import (
    APP,
    BOT,
    account,
    board,
    boards,
    client,
    configure,
    said_twice,
    tick_as,
    two,
)

DIRECTIONS = [(BOT, APP), (APP, BOT), (BOT, "second"), ("second", BOT)]


def before_the_hand_over(old, new):
    """Tasks that run, wait, ask, and wait to be started; and the configuration that names the newcomer."""
    story = two("identity: {conductor: second}\n" if old == "second" else "")
    asks, runs = story.ready(), story.ready()
    story.ready(f"depends on #{runs}")
    tick_as(story, old)
    story.begin(f"cf-{runs}-1")
    story.github = client(story, old)
    story.finish_live(asks, Outcome.BLOCKED, question=Question("Which database?"))
    tick_as(story, old)
    story.ready()
    named = ", conductor: second" if new == "second" else ""
    configure(story, f"identity: {{also: [{account(story, old).id}]{named}}}")
    story.github = client(story, new)
    story.on_with()
    return story


def go_on(story, old):
    """The newcomer ticks until nothing is left to do; the account before tries again and again, and may not."""
    quiet = False
    while not quiet:
        before = story.world.faults.writes
        try:
            story.tick()
            quiet = story.world.faults.writes == before
        except (Disconnected, TryLater):
            quiet = False
        try_as(story, old)
    story.settle()


def try_as(story, old):
    """A tick of the account before: it may go on until the newcomer has a dashboard, and never after that."""
    theirs = any(issue.author != account(story, old) for issue in boards(story))
    try:
        tick(client(story, old), lambda: story.world.now)
    except TryLater:
        return
    except BotError:
        return
    assert not theirs


def ending(story):
    """What people see, whoever wrote it. The key of a claim that died before its dispatch is spent, so tasks are compared."""
    tasks = [
        issue
        for issue in story.world.issues.all()
        if not issue.is_pull and not issue.has_label("cf:dashboard")
    ]
    seen = {
        issue.number: (
            issue.is_open,
            story.status(issue.number),
            sum(is_record(one.body) for one in issue.comments),
        )
        for issue in tasks
    }
    runs = sorted((run.inputs["keys"].rpartition("-")[0], run.conclusion) for run in story.worker_runs())
    return seen, runs, board(story).author.login


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), DIRECTIONS)
def test_killed_at_any_write_the_end_is_the_same(old, new):
    undisturbed = before_the_hand_over(old, new)
    go_on(undisturbed, old)
    expected = ending(undisturbed)
    assert expected[2] == new
    assert len(own_writes(undisturbed)) > 6
    for number in own_writes(undisturbed):
        for after in (False, True):
            story = before_the_hand_over(old, new)
            story.world.faults.fail_write(number, after=after)
            go_on(story, old)
            assert ending(story) == expected, (number, after)
            assert said_twice(story) == [], (number, after)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [False, True])
@pytest.mark.parametrize(("old", "new"), DIRECTIONS)
def test_crossed_by_the_account_before_at_any_write_the_end_is_the_same(old, new, kills):
    undisturbed = before_the_hand_over(old, new)
    go_on(undisturbed, old)
    expected = ending(undisturbed)
    for number in own_writes(undisturbed):
        story = before_the_hand_over(old, new)
        crossed = Crossed(number, lambda story=story: try_as(story, old), kills=kills)
        crossed.writes = story.world.faults.writes
        story.world.faults = crossed
        go_on(story, old)
        assert ending(story) == expected, (number, crossed.place)
        assert said_twice(story) == [], number
