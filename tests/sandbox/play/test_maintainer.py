"""The scripted maintainer on a world in memory: opens, orders, answers, closes and merges as the list says."""

import pytest

from bot.model.config import Config
from bot.model.issue import StateReason
from bot.model.record import Blocker, Record
from bot.model.report import Question
from bot.model.status import Status
from bot.notation.comments import status_comment
from bot.sandbox.command import _ended_well
from bot.sandbox.play.issue_list import read_issues
from bot.sandbox.play.maintainer import Maintainer
from bot.sandbox.play.task_states import read_facts
from bot.sandbox.world import BOT, NOON, JobState, World


class Team:
    """A world, its maintainer, and what the maintainer said."""

    def __init__(self, text, *, merges=True):
        self.world = World()
        self.said: list[str] = []
        self.maintainer = Maintainer(self.world, Config(), self.said.append, merges)
        self.numbers = self.maintainer.open(read_issues(text, "issues.yml"))

    def facts(self):
        return read_facts(self.world, self.numbers, "cf")

    def act(self):
        self.maintainer.act(self.facts())

    def status(self, number, status):
        self.world.label(number, f"cf:{status}", BOT)
        self.world.unlabel(number, "cf:ready", BOT)

    def pull(self, number, *, draft=False):
        self.world.push_files(f"cf/{number}", {f"{number}.txt": "work\n"}, by=BOT)
        return self.world.open_pull(f"cf/{number}", "Work", f"Closes #{number}", BOT, draft=draft)


def test_opens_issues_with_needs_edges_and_labels():
    first = "- title: a\n  labels: [area:x]\n- title: b\n  body: Words.\n  needs: [1]\n"
    team = Team(f"{first}- title: c\n  blocked_by: [2]\n- title: d\n  labels: ['cf:backlog']\n")
    assert team.numbers == (1, 2, 3, 4)
    assert team.world.issue(2).body == "Words.\n\nDepends on #1\n"
    assert [task.needs for task in team.facts().tasks] == [(), (1,), (2,), ()]
    assert [team.world.labels_of(number) for number in team.numbers] == [
        ("area:x", "cf:ready"),
        ("cf:ready",),
        ("cf:ready",),
        ("cf:backlog",),
    ]
    assert team.said == ["opened 4 issues"]


def test_answers_a_question_once():
    team = Team("- title: a\n  answer: Blue.\n")
    record = Record(1, blocker=Blocker("question:cf-1-1", Question("Which colour?\nReally?"), NOON))
    team.world.comment(1, status_comment(record, "asks", "cf"), BOT)
    team.act()
    team.status(1, "blocked")
    team.act()
    team.act()
    assert [comment.body for comment in team.world.comments_of(1) if comment.author != BOT] == ["Blue."]
    assert team.said[1:] == ["#1 asks: Which colour?", "#1 answered: Blue."]


def test_closes_only_what_its_agent_works_on():
    team = Team("- title: a\n  close_after: 0s\n")
    team.status(1, "in-progress")
    run = team.world.dispatch("cf-worker.yml", "main", {"units": "[]", "keys": "cf-1-1"})
    team.world.run_started(run)
    team.world.put_job(run, JobState("#1 / agent", "in_progress"))
    team.act()
    assert team.world.issue(1).is_open
    team.world.append_log(run, "#1 / agent", "[#1] reading\n")
    team.act()
    assert team.world.issue(1).state_reason is StateReason.NOT_PLANNED


def test_merges_what_is_done_and_drafts_that_wait_for_a_look():
    team = Team("- title: a\n- title: b\n- title: c\n")
    done, draft, early = team.pull(1), team.pull(2, draft=True), team.pull(3)
    team.status(1, "done")
    team.status(2, "blocked")
    team.act()
    assert [team.world.pull(number).merged for number in (done, draft, early)] == [True, True, False]
    assert not team.world.issue(1).is_open


def test_merges_nothing_if_told_so():
    team = Team("- title: a\n", merges=False)
    pull = team.pull(1)
    team.status(1, "done")
    team.act()
    assert not team.world.pull(pull).merged


@pytest.mark.parametrize(("merges", "well"), [(True, set()), (False, {1, 2, 3})])
def test_what_waits_for_proven_work_is_well_only_if_nobody_merges(merges, well):
    team = Team("- title: a\n- title: b\n  needs: [1]\n- title: c\n  needs: [2]\n- title: d\n  needs: [4]\n")
    team.status(1, Status.DONE)
    assert _ended_well(team.facts(), merges=merges) == well
