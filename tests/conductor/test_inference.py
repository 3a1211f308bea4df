"""Story: `/cf deps` and `/cf apply`: proposed in one comment, merged by consent, and holding back what must wait."""

import pytest

from bot.conductor.recording import record_of
from bot.model.advice import Proposal
from bot.notation.comments import read_fingerprint
from tests.conductor.story import CONFIG, Story


class Planner:
    """An advisor that proposes what it was told to, and remembers what it was shown."""

    def __init__(self, needs, problem=""):
        self.proposal = Proposal(needs, problem)
        self.shown: list[int] = []

    def infer(self, tasks):
        self.shown += [task.number for task in tasks]
        return self.proposal


def planned(needs, config="", problem=""):
    """Three tasks in the backlog, of which 3 needs 2 by its text; somebody asks for needs on the first."""
    story = Story(CONFIG + config)
    planner = Planner(needs, problem)
    story.advise = lambda _config: planner  # type: ignore[assignment, return-value]
    tasks = [
        story.world.open_issue("Do it", body, labels=("cf:backlog",)) for body in ("", "", "depends on #2")
    ]
    assert tasks == [1, 2, 3]
    story.tick()  # what was said before the first tick is no order
    story.world.comment(1, "/cf deps")
    story.tick()
    return story, planner


def told(story):
    (text,) = [
        one.body
        for one in story.world.comments_of(1)
        if (read_fingerprint(one.body) or "").startswith("deps:")
    ]
    return text


def own(story):
    return [story.record(task).own_needs for task in (1, 2, 3)]


def test_needs_are_proposed_in_one_comment_and_change_nothing():
    story, planner = planned({2: (1,), 3: (1, 9, 3), 1: (3,)})
    assert planner.shown == [1, 2, 3]
    text = told(story)
    for part in (
        "- #1 <- #3",
        "- #3 <- #9: #9 is not among the tasks",
        "- #3 <- #3: a task cannot need itself",
        "/cf apply",
    ):
        assert part in text
    assert "- #2 <- #1: it would close the cycle 2→1→3→2" in text
    story.tick()
    assert own(story) == [(), (), ()]
    assert planner.shown == [1, 2, 3]


def test_apply_merges_them_with_what_is_there():
    story, _ = planned({2: (1,), 3: (1,)})
    story.world.comment(1, "/cf apply")
    story.tick()
    assert own(story) == [(), (1,), (1,)]
    for task in (1, 2, 3):
        story.world.label(task, "cf:ready")
    for _ in range(3):
        story.tick()
    assert story.starts() == ["cf-1-1"]
    assert story.reason(3) == "waiting on #2, #1"
    assert story.record(1).proposed == ()


def test_a_need_of_ours_falls_away_with_its_issue():
    story, _ = planned({2: (1,)})
    story.world.comment(1, "/cf apply")
    story.tick()
    story.world.label(2, "cf:ready")
    story.tick()
    last = story.tick()
    assert record_of(last).unfaithful == ()
    assert story.reason(2) == "waiting on #1"
    story.world.close(1, reason="not_planned")
    for _ in range(3):
        story.tick()
    assert "cf-2-1" in story.starts()


def test_with_auto_they_hold_at_once():
    story, _ = planned({2: (1,)}, "inference: {apply: auto}\n")
    story.tick()
    assert own(story) == [(), (1,), ()]
    assert "They hold from now on" in told(story)


def test_a_stranger_neither_asks_nor_applies():
    story, planner = planned({2: (1,)})
    story.world.comment(1, "/cf apply", by="stranger")
    story.world.comment(2, "/cf deps", by="stranger")
    story.tick()
    assert own(story) == [(), (), ()]
    assert planner.shown == [1, 2, 3]


@pytest.mark.parametrize("problem", ["no model is set: models.planning", "the server is down"])
def test_without_a_proposal_the_comment_says_why(problem):
    story, _ = planned({}, problem=problem)
    assert told(story).startswith(f"No needs inferred: {problem}.")


def test_apply_without_a_proposal_is_refused_in_words():
    story, _ = planned({})
    story.world.comment(1, "/cf apply")
    story.tick()
    assert any("no needs wait here" in one.body for one in story.world.comments_of(1))


def test_a_tick_that_dies_between_two_records_loses_no_edge():
    undisturbed, _ = planned({2: (1,), 3: (1,)})
    before = undisturbed.world.faults.writes
    undisturbed.world.comment(1, "/cf apply")
    undisturbed.settle()
    for number in range(1, undisturbed.world.faults.writes - before + 1):
        for after in (False, True):
            story, _ = planned({2: (1,), 3: (1,)})
            story.world.comment(1, "/cf apply")
            story.world.faults.fail_write(story.world.faults.writes + number, after=after)
            story.settle()
            assert own(story) == [(), (1,), (1,)], (number, after)


def board_of(story):
    return next(one.number for one in story.world.issues.all() if one.has_label("cf:dashboard"))


def replies(story, number):
    return [one.body for one in story.world.comments_of(number)]


def everywhere(needs, config=""):
    """Three tasks in the backlog and a dashboard."""
    story = Story(CONFIG + config)
    story.advise = lambda _config: Planner(needs)  # type: ignore[assignment, return-value]
    for _ in range(3):
        story.world.open_issue("Do it", labels=("cf:backlog",))
    story.tick()
    return story, board_of(story)


def test_on_the_dashboard_they_are_proposed_and_taken_over_as_well():
    story, board = everywhere({2: (1,), 3: (1,)})
    story.world.comment(board, "/cf apply")
    story.settle()
    assert "no needs wait here" in replies(story, board)[-1]
    story.world.comment(board, "/cf deps")
    story.settle()
    assert own(story) == [(), (), ()]
    assert "- #2 <- #1" in replies(story, board)[-1]
    story.world.comment(board, "/cf apply", by="stranger")
    story.settle()
    assert own(story) == [(), (), ()]
    story.world.comment(board, "/cf apply")
    story.settle()
    assert own(story) == [(), (1,), (1,)]
    assert "Taken over" in replies(story, board)[-1]
    story.world.comment(board, "/cf apply")
    story.settle()
    assert "no needs wait here" in replies(story, board)[-1]
    assert record_of(story.tick()).unfaithful == ()


def test_on_the_dashboard_auto_holds_at_once_too():
    story, board = everywhere({2: (1,)}, "inference: {apply: auto}\n")
    story.world.comment(board, "/cf deps")
    story.settle()
    assert own(story) == [(), (1,), ()]


@pytest.mark.parametrize("after", [False, True])
def test_a_tick_that_dies_while_it_takes_over_from_the_dashboard_loses_no_edge(after):
    def applied(kill):
        story, board = everywhere({2: (1,), 3: (1,)})
        story.world.comment(board, "/cf deps")
        story.settle()
        story.world.comment(board, "/cf apply")
        before = story.world.faults.writes
        if kill:
            story.world.faults.fail_write(before + kill, after=after)
        story.settle()
        return story, story.world.faults.writes - before

    _, writes = applied(0)
    for number in range(1, writes + 1):
        story, _ = applied(number)
        assert own(story) == [(), (1,), (1,)], number
