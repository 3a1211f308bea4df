"""`cf adopt --conductor`: what a person's token conducted becomes an App's or a job's, and the person may order again."""

from contextlib import suppress
from datetime import timedelta

import pytest

from bot.cli import main
from bot.conductor.act.begin import NotTheConductor
from bot.console.adopt_conductor import take_over
from bot.github.signatures import with_signatures
from bot.model.errors import BotError, CannotGoOn, TryLater, UsageError
from bot.model.report import Outcome, Question
from bot.notation.records import is_record
from bot.sandbox.world.faults import Disconnected
from tests.conductor.two_accounts import (
    APP,
    BOT,
    account,
    board,
    boards,
    client,
    configure,
    everything,
    said_twice,
    tick_as,
    two,
)

EVER = timedelta(days=4000)


def conducted(*, paused=False, live=False):
    """A person's token conducted: one task asks, one waits for review far down its issue, one is not started."""
    story = two("identity: {conductor: second}\n")
    asks, done = story.ready(), story.ready()
    for number in range(7):
        story.world.comment(done, f"remark {number}")
    tick_as(story, "second")
    story.github = client(story, "second")
    story.finish_live(asks, Outcome.BLOCKED, question=Question("Which database?"))
    if not live:
        story.finish_live(done, Outcome.PASSED)
    tick_as(story, "second")
    if paused:
        story.world.label(board(story).number, "cf:pause")
        tick_as(story, "second")
    configure(story, "")
    story.world.wait(timedelta(minutes=2))
    return story, asks, done


def adopt(story, who=BOT, **options):
    return take_over(client(story, who), "second", story.world.now - EVER, story.world.now, **options)


def authors_of_records(story):
    return {
        comment.author.login
        for issue in story.world.issues.all()
        for comment in issue.comments
        if is_record(comment.body)
    }


@pytest.mark.parametrize("who", [BOT, APP])
def test_records_and_dashboard_move_and_the_person_orders_again(who):
    story, asks, done = conducted()
    with pytest.raises(NotTheConductor, match="cf adopt --conductor"):
        tick_as(story, "second")
    said = adopt(story, who)
    assert [word.split(" ")[0] for word in said] == ["status", "status", "dashboard"]
    assert authors_of_records(story) == {who}
    assert board(story).author == account(story, who)
    assert story.status(asks) == ("blocked",)
    tick_as(story, who)
    assert (story.status(asks), story.status(done)) == (("blocked",), ("done",))
    story.world.wait(timedelta(minutes=2))
    story.world.comment(asks, "sqlite", by="second")
    order = story.world.open_issue("x", labels=("cf:ready",), by="second")
    story.github = client(story, who)
    story.settle()
    assert {f"cf-{asks}-2", f"cf-{order}-1"} <= {*story.starts()}
    assert f"cf-{done}-2" not in story.starts()
    assert said_twice(story) == []


def test_its_pause_moves_too():
    story, _, _ = conducted(paused=True)
    adopt(story)
    waiting = story.ready()
    tick_as(story, BOT)
    assert "cf:pause" in story.world.labels_of(board(story).number)
    assert f"cf-{waiting}-1" not in story.starts()


def test_looking_first_changes_nothing():
    story, _, _ = conducted()
    before = everything(story)
    assert len(adopt(story, dry_run=True)) == 3
    assert everything(story) == before


def test_what_is_under_way_must_end_first():
    story, _, done = conducted(live=True)
    before = everything(story)
    with pytest.raises(CannotGoOn, match=f"#{done} runs: stop it or let it end"):
        adopt(story)
    assert everything(story) == before


@pytest.mark.parametrize("who", ["maintainer", "second"])
def test_it_takes_a_token_of_who_is_to_conduct(who):
    story, _, _ = conducted()
    with pytest.raises(NotTheConductor):
        adopt(story, who)


def test_where_another_conducts_nothing_is_taken_over():
    story, _, _ = conducted()
    adopt(story)
    with pytest.raises(NotTheConductor, match=r"github-actions\[bot\] conducts here"):
        adopt(story, APP)


def test_of_somebody_who_conducted_nothing_nothing_is_taken():
    story = two()
    with pytest.raises(UsageError, match="second conducted nothing here"):
        adopt(story)


def test_signed_records_move_with_the_key_and_not_without():
    key = "k" * 40
    story = two("identity: {conductor: second}\n")
    task = story.ready()
    story.github = with_signatures(client(story, "second"), key)
    story.settle()
    story.finish_live(task, Outcome.FAILED)
    story.github = with_signatures(client(story, "second"), key)
    story.world.label(task, "cf:backlog")
    story.settle()
    configure(story, "")
    sealed = with_signatures(client(story, BOT), key)
    take_over(sealed, "second", story.world.now - EVER, story.world.now)
    story.github = sealed
    story.settle()
    assert authors_of_records(story) == {BOT}
    story.github = client(story, BOT)
    with pytest.raises(NotTheConductor, match="set CF_STATE_KEY"):
        story.tick()


@pytest.mark.parametrize("after", [False, True])
def test_killed_at_any_write_and_given_again_the_end_is_the_same(after):
    story, asks, done = conducted()
    begun = story.world.faults.writes
    adopt(story)
    total = story.world.faults.writes - begun
    assert total >= 7
    for number in range(1, total + 1):
        story, asks, done = conducted()
        story.world.faults.fail_write(number, after=after)
        with pytest.raises((Disconnected, TryLater)):
            adopt(story)
        try_tick(story)
        adopt_again(story)
        assert authors_of_records(story) == {BOT}, number
        assert [issue.author.login for issue in boards(story)] == [BOT], number
        tick_as(story, BOT)
        assert (story.status(asks), story.status(done)) == (("blocked",), ("done",)), number
        assert sorted(story.starts()) == [f"cf-{asks}-1", f"cf-{done}-1"], number
        assert said_twice(story) == [], number


def try_tick(story):
    """What comes between the two tries: nothing may start by it."""
    try:
        tick_as(story, BOT)
    except BotError:
        return


def adopt_again(story):
    """Where the last write had arrived there is nothing left to take over."""
    with suppress(UsageError):
        adopt(story)


def test_the_command(monkeypatch, capsys):
    story, _, _ = conducted()
    monkeypatch.setattr("bot.github.client.connect", lambda environ: client(story, BOT))
    assert main(["adopt", "--conductor"]) == 2
    assert main(["adopt", "--conductor", "--from", "second", "--dry-run"]) == 0
    assert "would be moved: dashboard #" in capsys.readouterr().out
    assert main(["adopt", "--conductor", "--from", "second"]) == 0
    assert main(["adopt", "--conductor", "--from", "second"]) == 2
