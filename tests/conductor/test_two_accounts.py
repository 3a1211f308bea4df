"""Story: who conducts is one fact: whoever is not that account writes nothing, cancels nothing, and is told whose turn it is."""

from datetime import timedelta

import pytest

from bot.conductor.act.begin import NotTheConductor
from bot.conductor.observe import observe
from bot.conductor.tell.summary import remarks
from bot.conductor.tick import decide, tick
from bot.console.batch.carry_out import perform
from bot.console.batch.inputs import read_request
from bot.github.dry_run import DryRun
from bot.model.errors import CannotGoOn
from bot.model.report import Outcome
from bot.notation.marker import write_marker
from bot.sandbox.world.in_process import client_of
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
    token_of,
    two,
)

OTHERS = ("maintainer", "second", "writer", APP)


def running(config=""):
    """The job's own account conducts: one task runs, another waits for it, a third is not ordered."""
    story = two(config)
    first = story.ready()
    story.ready(f"depends on #{first}")
    story.world.open_issue("Later", labels=("cf:backlog",))
    tick_as(story, BOT)
    story.begin(f"cf-{first}-1")
    tick_as(story, BOT)
    return story, first


def foreseen(github, story):
    _, decided = decide(github, observe(github, story.world.now))
    return [(one.task, one.verb, one.status, one.reason) for one in decided.decisions]


@pytest.mark.parametrize("who", OTHERS)
@pytest.mark.parametrize("config", ["", "identity: {also: [41898282]}", "identity: {also: [41898282, 77]}"])
def test_an_account_that_does_not_conduct_writes_nothing_and_is_told_who_does(who, config):
    story, task = running()
    if config:
        configure(story, config.replace("77", str(account(story, who).id)))
    if who == APP and config == "identity: {also: [41898282]}":
        return  # that is a hand-over
    before = everything(story)
    for _ in range(3):
        with pytest.raises(
            NotTheConductor, match=r"github-actions\[bot\] conducts here \(its dashboard #\d+\)"
        ):
            tick_as(story, who)
    assert everything(story) == before
    tick_as(story, BOT)
    assert story.world.run(story.run_of(f"cf-{task}-1").id).conclusion is None
    assert len(boards(story, closed=True)) == 1


@pytest.mark.parametrize("who", OTHERS)
def test_whoever_looks_sees_what_the_conductor_sees(who):
    story, task = running()
    assert foreseen(client(story, who), story) == foreseen(client(story, BOT), story)
    before = everything(story)
    dry = [DryRun(client(story, each)) for each in (who, BOT)]
    lasts = [tick(one, lambda: story.world.now, rehearsal=True) for one in dry]
    assert dry[0].would_have == dry[1].would_have
    assert lasts[0].plan.decisions == lasts[1].plan.decisions
    assert everything(story) == before
    story.finish(f"cf-{task}-1", Outcome.PASSED)
    assert foreseen(client(story, who), story) == foreseen(client(story, BOT), story)


def test_a_reader_is_told_what_it_cannot_know_and_nothing_that_is_not_so():
    """GitHub answers the question for a permission only to those who may push."""
    story, _ = running()
    waits = foreseen(client(story, BOT), story)
    assert (
        foreseen(client(story, "reader"), story) == waits
    )  # nobody's permission is asked for what runs and waits
    story.ready()
    for who in ("reader", "triager"):
        with pytest.raises(
            CannotGoOn, match="whether maintainer may order work here cannot be known with this token"
        ):
            foreseen(client(story, who), story)
        with pytest.raises(CannotGoOn):
            tick_as(story, who)


@pytest.mark.parametrize("who", ["maintainer", "writer", "second"])
def test_a_persons_account_begins_nothing_unless_it_is_named(who):
    story = two()
    task = story.ready()
    before = everything(story)
    with pytest.raises(NotTheConductor, match=f"identity.conductor: {who}"):
        tick_as(story, who)
    assert everything(story) == before
    configure(story, f"identity: {{conductor: {who.upper()}}}")
    tick_as(story, who)
    assert story.starts() == [] if who == "maintainer" else [f"cf-{task}-1"]
    with pytest.raises(NotTheConductor, match=f"{who} conducts here"):
        tick_as(story, BOT)


def test_an_account_that_conducts_orders_answers_and_approves_nothing():
    story = two("identity: {conductor: second}\n")
    mine = story.world.open_issue("x", labels=("cf:ready",), by="second")
    theirs = story.ready()
    tick_as(story, "second")
    story.world.comment(mine, "/cf run", by="second")
    tick_as(story, "second")
    assert story.starts() == [f"cf-{theirs}-1"]


@pytest.mark.parametrize(
    ("by", "labelled_by"),
    [("stranger", "triager"), ("triager", "triager"), ("writer", "writer"), ("helper[bot]", "triager")],
)
def test_what_only_looks_like_a_dashboard_is_ignored_and_said(by, labelled_by):
    """Newer, and with a state that a stranger made up: also inside of an issue that some App opened with a stranger's words."""
    story, task = running()
    if by == "helper[bot]":
        story.world.accounts.app_token("helper", {"issues": "write"})
    author = story.world.accounts.named["app-helper"] if by == "helper[bot]" else by
    made_up = write_marker("state", '{"comments_since":"2026-03-02T12:00:00Z","generation":99}')
    false = story.world.open_issue("cf dashboard", made_up, by=author)
    story.world.label(false, "cf:dashboard", by=labelled_by)
    story.world.label(false, "cf:pause", by=labelled_by)
    body = story.world.issue(false).body
    last = tick_as(story, BOT)
    assert f"#{false} is labelled cf:dashboard and is not the conductor's: it is ignored" in remarks(last)
    assert last.seen.snapshot.starts_blocked_by == ""
    assert (story.world.issue(false).body, story.world.issue(false).is_open) == (body, True)
    assert story.world.run(story.run_of(f"cf-{task}-1").id).conclusion is None
    for who in ("maintainer", "reader"):
        assert foreseen(client(story, who), story) == foreseen(client(story, BOT), story)


def test_a_running_task_that_somebody_labels_as_the_dashboard_goes_on():
    story, task = running()
    story.world.label(task, "cf:dashboard", by="triager")
    tick_as(story, BOT)
    assert story.world.run(story.run_of(f"cf-{task}-1").id).conclusion is None
    assert story.status(task) == ("in-progress",)


def test_the_issue_of_another_app_with_a_state_that_cannot_be_read_lets_nobody_else_begin():
    story = two()
    author = token_of(story, APP)
    story.world.open_issue(
        "x", write_marker("state", '{"comments_since":"soon"}'), ("cf:dashboard",), by=author
    )
    with pytest.raises(NotTheConductor, match=r"conductor\[bot\] conducts here .*whose state cannot be read"):
        tick_as(story, BOT)


@pytest.mark.parametrize(("old", "new"), [(BOT, APP), (APP, BOT), (BOT, "second"), ("second", BOT)])
def test_a_hand_over_keeps_what_runs_and_refuses_the_account_before(old, new):
    begun = "identity: {conductor: second}\n" if old == "second" else ""
    story = two(begun)
    task, other = story.ready(), story.ready()
    tick_as(story, old)
    run = story.begin(f"cf-{task}-1")
    first = board(story)
    named = ", conductor: second" if new == "second" else ""
    configure(story, f"identity: {{also: [{account(story, old).id}]{named}}}")
    if "second" not in (old, new):
        tick_as(story, old)  # until the newcomer comes
    tick_as(story, new)

    assert board(story).author == account(story, new)
    assert not first.is_open
    assert f"#{board(story).number}" in first.body
    assert "cf:state" not in first.body
    before = everything(story)
    with pytest.raises(NotTheConductor):
        tick_as(story, old)
    assert everything(story) == before
    assert story.world.run(run).conclusion is None
    story.github = client(story, new)
    for number in (task, other):
        story.finish_live(number, Outcome.PASSED)
    story.settle()
    assert [story.status(number) for number in (task, other)] == [("done",)] * 2
    assert sorted(story.starts()) == [f"cf-{task}-1", f"cf-{other}-1"]
    assert said_twice(story) == []


def test_a_pause_goes_with_the_hand_over():
    story = two()
    tick_as(story, BOT)
    story.world.label(board(story).number, "cf:pause", by="triager")
    set_at = story.world.now
    configure(story, "identity: {also: [41898282]}")
    task = story.ready()
    last = tick_as(story, APP)
    assert story.starts() == []
    assert f"set by triager on {set_at:%Y-%m-%d %H:%M}" in last.seen.snapshot.starts_blocked_by
    assert "cf:pause" in story.world.labels_of(board(story).number)
    story.world.unlabel(board(story).number, "cf:pause")
    tick_as(story, APP)
    assert story.starts() == [f"cf-{task}-1"]


def test_and_back_again():
    story = two()
    task = story.ready()
    tick_as(story, BOT)
    run = story.begin(f"cf-{task}-1")
    app = account(story, APP).id
    configure(story, "identity: {also: [41898282]}")
    tick_as(story, APP)
    configure(story, f"identity: {{also: [{app}]}}")
    tick_as(story, BOT)
    with pytest.raises(NotTheConductor):
        tick_as(story, APP)
    assert board(story).author == account(story, BOT)
    assert story.world.run(run).conclusion is None
    story.world.reopen(boards(story, closed=True)[0].number)  # the oldest, whose memory is gone
    tick_as(story, BOT)
    assert board(story).number == max(issue.number for issue in boards(story, closed=True))


def test_with_both_named_as_former_neither_takes_over():
    story = two()
    story.ready()
    tick_as(story, BOT)
    configure(story, f"identity: {{also: [41898282, {account(story, APP).id}]}}")
    for _ in range(3):
        tick_as(story, BOT)
        with pytest.raises(NotTheConductor):
            tick_as(story, APP)
    assert len(boards(story, closed=True)) == 1


def test_a_name_in_the_configuration_without_the_hand_over_stops_everybody_with_the_way():
    story, _ = running()
    configure(story, "identity: {conductor: second}")
    before = everything(story)
    for who in (BOT, "second", "maintainer"):
        with pytest.raises(CannotGoOn, match=r"name its id 41898282 in identity\.also"):
            tick_as(story, who)
    assert everything(story) == before


@pytest.mark.parametrize("lost", ["closed", "deleted", "transferred", "label taken"])
@pytest.mark.parametrize("who", ["second", APP])
def test_a_lost_dashboard_does_not_let_another_begin(lost, who):
    """The status comments tell who conducts."""
    story, task = running()
    number = board(story).number
    {
        "closed": lambda: story.world.close(number),
        "deleted": lambda: story.world.delete_issue(number),
        "transferred": lambda: story.world.transfer_issue(number),
        "label taken": lambda: story.world.unlabel(number, "cf:dashboard"),
    }[lost]()
    before = everything(story)
    with pytest.raises(NotTheConductor, match=r"github-actions\[bot\] conducts here"):
        tick_as(story, who)
    assert everything(story) == before
    tick_as(story, BOT)
    assert story.world.run(story.run_of(f"cf-{task}-1").id).conclusion is None


def test_of_two_that_begin_at_the_same_moment_the_later_gives_way():
    story = two()
    task = story.ready()
    mine, theirs = client(story, BOT), client(story, APP)
    write = mine.write

    def first_the_other(changes):
        mine.write = write
        tick(theirs, lambda: story.world.now)
        return write(changes)

    mine.write = first_the_other
    with pytest.raises(NotTheConductor, match=r"conductor\[bot\] conducts here"):
        tick(mine, lambda: story.world.now)
    assert board(story).author == account(story, APP)
    assert story.starts() == [f"cf-{task}-1"]


@pytest.mark.parametrize("who", ["second", APP])
def test_a_batch_is_ordered_by_the_account_that_conducts(who):
    story, task = running()
    before = everything(story)
    asked = {"CF_BATCH_TASKS": str(task), "GITHUB_ACTOR": "maintainer", "GITHUB_RUN_ID": "7"}
    with pytest.raises(NotTheConductor):
        perform(client(story, who), read_request(asked), story.world.now)
    assert everything(story) == before
    assert "is written with 1 task" in perform(client(story, BOT), read_request(asked), story.world.now)


def test_with_a_broken_configuration_the_account_in_it_still_conducts():
    story = two("identity: {conductor: second}\n")
    task = story.ready()
    tick_as(story, "second")
    story.begin(f"cf-{task}-1")
    story.world.push_files("main", {".github/cf.yml": "version: 1\nnonsense: 1\n"}, "x", by="maintainer")
    tick_as(story, "second")
    assert len(boards(story, closed=True)) == 1
    with pytest.raises(CannotGoOn):
        tick_as(story, BOT)
    assert story.world.run(story.run_of(f"cf-{task}-1").id).conclusion is None
    assert story.status(task) == ("in-progress",)


def test_a_day_later_nothing_has_changed_for_whoever_does_not_conduct():
    story, _ = running()
    story.world.wait(timedelta(days=1))
    with pytest.raises(NotTheConductor):
        tick_as(story, "second")
    assert client_of(story.world, "second").view("cf", None).viewer.login == "second"
